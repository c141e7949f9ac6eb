import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const size = fileURLToPath(new URL('../../widget/scripts/size.mjs', import.meta.url));

test('the built bundles are within their size gates', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [size, 'pages']);
  expect(stdout).toMatch(
    /^psa-checkout: initial \d+ of 15500, with every method and transport \d+ of 24900/m,
  );
  expect(stdout).toMatch(/^psa-payouts: initial \d+ of 23300/m);
  expect(stdout).toMatch(/^psa-board: initial \d+ of 32400, with every method and transport \d+ of 37400/m);
});

test('the document of sizes names those of the built element', () => {
  const root = fileURLToPath(new URL('../../widget/', import.meta.url));
  const kilobytesOf = (names: string[]) =>
    names.reduce((sum, name) => sum + gzipSync(readFileSync(`${root}dist/standalone/${name}`)).length, 0) /
    1_000;
  const files = readdirSync(`${root}dist/standalone`).filter((name) => /^psa-checkout\..*\.?js$/.test(name));
  const row = /\| psa-checkout, script tag +\| +([\d.]+) \| +([\d.]+) \|/.exec(
    readFileSync(`${root}docs/sizes.md`, 'utf8'),
  )!;
  // A tenth of a kilobyte may be rounding; more is a change that nobody has noticed.
  expect(Math.abs(Number(row[1]) - kilobytesOf(['psa-checkout.js']))).toBeLessThan(0.2);
  expect(Math.abs(Number(row[2]) - kilobytesOf(files))).toBeLessThan(0.2);
});
