import { sql as raw } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Totals } from '../../kernel/totals.ts';
import type { Sql } from '../../state/db/database.ts';
import { countFiltered, type ListConditions } from '../../state/db/filtered-lists.ts';
import { selectMerged } from '../../state/db/merged-lists.ts';
import { groupedTotals, queriesOfTotals } from '../../state/db/totals.ts';
import { type Division, type KindFilter, METHOD_OF, SALE_KINDS, type Sale, type SaleKind } from './model.ts';

/** The table of one kind of sales, as the slice of the kind keeps it. */
export interface SaleTable {
  /** The conditions of a filter of the kind's own list. @throws ValidationError if Postgres cannot compare a text */
  conditionsOf(filter: object): ListConditions;
  fromRow(row: object): Sale;
}

export type SaleTables = Readonly<Record<SaleKind, SaleTable>>;

/** Creates the queries over the tables of all kinds. A filter of a kind stands for its table: the others are not read. */
export function saleStore(tables: SaleTables) {
  return {
    /** Lists the first or the last `limit` of the range, newest first. */
    async list(
      sql: Sql,
      tenant: Tenant,
      filters: readonly KindFilter[],
      range: ListRange & { offset?: number },
    ): Promise<{ position: number; sale: Sale }[]> {
      const parts = filters.map(({ kind, filter }) => ({
        rank: SALE_KINDS.indexOf(kind),
        conditions: tables[kind].conditionsOf(filter),
      }));
      const rows = await selectMerged(sql, tenant, SALE_KINDS, parts, range);
      return rows.map(({ rank, position, row }) => ({
        position,
        sale: tables[SALE_KINDS[rank]!].fromRow(row),
      }));
    },

    async count(sql: Sql, tenant: Tenant, filters: readonly KindFilter[]): Promise<number> {
      const counts = await Promise.all(
        filters.map(({ kind, filter }) =>
          countFiltered(sql, tenant, kind, tables[kind].conditionsOf(filter), {
            kind: kind === 'payment' ? filter.method : undefined,
            status: filter.status,
          }),
        ),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },

    /** Adds up all kinds in one statement, so at one moment. */
    totals(
      sql: Sql,
      tenant: Tenant,
      filters: readonly KindFilter[],
      { groupBy, slots }: Division,
    ): Promise<Totals> {
      const queries = filters.flatMap(({ kind, filter }) => {
        const method = METHOD_OF[kind];
        const named = method === null ? raw.ref('kind') : raw`${raw.lit(method)}`;
        return queriesOfTotals(tenant, kind, tables[kind].conditionsOf(filter), { slots }).map(
          (query) => raw`select hour, ${named} as kind, status, count, cents, cut from (${query}) of_kind`,
        );
      });
      return groupedTotals(sql, queries, slots ? ['hour', ...groupBy] : groupBy);
    },
  };
}
