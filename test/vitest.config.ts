import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ONE_GRAPHQL } from './support/one-graphql.ts';
import { runsAll } from './support/scale.ts';
import { findTestFiles, type Project, projectOfFile } from './support/test-files.mjs';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const files = findTestFiles();
/** The files that the runner has chosen; without a choice, all of them. */
const chosen = process.env.PSA_TEST_FILES?.split(',') ?? files.map(({ path }) => path);
const filesOf = (project: Project) =>
  files
    .filter(({ path, ...file }) => file.project === project && chosen.includes(path))
    .map(({ path }) => path);

/**
 * Files that take longest. A file that begins last is waited for alone. Without a record of the last run Vitest
 * begins with the largest files, which these are not.
 */
const LONGEST = [
  'sim/seeds',
  'engines/buying',
  'programs/verify/verify',
  'browser/hosted-page',
  'attacks/tenants',
  'webhooks/endpoint-laws',
  'faults/resend',
  'live/dose',
  'state/db/lists',
  'bench/bench',
  'faults/kill',
  'faults/cut',
  'faults/boundaries',
  'faults/facade',
  'faults/outage',
  'programs/cli/main',
  'security/bad-input',
  'attacks/tokens',
  'attacks/compiled',
  'money-out/payouts/remote',
  'money-out/subaccounts/remote',
  'state/db/postgres',
  'money-in/card-payments/remote',
  'catalogue/products/remote',
];
const strange = LONGEST.find((name) => !files.some(({ path }) => path === `${name}.test.ts`));
if (strange) throw new Error(`LONGEST names ${strange}, which is no test file.`);

/** The order of the projects: a worker is kept while the next file is of the same project. */
const KINDS = ['facade', 'programs', 'server', 'unit'];

class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const kindOf = ({ moduleId, project }: TestSpecification) =>
      project.name === 'facade' ? project.name : projectOfFile(relative(here('.'), moduleId));
    const place = (specification: TestSpecification) => {
      const at = LONGEST.findIndex((name) => specification.moduleId.endsWith(`/${name}.test.ts`));
      return KINDS.indexOf(kindOf(specification)) * LONGEST.length * 2 + (at < 0 ? LONGEST.length : at);
    };
    const sorted = (await super.sort(specifications)).sort((left, right) => place(left) - place(right));
    const isBrowsers = (specification: TestSpecification) =>
      ['journey', 'page'].includes(kindOf(specification));
    return spread(
      sorted.filter((specification) => !isBrowsers(specification)),
      sorted.filter(isBrowsers),
      (specification) => kindOf(specification) === 'server',
    );
  }
}

/**
 * Puts `some` between those of `items` that are `busy`, one after each few. They mostly wait for a browser, so the
 * processors would be idle if they all ran at once.
 */
function spread<Item>(items: Item[], some: Item[], busy: (item: Item) => boolean): Item[] {
  const first = items.findIndex(busy);
  if (first < 0) return [...some, ...items];
  // All but the last third are spread, so that none of them is the last one.
  const each = Math.max(1, Math.floor((items.filter(busy).length * 2) / 3 / Math.max(1, some.length)));
  const mixed = items.slice(0, first);
  const waiting = [...some];
  for (const [index, item] of items.slice(first).entries()) {
    if (index % each === 0) mixed.push(...waiting.splice(0, 1));
    mixed.push(item);
  }
  return [...mixed, ...waiting];
}

const WATCHES = process.argv.includes('watch');

/** Tests in Node processes that a file shares with those before it: loading the server takes longer than most tests. */
function inNode(name: string, include: string[], options: Options = {}): TestProjectInlineConfiguration[] {
  if (include.length === 0) return [];
  return [
    {
      extends: true,
      resolve: ONE_GRAPHQL,
      test: {
        name,
        include,
        pool: 'forks',
        isolate: false,
        // Node strips the types itself, in 1 s of CPU time for all files; Vite's transforms take many times as long
        // where they are not cached. Vite replaces modules for a test, and loads a changed one again.
        experimental: { viteModuleRunner: name === 'replacing' || WATCHES, nodeLoader: false },
        setupFiles: [here('support/cpu.ts'), here('support/fixed-seed.ts')],
        // V8's better compiler costs more, while PGlite runs, than such a short process saves, and threads for
        // garbage collection take a core from other tests. A young generation of 32 MB is collected so much less
        // often that a worker takes 9 % less CPU time.
        execArgv: [
          '--liftoff-only',
          '--single-threaded-gc',
          '--min-semi-space-size=32',
          '--max-semi-space-size=64',
        ],
        // The timeout ends a test that hangs: the largest tests take minutes, and a busy machine takes several times
        // as long as a quiet one.
        testTimeout: 600_000,
        hookTimeout: 600_000,
        ...options,
      },
    },
  ];
}

type Options = TestProjectInlineConfiguration['test'] & object;

const onPostgres = (backend: 'service' | 'facade'): Options => ({
  globalSetup: [here('support/postgres.ts')],
  provide: { backend },
});

/** The tests of pages that also run behind a facade, in a run of all tests: a payer sees the same there. */
const THROUGH_A_FACADE = ['outcomes', 'pages', 'paying', 'popup-blocked', 'restart', 'transports'].map(
  (name) => `e2e/${name}.test.ts`,
);

/** Tests that share processes, and their loaded modules. Those of `unit` and `page` wait for no database. */
function inSharedProcesses(): TestProjectInlineConfiguration[] {
  const withDatabase = [...filesOf('journey'), ...filesOf('server')];
  const without = [...filesOf('page'), ...filesOf('unit')];
  return inNode(
    'shared',
    [...withDatabase, ...without],
    withDatabase.length > 0 ? onPostgres('service') : {},
  );
}

/**
 * Whether Vite loads the modules of a file: it replaces some, or imports a package that exports its sources for
 * development, whose types Node does not strip.
 */
const usesVite = (path: string) =>
  /vi\.mock\(|@arethetypeswrong\/core/.test(readFileSync(here(path), 'utf8'));

/** Plugins of projects without a chosen file are not loaded. */
async function projects(): Promise<TestProjectInlineConfiguration[]> {
  const inPage = filesOf('component');
  return [
    ...inSharedProcesses(),
    // Each file has a process of its own, because it checks what a process leaves behind.
    ...inNode(
      'programs',
      filesOf('programs').filter((path) => !usesVite(path)),
      { ...onPostgres('service'), isolate: true },
    ),
    ...inNode('replacing', filesOf('programs').filter(usesVite), {
      ...onPostgres('service'),
      isolate: true,
    }),
    ...(runsAll()
      ? inNode(
          'facade',
          THROUGH_A_FACADE.filter((path) => chosen.includes(path)),
          onPostgres('facade'),
        )
      : []),
    ...(inPage.length > 0 ? [await (await import('./vitest.browser.ts')).component(inPage)] : []),
  ];
}

/** `npm run test:watch` watches the sources, too, which lie outside the root. */
const watchSources: Plugin = {
  name: 'watch-sources',
  configureServer({ watcher }) {
    watcher.add([here('../server/src'), here('../server/scripts'), here('../widget/src')]);
  },
};

export default defineConfig(async () => ({
  root: here('.'),
  plugins: [watchSources],
  test: {
    sequence: { sequencer: LongestFirst },
    // A failure shows the whole value, and not `{ …(6) }`.
    chaiConfig: { truncateThreshold: 2_000 },
    // The timeout ends a poll that never succeeds: Vitest's own second is too short beside three other workers.
    expect: { poll: { timeout: 60_000 } },
    // The workers are one more than the cores: many tests wait for another process, or for a browser.
    maxWorkers: availableParallelism() + 1,
    projects: await projects(),
  },
}));
