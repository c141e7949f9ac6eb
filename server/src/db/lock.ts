import { createHash } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

export class DataDirLockedError extends Error {
  override readonly name = 'DataDirLockedError';
}

/**
 * Makes this process the only one at `dataDir`, or throws `DataDirLockedError`. Two PGlites on one folder
 * lose each other's rows. The lock falls with the process, however that ends; what is returned gives it up
 * before. Creates the folder, for its owner alone. Two containers that share a folder do not see each other's lock on Linux,
 * for each has a network of its own: those need a PostgreSQL.
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const folder = realpathSync(dataDir);
  const name = `psa-${createHash('sha256').update(folder).digest('hex').slice(0, 32)}`;
  try {
    // An abstract socket and a named pipe have no file and end with the process that holds them.
    if (process.platform === 'linux') return await holdSocket(`\0${name}`);
    if (process.platform === 'win32') return await holdSocket(`\\\\.\\pipe\\${name}`);
    return holdFile(join(folder, 'lock'));
  } catch (error) {
    if (!HELD.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new DataDirLockedError(
      `${folder} is in use by another process. Stop that one first, or set PSA_DATA_DIR to another folder`,
      { cause: error },
    );
  }
}

const HELD = new Set(['EADDRINUSE', 'EACCES', 'EAGAIN', 'EWOULDBLOCK']);

function holdSocket(path: string): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(path, () => {
      server.unref();
      resolve(() => new Promise((closed) => server.close(() => closed())));
    });
  });
}

/** macOS and the BSDs lock a file while opening it. The numbers are theirs; Node has no names for them. */
function holdFile(path: string): () => Promise<void> {
  const O_NONBLOCK = 0x0004;
  const O_EXLOCK = 0x0020;
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT | O_EXLOCK | O_NONBLOCK, 0o600);
  return async () => closeSync(file);
}
