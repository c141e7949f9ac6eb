import { setImmediate as turn } from 'node:timers/promises';
import DataLoader from 'dataloader';
import type { Clock } from '../../kernel/clock.ts';
import { OutageError, PaymentError } from '../../kernel/errors.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { bindContext, withSpan } from '../../kernel/traces.ts';
import { type Database, NoConnection, type Sql } from '../db/database.ts';
import type { NewEvent, StoredEvent } from '../events/event.ts';
import {
  type Appended,
  append,
  assignVersions,
  continueVersions,
  lockStream,
  openStream,
} from '../events/log.ts';
import { applyToBalances, type Balances, type LedgerTransaction } from '../ledger/postings.ts';
import { post, readBalances } from '../ledger/store.ts';
import { dropTasks, type NewTask, scheduleTasks, type TaskName } from '../work/store.ts';

/**
 * A kind of record that a decision reads and writes: it loads and saves many at once. A slice defines one for each of its
 * tables. Both run under the tenant's lock, so no row needs a lock of its own.
 */
export interface Collection<Row> {
  readonly name: string;
  load(sql: Sql, tenant: Tenant, keys: readonly string[]): Promise<readonly Row[]>;
  keyOf(row: Row): string;
  /** Inserts or replaces, in one statement. */
  save(sql: Sql, tenant: Tenant, rows: readonly Row[]): Promise<void>;
}

/** Loads the records that a decision reads. Commands of a group load together, with one statement a collection. */
export interface Reader {
  load<Row>(collection: Collection<Row>, key: string): Promise<Row | null>;
}

/** The locked state: the loaded records, with the changes by earlier commands of the same group. */
export interface State {
  get<Row>(collection: Collection<Row>, key: string): Row | null;
  /** Gets a record that has to exist, since another record proves it. */
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
  /** Tasks that have nothing left to do; they are deleted. */
  readonly done?: readonly TaskName[];
}

/** Joins the writes of two slices for one commit. */
export function joined(left: Writes, right: Writes) {
  return {
    records: [...(left.records ?? []), ...(right.records ?? [])],
    transactions: [...(left.transactions ?? []), ...(right.transactions ?? [])],
    events: [...(left.events ?? []), ...(right.events ?? [])],
    tasks: [...(left.tasks ?? []), ...(right.tasks ?? [])],
    done: [...(left.done ?? []), ...(right.done ?? [])],
  };
}

/** The state after `writes` are recorded, for a decision that continues another one. */
export function stateAfter(state: State, { records = [], transactions = [] }: Writes): State {
  function get<Row>(collection: Collection<Row>, key: string): Row | null {
    const written = records.findLast((each) => each.collection === collection && each.key === key);
    return written ? (written.row as Row) : state.get(collection, key);
  }
  return {
    get,
    need: (collection, key) => get(collection, key) ?? state.need(collection, key),
    balances: transactions.reduce(applyToBalances, state.balances),
    now: state.now,
  };
}

/** The new state of a record. */
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
  /** Loads every record that `decide` reads; one record may show which to load next. */
  read(reader: Reader): Promise<unknown>;
  /**
   * Decides, as a pure function: maps the locked state to the writes and the caller's result. A throw refuses
   * the command and writes nothing.
   */
  decide(state: State): { outcome: Outcome; writes?: Writes };
}

export interface Committer {
  /**
   * Executes a command: lock, load, decide, write, commit, wake. Commands of one tenant that arrive while another is under
   * way share the next transaction; each gets its own outcome or its own refusal.
   * @throws what `decide` throws; CommitOutcomeUnknown when the connection was lost around COMMIT; another OutageError
   * when the database has executed nothing
   */
  change<Outcome>(command: Command<Outcome>): Promise<Outcome>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/**
 * Adds the writes that follow from events, for every command. It runs inside their transaction, before the
 * events are appended, and returns the further tasks and events that result.
 */
export type Outbox = (
  sql: Sql,
  tenant: Tenant,
  events: readonly StoredEvent[],
  now: Date,
) => Promise<{ readonly tasks: readonly NewTask[]; readonly events: readonly NewEvent[] }>;

/** The figures of one transaction, for the metrics. */
export interface CommittedGroup {
  readonly commands: number;
  readonly transactions: number;
  readonly postings: number;
  readonly events: number;
  readonly ms: number;
}

const MAX_GROUP = 64;

interface Waiting {
  /** Runs work in the trace of the caller. A group runs in the trace of its first command. */
  inTrace: ReturnType<typeof bindContext>;
  command: Command<unknown>;
  resolve: (outcome: unknown) => void;
  reject: (error: unknown) => void;
}

export function createCommitter({
  database,
  clock,
  outbox = async () => ({ tasks: [], events: [] }),
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
      const group = queue.splice(0, MAX_GROUP);
      const failure = await group[0]!.inTrace(() => runGroup(group));
      // Each waiting command would wait in vain for a connection, one group after the other.
      if (failure instanceof NoConnection) for (const waiting of queue.splice(0)) waiting.reject(failure);
      // A caller that has its outcome and sends its next command at once is in the next group, not the one
      // after it.
      await turn();
    }
    queues.delete(key);
  }

  /** Settles every command of the group. Returns the outage that prevented all of them, if there was one. */
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
      // Nothing was changed: the group is retried by halves, so that the error reaches its own caller and
      // costs the others little.
      const half = Math.ceil(group.length / 2);
      const first = await runGroup(group.slice(0, half));
      const second = await runGroup(group.slice(half));
      return second ?? first;
    }
    // The transaction is committed: from here on nothing of it may run again.
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
      const created = [waiting];
      queues.set(key, created);
      const drained = drain(key, created).finally(() => draining.delete(drained));
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
 * One transaction: the lock, one load and one save for each collection, one statement each for postings,
 * events and tasks. Independent statements are sent together, so it usually takes two round trips to the
 * database and one for the commit.
 */
async function decideAll(
  sql: Sql,
  tenant: Tenant,
  group: readonly Waiting[],
  { clock, outbox }: { clock: Clock; outbox: Outbox },
) {
  const { head, balances: before, records } = await lockAndRead(sql, tenant, group);
  // The time is read under the lock, so that a later event in the log never has an earlier time.
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
      // The balances are checked before any write is added: a throw here refuses this command alone.
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

  // One event for the group: subscribers of the wallet need only its newest state.
  if (transactions.length > 0)
    events.push({
      kind: 'wallet.changed',
      resource: 'wallet',
      resourceId: 'wallet',
      previousStatus: null,
      snapshot: balances,
    });
  const stored = assignVersions(events, { head, occurredAt: now });
  // Saved records are checked against the balances that the postings have moved. The statements are
  // pipelined on one connection, which executes them in the order of this list.
  const [, , , appended] = await Promise.all([
    post(sql, tenant, transactions, now),
    records.save(),
    dropTasks(sql, tenant, done),
    announceAndAppend(),
  ]);
  const posted = {
    transactions: transactions.length,
    postings: transactions.reduce((sum, { lines }) => sum + lines.length, 0),
  };
  return { answers, posted, committed: { ...appended, tasks } };

  /** Appends the events, then those of the outbox, in one statement. */
  async function announceAndAppend(): Promise<Appended> {
    const last = stored.at(-1);
    const added = last ? await outbox(sql, tenant, stored, now) : null;
    tasks.push(...(added?.tasks ?? []));
    const all = last && added ? [...stored, ...continueVersions(added.events, last)] : stored;
    const [result] = await Promise.all([append(sql, tenant, all), scheduleTasks(sql, tenant, tasks)]);
    return result;
  }
}

/** Takes the lock, then reads all that the decisions need. */
async function lockAndRead(sql: Sql, tenant: Tenant, group: readonly Waiting[]) {
  for (;;) {
    const records = createRecords(sql, tenant);
    // The reads are sent together and executed in this order, so each sees what was committed before the lock
    // was taken.
    const [head, balances] = await Promise.all([
      lockStream(sql, tenant),
      readBalances(sql, tenant),
      records.read(group.map(({ command }) => command)),
    ]).finally(records.end);
    if (head !== null) return { head, balances, records };
    await openStream(sql, tenant);
  }
}

/** The records of one transaction: each is loaded once, changed in memory and saved once. */
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
        // By now the decisions are under way, or the transaction rolls back.
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
    /** Refuses every later load. */
    end() {
      ended = true;
    },
    put({ collection, key, row }: Change) {
      loaderOf(collection);
      rows.get(collection)!.set(key, row);
      changed.set(collection, (changed.get(collection) ?? new Set()).add(key));
    },
    /** Saves the collections in the order of their first change, which is the order of the Map. */
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
