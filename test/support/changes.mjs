import { spawnSync } from 'node:child_process';
import { fail, root } from '../../server/scripts/progress.mjs';

/** Projects whose tests run what is built from the sources: any change of these concerns all of them. */
const OF_BUILT = ['programs', 'journey', 'page'];

/**
 * The test files that import a file that has changed since `since` (the last commit, unless given), and prints what is
 * left out.
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
  const built = files.filter((file) => OF_BUILT.includes(file.project) && !chosen.includes(file));
  if (isSource && built.length > 0)
    console.log(`Left out: ${built.length} files that run the built server or the built widget (npm test)`);
  const unreached = [...changed].filter((file) => !files.some(({ reaches }) => reaches.includes(file)));
  if (unreached.length > 0) console.log(`Imported by no test: ${unreached.join(', ')}`);
  return chosen;
}

/** The lines that Git prints. @param {string[]} args */
function git(args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) fail(`Git does not tell what has changed: ${stderr.trim()}`);
  return stdout.split('\n').filter((line) => line !== '');
}
