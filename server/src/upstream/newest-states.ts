import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import type { MirroredRow } from './mirror-store.ts';

type Named = Pick<MirroredRow, 'resource' | 'id'>;

/**
 * The newest states that this process knows of the resources that are held: a query looks them up, or a state
 * of them was shown and waits to be written. An answer that arrives late is merged with these, so that nobody
 * is shown an older state than another query, or a webhook, has seen meanwhile.
 */
export interface NewestStates {
  /** Holds a resource until it is released as often. */
  hold(tenant: Tenant, of: Named): void;
  release(tenant: Tenant, of: Named): void;
  /** Notes a state that was shown or kept. */
  note(tenant: Tenant, row: MirroredRow): void;
  /** Returns `known`, or a later state of the resource. */
  of(tenant: Tenant, of: Named, known: MirroredRow | null): MirroredRow | null;
}

export function createNewestStates(): NewestStates {
  const held = new Map<string, { row: MirroredRow | null; holders: number }>();
  const keyOf = (tenant: Tenant, { resource, id }: Named) => `${tenantKey(tenant)} ${resource} ${id}`;

  return {
    hold(tenant, of) {
      const key = keyOf(tenant, of);
      const entry = held.get(key);
      if (entry) entry.holders += 1;
      else held.set(key, { row: null, holders: 1 });
    },
    release(tenant, of) {
      const key = keyOf(tenant, of);
      const entry = held.get(key)!;
      entry.holders -= 1;
      if (entry.holders === 0) held.delete(key);
    },
    note(tenant, row) {
      const entry = held.get(keyOf(tenant, row));
      if (entry) entry.row = newerOf(entry.row, row);
    },
    of(tenant, of, known) {
      const row = held.get(keyOf(tenant, of))?.row;
      return row ? newerOf(known, row) : known;
    },
  };
}

/** The newer of two states of a resource; the second if they are of the same version and time. */
function newerOf(first: MirroredRow | null, second: MirroredRow): MirroredRow {
  if (!first || first.version < second.version) return second;
  return first.version === second.version && first.observedAt <= second.observedAt ? second : first;
}
