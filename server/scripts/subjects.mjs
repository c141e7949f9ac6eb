import { isMain, root, run } from './progress.mjs';

/** The form of a subject: one or more areas, and the change. */
const SUBJECT = /^[a-z][a-z0-9-]*(?:, [a-z][a-z0-9-]*)*: \S/;
const MAX_LENGTH = 72;

/** The reason why a text cannot be the subject of a commit; undefined if it can. @param {string} subject */
export function subjectFault(subject) {
  if (!SUBJECT.test(subject)) return 'is not `area: what changed`';
  const length = [...subject].length;
  return length > MAX_LENGTH ? `has ${length} characters, and may have ${MAX_LENGTH}` : undefined;
}

/**
 * Checks the subjects of commits other than merges. `range` is what `git log` takes.
 *
 * @param {string} range @param {string} [cwd] @returns {Promise<{ ok: boolean, output: string }>}
 */
export async function checkSubjects(range, cwd = root) {
  // Before a first push there are 40 zeros, and before a forced one a commit that a clone lacks: the last commit is checked.
  const [, before, after = ''] = /^([0-9a-f]{40})\.{2,3}(.*)$/.exec(range) ?? [];
  const isKnown =
    !before || (await run('git', ['cat-file', '-e', `${before}^{commit}`], { cwd, quiet: true })).ok;
  const revisions = isKnown ? [range] : ['-1', after];
  const log = await run('git', ['log', '--no-merges', '--format=%h %s', ...revisions, '--'], {
    cwd,
    quiet: true,
  });
  if (!log.ok) return log;
  const lines = log.output.split('\n').filter((line) => line !== '');
  const faults = lines.flatMap((line) => {
    const [commit = '', subject = ''] = line.split(/ (.*)/s);
    const fault = subjectFault(subject);
    return fault ? [`${commit} “${subject}” ${fault}`] : [];
  });
  return { ok: faults.length === 0, output: faults.map((fault) => `${fault}\n`).join('') };
}

if (isMain(import.meta.url)) {
  const { ok, output } = await checkSubjects(process.argv[2] ?? 'main..HEAD');
  if (!ok) {
    console.error(output.trimEnd());
    process.exitCode = 1;
  }
}
