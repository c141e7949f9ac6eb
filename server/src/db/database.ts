import { randomInt } from 'node:crypto';
import type { Kysely } from 'kysely';
import { OutageError } from '../kernel/errors.ts';
import type { Tables } from './tables.ts';

/** Where a query runs: the pool, or the transaction that the caller is in. */
export type Sql = Kysely<Tables>;

/**
 * PostgreSQL, by one of two roads: PGlite in a worker of this process, or a server at `DATABASE_URL`.
 * int8 comes back as a number (a value beyond the safe integers throws), timestamptz as a Date,
 * jsonb parsed.
 */
export interface Database {
  readonly engine: 'pglite' | 'postgres';
  /**
   * This process's number. As long as it listens it holds the advisory lock (INSTANCE_LOCK, number), which falls with
   * its connection: so others see that it has ended, and never take a slow one for dead.
   */
  readonly instance: number;
  /** Single statements, each its own transaction. */
  readonly sql: Sql;
  /**
   * Runs `work` in one transaction (read committed) and commits. What `work` throws rolls back and is
   * thrown on. Throws `CommitOutcomeUnknown` when the connection was lost around COMMIT: the changes
   * may or may not have been made, and only a look at the data tells.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs work whose statements may take hours, on a connection of its own without the deadlines of all others: migrations,
   * backups, restores.
   */
  maintenance<T>(work: (unhurried: Pick<Database, 'sql' | 'transaction'>) => Promise<T>): Promise<T>;
  /** Commits an empty write. Rejects, or resolves with false, where the database takes no writes. */
  takesWrites(): Promise<boolean>;
  /**
   * Wakes every listener of `channel`, in this process and in others, once for each payload. A lost one costs time
   * and nothing else.
   */
  notify(channel: string, ...payloads: string[]): Promise<void>;
  /**
   * Calls `heard` for each notification. After a lost connection has come back, `heard('')`: whatever
   * was sent meanwhile is lost, so look at everything. Resolves once listening.
   */
  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>>;
  connections(): PoolStats;
  /**
   * Copies PGlite's files, where it is on a folder, to a folder that does not exist yet, as they are at one moment between two
   * statements, as a crash would leave them.
   */
  readonly copyFiles?: (folder: string) => Promise<void>;
  /** Resolves when every transaction under way has ended and the files are closed and unlocked. */
  close(): Promise<void>;
}

/** How the pool stands. PGlite's has one connection. */
export interface PoolStats {
  readonly inUse: number;
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

/** Callbacks with figures for an operator. They must not throw. */
export interface DatabaseMeter {
  /** A statement by its first word, in lower case. */
  onStatement(kind: string, ms: number): void;
  onConnectionWait(ms: number): void;
}

export const INSTANCE_LOCK = 7_367_777;

/** Held beside it as (SERVING_LOCK, number of the newest migration that this server knows). */
export const SERVING_LOCK = 7_367_778;

/** The lock of the instance that applies migrations. */
export const MIGRATION_LOCK = 7_367_779;

/** An instance's number: no two that live at once draw the same. */
export function newInstanceId(): number {
  return randomInt(1, 2 ** 31 - 1);
}

/**
 * How long anything waits for PostgreSQL's answer, in milliseconds of the machine's time, before its connection is closed
 * and replaced; for a connection, free or new, it is less. PostgreSQL itself gives up a statement a little earlier, which
 * is cheaper, and ends a transaction whose client says nothing for as long, which frees the lock of its tenant.
 */
export const WAIT_MS = 5_000;

export class CommitOutcomeUnknown extends OutageError {
  override readonly name = 'CommitOutcomeUnknown';
  override readonly mayBeDone = true;
}

/** There was no connection to be had: nothing was asked of the database, which is away or has more to do than it can. */
export class NoConnection extends OutageError {
  override readonly name = 'NoConnection';
  override readonly mayBeDone = false;
}

/** The connection was lost, or PostgreSQL gave the statement up, before anything was committed. */
export class StatementInterrupted extends OutageError {
  override readonly name: string = 'StatementInterrupted';
  override readonly mayBeDone = false;
}

/** The failure as the caller of work that had not begun sees it: of that work nothing was done. */
export function beforeWork(error: unknown): unknown {
  if (!(error instanceof CommitOutcomeUnknown)) return error;
  return new StatementInterrupted(error.message, { cause: error });
}

/** PostgreSQL takes no writes: it is a standby, or was made read-only. */
export class ReadOnlyDatabase extends StatementInterrupted {
  override readonly name = 'ReadOnlyDatabase';
}
