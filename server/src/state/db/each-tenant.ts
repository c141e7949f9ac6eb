import { type RawBuilder, sql as raw } from 'kysely';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Sql } from './database.ts';
import type { TenantTable } from './tenant-table.ts';

// A transaction has the commands of many tenants, so each of its statements is about the rows of all of them.

/** The key of a record among those of all tenants. */
export interface TenantKey {
  readonly tenant: Tenant;
  readonly key: string;
}

/** A record of one of several tenants. */
export interface TenantRecord<Stored> {
  readonly tenant: Tenant;
  readonly record: Stored;
}

/** Keys of one tenant. */
export function keysOf(tenant: Tenant, keys: readonly string[]): TenantKey[] {
  return keys.map((key) => ({ tenant, key }));
}

/** Records of one tenant. */
export function recordsOf<Stored>(tenant: Tenant, records: readonly Stored[]): TenantRecord<Stored>[] {
  return records.map((record) => ({ tenant, record }));
}

/** Loads records of one tenant by a statement that loads those of several. */
export async function loadOf<Stored>(
  loadEach: (sql: Sql, keys: readonly TenantKey[]) => Promise<readonly TenantRecord<Stored>[]>,
  sql: Sql,
  tenant: Tenant,
  keys: readonly string[],
): Promise<Stored[]> {
  if (keys.length === 0) return [];
  return (await loadEach(sql, keysOf(tenant, keys))).map(({ record }) => record);
}

export function tenantOf({ account_id: accountId, environment }: TenantTable): Tenant {
  return { accountId, environment };
}

/** Groups what several tenants have by its tenant. */
export function byTenant<Of extends { readonly tenant: Tenant }>(all: readonly Of[]): [Tenant, Of[]][] {
  const groups = Map.groupBy(all, ({ tenant }) => tenantKey(tenant));
  return [...groups.values()].map((group) => [group[0]!.tenant, group]);
}

/** The two columns of the tenant of each row, as arrays for `unnest`. */
export function tenantArrays(rows: readonly { readonly tenant: Tenant }[]): RawBuilder<unknown> {
  return raw`${rows.map(({ tenant }) => tenant.accountId)}::text[], ${rows.map(({ tenant }) => tenant.environment)}::text[]`;
}

/** The keys as a table `wanted`, with the columns of the tenant and `key`, for a join. */
export function wantedKeys(keys: readonly TenantKey[]): RawBuilder<unknown> {
  return raw`unnest(${tenantArrays(keys)}, ${keys.map(({ key }) => key)}::text[]) wanted (account_id, environment, key)`;
}

/** The same with `nth`, the place among the keys, from 1. */
export function numberedKeys(keys: readonly TenantKey[]): RawBuilder<unknown> {
  return raw`unnest(${tenantArrays(keys)}, ${keys.map(({ key }) => key)}::text[])
    with ordinality wanted (account_id, environment, key, nth)`;
}

/** The condition that a row of a table is of the tenant of `wanted`. A join without it shows the rows of other tenants. */
export function isOfWanted(table: string): RawBuilder<boolean> {
  return raw`${raw.ref(`${table}.account_id`)} = wanted.account_id and ${raw.ref(`${table}.environment`)} = wanted.environment`;
}

/** Loads the records of each tenant by a statement of its own: for those that few commands read. */
export function loadPerTenant<Stored>(
  load: (sql: Sql, tenant: Tenant, keys: readonly string[]) => Promise<readonly Stored[]>,
): (sql: Sql, keys: readonly TenantKey[]) => Promise<TenantRecord<Stored>[]> {
  return async (sql, keys) => {
    const found = await Promise.all(
      byTenant(keys).map(async ([tenant, own]) =>
        recordsOf(
          tenant,
          await load(
            sql,
            tenant,
            own.map(({ key }) => key),
          ),
        ),
      ),
    );
    return found.flat();
  };
}

/** Saves the records of each tenant by a statement of its own: for those that few commands write. */
export function savePerTenant<Stored>(
  save: (sql: Sql, tenant: Tenant, records: readonly Stored[]) => Promise<void>,
): (sql: Sql, records: readonly TenantRecord<Stored>[]) => Promise<void> {
  return async (sql, records) => {
    await Promise.all(
      byTenant(records).map(([tenant, own]) =>
        save(
          sql,
          tenant,
          own.map(({ record }) => record),
        ),
      ),
    );
  };
}
