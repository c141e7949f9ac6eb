import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Environment } from '../../../server/src/kernel/tenant.ts';
import {
  payoutRequestWire,
  payoutToWire,
  payoutWebhook,
  payoutWire,
  readPayout,
} from '../../../server/src/money-out/payouts/wire.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { fund } from '../../support/funds.ts';
import type { RestClient } from '../../support/rest.ts';
import { PAYOUT } from './examples.ts';

const LTC = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';
const USDT = 'TSKvj5dE2xfkpwQU1z3A1PoNC69QmRVhxK';
const USDT_CONTRACT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const BITCOIN = '3J3jeZjwS8sBkw3GYp42usUARpgp72hkGy';
const PIX = { amount: 149.9, method: 'pix', walletAddress: '12345678909' };

let app: TestApp;
const logged: unknown[] = [];
beforeAll(async () => {
  const log = (...entry: unknown[]) => void logged.push(entry);
  app = await startApp({ log: { error: log, warn: log, info: log } as never });
});
afterAll(() => app.close());

async function merchant(environment: Environment = 'live') {
  const accountId = await addAccount(app);
  const tenant = { accountId, environment };
  await fund({ database: app.database, tenant }, { cents: 100_000 });
  return app.rest(await addKey(app, tenant));
}

/** Advances the clock. Pending payouts reach the bank before and after. */
async function pass(ms: number): Promise<void> {
  await app.work.settled();
  app.clock.advance(ms);
  await app.work.settled();
}

describe('Idempotency-Key', () => {
  const ask = (rest: RestClient, path: string, headers: Record<string, string>, body: object) =>
    rest.send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  test('the header Idempotency-Key is the key of the body, and a replayed answer says so', async () => {
    const rest = await merchant();
    const asked = () => ask(rest, '/payouts', { 'Idempotency-Key': 'saque-7' }, PIX);
    const first = await asked();
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
    const again = await asked();
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(again.body).toEqual(first.body);
    const inBody = await rest.post('/payouts', { ...PIX, idempotencyKey: 'saque-7' });
    expect([inBody.body.id, inBody.headers.get('idempotent-replayed')]).toEqual([first.body.id, 'true']);
    // The header is quoted, as in the draft of the IETF.
    const quoted = await ask(rest, '/payouts', { 'Idempotency-Key': '"saque-7"' }, PIX);
    expect(quoted.body.id).toBe(first.body.id);
    expect((await rest.get('/payouts')).body.total).toBe(1);
  });

  test('a header Idempotency-Key that differs from the key of the body is refused, and no money moves', async () => {
    const rest = await merchant();
    const { status, body } = await ask(
      rest,
      '/payouts',
      { 'Idempotency-Key': 'a' },
      { ...PIX, idempotencyKey: 'b' },
    );
    expect([status, body.error]).toEqual([409, 'Idempotency-Key and idempotencyKey are different']);
    const same = await ask(rest, '/payouts', { 'Idempotency-Key': 'a' }, { ...PIX, idempotencyKey: 'a' });
    expect(same.status).toBe(201);
    expect((await rest.get('/payouts')).body.total).toBe(1);
  });

  test('a malformed header Idempotency-Key is refused by its name', async () => {
    const rest = await merchant();
    for (const key of ['a\tb', '', 'x'.repeat(129)]) {
      const { status, body } = await ask(rest, '/payouts', { 'Idempotency-Key': key }, PIX);
      expect([key, status, body.error]).toEqual([
        ...[key, 400, expect.stringMatching(/^idempotencyKey: must be 1 to 128 /)],
      ]);
    }
    expect((await rest.get('/payouts')).body.total).toBe(0);
  });

  test('the header Idempotency-Key is refused where no key is kept, and ignored by a read', async () => {
    const rest = await merchant();
    const given = { 'Idempotency-Key': 'a' };
    const { status, body } = await ask(rest, '/products', given, { name: 'Caneca', priceCents: 100 });
    expect([status, body.error]).toEqual([400, 'Idempotency-Key: is of no use to POST /v1/products']);
    expect((await rest.send('/payouts', { headers: given })).status).toBe(200);
  });
});

test('a parameter that is given twice is refused by its name', async () => {
  const rest = await merchant();
  const { status, body } = await rest.get('/payouts?limit=1&offset=0&limit=2');
  expect([status, body.error]).toEqual([400, 'limit: is given twice']);
});

describe('POST /v1/payouts', () => {
  test('POST /v1/payouts answers 201, in reais and with the key masked', async () => {
    const rest = await merchant();
    const { status, body } = await rest.post('/payouts', PIX);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: body.withdrawalId,
      withdrawalId: expect.stringMatching(/^[0-9a-f]{24}$/),
      code: expect.stringMatching(/^SAQ-/),
      amount: 149.9,
      method: 'pix',
      walletAddress: '***.456.789-**',
      destinationKind: 'cpf',
      status: 'pendente',
      requestedAt: app.clock.now().toISOString(),
      processedAt: null,
      fee: 1,
    });
    await pass(2_000);
    const done = {
      ...body,
      status: 'concluido',
      processedAt: app.clock.now().toISOString(),
      endToEndId: expect.stringMatching(/^E\d{20}[0-9A-Z]{11}$/),
    };
    for (const reference of [body.id, body.code]) {
      const found = await rest.get(`/payouts/${reference}`);
      expect([found.status, found.body]).toEqual([200, done]);
    }
  });

  test('POST /v1/payouts with the same key answers with the same withdrawal, and with 409 for another input', async () => {
    const rest = await merchant();
    const body = { ...PIX, idempotencyKey: 'saque-1' };
    const first = await rest.post('/payouts', body);
    expect(await rest.post('/payouts', body)).toMatchObject({ status: 201, body: first.body });
    expect((await rest.post('/payouts', { ...body, amount: 149.91 })).status).toBe(409);
    const { amount: _, ...inCents } = { ...body, amountCents: 14_990 };
    expect(await rest.post('/payouts', inCents)).toMatchObject({ status: 201, body: first.body });
    expect((await rest.get('/payouts')).body.total).toBe(1);
  });

  test('POST /v1/payouts answers 400 by the name of each wrong member, and makes nothing', async () => {
    const rest = await merchant();
    for (const [field, change] of [
      ['amount', { amount: undefined }],
      ['amount: is required, or amountCents', { amount: null }],
      ['amount: must not be given together with amountCents', { amountCents: 14_990 }],
      ['amountCents', { amount: null, amountCents: 149.9 }],
      ['amountCents', { amount: null, amountCents: 0 }],
      ['amountCents: must be more than the fee', { amount: null, amountCents: 100 }],
      ['amount', { amount: '149.90' }],
      ['amount', { amount: 0 }],
      ['amount', { amount: -1 }],
      ['amount', { amount: 1.005 }],
      ['amount', { amount: 1e300 }],
      ['amount', { amount: 1 }],
      ['method', { method: undefined }],
      ['method', { method: 'PIX' }],
      ['method', { method: 'usdt' }],
      ['walletAddress', { walletAddress: undefined }],
      ['walletAddress', { walletAddress: '12345678900' }],
      ['walletAddress', { walletAddress: 'with \u0000' }],
      ['walletAddress', { method: 'ltc' }],
      ['walletAddress: is the contract of USDT', { method: 'usd', walletAddress: USDT_CONTRACT }],
      [
        'walletAddress: is an address whose key nobody',
        { method: 'usd', walletAddress: `0x${'0'.repeat(40)}` },
      ],
      ['walletAddress: may be a Bitcoin address', { method: 'ltc', walletAddress: BITCOIN }],
      ['walletAddress: is an MWEB address', { method: 'ltc', walletAddress: 'ltcmweb1qqg5hddkl4uhspjw' }],
      ['idempotencyKey', { idempotencyKey: 'a b ' }],
      ['pixKeyType: must be one of cpf, cnpj, phone', { pixKeyType: 'PHONE' }],
      ['pixKeyType: must not be null: leave it out for a key of any kind', { pixKeyType: null }],
      ['pixKeyType: does not fit the key, which is a CPF', { pixKeyType: 'phone' }],
      ['pixKeyType: must be left out', { method: 'ltc', walletAddress: LTC, pixKeyType: 'random' }],
      ['walletAddress: must be a PIX key', { walletAddress: 'x', pixKeyType: 'random' }],
    ] as const) {
      const { status, body } = await rest.post('/payouts', { ...PIX, ...change });
      const named = field.includes(':') ? field : `${field}: `;
      expect([change, status, body.error]).toEqual([change, 400, expect.stringMatching(`^${named}`)]);
    }
    expect((await rest.get('/payouts')).body.total).toBe(0);
  });

  test('POST /v1/payouts takes eleven digits for a CPF, and for a phone where pixKeyType says so', async () => {
    const rest = await merchant();
    const shown = async (change: object) => {
      const { body } = await rest.post('/payouts', {
        ...PIX,
        amount: 10,
        walletAddress: '11987650034',
        ...change,
      });
      return [body.walletAddress, body.destinationKind];
    };
    expect(await shown({})).toEqual(['***.876.500-**', 'cpf']);
    expect(await shown({ pixKeyType: 'phone' })).toEqual(['****0034', 'phone']);
    const { payouts } = (await rest.get('/payouts')).body;
    expect(payouts.map(({ destinationKind }: { destinationKind: string }) => destinationKind)).toEqual([
      ...['phone', 'cpf'],
    ]);
  });

  test('POST /v1/payouts answers 400 above the withdrawable amount with the detailed reason, and 429 beyond ten an hour', async () => {
    const rest = await merchant();
    expect(await rest.post('/payouts', { ...PIX, amount: 1_000.01 })).toMatchObject({
      status: 400,
      body: {
        error: expect.stringContaining('R$ 1.000,01 is more than can be withdrawn, which is R$ 1.000,00'),
      },
    });
    for (let n = 0; n < 10; n += 1) await rest.post('/payouts', { ...PIX, amount: 2 });
    const limited = await rest.post('/payouts', { ...PIX, amount: 2 });
    expect(limited).toMatchObject({
      status: 429,
      body: { error: expect.stringContaining('10 withdrawals an hour') },
    });
    expect(limited.headers.get('retry-after')).toBe('3600');
  });
});

test('a withdrawal in LTC has the amount that it takes from the LTC balance, and one in USDT has none', async () => {
  const accountId = await addAccount(app);
  const tenant = { accountId, environment: 'live' as const };
  await fund({ database: app.database, tenant }, { cents: 100_000, litoshi: 100_000_000 });
  const rest = app.rest(await addKey(app, tenant));
  const ltc = (await rest.post('/payouts', { ...PIX, method: 'ltc', walletAddress: LTC })).body;
  expect(ltc).toMatchObject({ method: 'ltc', amountLtc: expect.stringMatching(/^0\.\d{8}$/) });
  const usd = (await rest.post('/payouts', { ...PIX, method: 'usd', walletAddress: USDT })).body;
  await pass(3_600_000);
  const { payouts } = (await rest.get('/payouts')).body;
  const done = { status: 'concluido', processedAt: expect.any(String) };
  expect(payouts).toEqual([
    { ...usd, ...done },
    { ...ltc, ...done },
  ]);
  expect(usd).not.toHaveProperty('amountLtc');
});

describe('GET /v1/payouts', () => {
  test('GET /v1/payouts/{id} shows why a withdrawal was denied', async () => {
    const rest = await merchant();
    const { id } = (await rest.post('/payouts', { ...PIX, walletAddress: 'recusa@psa.example' })).body;
    await app.work.settled();
    expect((await rest.get(`/payouts/${id}`)).body).toMatchObject({
      status: 'negado',
      deniedReason: 'Destino bloqueado pela análise de segurança',
      walletAddress: 'r***@psa.example',
    });
  });
});

const PROCESSED = new Date('2026-03-02T12:00:02.000Z');

describe('the webhook (6.1)', () => {
  const common = {
    withdrawalId: '0123456789abcdef01234567',
    code: 'SAQ-8NY3SQZHKXF9',
    amount: 149.9,
    method: 'pix',
    walletAddress: 'ana@padaria.example',
  };

  test.each(['live', 'sandbox'] as const)(
    'the webhook withdrawal.requested has the document’s members, %s',
    (environment) => {
      const sandbox = environment === 'sandbox';
      expect(payoutWebhook(PAYOUT, environment)).toEqual({
        event: sandbox ? 'withdrawal.test.requested' : 'withdrawal.requested',
        ...common,
        status: 'pendente',
        requestedAt: '2026-03-02T12:00:00.000Z',
        sandbox,
      });
    },
  );

  test.each([
    ['withdrawal.completed', { status: 'completed' }, 'live', 'concluido'],
    ['withdrawal.test.completed', { status: 'completed' }, 'sandbox', 'concluido'],
    ['withdrawal.denied', { status: 'denied', deniedReason: 'Conta encerrada' }, 'live', 'negado'],
  ] as const)('the webhook %s has the document’s members', (event, change, environment, status) => {
    const details = { processedAt: PROCESSED, endToEndId: 'E1', litoshi: 42 };
    expect(payoutWebhook({ ...PAYOUT, ...change, ...details }, environment)).toEqual({
      event,
      ...common,
      status,
      processedAt: '2026-03-02T12:00:02.000Z',
    });
  });

  test('a withdrawal that came back stays concluido, with returnedAt, and so is its webhook', () => {
    const at = new Date('2026-03-03T12:00:00.000Z');
    const returned = { ...PAYOUT, status: 'returned', processedAt: PROCESSED, returnedAt: at } as const;
    expect(payoutWebhook(returned, 'live')).toEqual({
      event: 'withdrawal.returned',
      ...common,
      status: 'concluido',
      processedAt: '2026-03-02T12:00:02.000Z',
      returnedAt: '2026-03-03T12:00:00.000Z',
    });
    const wire = payoutWire.encode(payoutToWire(returned));
    expect(wire).toMatchObject({ status: 'concluido', returnedAt: '2026-03-03T12:00:00.000Z' });
    expect(readPayout(wire)).toMatchObject({ status: 'returned', processedAt: PROCESSED, returnedAt: at });
    expect(readPayout({ ...wire, returnedAt: undefined })).toMatchObject({ status: 'completed' });
  });

  test.each(['live', 'sandbox'] as const)(
    'the webhook withdrawal.processing has the members of withdrawal.requested, %s',
    (environment) => {
      const sandbox = environment === 'sandbox';
      const processing = { ...PAYOUT, method: 'pix_turbo', status: 'processing' } as const;
      expect(payoutWebhook(processing, environment)).toEqual({
        event: sandbox ? 'withdrawal.test.processing' : 'withdrawal.processing',
        ...common,
        method: 'pix_turbo',
        status: 'processing',
        requestedAt: '2026-03-02T12:00:00.000Z',
        sandbox,
      });
    },
  );

  test('no webhook reports an unknown status, and one of a USDT withdrawal has the method usd', () => {
    expect(payoutWebhook({ ...PAYOUT, status: 'unknown' }, 'live')).toBeNull();
    expect(payoutWebhook({ ...PAYOUT, method: 'usd' }, 'live')).toMatchObject({ method: 'usd' });
  });
});

describe('the wire', () => {
  test('every amount survives the wire in both directions', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000_000 }), (amountCents) => {
        const { amount } = payoutWire.encode(payoutToWire({ ...PAYOUT, amountCents }));
        const parsed = payoutRequestWire.parse({ amount, method: 'ltc', walletAddress: LTC });
        expect(parsed).toEqual({ amountCents, method: 'ltc', destination: LTC, idempotencyKey: undefined });
      }),
    );
  });

  test('a withdrawal that was written to the wire is read back unchanged', () => {
    for (const status of ['pending', 'processing', 'completed', 'denied'] as const) {
      const details = { processedAt: PROCESSED, endToEndId: 'E1', litoshi: 42 };
      const record = payoutToWire({ ...PAYOUT, ...details, status });
      expect(payoutWire.decode(JSON.parse(JSON.stringify(payoutWire.encode(record))))).toEqual({ ...record });
    }
  });

  test('an address on the wire is masked in the middle', () => {
    expect(payoutToWire({ ...PAYOUT, method: 'ltc', destination: LTC }).walletAddress).toBe('ltc1qw…n4n9');
  });
});

afterEach(() => {
  // After all cases above, the log has no whole key, and no line of an internal fault.
  expect(JSON.stringify(logged)).not.toMatch(/12345678909|recusa@psa\.example/);
  expect(JSON.stringify(logged)).not.toContain('an internal fault');
});
