import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import type { MirroredRow } from './mirror-store.ts';

type Named = Pick<MirroredRow, 'resource' | 'id'>;

/** A resource that is held, with the newest state of it that was shown or kept since then. */
export interface Held {
  readonly key: string;
  row: MirroredRow | null;
  holders: number;
}

/**
 * The newest states that this process knows of the resources that are held: a query looks them up, or a state
 * of them was shown and waits to be written. An answer that arrives late is merged with these, so that nobody
 * is shown an older state than another query, or a webhook, has seen meanwhile.
 */
export interface NewestStates {
  /** Holds a resource, which is released as often. */
  hold(tenant: Tenant, of: Named): Held;
  release(held: Held): void;
  /** Notes a state that was kept. */
  note(tenant: Tenant, row: MirroredRow): void;
  /** Returns `known`, or a later state of the resource. */
  of(tenant: Tenant, of: Named, known: MirroredRow | null): MirroredRow | null;
}

export function createNewestStates(): NewestStates {
  const all = new Map<string, Held>();
  const keyOf = (tenant: Tenant, { resource, id }: Named) => `${tenantKey(tenant)} ${resource} ${id}`;

  return {
    hold(tenant, of) {
      const key = keyOf(tenant, of);
      let held = all.get(key);
      if (held) held.holders += 1;
      else {
        held = { key, row: null, holders: 1 };
        all.set(key, held);
      }
      return held;
    },
    release(held) {
      held.holders -= 1;
      if (held.holders > 0) return;
      all.delete(held.key);
      // A table that the map has outgrown would keep the state.
      held.row = null;
    },
    note(tenant, row) {
      const held = all.get(keyOf(tenant, row));
      if (held) held.row = newerOf(held.row, row);
    },
    of(tenant, of, known) {
      const row = all.get(keyOf(tenant, of))?.row;
      return row ? newerOf(known, row) : known;
    },
  };
}

/** The newer of two states of a resource; the second if they are of the same version and time. */
export function newerOf(first: MirroredRow | null, second: MirroredRow): MirroredRow {
  if (!first || first.version < second.version) return second;
  return first.version === second.version && first.observedAt <= second.observedAt ? second : first;
}
