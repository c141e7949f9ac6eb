import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase } from './support/database.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));

/** The name of a code cache that is still being written. */
const UNFINISHED = /\.cache\.\d+\.\d+$/;

/** A copy of the build, to be damaged. */
let house: string;
let dist: string;

beforeAll(async () => {
  house = mkdtempSync(join(tmpdir(), 'psa bundle '));
  dist = join(house, 'server/dist');
  // A file that the server of another test is writing is left out.
  cpSync(join(repository, 'server/dist'), dist, {
    recursive: true,
    filter: (source) => !UNFINISHED.test(source),
  });
  symlinkSync(join(repository, 'server/node_modules'), join(house, 'server/node_modules'));
});

afterAll(() => rmSync(house, { recursive: true, force: true }));

const cachesOf = (name: string) =>
  readdirSync(dist).filter((file) => file.startsWith(`${name}.bundle.`) && file.endsWith('.cache'));

/** Starts the server, requests /readyz, and stops it. Returns its output, and the answer's status. */
async function start(environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(dist, 'main.js')], {
    env: {
      PORT: '0',
      NODE_ENV: 'production',
      PSA_DRAIN_SECONDS: '0',
      DATABASE_URL: await createPostgresDatabase(),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = { stdout: '', stderr: '' };
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said.stderr += text;
  });
  const exited = once(child, 'close');
  const url = await new Promise<string | undefined>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said.stdout += text;
      const found = /PSA is running at (\S+)/.exec(said.stdout)?.[1];
      if (found && said.stdout.includes('Ctrl-C')) resolve(found);
    });
    void exited.then(() => resolve(undefined));
  });
  const status = url ? (await fetch(`${url}/readyz`)).status : null;
  child.kill('SIGTERM');
  const [code] = await exited;
  return { status, code, stderr: said.stderr };
}

/** Runs a program of the built modules. Returns its exit code and output. */
const run = (...args: string[]) => runWith(process.execPath, ...args);

async function runWith(node: string, ...args: string[]) {
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  const [code] = await once(child, 'close');
  return { code, output };
}

const WELL = { status: 200, code: 0, stderr: '' };

test('The bundle starts, answers /readyz and ends cleanly, writes a code cache that is missing, and the next start uses it', async () => {
  for (const name of cachesOf('server')) rmSync(join(dist, name));
  expect(await start()).toEqual(WELL);
  const [cache] = cachesOf('server');
  const written = readFileSync(join(dist, cache!));
  expect(written.length).toBeGreaterThan(1_000_000);
  expect(await start()).toEqual(WELL);
  expect(readFileSync(join(dist, cache!)).equals(written)).toBe(true);
});

// These caches are of a program that takes less time than the server, and uses the same loader.
test.each([
  ['is empty', () => Buffer.alloc(0)],
  ['is cut off', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
  ['is damaged', (whole: Buffer) => Buffer.from(whole).fill(0xff, whole.length / 2)],
  // V8 refuses this cache: the checksum is right, and the content is no code.
  ['is of something else', () => Buffer.from([0x8d, 0xef, 0x02, 0xd2, 0])],
])('A code cache that %s is replaced by the start that finds it', async (_, damage) => {
  const psa = join(dist, 'psa.js');
  if (cachesOf('psa').length !== 1) {
    // The caches of other Node programs, which this program does not read.
    for (const name of cachesOf('psa')) rmSync(join(dist, name));
    await run(psa, '--help');
  }
  const cache = join(dist, cachesOf('psa')[0]!);
  const whole = readFileSync(cache);
  writeFileSync(cache, damage(whole));
  expect(await run(psa, '--help')).toMatchObject({ code: 0, output: expect.stringMatching(/^Usage/) });
  const replaced = readFileSync(cache);
  expect(replaced.length).toBeGreaterThan(whole.length / 2);
  expect(replaced.readUInt32LE(0)).toBe(crc32(replaced.subarray(4)));
});

test('Another program of Node, and another flag of V8, use code caches of their own', async () => {
  const psa = join(dist, 'psa.js');
  const node = join(house, 'node');
  copyFileSync(process.execPath, node);
  await run(psa, '--help');
  const before = cachesOf('psa');
  expect(await runWith(node, psa, '--help')).toMatchObject({ code: 0 });
  expect(await run('--no-opt', psa, '--help')).toMatchObject({ code: 0 });
  expect(cachesOf('psa')).toHaveLength(before.length + 2);
  expect(cachesOf('psa')).toEqual(expect.arrayContaining(before));
});

test('A folder that nothing can be written to holds no server up, with a cache or without one', async () => {
  // Root can write to a read-only folder; a folder in place of the file refuses root, too.
  const [cache] = cachesOf('server');
  rmSync(join(dist, cache!));
  const blocked = join(dist, cache!);
  cpSync(join(dist, 'state/db'), blocked, { recursive: true });
  chmodSync(dist, 0o555);
  onTestFinished(() => {
    chmodSync(dist, 0o755);
    rmSync(blocked, { recursive: true });
  });
  expect(await start()).toEqual(WELL);
  expect(readdirSync(dist).filter((name) => UNFINISHED.test(name))).toEqual([]);
});

test('The stack of an error names the sources', async () => {
  const program = join(house, 'fails.cjs');
  writeFileSync(
    program,
    `const { modules } = require('./server/dist/server.js');
     modules.config().then(({ readConfig }) => readConfig({ PORT: 'x' }));`,
  );
  const { code, output } = await run(program);
  expect(code).toBe(1);
  const [, line] =
    /^ {4}at readConfig \(.*\/server\/src\/programs\/config\/config\.ts:(\d+):\d+\)$/m.exec(output) ?? [];
  const source = readFileSync(join(repository, 'server/src/programs/config/config.ts'), 'utf8').split('\n');
  expect(source[Number(line) - 1]).toContain('new ConfigError');
});

test('The psa command runs as a bundle', async () => {
  expect(await run(join(dist, 'psa.js'), '--help')).toMatchObject({
    code: 0,
    output: expect.stringContaining('Usage'),
  });
});
