import { createBatches } from '../kernel/batches.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { OutageError } from '../kernel/errors.ts';
import { ENVIRONMENTS, type Environment, type Tenant, tenantKey } from '../kernel/tenant.ts';
import type { MirroredResource } from '../kernel/upstream-family.ts';
import type { Committer, Writes } from '../state/commit/commit.ts';
import type { Database } from '../state/db/database.ts';
import { sqlAfter } from '../state/db/sql-after.ts';
import { type Correction, isMirrored } from './mirror.ts';
import { type MirroredRow, selectMirrored, touchMirrored } from './mirror-store.ts';
import { createNewestStates, type Held, type NewestStates, newerOf } from './newest-states.ts';
import {
  type Batch,
  type Confirmation,
  createBatch,
  type Decided,
  decideInTurn,
  type Observed,
  type Waiting,
} from './shown-batch.ts';

/**
 * Writes observations into the mirror. What decides something is kept before its caller goes on. What a query
 * has merely seen is shown first and written behind it: the service can be asked again.
 *
 * - All that was shown within `GATHER_MS`, or while a transaction was under way, is written by the next one.
 * - Queries of this process see what still waits: `holding` adds it to the rows that it reads, and every
 * statement of `database.sql` waits for what was shown of its tenants. A command of `committer` is decided after it.
 * - A write that is late delays the statements and commands of its own tenants.
 * - Under the lock each observation is merged once more, so one that has lost against a newer state, of
 * whichever instance, is dropped. Subscribers are notified by the commit: nothing is announced that is not
 * kept.
 * - A crash loses what still waits. At most `MAX_WAITING` states do; a query beyond them waits until its own
 * is written.
 */
export interface MirrorWriter {
  /** The database, whose single statements wait until what was shown of their tenants is written. */
  readonly database: Database;
  /** The committer, whose commands see all that was shown before them. */
  readonly committer: Committer;
  /** Resolves with the kept states, in the order of the observations. @throws as `Committer.change` */
  keep(tenant: Tenant, observations: readonly Observed[]): Promise<(MirroredRow | null)[]>;
  /**
   * Takes an observation after which queries see `rows`. Returns a promise of the kept state if too many
   * wait, else null.
   */
  show(
    tenant: Tenant,
    observation: Observed,
    rows: readonly MirroredRow[],
  ): Promise<MirroredRow | null> | null;
  /** Takes the time at which the service has shown a state again, which is kept under `ids`. */
  confirm(tenant: Tenant, row: MirroredRow, ids: readonly string[]): void;
  /**
   * Runs work with the newest states of resources that are kept or were shown. While it runs, `newest` knows
   * the later ones.
   */
  holding<Result>(
    tenant: Tenant,
    of: { resource: MirroredResource; ids: readonly string[] },
    work: (rows: MirroredRow[]) => Promise<Result>,
  ): Promise<Result>;
  /** The newest state of a resource that this process knows. */
  readonly newest: NewestStates['of'];
  /** Writes all that waits. What cannot be written then is reported and dropped. */
  close(): Promise<void>;
}

/** The most states that wait to be written. */
export const MAX_WAITING = 1_000;
/**
 * The time in which what was shown gathers before it is written, if no caller, command or statement waits for
 * it: a transaction costs the same for many observations as for one.
 */
const GATHER_MS = 20;
/** The time after which a write that the database did not take is repeated. */
const REPETITION_MS = 1_000;

export function createMirrorWriter({
  database,
  committer,
  clock,
  gatherMs = GATHER_MS,
  onMoved,
  onCorrection,
  onFault,
}: {
  database: Database;
  committer: Committer;
  clock: Clock;
  /** The time in which observations gather, in milliseconds of the machine's time. */
  gatherMs?: number | undefined;
  /** Called after a commit that has sent updates, which may have moved the balance. */
  onMoved: (tenant: Tenant) => void;
  onCorrection: (correction: Correction) => void;
  /** Reports what could not be written. */
  onFault: (fault: unknown) => void;
}): MirrorWriter {
  const newest = createNewestStates();
  /** The batches that wait to be written, by tenant. */
  const open = new Map<string, Batch>();
  const underWay = new Set<Batch>();
  /** The number of shown states that are not written, those under way included. */
  let shownCount = 0;
  let isSoon = false;
  /** Whether what waits is written by the next batch. */
  let isDue = false;
  let gathering: NodeJS.Timeout | undefined;
  /** Cancels the repetition of a write that the database did not take; null if there was none. */
  let cancelRepetition: (() => void) | null = null;
  let isClosed = false;

  function beginShowing(tenant: Tenant, rows: readonly MirroredRow[]): Held[] {
    shownCount += rows.length;
    return rows.map((row) => {
      const held = newest.hold(tenant, row);
      held.row = newerOf(held.row, row);
      return held;
    });
  }

  function endShowing({ shown }: Pick<Waiting, 'shown'>): void {
    shown.forEach(newest.release);
    shownCount -= shown.length;
  }

  function batchOf(tenant: Tenant): Batch {
    const key = tenantKey(tenant);
    const batch = open.get(key) ?? createBatch(tenant);
    open.set(key, batch);
    return batch;
  }

  function add(added: Waiting): void {
    const batch = batchOf(added.tenant);
    batch.waiting.push(added);
    if (added.caller) batch.callers += 1;
    schedule();
  }

  const isAwaited = () => [...open.values()].some(({ callers }) => callers > 0);

  const writes = createBatches<Batch>({
    clock,
    take() {
      // What was shown meanwhile gathers, and what the database did not take is repeated later.
      if (!isDue) return [];
      isDue = false;
      const batches = [...open.values()];
      open.clear();
      return batches;
    },
    run: (batches) => Promise.all(batches.map(write)),
  });

  /**
   * Schedules the next write: soon if a caller waits for it, else once more has gathered, or when the write
   * that the database did not take is repeated.
   */
  function schedule(): void {
    if (isAwaited() || (gatherMs === 0 && !cancelRepetition)) {
      if (isSoon) return;
      isSoon = true;
      setImmediate(() => {
        isSoon = false;
        begin();
      });
    } else if (!cancelRepetition) gathering ??= setTimeout(begin, gatherMs);
  }

  function begin(): void {
    clearTimeout(gathering);
    gathering = undefined;
    cancelRepetition?.();
    cancelRepetition = null;
    isDue = true;
    writes.begin();
  }

  /** Begins to write what waits of a tenant. Its command is queued in the same turn, before any later one. */
  function beginOf(tenant: Tenant): void {
    const batch = open.get(tenantKey(tenant));
    if (!batch) return;
    open.delete(tenantKey(tenant));
    void write(batch);
  }

  async function write(batch: Batch): Promise<void> {
    underWay.add(batch);
    try {
      await Promise.all([keepAll(batch.waiting), touch(batch.confirmations)]);
    } finally {
      underWay.delete(batch);
      batch.end();
    }
  }

  /** Writes the observations of one tenant in one command. It never rejects. */
  async function keepAll(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 0) return;
    const { tenant } = batch[0]!;
    let decided: Decided[];
    try {
      decided = await committer.change({
        tenant,
        read: (reader) => Promise.all(batch.map(({ observation }) => observation.read(reader))),
        decide: (state) => decideInTurn(state, batch),
      });
    } catch (error) {
      if (error instanceof OutageError) repeatLater(batch, error);
      else if (batch.length === 1) drop(batch, error);
      // Nothing was written: each is tried alone, so that the error costs the others nothing.
      else await Promise.all(batch.map((each) => keepAll([each])));
      return;
    }
    for (const { correction } of decided) if (correction) onCorrection(correction);
    if (decided.some(({ writes }) => (writes.events?.length ?? 0) > 0)) onMoved(tenant);
    batch.forEach((each, index) => {
      const { record } = decided[index]!;
      if (record) newest.note(tenant, record);
      each.caller?.resolve(record);
      endShowing(each);
    });
  }

  async function touch(batch: readonly Confirmation[]): Promise<void> {
    try {
      const touched = batch.flatMap(({ tenant, row: { resource, observedAt }, ids }) =>
        ids.map((id) => ({ tenant, resource, id, observedAt })),
      );
      await touchMirrored(database.sql, touched, clock.now());
    } catch (error) {
      // The states are kept: nothing is lost but when they were last shown.
      onFault(error);
    }
    batch.forEach(endShowing);
  }

  /** Queues what the database did not take. Callers that wait get the error. */
  function repeatLater(batch: readonly Waiting[], error: unknown): void {
    const repeated = isClosed ? [] : batch.filter(({ caller }) => caller === null);
    drop(
      batch.filter((each) => !repeated.includes(each)),
      error,
    );
    if (repeated.length === 0) return;
    onFault(error);
    batchOf(repeated[0]!.tenant).waiting.unshift(...repeated);
    cancelRepetition ??= clock.schedule(plusMs(clock.now(), REPETITION_MS), begin);
  }

  /** Gives up observations: their callers get the error, and those that were only shown are reported. */
  function drop(batch: readonly Waiting[], error: unknown): void {
    for (const { caller } of batch) caller?.reject(error);
    if (batch.some(({ caller }) => caller === null)) onFault(error);
    batch.forEach(endShowing);
  }

  /**
   * Resolves when all that was shown by now is written, or was tried; undefined if nothing waits. With the parameters of a
   * statement it waits for what the statement may be about.
   */
  function settled(parameters: readonly unknown[] = []): Promise<unknown> | undefined {
    if (open.size + underWay.size === 0) return undefined;
    const named = environmentsIn(parameters);
    const isOf = ({ tenant }: Batch) => named.includes(tenant.environment);
    if ([...open.values()].some(isOf)) begin();
    const all = [...underWay, ...open.values()].filter(isOf);
    return all.length === 0 ? undefined : Promise.all(all.map(({ ended }) => ended));
  }

  const keep = (tenant: Tenant, observation: Observed, rows: readonly MirroredRow[] = []) =>
    new Promise<MirroredRow | null>((resolve, reject) => {
      add({ tenant, observation, shown: beginShowing(tenant, rows), caller: { resolve, reject } });
    });

  return {
    database: { ...database, sql: sqlAfter(database.sql, ({ parameters }) => settled(parameters)) },

    committer: {
      async change(command) {
        // What was shown before is decided before.
        beginOf(command.tenant);
        let changed: readonly MirroredRow[] = [];
        const outcome = await committer.change({
          ...command,
          decide(state) {
            const decided = command.decide(state);
            changed = mirroredIn(decided.writes ?? {});
            return decided;
          },
        });
        for (const row of changed) newest.note(command.tenant, row);
        return outcome;
      },
      async idle() {
        await settled();
        await committer.idle();
      },
    },

    keep: (tenant, observations) => Promise.all(observations.map((each) => keep(tenant, each))),

    show(tenant, observation, rows) {
      if (shownCount >= MAX_WAITING) return keep(tenant, observation, rows);
      add({ tenant, observation, shown: beginShowing(tenant, rows), caller: null });
      return null;
    },

    confirm(tenant, row, ids) {
      // A time that is not kept costs nothing but a request.
      if (shownCount >= MAX_WAITING) return;
      batchOf(tenant).confirmations.push({ tenant, row, ids, shown: beginShowing(tenant, [row]) });
      schedule();
    },

    async holding(tenant, { resource, ids }, work) {
      const held = ids.map((id) => newest.hold(tenant, { resource, id }));
      try {
        const kept = await selectMirrored(database.sql, tenant, resource, ids);
        const rows = new Map(kept.map((row) => [row.id, row]));
        ids.forEach((id, index) => {
          const { row } = held[index]!;
          if (row) rows.set(id, newerOf(rows.get(id) ?? null, row));
        });
        return await work([...rows.values()]);
      } finally {
        held.forEach(newest.release);
      }
    },

    newest: newest.of,

    async close() {
      isClosed = true;
      for (let all = settled(); all; all = settled()) await all;
    },
  };
}

/** The mirrored states among writes. */
export function mirroredIn({ records = [] }: Writes): MirroredRow[] {
  return records.flatMap(({ collection, row }) => (isMirrored(collection) ? [row as MirroredRow] : []));
}

/** The environments that a statement with these parameters may be about: a facade has one account. */
function environmentsIn(parameters: readonly unknown[]): readonly Environment[] {
  const values = parameters.flat();
  const named = ENVIRONMENTS.filter((environment) => values.includes(environment));
  return named.length === 0 ? ENVIRONMENTS : named;
}
