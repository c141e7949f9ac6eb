import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../db/database.ts';
import { loadOf, type TenantKey, type TenantRecord } from '../db/each-tenant.ts';
import type { NewEvent, StoredEvent } from '../events/event.ts';
import type { Appended } from '../events/log.ts';
import { applyToBalances, type Balances, type LedgerTransaction } from '../ledger/postings.ts';
import type { EndedTask, NewTask, Task, TaskName } from '../work/store.ts';

/**
 * A kind of record that a decision reads and writes: it loads and saves many at once, of all tenants that share a
 * transaction. A slice defines one for each of its tables. Both run under the tenants' locks, so no row needs a lock of its
 * own.
 */
export interface Collection<Row> {
  readonly name: string;
  loadEach(sql: Sql, keys: readonly TenantKey[]): Promise<readonly TenantRecord<Row>[]>;
  keyOf(row: Row): string;
  /** Inserts or replaces, in one statement. */
  saveEach(sql: Sql, rows: readonly TenantRecord<Row>[]): Promise<void>;
}

/** Loads records of one tenant outside of a change. */
export function loadRecords<Row>(
  { loadEach }: Collection<Row>,
  sql: Sql,
  tenant: Tenant,
  keys: readonly string[],
): Promise<Row[]> {
  return loadOf(loadEach, sql, tenant, keys);
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
  /**
   * Tasks that have nothing left to do; they are deleted. A claimed task ends with this change: if its lease has ended, the
   * change is refused.
   */
  readonly done?: readonly (TaskName | Task)[];
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
   * Executes a command: lock, load, decide, write, commit, wake. Commands that arrive while a transaction of their lane is
   * under way share the next one, whatever their tenants; each gets its own outcome or its own refusal. Those of one tenant
   * are executed in the order of their arrival.
   * @throws what `decide` throws; CommitOutcomeUnknown when the connection was lost around COMMIT; another OutageError
   * when the database has executed nothing
   */
  change<Outcome>(command: Command<Outcome>): Promise<Outcome>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/**
 * Adds the writes that follow from the events of a group, for every command. It runs inside their transaction, before the
 * events are appended, and returns the further tasks and events that result.
 */
export type Outbox = (
  sql: Sql,
  announced: readonly EventsOfTenant[],
  now: Date,
) => Promise<
  readonly {
    readonly tenant: Tenant;
    readonly tasks: readonly NewTask[];
    readonly events: readonly NewEvent[];
  }[]
>;

/** New events of one tenant, at least one. */
export interface EventsOfTenant {
  readonly tenant: Tenant;
  readonly events: readonly StoredEvent[];
}

/** The events and tasks of one tenant that a commit has written. */
export interface CommittedOfTenant extends Appended {
  readonly tenant: Tenant;
  readonly tasks: readonly NewTask[];
  /** The claimed tasks that it has ended. */
  readonly ended: readonly EndedTask[];
}

/** The figures of one transaction, for the metrics. */
export interface CommittedGroup {
  readonly commands: number;
  readonly transactions: number;
  readonly postings: number;
  readonly events: number;
  readonly ms: number;
}
