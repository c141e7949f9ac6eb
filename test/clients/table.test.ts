import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PROJECTS } from './generators/projects.ts';
import { FEATURES, HTTP_CLIENTS } from './http/clients.ts';
import { cellsOf, TABLES } from './table.mjs';

// Each cell of server/docs/clients.md has a test; the gate `generated files` compares the page with the table.

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const found: Record<string, { version: string; failed?: string }> = JSON.parse(read('clients/found.json'));

test.each(TABLES)('each cell of the table “$title” leads to a file that has its test', (table) => {
  const cells = table.clients.flatMap((client) => cellsOf(table, client).filter((cell) => cell !== null));
  expect(cells.length).toBeGreaterThan(1);
  expect(cells.filter(({ file, title }) => !read(file).includes(title))).toEqual([]);
});

test('the clients of live status are those that the tests follow with', () => {
  const followed = read('live/clients.ts');
  const { clients } = TABLES.find(({ title }) => title === 'Live status')!;
  for (const { name } of clients.filter(({ name }) => name !== 'EventSource'))
    expect(followed).toMatch(new RegExp(`^  '?${name}'?: \\(following\\)`, 'm'));
});

test('the code generators are those that have a project', () => {
  const { clients } = TABLES.find(({ title }) => title === 'Code generators')!;
  expect(clients.map(({ name }) => name)).toEqual(Object.keys(PROJECTS));
});

test('the HTTP clients are those of npm run conformance, and none of their calls has failed', () => {
  const { clients, features } = TABLES.find(({ title }) => title === 'HTTP')!;
  expect(Object.keys(features)).toEqual(FEATURES);
  const names = clients.map(({ name }) => name);
  expect(names).toEqual([...HTTP_CLIENTS.map(({ name }) => name), 'Apache HttpClient']);
  expect(names.map((name) => found[name]?.failed)).toEqual(names.map(() => ''));
});

const installedIn = (folder: string): Record<string, string> =>
  JSON.parse(read(`bench/peers/${folder}/package.json`)).dependencies;

test('a version is known of each client that is a program or a package', () => {
  const packages: Record<string, string> = JSON.parse(read('package.json')).devDependencies;
  const unknown = TABLES.flatMap(({ clients }) => clients).filter(
    ({ name, npm, installed, found: isFound }) =>
      (npm && !(installed ? installedIn(installed) : packages)[npm]) || (isFound && !found[name]?.version),
  );
  expect(unknown).toEqual([]);
});
