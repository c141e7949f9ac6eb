import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isScalarType, isSpecifiedScalarType } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schema } from '../../server/src/programs/modes/schema.ts';
import { ensurePeer } from '../bench/peers/install.ts';
import { PROJECTS, SCALARS } from './generators/projects.ts';
import { createWorkshop, execute, STRICTEST } from './generators/workshop.ts';

// The schema in other projects' code generators, each in a project of its own with the strictest types.

const sdl = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');
const { folder, compile, generate, remove } = createWorkshop('generators', {
  input: { 'schema.graphql': sdl },
  compilerOptions: STRICTEST,
});

beforeAll(async () => {
  expect(await ensurePeer('generators')).not.toBeNull();
}, 300_000);
afterAll(remove);

test('Each scalar of the schema is mapped to a type', () => {
  const scalars = Object.values(schema.getTypeMap()).filter(
    (type) => isScalarType(type) && !isSpecifiedScalarType(type),
  );
  expect(Object.keys(SCALARS).sort()).toEqual(scalars.map(({ name }) => name).sort());
});

test.each(Object.keys(PROJECTS))(
  'The code that %s generates from the schema compiles with strict and exactOptionalPropertyTypes',
  async (name) => {
    expect(await compile(await generate(name, PROJECTS[name]!))).toBe('');
  },
  120_000,
);

test('Graphcache knows from the schema what may be null, and shows the rest at once', async () => {
  const project = join(folder, 'urql-Graphcache');
  expect(
    await compile(project, '--noEmit', 'false', '--outDir', 'out', '--allowImportingTsExtensions', 'false'),
  ).toBe('');
  const { stdout, stderr } = await execute(process.execPath, ['run.mjs'], { cwd: project });
  expect(stderr).not.toContain('Invalid key');
  const payment = { id: expect.any(String), status: 'PENDING' };
  expect(JSON.parse(stdout)).toEqual({
    results: [
      { nodes: [{ ...payment, description: null }], stale: true },
      { nodes: [{ ...payment, description: 'Caneca' }], stale: false },
    ],
    asked: 2,
  });
}, 120_000);
