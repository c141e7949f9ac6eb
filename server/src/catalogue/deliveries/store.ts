import { type RawBuilder, sql as raw, type Selectable } from 'kysely';
import { isObjectId } from '../../kernel/lenient-json.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { isStorable } from '../../kernel/text.ts';
import type { DeliveredContent } from '../../money-in/receiving/model.ts';
import type { Sql } from '../../state/db/database.ts';
import {
  isOfWanted,
  numberedKeys,
  type TenantKey,
  type TenantRecord,
  tenantArrays,
  tenantOf,
} from '../../state/db/each-tenant.ts';
import { listConditions, ownConditions } from '../../state/db/filtered-lists.ts';
import { inPeriod, selectPage } from '../../state/db/lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import { type Columns, changing, fixed, type Listed, type RowsOf, table } from '../../state/db/table.ts';
import type { Tables } from '../../state/db/tables.ts';
import type { PaidContent, StoredCode } from './decisions.ts';
import {
  type DeliveryFilter,
  type DeliveryRange,
  type DeliveryStock,
  deliveryConditions,
  LOW_STOCK,
  type PaidType,
  type StoredDelivery,
} from './model.ts';

// ── Deliveries ──────────────────────────────────────────────────────────────────────────────────

const columns = {
  deliveryId: fixed('delivery_id'),
  productId: fixed('product_id'),
  kind: fixed('kind'),
  content: fixed('content'),
  deliveredCount: changing('delivered_count'),
  remainingCount: changing('remaining_count'),
  createdAt: fixed('created_at'),
  deletedAt: changing('deleted_at'),
} satisfies Columns<StoredDelivery>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    delivery: RowsOf<StoredDelivery, typeof columns> & Listed;
    delivery_code: RowsOf<StoredCode, typeof codeColumns> & Listed;
  }
}

/** Deliveries, including deleted ones. */
export const deliveryTable = table<StoredDelivery>('delivery', columns, {
  key: 'deliveryId',
  isKey: isObjectId,
});

/** Lists the ids of the deliveries of each product, oldest first, without the deleted ones. */
export async function selectOfProducts(sql: Sql, products: readonly TenantKey[]): Promise<string[][]> {
  const { rows } = await raw<{ nth: number; delivery_id: string }>`
    select wanted.nth, delivery.delivery_id from ${numberedKeys(products)}
    join delivery on ${isOfWanted('delivery')} and delivery.product_id = wanted.key and delivery.deleted_at is null
    order by delivery.number`.execute(sql);
  const found = products.map((): string[] => []);
  for (const { nth, delivery_id } of rows) found[nth - 1]!.push(delivery_id);
  return found;
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listDeliveries(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset = 0, after, before, stock, ...filter }: DeliveryRange & { offset?: number },
): Promise<{ position: number; delivery: StoredDelivery }[]> {
  const rows = await selectPage<{ number: number }>(sql, tenant, {
    table: 'delivery',
    where: [
      ...whereOf(filter),
      ...(after === undefined ? [] : [raw<boolean>`number < ${after}`]),
      ...(before === undefined ? [] : [raw<boolean>`number > ${before}`]),
    ],
    anyOf: stock && [...new Set(stock)].map((each) => IN_STOCK[each]),
    order: ['number'],
    direction: end === 'first' ? 'desc' : 'asc',
    limit,
    offset,
  });
  const items = rows.map((row) => ({ position: row.number, delivery: deliveryTable.fromRow(row) }));
  return end === 'first' ? items : items.reverse();
}

/** Counts the deliveries of an account: 10 for each of its 500 products at most, and those of deleted products. */
export async function countDeliveries(
  sql: Sql,
  tenant: Tenant,
  { stock, ...filter }: DeliveryFilter,
): Promise<number> {
  if (stock?.length === 0) return 0;
  const conditions = [
    ...whereOf(filter),
    ...(stock
      ? [
          raw<boolean>`(${raw.join(
            stock.map((each) => IN_STOCK[each]),
            raw` or `,
          )})`,
        ]
      : []),
  ];
  const { count } = await conditions
    .reduce((query, condition) => query.where(condition), ofTenant(sql, 'delivery', tenant))
    .select(raw<number>`count(*)`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * The conditions besides the stock. An account has few deliveries, so that only those of a product and of a
 * stock have an index.
 */
function whereOf(filter: Omit<DeliveryFilter, 'stock'>): RawBuilder<boolean>[] {
  const conditions = conditionsOf(filter);
  return [
    raw<boolean>`deleted_at is null`,
    ...ownConditions(conditions),
    ...conditions.periods.flatMap(([instant, period]) => inPeriod(instant, period)),
  ];
}

const conditionsOf = listConditions(deliveryConditions, {
  columns: deliveryTable.columns,
  lists: {},
});

/** The rule of `stockOf`. Each condition matches a partial index, so it has no parameter. */
const IN_STOCK: Record<DeliveryStock, RawBuilder<boolean>> = {
  ready: raw<boolean>`(remaining_count is null or remaining_count > ${raw.lit(LOW_STOCK)})`,
  low: raw<boolean>`(remaining_count > 0 and remaining_count <= ${raw.lit(LOW_STOCK)})`,
  empty: raw<boolean>`remaining_count = 0`,
};

/** Saves deliveries. For a deleted one, the codes in stock are deleted. */
export async function saveDeliveries(
  sql: Sql,
  deliveries: readonly TenantRecord<StoredDelivery>[],
): Promise<void> {
  await deliveryTable.saveEach(sql, deliveries);
  const deleted = deliveries.flatMap(({ record }) => (record.deletedAt ? [record.deliveryId] : []));
  if (deleted.length > 0)
    await sql
      .deleteFrom('delivery_code')
      .where('delivery_id', 'in', deleted)
      .where('delivered', '=', false)
      .execute();
}

// ── Codes ───────────────────────────────────────────────────────────────────────────────────────

const codeColumns = {
  productId: fixed('product_id'),
  hash: fixed('code_hash'),
  deliveryId: fixed('delivery_id'),
  code: fixed('code'),
  isDelivered: changing('delivered'),
} satisfies Columns<StoredCode>;

/** The codes of products. */
export const codeTable = table<StoredCode, never, 'productId' | 'hash'>('delivery_code', codeColumns, {
  key: { productId: 'text', hash: 'text' },
  unique: ['account_id', 'environment', 'product_id', 'code_hash'],
});

/** Selects the `limit` oldest codes in each stock, oldest first. */
export async function selectStocks(
  sql: Sql,
  deliveryIds: readonly TenantKey[],
  limit: number,
): Promise<StoredCode[][]> {
  const { rows } = await raw<{ nth: number; number: number }>`
    select wanted.nth, found.* from ${numberedKeys(deliveryIds)}
    cross join lateral (
      select * from delivery_code c where c.delivery_id = wanted.key and not c.delivered
      order by c.number limit ${limit}
    ) found where ${isOfWanted('found')} order by found.number`.execute(sql);
  const codes = deliveryIds.map((): StoredCode[] => []);
  for (const row of rows) codes[row.nth - 1]!.push(codeTable.fromRow(row));
  return codes;
}

/** Saves codes, except undelivered ones of a deleted stock. Deliveries are saved before codes. */
export async function saveCodes(sql: Sql, codes: readonly TenantRecord<StoredCode>[]): Promise<void> {
  await raw`
    insert into delivery_code (account_id, environment, product_id, code_hash, delivery_id, code, delivered)
    select c.account_id, c.environment, c.product_id, c.hash, c.delivery_id, c.code, c.delivered
    from unnest(
      ${tenantArrays(codes)},
      ${codes.map(({ record }) => record.productId)}::text[],
      ${codes.map(({ record }) => record.hash)}::text[],
      ${codes.map(({ record }) => record.deliveryId)}::text[],
      ${codes.map(({ record }) => record.code)}::text[],
      ${codes.map(({ record }) => record.isDelivered)}::boolean[]
    ) with ordinality c (account_id, environment, product_id, hash, delivery_id, code, delivered, nth)
    where c.delivered or exists (select from delivery d where d.delivery_id = c.delivery_id and d.deleted_at is null)
    order by c.nth
    on conflict (account_id, environment, product_id, code_hash) do update set delivered = excluded.delivered`.execute(
    sql,
  );
}

// ── What payments were given ────────────────────────────────────────────────────────────────────

/** Selects the content of payments. */
export async function selectGiven(
  sql: Sql,
  payments: readonly { tenant: Tenant; type: PaidType; id: string }[],
): Promise<TenantRecord<PaidContent>[]> {
  const { rows } = await raw<Selectable<Tables['delivered_content']>>`
    select found.* from unnest(
      ${tenantArrays(payments)}, ${payments.map(({ type }) => type)}::text[], ${payments.map(({ id }) => id)}::text[]
    ) wanted (account_id, environment, type, id)
    join delivered_content found on ${isOfWanted('found')}
      and found.resource = wanted.type and found.resource_id = wanted.id
    order by found.account_id, found.environment, found.resource, found.resource_id, found.position`.execute(
    sql,
  );
  const contents = Map.groupBy(
    rows,
    (row) => `${tenantKey(tenantOf(row))} ${row.resource} ${row.resource_id}`,
  );
  return [...contents.values()].map((items) => {
    const first = items[0]!;
    return {
      tenant: tenantOf(first),
      record: {
        payment: { type: first.resource, id: first.resource_id },
        productId: first.product_id,
        callbackUrl: first.callback_url,
        paidAt: first.paid_at,
        items: items.map((row) => ({
          deliveryId: row.delivery_id,
          kind: row.kind,
          status: row.status,
          codeHash: row.code_hash,
          deliveredAt: row.delivered_at,
        })),
      },
    };
  });
}

/** Lists the `limit` payments of each product that have waited longest for a code. */
export async function selectWaiting(
  sql: Sql,
  products: readonly TenantKey[],
  limit: number,
): Promise<{ type: PaidType; id: string }[][]> {
  const { rows } = await raw<{ nth: number; resource: PaidType; resource_id: string }>`
    select wanted.nth, found.resource, found.resource_id from ${numberedKeys(products)}
    cross join lateral (
      select * from delivered_content c
      where ${isOfWanted('c')} and c.product_id = wanted.key and c.status = 'pending'
      order by c.paid_at, c.number limit ${limit}
    ) found order by found.paid_at, found.number`.execute(sql);
  const waiting = products.map((): { type: PaidType; id: string }[] => []);
  for (const { nth, resource: type, resource_id: id } of rows) waiting[nth - 1]!.push({ type, id });
  return waiting;
}

export async function saveGiven(sql: Sql, given: readonly TenantRecord<PaidContent>[]): Promise<void> {
  const rows = given.flatMap(({ tenant, record: { items, ...content } }) =>
    items.map((item, position) => ({ ...content, ...item, tenant, position })),
  );
  await raw`
    insert into delivered_content (account_id, environment, resource, resource_id, position, product_id, delivery_id,
      kind, status, code_hash, callback_url, paid_at, delivered_at)
    select g.account_id, g.environment, g.type, g.id, g.position, g.product_id, g.delivery_id,
      g.kind, g.status, g.code_hash, g.callback_url, g.paid_at, g.delivered_at
    from unnest(
      ${tenantArrays(rows)},
      ${rows.map(({ payment }) => payment.type)}::text[],
      ${rows.map(({ payment }) => payment.id)}::text[],
      ${rows.map(({ position }) => position)}::integer[],
      ${rows.map(({ productId }) => productId)}::text[],
      ${rows.map(({ deliveryId }) => deliveryId)}::text[],
      ${rows.map(({ kind }) => kind)}::text[],
      ${rows.map(({ status }) => status)}::text[],
      ${rows.map(({ codeHash }) => codeHash)}::text[],
      ${rows.map(({ callbackUrl }) => callbackUrl)}::text[],
      ${rows.map(({ paidAt }) => paidAt)}::timestamptz[],
      ${rows.map(({ deliveredAt }) => deliveredAt)}::timestamptz[]
    ) with ordinality g (account_id, environment, type, id, position, product_id, delivery_id, kind, status, code_hash,
      callback_url, paid_at, delivered_at, nth)
    order by g.nth
    on conflict (account_id, environment, resource, resource_id, position) do update
    set delivery_id = excluded.delivery_id, status = excluded.status, code_hash = excluded.code_hash,
      delivered_at = excluded.delivered_at`.execute(sql);
}

/** Reads the content of payments as their payers see it: the text or code of delivered items only. */
export async function selectShown(
  sql: Sql,
  tenant: Tenant,
  { type, ids }: { type: PaidType; ids: readonly string[] },
): Promise<(DeliveredContent & { id: string })[]> {
  const possible = ids.filter(isStorable);
  if (possible.length === 0) return [];
  const rows = await sql
    .selectFrom('delivered_content as given')
    .innerJoin('delivery', 'delivery.delivery_id', 'given.delivery_id')
    .leftJoin('delivery_code as code', (join) =>
      join
        .onRef('code.account_id', '=', 'given.account_id')
        .onRef('code.environment', '=', 'given.environment')
        .onRef('code.product_id', '=', 'given.product_id')
        .onRef('code.code_hash', '=', 'given.code_hash'),
    )
    .select(['given.resource_id', 'given.kind', 'given.status', 'given.delivered_at'])
    .select(
      raw<
        string | null
      >`case when given.status = 'delivered' then coalesce(code.code, delivery.content) end`.as('content'),
    )
    .where('given.account_id', '=', tenant.accountId)
    .where('given.environment', '=', tenant.environment)
    .where('given.resource', '=', type)
    .where('given.resource_id', 'in', possible)
    .orderBy('given.position')
    .execute();
  return rows.map((row) => ({
    id: row.resource_id,
    kind: row.kind,
    status: row.status,
    content: row.content,
    deliveredAt: row.delivered_at,
  }));
}
