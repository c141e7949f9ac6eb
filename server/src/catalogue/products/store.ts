import type { Selectable } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { productIdText } from '../../money-in/checkout/model.ts';
import type { Sql } from '../../state/db/database.ts';
import { countList, selectRange } from '../../state/db/lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import type { Tables } from '../../state/db/tables.ts';
import type { StoredProduct } from './model.ts';

// Ids of another form are left out of the query: no row has one, and Postgres rejects a text with U+0000.

export async function selectProducts(
  sql: Sql,
  tenant: Tenant,
  ids: readonly string[],
): Promise<StoredProduct[]> {
  const possible = ids.filter((id) => productIdText.safeParse(id).success);
  if (possible.length === 0) return [];
  const rows = await productsOf(sql, tenant).selectAll().where('id', 'in', possible).execute();
  return rows.map(toProduct);
}

/** Lists a range of the products, newest first, after the first `offset` of them. */
export async function listProducts(
  sql: Sql,
  tenant: Tenant,
  range: ListRange & { offset?: number },
): Promise<{ place: number; product: StoredProduct }[]> {
  const rows = await selectRange<Selectable<Tables['product']>>(sql, tenant, { table: 'product' }, range);
  return rows.map((row) => ({ place: row.number, product: toProduct(row) }));
}

export function countProducts(sql: Sql, tenant: Tenant): Promise<number> {
  return countList(sql, tenant, { list: 'product' });
}

export async function insertProducts(
  sql: Sql,
  tenant: Tenant,
  products: readonly StoredProduct[],
): Promise<void> {
  await sql
    .insertInto('product')
    .values(
      products.map((product) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        id: product.id,
        name: product.name,
        description: product.description,
        price_cents: product.priceCents,
        created_at: product.createdAt,
      })),
    )
    .execute();
}

export async function deleteProducts(sql: Sql, tenant: Tenant, ids: readonly string[]): Promise<void> {
  await sql
    .deleteFrom('product')
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .where('id', 'in', ids)
    .execute();
}

function productsOf(sql: Sql, tenant: Tenant) {
  return ofTenant(sql, 'product', tenant);
}

function toProduct(row: Selectable<Tables['product']>): StoredProduct {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    priceCents: row.price_cents,
    createdAt: row.created_at,
  };
}
