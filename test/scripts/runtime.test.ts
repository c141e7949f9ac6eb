import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ScriptsFixture } from '../support/scripts-fixture.ts';

// Vitest would run an imported script as the main program.
const { suitsTools } = createRequire(import.meta.url)('../../server/scripts/runtime.cjs');

const OLD = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } })`;

/** A replacement for the install of npm's package `node`: it puts a program into the folder of `--prefix`. */
const NPM = `
  const { mkdirSync, symlinkSync, appendFileSync } = require('node:fs');
  const args = process.argv.slice(2);
  appendFileSync(bin + '/npm.log', args.at(-1) + '\\n');
  const folder = args[args.indexOf('--prefix') + 1] + '/node_modules/node/bin';
  mkdirSync(folder, { recursive: true });
  symlinkSync(process.execPath, folder + '/node');`;

let fixture: ScriptsFixture;

beforeEach(() => {
  fixture = new ScriptsFixture();
  fixture.write('script.mjs', `console.log(process.versions.node, ...process.argv.slice(2));`);
});

afterEach(() => fixture[Symbol.dispose]());

function run(script: string, ...args: string[]) {
  const runtime = `${fixture.folder}/server/scripts/runtime.cjs`;
  return fixture.node(['--import', `data:text/javascript,${OLD}`, runtime, script, ...args]);
}

describe('On a Node that is too old for the tools', () => {
  it('A command fetches Node 24 from npm once, in one line, and goes on with it', async () => {
    fixture.program('npm', NPM);

    const first = await run('script.mjs', 'a', '--b=c d');
    const second = await run('script.mjs');

    expect(first).toMatchObject({
      code: 0,
      stdout: `${process.versions.node} a --b=c d\n`,
      stderr: 'Node 20.19.0 is too old for the tools: Node 24 is fetched from npm into .node, once …\n',
    });
    expect(second).toMatchObject({ code: 0, stdout: `${process.versions.node}\n`, stderr: '' });
    expect(readFileSync(`${fixture.bin}/npm.log`, 'utf8')).toMatch(/^node@npm:node-\w+-\w+@24\n$/);
  });

  it('A fetch that fails ends with one line that says what to do, and leaves nothing', async () => {
    fixture.program('npm', `console.error('ENOTFOUND'); process.exitCode = 1`);

    const { code, stderr } = await run('script.mjs');

    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n').slice(1)).toEqual([
      'ENOTFOUND',
      '✗ Node 24 could not be fetched from the npm registry (see above). Install it, or run this again.',
    ]);
    expect(readdirSync(`${fixture.folder}/.node`)).toEqual([]);
  });

  it('A script ends as it would have ended without the fetched Node', async () => {
    fixture.program('npm', NPM);
    fixture.write('fails.mjs', 'process.exitCode = 7;');
    fixture.write('ends.mjs', `process.kill(process.ppid, 'SIGTERM'); setInterval(() => {}, 1000);`);

    expect((await run('fails.mjs')).code).toBe(7);
    // The signal ends the program that the script has started, and with it the script.
    expect((await run('ends.mjs')).code).not.toBe(0);
  });
});

it('A command goes on with a Node that suits, and fetches none', async () => {
  const { code, stdout } = await fixture.script('server/scripts/runtime.cjs', ['script.mjs', 'a']);

  expect({ code, stdout }).toEqual({ code: 0, stdout: `${process.versions.node} a\n` });
  expect(existsSync(`${fixture.folder}/.node`)).toBe(false);
});

it('The tools run on the lines of Node that get fixes', () => {
  const versions =
    '20.20.2 22.12.0 22.22.2 22.22.3 22.23.0 23.11.1 24.14.0 24.15.0 25.2.0 26.0.0 27.1.0'.split(' ');

  expect(versions.filter(suitsTools)).toEqual(['22.22.3', '22.23.0', '24.15.0', '26.0.0', '27.1.0']);
});
