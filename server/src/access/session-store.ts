import { sql as raw } from 'kysely';
import type { Permission } from '../kernel/caller.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Sql } from '../state/db/database.ts';
import type { TenantTable } from '../state/db/tenant-table.ts';

declare module '../state/db/tables.ts' {
  interface Tables {
    console_session: TenantTable & {
      session_id: string;
      secret_hash: string;
      key_id: string;
      token_ids: string[];
      created_at: Date;
      expires_at: Date;
      ended_at: Date | null;
    };
  }
}

/** The tokens that a session remembers, which ends them: those of some twenty tabs. Older ones have expired. */
const MOST_TOKENS = 50;

export interface NewSession extends Tenant {
  sessionId: string;
  secretHash: string;
  keyId: string;
  createdAt: Date;
  expiresAt: Date;
}

export async function insertSession(sql: Sql, session: NewSession): Promise<void> {
  await sql
    .insertInto('console_session')
    .values({
      session_id: session.sessionId,
      secret_hash: session.secretHash,
      account_id: session.accountId,
      environment: session.environment,
      key_id: session.keyId,
      token_ids: [],
      created_at: session.createdAt,
      expires_at: session.expiresAt,
      ended_at: null,
    })
    .execute();
}

/** A session that has not ended, with its key. */
export interface FoundSession extends Omit<NewSession, 'secretHash' | 'createdAt'> {
  permissions: readonly Permission[];
  name: string | null;
  hint: string | null;
}

/** Finds a session that has not ended and whose key is not revoked. */
export async function selectSession(sql: Sql, secretHash: string, now: Date): Promise<FoundSession | null> {
  const row = await sql
    .selectFrom('console_session')
    .innerJoin('api_key', 'api_key.id', 'console_session.key_id')
    .select([
      'session_id',
      'console_session.account_id',
      'console_session.environment',
      'key_id',
      'expires_at',
    ])
    .select(['permissions', 'name', 'hint'])
    .where('console_session.secret_hash', '=', secretHash)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (!row) return null;
  return {
    sessionId: row.session_id,
    accountId: row.account_id,
    environment: row.environment,
    keyId: row.key_id,
    expiresAt: row.expires_at,
    permissions: row.permissions,
    name: row.name,
    hint: row.hint,
  };
}

/** Remembers a token of a session. Returns false if the session was ended. */
export async function addToken(sql: Sql, sessionId: string, tokenId: string): Promise<boolean> {
  const { numAffectedRows } = await raw`
    update console_session
    set token_ids = (array_append(token_ids, ${tokenId}::text))[greatest(1, cardinality(token_ids) + 2 - ${MOST_TOKENS}::integer):]
    where session_id = ${sessionId} and ended_at is null`.execute(sql);
  return numAffectedRows === 1n;
}

/** The tokens that a session remembers; null if it was ended. */
export async function selectTokenIds(sql: Sql, sessionId: string): Promise<string[] | null> {
  const row = await sql
    .selectFrom('console_session')
    .select('token_ids')
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return row?.token_ids ?? null;
}

/** Ends a session that remembers exactly these tokens. Returns false if it was given others meanwhile, or was ended. */
export async function endSession(
  sql: Sql,
  sessionId: string,
  tokenIds: readonly string[],
  now: Date,
): Promise<boolean> {
  const { numAffectedRows } = await raw`
    update console_session set ended_at = ${now}
    where session_id = ${sessionId} and ended_at is null and token_ids = ${tokenIds}::text[]`.execute(sql);
  return numAffectedRows === 1n;
}
