import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newSealingKey } from '../../../server/src/kernel/sealing.ts';
import { readDataKeys } from '../../../server/src/programs/ops/data-key.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'psa-data-key-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

const configured = newSealingKey();

test('The first start on a folder makes a key that its owner alone reads, and later ones read it', () => {
  const dataDir = folder();
  const where = { dataDir, databaseUrl: undefined };
  const made = readDataKeys({ ...where, dataKeys: [] });
  expect(made).toHaveLength(1);
  expect(readdirSync(dataDir)).toEqual(['data.key']);
  if (process.platform !== 'win32') expect(statSync(join(dataDir, 'data.key')).mode & 0o777).toBe(0o600);
  expect(readDataKeys({ ...where, dataKeys: [] })).toEqual(made);
  // A key of the configuration encrypts, and what the folder's own key has encrypted can still be read.
  expect(readDataKeys({ ...where, dataKeys: [configured] })).toEqual([configured, ...made]);
});

test('With a key of the configuration no other is made, and PostgreSQL has no key of its own', () => {
  const dataDir = folder();
  expect(readDataKeys({ dataDir, databaseUrl: undefined, dataKeys: [configured] })).toEqual([configured]);
  const databaseUrl = 'postgres://db.example/psa';
  expect(readDataKeys({ dataDir, databaseUrl, dataKeys: [] })).toEqual([]);
  expect(readDataKeys({ dataDir, databaseUrl, dataKeys: [configured] })).toEqual([configured]);
  expect(readDataKeys({ dataDir: 'memory', databaseUrl: undefined, dataKeys: [] })).toHaveLength(1);
  expect(readdirSync(dataDir)).toEqual([]);
});

test.each(['', 'no key', configured.toString('hex')])('A file with %j is refused, and stays', (text) => {
  const dataDir = folder();
  writeFileSync(join(dataDir, 'data.key'), text);
  expect(() => readDataKeys({ dataDir, databaseUrl: undefined, dataKeys: [] })).toThrow(
    'data.key must have keys',
  );
});

test('A file that cannot be read is refused in one line', () => {
  const dataDir = folder();
  mkdirSync(join(dataDir, 'data.key'));
  expect(() => readDataKeys({ dataDir, databaseUrl: undefined, dataKeys: [] })).toThrow(
    /^\S+data\.key cannot be read or written \(EISDIR\)$/,
  );
});
