import { sql as raw } from 'kysely';
import type { Permission } from '../kernel/caller.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Sql } from '../state/db/database.ts';
import {
  isOfWanted,
  type TenantKey,
  type TenantRecord,
  tenantOf,
  wantedKeys,
} from '../state/db/each-tenant.ts';
import type { TenantTable } from '../state/db/tenant-table.ts';

declare module '../state/db/tables.ts' {
  interface Tables {
    console_session: TenantTable & {
      session_id: string;
      secret_hash: string;
      key_id: string;
      created_at: Date;
      expires_at: Date;
      ended_at: Date | null;
    };
  }
}

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

/** Whether an API key is not revoked. */
export async function isLiveKey(sql: Sql, keyId: string): Promise<boolean> {
  const row = await sql
    .selectFrom('api_key')
    .select('id')
    .where('id', '=', keyId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Locks a session, so that it cannot end before the transaction does. Several transactions may hold it at once. Returns false if
 * the session has ended.
 */
export async function holdSession(sql: Sql, sessionId: string): Promise<boolean> {
  const row = await sql
    .selectFrom('console_session')
    .select('session_id')
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** The state of a session, as a decision reads it. */
export interface SessionRecord {
  sessionId: string;
  endedAt: Date | null;
}

export async function selectSessions(
  sql: Sql,
  keys: readonly TenantKey[],
): Promise<TenantRecord<SessionRecord>[]> {
  const { rows } = await raw<TenantTable & { session_id: string; ended_at: Date | null }>`
    select console_session.* from ${wantedKeys(keys)}
    join console_session on ${isOfWanted('console_session')} and console_session.session_id = wanted.key`.execute(
    sql,
  );
  return rows.map((row) => ({
    tenant: tenantOf(row),
    record: { sessionId: row.session_id, endedAt: row.ended_at },
  }));
}

/** Ends sessions, and revokes their tokens. */
export async function endSessions(sql: Sql, sessions: readonly TenantRecord<SessionRecord>[]): Promise<void> {
  for (const { tenant, record } of sessions) {
    const { sessionId, endedAt } = record;
    // The lock on this row waits for the tokens that are being minted, so that the next statement sees them.
    await sql
      .updateTable('console_session')
      .set({ ended_at: endedAt })
      .where('session_id', '=', sessionId)
      .execute();
    // The other conditions find the tokens in force, which are few, by the index that the removal of ended tokens uses.
    await raw`
      update token set revoked_at = ${endedAt}
      where account_id = ${tenant.accountId} and environment = ${tenant.environment} and kind = 'dashboard'
        and expires_at > ${endedAt} and least(expires_at, revoked_at) > ${endedAt}
        and session_id = ${sessionId}`.execute(sql);
  }
}
