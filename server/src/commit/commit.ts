import { setImmediate as turn } from 'node:timers/promises';
import DataLoader from 'dataloader';
import { type Database, NoConnection, type Sql } from '../db/database.ts';
import type { NewEvent, StoredEvent } from '../events/event.ts';
import { type Appended, append, lockStream, assignVersions, openStream } from '../events/log.ts';
import type { Clock } from '../kernel/clock.ts';
import { OutageError, PaymentError } from '../kernel/errors.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import { bindContext, withSpan } from '../kernel/traces.ts';
import { applyToBalances, type Balances, type LedgerTransaction } from '../ledger/postings.ts';
import { post, readBalances } from '../ledger/store.ts';
import { dropTasks, type NewTask, scheduleTasks, type TaskName } from '../work/store.ts';

/**
 * A kind of record that a decision reads and writes: how many are loaded at once, and how many are saved. A slice
 * defines one for each of its tables. Both run under the tenant's lock, so no row of it needs one of its own.
 */
export interface Collection<Row> {
  readonly name: string;
  load(sql: Sql, tenant: Tenant, keys: readonly string[]): Promise<readonly Row[]>;
  keyOf(row: Row): string;
  /** Inserts or replaces, in one statement. */
  save(sql: Sql, tenant: Tenant, rows: readonly Row[]): Promise<void>;
}

/** Loads what a decision will look at; commands of a group load together, one statement a collection. */
export interface Reader {
  load<Row>(collection: Collection<Row>, key: string): Promise<Row | null>;
}

/** The locked state: what was loaded, with what earlier commands of the same group have made of it. */
export interface State {
  get<Row>(collection: Collection<Row>, key: string): Row | null;
  /** For what another record's existence proves to be there. */
  need<Row>(collection: Collection<Row>, key: string): Row;
  readonly balances: Balances;
  readonly now: Date;
}

/** The writes of a decision, all of them in one transaction. */
export interface Writes {
  readonly records?: readonly Change[];
  readonly transactions?: readonly LedgerTransaction[];
  readonly events?: readonly NewEvent[];
  readonly tasks?: readonly NewTask[];
  /** Tasks that have nothing left to do: they are not waited for. */
  readonly done?: readonly TaskName[];
}

/** A record as it shall be. */
export interface Change {
  readonly collection: Collection<unknown>;
  readonly key: string;
  readonly row: unknown;
}

export function put<Row>(collection: Collection<Row>, row: Row): Change {
  return { collection: collection as Collection<unknown>, key: collection.keyOf(row), row };
}

export interface Command<Outcome> {
  readonly tenant: Tenant;
  /** Names every record that `decide` will get; may look at one to know the next. */
  read(reader: Reader): Promise<unknown>;
  /** Pure: from the locked state to the writes and the caller's result. A throw refuses and writes nothing. */
  decide(state: State): { outcome: Outcome; writes?: Writes };
}

export interface Committer {
  /**
   * Carries a command out: lock, load, decide, write, commit, wake. Commands of one tenant that come while another
   * is under way share the next transaction; each gets its own outcome or its own refusal.
   * @throws what `decide` throws; CommitOutcomeUnknown when the connection was lost around COMMIT; another OutageError
   * when the database has done nothing of it
   */
  change<Outcome>(command: Command<Outcome>): Promise<Outcome>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** Writes that certain events entail, whatever causes them: it runs inside the transaction, right behind them. */
export type Outbox = (
  sql: Sql,
  tenant: Tenant,
  events: readonly StoredEvent[],
  now: Date,
) => Promise<readonly NewTask[]>;

/** The figures of one transaction, for the metrics. */
export interface CommittedGroup {
  readonly commands: number;
  readonly transactions: number;
  readonly postings: number;
  readonly events: number;
  readonly ms: number;
}

const GROUP_LIMIT = 64;

interface Waiting {
  /** In the trace of who waits: the first of a group has the group's. */
  inTrace: ReturnType<typeof bindContext>;
  command: Command<unknown>;
  resolve: (outcome: unknown) => void;
  reject: (error: unknown) => void;
}

export function createCommitter({
  database,
  clock,
  outbox = async () => [],
  onGroup,
  onCommit,
}: {
  database: Database;
  clock: Clock;
  outbox?: Outbox;
  /** Called after each commit. Must not throw. */
  onGroup?: (group: CommittedGroup) => void;
  /** Called after each commit that has written events or tasks. Must not throw. */
  onCommit: (tenant: Tenant, committed: Appended & { tasks: readonly NewTask[] }) => void;
}): Committer {
  const queues = new Map<string, Waiting[]>();
  const draining = new Set<Promise<void>>();

  async function drain(key: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const group = queue.splice(0, GROUP_LIMIT);
      const failure = await group[0]!.inTrace(() => runGroup(group));
      // Each of them would wait for a connection in vain, one group after the other.
      if (failure instanceof NoConnection) for (const waiting of queue.splice(0)) waiting.reject(failure);
      // Who was answered and comes at once with the next command meets the next group, and not the one after it.
      await turn();
    }
    queues.delete(key);
  }

  /** Everyone has an answer then. Returns the outage that kept all of them from being done, if any did. */
  async function runGroup(group: readonly Waiting[]): Promise<OutageError | null> {
    const { tenant } = group[0]!.command;
    const begunAt = clock.ms();
    let done: Awaited<ReturnType<typeof decideAll>>;
    try {
      done = await database.transaction((sql) => decideAll(sql, tenant, group, { clock, outbox }));
    } catch (error) {
      const outage = error instanceof OutageError ? error : null;
      if (group.length === 1 || outage) {
        for (const waiting of group) waiting.reject(error);
        return outage;
      }
      // It has changed nothing: by halves, so that the fault meets its own caller and costs the others little.
      const half = Math.ceil(group.length / 2);
      const first = await runGroup(group.slice(0, half));
      const second = await runGroup(group.slice(half));
      return second ?? first;
    }
    // Committed: whatever happens from here on, nothing of it may be run again.
    for (const answer of done.answers) answer();
    const { committed, posted } = done;
    onGroup?.({
      commands: group.length,
      ...posted,
      events: committed.events.length,
      ms: clock.ms() - begunAt,
    });
    if (committed.events.length > 0 || committed.tasks.length > 0) onCommit(tenant, committed);
    return null;
  }

  function enqueue<Outcome>(command: Command<Outcome>): Promise<Outcome> {
    return new Promise<Outcome>((resolve, reject) => {
      const key = tenantKey(command.tenant);
      const waiting = { inTrace: bindContext(), command, resolve, reject } as Waiting;
      const queue = queues.get(key);
      if (queue) {
        queue.push(waiting);
        return;
      }
      const fresh = [waiting];
      queues.set(key, fresh);
      const drained = drain(key, fresh).finally(() => draining.delete(drained));
      draining.add(drained);
    });
  }

  return {
    change: <Outcome>(command: Command<Outcome>) => withSpan('change', {}, () => enqueue(command)),
    async idle() {
      while (draining.size > 0) await Promise.all(draining);
    },
  };
}

/**
 * One transaction: the lock, one load and one save a collection, one statement each for postings, events and tasks.
 * What needs no other's answer is asked for together, so it is mostly two trips to the database and one for the commit.
 */
async function decideAll(
  sql: Sql,
  tenant: Tenant,
  group: readonly Waiting[],
  { clock, outbox }: { clock: Clock; outbox: Outbox },
) {
  const { head, balances: before, records } = await lockAndRead(sql, tenant, group);
  // Behind the lock, so that what happened later in the log did not happen earlier by the clock.
  const now = clock.now();
  let balances = before;

  const answers: (() => void)[] = [];
  const transactions: LedgerTransaction[] = [];
  const events: NewEvent[] = [];
  const tasks: NewTask[] = [];
  const done: TaskName[] = [];
  for (const { command, resolve, reject } of group) {
    try {
      const { outcome, writes = {} } = command.decide({
        get: records.get,
        need: records.need,
        balances,
        now,
      });
      // Before anything is taken over: a throw here refuses this command alone.
      let after = balances;
      for (const transaction of writes.transactions ?? []) after = applyToBalances(after, transaction);
      balances = after;
      for (const change of writes.records ?? []) records.put(change);
      transactions.push(...(writes.transactions ?? []));
      events.push(...(writes.events ?? []));
      tasks.push(...(writes.tasks ?? []));
      done.push(...(writes.done ?? []));
      answers.push(() => resolve(outcome));
    } catch (error) {
      if (!(error instanceof PaymentError) && group.length > 1) throw error;
      answers.push(() => reject(error));
    }
  }

  // One for the group: a subscriber of the wallet wants its newest state.
  if (transactions.length > 0)
    events.push({
      kind: 'wallet.changed',
      resource: 'wallet',
      resourceId: 'wallet',
      previousStatus: null,
      snapshot: balances,
    });
  const stored = assignVersions(events, { head, occurredAt: now });
  // In this order: what is saved is held against the balances that the postings have moved.
  const [appended] = await Promise.all([
    append(sql, tenant, stored),
    post(sql, tenant, transactions, now),
    records.save(),
    dropTasks(sql, tenant, done),
    announce(),
  ]);
  const posted = {
    transactions: transactions.length,
    postings: transactions.reduce((sum, { lines }) => sum + lines.length, 0),
  };
  return { answers, posted, committed: { ...appended, tasks } };

  async function announce() {
    if (stored.length > 0) tasks.push(...(await outbox(sql, tenant, stored, now)));
    await scheduleTasks(sql, tenant, tasks);
  }
}

/** The lock, and behind it all that the decisions will look at. */
async function lockAndRead(sql: Sql, tenant: Tenant, group: readonly Waiting[]) {
  for (;;) {
    const records = createRecords(sql, tenant);
    // They go out together and are done in this order: each sees what was committed before the lock was had.
    const [head, balances] = await Promise.all([
      lockStream(sql, tenant),
      readBalances(sql, tenant),
      records.read(group.map(({ command }) => command)),
    ]).finally(records.end);
    if (head !== null) return { head, balances, records };
    await openStream(sql, tenant);
  }
}

/** The records of one transaction: each loaded once, changed in memory, saved once. */
function createRecords(sql: Sql, tenant: Tenant) {
  const loaders = new Map<Collection<unknown>, DataLoader<string, unknown>>();
  const rows = new Map<Collection<unknown>, Map<string, unknown>>();
  const changed = new Map<Collection<unknown>, Set<string>>();
  let ended = false;

  function loaderOf(collection: Collection<unknown>) {
    let loader = loaders.get(collection);
    if (!loader) {
      const loaded = new Map<string, unknown>();
      rows.set(collection, loaded);
      loader = new DataLoader(async (keys) => {
        // The decisions are under way by now, or the transaction rolls back.
        if (ended) throw new Error(`${collection.name} was read too late`);
        for (const key of keys) loaded.set(key, null);
        for (const row of await collection.load(sql, tenant, keys)) loaded.set(collection.keyOf(row), row);
        return keys.map((key) => loaded.get(key) ?? null);
      });
      loaders.set(collection, loader);
    }
    return loader;
  }

  function get<Row>(collection: Collection<Row>, key: string): Row | null {
    const row = rows.get(collection as Collection<unknown>)?.get(key);
    if (row === undefined) throw new Error(`${collection.name} ${key} was not read before the decision`);
    return row as Row | null;
  }

  const reader: Reader = {
    load: <Row>(collection: Collection<Row>, key: string) =>
      loaderOf(collection as Collection<unknown>).load(key) as Promise<Row | null>,
  };

  return {
    get,
    need<Row>(collection: Collection<Row>, key: string): Row {
      const row = get(collection, key);
      if (row === null) throw new Error(`${collection.name} ${key} is missing`);
      return row;
    },
    async read(commands: readonly Command<unknown>[]) {
      await Promise.all(commands.map((command) => command.read(reader)));
    },
    /** From now on nothing more is loaded. */
    end() {
      ended = true;
    },
    put({ collection, key, row }: Change) {
      loaderOf(collection);
      rows.get(collection)!.set(key, row);
      changed.set(collection, (changed.get(collection) ?? new Set()).add(key));
    },
    async save() {
      await Promise.all(
        [...changed].map(([collection, keys]) =>
          collection.save(
            sql,
            tenant,
            [...keys].map((key) => rows.get(collection)!.get(key)),
          ),
        ),
      );
    },
  };
}
