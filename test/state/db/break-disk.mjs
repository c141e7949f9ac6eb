// Loaded before everything else into a child and its worker: once the file BREAK_DISK exists, the disk refuses the
// operation BROKEN for the WAL.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { BREAK_DISK = '', BROKEN = '' } = process.env;
/** @type {Set<number>} */
const walFiles = new Set();

const open = fs.openSync;
fs.openSync = (path, ...rest) => {
  const file = open(path, ...rest);
  if (String(path).includes('pg_wal')) walFiles.add(file);
  else walFiles.delete(file);
  return file;
};

const operation = /** @type {(file: number, ...rest: unknown[]) => unknown} */ (Reflect.get(fs, BROKEN));
Reflect.set(fs, BROKEN, (/** @type {number} */ file, /** @type {unknown[]} */ ...rest) => {
  if (walFiles.has(file) && fs.existsSync(BREAK_DISK)) {
    throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  }
  return operation(file, ...rest);
});
syncBuiltinESMExports();
