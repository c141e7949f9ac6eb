import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const size = fileURLToPath(new URL('../../widget/scripts/size.mjs', import.meta.url));

test('the built bundles are within their size gates', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [size, 'pages']);
  expect(stdout).toMatch(
    /^psa-checkout: initial \d+ of 15500, with every method and transport \d+ of 24000/m,
  );
  expect(stdout).toMatch(/^psa-payouts: initial \d+ of 18500/m);
});
