import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire, SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { threadId } from 'node:worker_threads';
import { crc32 } from 'node:zlib';

// Loads a bundle of the build with V8's code cache: compiling the server costs 0.1 s of CPU, reading what was compiled
// before a third of that. Node's own cache of modules needs Node 22.

/** Time for what a start compiles, which the cache then holds. */
const SAVE_AFTER_MS = 3_000;
/** The checksum of the cached code. */
const HEAD_BYTES = 4;

type Wrapper = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  file: string,
  folder: string,
  url: string,
) => void;

/**
 * The exports of a bundle, whose content has the name `id`. A code cache that is missing or damaged costs time and
 * nothing else: the bundle is compiled, and the cache is written after the start, or when the process ends before.
 */
export function load(file: string, id: string): object {
  const cache = file.replace(/js$/, `${id}-${engineId()}.cache`);
  const cachedData = readCache(cache);
  const source = readFileSync(file, 'latin1');
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) });
  if (!cachedData || script.cachedDataRejected) saveOnce(() => writeCache(cache, script));
  mapStacks(file);
  const module = { exports: {} };
  const run = script.runInThisContext() as Wrapper;
  run(module.exports, createFastRequire(file), module, file, dirname(file), pathToFileURL(file).href);
  return module.exports;
}

/**
 * A name of this program of Node and of its flags. V8's own tag is the same for Node 20.19 and 20.20, and the first dies
 * of a cache that the second has written; of two bundles V8 compares the lengths alone.
 */
function engineId(): string {
  const { size, mtimeMs } = statSync(process.execPath, { throwIfNoEntry: false }) ?? {};
  const parts = [process.version, process.arch, cachedDataVersionTag(), size, mtimeMs];
  return crc32(parts.join()).toString(16);
}

/** Node's `require` resolves a built-in module each time: there are 200 such calls in a start, which take 10 ms. */
function createFastRequire(file: string): NodeJS.Require {
  const require = createRequire(file);
  const fast = (id: string) => process.getBuiltinModule(id) ?? require(id);
  return Object.assign(fast, require);
}

function readCache(cache: string): Buffer | undefined {
  try {
    const bytes = readFileSync(cache);
    const data = bytes.subarray(HEAD_BYTES);
    // V8 does not look for damage in every version.
    if (bytes.readUInt32LE(0) === crc32(data)) return data;
  } catch {
    // It is missing, or shorter than its head.
  }
  return undefined;
}

/** Another process may read the file, or write it, at the same time. */
function writeCache(cache: string, script: Script): void {
  const data = script.createCachedData();
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(crc32(data));
  const unfinished = `${cache}.${process.pid}.${threadId}`;
  try {
    writeFileSync(unfinished, Buffer.concat([head, data]));
    renameSync(unfinished, cache);
  } catch {
    // The folder is read-only, or the disk is full: the next start compiles again.
    removeIfThere(unfinished);
  }
}

function removeIfThere(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // In a read-only folder it was never there.
  }
}

function saveOnce(save: () => void): void {
  let saved = false;
  const once = () => {
    if (saved) return;
    saved = true;
    save();
  };
  setTimeout(once, SAVE_AFTER_MS).unref();
  process.once('exit', once);
}

const bundles = new Map<string, SourceMap | null>();

/**
 * Stacks name the sources. Node's own support reads each source map when a program starts; this one reads it with the
 * first stack that is looked at.
 */
function mapStacks(file: string): void {
  const first = bundles.size === 0;
  bundles.set(file, null);
  if (!first) return;
  Error.prepareStackTrace = (error, frames) =>
    [headOf(error), ...frames.map((frame) => `    at ${mapped(frame)}`)].join('\n');
}

function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return '<error>';
  }
}

function mapped(frame: NodeJS.CallSite): string {
  const text = String(frame);
  const file = frame.getFileName();
  const line = frame.getLineNumber();
  const column = frame.getColumnNumber();
  if (!file || !line || !column || !bundles.has(file)) return text;
  const found = mapOf(file)?.findEntry(line - 1, column - 1);
  // The map holds our sources alone. A package's frame stays one of the bundle, which can be read.
  if (!found || !('originalSource' in found) || /(^|\/)unmapped$/.test(found.originalSource ?? 'unmapped'))
    return text;
  const source = resolve(dirname(file), found.originalSource);
  return text.replace(
    `${file}:${line}:${column}`,
    () => `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`,
  );
}

function mapOf(file: string): SourceMap | null {
  const known = bundles.get(file);
  if (known) return known;
  try {
    const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
    bundles.set(file, map);
    return map;
  } catch {
    // A stack without sources is better than none.
    return null;
  }
}
