import { spawnSync } from 'node:child_process';
import { fail, root } from '../../server/scripts/progress.mjs';
import { isInSample } from './test-files.mjs';

/** Projects whose tests run the built server or widget: any change of the sources may affect all of them. */
const BUILT_PROJECTS = ['programs', 'journey', 'page'];

/**
 * The tests that read files without importing them.
 * @type {[file: RegExp, tests: string[]][]}
 */
const READ_BY = [
  [
    /^(?:\.github|server|widget|test)\/.*\.md$|^[\w.-]+\.md$/,
    ['documents.test.ts', 'service-document.test.ts'],
  ],
  [/^server\/docs\/decisions\//, ['decisions.test.ts']],
  [
    /^server\/src\/state\/db\/migrations\//,
    ['state/db/migrate.test.ts', 'state/db/upgrade.test.ts', 'state/db/indexes.test.ts'],
  ],
  [/^server\/src\/api\/checkout-page\/page\./, ['browser/hosted-page.test.ts', 'browser/pix-page.test.ts']],
  [/^\.github\/workflows\//, ['scripts/workflows.test.ts', 'scripts/versions.test.ts']],
  [/^schema\.graphql$/, ['schema.test.ts']],
];

/**
 * Finds the test files that import or read a file that has changed since `since`, by default the last commit. Prints
 * the ones that are left out.
 * @param {import('./test-files.mjs').TestFile[]} files
 * @param {string} [since] a revision of Git's
 */
export function findChanges(files, since = 'HEAD') {
  const changed = new Set([
    ...git(['diff', '--name-only', since, '--']),
    ...git(['ls-files', '--others', '--exclude-standard']),
  ]);
  const readers = new Set(
    READ_BY.flatMap(([file, tests]) => ([...changed].some((path) => file.test(path)) ? tests : [])),
  );
  const all = files.filter(
    ({ path, reaches }) => readers.has(path) || reaches.some((file) => changed.has(file)),
  );
  const chosen = all.filter(isInSample);
  console.log(
    `${changed.size} files changed since ${since}: ${all.length} of ${files.length} test files import or read them`,
  );
  if (all.length > chosen.length)
    console.log(`Left out: ${all.length - chosen.length} of these, which npm run test:all runs`);

  const isSource = [...changed].some((file) => /^(?:server|widget)\//.test(file));
  const built = files.filter((file) => BUILT_PROJECTS.includes(file.project) && !chosen.includes(file));
  if (isSource && built.length > 0)
    console.log(
      `Left out: ${built.length} files that run the built server or the built widget (npm run check)`,
    );
  const unreached = [...changed].filter(
    (path) =>
      !(READ_BY.some(([file]) => file.test(path)) || files.some(({ reaches }) => reaches.includes(path))),
  );
  if (unreached.length > 0) console.log(`Imported by no test: ${unreached.join(', ')}`);
  return chosen;
}

/** Runs Git and returns the lines of its output. @param {string[]} args */
function git(args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) fail(`Git does not report what has changed: ${stderr.trim()}`);
  return stdout.split('\n').filter((line) => line !== '');
}
