import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../server/scripts/cluster.mjs', import.meta.url));

function cluster(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('the cluster says how it is used', () => {
  const { status, stdout } = cluster('--help');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Usage: npm run cluster -- 3 /);
});

test.each([['none'], ['0'], ['10'], ['3', '4'], ['3', '--upstram', 'https://api.example']])(
  'the cluster starts nothing where it is asked for %j',
  (...args) => {
    const { status, stdout, stderr } = cluster(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^✗ Say how many instances, from 1 to 9/);
  },
);
