import type { Selectable } from 'kysely';
import { sql as raw } from 'kysely';
import type { Sql } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { Tenant } from '../kernel/tenant.ts';
import {
  isPayoutCode,
  isWithdrawalId,
  PAYOUTS_AN_HOUR,
  type Payout,
  type PayoutFilter,
  type PayoutRange,
  type RecentPayouts,
  TURBO_PAYOUTS_AN_HOUR,
} from './model.ts';

// A text that is no reference is not asked for: it is in no row, and Postgres takes one with U+0000 for a fault.

/** By withdrawal ids and codes, in one statement. */
export async function selectPayouts(
  sql: Sql,
  tenant: Tenant,
  references: readonly string[],
): Promise<Payout[]> {
  const ids = references.filter(isWithdrawalId);
  const codes = references.filter(isPayoutCode);
  if (ids.length + codes.length === 0) return [];
  const rows = await ofTenant(sql, tenant)
    .selectAll('payout')
    .where((row) =>
      row.or([
        ...(ids.length > 0 ? [row('withdrawal_id', 'in', ids)] : []),
        ...(codes.length > 0 ? [row('code', 'in', codes)] : []),
      ]),
    )
    .execute();
  return rows.map(toPayout);
}

/** A payout and the version of the log that it stands for, in one statement and so of one moment. */
export async function selectWithHead(
  sql: Sql,
  tenant: Tenant,
  withdrawalId: string,
): Promise<{ version: number; payout: Payout } | null> {
  if (!isWithdrawalId(withdrawalId)) return null;
  const row = await ofTenant(sql, tenant)
    .innerJoin('stream', (join) =>
      join
        .onRef('stream.account_id', '=', 'payout.account_id')
        .onRef('stream.environment', '=', 'payout.environment'),
    )
    .selectAll('payout')
    .select('stream.version as head')
    .where('withdrawal_id', '=', withdrawalId)
    .executeTakeFirst();
  return row ? { version: row.head, payout: toPayout(row) } : null;
}

/** When the newest were requested. Under the tenant's lock, so that none is still to come. */
export async function selectRecent(sql: Sql, tenant: Tenant): Promise<RecentPayouts> {
  const { rows } = await raw<{ turbo: boolean; requested_at: Date }>`
    (select false as turbo, number, requested_at from payout
      where account_id = ${tenant.accountId} and environment = ${tenant.environment}
      order by number desc limit ${PAYOUTS_AN_HOUR})
    union all
    (select true as turbo, number, requested_at from payout
      where account_id = ${tenant.accountId} and environment = ${tenant.environment} and method = 'pix_turbo'
      order by number desc limit ${TURBO_PAYOUTS_AN_HOUR})
    order by number desc
  `.execute(sql);
  const instants = (ofTurbo: boolean) =>
    rows.filter(({ turbo }) => turbo === ofTurbo).map((row) => row.requested_at);
  return { all: instants(false), turbo: instants(true) };
}

/** The first or the last `limit` of the range, newest first. */
export async function listPayouts(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset = 0, after, before, ...filter }: PayoutRange & { offset?: number },
): Promise<{ place: number; payout: Payout }[]> {
  let query = filtered(sql, tenant, filter)
    .selectAll('payout')
    .orderBy('number', end === 'first' ? 'desc' : 'asc')
    .limit(limit)
    .offset(offset);
  if (after !== undefined) query = query.where('number', '<', after);
  if (before !== undefined) query = query.where('number', '>', before);
  const items = (await query.execute()).map((row) => ({ place: row.number, payout: toPayout(row) }));
  return end === 'first' ? items : items.reverse();
}

export async function countPayouts(sql: Sql, tenant: Tenant, filter: PayoutFilter): Promise<number> {
  const { count } = await filtered(sql, tenant, filter)
    .select((row) => row.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

export async function savePayouts(sql: Sql, tenant: Tenant, payouts: readonly Payout[]): Promise<void> {
  await sql
    .insertInto('payout')
    .values(payouts.map((payout) => toRow(tenant, payout)))
    .onConflict((conflict) =>
      conflict
        .column('withdrawal_id')
        .doUpdateSet((row) => ({
          version: row.ref('excluded.version'),
          status: row.ref('excluded.status'),
          processed_at: row.ref('excluded.processed_at'),
          denied_reason: row.ref('excluded.denied_reason'),
          end_to_end_id: row.ref('excluded.end_to_end_id'),
        }))
        .whereRef('payout.account_id', '=', 'excluded.account_id')
        .whereRef('payout.environment', '=', 'excluded.environment'),
    )
    .execute();
}

function ofTenant(sql: Sql, tenant: Tenant) {
  return sql
    .selectFrom('payout')
    .where('payout.account_id', '=', tenant.accountId)
    .where('payout.environment', '=', tenant.environment);
}

function filtered(
  sql: Sql,
  tenant: Tenant,
  { status, method, requestedAfter, requestedBefore }: PayoutFilter,
) {
  let query = ofTenant(sql, tenant);
  // `in ()` is no SQL: of no status there is none.
  if (status?.length === 0 || method?.length === 0) query = query.where(raw<boolean>`false`);
  if (status && status.length > 0) query = query.where('status', 'in', status);
  if (method && method.length > 0) query = query.where('method', 'in', method);
  if (requestedAfter) query = query.where('requested_at', '>=', requestedAfter);
  if (requestedBefore) query = query.where('requested_at', '<', requestedBefore);
  return query;
}

function toPayout(row: Selectable<Tables['payout']>): Payout {
  return {
    withdrawalId: row.withdrawal_id,
    code: row.code,
    version: row.version,
    method: row.method,
    status: row.status,
    amountCents: row.amount_cents,
    feeCents: row.fee_cents,
    litoshi: row.litoshi,
    destination: row.destination,
    requestedAt: row.requested_at,
    processedAt: row.processed_at,
    deniedReason: row.denied_reason,
    endToEndId: row.end_to_end_id,
  };
}

function toRow(tenant: Tenant, payout: Payout) {
  return {
    account_id: tenant.accountId,
    environment: tenant.environment,
    withdrawal_id: payout.withdrawalId,
    code: payout.code,
    version: payout.version,
    method: payout.method,
    status: payout.status,
    amount_cents: payout.amountCents,
    fee_cents: payout.feeCents,
    litoshi: payout.litoshi,
    destination: payout.destination,
    requested_at: payout.requestedAt,
    processed_at: payout.processedAt,
    denied_reason: payout.deniedReason,
    end_to_end_id: payout.endToEndId,
  };
}
