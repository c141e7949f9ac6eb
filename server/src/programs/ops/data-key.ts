import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { newSealingKey, readSealingKeys } from '../../kernel/sealing.ts';
import { type Config, ConfigError } from '../config/config.ts';

/** The name of the file beside PGlite's folder. A backup leaves it out. */
const FILE = 'data.key';

/**
 * Reads the keys that encrypt files, the newest first: those of the configuration, then those beside PGlite. A first start
 * without either makes one, readable by its owner alone. None if PostgreSQL holds the data and no key is configured: a key
 * on this machine would be unknown to the other instances.
 * @throws ConfigError if the file has no keys, or cannot be read or written
 */
export function readDataKeys({
  dataKeys,
  databaseUrl,
  dataDir,
}: Pick<Config, 'dataKeys' | 'databaseUrl' | 'dataDir'>): readonly Buffer[] {
  if (databaseUrl !== undefined) return dataKeys;
  if (dataDir === 'memory') return dataKeys.length > 0 ? dataKeys : [newSealingKey()];
  const path = join(dataDir, FILE);
  try {
    if (existsSync(path)) return [...dataKeys, ...readKeysOf(path)];
    return dataKeys.length > 0 ? dataKeys : [writeKey(path)];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new ConfigError(`${path} cannot be read or written (${code})`);
  }
}

function readKeysOf(path: string): Buffer[] {
  const keys = readSealingKeys(readFileSync(path, 'utf8').trim());
  if (!keys) throw new ConfigError(`${path} must have keys of 32 bytes in base64, separated by commas`);
  return keys;
}

/** Writes a new key, whole or not at all: without it the files are lost. */
function writeKey(path: string): Buffer {
  const key = newSealingKey();
  const unfinished = `${path}.unfinished`;
  const file = openSync(unfinished, 'w', 0o600);
  try {
    writeSync(file, `${key.toString('base64')}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
  return key;
}
