import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { pathsIn } from './data-folder.ts';

/**
 * PGlite's files in `folder`, made durable: PGlite itself never calls fsync, and 4 of 4 simulated power cuts
 * left a folder that could not be opened. `onFlush` is called after every flush. If the disk refuses a flush,
 * `onFailure` is called instead: writes since the last flush may be lost, so the database must stop.
 */
export function createFlushedFiles(
  folder: string,
  onFlush: () => void,
  onFailure: (error: unknown) => void,
): NodeFS {
  const files = new NodeFS(folder);
  const init = files.init.bind(files);
  files.init = async (pg, options) => {
    const { emscriptenOpts } = await init(pg, options);
    const addFsync = ({ NODEFS }: { NODEFS: object }) => {
      Object.assign((NODEFS as { stream_ops: object }).stream_ops, { fsync });
    };
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), addFsync] } };
  };

  function fsync({ nfd, node }: { nfd: number; node: { mode: number } }): number {
    try {
      // A folder's new names are metadata, which fdatasync may leave out.
      if ((node.mode & S_IFMT) === S_IFDIR) fsyncSync(nfd);
      else fdatasyncSync(nfd);
    } catch (error) {
      onFailure(error);
      return EIO;
    }
    onFlush();
    return 0;
  }

  return files;
}

const S_IFMT = 0o170000;
const S_IFDIR = 0o040000;
/** The number of EIO in Emscripten. */
const EIO = 29;

/**
 * Prepares PostgreSQL's folder below the data folder. A start that was interrupted while it filled a new
 * folder has left a mark: then the folder is emptied and filled again, since no client has seen a row of it.
 * `markFilled` removes the mark.
 */
export function prepareFolder(dataDir: string): { folder: string; isNew: boolean; markFilled: () => void } {
  const { pgdata: folder, mark } = pathsIn(dataDir);
  const markFilled = () => {
    flushTree(folder);
    rmSync(mark);
    flush(dataDir);
  };
  if (existsSync(join(folder, 'PG_VERSION')) && !existsSync(mark))
    return { folder, isNew: false, markFilled };
  if (existsSync(folder) && !existsSync(mark)) {
    throw new Error(`${folder} is not a database. Move it away, or choose another folder`);
  }
  mkdirSync(dataDir, { recursive: true });
  closeSync(openSync(mark, 'w'));
  flush(dataDir);
  flush(dirname(dataDir));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  return { folder, isNew: true, markFilled };
}

function flushTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) flushTree(path);
    else if (entry.isFile()) flush(path);
  }
  flush(folder);
}

function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
