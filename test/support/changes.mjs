import { spawnSync } from 'node:child_process';
import { fail, root } from '../../server/scripts/progress.mjs';

/** Projects whose tests run the built server or widget: any change of the sources may affect all of them. */
const BUILT_PROJECTS = ['programs', 'journey', 'page'];

/**
 * Finds the test files that import a file that has changed since `since`, by default the last commit. Prints what is left
 * out.
 *
 * @param {import('./test-files.mjs').TestFile[]} files
 * @param {string} [since] a revision of Git's
 */
export function findChanges(files, since = 'HEAD') {
  const changed = new Set([
    ...git(['diff', '--name-only', since, '--']),
    ...git(['ls-files', '--others', '--exclude-standard']),
  ]);
  const chosen = files.filter(({ reaches }) => reaches.some((file) => changed.has(file)));
  console.log(
    `${changed.size} files changed since ${since}: ${chosen.length} of ${files.length} test files import them`,
  );

  const isSource = [...changed].some((file) => /^(?:server|widget)\//.test(file));
  const built = files.filter((file) => BUILT_PROJECTS.includes(file.project) && !chosen.includes(file));
  if (isSource && built.length > 0)
    console.log(`Left out: ${built.length} files that run the built server or the built widget (npm test)`);
  const unreached = [...changed].filter((file) => !files.some(({ reaches }) => reaches.includes(file)));
  if (unreached.length > 0) console.log(`Imported by no test: ${unreached.join(', ')}`);
  return chosen;
}

/** Runs Git and returns the lines of its output. @param {string[]} args */
function git(args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) fail(`Git does not report what has changed: ${stderr.trim()}`);
  return stdout.split('\n').filter((line) => line !== '');
}
