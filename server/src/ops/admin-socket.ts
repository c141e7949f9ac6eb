import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../db/log.ts';
import { describeOutage, OutageError, PaymentError } from '../kernel/errors.ts';
import { findOperation, inWords, type Managed, type OperationName } from './operations.ts';

// PGlite's folder is one process's alone. While that is a server, the command line asks it over a Unix domain socket in
// the folder: one line of JSON, answered by one. Whoever may open the socket may do everything, so it is the
// owner's alone, as the folder's files are.

/** Grows when an older program on the other side would misread what is said. */
const PROTOCOL = 1;

/** What a backup asks for beside the operations: the files, copied to where both sides know. */
export const COPY_FILES = 'files.copy';

type Asked = OperationName | typeof COPY_FILES;

interface Request {
  protocol: number;
  operation: Asked;
  input: unknown;
}

export type Answer = { ok: true; result: unknown } | { ok: false; message: string };

const REQUEST_BYTES = 64 * 1024;
const ANSWER_BYTES = 16 * 1024 * 1024;
/** To say what is wanted. */
const REQUEST_MS = 5_000;
/** To do it: behind what the server is doing already. Copying takes as long as there are files. */
const ANSWER_MS = 30_000;
const COPY_MS = 600_000;

// ── The server's side ───────────────────────────────────────────────────────────────────────────

/**
 * Listens in the data folder, whose lock the caller holds. Returns what closes it. A folder on a disk without
 * sockets keeps nobody from being paid: then this logs so, and keys cannot be managed meanwhile.
 */
export async function serveControl({
  dataDir,
  administration,
  copyFiles,
  log,
}: {
  dataDir: string;
  administration: Managed;
  copyFiles: () => Promise<void>;
  log: Log;
}): Promise<() => Promise<void>> {
  const served: Served = { administration, copyFiles, log };
  const underWay = new Set<Promise<void>>();
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const done: Promise<void> = serve(socket, served).finally(() => underWay.delete(done));
    underWay.add(done);
  });
  let forget: () => void;
  try {
    forget = await listen(server, realpathSync(dataDir));
  } catch (error) {
    log.warn(
      { err: error },
      'API keys cannot be managed, and no backup be taken, while this server runs: its control socket failed',
    );
    return async () => undefined;
  }
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    forget();
    for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
    await Promise.all(underWay);
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}

/** Those whose request has come whole. */
const busy = new WeakSet<Socket>();

interface Served {
  administration: Managed;
  copyFiles: () => Promise<void>;
  log: Log;
}

/** Never rejects. */
async function serve(socket: Socket, served: Served): Promise<void> {
  // Who hangs up early gets no answer; what was asked is done all the same.
  socket.on('error', () => undefined);
  const line = await readLine(socket, { bytes: REQUEST_BYTES, ms: REQUEST_MS });
  if (line === null) {
    socket.destroy();
    return;
  }
  busy.add(socket);
  const answer = await perform(line, served);
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    if (socket.destroyed) resolve();
    else socket.end(`${JSON.stringify(answer)}\n`, () => socket.destroy());
  });
}

async function perform(line: string, { administration, copyFiles, log }: Served): Promise<Answer> {
  try {
    const { protocol, operation, input } = (parse(line) ?? {}) as Partial<Request>;
    if (protocol === PROTOCOL && operation === COPY_FILES) {
      await copyFiles();
      return { ok: true, result: {} };
    }
    const found = findOperation(operation);
    if (protocol !== PROTOCOL || !found)
      return { ok: false, message: 'The running server is of another version: restart it' };
    return { ok: true, result: await found.perform(administration, input) };
  } catch (error) {
    if (error instanceof PaymentError) return { ok: false, message: inWords(error) };
    if (error instanceof OutageError) return { ok: false, message: describeOutage(error).message };
    log.error({ err: error }, 'a fault of ours');
    return { ok: false, message: 'Internal error: the server’s log says more' };
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Returns what takes away every trace but the socket itself, which goes when the server closes. */
async function listen(server: Server, folder: string): Promise<() => void> {
  const pointer = join(folder, POINTER);
  rmSync(pointer, { force: true });
  const path = socketPath(folder);
  if (process.platform !== 'win32') removeStale(path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Bound within this call, so that the socket is nobody else's from its first moment on.
    const umask = process.platform === 'win32' ? null : process.umask(0o177);
    try {
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      if (umask !== null) process.umask(umask);
    }
  });
  server.on('error', () => undefined);
  server.unref();
  if (process.platform !== 'win32') chmodSync(path, 0o600);
  if (path !== join(folder, SOCKET)) writeFileSync(pointer, path, { mode: 0o600 });
  return () => rmSync(pointer, { force: true });
}

/** The lock is held, so whoever listened there has ended. @throws for what is no socket: it is not ours */
function removeStale(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw new Error(`${path} is in the way: it is not a socket`);
  rmSync(path);
}

// ── Where ───────────────────────────────────────────────────────────────────────────────────────

const SOCKET = 'psa.sock';
/** Says where the socket is, if it is not beside it. */
const POINTER = 'psa.sock.path';
/** The kernel's limit is 103 on macOS, 107 on Linux. */
const LONGEST_PATH_BYTES = 100;

function socketPath(folder: string): string {
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 24);
  if (process.platform === 'win32') return `\\\\.\\pipe\\psa-control-${name}`;
  const fits = (path: string) => Buffer.byteLength(path) <= LONGEST_PATH_BYTES;
  const inFolder = join(folder, SOCKET);
  if (fits(inFolder)) return inFolder;
  const user = process.getuid!();
  const top = [tmpdir(), '/tmp'].find((temporary) => fits(join(temporary, `psa-${user}`, `${name}.sock`)));
  if (top === undefined) throw new Error('There is no folder whose path is short enough for a socket');
  return join(ownFolder(join(top, `psa-${user}`), user), `${name}.sock`);
}

/** In a place where anyone may make folders. @throws where another user has made it, or may look into it */
function ownFolder(path: string, user: number): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(path);
  if (!lstatSync(path).isDirectory() || uid !== user || (mode & 0o077) !== 0)
    throw new Error(`${path} is not a folder of this user alone`);
  return path;
}

// ── The command's side ──────────────────────────────────────────────────────────────────────────

/** Asks the server that has the folder. Null where none listens there. @throws what keeps it from answering */
export async function askControl(dataDir: string, operation: Asked, input: unknown): Promise<Answer | null> {
  const folder = realpathSync(dataDir);
  const socket = connect(pathOf(folder));
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return null;
    throw error;
  }
  socket.on('error', () => undefined);
  socket.write(`${JSON.stringify({ protocol: PROTOCOL, operation, input } satisfies Request)}\n`);
  try {
    const line = await readLine(socket, {
      bytes: ANSWER_BYTES,
      ms: operation === COPY_FILES ? COPY_MS : ANSWER_MS,
    });
    return line === null ? NO_ANSWER : (JSON.parse(line) as Answer);
  } finally {
    socket.destroy();
  }
}

const NO_ANSWER: Answer = {
  ok: false,
  message: 'The server did not answer: it may have done what was asked; look before you repeat it',
};

function pathOf(folder: string): string {
  if (process.platform === 'win32') return socketPath(folder);
  try {
    return readFileSync(join(folder, POINTER), 'utf8');
  } catch {
    return join(folder, SOCKET);
  }
}

// ── Both ────────────────────────────────────────────────────────────────────────────────────────

/** The first line; null where it does not come whole within these bytes and this time. */
function readLine(socket: Socket, { bytes, ms }: { bytes: number; ms: number }): Promise<string | null> {
  return new Promise((resolve) => {
    let text = Buffer.alloc(0);
    const end = (line: string | null) => {
      clearTimeout(tooLate);
      socket.off('data', onData);
      resolve(line);
    };
    // Of the machine's time, not the clock's, which stands still in a test.
    const tooLate = setTimeout(() => end(null), ms);
    const onData = (chunk: Buffer) => {
      text = Buffer.concat([text, chunk]);
      const length = text.indexOf(NEWLINE);
      if (length >= 0 && length <= bytes) end(text.subarray(0, length).toString('utf8'));
      else if (text.length > bytes) end(null);
    };
    socket.on('data', onData);
    socket.once('close', () => end(null));
    socket.once('end', () => end(null));
  });
}

const NEWLINE = 0x0a;
