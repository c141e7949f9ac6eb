import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { bootstrapRemote } from '../../../server/src/access/administration.ts';
import { firstTenant } from '../../../server/src/access/service.ts';
import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import { createApp } from '../../../server/src/programs/app.ts';
import { run } from '../../../server/src/programs/cli/run.ts';
import { readConfig } from '../../../server/src/programs/config/config.ts';
import { createCommitter } from '../../../server/src/state/commit/committer.ts';
import { lockDataDir } from '../../../server/src/state/db/lock.ts';
import type { openDatabase } from '../../../server/src/state/db/open.ts';
import { openPglite } from '../../../server/src/state/db/pglite.ts';
import { openPostgres } from '../../../server/src/state/db/postgres.ts';
import { createPostgresDatabase } from '../../support/database.ts';
import { createClient } from '../../support/graphql.ts';
import { takePostgres } from '../../support/postgres-pool.ts';
import { openRawSocket } from '../../support/raw-socket.ts';
import { runsAll, sampled } from '../../support/scale.ts';
import { onFatal, silent } from '../../support/templates.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const children = new Set<ChildProcess>();
const folders: string[] = [];
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
});
afterAll(async () => {
  await (await shared)?.app.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function temporaryFolder(prefix = 'psa-command-'): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  folders.push(folder);
  return folder;
}

type Printed = { code: number | null; stdout: string; stderr: string };

/** Runs the command in this process, with only this environment. */
async function psa(environment: Record<string, string>, ...args: string[]): Promise<Printed> {
  const printed = { stdout: '', stderr: '' };
  const code = await run(args, {
    env: environment,
    stdout: printingTo(printed, 'stdout'),
    stderr: { ...printingTo(printed, 'stderr'), isTTY: false },
    exit: (exitCode) => expect.unreachable(`it ends its process with ${exitCode}`),
  });
  return { code, ...printed };
}

const printingTo = (printed: { stdout: string; stderr: string }, stream: 'stdout' | 'stderr') => ({
  write(text: string | Uint8Array) {
    printed[stream] += text;
    return true;
  },
});

/** Runs the command as a process, as its users do. */
function psaProcess(environment: Record<string, string>, ...args: string[]) {
  return new Promise<Printed>((resolve) => {
    // V8's optimizing compiler for WebAssembly takes more time than it saves in a command that opens PGlite.
    const child = spawn(process.execPath, ['--liftoff-only', 'server/dist/psa.js', ...args], {
      cwd: root,
      env: { PATH: process.env.PATH ?? '', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output.stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      output.stderr += chunk;
    });
    child.on('close', (code) => {
      children.delete(child);
      resolve({ code, ...output });
    });
  });
}

/** Runs the command with --json, and parses its output. */
const answer = async (environment: Record<string, string>, ...args: string[]) =>
  parsed(await psa(environment, ...args, '--json'));

/** Runs the command as a process with --json, and parses its output. */
const answerOfProcess = async (environment: Record<string, string>, ...args: string[]) =>
  parsed(await psaProcess(environment, ...args, '--json'));

function parsed({ code, stdout, stderr }: Printed) {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** Starts the whole server on a folder, in this process, where a test can inspect it. */
async function startServer(dataDir: string, open: typeof openDatabase = openSeeded) {
  const faults: unknown[] = [];
  const app = await createApp({
    config: readConfig({ PORT: '0', PSA_DATA_DIR: dataDir }),
    clock: createSystemClock(),
    log: { ...silent, warn: (fields) => faults.push(fields), error: (fields) => faults.push(fields) },
    onFatal: (error) => faults.push(error),
    testing: { open },
  });
  return { ...app, faults };
}

const openSeeded: typeof openDatabase = ({ databaseUrl: _, ...options }) =>
  openPglite({ ...options, ...inject('templates').pglite });

/**
 * Starts a server for a test of the socket alone. The folder and its lock are real; the data is in PostgreSQL, which
 * starts in a hundredth of PGlite's time.
 */
function startServerWithoutFiles(dataDir: string) {
  return startServer(dataDir, async (options) => {
    const unlock = await lockDataDir(dataDir);
    const { url, release } = await takePostgres();
    const database = await openPostgres({ ...options, databaseUrl: url });
    return {
      ...database,
      engine: 'pglite',
      async close() {
        await database.close();
        release();
        await unlock();
      },
    };
  });
}

let shared: Promise<{ dataDir: string; app: Awaited<ReturnType<typeof startServer>> }> | undefined;

/** The server on PGlite that the tests share: a start takes seconds. */
async function runningServer() {
  shared ??= (async () => {
    const dataDir = join(temporaryFolder(), 'data');
    return { dataDir, app: await startServer(dataDir) };
  })();
  return shared;
}

/** Stops the shared server and returns its folder, on which a server has run. For the last tests. */
async function stoppedFolder(): Promise<string> {
  const { dataDir, app } = await runningServer();
  await app.close();
  expect(app.faults).toEqual([]);
  return dataDir;
}

/** Creates the socket of a server that was killed. */
async function leaveDeadSocket(dataDir: string): Promise<void> {
  const path = join(dataDir, 'psa.sock');
  const killed = spawn(
    process.execPath,
    ['-e', `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await new Promise((resolve) => killed.stdout.once('data', resolve));
  killed.kill('SIGKILL');
  await new Promise((resolve) => killed.once('exit', resolve));
  expect(statSync(path).isSocket()).toBe(true);
}

const VIEWER = '{ viewer { environment permissions } }';

test('On the database of a facade the command lists keys and rejects every change', async () => {
  const environment = { DATABASE_URL: await createPostgresDatabase() };
  const clock = createSystemClock();
  const database = await openPostgres({ databaseUrl: environment.DATABASE_URL, clock, log: silent });
  const committer = createCommitter({ database, clock, onCommit: () => undefined });
  const upstream = { url: 'https://api.example', keys: { live: 'ps_live_0123456789abcdef' } };
  const { accountId } = await bootstrapRemote({ database, committer, clock, upstream });
  await database.close();
  // With the facade's variables and without them.
  const withUpstream = {
    ...environment,
    PSA_UPSTREAM_URL: upstream.url,
    PSA_UPSTREAM_LIVE_KEY: upstream.keys.live,
  };
  const { keys } = await answer(withUpstream, 'keys', 'list');
  expect(keys).toMatchObject([{ accountId, name: 'PSA_UPSTREAM_LIVE_KEY', hint: 'cdef' }]);
  const refused: [string[], string][] = [
    [['keys', 'create', '--live'], 'its keys come from the configuration: change PSA_UPSTREAM_LIVE_KEY'],
    [['keys', 'revoke', keys[0].id], 'its keys come from the configuration'],
    [['accounts', 'create', '--name', 'Outra'], 'nothing about accounts can be changed here'],
    [['accounts', 'set', accountId, '--name', 'Outra'], 'nothing about accounts can be changed here'],
  ];
  for (const [args, message] of sampled(refused, 3)) {
    const { code, stdout, stderr } = await psa(environment, ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^[^\n]*${message}[^\n]*\n$`));
  }
  expect(await answer(environment, 'keys', 'list', '--all')).toEqual({ keys });
});

test('Without a facade the command says that a service cannot be reached, and ends with 1', async () => {
  const { code, stdout } = await psaProcess(
    {
      PSA_DATA_DIR: join(temporaryFolder(), 'none'),
      PSA_UPSTREAM_URL: 'http://127.0.0.1:9',
      PSA_UPSTREAM_LIVE_KEY: 'ps_live_0123456789abcdef',
    },
    ...['upstream', 'check'],
  );
  expect(stdout).toContain('The payments service cannot be reached');
  expect(code).toBe(1);
});

describe('on a PostgreSQL', () => {
  let environment: { DATABASE_URL: string };
  beforeAll(async () => {
    environment = { DATABASE_URL: await createPostgresDatabase() };
  });

  test('The command manages keys and accounts beside servers, which close a revoked key’s connections at once', async () => {
    expect(await psa(environment, 'keys', 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'No server has run on the database yet. Start it once, with npm start: that makes the first account, and shows its keys\n',
    });
    const app = await createApp({
      config: readConfig({ PORT: '0', ...environment }),
      clock: createSystemClock(),
      log: silent,
      onFatal,
    });
    onTestFinished(() => app.close());
    const { key, secret } = await answerOfProcess(
      environment,
      ...['keys', 'create', '--live', '--permission', 'subcontas.sacar', '--name', 'Folha'],
    );
    expect(key).toMatchObject({ environment: 'live', name: 'Folha', permissions: ['subcontas.sacar'] });
    expect(await createClient(`${app.url}/graphql`, secret).request(VIEWER)).toEqual({
      viewer: { environment: 'LIVE', permissions: ['subcontas.sacar'] },
    });
    const { keys } = await answer(environment, 'keys', 'list');
    expect(keys).toHaveLength(3);
    expect(keys).toContainEqual(key);
    expect(JSON.stringify(keys)).not.toContain(secret.slice(-8));

    const socket = openRawSocket(app.url);
    await socket.init(secret);
    expect((await answerOfProcess(environment, 'keys', 'revoke', key.id)).key.revokedAt).toMatch(/^20.*Z$/);
    expect((await socket.closed).code).toBe(4403);

    // Servers are notified of a paused checkout token at once, too.
    const { minted } = await createClient(`${app.url}/graphql`, app.firstKeys!.live).request(
      'mutation { minted: createCheckoutToken(input: { amount: { fixedCents: 500 }, reusable: true }) { ... on CreateCheckoutTokenSuccess { token } } }',
    );
    const start = async () => {
      const { started } = await createClient(`${app.url}/graphql`, minted.token).request(
        'mutation { started: startCheckout(input: { attemptId: "0123456789012345678901" }) { __typename ... on UserError { code } } }',
      );
      return started.code ?? started.__typename;
    };
    const { token } = await answer(environment, 'tokens', 'pause', minted.token, '--minutes', '60');
    expect(token).toMatchObject({ reason: 'merchant', tokenId: expect.stringMatching(/^tok_/) });
    expect(Date.parse(token.pausedUntil) - Date.parse(token.pausedAt)).toBe(3_600_000);
    expect(await start()).toBe('CHECKOUT_TOKEN_PAUSED');
    expect((await psa(environment, 'tokens', 'paused')).stdout).toMatch(
      new RegExp(`^id +reason +since +until\\n${token.tokenId}  paused by hand  20.*Z  20.*Z\\n$`),
    );
    expect(await psa(environment, 'tokens', 'resume', token.tokenId)).toEqual({
      code: 0,
      stderr: '',
      stdout: `The checkout token ${token.tokenId} is not paused.\n`,
    });
    expect(await start()).toBe('StartCheckoutSuccess');
    const reusable = await psa(environment, 'tokens', 'list', '--reusable');
    expect(reusable.stdout).toMatch(
      new RegExp(`\n${token.tokenId}  acc_\\S+  live +checkout: 500 cents, reusable  20.*Z  revoked\n`),
    );
    expect(reusable.stdout).not.toContain(minted.token);
    expect(await psa(environment, 'tokens', 'revoke', token.tokenId)).toEqual({
      code: 0,
      stderr: '',
      stdout: `The token ${token.tokenId} is revoked.\n`,
    });
    expect((await psa(environment, 'tokens', 'list', '--reusable')).stdout).not.toContain(token.tokenId);
    expect((await psa(environment, 'tokens', 'list', '--all')).stdout).toMatch(
      new RegExp(`${token.tokenId} .*revoked 20`),
    );
    await expect(start()).rejects.toThrow('401');
    expect(await psaProcess(environment, 'keys', 'revoke', key.id)).toEqual({
      code: 1,
      stdout: '',
      stderr: `API key ${key.id} is revoked already\n`,
    });
    expect((await psa(environment, 'keys', 'list')).stdout).not.toContain(key.id);
    expect((await psa(environment, 'keys', 'list', '--all')).stdout).toMatch(
      new RegExp(`${key.id} .* ps_live_….{4} +Folha +subcontas.sacar +\\S+ \\S+Z +\\S+ \\S+Z\n`),
    );

    const made = await answer(environment, 'accounts', 'create', '--name', 'Livraria\u001b[31m');
    const { code, stdout } = await psa(environment, 'accounts', 'list');
    expect(code).toBe(0);
    expect(stdout).toContain('Livraria?[31m');
    expect(await psa(environment, 'keys', 'create', '--live')).toEqual({
      code: 1,
      stdout: '',
      stderr: '--account is missing: there are 2 accounts, so one must be named\n',
    });
    const id = made.account.id;
    const mine = await answer(environment, 'keys', 'create', '--sandbox', '--account', id);
    expect(mine.secret).toMatch(/^ps_test_/);
    const set = await answer(environment, 'accounts', 'set', id, '--payout-fee-pix', '1.50');
    expect(set.account).toMatchObject({ payoutFeesCents: { pix: 150, pix_turbo: 200 }, activeKeys: 1 });
  });

  test('The command dates what it does by the database’s time, also on a machine whose clock is hours behind', async () => {
    const own = { DATABASE_URL: await createPostgresDatabase() };
    const config = readConfig({ PORT: '0', ...own });
    const app = await createApp({ config, clock: createSystemClock(), log: silent, onFatal });
    onTestFinished(() => app.close());
    const { minted } = await createClient(`${app.url}/graphql`, app.firstKeys!.live).request(
      'mutation { minted: createCheckoutToken(input: { amount: { fixedCents: 500 }, reusable: true }) { ... on CreateCheckoutTokenSuccess { token } } }',
    );
    const before = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: before - 2 * 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const { token } = await answer(own, 'tokens', 'pause', minted.token, '--minutes', '60');
    const { keys } = await answer(own, 'keys', 'list');
    vi.useRealTimers();
    expect(keys).toHaveLength(2);
    // Half an hour distinguishes the two clocks, whatever the time in between.
    expect(Date.parse(token.pausedAt)).toBeGreaterThan(before - 1_800_000);
    // With a clock two hours behind, the pause would have ended before it began.
    expect(Date.parse(token.pausedUntil)).toBeGreaterThan(before + 1_800_000);
  });
});

describe('on a data folder that a running server uses', () => {
  test('The command asks the server over a socket of the owner alone, and a revocation closes connections at once', async () => {
    const { dataDir: PSA_DATA_DIR, app } = await runningServer();
    const path = join(PSA_DATA_DIR, 'psa.sock');
    expect(statSync(path).isSocket()).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { key, secret } = await answerOfProcess({ PSA_DATA_DIR }, 'keys', 'create', '--live');
    const socket = openRawSocket(app.url);
    await socket.init(secret);
    await answer({ PSA_DATA_DIR }, 'keys', 'revoke', key.id);
    expect(await socket.closed).toEqual({ code: 4403, reason: 'This credential was revoked' });
    expect(await psa({ PSA_DATA_DIR }, 'accounts', 'set', 'acc_unknown', '--card-payments', 'off')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Account acc_unknown not found\n',
    });
    const { stdout } = await psa({ PSA_DATA_DIR }, 'keys', 'create', '--sandbox');
    expect(stdout).toMatch(
      /^The sandbox API key of account acc_\w+, unrestricted:\n\n {2}ps_test_\S+\n\nIt is /,
    );
  });

  const STORE = runsAll() ? 5_000 : 500;
  test('The books are looked through over the socket, and the exit code says what was found', async () => {
    const { dataDir: PSA_DATA_DIR, app } = await runningServer();
    const sound = await psa({ PSA_DATA_DIR }, 'verify', '--since-last');
    expect(sound).toMatchObject({ code: 0, stderr: '' });
    expect(sound.stdout).toMatch(/^Looked at \d+ ledger transactions?, .*\nEvery law holds\.\n$/);

    // What has happened since then is looked at, and nothing else.
    const { key } = await answer({ PSA_DATA_DIR }, 'keys', 'create', '--live');
    await answer({ PSA_DATA_DIR }, 'keys', 'revoke', key.id);
    const { stdout } = await psa({ PSA_DATA_DIR }, 'verify', '--since-last');
    expect(stdout).toMatch(/^Looked at 0 ledger transactions, 1 event and 0 resources/);

    const move = (by: number) =>
      app.database.sql
        .updateTable('stream')
        .set((row) => ({ version: row('version', '+', by) }))
        .execute();
    await move(7);
    const broken = await psa({ PSA_DATA_DIR }, 'verify', '--json');
    expect(broken.code).toBe(1);
    const { findings, holds } = JSON.parse(broken.stdout);
    expect(holds).toBe(false);
    expect(findings[0]).toMatchObject({ law: 'log-head', expected: 'a stream ends at its head' });
    expect((await psa({ PSA_DATA_DIR }, 'verify')).stdout).toContain('1 finding');
    await move(-7);
    expect((await psa({ PSA_DATA_DIR }, 'verify')).code).toBe(0);

    expect(await psa({ PSA_DATA_DIR }, 'verify', '--account', 'acc_unknown')).toMatchObject({
      code: 2,
      stderr: 'Account acc_unknown not found\n',
    });
    const mistyped = await psa({ PSA_DATA_DIR }, 'verify', '--law', 'all');
    expect(mistyped.code).toBe(2);
    expect(mistyped.stderr).toMatch(/^--law must be one of .*balance-is-sum/);
  });

  test(`A store of ${STORE} products is imported through the socket, and a mistake changes nothing`, async () => {
    const { dataDir: PSA_DATA_DIR, app } = await runningServer();
    const file = join(temporaryFolder(), 'loja.json');
    const many = Array.from({ length: STORE }, (_, index) => ({
      id: String(index),
      name: `Produto ${index}`,
      description: 'x'.repeat(500),
      price: '1.234,56',
      imageUrl: 'https://loja.example/foto.jpg',
      available: true,
    }));
    writeFileSync(file, JSON.stringify(many));
    const [account] = (await answer({ PSA_DATA_DIR }, 'accounts', 'list')).accounts;
    const imported = await answerOfProcess(
      { PSA_DATA_DIR },
      'store',
      'import',
      file,
      '--sandbox',
      '--account',
      account.id,
    );
    expect(imported).toEqual({ accountId: account.id, environment: 'sandbox', count: STORE });
    const { secret } = await answer({ PSA_DATA_DIR }, 'keys', 'create', '--sandbox', '--account', account.id);
    const total = async () =>
      (await createClient(`${app.url}/graphql`, secret).request('{ storeProducts { totalCount } }'))
        .storeProducts;
    expect(await total()).toEqual({ totalCount: STORE });
    const refused: [unknown, string][] = [
      ['{', `${file} is not JSON`],
      [{ produtos: [] }, 'the file must be a list of products. Nothing has changed'],
      [[{ id: '1' }], 'row 1, name: is required. Nothing has changed'],
    ];
    for (const [content, message] of refused) {
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
      expect(await psa({ PSA_DATA_DIR }, 'store', 'import', file, '--sandbox')).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining(message),
      });
    }
    const missing = await psa(
      { PSA_DATA_DIR, INIT_CWD: tmpdir() },
      'store',
      'import',
      'nenhum.json',
      '--live',
    );
    expect(missing).toMatchObject({ code: 1, stderr: 'nenhum.json cannot be read (ENOENT)\n' });
    expect(await total()).toEqual({ totalCount: STORE });
    await answer(
      { PSA_DATA_DIR },
      'keys',
      'revoke',
      (await answer({ PSA_DATA_DIR }, 'keys', 'list')).keys.at(-1).id,
    );
  });

  test('The command finds the server also where the folder’s path is too long for a socket', async () => {
    const PSA_DATA_DIR = join(temporaryFolder(), 'a'.repeat(120));
    const app = await startServerWithoutFiles(PSA_DATA_DIR);
    onTestFinished(() => app.close());
    const pointer = join(PSA_DATA_DIR, 'psa.sock.path');
    const path = readFileSync(pointer, 'utf8');
    expect(path.length).toBeLessThanOrEqual(100);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    expect(statSync(PSA_DATA_DIR).mode & 0o777).toBe(0o700);
    // The command's own folder for temporary files may be another.
    const { keys } = await answerOfProcess({ PSA_DATA_DIR, TMPDIR: temporaryFolder() }, 'keys', 'list');
    expect(keys).toHaveLength(2);
    await app.close();
    expect([pointer, path].filter(existsSync)).toEqual([]);
    expect(app.faults).toEqual([]);
  });

  test('A server replaces the socket that a killed server has left', async () => {
    const PSA_DATA_DIR = temporaryFolder();
    await leaveDeadSocket(PSA_DATA_DIR);
    const app = await startServerWithoutFiles(PSA_DATA_DIR);
    onTestFinished(() => app.close());
    expect((await answer({ PSA_DATA_DIR }, 'keys', 'list')).keys).toHaveLength(2);
    expect(app.faults).toEqual([]);
  });

  test('A server leaves a file alone that is in the place of its socket, and runs without one', async () => {
    const PSA_DATA_DIR = temporaryFolder();
    writeFileSync(join(PSA_DATA_DIR, 'psa.sock'), 'not a socket');
    const app = await startServerWithoutFiles(PSA_DATA_DIR);
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
    await app.close();
    expect(app.faults).toMatchObject([{ err: { message: expect.stringContaining('is not a socket') } }]);
    expect(readFileSync(join(PSA_DATA_DIR, 'psa.sock'), 'utf8')).toBe('not a socket');
  });

  test('The server validates requests over the socket like typed commands, and limits their size', async () => {
    const PSA_DATA_DIR = temporaryFolder();
    const app = await startServerWithoutFiles(PSA_DATA_DIR);
    onTestFinished(() => app.close());
    const ask = (operation: string, input: unknown) =>
      exchange(PSA_DATA_DIR, `${JSON.stringify({ protocol: 1, operation, input })}\n`);
    for (const [operation, input] of [
      ['keys.create', { environment: 'live', permissions: ['tudo'], name: null }],
      ['keys.create', { environment: 'live', permissions: [], name: 'a\u0000b' }],
      ['keys.create', { environment: 'prod', permissions: [], name: null }],
      ['keys.create', null],
      ['keys.revoke', { id: 7 }],
      ['accounts.create', { name: 'x', payoutFeesCents: { pix: 0.5 } }],
      ['accounts.set', { id: 'acc_1' }],
      ['accounts.set', { id: 'acc_1', payoutFeesCents: {} }],
      ['accounts.list', { extra: 1 }],
    ] as const)
      expect(JSON.parse(await ask(operation, input)), `${operation} ${JSON.stringify(input)}`).toMatchObject({
        ok: false,
      });
    expect(await ask('keys.create', { environment: 'live', permissions: ['tudo'], name: null })).toContain(
      '--permission \\"tudo\\" is unknown; there are subcontas.gerenciar, subcontas.sacar, statement.read, webhooks.payloads',
    );
    for (const line of [
      'nonsense',
      'null',
      '{"protocol":99,"operation":"keys.list","input":{}}',
      '{"protocol":1,"operation":"constructor","input":{}}',
    ])
      expect(await exchange(PSA_DATA_DIR, `${line}\n`)).toBe(
        '{"ok":false,"message":"The running server is of another version: restart it"}\n',
      );
    expect(await exchange(PSA_DATA_DIR, 'x'.repeat(70_000))).toBe('');
    expect((await answer({ PSA_DATA_DIR }, 'keys', 'list')).keys).toHaveLength(2);
    expect(app.faults).toEqual([]);
  });

  test('A stopping server does not wait for a client that has sent nothing', async () => {
    const PSA_DATA_DIR = temporaryFolder();
    const app = await startServerWithoutFiles(PSA_DATA_DIR);
    const idle = connect(join(PSA_DATA_DIR, 'psa.sock'));
    await new Promise((resolve) => idle.once('connect', resolve));
    const gone = new Promise((resolve) => idle.once('close', resolve));
    await app.close();
    await gone;
  });

  test('archive writes a month of a running server, refuses one that is not over, and verifies without a server', async () => {
    const folder = temporaryFolder();
    const { dataDir, app } = await runningServer();
    const environment = { INIT_CWD: folder, PSA_DATA_DIR: dataDir };
    await app.embedded!.controls.credit(await firstTenant(app.database.sql), 100);
    const write = ['archive', 'write', '--to', '.', '--key', 'key.pem', '--live', '--month'];
    const refused = await psa(environment, ...write, '2099-12');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /^--month is not over: it can be archived from 2100-01-01T04:00:00.000Z on\n$/,
    );
    expect(existsSync(join(folder, 'key.pem'))).toBe(false);
    const { archives, publicKey } = await answer(environment, ...write, '2020-01');
    expect(archives).toMatchObject([{ environment: 'live', isNew: true, rows: { statement: 2, events: 0 } }]);
    expect(publicKey).toContain('BEGIN PUBLIC KEY');
    expect((await psa(environment, ...write, '2020-01')).stdout).toContain(
      'there already with the same content',
    );
    const verified = await psa({ INIT_CWD: folder }, 'archive', 'verify', archives[0].file);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining(': proved.') });
    // Somebody else needs nothing of this project.
    execFileSync('tar', ['-xf', archives[0].file], { cwd: folder });
    writeFileSync(join(folder, 'given.pem'), publicKey);
    const given = [
      '-pubin',
      '-inkey',
      'given.pem',
      '-rawin',
      '-in',
      'manifest.json',
      '-sigfile',
      'manifest.sig',
    ];
    const said = execFileSync('openssl', ['pkeyutl', '-verify', ...given], { cwd: folder });
    expect(said.toString()).toContain('Verified Successfully');
    const unpacked = execFileSync('sh', ['-c', 'gunzip -c statement.ndjson.gz | sha256sum'], { cwd: folder });
    const { parts } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
    expect(unpacked.toString()).toContain(parts[0].sha256);

    writeFileSync(join(folder, 'other.tar'), 'nothing');
    expect(await psa({ INIT_CWD: folder }, 'archive', 'verify', 'other.tar')).toEqual({
      ...{ code: 1, stdout: '', stderr: `${join(folder, 'other.tar')} is not proved: it is cut off\n` },
    });
  });

  test('erase takes a person out of what a running server has, and names what it did not reach', async () => {
    const { dataDir, app } = await runningServer();
    const environment = { PSA_DATA_DIR: dataDir };
    const tenant = await firstTenant(app.database.sql);
    const customer = { name: 'Ana Plantada', email: 'ana@plantada.example', externalId: 'C-7' };
    const { payment } = await app.embedded!.payments.create(tenant, { valueCents: 500, customer });
    const erase = ['erase', '--email', 'ANA@plantada.example', '--requested-by', 'ticket 4711'];
    expect(await answer(environment, ...erase, '--dry-run')).toMatchObject({
      ...{ erasureId: null, kept: [], found: ['a***@plantada.example'] },
    });
    const { code, stdout } = await psa(environment, ...erase);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('Erased, rows: 1 of event, 1 of payment'),
    });
    expect(stdout).toContain('Not reached: backups and archives');
    expect((await app.embedded!.payments.find(tenant, payment.paymentId))?.customer).toEqual({
      ...{ name: '[erased]', externalId: 'C-7' },
    });
    const wrong = await psa(environment, 'erase', '--document', '12345678900', '--dry-run');
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--document must be a CPF or a CNPJ'),
    });
  });

  test('backup saves the folder of a running server, restore fills another, and both explain what they refuse', async () => {
    const folder = temporaryFolder();
    const { dataDir, app } = await runningServer();
    const caller = { INIT_CWD: folder };
    const saved = await answerOfProcess({ ...caller, PSA_DATA_DIR: dataDir }, 'backup', 'one.gz');
    expect(saved).toMatchObject({ file: join(folder, 'one.gz'), engine: 'pglite', rows: { account: 1 } });
    expect(statSync(saved.file).mode & 0o777).toBe(0o600);

    const long = 'x'.repeat(250);
    const unusable: [string[], string][] = [
      // The unfinished file's name is longer than the system permits.
      [['backup', long], `${join(folder, long)} cannot be written (ENAMETOOLONG)`],
      [
        ['backup', `x${long}x`.repeat(2)],
        `${join(folder, `x${long}x`.repeat(2))} cannot be written (ENAMETOOLONG)`,
      ],
      [
        ['restore', `x${long}x`.repeat(2)],
        `${join(folder, `x${long}x`.repeat(2))} cannot be read (ENAMETOOLONG)`,
      ],
      [['restore', '.'], `${folder} cannot be read (EISDIR)`],
    ];
    for (const [args, said] of unusable)
      expect(await psa({ ...caller, PSA_DATA_DIR: dataDir }, ...args)).toEqual({
        code: 1,
        stdout: '',
        stderr: `${said}\n`,
      });

    const refused: [string[], string][] = [
      [['backup', 'one.gz'], 'one.gz is there already: name another, or move it away'],
      [['restore', 'two.gz'], 'There is no file [^\n]*two.gz'],
      [
        ['restore', 'one.gz'],
        'A server uses [^\n]*data: name a new folder in PSA_DATA_DIR, and start it there',
      ],
    ];
    for (const [args, message] of sampled(refused, 3)) {
      const { code, stdout, stderr } = await psa({ ...caller, PSA_DATA_DIR: dataDir }, ...args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(new RegExp(`^[^\n]*${message}[^\n]*\n$`));
    }
    expect(app.faults).toEqual([]);

    const restored = {
      ...caller,
      // PGlite takes seconds to open a new folder.
      ...(runsAll()
        ? { PSA_DATA_DIR: join(folder, 'restored') }
        : { DATABASE_URL: await createPostgresDatabase('template1') }),
    };
    const { code, stdout, stderr } = await psaProcess(restored, 'restore', 'one.gz');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Restored: \d+ rows of \d+ tables/);
    expect(await answer(restored, 'keys', 'list')).toEqual(
      await answer({ ...caller, PSA_DATA_DIR: dataDir }, 'keys', 'list'),
    );
  });

  test('A server removes its socket when it stops', async () => {
    const PSA_DATA_DIR = await stoppedFolder();
    expect(existsSync(join(PSA_DATA_DIR, 'psa.sock'))).toBe(false);
  });
});

// These tests run after those that use the folder's server.
describe('on a data folder without a server', () => {
  test('Commands open the folder one after the other, and leave it to a server', async () => {
    const PSA_DATA_DIR = await stoppedFolder();
    // The socket of a killed server blocks neither.
    await leaveDeadSocket(PSA_DATA_DIR);
    const [listed, { key, secret }] = await Promise.all([
      answerOfProcess({ PSA_DATA_DIR }, 'keys', 'list', '--all'),
      answerOfProcess({ PSA_DATA_DIR }, 'keys', 'create', '--sandbox'),
    ]);
    const app = await startServer(PSA_DATA_DIR);
    onTestFinished(() => app.close());
    const viewer = await createClient(`${app.url}/graphql`, secret).request(VIEWER);
    expect(viewer.viewer).toEqual({ environment: 'SANDBOX', permissions: [] });
    const { keys } = await answerOfProcess({ PSA_DATA_DIR }, 'keys', 'list', '--all');
    expect(keys).toContainEqual(key);
    const others = keys.filter(({ id }: { id: string }) => id !== key.id);
    expect(listed.keys.filter(({ id }: { id: string }) => id !== key.id)).toEqual(others);
    expect(others.length).toBeGreaterThanOrEqual(2);
    expect(app.faults).toEqual([]);
  });

  test('The command creates nothing in a folder on which no server has run, and says so', async () => {
    for (const PSA_DATA_DIR of [join(temporaryFolder(), 'typo'), temporaryFolder()]) {
      const { code, stdout, stderr } = await psa({ PSA_DATA_DIR }, 'keys', 'create', '--live');
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toBe(
        `No server has run on ${PSA_DATA_DIR} yet, and DATABASE_URL, which names the PostgreSQL of one that uses it, is not set. Start it once, with npm start: that makes the first account, and shows its keys\n`,
      );
      expect(existsSync(join(PSA_DATA_DIR, 'pgdata'))).toBe(false);
    }
  });

  test('The command explains that it cannot reach a server in memory', async () => {
    const { code, stderr } = await psa({ PSA_DATA_DIR: 'memory' }, 'keys', 'list');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^PSA_DATA_DIR is memory: [^\n]*PSA_BOOTSTRAP_LIVE_KEY[^\n]*\n$/);
  });
});

describe('on a data folder whose process does not answer', () => {
  test('The command waits while a server may be starting', async () => {
    const PSA_DATA_DIR = temporaryFolder();
    mkdirSync(join(PSA_DATA_DIR, 'pgdata'));
    const unlock = await lockDataDir(PSA_DATA_DIR);
    const asked = answer({ PSA_DATA_DIR }, 'keys', 'list');
    // The socket may not exist yet at the first attempt.
    const listening = createServer((socket) => {
      socket.once('data', () => socket.end('{"ok":true,"result":{"keys":[]}}\n'));
    });
    await new Promise<void>((resolve) => listening.listen(join(PSA_DATA_DIR, 'psa.sock'), resolve));
    expect(await asked).toEqual({ keys: [] });
    await new Promise((resolve) => listening.close(resolve));
    await unlock();
  });

  test('The command says that the outcome is unknown where the server disconnects before it answers', async () => {
    const PSA_DATA_DIR = temporaryFolder();
    mkdirSync(join(PSA_DATA_DIR, 'pgdata'));
    const disconnecting = createServer((socket) => socket.once('data', () => socket.destroy()));
    await new Promise<void>((resolve) => disconnecting.listen(join(PSA_DATA_DIR, 'psa.sock'), resolve));
    const { code, stderr } = await psa({ PSA_DATA_DIR }, 'keys', 'create', '--live');
    expect(code).toBe(1);
    expect(stderr).toBe(
      'The server did not answer: it may have done what was asked; look before you repeat it\n',
    );
    await new Promise((resolve) => disconnecting.close(resolve));
  });
});

describe('invalid input', () => {
  const mistakes: [string[], RegExp][] = [
    [
      ['keys', 'create', '--live', '--permission', 'tudo'],
      /^--permission "tudo" is unknown; there are subcontas\.gerenciar, subcontas\.sacar, statement\.read, webhooks\.payloads\. See npm run psa -- keys create --help$/m,
    ],
    [
      ['keys', 'create', '--live', '--name', 'x'.repeat(101)],
      /^--name must have at most 100 characters\. See /,
    ],
    [['keys', 'create', '--live', '--name', ''], /^--name must not be empty\. See /],
    [
      ['accounts', 'create', '--name', ' \t'],
      /^--name must not be blank\. See [^\n]*accounts create --help$/m,
    ],
    [['accounts', 'set', 'acc_1', '--color', 'red'], /^--color must be a color [^\n]*accounts set --help$/m],
    [['keys', 'creat'], /^There is no command "keys creat".* See npm run psa -- keys --help$/m],
    [['keys', 'create', '--alive'], /^Unknown option '--alive'\. See npm run psa -- keys create --help$/m],
  ];
  test.each(sampled(mistakes, 4))(
    'psa %j is explained in one line, with exit code 2',
    async (args, message) => {
      // The database does not exist: the command must not open it.
      const { code, stdout, stderr } = await psa(
        { DATABASE_URL: 'postgres://u@127.0.0.1:1/nothing' },
        ...args,
      );
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr.trimEnd()).not.toContain('\n');
    },
  );

  test('A wrong DATABASE_URL is explained in one line, without its password', async () => {
    for (const DATABASE_URL of ['postgres://u:hidden@127.0.0.1:1/psa', 'mysql://u:hidden@db/psa']) {
      const { code, stdout, stderr } = await psaProcess({ DATABASE_URL }, 'keys', 'list');
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^DATABASE_URL[^\n]*\n$/);
      expect(stderr).not.toContain('hidden');
    }
  });

  test('A mistyped command ends its process with exit code 2', async () => {
    const { code, stdout } = await psaProcess({}, 'keys', 'creat');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  test('Help is printed on stdout, with exit code 0', async () => {
    const { code, stdout, stderr } = await psaProcess({}, 'keys', 'create', '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('npm run psa -- keys create --live --permission subcontas.sacar');
  });
});

/** Sends a line to the server's socket. Returns its whole answer. */
async function exchange(dataDir: string, line: string): Promise<string> {
  const socket = connect(join(dataDir, 'psa.sock'));
  let text = '';
  socket.on('error', () => undefined);
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  socket.write(line);
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}
