import { sql as raw, type Selectable } from 'kysely';
import { PAYOUT_METHODS, type PayoutMethod } from '../../kernel/payout-methods/registry.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import type { Sql } from '../../state/db/database.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { headOf } from '../../state/db/head.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import type { Tables } from '../../state/db/tables.ts';
import { selectTotals } from '../../state/db/totals.ts';
import { LIMITED_METHODS, PAYOUTS_AN_HOUR, type RecentPayouts } from './limits.ts';
import {
  isPayoutCode,
  isWithdrawalId,
  type OwnPayout,
  PAYOUT_STATUSES,
  type PayoutFilter,
  type PayoutRange,
  payoutConditions,
  variantOf,
} from './model.ts';

// Texts that are no references are not queried: they are in no row, and Postgres fails at one with U+0000.

/** Selects payouts by withdrawal ids and codes, in one statement. */
export async function selectPayouts(
  sql: Sql,
  tenant: Tenant,
  references: readonly string[],
): Promise<OwnPayout[]> {
  const ids = references.filter(isWithdrawalId);
  const codes = references.filter(isPayoutCode);
  if (ids.length + codes.length === 0) return [];
  const rows = await ofTenant(sql, 'payout', tenant)
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

/** Selects a payout with the version of the tenant's log: one statement, so both are of one snapshot. */
export async function selectWithHead(
  sql: Sql,
  tenant: Tenant,
  withdrawalId: string,
): Promise<{ version: number; payout: OwnPayout } | null> {
  if (!isWithdrawalId(withdrawalId)) return null;
  const row = await ofTenant(sql, 'payout', tenant)
    .selectAll('payout')
    .select(headOf(tenant).as('head'))
    .where('withdrawal_id', '=', withdrawalId)
    .executeTakeFirst();
  return row ? { version: row.head, payout: toPayout(row) } : null;
}

/**
 * Selects the instants at which the newest payouts were requested. It runs under the tenant's lock, so that no earlier
 * payout is committed after it.
 */
export async function selectRecent(sql: Sql, tenant: Tenant): Promise<RecentPayouts> {
  // The method is a constant in the text: a plan for any method may scan all payouts where this one is rare.
  const newest = (method: PayoutMethod | null, most: number) => raw`
    (select ${raw.lit(method)}::text as limited, number, requested_at from payout
      where account_id = ${tenant.accountId} and environment = ${tenant.environment}
        ${method === null ? raw`` : raw`and method = ${raw.lit(method)}`}
      order by number desc limit ${most})`;
  const parts = [
    newest(null, PAYOUTS_AN_HOUR),
    ...LIMITED_METHODS.map(({ method, most }) => newest(method, most)),
  ];
  const { rows } = await raw<{ limited: PayoutMethod | null; requested_at: Date }>`
    ${raw.join(parts, raw` union all `)} order by number desc`.execute(sql);
  const instants = (of: PayoutMethod | null) =>
    rows.filter(({ limited }) => limited === of).map((row) => row.requested_at);
  return {
    all: instants(null),
    byMethod: Object.fromEntries(LIMITED_METHODS.map(({ method }) => [method, instants(method)])),
  };
}

/** Lists the first or the last `limit` of the range, newest first: by the number, which grows with each request. */
export async function listPayouts(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset, after, before, ...filter }: PayoutRange & { offset?: number },
): Promise<{ place: number; payout: OwnPayout }[]> {
  const position = { end, limit, offset, after, before };
  const conditions = conditionsOf(filter);
  const rows = await selectFiltered<Selectable<Tables['payout']>>(
    sql,
    tenant,
    'payout',
    conditions,
    position,
  );
  return rows.map((row) => ({ place: row.number, payout: toPayout(row) }));
}

export function countPayouts(sql: Sql, tenant: Tenant, filter: PayoutFilter): Promise<number> {
  const { method: kind, status } = filter;
  return countFiltered(sql, tenant, 'payout', conditionsOf(filter), { kind, status });
}

export function totalsOfPayouts(
  sql: Sql,
  tenant: Tenant,
  filter: PayoutFilter,
  groupBy: readonly TotalsGrouping[],
): Promise<Totals> {
  return selectTotals(sql, tenant, 'payout', conditionsOf(filter), groupBy);
}

/** The columns of the members that the filter compares. */
const COLUMNS = {
  ...{ method: 'method', status: 'status', requestedAt: 'requested_at', processedAt: 'processed_at' },
  ...{ externalId: 'external_id', amountCents: 'amount_cents' },
  ...{ withdrawalId: 'withdrawal_id', code: 'code', endToEndId: 'end_to_end_id' },
};

// The indexes have a list for each method and status.
const conditionsOf = (filter: PayoutFilter) =>
  listConditions(payoutConditions, filter, {
    columns: COLUMNS,
    lists: { method: PAYOUT_METHODS, status: PAYOUT_STATUSES },
  });

export async function savePayouts(sql: Sql, tenant: Tenant, payouts: readonly OwnPayout[]): Promise<void> {
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
          returned_at: row.ref('excluded.returned_at'),
          denied_reason: row.ref('excluded.denied_reason'),
          end_to_end_id: row.ref('excluded.end_to_end_id'),
        }))
        .whereRef('payout.account_id', '=', 'excluded.account_id')
        .whereRef('payout.environment', '=', 'excluded.environment'),
    )
    .execute();
}

function toPayout(row: Selectable<Tables['payout']>): OwnPayout {
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
    returnedAt: row.returned_at,
    deniedReason: row.denied_reason,
    endToEndId: row.end_to_end_id,
    externalId: row.external_id,
    destinationKind: variantOf(row.method, row.destination),
  };
}

function toRow(tenant: Tenant, payout: OwnPayout) {
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
    returned_at: payout.returnedAt,
    denied_reason: payout.deniedReason,
    end_to_end_id: payout.endToEndId,
    external_id: payout.externalId,
  };
}
