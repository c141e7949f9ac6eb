import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './progress.mjs';

/** What an install or a build leaves among the sources. */
const MADE = ['node_modules', 'dist', 'custom-elements.json'];

// Deleting node_modules forgets what was done, as it should.
const folder = join(root, 'node_modules', '.psa');

/**
 * Every file under `top` (a file or a folder, relative to the repository), sorted, in `/` notation.
 * What is generated or installed there does not count.
 *
 * @param {string} top
 * @returns {string[]}
 */
export function filesUnder(top) {
  const entries = readdir(top);
  if (!entries) return [top];
  return entries
    .filter((entry) => !MADE.includes(entry.name) && !entry.name.startsWith('.'))
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
 * A hash of the files' names and contents, and of `more`. A file that is missing counts as such.
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

/** @param {string} path */
function readOrEmpty(path) {
  try {
    return readFileSync(path);
  } catch {
    return '';
  }
}

/** What was last recorded under `name`, or an empty string. @param {string} name */
export function readStamp(name) {
  return readOrEmpty(join(folder, name)).toString();
}

/** @param {string} name @param {string} text */
export function writeStamp(name, text) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** Before a step begins, so that one that is interrupted is done again. @param {string} name */
export function clearStamp(name) {
  rmSync(join(folder, name), { force: true });
}
