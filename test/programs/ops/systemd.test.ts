// The unit for systemd, by systemd's own verifier: every setting is known, and the exposure is low.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { unpackedLibraryFolders } from '../../support/debian.mjs';

const NAME = 'psa@4000.service';
const UNIT = readFileSync(
  fileURLToPath(new URL('../../../server/systemd/psa@.service', import.meta.url)),
  'utf8',
);

/** The highest exposure that passes. A service without any protection has 100. */
const MOST_EXPOSURE = 15;

const folders = unpackedLibraryFolders();
/** The libraries of the unpacked program, for a machine without systemd. */
const searchPath = folders.length > 0 && { LD_LIBRARY_PATH: folders.join(delimiter) };

const folder = mkdtempSync(join(tmpdir(), 'psa-unit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function analyze(unit: string, ...args: string[]) {
  // The verifier looks for the program, which may be elsewhere on this machine.
  const runnable = unit.replace('/usr/bin/node', process.execPath);
  writeFileSync(join(folder, 'psa@.service'), runnable);
  const { status, stdout, stderr, error } = spawnSync('systemd-analyze', [...args, join(folder, NAME)], {
    encoding: 'utf8',
    env: { ...process.env, ...searchPath },
  });
  if (error) throw error;
  return { status, output: stdout + stderr };
}

test('systemd knows each setting of the unit', () => {
  const { status, output } = analyze(UNIT, 'verify');
  // The machine may print warnings about its other units.
  expect([status, output.split('\n').filter((line) => line.includes('psa@'))]).toEqual([0, []]);
  const misspelt = UNIT.replace('ProtectHome=', 'ProtectHomes=');
  expect(analyze(misspelt, 'verify').output).toContain("'ProtectHomes'");
});

test('systemd rates the exposure of the unit as low, and without CapabilityBoundingSet as too high', () => {
  const rate = (unit: string) => analyze(unit, 'security', '--offline=true', `--threshold=${MOST_EXPOSURE}`);
  expect(rate(UNIT)).toMatchObject({ status: 0, output: expect.stringContaining('Overall exposure level') });
  expect(rate(UNIT.replace('CapabilityBoundingSet=\n', '')).status).not.toBe(0);
});
