import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUNDLERS } from '../frameworks/bundlers.ts';
import { SERVERS } from '../frameworks/servers.ts';
import { addResults } from './collect.mjs';
import { readFound } from './found.mjs';
import { PROJECTS } from './generators/projects.ts';
import { FEATURES, HTTP_CLIENTS } from './http/clients.ts';
import { cellsOf, TABLES } from './table.mjs';

// Each cell of server/docs/clients.md has a test; the gate `generated files` compares the page with the table.

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const found = readFound();

test.each(TABLES)('each cell of the table “$title” shows a result', (table) => {
  const features = Object.keys(table.features);
  const unknown = table.clients.flatMap((client) =>
    cellsOf(table, client).flatMap((cell, index) =>
      cell && !found[client.name]?.results[features[index]!] ? [`${client.name}: ${features[index]}`] : [],
    ),
  );
  expect(unknown).toEqual([]);
});

test('a report changes the cells whose tests it has, and no other', () => {
  const tests = {
    'clients/generators.test.ts': {
      'The code that GenQL generates from the schema compiles with strict and exactOptionalPropertyTypes': false,
      'The code that gql.tada generates from the schema compiles with strict and exactOptionalPropertyTypes': true,
    },
    'engines/buying.test.ts': {
      'a purchase in Firefox by card that ends declined can be tried again': false,
      'a purchase in WebKit by card that ends declined can be tried again': true,
    },
    'live/resume.test.ts': {
      'graphql-ws misses nothing and gets nothing twice, over cuts, outages and the end of its token': true,
      'graphql-ws 5 misses nothing and gets nothing twice, over cuts, outages and the end of its token': false,
    },
    'live/server.test.ts': { 'refuses a forged body': true, 'refuses an old one': false },
  };
  const before = {
    GenQL: { results: { 'strict types': 'passed' } },
    WebKit: { version: '2.50.5', results: {} },
  } as const;
  expect(addResults(before, { tests, versions: { WebKit: '2.50.6' } })).toEqual({
    GenQL: { results: { 'strict types': 'failed' } },
    'gql.tada': { results: { 'strict types': 'passed' } },
    Firefox: { results: { declined: 'failed' } },
    WebKit: { version: '2.50.6', results: { declined: 'passed' } },
    'graphql-ws': { results: { 'none missed, none doubled': 'passed' } },
    'graphql-ws 5': { results: { 'none missed, none doubled': 'failed' } },
    '@psa/checkout/server': { results: { refuses: 'failed' } },
  });
});

test.each(TABLES)('each cell of the table “$title” leads to a file that has its test', (table) => {
  const cells = table.clients.flatMap((client) => cellsOf(table, client).filter((cell) => cell !== null));
  expect(cells.length).toBeGreaterThan(1);
  expect(cells.filter(({ file, title }) => !read(file).includes(title))).toEqual([]);
});

test('the clients of live status are those that the tests follow with', () => {
  const followed = [...read('live/clients.ts').matchAll(/^ {2}(?:'(.+)'|(\w+)): \(following\)/gm)];
  const { clients } = TABLES.find(({ title }) => title === 'Live status')!;
  const names = clients.map(({ name }) => name).filter((name) => name !== 'EventSource');
  expect(names.sort()).toEqual(followed.map(([, quoted, plain]) => quoted ?? plain).sort());
  const [, inChromium] = /^const CLIENTS = \[(.+)\];$/m.exec(read('live/in-chromium.test.ts'))!;
  const drawn = clients.filter(({ lacks }) => !lacks?.includes('in Chromium')).map(({ name }) => `'${name}'`);
  expect(drawn.join(', ')).toBe(inChromium);
});

test('the code generators are those that have a project', () => {
  const { clients } = TABLES.find(({ title }) => title === 'Code generators')!;
  expect(clients.map(({ name }) => name)).toEqual(Object.keys(PROJECTS));
});

test('the bundlers and frameworks are those that have a project', () => {
  const { clients } = TABLES.find(({ title }) => title === 'Bundlers and frameworks')!;
  expect(clients.map(({ name }) => name)).toEqual(Object.keys({ ...BUNDLERS, ...SERVERS }));
});

test('the HTTP clients are those of npm run conformance', () => {
  const { clients, features } = TABLES.find(({ title }) => title === 'HTTP')!;
  expect(Object.keys(features)).toEqual(FEATURES);
  const names = clients.map(({ name }) => name);
  expect(names).toEqual([...HTTP_CLIENTS.map(({ name }) => name), 'Apache HttpClient']);
});

const installedIn = (folder: string): Record<string, string> =>
  JSON.parse(read(`bench/peers/${folder}/package.json`)).dependencies;

test('a version is known of each client that is a program or a package', () => {
  const packages: Record<string, string> = JSON.parse(read('package.json')).devDependencies;
  const unknown = TABLES.flatMap(({ clients }) => clients).filter(
    ({ name, npm, installed, hasSavedVersion }) =>
      (npm && !(installed ? installedIn(installed) : packages)[npm]) ||
      (hasSavedVersion && !found[name]?.version),
  );
  expect(unknown).toEqual([]);
});
