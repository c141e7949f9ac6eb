import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** The rows of the document's table: the file of a test without its folder, and the test's name. */
const named = [
  ...read('../../widget/docs/what-it-withstands.md').matchAll(/^\|.*\| `([\w.-]+)`: (.+?) +\|$/gm),
];
const folders = ['./', '../e2e/'].map((folder) => new URL(folder, import.meta.url));
const files = folders.flatMap((folder) => readdirSync(folder).map((name) => new URL(name, folder)));

it('the list of what the element withstands names only tests that exist', () => {
  expect(named.length).toBeGreaterThan(30);
  const missing = named.filter(([, file, name = '']) => {
    const path = files.find(({ pathname }) => pathname.endsWith(`/${file}.ts`));
    return !path || !readFileSync(path, 'utf8').includes(`'${name}'`);
  });
  expect(missing.map(([row]) => row)).toEqual([]);
});
