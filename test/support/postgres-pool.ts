import { sql } from 'kysely';
import { inject } from 'vitest';
import type { Sql } from '../../server/src/db/database.ts';
import { openPostgres } from '../../server/src/db/postgres.ts';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { endConnections, keepConnections, keptProcesses } from './kept-connections.ts';
import { copyTemplate, readShape, silent } from './templates.ts';

/**
 * A migrated PostgreSQL database that nobody else has. A copy of the template costs 60 ms of CPU time; emptying a database
 * that an earlier test of this process is done with, a tenth of that.
 */
export interface FreshPostgres {
  readonly url: string;
  /** Call it when every connection is closed: the next test may have the database, emptied. */
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

/** Whether it is as the template now. One that has other tables, or that somebody is connected to, is given up. */
async function empty(databaseUrl: string): Promise<boolean> {
  const database = await openPostgres({ databaseUrl, clock: createSystemClock(), log: silent });
  try {
    const isAsMigrated = (await readShape(database.sql)) === inject('templates').postgresShape;
    if (!isAsMigrated || (await hasOthers(database.sql, keptProcesses(databaseUrl)))) return false;
    await sql.raw(EMPTY).execute(database.sql);
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

/** Leaves the migrations' record alone. A table with much in it gets new files: deleted rows stay in theirs. */
const EMPTY = `
  do $$
  declare
    each record;
    has_rows boolean;
  begin
    set local session_replication_role = replica;
    for each in
      select oid::regclass as name, pg_relation_size(oid) as bytes from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'kysely_migration%'
    loop
      if each.bytes > 131072 then
        execute format('truncate %s cascade', each.name);
      elsif each.bytes > 0 then
        execute format('select exists (select from %s)', each.name) into has_rows;
        if has_rows then execute format('delete from %s', each.name); end if;
      end if;
    end loop;
    for each in
      select format('%I', sequencename) as name from pg_sequences
      where schemaname = 'public' and last_value is not null
    loop
      execute format('alter sequence %s restart', each.name);
    end loop;
  end $$`;
