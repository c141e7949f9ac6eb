import { sql } from 'kysely';
import { inject } from 'vitest';
import type { Sql } from '../../server/src/db/database.ts';
import { openPostgres } from '../../server/src/db/postgres.ts';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { endConnections, keepConnections, keptProcesses } from './kept-connections.ts';
import { copyTemplate, emptyTables, readShape, silent } from './templates.ts';

/**
 * A migrated PostgreSQL database that no other test uses. A copy of the template costs 60 ms of CPU time, emptying a
 * database that an earlier test of this process has released a tenth of that.
 */
export interface FreshPostgres {
  readonly url: string;
  /** Returns the database to the pool for the next test. Call it when every connection is closed. */
  release(): void;
}

const released: string[] = [];

export async function takePostgres(): Promise<FreshPostgres> {
  const url = (await takeReleased()) ?? (await copyTemplate(inject('templates').postgresUrl, 'psa_template'));
  keepConnections(url);
  let isTaken = true;
  return {
    url,
    release() {
      if (isTaken) released.push(url);
      isTaken = false;
    },
  };
}

async function takeReleased(): Promise<string | undefined> {
  for (let url = released.pop(); url !== undefined; url = released.pop()) {
    if (await empty(url)) return url;
    await endConnections(url);
  }
  return undefined;
}

/** Empties a database; false where it has other tables than the template or other connections, and cannot be reused. */
async function empty(databaseUrl: string): Promise<boolean> {
  const database = await openPostgres({ databaseUrl, clock: createSystemClock(), log: silent });
  try {
    const isAsMigrated = (await readShape(database.sql)) === inject('templates').postgresShape;
    if (!isAsMigrated || (await hasOthers(database.sql, keptProcesses(databaseUrl)))) return false;
    await emptyTables(database.sql);
    return true;
  } finally {
    await database.close();
  }
}

async function hasOthers(connection: Sql, kept: number[]): Promise<boolean> {
  const { rows } = await sql<{ others: number }>`
    select count(*)::int as others from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and pid <> all(${kept})`.execute(
    connection,
  );
  return rows[0]!.others > 0;
}
