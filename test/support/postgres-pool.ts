import pg from 'pg';
import { inject } from 'vitest';
import { endConnections, keepConnections, keptProcesses } from './kept-connections.ts';
import { copyTemplate, EMPTY, SHAPE } from './templates.ts';

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

/** The connections that empty databases, by the database's address. */
const emptiers = new Map<string, pg.Client>();

/**
 * Empties a database. Returns false if it has other tables than the template, or other connections, and cannot be
 * reused.
 */
async function empty(databaseUrl: string): Promise<boolean> {
  try {
    const emptier = emptiers.get(databaseUrl) ?? (await connectEmptier(databaseUrl));
    const { rows } = await emptier.query<{ shape: string; others: number }>(
      `select shape, (
        select count(*)::int from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and pid <> all($1)
      ) as others from (${SHAPE}) template`,
      [keptProcesses(databaseUrl)],
    );
    const { shape, others } = rows[0]!;
    if (shape !== inject('templates').postgresShape || others > 0) return await dismiss(databaseUrl);
    await emptier.query(`do $$ ${EMPTY} $$`);
    return true;
  } catch {
    // A test has ended its connections, or the database itself.
    return dismiss(databaseUrl);
  }
}

/**
 * Opens a connection for all later emptyings. A change of `session_replication_role` in the tests' own session would
 * make PostgreSQL forget its plans, twice.
 */
async function connectEmptier(databaseUrl: string): Promise<pg.Client> {
  const emptier = new pg.Client({
    connectionString: databaseUrl,
    options: '-c session_replication_role=replica',
  });
  emptier.on('error', () => emptiers.delete(databaseUrl));
  await emptier.connect();
  emptiers.set(databaseUrl, emptier);
  // The connection must not keep the process alive.
  (emptier as unknown as { unref(): void }).unref();
  return emptier;
}

async function dismiss(databaseUrl: string): Promise<false> {
  const emptier = emptiers.get(databaseUrl);
  emptiers.delete(databaseUrl);
  await emptier?.end().catch(() => undefined);
  return false;
}
