import { sql as raw, type Selectable } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { countList, selectRange } from '../../state/db/lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import type { Tables } from '../../state/db/tables.ts';
import type { ReturnFilter, ReturnRange, StoredReturn } from './model.ts';

export async function selectReturns(
  sql: Sql,
  tenant: Tenant,
  returnIds: readonly string[],
): Promise<StoredReturn[]> {
  const rows = await ofTenant(sql, 'payment_return', tenant)
    .selectAll()
    .where('return_id', 'in', returnIds)
    .execute();
  return rows.map(toReturn);
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listReturns(
  sql: Sql,
  tenant: Tenant,
  { types, externalId, ...range }: ReturnRange & { offset?: number },
): Promise<{ place: number; item: StoredReturn }[]> {
  const rows = await selectRange<Selectable<Tables['payment_return']>>(
    sql,
    tenant,
    {
      table: 'payment_return',
      where: externalId === undefined ? [] : [raw<boolean>`external_id = ${externalId}`],
      oneOf: { resource: types },
    },
    range,
  );
  return rows.map((row) => ({ place: row.number, item: toReturn(row) }));
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

export async function saveReturns(sql: Sql, tenant: Tenant, returns: readonly StoredReturn[]): Promise<void> {
  await sql
    .insertInto('payment_return')
    .values(
      returns.map((each) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        return_id: each.returnId,
        resource: each.resource.type,
        resource_id: each.resource.id,
        external_id: each.externalId,
        amount_cents: each.amountCents,
        cause: each.cause,
        kept_payment: each.keptPayment,
        rail_id: each.railId,
        received_at: each.receivedAt,
        returned_at: each.returnedAt,
        failed_returns: each.failedReturns,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'environment', 'return_id']).doUpdateSet((row) => ({
        returned_at: row.ref('excluded.returned_at'),
        failed_returns: row.ref('excluded.failed_returns'),
      })),
    )
    .execute();
}

function toReturn(row: Selectable<Tables['payment_return']>): StoredReturn {
  return {
    returnId: row.return_id,
    resource: { type: row.resource, id: row.resource_id },
    externalId: row.external_id,
    amountCents: row.amount_cents,
    cause: row.cause,
    keptPayment: row.kept_payment,
    endToEndId: row.resource === 'card_payment' ? null : row.rail_id,
    receivedAt: row.received_at,
    returnedAt: row.returned_at,
    railId: row.rail_id,
    failedReturns: row.failed_returns,
  };
}
