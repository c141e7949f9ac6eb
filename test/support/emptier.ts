import pg from 'pg';
import { EMPTY } from './templates.ts';

/** The connections that empty databases, by the database's address. */
const emptiers = new Map<string, pg.Client>();

/**
 * Takes the connection that empties a database, and keeps it for all later times. A change of `session_replication_role`
 * in another session would make PostgreSQL forget the session's plans, twice.
 */
export async function emptierOf(databaseUrl: string): Promise<pg.Client> {
  const open = emptiers.get(databaseUrl);
  if (open) return open;
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

/** Empties all tables of a database but the record of the migrations, and restarts the sequences. */
export async function emptyDatabase(databaseUrl: string): Promise<void> {
  await (await emptierOf(databaseUrl)).query(`do $$ ${EMPTY} $$`);
}

/** Ends the connection that empties a database. */
export async function endEmptier(databaseUrl: string): Promise<void> {
  const emptier = emptiers.get(databaseUrl);
  emptiers.delete(databaseUrl);
  await emptier?.end().catch(() => undefined);
}
