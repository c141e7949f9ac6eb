import type { Condition } from '../../kernel/list-filter.ts';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import type { Sql } from '../../state/db/database.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import type { Table } from '../../state/db/table.ts';
import { selectTotals } from '../../state/db/totals.ts';
import { PAYMENT_STATUSES } from '../receiving/model.ts';
import type { PixFilter, StoredPixResource } from './model.ts';

/** The table of one family: its rows have the columns of every resource that a PIX code pays, and some of their own. */
interface PixTableOptions<R extends StoredPixResource, Filter extends PixFilter> {
  table: Table<R>;
  /** The conditions of the filter, and the filter member whose values divide the lists, with these values. */
  conditions: Readonly<Record<string, Condition>>;
  kind: keyof Filter & string;
  kinds: readonly string[];
}

/** Creates the queries of one family's table. */
export function pixTable<R extends StoredPixResource, Filter extends PixFilter>({
  table,
  conditions,
  kind,
  kinds,
}: PixTableOptions<R, Filter>) {
  const name = table.name as 'payment' | 'charge';

  // The indexes have a list for each kind and status.
  const conditionsOf = listConditions(conditions, {
    columns: { ...table.columns, [kind]: kind },
    lists: { [kind]: kinds, status: PAYMENT_STATUSES },
  });

  return {
    ...table,
    conditionsOf,

    /** Lists the first or the last `limit` of the range, newest first. */
    async list(
      sql: Sql,
      tenant: Tenant,
      { end, limit, offset, after, before, ...filter }: ListRange & PixFilter & { offset?: number },
    ): Promise<{ position: number; resource: R }[]> {
      const position = { end, limit, offset, after, before };
      const rows = await selectFiltered<{ number: number }>(
        sql,
        tenant,
        name,
        conditionsOf(filter),
        position,
      );
      return rows.map((row) => ({ position: row.number, resource: table.fromRow(row) }));
    },

    count(sql: Sql, tenant: Tenant, filter: Filter): Promise<number> {
      return countFiltered(sql, tenant, name, conditionsOf(filter), {
        kind: filter[kind] as readonly string[] | undefined,
        status: filter.status,
      });
    },

    totals(sql: Sql, tenant: Tenant, filter: Filter, groupBy: readonly TotalsGrouping[]): Promise<Totals> {
      return selectTotals(sql, tenant, name, conditionsOf(filter), groupBy);
    },
  };
}

export type PixTable<R extends StoredPixResource, Filter extends PixFilter> = ReturnType<
  typeof pixTable<R, Filter>
>;
