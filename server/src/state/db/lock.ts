import { createHash } from 'node:crypto';
import { accessSync, closeSync, constants, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

export class DataDirLockedError extends Error {
  override readonly name = 'DataDirLockedError';
}

/** The data folder cannot be created, written, or opened as a database. */
export class DataDirError extends Error {
  override readonly name = 'DataDirError';
}

/**
 * Locks `dataDir` for this process, or throws `DataDirLockedError`: two PGlites on one folder lose each
 * other's rows. The lock ends with the process, even after a crash; the returned function releases it
 * earlier. Creates the folder, readable by its owner alone. On Linux two containers that share a folder do
 * not see each other's lock, since each has its own network: they need a PostgreSQL server.
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new DataDirError(`PSA_DATA_DIR: ${dataDir} cannot be created (${code})`, { cause: error });
  }
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const advice = code === 'EACCES' ? ': run this as its owner' : '';
    throw new DataDirError(`PSA_DATA_DIR: ${dataDir} cannot be written (${code})${advice}`, { cause: error });
  }
  const folder = realpathSync(dataDir);
  try {
    // An abstract socket and a named pipe have no file and end with the process that holds them.
    if (process.platform === 'linux') return await lockPathAndInode(folder);
    if (process.platform === 'win32') return await lockSocket(`\\\\.\\pipe\\${lockName(folder)}`);
    return lockFile(join(folder, 'lock'));
  } catch (error) {
    if (!IN_USE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new DataDirLockedError(
      `${folder} is in use by another process. Stop that one first, or set PSA_DATA_DIR to another folder`,
      { cause: error },
    );
  }
}

function lockName(text: string): string {
  return `psa-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

/**
 * Locks a folder by its path and by its inode, which stays the same if the folder is renamed or mounted at
 * two paths.
 */
async function lockPathAndInode(folder: string): Promise<() => Promise<void>> {
  const { dev, ino } = statSync(folder, { bigint: true });
  const unlockPath = await lockSocket(`\0${lockName(folder)}`);
  try {
    const unlockInode = await lockSocket(`\0${lockName(`inode ${dev} ${ino}`)}`);
    return async () => {
      await unlockInode();
      await unlockPath();
    };
  } catch (error) {
    await unlockPath();
    throw error;
  }
}

const IN_USE = new Set(['EADDRINUSE', 'EACCES', 'EAGAIN', 'EWOULDBLOCK']);

function lockSocket(path: string): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(path, () => {
      server.unref();
      resolve(() => new Promise((closed) => server.close(() => closed())));
    });
  });
}

/**
 * Locks a file while opening it, as macOS and the BSDs can. The flags are their numbers, for which Node has
 * no names.
 */
function lockFile(path: string): () => Promise<void> {
  const O_NONBLOCK = 0x0004;
  const O_EXLOCK = 0x0020;
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT | O_EXLOCK | O_NONBLOCK, 0o600);
  return async () => closeSync(file);
}
