import type { Tenant } from '../kernel/tenant.ts';
import type { Collection, Reader, State, Writes } from '../state/commit/commit.ts';
import type { Correction } from './mirror.ts';
import type { MirroredRow } from './mirror-store.ts';
import type { Held } from './newest-states.ts';

/** An observation as it is decided under the lock, against the state that is kept by then. */
export interface Observed {
  read(reader: Reader): Promise<unknown>;
  decide(state: State): Decided;
}

/** The state after an observation, which is the known one if the observation has nothing new. */
export interface Decided {
  record: MirroredRow | null;
  writes: Writes;
  correction: Correction | null;
}

/** An observation on its way into the mirror. */
export interface Waiting {
  readonly tenant: Tenant;
  readonly observation: Observed;
  /** The resources whose states were shown: queries see these until the observation is written. */
  readonly shown: readonly Held[];
  /** A caller that waits for the write. */
  readonly caller: { resolve(row: MirroredRow | null): void; reject(error: unknown): void } | null;
}

/** A state that the service has only shown again, and all ids under which it is kept. */
export interface Confirmation {
  readonly tenant: Tenant;
  readonly row: MirroredRow;
  readonly ids: readonly string[];
  readonly shown: readonly Held[];
}

/** The observations of a tenant that are written together. */
export interface Batch {
  readonly tenant: Tenant;
  readonly waiting: Waiting[];
  readonly confirmations: Confirmation[];
  /** The number of callers among those that wait. */
  callers: number;
  /** Resolves when all of it is written, or was tried. */
  readonly ended: Promise<void>;
  end(): void;
}

export function createBatch(tenant: Tenant): Batch {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { tenant, waiting: [], confirmations: [], callers: 0, ended, end: () => end() };
}

/** Decides observations of one command, each against the state after those before it. */
export function decideInTurn(
  state: State,
  batch: readonly Waiting[],
): { outcome: Decided[]; writes: Writes } {
  const written = new Map<Collection<unknown>, Map<string, unknown>>();
  const find = <Row>(collection: Collection<Row>, key: string) =>
    written.get(collection as Collection<unknown>)?.get(key) as Row | undefined;
  const current: State = {
    get: (collection, key) => find(collection, key) ?? state.get(collection, key),
    need: (collection, key) => find(collection, key) ?? state.need(collection, key),
    balances: state.balances,
    now: state.now,
  };
  const outcome = batch.map(({ observation }) => {
    const decided = observation.decide(current);
    for (const { collection, key, row } of decided.writes.records ?? []) {
      const rows = written.get(collection) ?? new Map<string, unknown>();
      written.set(collection, rows.set(key, row));
    }
    return decided;
  });
  const all = outcome.map(({ writes }) => writes);
  return {
    outcome,
    writes: {
      records: all.flatMap(({ records = [] }) => records),
      transactions: all.flatMap(({ transactions = [] }) => transactions),
      events: all.flatMap(({ events = [] }) => events),
      tasks: all.flatMap(({ tasks = [] }) => tasks),
      done: all.flatMap(({ done = [] }) => done),
    },
  };
}
