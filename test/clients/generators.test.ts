import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isScalarType, isSpecifiedScalarType } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schema } from '../../server/src/programs/modes/schema.ts';
import { ensurePeer } from '../bench/peers/install.ts';
import { PROJECTS, SCALARS } from './generators/projects.ts';

// The schema in other projects' code generators, each in a project of its own with the strictest types.

const execute = promisify(execFile);
const modules = fileURLToPath(new URL('../bench/peers/generators/node_modules/', import.meta.url));
const sdl = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'psa-generators-'));

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom', 'dom.iterable'],
    allowImportingTsExtensions: true,
    noEmit: true,
    resolveJsonModule: true,
    verbatimModuleSyntax: true,
    // The declarations of the libraries are not checked.
    skipLibCheck: true,
    types: [],
  },
};

beforeAll(async () => {
  expect(await ensurePeer('generators')).not.toBeNull();
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a project, generates its code, and returns its folder. */
async function generate(name: string): Promise<string> {
  const { run, files } = PROJECTS[name]!;
  const project = join(folder, name.replaceAll(/\W/g, '-'));
  mkdirSync(project);
  symlinkSync(modules, join(project, 'node_modules'));
  const written = {
    'schema.graphql': sdl,
    'package.json': '{"type":"module"}',
    'tsconfig.base.json': JSON.stringify(TSCONFIG),
    'tsconfig.json': '{"extends":"./tsconfig.base.json"}',
    ...files,
  };
  for (const [file, content] of Object.entries(written)) writeFileSync(join(project, file), content);
  if ('introspect.mjs' in files) await execute(process.execPath, ['introspect.mjs'], { cwd: project });
  for (const [program, ...args] of run)
    await execute(process.execPath, [join(modules, program), ...args], { cwd: project });
  return project;
}

/** Compiles a project; rejects with the errors. */
async function compile(project: string, ...args: string[]): Promise<string> {
  const tsc = join(modules, 'typescript/bin/tsc');
  try {
    await execute(process.execPath, [tsc, '-p', 'tsconfig.json', ...args], { cwd: project });
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

test('Each scalar of the schema is mapped to a type', () => {
  const scalars = Object.values(schema.getTypeMap()).filter(
    (type) => isScalarType(type) && !isSpecifiedScalarType(type),
  );
  expect(Object.keys(SCALARS).sort()).toEqual(scalars.map(({ name }) => name).sort());
});

test.each(Object.keys(PROJECTS))(
  'The code that %s generates from the schema compiles with strict and exactOptionalPropertyTypes',
  async (name) => {
    expect(await compile(await generate(name))).toBe('');
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
