import { type RawBuilder, sql as raw } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import type { Sql } from '../../state/db/database.ts';
import {
  countFiltered,
  isOfCustomer,
  type ListConditions,
  selectFiltered,
} from '../../state/db/filtered-lists.ts';
import { selectTotals } from '../../state/db/totals.ts';
import { PAYMENT_STATUSES } from '../receiving/model.ts';
import type { PixFilter, StoredPixResource } from './model.ts';
import { updatedPixColumns } from './store.ts';

/** The table of one family: its rows have the columns of every resource that a PIX code pays, and some of their own. */
interface Table<R extends StoredPixResource, Row, Kind extends string> {
  table: 'payment' | 'charge';
  /** The column of the id. */
  id: string;
  /** A text that is no id is not queried: it is in no row, and Postgres rejects one with U+0000. */
  isId(text: string): boolean;
  /** The column by whose values lists are divided, and these values. */
  kind: string;
  kinds: readonly Kind[];
  toResource(row: Row): R;
  toRow(tenant: Tenant, resource: R): object;
  /** The table's own columns that change. */
  changing?: readonly string[];
}

/** Creates the queries of one family's table. */
export function pixTable<R extends StoredPixResource, Row extends object, Kind extends string>({
  table,
  id,
  isId,
  kind,
  kinds,
  toResource,
  toRow,
  changing = [],
}: Table<R, Row, Kind>) {
  const from = raw.table(table);
  const idColumn = raw.ref(`${table}.${id}`);
  const isOf = ({ accountId, environment }: Tenant) =>
    raw`${raw.ref(`${table}.account_id`)} = ${accountId} and ${raw.ref(`${table}.environment`)} = ${environment}`;

  function conditionsOf(filter: PixFilter<Kind>): ListConditions {
    const { status, kind: asked, externalId, reference, amountCents, customer } = filter;
    return {
      // The indexes have a list for each kind and status.
      oneOf: { [kind]: { asked, all: kinds }, status: { asked: status, all: PAYMENT_STATUSES } },
      periods: [
        ['created_at', { from: filter.createdAfter, before: filter.createdBefore }],
        ['paid_at', { from: filter.paidAfter, before: filter.paidBefore }],
        ['refunded_at', { from: filter.refundedAfter, before: filter.refundedBefore }],
      ],
      where: [
        ...(externalId === undefined ? [] : [raw<boolean>`external_id = ${externalId}`]),
        ...(reference === undefined ? [] : [isReferredTo(reference)]),
        ...(amountCents === undefined ? [] : [raw<boolean>`amount_cents = ${amountCents}`]),
        ...(customer === undefined ? [] : [isOfCustomer(customer)]),
      ],
    };
  }

  /** The condition of the resource with this id, or paid by the PIX with this end-to-end id. */
  function isReferredTo(reference: string): RawBuilder<boolean> {
    return raw<boolean>`(${raw.ref(id)} = ${reference} or end_to_end_id = ${reference})`;
  }

  return {
    async select(sql: Sql, tenant: Tenant, ids: readonly string[]): Promise<R[]> {
      const possible = ids.filter(isId);
      if (possible.length === 0) return [];
      const { rows } = await raw<Row>`
        select * from ${from} where ${isOf(tenant)} and ${idColumn} = any(${possible}::text[])`.execute(sql);
      return rows.map(toResource);
    },

    /** Finds a resource of any account, for the payer's page, which knows the id alone. */
    async selectHosted(
      sql: Sql,
      found: string,
    ): Promise<{ tenant: Tenant; merchantName: string; resource: R } | null> {
      if (!isId(found)) return null;
      const { rows } = await raw<
        Row & { account_id: string; environment: Environment; merchant_name: string }
      >`
        select ${raw.table(table)}.*, account.name as merchant_name from ${from}
        join account on account.id = ${raw.ref(`${table}.account_id`)}
        where ${idColumn} = ${found}`.execute(sql);
      const [row] = rows;
      if (!row) return null;
      return {
        tenant: { accountId: row.account_id, environment: row.environment },
        merchantName: row.merchant_name,
        resource: toResource(row),
      };
    },

    /** Reads a resource and the version of the log at which it holds, in one statement and so at one moment. */
    async selectWithHead(
      sql: Sql,
      tenant: Tenant,
      found: string,
    ): Promise<{ version: number; resource: R } | null> {
      if (!isId(found)) return null;
      const { rows } = await raw<Row & { head: number }>`
        select ${raw.table(table)}.*, stream.version as head from ${from}
        join stream on stream.account_id = ${raw.ref(`${table}.account_id`)}
          and stream.environment = ${raw.ref(`${table}.environment`)}
        where ${isOf(tenant)} and ${idColumn} = ${found}`.execute(sql);
      const [row] = rows;
      return row ? { version: row.head, resource: toResource(row) } : null;
    },

    /** Lists the first or the last `limit` of the range, newest first. */
    async list(
      sql: Sql,
      tenant: Tenant,
      { end, limit, offset, after, before, ...filter }: ListRange & PixFilter<Kind> & { offset?: number },
    ): Promise<{ place: number; resource: R }[]> {
      const position = { end, limit, offset, after, before };
      const rows = await selectFiltered<Row & { number: number }>(
        sql,
        tenant,
        table,
        conditionsOf(filter),
        position,
      );
      return rows.map((row) => ({ place: row.number, resource: toResource(row) }));
    },

    count(sql: Sql, tenant: Tenant, filter: PixFilter<Kind>): Promise<number> {
      return countFiltered(sql, tenant, table, conditionsOf(filter), filter);
    },

    totals(
      sql: Sql,
      tenant: Tenant,
      filter: PixFilter<Kind>,
      groupBy: readonly TotalsGrouping[],
    ): Promise<Totals> {
      return selectTotals(sql, tenant, table, conditionsOf(filter), groupBy);
    },

    async save(sql: Sql, tenant: Tenant, resources: readonly R[]): Promise<void> {
      const updates: Record<string, RawBuilder<unknown>> = {
        ...updatedPixColumns(),
        ...Object.fromEntries(changing.map((name) => [name, raw`${raw.ref(`excluded.${name}`)}`])),
      };
      // Each family's own toRow is typed by its table.
      await sql
        .insertInto(table as 'payment')
        .values(resources.map((resource) => toRow(tenant, resource)) as never)
        .onConflict((conflict) => conflict.column(id as 'payment_id').doUpdateSet(updates as never))
        .execute();
    },
  };
}

export type PixTable<R extends StoredPixResource, Kind extends string> = ReturnType<
  typeof pixTable<R, object, Kind>
>;
