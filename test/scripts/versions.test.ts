import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { unsuitableNode } from '../../server/bin/starting.mjs';
import { PNPM } from '../../server/scripts/pnpm.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8');
const readPackage = (folder: string) => JSON.parse(read(`${folder}/package.json`));

const RANGE = '^22.12.0 || >=24';
/** The maintained lines of Node that RANGE admits. */
const LINES = ['22', '24', '26'];
const majorOf = (version: string) => version.split('.')[0];

function nodeVersionsOf(workflow: string): string[] {
  const { jobs } = parse(read(`.github/workflows/${workflow}`));
  return Object.values<{ strategy?: { matrix: { node: string[]; include?: { node: string }[] } } }>(jobs)
    .flatMap(({ strategy }) => [
      ...(strategy?.matrix.node ?? []),
      ...(strategy?.matrix.include ?? []).map(({ node }) => node),
    ])
    .filter((version, index, all) => all.indexOf(version) === index)
    .sort();
}

describe('The versions of Node', () => {
  it.each(['.', 'server', 'widget', 'test'])(
    '%s/package.json names the range that the whole project supports',
    (folder) => {
      expect(readPackage(folder).engines).toEqual({ node: RANGE });
    },
  );

  it('An install accepts every version in the range, and no other', () => {
    const versions = '18.20.8 20.20.2 21.7.3 22.11.0 22.12.0 23.11.1 24.0.0 26.1.0'.split(' ');

    const accepted = versions.filter((version) => !unsuitableNode(version));
    expect(accepted).toEqual(['22.12.0', '24.0.0', '26.1.0']);
  });

  it('The image runs one release of the version of .nvmrc', () => {
    const images = [...read('server/Dockerfile').matchAll(/^FROM node:(\S+)/gm)].map(([, tag]) => tag);

    expect(images).toHaveLength(3);
    expect(new Set(images).size).toBe(1);
    expect(images[0]).toMatch(new RegExp(`^${read('.nvmrc').trim()}\\.\\d+\\.\\d+-slim$`));
  });

  it('The image has the files of the widget that the packed server has', () => {
    const [, copied = ''] = /^const COPIED = \[(.*?)\];/ms.exec(read('server/scripts/pack.mjs')) ?? [];
    const packed = [...copied.matchAll(/'(widget\/[^']+)'/g)].map(([, path]) => path);
    const inImage = [
      ...read('server/Dockerfile').matchAll(/^COPY --from=build \/psa\/(widget\S+) server\/\S+$/gm),
    ];

    expect(packed.length).toBeGreaterThan(3);
    expect(inImage.map(([, path]) => path).sort()).toEqual(packed.sort());
  });

  it('Each push runs on the oldest line that is supported, on that of .nvmrc, and where that has to be fetched', () => {
    expect(nodeVersionsOf('ci.yml')).toEqual(['20.19', LINES[0], read('.nvmrc').trim()]);
  });

  it('Each night runs on every line of Node that is supported', () => {
    expect(nodeVersionsOf('nightly.yml').map(majorOf)).toEqual(LINES);
  });

  it('The build and the types are for the oldest version that is supported', () => {
    const oldest = LINES[0]!;

    expect(read('server/scripts/bundle.mjs')).toContain(`target: 'node${oldest}'`);
    expect(majorOf(readPackage('.').devDependencies['@types/node'])).toBe(oldest);
  });
});

it('pnpm has one version, which the root package.json names', () => {
  expect(PNPM).toBe(readPackage('.').packageManager);
  expect(PNPM).toMatch(/^pnpm@\d+\.\d+\.\d+$/);
  expect(read('server/Dockerfile')).not.toMatch(/pnpm@\d/);
  expect(read('server/Dockerfile')).toContain("require('./package.json').packageManager");
});
