import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createPostgresDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { type Program, runProgram } from '../support/program.ts';

// A rolling restart behind the proxies, configured by the lines of server/docs/operate.md.

const LIVE_KEY = 'ps_live_proxies0123456789';
const DOCUMENT = readFileSync(new URL('../../server/docs/operate.md', import.meta.url), 'utf8');
/** The number of clients of each kind, through each proxy. */
const AT_ONCE = 3;

const folder = mkdtempSync(join(tmpdir(), 'psa-proxies-'));
const proxies: ChildProcess[] = [];
/** The error output of the proxies. */
const proxyLog: string[] = [];
const instances = new Map<number, Program>();
let environment: Record<string, string>;
let urls: Record<'nginx' | 'Caddy', string>;

beforeAll(async () => {
  environment = {
    NODE_ENV: 'production',
    DATABASE_URL: await createPostgresDatabase(),
    PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
    PSA_GRAPHQL_LIMIT: '1000000',
    PSA_TRUSTED_PROXIES: '127.0.0.1',
    PSA_DRAIN_SECONDS: '3',
    PSA_DEMO: 'off',
  };
  const ports = [await freePort(), await freePort()];
  for (const port of ports) await start(port);
  const [nginx, caddy] = [await freePort(), await freePort()];
  urls = { nginx: `http://127.0.0.1:${nginx}`, Caddy: `http://127.0.0.1:${caddy}` };
  chmodSync(folder, 0o755);
  for (const name of ['logs', 'body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'nginx.conf'), nginxConfiguration(nginx, ports));
  writeFileSync(join(folder, 'Caddyfile'), caddyConfiguration(caddy, ports));
  proxies.push(
    runProxy('nginx', ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')]),
    runProxy('caddy', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']),
  );
  for (const url of Object.values(urls)) await vi.waitUntil(() => isServed(url), { timeout: 60_000 });
});
afterAll(async () => {
  for (const proxy of proxies) proxy.kill('SIGTERM');
  for (const { child } of instances.values()) child.kill('SIGKILL');
  await Promise.all([...proxies, ...[...instances.values()].map(({ child }) => child)].map(ended));
  rmSync(folder, { recursive: true, force: true });
});

test('A rolling restart behind nginx and behind Caddy fails no request, and loses no subscriber an update.', async () => {
  const followers = Object.values(urls).flatMap((url) => [
    follow(createClient(`${url}/graphql`, LIVE_KEY), 'ws'),
    follow(createClient(`${url}/graphql`, LIVE_KEY), 'sse'),
  ]);
  await Promise.all(followers.map(({ started }) => started));

  let restarting = true;
  const failures: string[] = [];
  const created: string[] = [];
  const counts: Record<string, number> = {};
  const load = Object.entries(urls).flatMap(([name, url]) => {
    const loop = async (kind: string, once: (index: number) => Promise<void>) => {
      for (let index = 0; restarting; index += 1) {
        await once(index).catch((error: unknown) => failures.push(`${name}, ${kind}: ${reasonOf(error)}`));
        counts[name] = (counts[name] ?? 0) + 1;
      }
    };
    return Array.from({ length: AT_ONCE }, (_, nth) => [
      loop('create', async (index) => {
        const input = { valueCents: 1_000, idempotencyKey: `${name}:${nth}:${index}` };
        const { createCardPayment } = await ask(url, CREATE, { input });
        created.push(createCardPayment.cardPayment.orderCode);
      }),
      loop('read', async () => {
        await ask(url, '{ cardPayments(first: 5) { totalCount nodes { orderCode } } }');
      }),
      loop('GET', async () => {
        const answer = await fetch(`${url}${OF_ITS_OWN[name as keyof typeof OF_ITS_OWN]}`);
        if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
        await answer.text();
      }),
    ]).flat();
  });

  for (const [port, { child, exited, output }] of instances) {
    child.kill('SIGTERM');
    expect(await exited, output.stderr).toBe(0);
    await start(port);
    await vi.waitUntil(() => isServedBy(port), { timeout: 60_000 });
  }
  restarting = false;
  await Promise.all(load);

  expect(failures, proxyLog.join('\n')).toEqual([]);
  for (const name of Object.keys(urls)) expect(counts[name]).toBeGreaterThan(100);
  for (const tailer of followers) {
    await tailer.until(created);
    expect([...tailer.seen].sort()).toEqual([...created].sort());
    expect(tailer.connections()).toBeGreaterThan(1);
  }
  process.stdout.write(`${JSON.stringify(counts)} requests, none failed; ${created.length} payments\n`);
});

// ── Instances ───────────────────────────────────────────────────────────────────────────────────

/** Starts an instance at a port, and resolves when it is ready. */
async function start(port: number): Promise<void> {
  const program = runProgram({ ...environment, PORT: String(port) }, 'built');
  instances.set(port, program);
  const url = await program.started;
  // A busy database that does not answer within a second makes /readyz answer 503.
  await vi.waitUntil(async () => (await fetch(`${url}/readyz`)).ok, { timeout: 60_000 });
}

/**
 * Paths that are requested through one proxy alone: that proxy sends requests only to an instance that has answered
 * this path.
 */
const OF_ITS_OWN = { nginx: '/v1/openapi.json', Caddy: '/healthz' };

async function isServedBy(port: number): Promise<boolean> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Object.values(OF_ITS_OWN).every((path) => metrics.includes(`route="${path}"`));
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

// ── Proxies ─────────────────────────────────────────────────────────────────────────────────────

function runProxy(program: string, args: string[]): ChildProcess {
  // Caddy stores its certificates and its state in its home.
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.setEncoding('utf8').on('data', (text) => proxyLog.push(`${program}: ${text}`));
  return child;
}

async function isServed(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The document's block in this language, with other ports. */
function linesOfDocument(language: string, ports: readonly number[]): string {
  const [, rest = ''] = DOCUMENT.split(`\n\`\`\`${language}\n`);
  const [lines = ''] = rest.split('\n```\n');
  expect(lines).toContain('127.0.0.1:4001');
  return lines
    .replaceAll('127.0.0.1:4000', `127.0.0.1:${ports[0]}`)
    .replaceAll('127.0.0.1:4001', `127.0.0.1:${ports[1]}`);
}

function nginxConfiguration(port: number, ports: readonly number[]): string {
  const lines = linesOfDocument('nginx', ports);
  expect(lines).toContain('listen 443 ssl;');
  return `
    daemon off;
    worker_processes 1;
    pid ${folder}/nginx.pid;
    error_log stderr crit;
    events {}
    http {
      access_log off;
      client_body_temp_path ${folder}/body;
      proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/fastcgi;
      uwsgi_temp_path ${folder}/uwsgi;
      scgi_temp_path ${folder}/scgi;
      ${lines.replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)}
    }`;
}

function caddyConfiguration(port: number, ports: readonly number[]): string {
  const lines = linesOfDocument('caddyfile', ports);
  expect(lines).toContain('pay.example {');
  return `{
  admin off
  auto_https off
  log {
    level ERROR
  }
}
${lines.replace('pay.example {', `http://127.0.0.1:${port} {`)}
`;
}

// ── Clients ─────────────────────────────────────────────────────────────────────────────────────

/** Sends an operation once, without a retry. */
// biome-ignore lint/suspicious/noExplicitAny: the test knows the shape of the answer
async function ask(url: string, query: string, variables?: object): Promise<any> {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${LIVE_KEY}` },
    body: JSON.stringify({ query, variables }),
  });
  const text = await answer.text();
  if (answer.status !== 200 || text.includes('"errors"')) throw new Error(`${answer.status} ${text}`);
  return JSON.parse(text).data;
}

/** A subscriber that reconnects with its last cursor until the test ends. */
function follow(client: GraphQLClient, transport: 'ws' | 'sse') {
  const seen: string[] = [];
  let connections = 0;
  let over = false;
  let after: string | undefined;
  let leave: () => unknown = () => undefined;
  const begin = (async () => {
    ({ updatesCursor: after } = await client.request('{ updatesCursor }'));
  })();

  async function once(): Promise<void> {
    const updates = client[transport](FOLLOW, { after });
    leave = () => updates.close();
    connections += 1;
    for (;;) {
      const { cursor, cardPayment } = (await updates.data()).allCardPaymentUpdates;
      after = cursor;
      seen.push(cardPayment.orderCode);
    }
  }
  const ending = (async () => {
    await begin;
    while (!over) await once().catch(() => undefined);
  })();
  onTestFinished(async () => {
    over = true;
    await leave();
    await ending;
  });
  return {
    seen,
    started: begin,
    connections: () => connections,
    until: (all: readonly string[]) =>
      expect.poll(() => all.filter((each) => !seen.includes(each))).toEqual([]),
  };
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return `${message}${cause ? ` (${(cause as Error).message})` : ''}`;
}

const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } }
}`;
const FOLLOW = `subscription ($after: String) {
  allCardPaymentUpdates(after: $after) { cursor cardPayment { orderCode } }
}`;
