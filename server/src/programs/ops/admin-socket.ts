import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeOutage, OutageError, PaymentError } from '../../kernel/errors.ts';
import type { Log } from '../../state/db/log.ts';
import { describeRefusal, findOperation, type Managed, type OperationName } from './operations.ts';

// One process at a time can open a PGlite data folder. While a server has it open, the psa command sends its operations
// to that server over a Unix domain socket in the folder: one line of JSON each way. The socket gives full control, so
// only the owner of the folder's files can open it.

/** Incremented when a program of an older version would misread a request or an answer. */
const PROTOCOL = 1;

/** The request of a backup: copy the files to the folder that both sides know. */
export const COPY_FILES = 'files.copy';

type SocketOperation = OperationName | typeof COPY_FILES;

interface Request {
  protocol: number;
  operation: SocketOperation;
  input: unknown;
}

export type Answer = { ok: true; result: unknown } | { ok: false; message: string };

/** A store has 5,000 products. */
const REQUEST_BYTES = 32 * 1024 * 1024;
const ANSWER_BYTES = 16 * 1024 * 1024;
/** The time for a request to arrive. */
const REQUEST_MS = 5_000;
/** The time to perform a request, behind the server's other work. The time to copy grows with the files. */
const ANSWER_MS = 30_000;
const COPY_MS = 600_000;
/** The time to look through the books. */
const VERIFY_MS = 6 * 3_600_000;

// ── The server's side ───────────────────────────────────────────────────────────────────────────

/**
 * Listens in the data folder, whose lock the caller holds. Returns a function that closes the socket. On a file system
 * without sockets the server must still start, because payments do not depend on the socket: then this logs a warning.
 */
export async function serveAdminSocket({
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
  const handler: Handler = { administration, copyFiles, log };
  const pending = new Set<Promise<void>>();
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const done: Promise<void> = serve(socket, handler).finally(() => pending.delete(done));
    pending.add(done);
  });
  let removePointer: () => void;
  try {
    removePointer = await listen(server, realpathSync(dataDir));
  } catch (error) {
    log.warn(
      { err: error },
      'API keys cannot be managed, and no backup be taken, while this server runs: its admin socket failed',
    );
    return async () => undefined;
  }
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    removePointer();
    for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
    await Promise.all(pending);
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}

/** Sockets whose request has arrived in full. */
const busy = new WeakSet<Socket>();

interface Handler {
  administration: Managed;
  copyFiles: () => Promise<void>;
  log: Log;
}

/** Answers the request of one connection. Never rejects. */
async function serve(socket: Socket, handler: Handler): Promise<void> {
  // A client that disconnects early gets no answer; its request is performed all the same.
  socket.on('error', () => undefined);
  const line = await readLine(socket, { bytes: REQUEST_BYTES, ms: REQUEST_MS });
  if (line === null) {
    socket.destroy();
    return;
  }
  busy.add(socket);
  const answer = await perform(line, handler);
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    if (socket.destroyed) resolve();
    else socket.end(`${JSON.stringify(answer)}\n`, () => socket.destroy());
  });
}

async function perform(line: string, { administration, copyFiles, log }: Handler): Promise<Answer> {
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
    if (error instanceof PaymentError) return { ok: false, message: describeRefusal(error) };
    if (error instanceof OutageError) return { ok: false, message: describeOutage(error).message };
    log.error({ err: error }, 'an internal fault');
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

/** Listens on the socket. Returns a function that removes the pointer file; closing the server removes the socket. */
async function listen(server: Server, folder: string): Promise<() => void> {
  const pointer = join(folder, POINTER);
  rmSync(pointer, { force: true });
  const path = socketPath(folder);
  if (process.platform !== 'win32') removeStale(path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The socket is bound within this call, so no other user can open it even for a moment.
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

/** Removes the socket of a server that has ended: the caller holds the lock. @throws if the file is not a socket */
function removeStale(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw new Error(`${path} is in the way: it is not a socket`);
  rmSync(path);
}

// ── The path ────────────────────────────────────────────────────────────────────────────────────

// A socket's path has a limit: the kernel accepts 103 bytes on macOS and 107 on Linux. If `psa.sock` in the data
// folder would be longer than 100 bytes, the socket is in a folder of this user under the folder for temporary files,
// and a pointer file in the data folder holds its path. So the command finds the socket whatever its own TMPDIR is,
// but only if it sees the same temporary files. With systemd's PrivateTmp it does not: it waits for the data folder's
// lock, and reports that the folder is in use. In another container it sees neither socket nor lock (see db/lock.ts),
// and would open the folder at the same time as the server. In both cases the remedy is a shorter PSA_DATA_DIR.

const SOCKET = 'psa.sock';
/** Holds the path of a socket outside the folder. */
const POINTER = 'psa.sock.path';
const MAX_PATH_BYTES = 100;

function socketPath(folder: string): string {
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 24);
  if (process.platform === 'win32') return `\\\\.\\pipe\\psa-control-${name}`;
  const fits = (path: string) => Buffer.byteLength(path) <= MAX_PATH_BYTES;
  const inFolder = join(folder, SOCKET);
  if (fits(inFolder)) return inFolder;
  const user = process.getuid!();
  const top = [tmpdir(), '/tmp'].find((temporary) => fits(join(temporary, `psa-${user}`, `${name}.sock`)));
  if (top === undefined) throw new Error('There is no folder whose path is short enough for a socket');
  return join(ensurePrivateFolder(join(top, `psa-${user}`), user), `${name}.sock`);
}

/** Creates a folder where every user can create one. @throws if it belongs to another user, or others can open it */
function ensurePrivateFolder(path: string, user: number): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(path);
  if (!lstatSync(path).isDirectory() || uid !== user || (mode & 0o077) !== 0)
    throw new Error(`${path} is not a folder of this user alone`);
  return path;
}

// ── The command's side ──────────────────────────────────────────────────────────────────────────

/** Sends an operation to the server that has the folder open. Null if no server listens. @throws if connecting fails */
export async function callAdminSocket(
  dataDir: string,
  operation: SocketOperation,
  input: unknown,
): Promise<Answer | null> {
  const folder = realpathSync(dataDir);
  const socket = connect(findSocketPath(folder));
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
      ms: operation === COPY_FILES ? COPY_MS : operation === 'verify' ? VERIFY_MS : ANSWER_MS,
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

function findSocketPath(folder: string): string {
  if (process.platform === 'win32') return socketPath(folder);
  try {
    return readFileSync(join(folder, POINTER), 'utf8');
  } catch {
    return join(folder, SOCKET);
  }
}

// ── Both ────────────────────────────────────────────────────────────────────────────────────────

/** Reads the first line; null if it is longer than `bytes`, or does not arrive in full within `ms`. */
function readLine(socket: Socket, { bytes, ms }: { bytes: number; ms: number }): Promise<string | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const end = (line: string | null) => {
      clearTimeout(timeout);
      socket.off('data', onData);
      resolve(line);
    };
    // A timer of the machine, because a test's clock stands still.
    const timeout = setTimeout(() => end(null), ms);
    const onData = (chunk: Buffer) => {
      const last = chunk.indexOf(NEWLINE);
      chunks.push(last < 0 ? chunk : chunk.subarray(0, last));
      length += chunks.at(-1)!.length;
      if (length > bytes) end(null);
      else if (last >= 0) end(Buffer.concat(chunks).toString('utf8'));
    };
    socket.on('data', onData);
    socket.once('close', () => end(null));
    socket.once('end', () => end(null));
  });
}

const NEWLINE = 0x0a;
