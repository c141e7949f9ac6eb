import { existsSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { builtPath, workerPath } from '../../kernel/assets.ts';
import { DataDirError, lockDataDir } from './lock.ts';
import type { FromWorker, ToWorker, WorkerInput } from './pglite-worker.ts';

export interface BackendOptions {
  /** The data folder, or `memory` for none. */
  dataDir: string;
  /** Called once, when the database cannot continue: the process has to end. */
  onFatal: (error: Error) => void;
  /** A data tarball for a new folder; by default the built one. */
  seed?: string | undefined;
  /** A compiled worker. Without it, a server that runs from its source compiles the worker at each start. */
  worker?: string | undefined;
}

/**
 * A PGlite that is starting. It is an object because an async function that returned a promise would wait for
 * it.
 */
export interface StartingPglite {
  /** Rejects with a `DataDirLockedError` when another process uses the folder. */
  backend: Promise<Backend>;
}

/**
 * Locks the folder and begins to start PGlite on it. It loads very little, so that a server can call it
 * first: once it has resolved, the worker starts while the caller's thread is busy. It never rejects: a
 * server that has another reason not to run, such as a port in use, reports that reason.
 */
export async function startPglite(options: BackendOptions): Promise<StartingPglite> {
  const { dataDir } = options;
  const locked = dataDir === 'memory' ? undefined : lockDataDir(dataDir);
  await locked?.catch(() => undefined);
  const backend = startLocked(options, locked);
  // A failure may come before any caller waits for the backend.
  backend.catch(() => undefined);
  return { backend };
}

/**
 * Starts PGlite on a folder that is locked. Closing it, or a failure, releases the lock. A second close does
 * nothing.
 */
async function startLocked(
  { dataDir, onFatal, seed, worker }: BackendOptions,
  locked: Promise<() => Promise<void>> | undefined,
): Promise<Backend> {
  const unlock = await locked;
  const input = { dataDir: locked ? dataDir : null, seed: seed ?? builtSeed() };
  try {
    const backend = await startBackend(worker ?? workerPath('pglite-worker'), input, onFatal);
    let closed: Promise<void> | undefined;
    const close = async () => {
      await backend.close();
      await unlock?.();
    };
    return {
      ...backend,
      close() {
        closed ??= close();
        return closed;
      },
    };
  } catch (error) {
    await unlock?.();
    throw error;
  }
}

/** The seed that the build makes. Without it the first start runs initdb. */
function builtSeed(): string | null {
  const path = builtPath('pgdata.tar.gz');
  return existsSync(path) ? path : null;
}

/** A PGlite in its worker. */
export interface Backend {
  /** Opens a stream for `pg`. Only one is open at a time, because its pool holds one connection. */
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
      // PGlite's messages about its files, which the operator can correct. A fault of the worker itself keeps
      // its stack.
      if (message.kind === 'fatal')
        return fail(
          state === 'starting'
            ? new DataDirError(`PSA_DATA_DIR: ${message.message}`)
            : new Error(message.message),
        );
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
      // The worker pushes its responses, so there is nothing to read.
    },
    write: (message: Uint8Array, _encoding, written) => buffer([message], written),
    // Posts the messages together that were written while the stream was corked.
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
      // Nagle's algorithm has no meaning here.
    },
    ref: () => worker.ref(),
    unref: () => worker.unref(),
  });
}

/**
 * Whether a message gets a response. A statement with parameters consists of several messages, the last of
 * them a Sync.
 */
function expectsResponse(message: Uint8Array): boolean {
  return message[0] === STARTUP || message[0] === QUERY || message[0] === SYNC;
}

const STARTUP = 0x00;
const QUERY = 0x51;
const SYNC = 0x53;
