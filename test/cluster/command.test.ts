import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { installedProxies, startProxy } from '../../server/scripts/proxy.mjs';
import { createPostgresDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { createClient } from '../support/graphql.ts';
import { runsAll } from '../support/scale.ts';

// `npm run cluster`, behind each proxy of this machine, and without one.

const SCRIPT = fileURLToPath(new URL('../../server/scripts/cluster.mjs', import.meta.url));
const LIVE_KEY = 'ps_live_command0123456789';
const PROXIES = runsAll() ? installedProxies() : installedProxies().slice(0, 1);

test('npm run cluster -- --help prints how the command is used.', () => {
  const { status, stdout } = runToEnd('--help');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Usage: npm run cluster -- 3 /);
});

test.each([['none'], ['0'], ['10'], ['3', '4'], ['3', '--upstram', 'https://api.example'], ['3', '--proxy']])(
  'npm run cluster refuses the arguments %j in one line.',
  (...args) => {
    const { status, stdout, stderr } = runToEnd(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^✗ Say how many instances, from 1 to 9, .*\n$/);
  },
);

test('npm run cluster refuses a proxy that is not installed in one line.', () => {
  const { status, stdout, stderr } = runToEnd('3', '--proxy', 'squid');
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^✗ --proxy squid is not installed: none\b.*\n$/);
});

test.each(['abc', '-1', '40.5', '65533'])('npm run cluster refuses the port %s in one line.', (port) => {
  const { status, stdout, stderr } = runWith({ PORT: port }, '3', '--proxy', 'none');
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toBe(
    '✗ PORT must be a whole number from 0 to 65532: the ports after it are those of the instances\n',
  );
});

test('npm run cluster without a proxy prints the addresses of its instances, restarts and ends them.', async () => {
  const cluster = await start('none');
  expect(cluster.output()).toContain('PSA is running as 2 instances on one PostgreSQL, without a proxy');
  const before = cluster.instances();
  expect(before).toHaveLength(2);
  for (const { url } of before) expect(await statusOf(`${url}/readyz`)).toBe(200);

  cluster.child.kill('SIGHUP');
  await cluster.printed('All have been restarted:');
  const after = cluster.instances();
  expect(after.map(({ url }) => url)).toEqual(before.map(({ url }) => url));
  for (const { pid, url } of after) {
    expect(before.map((each) => each.pid)).not.toContain(pid);
    expect(await statusOf(`${url}/readyz`)).toBe(200);
  }

  expect(await cluster.end()).toBe(0);
  for (const { url } of after) await expect(statusOf(`${url}/readyz`)).rejects.toThrow();
});

test.each(PROXIES)(
  'Behind %s a rolling restart fails no request, and the other instance answers when one is killed.',
  async (proxy) => {
    const cluster = await start(proxy);
    expect(cluster.output()).toContain(`as 2 instances on one PostgreSQL behind ${proxy}`);
    const [, url = ''] = /PSA is running at ([^\s,]+)/.exec(cluster.output())!;
    const client = createClient(`${url}/graphql`, LIVE_KEY);
    const { updatesCursor: after } = await client.request('{ updatesCursor }');
    const streams = [client.ws(UPDATES, { after }), client.sse(UPDATES, { after })];
    onTestFinished(async () => void (await Promise.all(streams.map((stream) => stream.close()))));
    const create = async (idempotencyKey: string) => {
      const { createCardPayment } = await client.request(CREATE, {
        input: { valueCents: 1_000, idempotencyKey },
      });
      return createCardPayment.cardPayment.orderCode as string;
    };
    const first = await create('first');
    for (const stream of streams)
      expect((await stream.data()).allCardPaymentUpdates.cardPayment.orderCode).toBe(first);

    const before = cluster.instances().map(({ pid }) => pid);
    cluster.child.kill('SIGHUP');
    const restarted = cluster.printed('All have been restarted:').then(() => 'restarted' as const);
    let requests = 0;
    while ((await Promise.race([restarted, create(`restarted:${requests}`)])) !== 'restarted') requests += 1;
    expect(requests).toBeGreaterThan(10);
    const [one, two] = cluster.instances();
    for (const { pid } of [one!, two!]) expect(before).not.toContain(pid);

    process.kill(one!.pid, 'SIGKILL');
    await cluster.printed('[1] ended: SIGKILL');
    // Requests without a body: Caddy before 2.11.2 does not send one to a second instance.
    for (let index = 0; index < 10; index += 1) expect(await statusOf(`${url}/healthz`)).toBe(200);

    expect(await cluster.end()).toBe(0);
    await expect(statusOf(`${url}/healthz`)).rejects.toThrow();
  },
);

test.each(PROXIES)(
  '%s reports the address of the client alone, and hides the routes that are for the inside.',
  async (name) => {
    const instance = createServer(({ headers }, response) => response.end(headers['x-forwarded-for']));
    instance.listen(0, '127.0.0.1');
    await once(instance, 'listening');
    onTestFinished(() => void instance.close());
    const port = await freePort();
    const proxy = await startProxy(name, { port, ports: [(instance.address() as AddressInfo).port] });
    onTestFinished(() => proxy.close());
    const url = `http://127.0.0.1:${port}`;
    const answer = await fetch(url, { headers: { 'x-forwarded-for': '203.0.113.9' } });
    expect(await answer.text()).toBe('127.0.0.1');
    expect(await statusOf(`${url}/readyz`)).toBe(404);
    expect(await statusOf(`${url}/metrics`)).toBe(404);
  },
);

function runToEnd(...args: string[]) {
  return runWith({}, ...args);
}

function runWith(environment: Record<string, string>, ...args: string[]) {
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8', env });
}

/** Starts two instances at free ports, and resolves when the addresses are printed. */
async function start(proxy: string) {
  const child: ChildProcess = spawn(process.execPath, [SCRIPT, '2', '--proxy', proxy], {
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      DATABASE_URL: await createPostgresDatabase(),
      PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
      PSA_GRAPHQL_LIMIT: '1000000',
      PSA_DEMO: 'off',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  const printed = (text: string) =>
    vi.waitUntil(
      () => {
        if (child.exitCode !== null) throw new Error(`it ended: ${output}`);
        return output.includes(text);
      },
      { timeout: 120_000 },
    );
  async function end(): Promise<number> {
    child.kill('SIGINT');
    const [code] = await ended;
    return code;
  }
  onTestFinished(async () => void (await end()));
  await printed('Ctrl-C stops all.');
  return {
    child,
    output: () => output,
    printed,
    /** The instances that were printed last. */
    instances: () =>
      [...output.matchAll(/^ {2}(\d) {2}(\S+) {2}pid (\d+)$/gm)]
        .slice(-2)
        .map(([, , url, pid]) => ({ url: url!, pid: Number(pid) })),
    /** Resolves with the exit code. */
    end,
  };
}

async function statusOf(url: string): Promise<number> {
  const answer = await fetch(url);
  await answer.text();
  return answer.status;
}

const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } }
}`;
const UPDATES = `subscription ($after: String) {
  allCardPaymentUpdates(after: $after) { cardPayment { orderCode } }
}`;
