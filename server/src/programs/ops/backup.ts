import {
  createReadStream,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { open, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Clock } from '../../kernel/clock.ts';
import {
  BackupError,
  type BackupHeader,
  checkBackup,
  type OnRows,
  type Rows,
  restoreDatabase,
  saveDatabase,
} from '../../state/db/backup.ts';
import { pathsIn } from '../../state/db/data-folder.ts';
import type { Database } from '../../state/db/database.ts';
import { DataDirLockedError, lockDataDir } from '../../state/db/lock.ts';
import type { Config } from '../config/config.ts';
import { COPY_FILES, callAdminSocket } from './admin-socket.ts';
import { retryWhileLocked } from './locked-folder.ts';

// A backup is one file. It holds secrets, so only its owner can read it. It gets its name only once it is complete and
// flushed to the disk.

/** The summary of a saved or restored backup. */
export interface Saved {
  readonly file: string;
  readonly bytes: number;
  readonly takenAt: string;
  /** The newest migration of the schema. */
  readonly schema: string;
  /** The engine that the backup was taken from. */
  readonly engine: BackupHeader['engine'];
  readonly rows: Rows;
}

export type OpenDatabase = (where: Pick<Config, 'databaseUrl' | 'dataDir'>) => Promise<Database>;

/**
 * Saves the configured database, also while a server uses it. A server that has a data folder open copies its files, and
 * is blocked while it does; the backup is then made from the copy.
 * @throws BackupError
 */
export async function backUp(
  config: Config,
  file: string,
  { open, clock, onRows }: { open: OpenDatabase; clock: Clock; onRows: OnRows },
): Promise<Saved> {
  assertIsFree(file);
  const save = (database: Database, takenAt: Date) => writeBackup(database, { file, takenAt, onRows });
  if (config.databaseUrl)
    return withDatabase(
      () => open(config),
      (database) => save(database, clock.now()),
    );
  if (config.dataDir === 'memory')
    throw new BackupError(
      'PSA_DATA_DIR is memory: what such a server has cannot be saved; give it a folder, or a PostgreSQL',
    );
  const folder = resolve(config.dataDir);
  if (!existsSync(pathsIn(folder).pgdata))
    throw new BackupError(
      `There is no database in ${folder}: no server has run on it yet, and DATABASE_URL is not set`,
    );
  return retryWhileLocked(
    async () => {
      const takenAt = clock.now();
      const saved = await withCopy(folder, async (copy) => {
        const answer = await callAdminSocket(folder, COPY_FILES, {});
        if (!answer) return null;
        if (!answer.ok) throw new BackupError(answer.message);
        return withDatabase(
          () => open({ databaseUrl: undefined, dataDir: copy }),
          (database) => save(database, takenAt),
        );
      });
      return (
        saved ??
        (await withDatabase(
          () => open({ databaseUrl: undefined, dataDir: folder }),
          (database) => save(database, clock.now()),
        ))
      );
    },
    { folder, clock, toError: (message) => new BackupError(message) },
  );
}

/**
 * Fills the configured database, which must be empty, from a backup. The file is read and checked to its end before
 * the database is opened.
 * @throws BackupError
 */
export async function restore(
  config: Config,
  file: string,
  { open, onRows, onChecked }: { open: OpenDatabase; onRows: OnRows; onChecked: OnRows },
): Promise<Saved> {
  if (!config.databaseUrl && config.dataDir === 'memory')
    throw new BackupError('PSA_DATA_DIR is memory: give a folder, or a DATABASE_URL, to restore into');
  if (!statOf(file, statSync, 'read')) throw new BackupError(`There is no file ${file}`);
  const header = await readBackup(file, (texts) => checkBackup(texts, onChecked));
  try {
    const rows = await withDatabase(
      () => open(config),
      (database) => readBackup(file, (texts) => restoreDatabase(database, { header, texts, onRows })),
    );
    return summaryOf(file, header, rows);
  } catch (error) {
    if (error instanceof DataDirLockedError)
      throw new BackupError(
        `A server uses ${resolve(config.dataDir)}: name a new folder in PSA_DATA_DIR, and start it there`,
      );
    throw error;
  }
}

/** Builds the name of a backup file from the time. */
export function backupName(now: Date): string {
  return `psa-${now
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')}.backup.gz`;
}

// ── The file ────────────────────────────────────────────────────────────────────────────────────

/** Writes a backup under a temporary name and renames it once it is complete. Removes it where writing fails. */
async function writeBackup(
  database: Database,
  { file, takenAt, onRows }: { file: string; takenAt: Date; onRows: OnRows },
): Promise<Saved> {
  const unfinished = `${file}.unfinished-${process.pid}`;
  return withTemporary(unfinished, async () => {
    const write = (texts: AsyncIterable<string>) =>
      pipeline(
        Readable.from(texts),
        createGzip(),
        // Flushed to the disk before it is closed.
        createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }),
      );
    const saved = await saveDatabase(database, { takenAt, onRows, write });
    assertIsFree(file);
    renameSync(unfinished, file);
    await flushFolder(dirname(file));
    return summaryOf(file, saved.header, saved.rows);
  }).catch((error: unknown) => {
    throw explainFile(error, `${file} cannot be written`);
  });
}

function assertIsFree(file: string): void {
  if (statOf(file, lstatSync, 'written'))
    throw new BackupError(`${file} is there already: name another, or move it away`);
  if (!existsSync(dirname(file))) throw new BackupError(`There is no folder ${dirname(file)}`);
}

/** Flushes a folder, so that a file's new name survives a power cut. Windows cannot do that. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** Reads a backup as text. @throws BackupError if the file is not a complete gzip file */
async function readBackup<T>(file: string, read: (texts: AsyncIterable<string>) => Promise<T>): Promise<T> {
  const source = createReadStream(file);
  const texts = source.pipe(createGunzip()).setEncoding('utf8');
  source.on('error', (error) => texts.destroy(error));
  try {
    return await read(texts);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_') || code === 'ERR_TRAILING_JUNK_AFTER_STREAM_END')
      throw new BackupError(`The backup is damaged or cut off (${code}): nothing was restored`);
    throw explainFile(error, `${file} cannot be read`);
  } finally {
    source.destroy();
    texts.destroy();
  }
}

/** Looks a file up; undefined if it does not exist. @throws BackupError if, for example, its folder may not be entered */
function statOf(file: string, stat: typeof statSync, purpose: 'read' | 'written'): Stats | undefined {
  try {
    return stat(file, { throwIfNoEntry: false });
  } catch (error) {
    throw explainFile(error, `${file} cannot be ${purpose}`);
  }
}

/** Codes of a file or a disk that cannot be used. */
const FILE_CODES = /^(EACCES|EPERM|EROFS|ENOSPC|EDQUOT|EFBIG|EIO|EISDIR|ENOTDIR|ENAMETOOLONG|ELOOP)$/;

/** Explains a failure of the backup's file; any other error stays as it is. */
function explainFile(error: unknown, problem: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  return code && FILE_CODES.test(code) ? new BackupError(`${problem} (${code})`, { cause: error }) : error;
}

function summaryOf(file: string, { takenAt, engine, migrations }: BackupHeader, rows: Rows): Saved {
  return { file, bytes: statSync(file).size, takenAt, engine, schema: migrations.at(-1)!, rows };
}

// ── A folder that a server has open ─────────────────────────────────────────────────────────────

/** The folder of the copy. No user gives a folder this name, so its contents can be removed. */
const COPY_FOLDER = '.psa-backup';

/** The paths in the data folder to which the server copies its files: a data folder and the files in it. */
export function copyFolder(dataDir: string): { folder: string; files: string } {
  const folder = join(realpathSync(dataDir), COPY_FOLDER, 'copy');
  return { folder, files: pathsIn(folder).pgdata };
}

/** Locks the folder of the copy for one backup at a time, and removes what a killed backup has left there. */
async function withCopy<T>(dataDir: string, work: (copy: string) => Promise<T>): Promise<T> {
  const { folder } = copyFolder(dataDir);
  const locked = dirname(folder);
  const unlock = await lockDataDir(locked).catch((error) => {
    if (!(error instanceof DataDirLockedError)) throw error;
    throw new BackupError('Another backup of this folder is under way: let that one end first');
  });
  try {
    return await withTemporary(folder, () => {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { mode: 0o700 });
      return work(folder);
    });
  } finally {
    await unlock();
    // Fails if the user has put a file there, which stays.
    await rmdir(locked).catch(() => undefined);
  }
}

/** Removes a file or folder when the work ends, or with the process. */
export async function withTemporary<T>(path: string, work: () => Promise<T>): Promise<T> {
  const remove = () => {
    // From Node 24 on, rmSync fails for a name that is too long, and would hide the error of the work.
    if (existsSync(path)) rmSync(path, { recursive: true, force: true });
  };
  process.once('exit', remove);
  try {
    return await work();
  } finally {
    process.off('exit', remove);
    remove();
  }
}

async function withDatabase<T>(
  connect: () => Promise<Database>,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await connect();
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
