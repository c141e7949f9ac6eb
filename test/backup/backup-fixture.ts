import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { inject, onTestFinished } from 'vitest';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import type { OpenDatabase } from '../../server/src/programs/ops/backup.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { openPglite } from '../../server/src/state/db/pglite.ts';
import { connectTo } from '../support/database.ts';
import { onFatal, silent } from '../support/templates.ts';

/**
 * Opens the database that the configuration names, as the command does. A new folder begins with empty tables,
 * which saves seconds.
 */
export const open: OpenDatabase = ({ databaseUrl, dataDir }) => {
  const clock = createSystemClock();
  const { pglite } = inject('templates');
  return databaseUrl
    ? connectTo(databaseUrl, clock)
    : openPglite({ ...pglite, dataDir, clock, log: silent, onFatal });
};

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'psa-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Each table's rows as PostgreSQL writes them, in one order, so that equal tables have equal texts. */
export type Contents = Record<string, string[]>;

/** A backup's content, read without the code that wrote it. */
export function contentsOfFile(file: string): Contents {
  const contents: Contents = {};
  let table = '';
  for (const line of gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n').slice(1, -1)) {
    const said = JSON.parse(line);
    if (typeof said === 'string') contents[table]!.push(said);
    else {
      table = said.table;
      contents[table] = [];
    }
  }
  for (const rows of Object.values(contents)) rows.sort();
  return contents;
}

export async function contentsOf(database: Database): Promise<Contents> {
  const contents: Contents = {};
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not in ('rate_window', 'kysely_migration')
  `.execute(database.sql);
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`select r::text as row from ${sql.table(name)} r`.execute(
      database.sql,
    );
    contents[name] = rows.map(({ row }) => row).sort();
  }
  return contents;
}

/** The contents without the mark that a restore writes: the same for a backup and for what it restores. */
export function withoutMark({ restored_records: _, ...contents }: Contents): Contents {
  return contents;
}
