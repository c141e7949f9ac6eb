import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bootstrapRemote } from '../../server/src/access/administration.ts';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import type { UpstreamCheck } from '../../server/src/kernel/upstream-check.ts';
import { run } from '../../server/src/programs/cli/run.ts';
import { createCommitter } from '../../server/src/state/commit/committer.ts';
import { LIVE_KEY, TEST_KEY } from '../support/app.ts';
import { connectTo, createPostgresDatabase } from '../support/database.ts';
import { startDocumentUpstream } from '../support/document-upstream.ts';
import { startService } from '../support/pair.ts';

describe('psa upstream check', () => {
  let databaseUrl: string;
  beforeAll(async () => {
    databaseUrl = await createPostgresDatabase();
    const clock = createSystemClock();
    const database = await connectTo(databaseUrl, clock);
    const committer = createCommitter({ database, clock, onCommit: () => undefined });
    const upstream = { url: 'https://api.example', keys: { live: LIVE_KEY, sandbox: TEST_KEY } };
    await bootstrapRemote({ database, committer, clock, upstream });
    await database.close();
  });

  async function psa(url: string, args: string[] = [], environment: Record<string, string> = {}) {
    const printed = { stdout: '', stderr: '' };
    const writeTo = (stream: 'stdout' | 'stderr') => ({
      write(text: string | Uint8Array) {
        printed[stream] += text;
        return true;
      },
    });
    const code = await run(['upstream', 'check', ...args], {
      env: {
        DATABASE_URL: databaseUrl,
        PSA_UPSTREAM_URL: url,
        PSA_UPSTREAM_LIVE_KEY: LIVE_KEY,
        PSA_UPSTREAM_TEST_KEY: TEST_KEY,
        // All tests share the limit, because they share the database.
        PSA_UPSTREAM_LIMIT: '1000',
        ...environment,
      },
      stdout: writeTo('stdout'),
      stderr: { ...writeTo('stderr'), isTTY: false },
      exit: (exitCode) => expect.unreachable(`it ends its process with ${exitCode}`),
    });
    return { code, ...printed };
  }

  async function check(...options: Parameters<typeof psa>) {
    const [url, args = [], environment] = options;
    const { code, stdout } = await psa(url, ['--json', ...args], environment);
    const result = JSON.parse(stdout) as UpstreamCheck;
    const found = Object.fromEntries(result.endpoints.map((each) => [each.endpoint, each.finding]));
    const feature = (name: string) => result.features.find((each) => each.feature === name);
    return { code, result, found, feature };
  }

  /** A service that answers each request with this status and body, and records the methods. */
  async function answering(answer: (path: string) => [status: number, body: unknown]) {
    const methods = new Set<string>();
    const server = createServer(({ url = '', method = '' }, response) => {
      methods.add(method);
      const [status, body] = answer(url.split('?')[0]!);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, methods };
  }

  test('The embedded service is read whole, without a change of it, and what is not asked is named', async () => {
    const { app } = await startService();
    onTestFinished(() => app.close());
    const client = app.client(LIVE_KEY);
    await client.request(`mutation {
      createProduct(input: { name: "Caneca", priceCents: 4990 }) { __typename }
      createCardPayment(input: { valueCents: 4990 }) { __typename }
      createPayment(input: { valueCents: 4990 }) { __typename }
      createCharge(input: { valueCents: 4990 }) { __typename }
    }`);
    const before = await app.database.sql.selectFrom('event').select('version').execute();
    const { code, result, found, feature } = await check(app.url, [], { PSA_UPSTREAM_FAMILIES: 'payments' });
    expect(await app.database.sql.selectFrom('event').select('version').execute()).toEqual(before);
    expect(code).toBe(0);
    expect(result).toMatchObject({ environment: 'live', ok: true });
    expect(
      result.endpoints.filter(({ unread, finding }) => unread.length > 0 || finding === 'refused'),
    ).toEqual([]);
    for (const endpoint of [
      ...['GET /v1/wallet', 'GET /v1/products', 'GET /v1/products/{id}', 'GET /v1/card-payments'],
      ...['GET /v1/card-payments/{orderCode}', 'GET /v1/payments/{id}', 'GET /v1/charges/{id}'],
    ])
      expect([endpoint, found[endpoint]]).toEqual([endpoint, 'read']);
    expect(found['GET /v1/disputes']).toBe('empty');
    expect(found['POST /v1/payouts']).toBe('not_asked');
    expect(feature('createPayment, and PIX in <psa-checkout>')).toMatchObject({ works: 'yes' });
    expect(feature('refunds')).toMatchObject({
      works: 'no',
      because: 'not sent: PSA_UPSTREAM_FAMILIES does not name refunds',
    });

    const sandbox = await check(app.url, ['--sandbox']);
    expect(sandbox.result.environment).toBe('sandbox');
    const { stdout } = await psa(app.url);
    expect(stdout).toMatch(/^GET \/v1\/wallet +offered, shape read$/m);
    expect(stdout).toMatch(/^POST \/v1\/charges +not asked, it changes something +not sent: /m);
    expect(stdout).not.toContain(LIVE_KEY);
  });

  test('A service of the document alone lacks the families that came later, and its features say so', async () => {
    const service = await startDocumentUpstream();
    onTestFinished(() => service.close());
    const { found, feature } = await check(service.url, [], {
      PSA_UPSTREAM_LIVE_KEY: service.liveKey,
      PSA_UPSTREAM_TEST_KEY: service.testKey,
    });
    expect(found).toMatchObject({
      'GET /v1/disputes': 'not_offered',
      'GET /v1/disputes/{id}': 'not_offered',
      'GET /v1/payments': 'not_offered',
      'GET /v1/payments/{id}': 'not_offered',
      'GET /v1/deliveries': 'not_offered',
      'GET /v1/card-payments': 'not_offered',
      'GET /v1/card-payments/{orderCode}': 'empty',
    });
    expect(feature('disputes')).toEqual({
      ...{ feature: 'disputes', works: 'no' },
      because: 'NOT_OFFERED: the service has no GET /v1/disputes',
    });
    expect(feature('the status of card payments')).toMatchObject({ works: 'unknown' });
  });

  test('A service of another shape is shown by the members that are not read, and the exit code is 1', async () => {
    const { url, methods } = await answering((path) => {
      if (path === '/v1/wallet') return [200, { balance: 1, saldo: 2 }];
      if (path === '/v1/products')
        return [200, { products: [{ id: 'a'.repeat(24), titulo: 'Caneca' }], total: 1 }];
      if (path === '/v1/payouts') return [200, { message: 'olá' }];
      return path === '/v1/disputes' ? [401, { error: `no key ${LIVE_KEY}` }] : [404, { error: 'Not found' }];
    });
    const { code, result, found, feature } = await check(url);
    expect({ code, ok: result.ok }).toEqual({ code: 1, ok: false });
    expect([...methods]).toEqual(['GET']);
    const unread = Object.fromEntries(result.endpoints.map((each) => [each.endpoint, each.unread]));
    expect(unread['GET /v1/wallet']).toEqual([
      ...['withdrawable', 'pendingRelease', 'disputeBlocked', 'cryptoBalanceLtc'],
    ]);
    expect(unread['GET /v1/products']).toEqual(['products.name', 'products.priceCents']);
    expect(unread['GET /v1/payouts']).toEqual(['payouts']);
    expect(found['GET /v1/disputes']).toBe('refused');
    expect(feature('the wallet')).toMatchObject({ works: 'partly' });
    expect(JSON.stringify(result)).not.toContain(LIVE_KEY);
    const { stdout } = await psa(url);
    expect(stdout).toMatch(/^GET \/v1\/payouts +offered, shape not read +payouts$/m);
  });

  test('A service that is down, and a server that is no facade, are said', async () => {
    const { code, result } = await check('http://127.0.0.1:9');
    expect(code).toBe(1);
    expect(new Set(result.endpoints.map(({ finding }) => finding))).toEqual(
      new Set(['no_answer', 'not_asked']),
    );
    const { code: refused, stderr } = await psa('', [], {
      PSA_UPSTREAM_LIVE_KEY: '',
      PSA_UPSTREAM_TEST_KEY: '',
      PSA_UPSTREAM_LIMIT: '',
    });
    expect({ refused, stderr }).toEqual({
      refused: 1,
      stderr: 'PSA_UPSTREAM_URL is not set: this server has no service behind it\n',
    });
  });
});
