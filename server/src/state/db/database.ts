import { randomInt } from 'node:crypto';
import type { Kysely } from 'kysely';
import { OutageError } from '../../kernel/errors.ts';
import type { Tables } from './tables.ts';

/** Runs queries: on the pool, or in the transaction of the caller. */
export type Sql = Kysely<Tables>;

/**
 * PostgreSQL: PGlite in a worker of this process, or a server at `DATABASE_URL`. int8 is read as a number (a value beyond the
 * safe integers throws), timestamptz as a Date, jsonb parsed.
 */
export interface Database {
  readonly engine: 'pglite' | 'postgres';
  /**
   * The number of this process. While it listens it holds the advisory lock (INSTANCE_LOCK, number), which is
   * released with its connection: others notice when the process has ended, and never take a slow one for
   * dead.
   */
  readonly instance: number;
  /**
   * The most transactions of changes at once: fewer than there are connections, so that reads and due work find one.
   */
  readonly lanes: number;
  /** Single statements, each its own transaction. */
  readonly sql: Sql;
  /**
   * Runs `work` in one transaction (read committed) and commits. An error of `work` rolls back and is thrown again. Throws
   * `CommitOutcomeUnknown` when the connection was lost around COMMIT: the changes may or may not have been made, and only
   * the data shows which.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs work whose statements may take hours, on a connection of its own without the deadlines of all others: migrations,
   * backups, restores.
   */
  maintenance<T>(work: (connections: Pick<Database, 'sql' | 'transaction'>) => Promise<T>): Promise<T>;
  /**
   * Commits an empty write; after a refused write, such as one for lack of space, a write that needs new
   * space. Rejects with the cause, or resolves with false if the database takes no writes.
   */
  takesWrites(): Promise<boolean>;
  /**
   * Wakes every listener of `channel`, in this process and in others, once for each payload. A lost notification only delays
   * its effect.
   */
  notify(channel: string, ...payloads: string[]): Promise<void>;
  /**
   * Calls `onNotification` for each notification, and with '' after a lost connection was replaced: notifications were lost
   * meanwhile, so everything has to be checked. Resolves once listening.
   */
  listen(channel: string, onNotification: (payload: string) => void): Promise<() => Promise<void>>;
  connections(): PoolStats;
  /**
   * Copies PGlite's files, unless they are in memory, to a folder that must not exist. The copy is as a crash
   * between two statements would leave them.
   */
  readonly copyFiles?: (folder: string) => Promise<void>;
  /** Resolves when every transaction under way has ended and the files are closed and unlocked. */
  close(): Promise<void>;
}

/** The connections of the pool, by state. PGlite's pool has one. */
export interface PoolStats {
  readonly inUse: number;
  readonly idle: number;
  /** The number of callers that wait for a connection. */
  readonly waiting: number;
}

/** Callbacks with figures for an operator. They must not throw. */
export interface DatabaseMeter {
  /** A statement by its first word, in lower case. */
  onStatement(kind: string, ms: number): void;
  onConnectionWait(ms: number): void;
  /** Called when a write was refused for a reason of the database. `takesWrites` says when that is over. */
  onRefusedWrite(): void;
}

export const INSTANCE_LOCK = 7_367_777;

/**
 * The class of a lock that every serving instance holds, with the number of the newest migration that it
 * knows.
 */
export const SERVING_LOCK = 7_367_778;

/** The lock of the instance that applies migrations. */
export const MIGRATION_LOCK = 7_367_779;

/** Draws the number of an instance: no two live instances draw the same. */
export function newInstanceId(): number {
  return randomInt(1, 2 ** 31 - 1);
}

/**
 * The longest wait for a response of PostgreSQL, in milliseconds of the machine's time; after it the
 * connection is closed and replaced. The wait for a connection, free or new, is shorter. PostgreSQL itself
 * cancels a statement a little earlier, which is cheaper, and ends a transaction whose client is silent for
 * as long, which releases its tenant's lock.
 */
export const WAIT_MS = 5_000;

export class CommitOutcomeUnknown extends OutageError {
  override readonly name = 'CommitOutcomeUnknown';
  override readonly mayBeDone = true;
}

/**
 * No connection was available, so nothing was sent to the database: it cannot be reached or is overloaded.
 */
export class NoConnection extends OutageError {
  override readonly name = 'NoConnection';
  override readonly mayBeDone = false;
}

/** The connection was lost, or PostgreSQL canceled the statement, before anything was committed. */
export class StatementInterrupted extends OutageError {
  override readonly name: string = 'StatementInterrupted';
  override readonly mayBeDone = false;
}

/** Converts a failure that came before the work began into an error that says so. */
export function beforeWork(error: unknown): unknown {
  if (!(error instanceof CommitOutcomeUnknown)) return error;
  return new StatementInterrupted(error.message, { cause: error });
}

/** PostgreSQL takes no writes: it is a standby, or was made read-only. */
export class ReadOnlyDatabase extends StatementInterrupted {
  override readonly name = 'ReadOnlyDatabase';
}
