import { sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { openConnections } from './connections.ts';
import { type Database, type DatabaseMeter, newInstanceId } from './database.ts';
import { startHousekeeping } from './housekeeping.ts';
import type { Log } from './log.ts';
import { type Backend, type BackendOptions, type StartingPglite, startPglite } from './pglite-backend.ts';
import { createRefusedWrites } from './refused-writes.ts';

export interface PgliteOptions extends BackendOptions {
  clock: Clock;
  log: Log;
  /** A backend that runs already; without it a new one is started. It is closed with the database. */
  backend?: Backend;
  /** A backend that is starting; without it a new one is started. */
  pglite?: StartingPglite | undefined;
  meter?: DatabaseMeter | undefined;
}

export interface Pglite extends Database {
  /** The number of flushes to the disk since the start. */
  flushes(): number;
}

/**
 * PGlite in a worker thread: in the main thread it starved the event loop (0 of 300 timer ticks). It speaks
 * PostgreSQL's protocol, so `pg` drives it over a stream that ends in the worker.
 */
export async function openPglite(options: PgliteOptions): Promise<Pglite> {
  const { dataDir, clock, log, meter } = options;
  const backend = options.backend ?? (await takeBackend(options));
  const connections = openConnections(
    {
      user: 'postgres',
      database: 'postgres',
      // Without this PGSSLMODE would apply.
      ssl: false,
      max: 1,
      idleTimeoutMillis: 0,
      allowExitOnIdle: true,
      stream: backend.connect,
    },
    { clock, log, meter, refusedWrites: createRefusedWrites(clock, meter) },
  );
  // An open database has responded once, as on a server. Only after that does closing wait for earlier
  // statements.
  await sql`select 1`.execute(connections.sql);
  const stopHousekeeping =
    dataDir === 'memory'
      ? undefined
      : startHousekeeping({ sql: connections.sql, flushes: backend.flushes, clock, log });
  const listeners = new Map<string, Set<(payload: string) => void>>();
  let closed: Promise<void> | undefined;

  return {
    engine: 'pglite',
    // No advisory lock is needed: no other process can hold this folder, so every earlier holder of a task has ended.
    instance: newInstanceId(),
    lanes: 1,
    sql: connections.sql,
    transaction: connections.transaction,
    maintenance: (work) => work(connections),
    takesWrites: connections.takesWrites,
    connections: connections.connections,
    flushes: backend.flushes,
    copyFiles: backend.copyFiles,
    // No other process listens.
    async notify(channel, ...payloads) {
      for (const onNotification of listeners.get(channel) ?? [])
        for (const payload of payloads) setImmediate(onNotification, payload);
    },
    async listen(channel, onNotification) {
      const own = (payload: string) => onNotification(payload);
      const ofChannel = listeners.get(channel) ?? new Set();
      listeners.set(channel, ofChannel.add(own));
      return async () => {
        ofChannel.delete(own);
      };
    },
    close() {
      closed ??= close();
      return closed;
    },
  };

  async function close() {
    stopHousekeeping?.();
    await connections.close();
    await backend.close();
  }
}

/** Waits for the backend that is starting, or for a new one. */
async function takeBackend({ pglite, ...options }: PgliteOptions): Promise<Backend> {
  const { backend } = pglite ?? (await startPglite(options));
  return backend;
}
