import {
  createReadStream,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Config } from '../config.ts';
import {
  BackupError,
  type BackupHeader,
  checkBackup,
  type OnRows,
  type Rows,
  restoreDatabase,
  saveDatabase,
} from '../db/backup.ts';
import type { Database } from '../db/database.ts';
import { DataDirLockedError, lockDataDir } from '../db/lock.ts';
import type { Clock } from '../kernel/clock.ts';
import { COPY_FILES, callAdminSocket } from './admin-socket.ts';

// Backups: one file, which holds secrets, so it is its owner's alone. It has its name when it is whole and on the disk,
// and not before.

/** The summary of a saved or restored backup. */
export interface Saved {
  readonly file: string;
  readonly bytes: number;
  readonly takenAt: string;
  /** The newest migration. */
  readonly schema: string;
  /** The engine and the schema that the backup was taken from. */
  readonly engine: BackupHeader['engine'];
  readonly rows: Rows;
}

export type OpenDatabase = (where: Pick<Config, 'databaseUrl' | 'dataDir'>) => Promise<Database>;

/** How long a folder may be another's that does not answer: a server that starts, or another command. */
const PATIENCE_MS = 15_000;
const AGAIN_MS = 100;

/**
 * Saves the database that the configuration names, whether a server works on it or not. Of a folder that a server has,
 * that server copies the files, which stops it for as long as that takes; the backup is then made of the copy.
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
    return using(
      () => open(config),
      (database) => save(database, clock.now()),
    );
  if (config.dataDir === 'memory')
    throw new BackupError(
      'PSA_DATA_DIR is memory: what such a server has cannot be saved; give it a folder, or a PostgreSQL',
    );
  const folder = resolve(config.dataDir);
  if (!existsSync(join(folder, 'pgdata')))
    throw new BackupError(`There is no database in ${folder}: no server has run on it yet`);
  for (const until = clock.ms() + PATIENCE_MS; ; ) {
    const taken = clock.now();
    const saved = await withCopy(folder, async (copy) => {
      const answer = await callAdminSocket(folder, COPY_FILES, {});
      if (!answer) return null;
      if (!answer.ok) throw new BackupError(answer.message);
      return using(
        () => open({ databaseUrl: undefined, dataDir: copy }),
        (database) => save(database, taken),
      );
    });
    if (saved) return saved;
    try {
      return await using(
        () => open({ databaseUrl: undefined, dataDir: folder }),
        (database) => save(database, clock.now()),
      );
    } catch (error) {
      if (!(error instanceof DataDirLockedError)) throw error;
      if (clock.ms() > until)
        throw new BackupError(
          `${folder} is in use by a process that does not answer to this command. Stop it, or look at its log`,
        );
      await wait(AGAIN_MS);
    }
  }
}

/**
 * Fills the empty database that the configuration names with what a file holds. The file is read to its end before
 * anything is opened.
 * @throws BackupError
 */
export async function restore(
  config: Config,
  file: string,
  { open, onRows, onChecked }: { open: OpenDatabase; onRows: OnRows; onChecked: OnRows },
): Promise<Saved> {
  if (!config.databaseUrl && config.dataDir === 'memory')
    throw new BackupError('PSA_DATA_DIR is memory: give a folder, or a DATABASE_URL, to restore into');
  if (!existsSync(file)) throw new BackupError(`There is no file ${file}`);
  const header = await readingOf(file, (texts) => checkBackup(texts, onChecked));
  try {
    const rows = await using(
      () => open(config),
      (database) => readingOf(file, (texts) => restoreDatabase(database, { header, texts, onRows })),
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

/** A name made of the instant, in the folder that the command was called in. */
export function backupName(now: Date): string {
  return `psa-${now
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')}.backup.gz`;
}

// ── The file ────────────────────────────────────────────────────────────────────────────────────

/** Under another name until it is whole. What breaks off is taken away. */
async function writeBackup(
  database: Database,
  { file, takenAt, onRows }: { file: string; takenAt: Date; onRows: OnRows },
): Promise<Saved> {
  const unfinished = `${file}.unfinished-${process.pid}`;
  return whileThere(unfinished, async () => {
    const write = (texts: AsyncIterable<string>) =>
      pipeline(
        Readable.from(texts),
        createGzip(),
        // On the disk before it is closed.
        createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }),
      );
    const saved = await saveDatabase(database, { takenAt, onRows, write });
    assertIsFree(file);
    renameSync(unfinished, file);
    await flushFolder(dirname(file));
    return summaryOf(file, saved.header, saved.rows);
  });
}

function assertIsFree(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false }))
    throw new BackupError(`${file} is there already: name another, or move it away`);
  if (!existsSync(dirname(file))) throw new BackupError(`There is no folder ${dirname(file)}`);
}

/** So that the name outlives a power cut too. Windows has no way to ask for it. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** @throws BackupError where the file is no whole gzip */
async function readingOf<T>(file: string, read: (texts: AsyncIterable<string>) => Promise<T>): Promise<T> {
  const source = createReadStream(file);
  const texts = source.pipe(createGunzip()).setEncoding('utf8');
  source.on('error', (error) => texts.destroy(error));
  try {
    return await read(texts);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_') || code === 'ERR_TRAILING_JUNK_AFTER_STREAM_END')
      throw new BackupError(`The backup is damaged or cut off (${code}): nothing was restored`);
    throw error;
  } finally {
    source.destroy();
    texts.destroy();
  }
}

function summaryOf(file: string, { takenAt, engine, migrations }: BackupHeader, rows: Rows): Saved {
  return { file, bytes: statSync(file).size, takenAt, engine, schema: migrations.at(-1)!, rows };
}

// ── A folder that a server has ──────────────────────────────────────────────────────────────────

/** A name that nobody gives to a folder of backups: what is in it is taken away. */
const PLACE = '.psa-backup';

/** Where in the data folder the server puts a copy of its files, to be opened as a folder of its own. */
export function copyFolder(dataDir: string): { folder: string; files: string } {
  const folder = join(realpathSync(dataDir), PLACE, 'copy');
  return { folder, files: join(folder, 'pgdata') };
}

/** One backup at a time has that place. What one that was killed has left there is taken away. */
async function withCopy<T>(dataDir: string, work: (copy: string) => Promise<T>): Promise<T> {
  const { folder } = copyFolder(dataDir);
  const place = dirname(folder);
  const unlock = await lockDataDir(place).catch((error) => {
    if (!(error instanceof DataDirLockedError)) throw error;
    throw new BackupError('Another backup of this folder is under way: let that one end first');
  });
  try {
    return await whileThere(folder, () => {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { mode: 0o700 });
      return work(folder);
    });
  } finally {
    await unlock();
    // Unless somebody has put something there.
    await rmdir(place).catch(() => undefined);
  }
}

/** Ends with the work, and with the process. */
async function whileThere<T>(path: string, work: () => Promise<T>): Promise<T> {
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    return await work();
  } finally {
    process.off('exit', remove);
    remove();
  }
}

async function using<T>(
  opened: () => Promise<Database>,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await opened();
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
