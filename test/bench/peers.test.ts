import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('The peers have one lock file, which names each of them, and the address of no registry', () => {
  const cwd = import.meta.dirname;
  expect(globSync('peers/*/{package-lock.json,pnpm-lock.yaml}', { cwd })).toEqual([]);
  const lock = readFileSync(`${cwd}/peers/pnpm-lock.yaml`, 'utf8');
  const [, importers = ''] = lock.split(/^importers:$|^packages:$/m);
  const locked = [...importers.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name]) => `peers/${name}/package.json`);
  expect(globSync('peers/*/package.json', { cwd }).sort()).toEqual(locked.sort());
  expect(lock).not.toMatch(/https?:\/\//);
});
