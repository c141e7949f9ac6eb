import { constants, cpSync, existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { createFlushedFiles, prepareFolder } from './pglite-files.ts';

/** The worker's start data. */
export interface WorkerInput {
  /** The data folder; null keeps everything in memory. */
  dataDir: string | null;
  /** A data tarball that a new folder starts from; null runs initdb, which takes seconds longer. */
  seed: string | null;
}

/**
 * Messages to the worker: PostgreSQL's protocol, up to a message that gets a response; a request to copy the
 * files; the close.
 */
export type ToWorker = Uint8Array<ArrayBuffer> | { copyTo: string } | 'close';

/** Messages from the worker. `flushes` counts the flushes to the disk since the start. */
export type FromWorker =
  | { kind: 'ready'; created: boolean; flushes: number }
  | { kind: 'answer'; bytes: Uint8Array<ArrayBuffer>; flushes: number }
  | { kind: 'copied'; failure: string | null }
  | { kind: 'closed' }
  | { kind: 'fatal'; message: string };

/** PGlite's own parameters without `-F`, and settings that override the folder's configuration. */
const DURABLE = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...['fsync=on', 'synchronous_commit=on', 'full_page_writes=on'].flatMap((setting) => ['-c', setting]),
  // Emscripten's fdatasync does nothing, but its fsync calls the file system.
  ...['-c', 'wal_sync_method=fsync'],
];

/**
 * PGlite's default of 128 MB is filled with zeros at each start, which takes half a second. The system caches
 * the files too.
 */
const SMALL_CACHE = ['-c', 'shared_buffers=32MB'];

/**
 * Makes PostgreSQL log why it stops. Without a prefix a line starts with its severity; a text from a caller
 * is indented and cannot imitate one.
 */
const LOG_FATAL = ['-c', 'log_line_prefix=', '-c', 'log_min_messages=fatal'];

const port = parentPort;
if (!port) throw new Error('pglite-worker runs in a worker thread');
const send = (message: FromWorker, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

const { dataDir, seed } = workerData as WorkerInput;
const fatalErrors: string[] = [];
let flushes = 0;

let db: PGlite;
(dataDir === null ? openInMemory() : openFolder(dataDir)).then(serve).catch(stop);

function serve(opened: { db: PGlite; created: boolean }): void {
  db = opened.db;
  stopOnCrash();
  send({ kind: 'ready', created: opened.created, flushes });
  port!.on('message', (message: ToWorker) => {
    if (typeof message === 'object' && 'copyTo' in message) {
      copyFiles(message.copyTo);
      return;
    }
    const work = message === 'close' ? close() : execute(message);
    work.catch(stop);
  });
}

/**
 * Ends the worker before it can send another response. PostgreSQL would have ended itself, but PGlite
 * swallows its PANIC, after which a call may even return as if it had worked.
 */
function stop(error: unknown): never {
  send({ kind: 'fatal', message: error instanceof Error ? error.message : String(error) });
  process.exit(1);
}

async function openInMemory() {
  const loadDataDir = readSeed();
  return {
    db: await start({ startParams: PGlite.defaultStartParams, ...(loadDataDir && { loadDataDir }) }),
    created: true,
  };
}

async function openFolder(dataDir: string) {
  const { folder, isNew, markFilled } = prepareFolder(dataDir);
  const fs = createFlushedFiles(
    folder,
    () => {
      flushes += 1;
    },
    (error) =>
      stop(new Error(`A flush to the disk failed: ${error instanceof Error ? error.message : error}`)),
  );
  const loadDataDir = isNew ? readSeed() : undefined;
  const db = await start({ fs, startParams: DURABLE, ...(loadDataDir && { loadDataDir }) });

  // Proves that a commit reaches the disk. The message is a WAL record that nothing reads.
  const before = flushes;
  await db.exec(`select pg_logical_emit_message(true, 'psa', 'start')`);
  if (flushes === before)
    throw new Error('PGlite commits without flushing to the disk, so it is not safe to use');

  if (isNew) {
    await db.exec('checkpoint');
    markFilled();
  }
  return { db, created: isNew };
}

async function start(
  options: NonNullable<ConstructorParameters<typeof PGlite>[0]> & { startParams: string[] },
) {
  try {
    return await PGlite.create({
      ...options,
      startParams: [...options.startParams, ...SMALL_CACHE, ...LOG_FATAL],
      onStderr(line) {
        if (/^(PANIC|FATAL): /.test(line)) fatalErrors.push(line);
        if (/^(PANIC: |Aborted\()/.test(line)) stop(new Error(`PostgreSQL stopped: ${line}`));
        return false;
      },
    });
  } catch (error) {
    throw new Error(['PGlite did not start', ...fatalErrors, describe(error)].join(': '), { cause: error });
  }
}

/** Describes an error of PGlite: its files throw an object that has only the number of Emscripten's error. */
function describe(error: unknown): string {
  const { errno } = error as { errno?: number };
  if (errno === ENOSPC) return 'no space is left on the disk (ENOSPC)';
  return errno === undefined || error instanceof Error ? String(error) : `its files failed (${errno})`;
}

/** The number of ENOSPC in Emscripten. */
const ENOSPC = 51;

function readSeed(): Blob | undefined {
  if (seed === null) return undefined;
  return new Blob([readFileSync(seed)], {
    type: seed.endsWith('.gz') ? 'application/gzip' : 'application/x-tar',
  });
}

/**
 * Stops the worker after a crash of PGlite's WebAssembly: PGlite itself continues, often in an endless loop.
 */
function stopOnCrash(): void {
  const { Module } = db;
  const once = Module._PostgresMainLoopOnce;
  Module._PostgresMainLoopOnce = () => {
    try {
      once();
    } catch (error) {
      if ((error as { status?: number }).status !== ERROR_REPORTED) {
        stop(new Error(`PostgreSQL crashed: ${[...fatalErrors, error].join(': ')}`));
      }
      throw error;
    }
  };
}

/** The status of PGlite's `longjmp` out of a statement that failed, which is no crash. */
const ERROR_REPORTED = 100;

async function execute(message: Uint8Array): Promise<void> {
  const chunks: Uint8Array[] = [];
  await db.execProtocolRawStream(message, {
    syncToFs: false,
    // The bytes lie in PGlite's memory, which the next response overwrites.
    onRawData: (bytes) => chunks.push(bytes.slice()),
  });
  const bytes = joinBytes(chunks);
  if (message[0] !== STARTUP && !isCompleteResponse(bytes, countStatements(message))) {
    stop(new Error(`PostgreSQL gave no answer: ${fatalErrors.join(': ')}`));
  }
  send({ kind: 'answer', bytes, flushes }, [bytes.buffer]);
}

const STARTUP = 0;
const QUERY = 0x51;
const SYNC = 0x53;
const READY = 0x5a;
/** The message types CommandComplete, ErrorResponse and EmptyQueryResponse. */
const OUTCOMES = new Set([0x43, 0x45, 0x49]);

/** Counts the statements of a message: each ends with its Sync, or is a whole Query. */
function countStatements(message: Uint8Array): number {
  let statements = 0;
  for (const type of typesOf(message)) if (type === QUERY || type === SYNC) statements += 1;
  return statements;
}

/** Whether each statement has an outcome: a response without one would pass for a statement that returned no rows. */
function isCompleteResponse(bytes: Uint8Array, statements: number): boolean {
  let complete = 0;
  let hasOutcome = false;
  let last: number | undefined;
  for (const type of typesOf(bytes)) {
    last = type;
    if (OUTCOMES.has(type)) hasOutcome = true;
    if (type !== READY || !hasOutcome) continue;
    complete += 1;
    hasOutcome = false;
  }
  return complete === statements && last === READY;
}

/** Yields the types of the protocol's messages, in order. */
function* typesOf(bytes: Uint8Array): Generator<number> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += 1 + view.getInt32(at + 1)) yield view.getUint8(at);
}

function joinBytes(chunks: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/**
 * Copies the files in one turn, during which PostgreSQL does nothing: recovery keeps what was committed, and
 * undoes the rest.
 */
function copyFiles(target: string): void {
  let failure: string | null = null;
  try {
    if (dataDir === null) throw new Error('There are no files: everything is in memory');
    // The caller may have ended meanwhile; then nothing would remove the copy.
    if (!existsSync(dirname(target))) throw new Error('There is no folder for the copy any more');
    cpSync(prepareFolder(dataDir).folder, target, {
      recursive: true,
      errorOnExist: true,
      force: false,
      // If the file system supports it, the copy shares the blocks that neither side changes.
      mode: constants.COPYFILE_FICLONE,
    });
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  send({ kind: 'copied', failure });
}

async function close(): Promise<void> {
  await db.close();
  send({ kind: 'closed' });
}
