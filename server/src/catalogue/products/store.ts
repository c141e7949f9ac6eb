import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { productIdText } from '../../money-in/checkout/model.ts';
import type { Sql } from '../../state/db/database.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { type Columns, fixed, type Listed, type RowsOf, table } from '../../state/db/table.ts';
import { type ProductFilter, productConditions, type StoredProduct } from './model.ts';

const columns = {
  id: fixed('id'),
  name: fixed('name'),
  description: fixed('description'),
  priceCents: fixed('price_cents'),
  createdAt: fixed('created_at'),
} satisfies Columns<StoredProduct>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    product: RowsOf<StoredProduct, typeof columns> & Listed;
  }
}

export const productTable = table<StoredProduct>('product', columns, {
  key: 'id',
  isKey: (text) => productIdText.safeParse(text).success,
});

/** Lists a range of the products, newest first, after the first `offset` of them. */
export async function listProducts(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset, after, before, ...filter }: ListRange & ProductFilter & { offset?: number },
): Promise<{ position: number; product: StoredProduct }[]> {
  const range = { end, limit, offset, after, before };
  const rows = await selectFiltered<{ number: number }>(sql, tenant, 'product', conditionsOf(filter), range);
  return rows.map((row) => ({ position: row.number, product: productTable.fromRow(row) }));
}

export function countProducts(sql: Sql, tenant: Tenant, filter: ProductFilter = {}): Promise<number> {
  return countFiltered(sql, tenant, 'product', conditionsOf(filter), {});
}

// An account has 500 products at most, so that no condition has an index.
const conditionsOf = listConditions(productConditions, { columns: productTable.columns, lists: {} });

export async function deleteProducts(sql: Sql, tenant: Tenant, ids: readonly string[]): Promise<void> {
  await sql
    .deleteFrom('product')
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .where('id', 'in', ids)
    .execute();
}
