import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** The rows of the document's table, each with the name of a test file and a test's title. */
const named = [
  ...read('../../widget/docs/what-it-withstands.md').matchAll(/^\|.*\| `([\w.-]+)`: (.+?) +\|$/gm),
];
const folders = ['./', '../e2e/'].map((folder) => new URL(folder, import.meta.url));
const files = folders.flatMap((folder) => readdirSync(folder).map((name) => new URL(name, folder)));

it('the document of withstood conditions names existing tests', () => {
  expect(named.length).toBeGreaterThan(30);
  const missing = named.filter(([, file, name = '']) => {
    const path = files.find(({ pathname }) => pathname.endsWith(`/${file}.ts`));
    return !path || !readFileSync(path, 'utf8').includes(`'${name}'`);
  });
  expect(missing.map(([row]) => row)).toEqual([]);
});
