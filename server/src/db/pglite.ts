import { existsSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { builtPath, workerPath } from '../kernel/assets.ts';
import type { Clock } from '../kernel/clock.ts';
import { openConnections } from './connections.ts';
import { type Database, type DatabaseMeter, newInstanceId } from './database.ts';
import { startHousekeeping } from './housekeeping.ts';
import { lockDataDir } from './lock.ts';
import type { Log } from './log.ts';
import type { FromWorker, ToWorker, WorkerInput } from './pglite-worker.ts';

export interface PgliteOptions {
  /** A folder, or `memory` for none. */
  dataDir: string;
  clock: Clock;
  log: Log;
  /** Called once, when the database cannot continue: the process has to end. */
  onFatal: (error: Error) => void;
  /** A data tarball that a new folder starts from, in place of the built one. */
  seed?: string;
  /** A compiled worker: without it, a server that runs from its source compiles the worker at each start. */
  worker?: string;
  /** A backend that runs already, in place of a new one. */
  backend?: Backend;
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
  const { dataDir, clock, log, onFatal, meter } = options;
  const inMemory = dataDir === 'memory';
  const unlock = inMemory ? undefined : await lockDataDir(dataDir);
  const startOwn = () =>
    startBackend(
      options.worker ?? workerPath('pglite-worker'),
      { dataDir: inMemory ? null : dataDir, seed: options.seed ?? builtSeed() },
      onFatal,
    ).catch(async (error) => {
      await unlock?.();
      throw error;
    });
  const backend = options.backend ?? (await startOwn());
  const connections = openConnections(
    {
      user: 'postgres',
      database: 'postgres',
      // Otherwise PGSSLMODE would apply.
      ssl: false,
      max: 1,
      idleTimeoutMillis: 0,
      allowExitOnIdle: true,
      stream: backend.connect,
    },
    { clock, log, meter },
  );
  // Open, as on a server, means that it has responded once. Only then does closing wait for earlier statements.
  await sql`select 1`.execute(connections.sql);
  const stopHousekeeping = inMemory
    ? undefined
    : startHousekeeping({ sql: connections.sql, flushes: backend.flushes, clock, log });
  const listeners = new Map<string, Set<(payload: string) => void>>();
  let closed: Promise<void> | undefined;

  return {
    engine: 'pglite',
    // No advisory lock is needed: no other process can hold this folder, so every earlier holder of a task has ended.
    instance: newInstanceId(),
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
    await unlock?.();
  }
}

/** The seed that the build makes; without one the first start runs initdb. */
function builtSeed(): string | null {
  const path = builtPath('pgdata.tar.gz');
  return existsSync(path) ? path : null;
}

/** A PGlite in its worker. */
export interface Backend {
  /** Opens a stream for `pg`. There is one at a time: its pool holds one connection. */
  connect(): Duplex;
  flushes(): number;
  copyFiles(folder: string): Promise<void>;
  close(): Promise<void>;
}

/** Resolves when PGlite is ready in its worker. `onFatal` reports later failures. */
export function startBackend(
  file: string,
  input: WorkerInput,
  onFatal: (error: Error) => void,
): Promise<Backend> {
  const worker = new Worker(file, { workerData: input });
  const post = (message: ToWorker) =>
    worker.postMessage(message, message instanceof Uint8Array ? [message.buffer] : []);

  return new Promise((resolve, reject) => {
    let stream: Duplex | undefined;
    let flushes = 0;
    let failure: Error | undefined;
    let state: 'starting' | 'open' | 'closed' = 'starting';
    let closed: (() => void) | undefined;
    /** Callbacks of pending copies, in order of arrival. */
    const pendingCopies: ((failure: string | null) => void)[] = [];

    const backend: Backend = {
      flushes: () => flushes,
      connect() {
        stream = createProtocolStream(worker, post, () => failure);
        return stream;
      },
      async copyFiles(folder) {
        const refusal = await new Promise<string | null>((copied) => {
          if (failure || state === 'closed') return copied('The database is closed');
          pendingCopies.push(copied);
          post({ copyTo: folder });
        });
        if (refusal !== null) throw new Error(`The files could not be copied: ${refusal}`);
      },
      async close() {
        if (!failure) {
          await new Promise<void>((resolve) => {
            closed = resolve;
            worker.ref();
            post('close');
          });
        }
        state = 'closed';
        await worker.terminate();
      },
    };

    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'fatal') return fail(new Error(message.message));
      if (message.kind === 'closed') return closed?.();
      if (message.kind === 'copied') return pendingCopies.shift()?.(message.failure);
      flushes = message.flushes;
      if (message.kind === 'answer') stream?.push(message.bytes);
      else {
        state = 'open';
        worker.unref();
        resolve(backend);
      }
    });
    worker.on('error', fail);
    worker.on('exit', () => fail(new Error('The worker of PGlite ended')));

    /** Rejects the waiting statements first: a COMMIT without a response has an unknown outcome. */
    function fail(error: Error) {
      if (failure || state === 'closed') return;
      failure = error;
      stream?.destroy(error);
      for (const copied of pendingCopies.splice(0)) copied(error.message);
      closed?.();
      if (state === 'starting') reject(error);
      else onFatal(error);
    }
  });
}

/** A stream that `pg` uses as its socket. */
function createProtocolStream(
  worker: Worker,
  post: (message: ToWorker) => void,
  failure: () => Error | undefined,
): Duplex {
  let buffered: Uint8Array[] = [];
  function buffer(messages: Uint8Array[], written: () => void) {
    buffered.push(...messages);
    if (messages.some(expectsResponse)) {
      post(Uint8Array.from(Buffer.concat(buffered)));
      buffered = [];
    }
    written();
  }
  const stream = new Duplex({
    read() {
      // The worker pushes.
    },
    write: (message: Uint8Array, _encoding, written) => buffer([message], written),
    // Posts together what was written while the stream was corked.
    writev: (messages, written) =>
      buffer(
        messages.map(({ chunk }) => chunk),
        written,
      ),
    final(finished) {
      stream.push(null);
      finished();
    },
  });
  return Object.assign(stream, {
    connect() {
      worker.ref();
      const error = failure();
      if (error) stream.destroy(error);
      else setImmediate(() => stream.emit('connect'));
    },
    setNoDelay() {
      // Nothing here waits to fill a packet.
    },
    ref: () => worker.ref(),
    unref: () => worker.unref(),
  });
}

/** Whether a message gets a response. A statement with parameters is several messages up to a Sync. */
function expectsResponse(message: Uint8Array): boolean {
  return message[0] === STARTUP || message[0] === QUERY || message[0] === SYNC;
}

const STARTUP = 0x00;
const QUERY = 0x51;
const SYNC = 0x53;
