import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PARTS } from '../nightly.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const files = [...workflows, '.github/actions/prepare/action.yml'];
const { scripts } = JSON.parse(read('package.json'));

describe.each(files)('%s', (file) => {
  it('The file pins each action to a commit', () => {
    const used = [...read(file).matchAll(/uses: ([^\s#]+)/g)].map(([, action]) => action!);
    const foreign = used.filter((action) => !action.startsWith('./'));
    expect(foreign.length).toBeGreaterThan(0);
    expect(foreign.filter((action) => !/^[\w/-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });
});

describe.each(workflows)('%s', (file) => {
  it('The workflow runs only commands that package.json has', () => {
    const names = [...read(file).matchAll(/- run: npm (?:run )?([\w:]+)/g)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('The workflow uploads hidden folders as such: by default they are left out', () => {
    for (const [step] of read(file).matchAll(/uses: actions\/upload-artifact[^\n]*\n(?: {8,}[^\n]*\n)+/g))
      expect(/path: \S*\/\.\w/.test(step)).toBe(step.includes('include-hidden-files: true'));
  });

  it('The workflow limits the time of each job', () => {
    const jobs = read(file).match(/runs-on:/g)!.length;
    expect(read(file).match(/timeout-minutes:/g)).toHaveLength(jobs);
  });
});

it('The nightly workflow runs every part of npm run nightly', () => {
  const [, parts = ''] = /\n +part:\s+\[([^\]]+)\]/.exec(read('.github/workflows/nightly.yml'))!;
  expect((parts.match(/[\w-]+/g) ?? []).sort()).toEqual(Object.keys(PARTS).sort());
});

it('The nightly workflow proposes the table of clients that it has written', () => {
  const nightly = read('.github/workflows/nightly.yml');
  // The file that `npm run conformance -- http --save` writes, the results of the tests, and the job that downloads
  // both.
  expect(nightly).toMatch(/name: clients\n +path: test\/clients\/found\.json\n/);
  expect(nightly).toMatch(
    /name: results-\$\{\{ matrix\.part \}\}\n +path: node_modules\/\.psa\/last-tests\.json\n/,
  );
  expect(PARTS['http-clients']!.run).toContain('--save');
  // Without a status function GitHub would skip the job after a failed client.
  expect(nightly).toContain(
    "if: always() && (startsWith(matrix.part, 'tests-') || matrix.part == 'frameworks') && matrix.node == '24'\n",
  );
  expect(nightly).toMatch(/if: always\(\) && matrix\.part == 'http-clients'\n +with:\n +name: clients\n/);
  expect(nightly).toMatch(/\n {2}clients:\n(?: {4}.+\n)*? {4}if: always\(\) && github\.ref_name == 'main'\n/);
  expect(nightly).toMatch(
    / {2}clients:\n[\s\S]+gh run download "\$GITHUB_RUN_ID" --dir "\$RUNNER_TEMP\/found" --name clients\n[\s\S]+ node test\/clients\/collect\.mjs [\s\S]+gh pr create/,
  );
});

it('Renovate’s rules name only packages that the project has', () => {
  const manifests = ['package.json', 'server/package.json', 'widget/package.json', 'test/package.json'].map(
    read,
  );
  const known = [...manifests, read('pnpm-workspace.yaml')].join('\n');
  const named = [...read('.github/renovate.json5').matchAll(/matchPackageNames: \[([^\]]+)\]/g)].flatMap(
    ([, list]) => [...list!.matchAll(/'([^']+)'/g)].map(([, name]) => name!),
  );
  expect(named.length).toBeGreaterThan(30);
  const ofTheMachine = ['node', 'pnpm'];
  expect(named.filter((name) => !known.includes(`"${name}"`) && !ofTheMachine.includes(name))).toEqual([]);
});
