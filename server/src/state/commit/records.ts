import DataLoader from 'dataloader';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Sql } from '../db/database.ts';
import type { TenantKey } from '../db/each-tenant.ts';
import type { Change, Collection, Command, Reader, State } from './commit.ts';

/** The records of one transaction: each is loaded once, changed in memory and saved once. */
export function createRecords(sql: Sql) {
  const loaders = new Map<Collection<unknown>, DataLoader<TenantKey, unknown, string>>();
  const rows = new Map<Collection<unknown>, Map<string, unknown>>();
  const changed = new Map<Collection<unknown>, Map<string, Tenant>>();
  let ended = false;

  function loaderOf(collection: Collection<unknown>) {
    let loader = loaders.get(collection);
    if (!loader) {
      const loaded = new Map<string, unknown>();
      rows.set(collection, loaded);
      loader = new DataLoader(
        async (keys) => {
          // By now the decisions are under way, or the transaction rolls back.
          if (ended) throw new Error(`${collection.name} was read too late`);
          for (const key of keys) loaded.set(nameOf(key), null);
          for (const { tenant, record } of await collection.loadEach(sql, keys))
            loaded.set(nameOf({ tenant, key: collection.keyOf(record) }), record);
          return keys.map((key) => loaded.get(nameOf(key)) ?? null);
        },
        { cacheKeyFn: nameOf },
      );
      loaders.set(collection, loader);
    }
    return loader;
  }

  const readerOf = (tenant: Tenant): Reader => ({
    load: <Row>(collection: Collection<Row>, key: string) =>
      loaderOf(collection as Collection<unknown>).load({ tenant, key }) as Promise<Row | null>,
  });

  return {
    async read(commands: readonly Command<unknown>[]) {
      await Promise.all(commands.map((command) => command.read(readerOf(command.tenant))));
    },
    /** Refuses every later load. */
    end() {
      ended = true;
    },
    /** The records of one tenant. Those of another cannot be reached by it. */
    of(tenant: Tenant): Pick<State, 'get' | 'need'> & { put(change: Change): void } {
      function get<Row>(collection: Collection<Row>, key: string): Row | null {
        const row = rows.get(collection as Collection<unknown>)?.get(nameOf({ tenant, key }));
        if (row === undefined) throw new Error(`${collection.name} ${key} was not read before the decision`);
        return row as Row | null;
      }
      return {
        get,
        need<Row>(collection: Collection<Row>, key: string): Row {
          const row = get(collection, key);
          if (row === null) throw new Error(`${collection.name} ${key} is missing`);
          return row;
        },
        put({ collection, key, row }) {
          loaderOf(collection);
          const name = nameOf({ tenant, key });
          rows.get(collection)!.set(name, row);
          changed.set(collection, (changed.get(collection) ?? new Map()).set(name, tenant));
        },
      };
    },
    /** Saves the collections in the order of their first change, which is the order of the Map. */
    async save() {
      await Promise.all(
        [...changed].map(([collection, names]) =>
          collection.saveEach(
            sql,
            [...names].map(([name, tenant]) => ({ tenant, record: rows.get(collection)!.get(name) })),
          ),
        ),
      );
    },
  };
}

export type Records = ReturnType<typeof createRecords>;

/** The name of a record among those of all tenants. A tenant's key has no space. */
function nameOf({ tenant, key }: TenantKey): string {
  return `${tenantKey(tenant)} ${key}`;
}
