import DataLoader from 'dataloader';
import type { Caller } from '../../kernel/caller.ts';
import { callerOf } from '../../kernel/caller.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { withWordsFor } from './payer-errors.ts';
import type { PaymentsService } from './services.ts';

/**
 * The batched and deduped reads of one operation, up to its next mutation. They never outlive it, so no response is stale.
 * Each slice adds its own.
 */
// biome-ignore lint/suspicious/noEmptyInterface: slices add their loaders.
export interface Loaders {}

interface Loader<Value> {
  load(key: string): Promise<Value>;
  clearAll(): void;
}

/** Reads one batch of a loader: a value for each key, or its error. */
type Read = (
  services: PaymentsService,
  tenant: Tenant,
  keys: readonly string[],
) => Promise<readonly unknown[]>;

/** The loaders of a slice's reads, by which it extends `Loaders`. */
export type LoadersOf<Reads extends Record<string, Read>> = {
  [Name in keyof Reads]: Loader<Exclude<Awaited<ReturnType<Reads[Name]>>[number], Error>>;
};

/** Adds a loader for each read to all operations. */
export function addLoaders<Reads extends Record<string, Read>>(reads: Reads): Reads {
  for (const [name, read] of Object.entries(reads)) addLoader(name as keyof Loaders, read);
  return reads;
}

type ServicesOfBatch = (loader: string, keys: readonly string[]) => PaymentsService;

/** @param servicesOfBatch returns the services that read one batch of a loader */
export function createLoaders(caller: Caller | null, servicesOfBatch: ServicesOfBatch): Loaders {
  return { __proto__: LOADERS, caller, servicesOfBatch, created: null } as unknown as Loaders;
}

/** Wraps loaders: `onLoad` is called with the loader and the key of each call. */
export function observeLoaders(loaders: Loaders, onLoad: OnLoad): Loaders {
  return { __proto__: OBSERVED_LOADERS, shared: loaders, onLoad } as unknown as Loaders;
}

interface ObservedLoaders {
  shared: Loaders;
  onLoad: OnLoad;
}

type OnLoad = (loader: string, key: string) => void;

/** Clears the loaded values: a mutation of the operation has changed something, and its result shows the state after it. */
export function clearLoaders(loaders: Loaders): void {
  const { shared = loaders } = loaders as Partial<ObservedLoaders>;
  (shared as unknown as { created: null }).created = null;
}

const LOADERS = Object.create(null);
const OBSERVED_LOADERS = Object.create(null);

/** Adds a loader that is created at its first use: all operations have loaders, and most use none. */
function addLoader(name: keyof Loaders, read: Read): void {
  Object.defineProperty(LOADERS, name, {
    get(this: {
      caller: Caller | null;
      servicesOfBatch: ServicesOfBatch;
      created: Record<string, DataLoader<string, unknown>> | null;
    }) {
      this.created ??= {};
      this.created[name] ??= new DataLoader(async (keys) =>
        withWordsFor(this.caller, () => read(this.servicesOfBatch(name, keys), callerOf(this).tenant, keys)),
      );
      return this.created[name];
    },
  });

  Object.defineProperty(OBSERVED_LOADERS, name, {
    get(this: ObservedLoaders): Loader<unknown> {
      const { onLoad } = this;
      const loader: Loader<unknown> = this.shared[name];
      return {
        load(key) {
          onLoad(name, key);
          return loader.load(key);
        },
        clearAll: () => loader.clearAll(),
      };
    },
  });
}
