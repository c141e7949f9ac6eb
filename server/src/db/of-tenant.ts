import type { SelectQueryBuilder } from 'kysely';
import type { Tenant } from '../kernel/tenant.ts';
import type { Sql } from './database.ts';
import type { Tables } from './tables.ts';
import type { TenantTable } from './tenant-table.ts';

/** The tables whose rows belong to a tenant. */
type TableOfTenants = {
  [Table in keyof Tables]: Tables[Table] extends TenantTable ? Table : never;
}[keyof Tables];

/** A query of a tenant's rows in a table. */
export function ofTenant<Table extends TableOfTenants>(
  sql: Sql,
  table: Table,
  tenant: Tenant,
): SelectQueryBuilder<Tables, Table, object> {
  // One of these tables stands for all: a query of a type parameter has no types of its columns.
  const query = sql
    .selectFrom(table as 'payout')
    .where(`${table}.account_id` as 'payout.account_id', '=', tenant.accountId)
    .where(`${table}.environment` as 'payout.environment', '=', tenant.environment);
  return query as unknown as SelectQueryBuilder<Tables, Table, object>;
}
