import { isDeepStrictEqual } from 'node:util';
import { type Tenant, tenantKey } from '../../server/src/kernel/tenant.ts';
import type { Collection } from '../../server/src/state/commit/commit.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import type { TenantKey, TenantRecord } from '../../server/src/state/db/each-tenant.ts';

/** The most keys of a collection that are loaded again. */
const MOST = 40;

/**
 * Loads records for their tenant and for strangers at once, under the same keys. Returns what a tenant is shown of another:
 * a stranger gets nothing, or what is derived from no row, and the tenant what it gets alone.
 */
export async function foreignRows(
  { sql }: Database,
  collection: Collection<unknown>,
  loaded: readonly TenantKey[],
): Promise<string[]> {
  const keys = [
    ...new Map(loaded.map((each) => [`${tenantKey(each.tenant)} ${each.key}`, each])).values(),
  ].slice(-MOST);
  const strangersOf = ({ accountId, environment }: Tenant): Tenant[] => [
    { accountId: 'acc_of_a_stranger', environment },
    // An account is the same in both environments.
    ...(collection.name === 'account'
      ? []
      : [{ accountId, environment: environment === 'live' ? ('sandbox' as const) : ('live' as const) }]),
  ];
  const strangers = keys.flatMap(({ tenant, key }) =>
    strangersOf(tenant).map((other) => ({ tenant: other, key })),
  );
  const own = new Set(loaded.map(nameOf));
  const unread = strangers.filter((each) => !own.has(nameOf(each)));
  const together = await collection.loadEach(sql, [...unread, ...keys]);
  const isOwn = ({ tenant, record }: TenantRecord<unknown>) =>
    own.has(nameOf({ tenant, key: collection.keyOf(record) }));
  const alone = await collection.loadEach(sql, keys);
  const found = [];
  if (!isDeepStrictEqual(sorted(collection, together.filter(isOwn)), sorted(collection, alone)))
    found.push(`${collection.name}: among strangers a tenant gets other rows than alone`);
  for (const each of together)
    if (!isOwn(each) && hasContent(each.record, collection.keyOf(each.record)))
      found.push(`${collection.name}: ${tenantKey(each.tenant)} is shown ${JSON.stringify(each.record)}`);
  return found;
}

function nameOf({ tenant, key }: TenantKey): string {
  return `${tenantKey(tenant)} ${key}`;
}

function sorted(collection: Collection<unknown>, rows: readonly TenantRecord<unknown>[]): string[] {
  return rows
    .map(
      ({ tenant, record }) =>
        `${nameOf({ tenant, key: collection.keyOf(record) })} ${JSON.stringify(record)}`,
    )
    .sort();
}

/** Whether a record says more than its own key: a text, an instant, or a number other than 0. */
function hasContent(value: unknown, key: string): boolean {
  if (typeof value === 'string') return !key.includes(value);
  if (typeof value === 'number') return value !== 0;
  if (value instanceof Date) return true;
  return (
    typeof value === 'object' && value !== null && Object.values(value).some((each) => hasContent(each, key))
  );
}
