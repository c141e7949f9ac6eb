import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createPostgresDatabase } from '../support/database.ts';
import { unpackedLibraryFolders } from '../support/debian.mjs';
import { freePort } from '../support/free-port.ts';
import { runInTest } from '../support/test-program.ts';

// PgBouncer with the lines of server/docs/operate.md, and with other modes.

const LIVE_KEY = 'ps_live_pooler0123456789';
const DOCUMENT = readFileSync(new URL('../../server/docs/operate.md', import.meta.url), 'utf8');
const SESSION = 'pool_mode = session';

const folder = mkdtempSync(join(tmpdir(), 'psa-pooler-'));
let pooler: ChildProcess;
let port: number;

beforeAll(async () => {
  const { port: behind, pathname, username } = new URL(await createPostgresDatabase());
  port = await freePort();
  const [, rest = ''] = DOCUMENT.split('\n```ini\n[databases]\n');
  const lines = rest.split('\n```\n')[0]!;
  expect(lines).toContain(SESSION);
  const at = `host=127.0.0.1 port=${behind} dbname=${pathname.slice(1)} user=${username}`;
  const others = ['transaction', 'statement'].map((mode) => `${mode} = ${at} pool_mode=${mode}\n`);
  const file = join(folder, 'pgbouncer.ini');
  const text = `[databases]\n${others.join('')}${lines}\nlisten_addr = 127.0.0.1\nlisten_port = ${port}
unix_socket_dir =\nauth_type = any\n`;
  writeFileSync(file, text.replace('host=127.0.0.1 port=5432', at));
  chmodSync(folder, 0o755);
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  // PgBouncer may be installed in a home folder that only root can read.
  const copyOf = (path: string) => {
    const copy = join(folder, path.replaceAll('/', '_'));
    cpSync(path, copy, { recursive: true, verbatimSymlinks: true });
    return copy;
  };
  const program = process.env
    .PATH!.split(delimiter)
    .map((at) => join(at, 'pgbouncer'))
    .find((path) => existsSync(path));
  const libraries = [process.env.LD_LIBRARY_PATH, ...unpackedLibraryFolders().filter(existsSync).map(copyOf)]
    .filter(Boolean)
    .join(delimiter);
  pooler = spawn(copyOf(program!), [file], {
    ...user,
    env: { ...process.env, LD_LIBRARY_PATH: libraries },
    stdio: 'ignore',
  });
  await vi.waitUntil(() => accepts(port), { timeout: 60_000 });
}, 60_000);
afterAll(async () => {
  pooler.kill('SIGTERM');
  if (pooler.exitCode === null && pooler.signalCode === null) await once(pooler, 'exit');
  rmSync(folder, { recursive: true, force: true });
});

test.each(['transaction', 'statement'])(
  'PgBouncer in %s mode is refused at the start, in one line',
  async (mode) => {
    const { exited, output } = runInTest({ DATABASE_URL: urlOf(mode) });
    expect(await exited).toBe(1);
    expect(output.stderr).toMatch(/^DATABASE_URL: a pooler in transaction or statement mode[^\n]*\n$/);
  },
);

test('Behind PgBouncer in session mode two instances answer every payout', { timeout: 120_000 }, async () => {
  const environment = { DATABASE_URL: urlOf('psa'), PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY, PSA_DEMO: 'off' };
  const first = await runInTest(environment).started;
  const second = await runInTest(environment).started;
  const statuses = await Promise.all(
    Array.from({ length: 40 }, (_, nth) => requestPayout([first, second][nth % 2]!)),
  );
  // The account has no money, so the ledger refuses each payout.
  expect(new Set(statuses)).toEqual(new Set([400]));
  for (const url of [first, second]) expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

async function requestPayout(url: string): Promise<number> {
  const { status } = await fetch(`${url}/v1/payouts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${LIVE_KEY}` },
    body: JSON.stringify({ valueCents: 1_000, method: 'pix', pixKey: 'payer@example.com' }),
  });
  return status;
}

const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;

function accepts(on: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(on, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.end());
  });
}
