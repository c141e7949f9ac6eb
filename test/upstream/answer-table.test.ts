import { createServer, type Server, type Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRemoteProducts } from '../../server/src/catalogue/products/remote/service.ts';
import type { Clock } from '../../server/src/kernel/clock.ts';
import type { Requester } from '../../server/src/kernel/requester.ts';
import { createRemoteCardPayments } from '../../server/src/money-in/card-payments/remote/service.ts';
import { createRemotePayments } from '../../server/src/money-in/payments/remote/service.ts';
import { createRemotePayouts } from '../../server/src/money-out/payouts/remote/service.ts';
import { createRemoteSubaccounts } from '../../server/src/money-out/subaccounts/remote/service.ts';
import { createRemoteWallet } from '../../server/src/money-out/wallet/remote/service.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { createUpstream } from '../../server/src/upstream/client.ts';
import { LIVE_KEY } from '../support/app.ts';
import { createManualClock } from '../support/clock.ts';
import { openFreshDatabase } from '../support/database.ts';
import { startFacade } from '../support/facade.ts';
import { sampled } from '../support/scale.ts';

// Wrong answers that a service, or a proxy in front of it, may give: to each endpoint, with an empty mirror and with
// a filled one. The bytes go over TCP, so that a broken answer arrives broken.

const SUBACCOUNT = `sacc_${'a'.repeat(32)}`;
const HEX = 'b'.repeat(24);
const AT = '2026-03-02T12:00:00.000Z';
const PAYOUT = { id: HEX, code: 'SAQ-1', amount: 50, method: 'pix', status: 'pendente', requestedAt: AT };
const SUBACCOUNT_PAYOUT = {
  payoutId: 'saq_idem_k1',
  withdrawalId: HEX,
  code: 'TURBO-1',
  subaccountId: SUBACCOUNT,
  status: 'processing',
  reversed: false,
  amountCents: 5_000,
  createdAt: AT,
};
const CARD = { orderCode: 'PEDIDO1', status: 'pending', amountCents: 5_000, currency: 'BRL', expiresAt: AT };
const PRODUCT = { id: HEX, name: 'Pão', priceCents: 100 };
const PAYMENT = { paymentId: `psa_${'c'.repeat(32)}`, status: 'pending', amountCents: 5_000 };
const entry = (refId: string, amountCents: number) => ({
  kind: 'transfer_in',
  refId,
  amountCents,
  balanceAfterCents: amountCents,
  createdAt: AT,
});

/** The answers of the service itself, by method and path. */
const GOOD: Record<string, unknown> = {
  'GET /v1/wallet': {
    balance: 100,
    disputeBlocked: 0,
    withdrawable: 90,
    pendingRelease: 0,
    cryptoBalanceLtc: 0,
  },
  'GET /v1/payouts': { payouts: [PAYOUT], total: 1 },
  'POST /v1/payouts': PAYOUT,
  [`GET /v1/subaccounts/${SUBACCOUNT}`]: { id: SUBACCOUNT, name: 'Bia', balanceCents: 5_000 },
  [`GET /v1/subaccounts/${SUBACCOUNT}/statement`]: { entries: [entry('t0', 700)], total: 1 },
  [`GET /v1/subaccounts/${SUBACCOUNT}/payouts/saq_idem_k1`]: SUBACCOUNT_PAYOUT,
  [`POST /v1/subaccounts/${SUBACCOUNT}/payout`]: { withdrawal: { id: HEX }, code: 'TURBO-1' },
  [`POST /v1/subaccounts/${SUBACCOUNT}/transfers`]: entry('t1', 5_000),
  'GET /v1/card-payments/PEDIDO1': CARD,
  'POST /v1/card-payments': { ...CARD, checkoutUrl: 'https://pay.example/1' },
  'GET /v1/products': { products: [PRODUCT], total: 1 },
  'POST /v1/products': PRODUCT,
  [`DELETE /v1/products/${HEX}`]: { deleted: true },
  [`GET /v1/payments/${PAYMENT.paymentId}`]: PAYMENT,
  'GET /v1/payments': { payments: [], total: 0 },
};

/** The bytes of an answer; `cut` ends the connection before the body that its head announces. */
function wire(status: number, body: string | Buffer, headers: Record<string, string> = {}, cut = 0): Buffer {
  const bytes = Buffer.from(body);
  const head = Object.entries({
    'content-length': String(bytes.length + cut),
    connection: 'close',
    ...headers,
  });
  return Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status} X\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    ),
    bytes,
  ]);
}
const html = { 'content-type': 'text/html' };
const page = (status: number) => () => wire(status, `<html><h1>${status}</h1></html>`, html);
const redirect = (status: number) => () => wire(status, '', { location: 'https://login.example/' });
type Answer = (good: unknown) => Buffer;

/** Answers after which the request was certainly not done. */
const REFUSING: [string, Answer][] = [
  ['a 404 page', page(404)],
  ['a 404 in the words of a proxy', () => wire(404, '{"message":"no Route matched"}')],
  ['a 404 without a body', () => wire(404, '')],
  ['a 403 page', page(403)],
  ['a 403 in the words of a proxy', () => wire(403, '{"message":"Forbidden"}')],
  ['a compressed 403 page that cannot be decoded', () => wire(403, 'no', { 'content-encoding': 'zstd' })],
];
/** Answers after which the request may have been done. */
const LOSING: [string, Answer][] = [
  ...[300, 301, 302, 303, 304, 307, 308].map((status): [string, Answer] => [
    `a redirect ${status}`,
    redirect(status),
  ]),
  ['a 500 page', page(500)],
  ['a 502 page', page(502)],
  ['a 503 page', page(503)],
  ['a 504 page', page(504)],
  ['HTML with 200', page(200)],
  ['an empty 200', () => wire(200, '')],
  ['half of the body that was announced', (good) => wire(200, JSON.stringify(good).slice(0, 9), {}, 99)],
  ['half a body', (good) => wire(200, JSON.stringify(good).slice(0, 9))],
  ['a body in an unknown coding', () => wire(200, 'no', { 'content-encoding': 'zstd' })],
  ['a body that is not in its coding', () => wire(200, '{}', { 'content-encoding': 'gzip' })],
  ['HTTP/2 alone', () => Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])],
];

let database: Database;
let server: Server;
/** The request that gets another answer, and that answer. */
let broken: { line: string; answer: Answer } | null = null;
const lines: string[] = [];
const sockets = new Set<Socket>();

beforeAll(async () => {
  database = await openFreshDatabase();
  server = createServer((socket) => {
    sockets.add(socket);
    let received = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const end = received.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (end < 0 || received.length < end + 4 + length) return;
      const [method, target = ''] = received.split(' ', 2);
      received = '';
      const line = `${method} ${target.split('?')[0]}`;
      lines.push(line);
      const good = GOOD[line];
      if (broken?.line === line) socket.end(broken.answer(good));
      else if (good === undefined) socket.end(wire(404, '{"error":"Not found"}'));
      else socket.end(wire(200, JSON.stringify(good)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  broken = null;
  lines.length = 0;
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  await database.close();
});

async function start() {
  const clock = createManualClock();
  // The pauses between the tries of a read pass at once.
  const hurried: Clock = {
    ...clock,
    schedule: (at, task) => clock.schedule(at.getTime() - clock.ms() < 1_000 ? clock.now() : at, task),
  };
  const upstream = createUpstream({
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    keys: { live: LIVE_KEY },
    budget: {
      windowMs: 60_000,
      take: async () => ({ sendBy: new Date(8e15), end: () => undefined }),
      block: async () => undefined,
      state: () => {
        throw new Error('no state');
      },
      close: async () => undefined,
    } as unknown as Parameters<typeof createUpstream>[0]['budget'],
    clock: hurried,
    onFault: () => undefined,
  });
  const facade = await startFacade({ database, upstream, clock });
  const { tenant } = facade;
  const stale: boolean[] = [];
  const requester: Requester = { priority: 'merchant', subject: null, onRead: (_, old) => stale.push(old) };
  const readWallet = () => Promise.reject(new Error('no wallet'));
  const payouts = createRemotePayouts({ ...facade, readWallet });
  const subaccounts = createRemoteSubaccounts({ ...facade, readWallet });
  const settings = { callbackUrl: null, findProduct: async () => null, privateAddresses: false };
  const cards = createRemoteCardPayments({ ...facade, ...settings });
  const payments = createRemotePayments({ ...facade, ...settings });
  Object.assign(facade.requests, payouts.requests, subaccounts.requests, cards.requests);
  const ports = {
    wallet: createRemoteWallet(facade).serviceFor(requester),
    payouts: payouts.serviceFor(requester),
    subaccounts: subaccounts.serviceFor(requester),
    cards: cards.serviceFor(requester),
    payments: payments.serviceFor(requester),
    products: createRemoteProducts(facade).serviceFor(requester),
  };
  return {
    facade,
    tenant,
    clock,
    stale,
    ports,
    /** Gives a good answer, so that the faults before it open no circuit. */
    recover: () =>
      upstream.send({
        environment: 'live',
        method: 'GET',
        path: '/v1/x',
        requestOptions: { priority: 'money' },
      }),
  };
}
type Started = Awaited<ReturnType<typeof start>>;

const newest = { end: 'first', limit: 5 } as const;
const READS: [string, (started: Started) => Promise<unknown>][] = [
  ['GET /v1/wallet', ({ ports, tenant }) => ports.wallet.read(tenant)],
  ['GET /v1/payouts', ({ ports, tenant }) => ports.payouts.list(tenant, newest)],
  [`GET /v1/subaccounts/${SUBACCOUNT}`, ({ ports, tenant }) => ports.subaccounts.find(tenant, SUBACCOUNT)],
  [
    `GET /v1/subaccounts/${SUBACCOUNT}/statement`,
    ({ ports, tenant }) => ports.subaccounts.statement(tenant, SUBACCOUNT, newest),
  ],
  [
    `GET /v1/subaccounts/${SUBACCOUNT}/payouts/saq_idem_k1`,
    ({ ports, tenant }) => ports.subaccounts.findPayout(tenant, SUBACCOUNT, 'saq_idem_k1'),
  ],
  ['GET /v1/card-payments/PEDIDO1', ({ ports, tenant }) => ports.cards.find(tenant, 'PEDIDO1')],
  ['GET /v1/products', ({ ports, tenant }) => ports.products.list(tenant, newest)],
  [
    `GET /v1/payments/${PAYMENT.paymentId}`,
    ({ ports, tenant }) => ports.payments.find(tenant, PAYMENT.paymentId),
  ],
];

const key = (idempotencyKey: string) => ({ idempotencyKey });
const WRITES: [
  string,
  'in doubt' | 'found' | 'thrown' | 'repeatable',
  (started: Started) => Promise<unknown>,
][] = [
  [
    'POST /v1/payouts',
    'in doubt',
    ({ ports, tenant }) =>
      ports.payouts.request(tenant, {
        method: 'pix',
        amountCents: 5_000,
        destination: 'a@b.example',
        ...key('k1'),
      }),
  ],
  [
    `POST /v1/subaccounts/${SUBACCOUNT}/payout`,
    'found',
    ({ ports, tenant }) =>
      ports.subaccounts.requestPayout(tenant, {
        subaccountId: SUBACCOUNT,
        amountCents: 5_000,
        pixKey: 'a@b.example',
        ...key('k1'),
      }),
  ],
  [
    `POST /v1/subaccounts/${SUBACCOUNT}/transfers`,
    'thrown',
    ({ ports, tenant }) =>
      ports.subaccounts.transfer(tenant, { subaccountId: SUBACCOUNT, amountCents: 5_000, ...key('k1') }),
  ],
  [
    'POST /v1/card-payments',
    'repeatable',
    ({ ports, tenant }) => ports.cards.create(tenant, { valueCents: 5_000, ...key('k1') }),
  ],
  [
    'POST /v1/products',
    'thrown',
    ({ ports, tenant }) => ports.products.create(tenant, { name: 'Pão', priceCents: 100 }),
  ],
  [`DELETE /v1/products/${HEX}`, 'repeatable', ({ ports, tenant }) => ports.products.delete(tenant, HEX)],
];

describe('an answer that is not the service’s, or is broken', () => {
  test.each([...REFUSING, ...sampled(LOSING, 3)])(
    'Each read that gets %s shows what is known, stale',
    async (_, answer) => {
      const started = await start();
      for (const [line, read] of READS) {
        broken = { line, answer };
        await expect(read(started), `${line}, nothing known`).rejects.toMatchObject({
          code: 'UPSTREAM_UNAVAILABLE',
          retryable: true,
        });
        broken = null;
        started.stale.length = 0;
        const known = await read(started);
        expect(started.stale, line).not.toContain(true);
        started.clock.advance(11_000);
        broken = { line, answer };
        expect(await read(started), line).toEqual(known);
        expect(started.stale.at(-1), line).toBe(true);
        await started.recover();
        broken = null;
        started.stale.length = 0;
        lines.length = 0;
        await read(started);
        expect(lines, `${line}, asked again at once`).toContain(line);
        expect(started.stale, line).not.toContain(true);
      }
    },
  );

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('A body in %s, asked for or not, is read', async (coding, compress) => {
    const started = await start();
    for (const [line, read] of READS) {
      broken = {
        line,
        answer: (good) => wire(200, compress(JSON.stringify(good)), { 'content-encoding': coding }),
      };
      const known = await read(started);
      expect(known, line).not.toBeNull();
      expect(started.stale, line).not.toContain(true);
    }
  });

  test('A body in two codings is read, and one in three is not decoded', async () => {
    const started = await start();
    const [line, read] = READS[0]!;
    const known = await read(started);
    const coded = (times: number) => (good: unknown) => {
      const body = Array(times)
        .fill(gzipSync)
        .reduce((bytes, compress) => compress(bytes), JSON.stringify(good));
      return wire(200, body, { 'content-encoding': Array(times).fill('gzip').join(', ') });
    };
    for (const [times, stale] of [
      [2, false],
      [3, true],
    ] as const) {
      started.clock.advance(11_000);
      broken = { line, answer: coded(times) };
      expect(await read(started)).toEqual(known);
      expect([times, started.stale.at(-1) ?? false]).toEqual([times, stale]);
    }
  });

  test.each(REFUSING)(
    'Each write that gets %s is refused, may be tried again, and is sent again at the next call',
    async (_, answer) => {
      const started = await start();
      for (const [line, , write] of WRITES) {
        lines.length = 0;
        broken = { line, answer };
        for (let time = 1; time <= 2; time += 1) {
          await expect(write(started), line).rejects.toMatchObject({
            code: 'UPSTREAM_UNAVAILABLE',
            retryable: true,
            moneyMayHaveMoved: false,
          });
          expect(
            lines.filter((each) => each === line),
            line,
          ).toHaveLength(time);
        }
        broken = null;
        await write(started);
        expect(
          await started.facade.intents.unresolved(started.tenant, { end: 'first', limit: 9 }),
          line,
        ).toEqual([]);
      }
    },
  );

  test.each(sampled(LOSING, 3))(
    'Each write that gets %s is in doubt, looked up, and never sent again',
    async (_, answer) => {
      const started = await start();
      const doubtOf = (write: (of: Started) => Promise<unknown>) =>
        write(started).catch((error: unknown) => error) as Promise<object>;
      for (const [line, outcome, write] of WRITES) {
        broken = { line, answer };
        lines.length = 0;
        const doubt = await doubtOf(write);
        if (outcome === 'in doubt') expect(doubt, line).toMatchObject({ payout: { inDoubt: true } });
        else if (outcome === 'found') expect(doubt, line).toMatchObject({ payout: { code: 'TURBO-1' } });
        else if (outcome === 'repeatable')
          expect(doubt, line).toMatchObject({ retryable: true, moneyMayHaveMoved: false });
        else expect(doubt, line).toMatchObject({ retryable: false });
        expect(
          lines.filter((each) => each === line),
          line,
        ).toHaveLength(1);
        await started.recover();
      }
      broken = null;
      lines.length = 0;
      const isOpen = async () => {
        const open = await started.facade.intents.unresolved(started.tenant, { end: 'first', limit: 9 });
        return open.map(({ intent }) => intent.operation).sort();
      };
      expect(await isOpen()).toEqual(['createCardPayment', 'requestPayout', 'transferToSubaccount']);
      for (let minute = 0; minute < 3; minute += 1) {
        started.clock.advance(60_000);
        await started.facade.work.settled();
      }
      expect(await isOpen()).toContain('requestPayout');
      for (const [, , write] of WRITES.slice(0, 3)) await doubtOf(write);
      expect(lines.filter((line) => line.startsWith('POST'))).toEqual([]);
      expect(lines).toEqual(expect.arrayContaining(['GET /v1/payouts']));
    },
  );

  test('A 409 is a conflict of keys where its caller has given one', async () => {
    const { ports, tenant } = await start();
    const payout = { subaccountId: SUBACCOUNT, amountCents: 5_000, pixKey: 'a@b.example' };
    const answer = () => wire(409, '{"error":"Saque em andamento"}');
    for (const [idempotencyKey, code] of [
      [undefined, 'UPSTREAM_REFUSED'],
      ['k1', 'IDEMPOTENCY_CONFLICT'],
    ] as const) {
      const keyed = idempotencyKey === undefined ? {} : key(idempotencyKey);
      broken = { line: 'POST /v1/payouts', answer };
      await expect(
        ports.payouts.request(tenant, {
          method: 'pix',
          amountCents: 1,
          destination: 'a@b.example',
          ...keyed,
        }),
      ).rejects.toMatchObject({ code });
      broken = { line: `POST /v1/subaccounts/${SUBACCOUNT}/payout`, answer };
      await expect(ports.subaccounts.requestPayout(tenant, { ...payout, ...keyed })).rejects.toMatchObject({
        code,
      });
      broken = { line: `POST /v1/subaccounts/${SUBACCOUNT}/transfers`, answer };
      await expect(ports.subaccounts.transfer(tenant, { ...payout, ...keyed })).rejects.toMatchObject({
        code,
      });
    }
  });
});
