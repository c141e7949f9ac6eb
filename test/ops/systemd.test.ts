// The unit for systemd, by its own verifier: it knows each setting, and finds little that the server could do besides its work.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { unpackedLibraries } from '../support/debian.mjs';

const NAME = 'psa@4000.service';
const UNIT = readFileSync(
  fileURLToPath(new URL('../../server/systemd/psa@.service', import.meta.url)),
  'utf8',
);

/** The most exposure: 100 is a service without any protection. */
const MOST_EXPOSURE = 15;

const folder = mkdtempSync(join(tmpdir(), 'psa-unit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function analyze(unit: string, ...args: string[]) {
  // The verifier looks for the program, which may stand elsewhere on this machine.
  const runnable = unit.replace('/usr/bin/node', process.execPath);
  writeFileSync(join(folder, 'psa@.service'), runnable);
  const { status, stdout, stderr, error } = spawnSync('systemd-analyze', [...args, join(folder, NAME)], {
    encoding: 'utf8',
    env: { ...process.env, LD_LIBRARY_PATH: unpackedLibraries().join(delimiter) },
  });
  if (error) throw error;
  return { status, output: stdout + stderr };
}

test('systemd knows each setting of the unit', () => {
  expect(analyze(UNIT, 'verify')).toEqual({ status: 0, output: '' });
  const misspelt = UNIT.replace('ProtectHome=', 'ProtectHomes=');
  expect(analyze(misspelt, 'verify').output).toContain("'ProtectHomes'");
});

test('systemd calls the unit well protected, and less so without its settings', () => {
  const rate = (unit: string) => analyze(unit, 'security', '--offline=true', `--threshold=${MOST_EXPOSURE}`);
  expect(rate(UNIT)).toMatchObject({ status: 0, output: expect.stringContaining('Overall exposure level') });
  expect(rate(UNIT.replace('CapabilityBoundingSet=\n', '')).status).not.toBe(0);
});
