import { sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { countList, selectRange } from '../../state/db/lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import {
  type Columns,
  changing,
  fixed,
  group,
  type Listed,
  type RowsOf,
  table,
} from '../../state/db/table.ts';
import type { ReturnFilter, ReturnRange, StoredReturn } from './model.ts';

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
  tenant: Tenant,
  returnIds: readonly string[],
): Promise<StoredReturn[]> {
  return (await kept.load(sql, tenant, returnIds)).map(toReturn);
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listReturns(
  sql: Sql,
  tenant: Tenant,
  { types, externalId, ...range }: ReturnRange & { offset?: number },
): Promise<{ position: number; item: StoredReturn }[]> {
  const rows = await selectRange<{ number: number }>(
    sql,
    tenant,
    {
      table: 'payment_return',
      where: externalId === undefined ? [] : [raw<boolean>`external_id = ${externalId}`],
      oneOf: { resource: types },
    },
    range,
  );
  return rows.map((row) => ({ position: row.number, item: toReturn(kept.fromRow(row)) }));
}

export async function countReturns(
  sql: Sql,
  tenant: Tenant,
  { types, externalId }: ReturnFilter,
): Promise<number> {
  if (externalId === undefined) return countList(sql, tenant, { list: 'payment_return', kind: types });
  let query = ofTenant(sql, 'payment_return', tenant)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('external_id', '=', externalId);
  if (types) query = query.where('resource', 'in', types);
  return (await query.executeTakeFirstOrThrow()).count;
}

export const saveReturns = kept.save;

function toReturn(stored: Kept): StoredReturn {
  return { ...stored, endToEndId: stored.resource.type === 'card_payment' ? null : stored.railId };
}
