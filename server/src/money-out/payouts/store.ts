import { sql as raw } from 'kysely';
import { PAYOUT_METHODS, type PayoutMethod } from '../../kernel/payout-methods/registry.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import type { Sql } from '../../state/db/database.ts';
import { isOfWanted, type TenantKey, type TenantRecord, tenantArrays } from '../../state/db/each-tenant.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import { type Columns, changing, fixed, type Listed, type RowsOf, table } from '../../state/db/table.ts';
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

/** A payout without the member that follows from its destination. */
type Kept = Omit<OwnPayout, 'destinationKind'>;

const columns = {
  withdrawalId: fixed('withdrawal_id'),
  code: fixed('code'),
  version: changing('version'),
  method: fixed('method'),
  status: changing('status'),
  amountCents: fixed('amount_cents'),
  feeCents: fixed('fee_cents'),
  litoshi: fixed('litoshi'),
  destination: fixed('destination'),
  requestedAt: fixed('requested_at'),
  processedAt: changing('processed_at'),
  returnedAt: changing('returned_at'),
  deniedReason: changing('denied_reason'),
  endToEndId: changing('end_to_end_id'),
  externalId: fixed('external_id'),
} satisfies Columns<Kept>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    payout: RowsOf<Kept, typeof columns> & Listed;
  }
}

const payouts = table<Kept>('payout', columns, { key: 'withdrawalId', isKey: isWithdrawalId });

// Texts that cannot be references are not queried: no row contains them, and Postgres fails for a text with
// U+0000.

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
  const found = await payouts.loadWithHead(sql, tenant, withdrawalId);
  return found && { version: found.version, payout: withKind(found.resource) };
}

/** Selects payouts of tenants by withdrawal ids, in one statement. */
export async function selectPayoutsOf(
  sql: Sql,
  ids: readonly TenantKey[],
): Promise<TenantRecord<OwnPayout>[]> {
  const found = await payouts.loadEach(sql, ids);
  return found.map(({ tenant, record }) => ({ tenant, record: withKind(record) }));
}

/**
 * Selects the instants at which the newest payouts of tenants were requested. It runs under the tenants' locks, so that no
 * earlier payout is committed after it.
 */
export async function selectRecent(
  sql: Sql,
  of: readonly { readonly tenant: Tenant }[],
): Promise<TenantRecord<RecentPayouts>[]> {
  // The method is a constant in the text: a plan for any method may scan all payouts if this one is rare.
  const newest = (method: PayoutMethod | null, most: number) => raw`
    (select ${raw.lit(method)}::text as limited, number, requested_at from payout
      where ${isOfWanted('payout')} ${method === null ? raw`` : raw`and method = ${raw.lit(method)}`}
      order by number desc limit ${raw.lit(most)})`;
  const parts = [
    newest(null, PAYOUTS_AN_HOUR),
    ...LIMITED_METHODS.map(({ method, most }) => newest(method, most)),
  ];
  const { rows } = await raw<{ nth: number; limited: PayoutMethod | null; requested_at: Date }>`
    select wanted.nth, recent.limited, recent.requested_at
    from unnest(${tenantArrays(of)}) with ordinality wanted (account_id, environment, nth)
    cross join lateral (${raw.join(parts, raw` union all `)}) recent
    order by recent.number desc`.execute(sql);
  return of.map(({ tenant }, index) => {
    const own = rows.filter(({ nth }) => nth === index + 1);
    const instants = (method: PayoutMethod | null) =>
      own.filter(({ limited }) => limited === method).map((row) => row.requested_at);
    return {
      tenant,
      record: {
        all: instants(null),
        byMethod: Object.fromEntries(LIMITED_METHODS.map(({ method }) => [method, instants(method)])),
      },
    };
  });
}

/** Lists the first or the last `limit` of the range, newest first: by the number, which grows with each request. */
export async function listPayouts(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset, after, before, ...filter }: PayoutRange & { offset?: number },
): Promise<{ position: number; payout: OwnPayout }[]> {
  const position = { end, limit, offset, after, before };
  const conditions = conditionsOf(filter);
  const rows = await selectFiltered<{ number: number }>(sql, tenant, 'payout', conditions, position);
  return rows.map((row) => ({ position: row.number, payout: toPayout(row) }));
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

// The indexes have a list for each method and status.
const conditionsOf = listConditions(payoutConditions, {
  columns: payouts.columns,
  lists: { method: PAYOUT_METHODS, status: PAYOUT_STATUSES },
});

export const savePayouts: (sql: Sql, saved: readonly TenantRecord<OwnPayout>[]) => Promise<void> =
  payouts.saveEach;

function toPayout(row: object): OwnPayout {
  return withKind(payouts.fromRow(row));
}

function withKind(payout: Kept): OwnPayout {
  return Object.assign(payout, { destinationKind: variantOf(payout.method, payout.destination) });
}
