import { sql as raw } from 'kysely';
import type { Condition } from '../../kernel/list-filter.ts';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
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
  const { fromRow, isKey } = table;
  const name = table.name as 'payment' | 'charge';
  const from = raw.table(name);
  const idColumn = raw.ref(`${name}.${table.key}`);
  const isOf = ({ accountId, environment }: Tenant) =>
    raw`${raw.ref(`${name}.account_id`)} = ${accountId} and ${raw.ref(`${name}.environment`)} = ${environment}`;

  // The indexes have a list for each kind and status.
  const conditionsOf = listConditions(conditions, {
    columns: { ...table.columns, [kind]: kind },
    lists: { [kind]: kinds, status: PAYMENT_STATUSES },
  });

  return {
    select: table.load,
    save: table.save,

    /** Finds a resource of any account, for the payer's page, which knows the id alone. */
    async selectHosted(
      sql: Sql,
      found: string,
    ): Promise<{ tenant: Tenant; merchantName: string; resource: R } | null> {
      if (!isKey(found)) return null;
      const { rows } = await raw<{ account_id: string; environment: Environment; merchant_name: string }>`
        select ${from}.*, account.name as merchant_name from ${from}
        join account on account.id = ${raw.ref(`${name}.account_id`)}
        where ${idColumn} = ${found}`.execute(sql);
      const [row] = rows;
      if (!row) return null;
      return {
        tenant: { accountId: row.account_id, environment: row.environment },
        merchantName: row.merchant_name,
        resource: fromRow(row),
      };
    },

    /** Reads a resource and the version of the log at which it holds, in one statement and so at one moment. */
    async selectWithHead(
      sql: Sql,
      tenant: Tenant,
      found: string,
    ): Promise<{ version: number; resource: R } | null> {
      if (!isKey(found)) return null;
      const { rows } = await raw<{ head: number }>`
        select ${from}.*, stream.version as head from ${from}
        join stream on stream.account_id = ${raw.ref(`${name}.account_id`)}
          and stream.environment = ${raw.ref(`${name}.environment`)}
        where ${isOf(tenant)} and ${idColumn} = ${found}`.execute(sql);
      const [row] = rows;
      return row ? { version: row.head, resource: fromRow(row) } : null;
    },

    /** Lists the first or the last `limit` of the range, newest first. */
    async list(
      sql: Sql,
      tenant: Tenant,
      { end, limit, offset, after, before, ...filter }: ListRange & PixFilter & { offset?: number },
    ): Promise<{ place: number; resource: R }[]> {
      const position = { end, limit, offset, after, before };
      const rows = await selectFiltered<{ number: number }>(
        sql,
        tenant,
        name,
        conditionsOf(filter),
        position,
      );
      return rows.map((row) => ({ place: row.number, resource: fromRow(row) }));
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
