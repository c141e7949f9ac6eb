import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './progress.mjs';

/** The names of files and folders that an install or a build creates among the sources. */
const GENERATED = ['node_modules', 'dist', 'custom-elements.json'];

// In node_modules, so that everything is installed and built again once that is removed.
const folder = join(root, 'node_modules', '.psa');

/**
 * The files under `top`, a file or a folder relative to the repository, sorted and with slashes. Generated and hidden ones
 * are left out.
 *
 * @param {string} top
 * @returns {string[]}
 */
export function filesUnder(top) {
  const entries = readdir(top);
  if (!entries) return [top];
  return entries
    .filter((entry) => !GENERATED.includes(entry.name) && !entry.name.startsWith('.'))
    .flatMap((entry) => (entry.isDirectory() ? filesUnder(`${top}/${entry.name}`) : [`${top}/${entry.name}`]))
    .sort();
}

/** @param {string} top */
function readdir(top) {
  try {
    return readdirSync(join(root, top), { withFileTypes: true });
  } catch {
    return undefined;
  }
}

/**
 * A hash of the names and contents of files, and of `more`. A missing file counts as an empty one.
 *
 * @param {string[]} files relative to the repository
 * @param {string[]} [more]
 */
export function fingerprint(files, more = []) {
  const hash = createHash('sha256');
  for (const text of more) hash.update(`${text}\0`);
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readOrEmpty(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

/** Reads a file; an empty string if there is none. @param {string} path */
export function readOrEmpty(path) {
  try {
    return readFileSync(path);
  } catch {
    return '';
  }
}

/** Reads the stamp of a name; an empty string if there is none. @param {string} name */
export function readStamp(name) {
  return readOrEmpty(join(folder, name)).toString();
}

/** @param {string} name @param {string} text */
export function writeStamp(name, text) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** Deletes a stamp before its step begins, so that a step that is interrupted runs again. @param {string} name */
export function clearStamp(name) {
  rmSync(join(folder, name), { force: true });
}
