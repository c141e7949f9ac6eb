import { inject } from 'vitest';
import { emptierOf, emptyDatabase, endEmptier } from './emptier.ts';
import { endConnections, keepConnections, keptProcesses } from './kept-connections.ts';
import { copyTemplate, SHAPE } from './templates.ts';

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

/**
 * Empties a database. Returns false if it has other tables than the template, or other connections, and cannot be
 * reused.
 */
async function empty(databaseUrl: string): Promise<boolean> {
  try {
    const emptier = await emptierOf(databaseUrl);
    const { rows } = await emptier.query<{ shape: string; others: number }>(
      `select shape, (
        select count(*)::int from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and pid <> all($1)
      ) as others from (${SHAPE}) template`,
      [keptProcesses(databaseUrl)],
    );
    const { shape, others } = rows[0]!;
    if (shape !== inject('templates').postgresShape || others > 0) return await dismiss(databaseUrl);
    await emptyDatabase(databaseUrl);
    return true;
  } catch {
    // A test has ended its connections, or the database itself.
    return dismiss(databaseUrl);
  }
}

async function dismiss(databaseUrl: string): Promise<false> {
  await endEmptier(databaseUrl);
  return false;
}
