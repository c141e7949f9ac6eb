import type { SelectQueryBuilder } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from './database.ts';
import type { Tables } from './tables.ts';
import type { TenantTable } from './tenant-table.ts';

/** The tables whose rows belong to a tenant. */
type TenantTableName = {
  [Table in keyof Tables]: Tables[Table] extends TenantTable ? Table : never;
}[keyof Tables];

/** Selects the rows of a tenant in a table. */
export function ofTenant<Table extends TenantTableName>(
  sql: Sql,
  table: Table,
  tenant: Tenant,
): SelectQueryBuilder<Tables, Table, object> {
  // Kysely does not type the columns of a table that is a type parameter. Every table of tenants has the two of `payout`.
  const query = sql
    .selectFrom(table as 'payout')
    .where(`${table}.account_id` as 'payout.account_id', '=', tenant.accountId)
    .where(`${table}.environment` as 'payout.environment', '=', tenant.environment);
  return query as unknown as SelectQueryBuilder<Tables, Table, object>;
}
