import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire, SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { threadId } from 'node:worker_threads';
import { crc32 } from 'node:zlib';

// Loads a bundle of the build with V8's code cache: compiling the server costs 0.1 s of CPU, and reading its compiled
// code a third of that. Node's own compile cache needs Node 22.

/** The delay before the cache is written, so that it holds the functions that a start compiles. */
const SAVE_AFTER_MS = 3_000;
/** The size of the checksum in front of the cached code. */
const CHECKSUM_BYTES = 4;

type Wrapper = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  file: string,
  folder: string,
  url: string,
) => void;

/**
 * Loads a bundle and returns its exports; `id` identifies its content. A code cache that is missing or damaged costs only
 * time: the bundle is compiled, and the cache is written after the start, or at the end of a process that ends earlier.
 */
export function load(file: string, id: string): object {
  const cache = file.replace(/js$/, `${id}-${engineId()}.cache`);
  const cachedData = readCache(cache);
  const source = readFileSync(file, 'latin1');
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) });
  if (!cachedData || script.cachedDataRejected) saveOnce(() => writeCache(cache, script));
  mapStackTraces(file);
  const module = { exports: {} };
  const run = script.runInThisContext() as Wrapper;
  run(module.exports, createFastRequire(file), module, file, dirname(file), pathToFileURL(file).href);
  return module.exports;
}

/**
 * Identifies this build of Node and its flags. V8's own tag can be the same for two minor versions of Node, and one crashes
 * with a cache that the other has written, as 20.19 did; of a bundle, V8 checks only the length.
 */
function engineId(): string {
  const { size, mtimeMs } = statSync(process.execPath, { throwIfNoEntry: false }) ?? {};
  const parts = [process.version, process.arch, cachedDataVersionTag(), size, mtimeMs];
  return crc32(parts.join()).toString(16);
}

/** Skips Node's resolution for built-in modules: a start requires them 200 times, which would take 10 ms. */
function createFastRequire(file: string): NodeJS.Require {
  const require = createRequire(file);
  const fast = (id: string) => process.getBuiltinModule(id) ?? require(id);
  return Object.assign(fast, require);
}

function readCache(cache: string): Buffer | undefined {
  try {
    const bytes = readFileSync(cache);
    const data = bytes.subarray(CHECKSUM_BYTES);
    // Not every version of V8 detects a damaged cache.
    if (bytes.readUInt32LE(0) === crc32(data)) return data;
  } catch {
    // The file is missing, or shorter than the checksum.
  }
  return undefined;
}

/** Writes the cache atomically: another process may read or write the file at the same time. */
function writeCache(cache: string, script: Script): void {
  // V8 uses a cache only under the flags with which it was made: those of the next start, before `main` changes one.
  setFlagsFromString('--allocation-site-pretenuring');
  const data = script.createCachedData();
  setFlagsFromString('--no-allocation-site-pretenuring');
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(data));
  const unfinished = `${cache}.${process.pid}.${threadId}`;
  try {
    writeFileSync(unfinished, Buffer.concat([checksum, data]));
    renameSync(unfinished, cache);
  } catch {
    // The folder is read-only, or the disk is full: the next start compiles again.
    removeIfPresent(unfinished);
  }
}

function removeIfPresent(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // In a read-only folder the file was never written.
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

/** The source map of each loaded bundle; null until it is read. */
const sourceMaps = new Map<string, SourceMap | null>();

/**
 * Makes stacks name the sources. Node's own support reads each source map when a program starts; this one reads it for the
 * first stack that is read.
 */
function mapStackTraces(file: string): void {
  const isFirst = sourceMaps.size === 0;
  sourceMaps.set(file, null);
  if (!isFirst) return;
  Error.prepareStackTrace = (error, frames) =>
    [messageOf(error), ...frames.map((frame) => `    at ${describeFrame(frame)}`)].join('\n');
}

function messageOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return '<error>';
  }
}

function describeFrame(frame: NodeJS.CallSite): string {
  const text = String(frame);
  const file = frame.getFileName();
  const line = frame.getLineNumber();
  const column = frame.getColumnNumber();
  if (!file || !line || !column || !sourceMaps.has(file)) return text;
  const found = sourceMapOf(file)?.findEntry(line - 1, column - 1);
  // The map holds only our sources. A package's frame keeps its place in the bundle, which is readable.
  if (!found || !('originalSource' in found) || /(^|\/)unmapped$/.test(found.originalSource ?? 'unmapped'))
    return text;
  const source = resolve(dirname(file), found.originalSource);
  return text.replace(
    `${file}:${line}:${column}`,
    () => `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`,
  );
}

function sourceMapOf(file: string): SourceMap | null {
  const known = sourceMaps.get(file);
  if (known) return known;
  try {
    const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
    sourceMaps.set(file, map);
    return map;
  } catch {
    // A stack without source locations is better than none.
    return null;
  }
}
