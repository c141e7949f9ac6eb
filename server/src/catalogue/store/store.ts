import { type RawBuilder, sql as raw } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { selectPage } from '../../state/db/lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import { type Columns, fixed, type RowsOf, table } from '../../state/db/table.ts';
import { PRICE, type StoreProduct, type StoreProductFilter } from './model.ts';

const columns = {
  storeProductId: fixed('store_product_id'),
  name: fixed('name'),
  description: fixed('description'),
  price: fixed('price'),
  imageUrl: fixed('image_url'),
  available: fixed('available'),
} satisfies Columns<StoreProduct>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    store_product: RowsOf<StoreProduct, typeof columns> & { number: number };
  }
}

export const storeProductTable = table<StoreProduct>('store_product', columns, {
  key: 'storeProductId',
  unique: ['account_id', 'environment', 'store_product_id'],
});

/** Lists the first or the last `limit` of the range, in the store's own order. */
export async function listStoreProducts(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset = 0, after, before, ...filter }: ListRange & StoreProductFilter & { offset?: number },
): Promise<{ position: number; product: StoreProduct }[]> {
  const rows = await selectPage<{ number: number }>(sql, tenant, {
    table: 'store_product',
    where: [
      ...whereOf(filter),
      ...(after === undefined ? [] : [raw<boolean>`number > ${after}`]),
      ...(before === undefined ? [] : [raw<boolean>`number < ${before}`]),
    ],
    order: ['number'],
    direction: end === 'first' ? 'asc' : 'desc',
    limit,
    offset,
  });
  const items = rows.map((row) => ({ position: row.number, product: storeProductTable.fromRow(row) }));
  return end === 'first' ? items : items.reverse();
}

/** Counts the products of a store, which has 5,000 at most. */
export async function countStoreProducts(
  sql: Sql,
  tenant: Tenant,
  filter: StoreProductFilter,
): Promise<number> {
  const { count } = await whereOf(filter)
    .reduce((query, condition) => query.where(condition), ofTenant(sql, 'store_product', tenant))
    .select(raw<number>`count(*)`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** The conditions of a filter. A store has few products, so that they have no index. */
function whereOf({ available, ...prices }: StoreProductFilter): RawBuilder<boolean>[] {
  const { priceCents, minPriceCents, maxPriceCents } = prices;
  return [
    ...(available === undefined ? [] : [raw<boolean>`available = ${available}`]),
    ...(priceCents === undefined ? [] : [raw<boolean>`${PRICE_CENTS} = ${priceCents}`]),
    ...(minPriceCents === undefined ? [] : [raw<boolean>`${PRICE_CENTS} >= ${minPriceCents}`]),
    ...(maxPriceCents === undefined ? [] : [raw<boolean>`${PRICE_CENTS} <= ${maxPriceCents}`]),
  ];
}

/** The rule of `priceCentsOf`: null for a price in another format. */
const PRICE_CENTS = raw`case when price ~ ${raw.lit(PRICE.source)} then
  nullif(regexp_replace(price, '[^0-9]', '', 'g'), '')::numeric end`;

export async function replaceStoreProducts(
  sql: Sql,
  tenant: Tenant,
  products: readonly StoreProduct[],
): Promise<void> {
  await sql
    .deleteFrom('store_product')
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .execute();
  if (products.length === 0) return;
  await raw`
    insert into store_product (account_id, environment, number, store_product_id, name, description, price, image_url, available)
    select ${tenant.accountId}::text, ${tenant.environment}::text, p.number, p.id, p.name, p.description, p.price,
      p.image_url, p.available
    from unnest(
      ${products.map(({ storeProductId }) => storeProductId)}::text[],
      ${products.map(({ name }) => name)}::text[],
      ${products.map(({ description }) => description)}::text[],
      ${products.map(({ price }) => price)}::text[],
      ${products.map(({ imageUrl }) => imageUrl)}::text[],
      ${products.map(({ available }) => available)}::boolean[]
    ) with ordinality p (id, name, description, price, image_url, available, number)`.execute(sql);
}
