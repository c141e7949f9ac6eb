import { join, posix } from 'node:path';
import { root } from '../../server/scripts/progress.mjs';
import { filesUnder, readOrEmpty } from '../../server/scripts/stamp.mjs';

/**
 * The Vitest project of a test file, by what the file needs to run, and so how soon its result is known.
 *
 * - `unit`: nothing but Node
 * - `server`: a PostgreSQL; servers run in the test's own process
 * - `programs`: starts processes of its own, or replaces modules; it runs in a process that no other file shares
 * - `journey`: drives a browser over whole servers
 * - `page`: drives a browser over pages with the built element, against a fake server
 * - `component`: runs inside a page, with the elements' sources
 *
 * @typedef {'unit' | 'server' | 'programs' | 'journey' | 'page' | 'component'} Project
 *
 * @typedef {'server' | 'pgdata' | 'widget' | 'package' | 'chromium' | 'engines' | 'proxies' | 'pooler' | 'promtool' | 'systemd'} Part something that is built or installed before a test runs
 *
 * @typedef {object} TestFile
 * @property {string} path relative to `test/`, with slashes
 * @property {Project} project
 * @property {Set<Part>} parts
 * @property {string[]} reaches every file of the repository that it imports, directly or not, relative to the root
 */

/**
 * Files whose subjects other files show, too: screenshots, recipes, packages, benchmarks. `npm test` leaves them out,
 * unless a filter names them; `npm run test:all` runs them.
 */
export const ONLY_IN_ALL = [
  // The linter's rules, and the scripts of the tests and the build, which every run of them tests, too. CI runs these
  // files with each change.
  'linter.test.ts',
  'scripts/build.test.ts',
  'scripts/dependencies.test.ts',
  'scripts/interfaces.test.ts',
  'scripts/released-widgets.test.ts',
  'scripts/run.test.ts',
  // The code caches and the sources' names of the bundle, with which main.test.ts and programs/cli/main.test.ts start.
  'bundle.test.ts',
  'bench/bench.test.ts',
  // A hundred thousand rows under writers; api/http/exports/exports has two pages and more of each file.
  'api/http/exports/under-writers.test.ts',
  'api/http/exports/remote.test.ts',
  // A service and a facade; money-out/wallet/seen-statement shows the same to a facade by itself.
  'money-out/wallet/seen-interface.test.ts',
  // Two databases and a backup; sim/facade restores them in its stories.
  'money-out/wallet/seen-restore.test.ts',
  // Small sizes fill no cache, and so show little; kernel/lru-cache and attacks/graphql show the limits.
  'attacks/memory.test.ts',
  // Runs each command of the documents as a process; documents.test.ts checks the names in them.
  'documents-run.test.ts',
  // Whole programs with the deadlines of production: state/db/postgres and api/operations/outage show the same with short ones.
  'faults/outage.test.ts',
  // Whole clusters, with and without a proxy; cluster/cluster shows how instances work together.
  'cluster/command.test.ts',
  // The server of the released version, from the history of the repository; state/db/upgrade makes its statements.
  'state/db/previous-server.test.ts',
  // Shows that a payout method is one file; contributing.test compares the files that a method touches with the
  // checklist.
  'money-out/payouts/another-method.test.ts',
  // The pages and routes of the simulator, whose effects the tests of each slice cause in its own process.
  'programs/simulator/controls.test.ts',
  // A service and a facade; programs/console/writes requests the same changes of the service itself.
  'programs/console/remote.test.ts',
  // Installs both packages by npm, and starts what is installed.
  'packages.test.ts',
  // Needs Prometheus' own tool; programs/ops/dashboard compares the rules with the documents and the metrics.
  'programs/ops/promtool.test.ts',
  // Needs systemd's own tool; scripts/systemd reads the unit as text.
  'programs/ops/systemd.test.ts',
  // Installs code generators; the gates compare the types that we generate ourselves.
  'clients/generators.test.ts',
  'clients/openapi-generators.test.ts',
  // Installs gateways; api/graphql/federation shows the server's answers to them.
  'api/operations/gateway.test.ts',
  // Needs PgBouncer; state/db/postgres has a pooler of its own.
  'cluster/pooler.test.ts',
  // Needs nginx and Caddy, which cluster/command uses, too.
  'cluster/proxies.test.ts',
  // The pages of the other e2e tests, behind a facade.
  'e2e/facade.test.ts',
  // The page of the simulator, which is for trying.
  'e2e/simulator.test.ts',
  // A purchase with each released version of the widget; api/http/released-widgets requests their files.
  'e2e/released-widgets.test.ts',
  // Installs bundlers and frameworks; widget/chunks and widget/server-rendered show the same without them.
  'frameworks/buying.test.ts',
  // Installs React Native; live/rules has what its runtime lacks.
  'frameworks/react-native.test.ts',
  // Needs Firefox and WebKit; the other tests of pages say more, in Chromium.
  'engines/buying.test.ts',
  'engines/lost-chunk.test.ts',
  'engines/pages.test.ts',
  'engines/web-view.test.ts',
  // Three instances with followers in processes of their own; live/resume shows each client over cuts.
  'live/dose.test.ts',
  // Recipes of documents, on the built package; live/server and live/resume show their parts.
  'live/recipes.test.ts',
  'live/shop.test.ts',
  // A full browser; widget/psa-checkout.page-test.ts shows the same against a fake server.
  'e2e/popup-blocked.test.ts',
  // Starts a process with Node's EventSource; api/operations/event-stream.test.ts shows what the server does for it.
  'live/event-source.test.ts',
  // Shows that the kit of live status finds planted faults, each in a copy of the sources.
  'live/planted.test.ts',
  // Shows that the checkers of simulated histories find planted faults.
  'sim/checker.test.ts',
  'sim/facade-checker.test.ts',
  // The texts and colours of each state, in the demo's gallery.
  'widget/gallery.page-test.ts',
  'widget/gallery-board.page-test.ts',
  'widget/looks.page-test.ts',
  'widget/package.test.ts',
  'widget/recipes.browser-test.tsx',
  'widget/recipes.page-test.ts',
];

/** Files that compare pictures with references of one browser. They are left out with another browser. */
export const PICTURES = ['widget/looks.page-test.ts'];

/**
 * Projects whose tests start programs, or need a browser, which takes seconds each. `npm test` runs one of each
 * kind; `npm run test:browser` and `npm run test:programs` run the others too, and CI runs all three with each change.
 */
const SLOW_PROJECTS = ['programs', 'journey', 'page', 'component'];
export const BROWSER_PROJECTS = ['journey', 'page', 'component'];

/** The files of slow projects that `npm test` runs. */
export const ONE_OF_EACH = [
  // A purchase over each transport.
  'e2e/transports.test.ts',
  // A fault and an attack, in their smallest size.
  'attacks/slow.test.ts',
  'faults/cut.test.ts',
  'api/http/listen.test.ts',
  // The program as an operator starts it, on PGlite.
  'programs/main.test.ts',
  // The elements: their common behavior, and each way to pay.
  'widget/mistakes.browser-test.ts',
  'widget/psa-checkout.browser-test.ts',
  'widget/psa-checkout-delivered.browser-test.ts',
  'widget/psa-checkout-pix.browser-test.ts',
  // These files take milliseconds each.
  'clients/table.test.ts',
  'scripts/subjects.test.ts',
];

/** Files of other projects that occupy a core for long. CI runs them with each change, `npm test` leaves them out. */
export const LONG = [
  // Fills pages of a redelivery; webhooks/graphql sends a single delivery again.
  'webhooks/bulk.test.ts',
  // Histories of endpoints; webhooks/endpoints has each change once.
  'webhooks/endpoint-laws.test.ts',
  // Days of failures; webhooks/endpoint-health has the rules.
  'webhooks/failing-endpoints.test.ts',
  'attacks/budget.test.ts',
  'attacks/compiled.test.ts',
  'attacks/tenants.test.ts',
  'attacks/tokens.test.ts',
  'state/db/lists-of-schema.test.ts',
  'state/db/postgres-silence.test.ts',
  'state/db/records.test.ts',
  'state/db/totals.test.ts',
  'state/db/upgrade.test.ts',
  'catalogue/deliveries/races.test.ts',
  'api/http/exports/files.test.ts',
  'api/operations/outage.test.ts',
  // What is true of both implementations, once more at a facade; what is only the facade's is tested beside them.
  'catalogue/products/remote.test.ts',
  'money-in/card-payments/remote.test.ts',
  'money-in/payments/remote.test.ts',
  'money-out/payouts/remote.test.ts',
  'money-out/subaccounts/remote.test.ts',
  'security/bad-input.test.ts',
  'webhooks/optional-events.test.ts',
  'backup/damage.test.ts',
  // The contracts and `rest` tests of the slices hold the rules of the document too.
  'document.test.ts',
  'state/db/lists.test.ts',
];

/**
 * The parts that files need in addition to those in their text. A test file needs the parts of every file that it
 * imports; one that names `../server/dist` or `../widget/dist` needs that build.
 */
const NEEDS = /** @type {Record<string, Part[]>} */ ({
  'test/bench/bench.test.ts': ['server', 'pgdata', 'widget'],
  'test/bundle.test.ts': ['server', 'pgdata'],
  'test/cluster/cluster.test.ts': ['server', 'pgdata'],
  'test/cluster/command.test.ts': ['server', 'pgdata', 'widget'],
  'test/cluster/pooler.test.ts': ['pooler'],
  'test/cluster/proxies.test.ts': ['proxies'],
  // A document may build everything.
  'test/documents-run.test.ts': ['widget', 'package'],
  // These files request pages of servers.
  'test/programs/console/console.test.ts': ['widget'],
  'test/programs/demo/demo.test.ts': ['widget'],
  'test/programs/simulator/controls.test.ts': ['widget'],
  'test/e2e/fixture.ts': ['widget'],
  'test/engines/lost-chunk.test.ts': ['widget', 'package'],
  'test/frameworks/buying.test.ts': ['widget', 'package'],
  'test/frameworks/react-native.test.ts': ['package'],
  'test/live/dose.test.ts': ['server', 'pgdata'],
  'test/live/in-chromium.test.ts': ['package'],
  'test/live/recipes.test.ts': ['package'],
  'test/live/shop.test.ts': ['package'],
  'test/programs/main.test.ts': ['widget'],
  'test/programs/refused-starts.test.ts': ['widget'],
  'test/programs/cli/main.test.ts': ['server', 'pgdata'],
  'test/packages.test.ts': ['server', 'pgdata', 'widget', 'package'],
  'test/engines/webkit.ts': ['engines'],
  'test/programs/ops/promtool.test.ts': ['promtool'],
  'test/programs/ops/systemd.test.ts': ['systemd'],
  'test/support/launch-options.ts': ['chromium'],
  'test/support/program.ts': ['server', 'pgdata'],
  'test/widget/package.test.ts': ['widget', 'package'],
  'test/widget/size.test.ts': ['widget'],
});

/** Finds all test files, sorted by their names. @returns {TestFile[]} */
export function findTestFiles() {
  const graph = createImportGraph();
  return filesUnder('test')
    .map((file) => file.slice('test/'.length))
    .filter((path) => /(?:\.test\.ts|-test\.tsx?)$/.test(path))
    .sort()
    .map((path) => describeFile(path, graph));
}

/** The project of a test file. @param {string} path relative to `test/`, with slashes @returns {Project} */
export function projectOfFile(path) {
  projects ??= new Map(findTestFiles().map((file) => [file.path, file.project]));
  const project = projects.get(path);
  if (!project) throw new Error(`${path} is no test file.`);
  return project;
}

/** @type {Map<string, Project> | undefined} */
let projects;

/** Whether CI runs a file with each change, and not only `npm run test:all`. @param {TestFile} file */
export function isInSample({ path }) {
  return !ONLY_IN_ALL.includes(path);
}

/** Whether `npm test` runs a file. @param {TestFile} file */
export function isInNpmTest(file) {
  if (!isInSample(file) || LONG.includes(file.path)) return false;
  return !SLOW_PROJECTS.includes(file.project) || ONE_OF_EACH.includes(file.path);
}

/** @param {string} path @param {ImportGraph} graph @returns {TestFile} */
function describeFile(path, graph) {
  const reaches = graph.reach(`test/${path}`);
  const parts = new Set(reaches.flatMap((file) => [...(NEEDS[file] ?? []), ...graph.builtPartsIn(file)]));
  const project = projectOf(path, parts, graph.load(`test/${path}`), graph);
  // Vitest itself starts the browser of these files.
  if (project === 'component') parts.add('chromium');
  return { path, project, parts, reaches };
}

/** @param {string} path @param {Set<Part>} parts @param {string[]} loads @param {ImportGraph} graph @returns {Project} */
function projectOf(path, parts, loads, graph) {
  if (/\.browser-test\.tsx?$/.test(path)) return 'component';
  if (/\.page-test\.ts$/.test(path)) return 'page';
  if (parts.has('chromium')) return 'journey';
  if (loads.some((file) => isOwnCode(file) && graph.needsOwnProcess(file))) return 'programs';
  return loads.includes('test/support/templates.ts') ? 'server' : 'unit';
}

/** Whether a file is the test's own code, and not the start of the PostgreSQL that all tests share. @param {string} file */
function isOwnCode(file) {
  return file.startsWith('test/') && file !== 'test/support/postgres.ts';
}

/** @typedef {ReturnType<typeof createImportGraph>} ImportGraph */

/** Creates the graph of imports between the repository's files. Each file is read once. */
function createImportGraph() {
  /** @type {Map<string, { imports: string[], loads: string[], needsOwnProcess: boolean, builtParts: Part[] }>} */
  const known = new Map();

  /** @param {string} file relative to the root */
  function read(file) {
    let found = known.get(file);
    if (!found) {
      const text = readOrEmpty(join(root, file)).toString();
      const importsOf = (/** @type {string} */ source) =>
        [...source.matchAll(IMPORT)]
          .map(([, module, address]) => posix.join(posix.dirname(file), module ?? address ?? ''))
          .filter((path) => /\.(?:ts|tsx|mjs|js|vue|svelte|json|graphql|sql)$/.test(path));
      found = {
        imports: importsOf(text),
        loads: importsOf(text.replaceAll(TYPES_ONLY, '')),
        needsOwnProcess: text.includes("'node:child_process'") || text.includes('vi.mock('),
        builtParts: [
          ...(text.includes('../server/dist') ? /** @type {Part[]} */ (['server', 'pgdata']) : []),
          ...(text.includes('../widget/dist') ? /** @type {Part[]} */ (['widget']) : []),
        ],
      };
      known.set(file, found);
    }
    return found;
  }

  /** @param {string} start @param {'imports' | 'loads'} by */
  function follow(start, by) {
    const reached = new Set([start]);
    for (const file of reached) for (const next of read(file)[by]) reached.add(next);
    return [...reached];
  }

  return {
    /** @param {string} start */
    reach: (start) => follow(start, 'imports'),
    /** The files that are loaded with a file: types are not. @param {string} start */
    load: (start) => follow(start, 'loads'),
    needsOwnProcess: (/** @type {string} */ file) => read(file).needsOwnProcess,
    builtPartsIn: (/** @type {string} */ file) => (file.startsWith('test/') ? read(file).builtParts : []),
  };
}

/** Matches an import of types alone. */
const TYPES_ONLY = /\b(?:import|export) type [^;]*? from '[^']+'/g;
/** Matches imports of modules and types, and of workers and programs by their address. */
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+)['"]|new URL\(\s*['"](\.[^'"]+)['"]/g;
