import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkSubjects, subjectFault } from '../../server/scripts/subjects.mjs';

describe('The subject of a commit', () => {
  it.each([
    'payouts: a boleto is a method',
    'card-payments, limits: hold back card testing',
    `docs: ${'x'.repeat(66)}`,
    `docs: ${'ç'.repeat(66)}`,
  ])('The subject of a commit may be “%s”', (subject) => {
    expect(subjectFault(subject)).toBeUndefined();
  });

  it.each([
    ['Add a method', 'is not `area: what changed`'],
    ['Payouts: a boleto is a method', 'is not `area: what changed`'],
    ['payouts:a boleto is a method', 'is not `area: what changed`'],
    ['payouts: ', 'is not `area: what changed`'],
    ['feat(payouts): a boleto is a method', 'is not `area: what changed`'],
    [`docs: ${'x'.repeat(67)}`, 'has 73 characters, and may have 72'],
  ])('The subject of a commit may not be “%s”', (subject, fault) => {
    expect(subjectFault(subject)).toBe(fault);
  });
});

describe('The check of a push', () => {
  let folder: string;
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ana', '-c', 'user.email=ana@psa.example', ...args], {
      cwd: folder,
      encoding: 'utf8',
    }).trim();
  const commit = (subject: string) => git('commit', '--quiet', '--allow-empty', '--message', subject);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'psa-subjects-'));
    git('init', '--quiet', '--initial-branch', 'main');
    commit('Begin');
    git('tag', 'before');
    commit('db: a table more');
    git('switch', '--quiet', '--create', 'side', 'before');
    commit('docs: a page more');
    git('switch', '--quiet', 'main');
    git('merge', '--quiet', '--no-ff', '--message', 'Merge branch side, whose subject is no area', 'side');
    git('tag', 'good');
    commit('Fix it');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('The check of a push passes over merges, and over the commits before the push', async () => {
    expect(await checkSubjects('before..good', folder)).toEqual({ ok: true, output: '' });
  });

  it('The check of a push names each commit whose subject has another form', async () => {
    const { ok, output } = await checkSubjects('before..HEAD', folder);
    expect(ok).toBe(false);
    expect(output).toBe(`${git('rev-parse', '--short', 'HEAD')} “Fix it” is not \`area: what changed\`\n`);
  });

  it.each([
    ['there was none before', '0'.repeat(40)],
    ['a forced push has replaced the one before, which no branch has', '1234567890'.repeat(4)],
  ])('The check of a push looks at the last commit where %s', async (_, before) => {
    expect(await checkSubjects(`${before}..good~1`, folder)).toMatchObject({ ok: true });
    expect(await checkSubjects(`${before}..HEAD`, folder)).toMatchObject({ ok: false });
  });

  it('The check of a push fails where git does not know the commits', async () => {
    expect(await checkSubjects('nowhere..HEAD', folder)).toMatchObject({ ok: false });
  });
});

it('CI checks the subjects of a push and of a pull request, with the history that this needs', () => {
  const workflow = readFileSync(
    fileURLToPath(new URL('../../.github/workflows/ci.yml', import.meta.url)),
    'utf8',
  );
  const { steps } = parse(workflow).jobs.subjects;
  expect(steps[0].with['fetch-depth']).toBe(0);
  expect(steps.at(-1).run).toBe('npm run subjects -- "$BEFORE..$AFTER"');
  expect(Object.keys(steps.at(-1).env)).toEqual(['BEFORE', 'AFTER']);
});
