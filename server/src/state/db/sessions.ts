import { randomUUID } from 'node:crypto';
import { CompiledQuery, sql as raw } from 'kysely';
import type { Sql } from './database.ts';

/** A pooler between the server and PostgreSQL gives the transactions of one connection to several sessions. */
export class PoolerError extends Error {
  override readonly name = 'PoolerError';
}

/**
 * Asserts that a connection is one session of PostgreSQL as long as it lives: locks, plans and notifications
 * depend on that. A pooler in transaction or statement mode lends a session for one transaction. Two
 * connections reveal it: with an idle pooler they share the last session, and while a transaction of one is
 * open, the other gets another session.
 * @throws PoolerError
 */
export async function assertKeepsSessions(sql: Sql): Promise<void> {
  try {
    await sql.connection().execute((one) => sql.connection().execute((other) => compareSessions(one, other)));
  } catch (error) {
    // PgBouncer in statement mode refuses transactions.
    if (!/transaction blocks not allowed/.test((error as Error).message)) throw error;
    throw new PoolerError(PROBLEM, { cause: error });
  }
}

const PROBLEM =
  'a pooler in transaction or statement mode is in between, such as PgBouncer: set its session mode (pool_mode = session), or name PostgreSQL itself';

async function compareSessions(one: Sql, other: Sql): Promise<void> {
  const names = new Map([one, other].map((session) => [session, randomUUID()]));
  for (const [session, name] of names)
    await raw`select set_config('psa.session', ${name}, false)`.execute(session);
  const assertNamed = async (session: Sql) => {
    const { rows } = await raw<{ name: string | null }>`
      select current_setting('psa.session', true) as name`.execute(session);
    if (rows[0]?.name !== names.get(session)) throw new PoolerError(PROBLEM);
  };
  for (const session of names.keys()) await assertNamed(session);
  await other.executeQuery(CompiledQuery.raw('start transaction'));
  await raw`select 1`.execute(other);
  await assertNamed(one);
  await other.executeQuery(CompiledQuery.raw('commit'));
}
