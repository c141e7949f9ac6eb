import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import type { TenantKey, TenantRecord } from '../../state/db/each-tenant.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import {
  type Columns,
  changing,
  fixed,
  group,
  type Listed,
  type RowsOf,
  table,
} from '../../state/db/table.ts';
import {
  RETURNED_TYPES,
  type ReturnFilter,
  type ReturnRange,
  returnConditions,
  type StoredReturn,
} from './model.ts';

/** A return without the member that follows from its rail. */
type Kept = Omit<StoredReturn, 'endToEndId'>;

const columns = {
  returnId: fixed('return_id'),
  resource: group('type', { type: fixed('resource'), id: fixed('resource_id') }),
  externalId: fixed('external_id'),
  amountCents: fixed('amount_cents'),
  cause: fixed('cause'),
  keptPayment: fixed('kept_payment'),
  railId: fixed('rail_id'),
  receivedAt: fixed('received_at'),
  returnedAt: changing('returned_at'),
  failedReturns: changing('failed_returns'),
} satisfies Columns<Kept>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    payment_return: RowsOf<Kept, typeof columns> & Listed;
  }
}

const kept = table<Kept>('payment_return', columns, {
  key: 'returnId',
  unique: ['account_id', 'environment', 'return_id'],
});

export async function selectReturns(
  sql: Sql,
  returnIds: readonly TenantKey[],
): Promise<TenantRecord<StoredReturn>[]> {
  const found = await kept.loadEach(sql, returnIds);
  return found.map(({ tenant, record }) => ({ tenant, record: toReturn(record) }));
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listReturns(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset, after, before, ...filter }: ReturnRange & { offset?: number },
): Promise<{ position: number; item: StoredReturn }[]> {
  const range = { end, limit, offset, after, before };
  const rows = await selectFiltered<{ number: number }>(
    ...([sql, tenant, 'payment_return', conditionsOf(filter), range] as const),
  );
  return rows.map((row) => ({ position: row.number, item: toReturn(kept.fromRow(row)) }));
}

export function countReturns(sql: Sql, tenant: Tenant, filter: ReturnFilter): Promise<number> {
  return countFiltered(sql, tenant, 'payment_return', conditionsOf(filter), { kind: filter.types });
}

const conditionsOf = listConditions(returnConditions, {
  // The rail's name of a PIX is its end-to-end id; that of a card has another form.
  columns: { ...kept.columns, endToEndId: kept.columns.railId },
  lists: { types: RETURNED_TYPES },
});

export const saveReturns = kept.saveEach;

function toReturn(stored: Kept): StoredReturn {
  return { ...stored, endToEndId: stored.resource.type === 'card_payment' ? null : stored.railId };
}
