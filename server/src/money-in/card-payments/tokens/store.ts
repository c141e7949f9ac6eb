import { sql as raw, type Selectable } from 'kysely';
import type { CheckoutGrant } from '../../../kernel/caller.ts';
import { hashSecret } from '../../../kernel/ids.ts';
import type { ListRange } from '../../../kernel/list-range.ts';
import type { Behind } from '../../../kernel/records.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { Sql } from '../../../state/db/database.ts';
import {
  isOfWanted,
  type TenantKey,
  type TenantRecord,
  tenantOf,
  wantedKeys,
} from '../../../state/db/each-tenant.ts';
import type { Tables } from '../../../state/db/tables.ts';
import type { TenantTable } from '../../../state/db/tenant-table.ts';
import { type PausedToken, pauseOfRestore, type TokenPause, type TokenSnapshot } from './model.ts';

const TOKEN_ID = /^tok_[0-9a-f]{24}$/;

/**
 * Finds a token by its text or its id: its account, and the hash under which it is stored. `pauseId` is the
 * token whose pause applies: the first token of an order, or the token itself.
 */
export async function findToken(
  sql: Sql,
  named: string,
): Promise<{
  id: string;
  tenant: Tenant;
  secretHash: string;
  pauseId: string;
  isOfOrder: boolean;
} | null> {
  const query = sql.selectFrom('token').select(['id', 'account_id', 'environment', 'secret_hash', 'grant']);
  const row = await (TOKEN_ID.test(named)
    ? query.where('id', '=', named)
    : query.where('secret_hash', '=', hashSecret(named))
  ).executeTakeFirst();
  if (!row) return null;
  const grant = row.grant as Partial<CheckoutGrant>;
  return {
    id: row.id,
    tenant: { accountId: row.account_id, environment: row.environment },
    secretHash: row.secret_hash,
    pauseId: grant.orderTokenId ?? row.id,
    isOfOrder: grant.externalId != null,
  };
}

export async function selectGrants(
  sql: Sql,
  tokens: readonly TenantKey[],
): Promise<TenantRecord<{ tokenId: string; grant: CheckoutGrant }>[]> {
  const { rows } = await raw<TenantTable & { id: string; grant: CheckoutGrant }>`
    select token.account_id, token.environment, token.id, token."grant" from ${wantedKeys(tokens)}
    join token on ${isOfWanted('token')} and token.id = wanted.key`.execute(sql);
  return rows.map((row) => ({ tenant: tenantOf(row), record: { tokenId: row.id, grant: row.grant } }));
}

/** Reads each token's last pause; it may be over. */
export async function selectPauses(sql: Sql, tokenIds: readonly string[]): Promise<TokenSnapshot[]> {
  const rows = await sql.selectFrom('token').select(COLUMNS).where('id', 'in', tokenIds).execute();
  return rows.map(toSnapshot);
}

/** Reads the last pause of each token of tenants. */
export async function selectPausesOf(
  sql: Sql,
  tokens: readonly TenantKey[],
): Promise<TenantRecord<TokenSnapshot>[]> {
  const { rows } = await raw<TenantTable & PauseRow>`
    select token.* from ${wantedKeys(tokens)}
    join token on ${isOfWanted('token')} and token.id = wanted.key`.execute(sql);
  return rows.map((row) => ({ tenant: tenantOf(row), record: toSnapshot(row) }));
}

export async function updatePauses(sql: Sql, rows: readonly TenantRecord<TokenSnapshot>[]): Promise<void> {
  for (const { record } of rows)
    await sql
      .updateTable('token')
      .set({
        paused_at: record.pause?.pausedAt ?? null,
        paused_until: record.pause?.pausedUntil ?? null,
        pause_reason: storedReason(record.pause),
      })
      .where('id', '=', record.tokenId)
      .execute();
}

/** A part of the pauses: a range of those of one account, or of all. */
interface PausesOf extends ListRange {
  tenant: Tenant | null;
  now: Date;
}

/** A pause with its place in the list, which is that of its token. */
interface ListedPause {
  position: number;
  pause: PausedToken;
}

/**
 * Lists the pauses in force, those of the newest tokens first. `behind`: the mark of records that were set back, which
 * pauses every older token.
 */
export async function selectPausedTokens(
  sql: Sql,
  { behind = null, ...part }: PausesOf & { behind?: Behind | null },
): Promise<ListedPause[]> {
  const [stored, ofRestore] = await Promise.all([
    selectStoredPauses(sql, part),
    behind ? selectTokensOfBefore(sql, { ...part, behind }) : [],
  ]);
  const isOfRestore = new Set(ofRestore.map(({ position }) => position));
  const pauses = [...stored.filter(({ position }) => !isOfRestore.has(position)), ...ofRestore].sort(
    (left, right) => right.position - left.position,
  );
  return part.end === 'first' ? pauses.slice(0, part.limit) : pauses.slice(-part.limit);
}

/**
 * Selects the checkout tokens that are in use and were minted before an instant. For an order it selects the
 * first token, at which the order's pause is stored.
 */
async function selectTokensOfBefore(
  sql: Sql,
  { tenant, now, behind, end, limit, after, before }: PausesOf & { behind: Behind },
): Promise<ListedPause[]> {
  const { rows } = await raw<{ id: string; number: number }>`
    select first.id, first.number from token
    join token first on first.id = coalesce(token."grant" ->> 'orderTokenId', token.id)
    where token.kind = 'checkout' and token.revoked_at is null
      and (token.expires_at is null or token.expires_at > ${now}) and first.created_at < ${behind.until}
      ${tenant ? raw`and token.account_id = ${tenant.accountId} and token.environment = ${tenant.environment}` : raw``}
      ${after === undefined ? raw`` : raw`and first.number < ${after}`}
      ${before === undefined ? raw`` : raw`and first.number > ${before}`}
    group by first.id order by first.number ${end === 'first' ? raw`desc` : raw``} limit ${limit}
  `.execute(sql);
  return rows.map(({ id, number }) => ({
    position: number,
    pause: { tokenId: id, ...pauseOfRestore(behind) },
  }));
}

/** The pause of an order is stored at its first token, and listed even if that token is revoked. */
async function selectStoredPauses(
  sql: Sql,
  { tenant, now, end, limit, after, before }: PausesOf,
): Promise<ListedPause[]> {
  let query = sql
    .selectFrom('token')
    .select([...COLUMNS, 'number'])
    .where('paused_at', 'is not', null)
    .where((or) => or.or([or('paused_until', 'is', null), or('paused_until', '>', now)]))
    .where((or) => or.or([or('revoked_at', 'is', null), raw<boolean>`"grant" ->> 'externalId' is not null`]));
  if (tenant)
    query = query.where('account_id', '=', tenant.accountId).where('environment', '=', tenant.environment);
  if (after !== undefined) query = query.where('number', '<', after);
  if (before !== undefined) query = query.where('number', '>', before);
  const rows = await query
    .orderBy('number', end === 'first' ? 'desc' : 'asc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ position: row.number, pause: { tokenId: row.id, ...toPause(row)! } }));
}

/** @throws TypeError for a restore's pause, which is not stored: the mark of the records stands for it */
function storedReason(pause: TokenPause | null): 'merchant' | 'declines' | null {
  if (pause?.reason === 'restored') throw new TypeError('the pause of a restore is not stored');
  return pause?.reason ?? null;
}

const COLUMNS = ['id', 'paused_at', 'paused_until', 'pause_reason'] as const;

type PauseRow = Pick<Selectable<Tables['token']>, (typeof COLUMNS)[number]>;

function toSnapshot(row: PauseRow): TokenSnapshot {
  return { tokenId: row.id, pause: toPause(row) };
}

function toPause(row: PauseRow): TokenPause | null {
  return row.pause_reason
    ? { reason: row.pause_reason, pausedAt: row.paused_at!, pausedUntil: row.paused_until }
    : null;
}

/** Reads when a token was minted; null if there is no such token. */
export async function selectMintedAt(sql: Sql, tokenId: string): Promise<Date | null> {
  const row = await sql.selectFrom('token').select('created_at').where('id', '=', tokenId).executeTakeFirst();
  return row?.created_at ?? null;
}
