import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAdministration } from '../server/src/access/administration.ts';
import { firstTenant } from '../server/src/access/service.ts';
import { replaceStoreProducts } from '../server/src/catalogue/store/store.ts';
import type { Permission } from '../server/src/kernel/caller.ts';
import type { Tenant } from '../server/src/kernel/tenant.ts';
import { txidOf } from '../server/src/money-in/pix/model.ts';
import { createCommitter } from '../server/src/state/commit/committer.ts';
import { OPTIONAL_WEBHOOK_EVENTS } from '../server/src/webhooks/sent-events.ts';
import { addAccount, addKey } from './support/accounts.ts';
import { advanceClock } from './support/advance-clock.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from './support/app.ts';
import { approved, approvedLate, approvedSoon, declinedForGood } from './support/cards.ts';
import { DOCUMENT_ROWS, type Section } from './support/document.ts';
import { pdf } from './support/evidence-files.ts';
import { DESTINATIONS } from './support/payout-methods.ts';
import { openReceiver, type Receiver } from './support/receiver.ts';
import { createRestClient, type RestAnswer, type RestClient } from './support/rest.ts';
import { ownMembers } from './support/webhook-bodies.ts';

// The service's document (server/docs/service.md), row by row, against the REST interface over HTTP. A case names the
// rows that it shows; in the end each row must have a case.

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const OBJECT_ID = /^[0-9a-f]{24}$/;
const CPF = '12345678909';

const shown = new Set<string>();
let app: TestApp;
let live: RestClient;
let sandbox: RestClient;
let receiver: Receiver;
/** The account's webhook secret. */
let secret: string;
let subaccountId: string;
/** The wallet of a merchant around the instant at which its first sale is released. */
const release: { balanceCents: number; pendingReleaseCents: number }[] = [];

/** Declares a case of one section that shows these rows of it. */
function rows<S extends Section>(
  section: S,
  names: readonly (typeof DOCUMENT_ROWS)[S][number][],
  body: () => unknown,
) {
  for (const name of names) shown.add(`${section} ${name}`);
  test(`The server follows section ${section} of the service document: ${names.join(', ')}`, async () => {
    await body();
  });
}

/** Declares that the case above shows these rows of another section, too. */
function andRows<S extends Section>(section: S, names: readonly (typeof DOCUMENT_ROWS)[S][number][]) {
  for (const name of names) shown.add(`${section} ${name}`);
}

/** The tenant of the live key. */
async function liveTenant() {
  const sql = app.database.sql;
  const [account] = await sql.selectFrom('account').select('id').orderBy('created_at').execute();
  return { accountId: account!.id, environment: 'live' as const };
}

/** Wraps a client whose requests never reach the limit: the clock advances before they do. */
function patient(client: RestClient): RestClient {
  return {
    ...client,
    send: (path, init) => patiently(() => client.send(path, init)),
    get: (path) => patiently(() => client.get(path)),
    post: (path, body) => patiently(() => client.post(path, body)),
    delete: (path) => patiently(() => client.delete(path)),
  };
}

async function patiently(send: () => Promise<RestAnswer>): Promise<RestAnswer> {
  const answer = await send();
  if (Number(answer.headers.get('ratelimit-remaining') ?? 120) < 2) await advanceClock(app, 60_000);
  return answer;
}

beforeAll(async () => {
  app = await startApp({ environment: { PSA_WEBHOOK_PRIVATE_ADDRESSES: 'on' }, restLimit: undefined });
  live = patient(createRestClient(app.url, LIVE_KEY));
  sandbox = patient(createRestClient(app.url, TEST_KEY));
  receiver = await openReceiver();
  const data = await app.live.request(
    'mutation ($url: Url!) { configureWebhook(input: { url: $url }) { ... on ConfigureWebhookSuccess { secret } } }',
    { url: receiver.url },
  );
  secret = data.configureWebhook.secret;
  await sell(10_000_000);
  for (const ms of [14 * DAY_MS - 60_000, 60_000]) {
    await advanceClock(app, ms);
    const { balanceCents, pendingReleaseCents } = (await live.get('/wallet')).body;
    release.push({ balanceCents, pendingReleaseCents });
  }
  await advanceClock(app, DAY_MS);
  subaccountId = (await live.post('/subaccounts', { name: 'Ana' })).body.id;
  await live.post(`/subaccounts/${subaccountId}/transfers`, { amountCents: 1_000_000 });
}, 60_000);

afterAll(async () => {
  await app.close();
  await receiver.shut();
});

// ── Means ───────────────────────────────────────────────────────────────────────────────────────

/** Creates a card payment that is paid. */
async function sell(valueCents: number, input: object = {}): Promise<string> {
  const { body } = await live.post('/card-payments', { valueCents, ...input });
  await app.cardPayments.pay(body.orderCode, approved());
  await app.work.settled();
  return body.orderCode;
}

/** Creates a payment by PIX. Returns it with its tenant. */
async function charge(valueCents: number, input: object = {}, client = live): Promise<string> {
  return (await client.post('/payments', { valueCents, ...input })).body.paymentId;
}

/** Creates a charge and sends its money. */
async function chargePaid(input: { valueCents: number; [member: string]: unknown }, client = live) {
  const { body } = await client.post('/charges', input);
  const [account] = await app.database.sql.selectFrom('account').select('id').orderBy('created_at').execute();
  await app.pix.pay({ txid: txidOf(body.chargeId) });
  const environment = client === live ? 'live' : 'sandbox';
  await app.charges.receive({ accountId: account!.id, environment }, body.chargeId);
  await app.work.settled();
  return body;
}

/** Sends the money of a payment's code. */
async function payByPix(paymentId: string, environment: Tenant['environment'] = 'live'): Promise<void> {
  const [account] = await app.database.sql.selectFrom('account').select('id').orderBy('created_at').execute();
  await app.pix.pay({ txid: txidOf(paymentId) });
  await app.payments.receive({ accountId: account!.id, environment }, paymentId);
  await app.work.settled();
}

/** Sends LTC to the address of a payment; the same `txid` is the same transaction. */
async function payByLtc(address: string, output: { litoshi: number; confirmations: number; txid?: string }) {
  expect(await app.litecoin.send(address, output)).not.toBeNull();
  await app.work.settled();
}

/** Requests a payout of the subaccount by a key that decides its outcome, and waits for that outcome. */
async function subaccountPayout(pixKey: string, input: object = {}) {
  const requested = await live.post(`/subaccounts/${subaccountId}/payout`, {
    amountCents: 10_000,
    pixKey,
    ...input,
  });
  return requested;
}

const lookUp = (reference: string, client = live) =>
  client.get(`/subaccounts/${subaccountId}/payouts/${reference}`);

async function statement(): Promise<{ kind: string; refId: string; amountCents: number }[]> {
  return (await live.get(`/subaccounts/${subaccountId}/statement`)).body.entries;
}

/** Webhooks about a resource that the merchant's server has received since the test began. */
function reported(from: number, event?: string, { received }: Receiver = receiver) {
  return received
    .slice(from)
    .map(({ headers, body }) => ({ headers, raw: body, body: ownMembers(body) }))
    .filter(({ body }) => event === undefined || body.event === event);
}

async function withKey(permissions: Permission[]): Promise<RestClient> {
  return patient(createRestClient(app.url, await addKey(app, { permissions })));
}

/** Requests a withdrawal an hour later, because an hour has ten. */
async function withdraw(input: object, client = live) {
  return client.post('/payouts', { amount: 100, method: 'pix', walletAddress: CPF, ...input });
}

// ── 1. Scope ────────────────────────────────────────────────────────────────────────────────────

describe('1 scope', () => {
  rows('1', ['29 endpoints'], async () => {
    type Paths = Record<string, Record<string, { 'x-psa-origin': string }>>;
    const { paths } = (await (await fetch(`${app.url}/v1/openapi.json`)).json()) as { paths: Paths };
    const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation['x-psa-origin'] !== 'extension')
        .map(([method]) => ({ method: method.toUpperCase(), path })),
    );
    expect(endpoints).toHaveLength(29);
    const { body: absent } = await live.get('/nothing');
    for (const { method, path } of endpoints) {
      const at = path.replace('/v1', '').replaceAll(/\{\w+\}/g, '-');
      const { status, body } = await live.send(at, { method });
      expect([method, path, status]).not.toEqual([method, path, 405]);
      expect([method, path, body]).not.toEqual([method, path, absent]);
    }
  });
});

// ── 2. Resources and their fields ───────────────────────────────────────────────────────────────

describe('2.1 conventions', () => {
  rows('2.1', ['cents', 'reais'], async () => {
    const { body: wallet } = await live.get('/wallet');
    for (const [name, value] of Object.entries(wallet))
      if (name.endsWith('Cents') && value !== null) expect(Number.isSafeInteger(value), name).toBe(true);
    expect(wallet.balance).toBe(wallet.balanceCents / 100);
    const { body } = await withdraw({ amount: 12.34 });
    expect(body.amount).toBe(12.34);
    expect((await withdraw({ amount: 12.345 })).body).toMatchObject({
      error: expect.stringContaining('amount'),
    });
  });
  rows('2.1', ['dates'], async () => {
    const { body } = await live.post('/card-payments', { valueCents: 80 });
    expect(body.expiresAt).toMatch(ISO);
  });
  rows('2.1', ['metadata'], async () => {
    const metadata = JSON.stringify({ é: '☕', n: 1 }).padEnd(2048);
    const { body } = await live.post('/card-payments', { valueCents: 80, metadata });
    expect((await live.get(`/card-payments/${body.orderCode}`)).body.metadata).toBe(metadata);
    const long = await live.post('/card-payments', { valueCents: 80, metadata: `${metadata} ` });
    expect(long.status).toBe(400);
    expect(long.body.error).toMatch(/metadata.*2048/);
  });
  rows('2.1', ['split metadata'], async () => {
    const splits = [{ subaccountId, percent: 50 }];
    expect(await live.post('/charges', { valueCents: 100, splits, metadata: '{}' })).toMatchObject({
      status: 400,
      body: { error: 'metadata: split charges do not accept metadata' },
    });
    const { body } = await live.post('/charges', { valueCents: 100, splits });
    expect(body).not.toHaveProperty('metadata');
    const metadata = ' {"é": "☕"} ';
    expect((await live.post('/charges', { valueCents: 100, metadata })).body.metadata).toBe(metadata);
  });
  rows('2.1', ['prefix psc_', 'prefix psplit_'], async () => {
    const { body: charge } = await live.post('/charges', { valueCents: 100 });
    expect(charge.chargeId).toMatch(/^psc_[0-9a-f]{32}$/);
    const splits = [{ subaccountId, amountCents: 1 }];
    const { body: split } = await live.post('/charges', { valueCents: 100, splits });
    expect(split.chargeId).toMatch(/^psplit_[0-9a-f]{32}$/);
  });
  rows('2.1', ['prefix sacc_', 'prefix saq_', 'prefix none'], async () => {
    expect(subaccountId).toMatch(/^sacc_[0-9a-f]{32}$/);
    await subaccountPayout(CPF);
    expect((await statement()).find(({ kind }) => kind === 'payout')?.refId).toMatch(/^saq_/);
    const { body: product } = await live.post('/products', { name: 'Caneca', priceCents: 4990 });
    expect(product.id).toMatch(OBJECT_ID);
    expect((await live.post('/card-payments', { valueCents: 80 })).body.orderCode).not.toMatch(
      /^(psa|psc|psplit)_/,
    );
  });
  rows('2.1', ['prefix psa_'], async () => {
    expect(await charge(1)).toMatch(/^psa_[0-9a-f]{32}$/);
  });
  rows('2.1', ['prefix psa_sub_'], async () => {
    const { body } = await live.post('/subscriptions', { valueCents: 1, interval: 'weekly' });
    expect(body.subscriptionId).toMatch(/^psa_sub_[0-9a-f]{32}$/);
  });
  rows('2.1', ['lists'], async () => {
    const { body } = await live.get('/payouts?limit=1&offset=1');
    expect(body).toMatchObject({ limit: 1, offset: 1, total: expect.any(Number) });
    expect((await live.get('/payouts')).body).toMatchObject({ limit: 50, offset: 0 });
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'limit=1.5'])
      expect((await live.get(`/payouts?${query}`)).status, query).toBe(400);
  });
});

describe('2.2 subaccount payout', () => {
  let completed: Record<string, unknown>;
  let failed: Record<string, unknown>;
  let refused: Record<string, unknown>;
  beforeAll(async () => {
    const done = await subaccountPayout(CPF, { idempotencyKey: 'doc-2.2' });
    const denied = await subaccountPayout('negado@psa.example');
    const unsent = await subaccountPayout('recusa@psa.example');
    await advanceClock(app, HOUR_MS);
    const entries = await statement();
    const byCode = async (answer: RestAnswer) => (await lookUp(answer.body.code)).body;
    completed = await byCode(done);
    failed = await byCode(denied);
    refused = await lookUp(entries.find(({ refId }) => refId.startsWith('SUB-'))!.refId).then(
      ({ body }) => body,
    );
    expect(unsent.status).toBeLessThan(300);
  });

  rows('2.2', ['payoutId', 'withdrawalId', 'code', 'subaccountId', 'status', 'reversed'], async () => {
    expect(completed).toMatchObject({
      payoutId: expect.stringMatching(/^saq_/),
      withdrawalId: expect.stringMatching(OBJECT_ID),
      code: expect.stringMatching(/^TURBO-/),
      subaccountId,
      status: 'completed',
      reversed: false,
    });
    expect((await statement()).some(({ refId }) => refId === completed.payoutId)).toBe(true);
    expect(refused.code).toMatch(/^SUB-/);
    expect([failed.status, failed.reversed]).toEqual(['failed', true]);
  });
  rows('2.2', ['amountCents', 'feeCents', 'platformFeeCents', 'netAmountCents'], () => {
    // The account's settings: a fee of 50 for itself and 100 for the service.
    expect(completed).toMatchObject({
      amountCents: 10_000,
      feeCents: 50,
      platformFeeCents: 100,
      netAmountCents: 9_850,
    });
    expect(refused).toMatchObject({ amountCents: 10_000, platformFeeCents: null, netAmountCents: null });
  });
  andRows('8.1', ['markup of a subaccount']);
  rows('2.2', ['pixKey', 'endToEndId', 'recipientName', 'recipientBankName', 'failureReason'], () => {
    expect(completed).toMatchObject({
      pixKey: '***.456.789-**',
      endToEndId: expect.stringMatching(/^E\d{8}\d{12}[A-Za-z0-9]{11}$/),
      recipientName: expect.any(String),
      recipientBankName: expect.any(String),
      failureReason: null,
    });
    expect(failed).toMatchObject({
      recipientName: null,
      recipientBankName: null,
      failureReason: expect.stringMatching(/./),
    });
  });
  rows('2.2', ['createdAt', 'completedAt', 'reversedAt'], () => {
    expect(completed).toMatchObject({
      createdAt: expect.stringMatching(ISO),
      completedAt: expect.stringMatching(ISO),
      reversedAt: null,
    });
    expect(failed.reversedAt).toMatch(ISO);
  });
  rows('2.2', ['form withdrawal.id', 'form TURBO-', 'form saq_idem_', 'form saq_', 'form SUB-'], async () => {
    const forms = [completed.withdrawalId, completed.code, 'saq_idem_doc-2.2', completed.payoutId];
    for (const form of forms) {
      const { status, body } = await lookUp(String(form));
      expect([form, status, body]).toEqual([form, 200, completed]);
    }
    expect((await lookUp(String(refused.code))).body).toEqual(refused);
    expect((await lookUp(String(failed.payoutId))).body).toEqual(failed);
    const fields = [...DOCUMENT_ROWS['2.2']].filter((name) => !name.startsWith('form ')).sort();
    expect(Object.keys(completed).sort()).toEqual([...fields, 'destinationKind'].sort());
    expect(completed.destinationKind).toMatch(/^(cpf|cnpj|phone|email|random)$/);
  });
});

describe('2.3 card payment', () => {
  rows('2.3', ['orderCode', 'status', 'amountCents', 'currency', 'checkoutUrl', 'expiresAt'], async () => {
    const { status, body } = await live.post('/card-payments', { valueCents: 4990 });
    expect(status).toBe(201);
    expect(body).toEqual({
      orderCode: expect.any(String),
      status: 'pending',
      amountCents: 4990,
      currency: 'BRL',
      checkoutUrl: expect.stringMatching(/^https?:\/\//),
      expiresAt: new Date(app.clock.now().getTime() + 30 * 60_000).toISOString(),
    });
    expect((await fetch(body.checkoutUrl)).status).toBe(200);
    expect((await live.get(`/card-payments/${body.orderCode}`)).body).toMatchObject(body);
  });
  andRows('4.2', ['response']);
});

describe('2.4 wallet', () => {
  rows(
    '2.4',
    [
      'currency',
      'balance',
      'gross balance in cents',
      'pendingRelease',
      'pending release in cents',
      'sum of subaccount balances',
      'assignable amount',
      'withdrawable',
      'withdrawableCents',
      'sandbox',
    ],
    async () => {
      await sell(123_45);
      const { status, body } = await live.get('/wallet');
      expect(status).toBe(200);
      const { body: subaccount } = await live.get(`/subaccounts/${subaccountId}`);
      expect(body).toMatchObject({
        currency: 'BRL',
        balance: body.balanceCents / 100,
        pendingRelease: 123.45,
        pendingReleaseCents: 123_45,
        subaccountsBalance: subaccount.balanceCents / 100,
        withdrawable: body.withdrawableCents / 100,
        withdrawableCents:
          body.balanceCents - subaccount.balanceCents - Math.round(body.disputeBlocked * 100),
        assignableCents: body.withdrawableCents,
      });
      expect('sandbox' in body).toBe(false);
    },
  );
  rows('2.4', ['disputeBlocked', 'lost and unforgiven'], async () => {
    const before = (await live.get('/wallet')).body;
    const tenant = await liveTenant();
    const disputeId = await app.controls.openDispute(tenant, { amountCents: 500_00 });
    const held = (await live.get('/wallet')).body;
    expect(held).toMatchObject({
      balanceCents: before.balanceCents,
      disputeBlocked: 500,
      withdrawableCents: before.withdrawableCents - 500_00,
    });
    await app.controls.closeDispute(tenant, disputeId, 'lost');
    // A lost dispute holds its amount until it is forgiven.
    expect((await live.get('/wallet')).body).toEqual(held);
    await app.controls.closeDispute(tenant, disputeId, 'forgiven');
    expect((await live.get('/wallet')).body).toEqual(before);
  });
  rows('2.4', ['cryptoBalanceLtc'], async () => {
    expect((await live.get('/wallet')).body.cryptoBalanceLtc).toBe(0);
    const [account] = await app.database.sql
      .selectFrom('account')
      .select('id')
      .orderBy('created_at')
      .execute();
    await app.controls.creditLtc({ accountId: account!.id, environment: 'live' }, 150_000_000);
    expect((await live.get('/wallet')).body.cryptoBalanceLtc).toBe(1.5);
    expect((await sandbox.get('/wallet')).body.cryptoBalanceLtc).toBe(0);
  });
  rows('2.4', ['sandbox rule'], async () => {
    const before = (await sandbox.get('/wallet')).body;
    expect((await sandbox.post('/sandbox/payments', { valueCents: 50_000 })).status).toBe(201);
    expect((await sandbox.post('/sandbox/payments', { valueCents: 700, pending: true })).status).toBe(201);
    const { body: subaccount } = await sandbox.post('/subaccounts', { name: 'Teste' });
    await sandbox.post(`/subaccounts/${subaccount.id}/transfers`, { amountCents: 1_000 });
    const { status, body } = await sandbox.get('/wallet');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      balanceCents: before.balanceCents + 50_000,
      pendingReleaseCents: before.pendingReleaseCents + 700,
      subaccountsBalance: 10,
      withdrawableCents: before.withdrawableCents + 49_000,
      disputeBlocked: 0,
      sandbox: true,
    });
    expect((await sandbox.get('/sandbox/wallet')).body).toEqual(body);
  });
  andRows('4.3', ['GET /v1/wallet']);
  rows('2.4', ['pending test payments'], async () => {
    const sums = async () => {
      const { balanceCents, pendingReleaseCents } = (await sandbox.get('/wallet')).body;
      return [balanceCents, pendingReleaseCents];
    };
    const [balance, pending] = await sums();
    const paymentId = await charge(1_200, {}, sandbox);
    await charge(300, {}, sandbox);
    expect(await sums()).toEqual([balance, pending + 1_500]);
    await payByPix(paymentId, 'sandbox');
    expect(await sums()).toEqual([balance + 1_200, pending + 300]);
    // A live pending payment is in no figure: its money is not there yet.
    const before = (await live.get('/wallet')).body;
    await charge(700);
    expect((await live.get('/wallet')).body).toEqual(before);
    await advanceClock(app, 31 * 60_000);
    expect(await sums()).toEqual([balance + 1_200, pending]);
  });
});

describe('2.5 other resources', () => {
  rows('2.5', ['subaccount and statement', 'product'], async () => {
    const { body: subaccount } = await live.get(`/subaccounts/${subaccountId}`);
    expect(subaccount).toMatchObject({ id: subaccountId, name: 'Ana', balanceCents: expect.any(Number) });
    for (const { refId } of await statement()) expect(refId).toMatch(/./);
    const { body } = await live.post('/products', { name: 'Prato', description: 'Fundo', priceCents: 8990 });
    expect(body).toEqual({
      id: expect.stringMatching(OBJECT_ID),
      name: 'Prato',
      description: 'Fundo',
      priceCents: 8990,
      createdAt: expect.stringMatching(ISO),
    });
    expect((await live.get(`/products/${body.id}`)).body).toEqual(body);
  });
  rows('2.5', ['payment'], async () => {
    const given = { description: 'Caneca', metadata: '{"a":1}', externalId: 'pix-2.5' };
    const { body } = await live.post('/payments', { valueCents: 4990, ...given });
    expect(body).toMatchObject({
      ...given,
      status: 'pending',
      method: 'pix',
      amountCents: 4990,
      currency: 'BRL',
      pixCopyPaste: expect.stringMatching(/^000201.*6304[0-9A-F]{4}$/),
      expiresAt: new Date(app.clock.now().getTime() + 30 * 60_000).toISOString(),
    });
    expect((await live.get(`/payments/${body.paymentId}`)).body).toEqual(body);
  });
  rows('2.5', ['charge'], async () => {
    const given = { description: 'Aula', expiresInSeconds: 60 };
    const splits = [{ subaccountId, percent: 12.5 }];
    const { body } = await live.post('/charges', { valueCents: 999, ...given, splits });
    expect(body).toMatchObject({
      description: 'Aula',
      status: 'pending',
      amountCents: 999,
      currency: 'BRL',
      netAmountCents: 999,
      ownerAmountCents: 875,
      splits: [{ subaccountId, amountCents: 124, percent: 12.5, refundedCents: 0 }],
      pixCopyPaste: expect.stringMatching(/^000201.*6304[0-9A-F]{4}$/),
      expiresAt: new Date(app.clock.now().getTime() + 60_000).toISOString(),
    });
    expect((await live.get(`/charges/${body.chargeId}`)).body).toEqual(body);
  });
  rows('2.5', ['dispute'], async () => {
    const paymentId = await charge(4990, {});
    await payByPix(paymentId);
    const resource = { type: 'payment', id: paymentId } as const;
    const dispute = await app.controls.disputePayment(await liveTenant(), resource, { amountCents: 10_000 });
    expect((await live.get(`/disputes/${dispute!.disputeId}`)).body).toEqual({
      disputeId: expect.stringMatching(/^dsp_[0-9a-f]{24}$/),
      status: 'open',
      reason: 'fraud',
      paymentId,
      // No refund exceeds what is left of the payment.
      amountCents: 4990,
      blockedCents: 4990,
      evidence: [],
      files: [],
      evidenceDueAt: new Date(app.clock.now().getTime() + 5 * 24 * HOUR_MS).toISOString(),
      createdAt: app.clock.now().toISOString(),
      closedAt: null,
      acceptedAt: null,
    });
    await app.controls.closeDispute(await liveTenant(), dispute!.disputeId, 'won');
  });
  rows('2.5', ['subscription'], async () => {
    const given = { interval: 'monthly', description: 'Clube', metadata: '{"a":1}', endsAfterCycles: 12 };
    const { body } = await live.post('/subscriptions', { valueCents: 4990, ...given });
    expect(body).toMatchObject({
      ...given,
      status: 'pending',
      amountCents: 4990,
      currency: 'BRL',
      cycles: [],
      nextDueAt: null,
      pixCopyPaste: expect.stringMatching(/^000201.*6304[0-9A-F]{4}$/),
      expiresAt: new Date(app.clock.now().getTime() + 24 * 60 * 60_000).toISOString(),
    });
    expect((await live.get(`/subscriptions/${body.subscriptionId}`)).body).toEqual(body);
  });
});

describe('2.5 records of the account', () => {
  rows('2.5', ['payout'], async () => {
    await advanceClock(app, HOUR_MS);
    const { body } = await withdraw({ amount: 12.34, externalId: 'saque-2.5' });
    const { body: list } = await live.get('/payouts?limit=1');
    expect(list.payouts).toEqual([
      {
        id: body.id,
        withdrawalId: body.id,
        code: expect.stringMatching(/^SAQ-/),
        externalId: 'saque-2.5',
        amount: 12.34,
        fee: expect.any(Number),
        method: 'pix',
        walletAddress: '***.456.789-**',
        destinationKind: 'cpf',
        status: expect.any(String),
        requestedAt: expect.stringMatching(ISO),
        processedAt: list.payouts[0].processedAt && expect.stringMatching(ISO),
      },
    ]);
  });
  rows('2.5', ['test payment'], async () => {
    const { body } = await sandbox.post('/sandbox/payments', { valueCents: 50_000 });
    expect(body).toEqual({
      id: expect.stringMatching(/^test_[0-9a-f]{24}$/),
      valueCents: 50_000,
      status: 'paid',
      createdAt: expect.stringMatching(ISO),
    });
  });
});

describe('2.5 the catalogue', () => {
  rows('2.5', ['delivery'], async () => {
    const { body: product } = await live.post('/products', { name: 'Curso', priceCents: 4990 });
    const { body } = await live.post('/deliveries', {
      productId: product.id,
      content: { codes: ['AAAA-1'] },
    });
    expect(body).toEqual({
      deliveryId: expect.stringMatching(OBJECT_ID),
      productId: product.id,
      kind: 'codes',
      content: null,
      deliveredCount: 0,
      remainingCount: 1,
      createdAt: expect.stringMatching(ISO),
    });
  });
  rows('4.5', ['POST /v1/deliveries', 'GET /v1/deliveries'], async () => {
    const { body: product } = await live.post('/products', { name: 'Curso', priceCents: 4990 });
    const content = { text: 'Obrigada!' };
    const made = await live.post('/deliveries', { productId: product.id, content });
    expect([made.status, made.body.content]).toEqual([201, 'Obrigada!']);
    const { body } = await live.get(`/deliveries?productId=${product.id}`);
    expect(body).toEqual({ deliveries: [made.body], total: 1, limit: 50, offset: 0 });
  });
  rows('2.5', ['store product'], async () => {
    await importStore();
    const { body } = await live.get('/store/products?limit=1');
    expect(body.products).toEqual([
      {
        id: '7',
        name: 'Caneca',
        description: 'Azul',
        price: '1.234,56',
        imageUrl: 'https://loja.example/7.jpg',
        available: true,
      },
    ]);
  });
  rows('2.1', ['store price'], async () => {
    await importStore();
    const query = '{ storeProducts { nodes { price priceCents } } }';
    expect((await app.live.request(query)).storeProducts.nodes).toEqual([
      { price: '1.234,56', priceCents: 123_456 },
      { price: null, priceCents: null },
    ]);
  });
  rows('4.5', ['GET /v1/store/products'], async () => {
    await importStore();
    expect((await live.get('/store/products?offset=1')).body).toMatchObject({
      products: [{ id: '8', price: null }],
      total: 2,
      limit: 50,
      offset: 1,
    });
    expect((await sandbox.get('/store/products')).body).toMatchObject({ products: [], total: 0 });
  });
});

/** The interface has no operation that writes the store. */
async function importStore(): Promise<void> {
  const { accountId } = await firstTenant(app.database.sql);
  await replaceStoreProducts(app.database.sql, { accountId, environment: 'live' }, [
    {
      storeProductId: '7',
      name: 'Caneca',
      description: 'Azul',
      price: '1.234,56',
      imageUrl: 'https://loja.example/7.jpg',
      available: true,
    },
    { storeProductId: '8', name: 'Prato', description: null, price: null, imageUrl: null, available: null },
  ]);
}

// ── 3. States and transitions ───────────────────────────────────────────────────────────────────

describe('3.1 subaccount payout', () => {
  rows('3.1', ['processing', 'completed'], async () => {
    const held = await subaccountPayout('verifica@psa.example');
    expect(held.status).toBe(202);
    expect((await lookUp(held.body.code)).body).toMatchObject({ status: 'processing', reversed: false });
    await advanceClock(app, HOUR_MS);
    expect((await lookUp(held.body.code)).body).toMatchObject({ status: 'completed', reversed: false });
  });
  rows('3.1', ['failed'], async () => {
    const before = (await live.get(`/subaccounts/${subaccountId}`)).body.balanceCents;
    const from = receiver.received.length;
    const { body } = await subaccountPayout('negado@psa.example');
    await advanceClock(app, HOUR_MS);
    const steps = reported(from, 'subaccount.payout').map(
      ({ body: { status, reversed } }) => `${status} ${reversed}`,
    );
    expect(steps).toEqual(['processing false', 'failed false', 'failed true']);
    expect((await lookUp(body.code)).body).toMatchObject({ status: 'failed', reversed: true });
    expect((await live.get(`/subaccounts/${subaccountId}`)).body.balanceCents).toBe(before);
    expect((await statement())[0]).toMatchObject({ kind: 'payout_reversal', amountCents: 10_000 });
  });
});

describe('3.2 card payment', () => {
  rows('3.2', ['none to pending', 'pending to paid'], async () => {
    const from = receiver.received.length;
    const { body } = await live.post('/card-payments', { valueCents: 4990 });
    expect(body.status).toBe('pending');
    await app.cardPayments.pay(body.orderCode, approved());
    await app.work.settled();
    expect((await live.get(`/card-payments/${body.orderCode}`)).body.status).toBe('paid');
    expect(reported(from).map(({ body: { event, orderCode } }) => [event, orderCode])).toEqual([
      ['card_payment.paid', body.orderCode],
    ]);
  });

  const create = async (input: object = {}): Promise<string> =>
    (await live.post('/card-payments', { valueCents: 4990, ...input })).body.orderCode;
  const statusOf = async (orderCode: string) => (await live.get(`/card-payments/${orderCode}`)).body.status;
  rows('3.2', ['pending to failed'], async () => {
    const orderCode = await create();
    await app.cardPayments.pay(orderCode, declinedForGood());
    expect(await statusOf(orderCode)).toBe('failed');
  });
  rows('3.2', ['pending to expired', 'expired to paid'], async () => {
    const orderCode = await create();
    await app.cardPayments.pay(orderCode, approvedLate());
    await advanceClock(app, 30 * 60_000);
    expect(await statusOf(orderCode)).toBe('expired');
    await advanceClock(app, 15 * 60_000);
    expect((await live.get(`/card-payments/${orderCode}`)).body).toMatchObject({
      status: 'paid',
      paidLate: true,
    });
  });
  andRows('8', ['card checkout session']);
  rows('3.2', ['paid to refunded'], async () => {
    const orderCode = await sell(4990);
    for (const [amountCents, status] of [
      [990, 'paid'],
      [4_000, 'refunded'],
    ] as const) {
      await live.post(`/card-payments/${orderCode}/refunds`, { amountCents });
      await app.work.settled();
      expect(await statusOf(orderCode)).toBe(status);
    }
  });
  rows('3.2', ['paid_elsewhere'], async () => {
    const order = { externalId: 'doc-3.2' };
    const [kept, second] = [await create(order), await create(order)];
    const from = receiver.received.length;
    for (const orderCode of [kept, second]) await app.cardPayments.pay(orderCode, approvedSoon());
    await advanceClock(app, 5_000);
    const payments = await Promise.all(
      [kept, second].map(async (code) => (await live.get(`/card-payments/${code}`)).body),
    );
    const [failed, paid] = payments.sort((left, right) => left.status.localeCompare(right.status));
    expect(paid.status).toBe('paid');
    expect(failed).toMatchObject({
      status: 'failed',
      returned: true,
      failureReason: 'paid_elsewhere',
      keptPayment: paid.orderCode,
      paidAt: null,
    });
    // A payment that is returned by itself was never paid, and no webhook reports it as paid.
    expect(reported(from).map(({ body: { event, orderCode } }) => [event, orderCode])).toEqual([
      ['card_payment.paid', paid.orderCode],
    ]);
  });
  rows('3.2', ['expired to failed'], async () => {
    const orderCode = await create();
    await app.cardPayments.pay(orderCode, approvedSoon());
    expect((await live.delete(`/card-payments/${orderCode}`)).body.status).toBe('expired');
    await advanceClock(app, 5_000);
    expect((await live.get(`/card-payments/${orderCode}`)).body).toMatchObject({
      status: 'failed',
      returned: true,
      failureReason: 'canceled',
      paidAt: null,
      refundedAt: null,
    });
  });
});

describe('3.3 withdrawal', () => {
  rows('3.3', ['requested', 'paid'], async () => {
    await advanceClock(app, HOUR_MS);
    const from = receiver.received.length;
    const { status, body } = await withdraw({});
    expect([status, body.status]).toEqual([201, 'pendente']);
    await advanceClock(app, 60_000);
    expect((await live.get(`/payouts/${body.id}`)).body.status).toBe('concluido');
    expect(reported(from).map(({ body: { event, status: step } }) => [event, step])).toEqual([
      ['withdrawal.requested', 'pendente'],
      ['withdrawal.completed', 'concluido'],
    ]);
  });
  rows('3.3', ['denied'], async () => {
    const before = (await live.get('/wallet')).body.balanceCents;
    const from = receiver.received.length;
    const { body } = await withdraw({ walletAddress: 'negado@psa.example' });
    expect((await live.get('/wallet')).body.balanceCents).toBe(before - 10_000);
    await advanceClock(app, 60_000);
    expect((await live.get(`/payouts/${body.id}`)).body.status).toBe('negado');
    expect((await live.get('/wallet')).body.balanceCents).toBe(before);
    expect(reported(from).map(({ body: { event, status } }) => [event, status])).toEqual([
      ['withdrawal.requested', 'pendente'],
      ['withdrawal.denied', 'negado'],
    ]);
    expect(reported(from)[1]!.body.processedAt).toMatch(ISO);
  });
  andRows('6.1', ['withdrawal.denied']);
  rows('3.3', ['processing'], async () => {
    const { body } = await withdraw({ method: 'pix_turbo' });
    await app.work.settled();
    const listed = (await live.get('/payouts')).body.payouts.find(({ id }: { id: string }) => id === body.id);
    expect(listed.status).toBe('processing');
  });
});

describe('3.4 payment by PIX', () => {
  const statusOf = async (paymentId: string) => {
    const { status, paidLate } = (await live.get(`/payments/${paymentId}`)).body;
    return [status, paidLate];
  };
  rows('3.4', ['none to pending', 'pending to paid', 'paid to refunded'], async () => {
    const { balanceCents } = (await live.get('/wallet')).body;
    const paymentId = await charge(4_990);
    expect(await statusOf(paymentId)).toEqual(['pending', false]);
    await payByPix(paymentId);
    expect(await statusOf(paymentId)).toEqual(['paid', false]);
    expect((await live.get('/wallet')).body.balanceCents).toBe(balanceCents + 4_990);
    for (const [amountCents, status] of [
      [990, 'paid'],
      [4_000, 'refunded'],
    ] as const) {
      await live.post(`/payments/${paymentId}/refunds`, { amountCents });
      await app.work.settled();
      expect(await statusOf(paymentId)).toEqual([status, false]);
    }
    expect((await live.get('/wallet')).body.balanceCents).toBe(balanceCents);
  });
  rows('3.4', ['pending to expired', 'expired to paid'], async () => {
    const paymentId = await charge(4_990);
    await advanceClock(app, 30 * 60_000);
    expect(await statusOf(paymentId)).toEqual(['expired', false]);
    await payByPix(paymentId);
    expect(await statusOf(paymentId)).toEqual(['paid', true]);
  });
  rows('3.4', ['expired to failed'], async () => {
    const order = { externalId: 'doc-3.4-late' };
    const [late, kept] = [await charge(4_990, order), await charge(4_990, order)];
    await advanceClock(app, 30 * 60_000);
    await payByPix(kept);
    await payByPix(late);
    expect((await live.get(`/payments/${late}`)).body).toMatchObject({
      status: 'failed',
      returned: true,
      failureReason: 'paid_elsewhere',
      keptPayment: kept,
      paidAt: null,
    });
  });
  rows('3.4', ['pending to failed'], async () => {
    const customer = { email: 'sem-codigo@psa.example' };
    expect((await live.post('/payments', { valueCents: 4_990, customer })).status).toBe(409);
    expect((await live.get('/payments?limit=1')).body.payments).toMatchObject([
      { status: 'failed', customer, pixCopyPaste: null, failureReason: expect.stringMatching(/./) },
    ]);
  });
});

describe('3.4 payment by LTC', () => {
  /** Creates a payment by LTC. Returns its address, and the amount in LTC. */
  async function ask(input: object = {}) {
    const { body } = await live.post('/payments', { valueCents: 4_990, method: 'ltc', ...input });
    expect(body).toMatchObject({ status: 'pending', ltcReceived: '0.00000000', confirmations: 0 });
    return { ...body, litoshi: Math.round(Number(body.ltcAmount) * 1e8) };
  }
  const find = async (paymentId: string) => (await live.get(`/payments/${paymentId}`)).body;

  rows('3.4', ['ltc confirmations'], async () => {
    const before = (await live.get('/wallet')).body;
    const { paymentId, ltcAddress, litoshi, feeCents } = await ask();
    const output = { txid: '1'.repeat(64), litoshi };
    await payByLtc(ltcAddress, { ...output, confirmations: 1 });
    expect(await find(paymentId)).toMatchObject({ status: 'pending', confirmations: 1 });
    await payByLtc(ltcAddress, { ...output, confirmations: 2 });
    expect(await find(paymentId)).toMatchObject({ status: 'paid', paidLate: false, confirmations: 2 });
    const after = (await live.get('/wallet')).body;
    expect([after.balanceCents, feeCents]).toEqual([before.balanceCents, 0]);
    expect(Math.round((after.cryptoBalanceLtc - before.cryptoBalanceLtc) * 1e8)).toBe(litoshi);
    expect((await live.post(`/payments/${paymentId}/refunds`, {})).status).toBe(409);
    const requirements = await Promise.all([99_999, 100_000].map((valueCents) => ask({ valueCents })));
    expect(requirements.map(({ requiredConfirmations }) => requiredConfirmations)).toEqual([2, 6]);
  });
  rows('3.4', ['ltc a day more', 'ltc late'], async () => {
    const [seen, confirmed, unseen] = [await ask(), await ask(), await ask()];
    for (const { ltcAddress, litoshi, paymentId } of [seen, confirmed])
      await payByLtc(ltcAddress, { txid: paymentId.slice(4).repeat(2), litoshi, confirmations: 0 });
    await advanceClock(app, 30 * 60_000);
    const statuses = () =>
      Promise.all(
        [seen, confirmed, unseen].map(async ({ paymentId }) => {
          const { status, paidLate } = await find(paymentId);
          return [status, paidLate];
        }),
      );
    expect(await statuses()).toEqual([
      ['pending', false],
      ['pending', false],
      ['expired', false],
    ]);
    await payByLtc(unseen.ltcAddress, { litoshi: unseen.litoshi, confirmations: 2 });
    await advanceClock(app, DAY_MS - 60_000);
    const { ltcAddress, litoshi, paymentId } = confirmed;
    await payByLtc(ltcAddress, { txid: paymentId.slice(4).repeat(2), litoshi, confirmations: 2 });
    await advanceClock(app, 60_000);
    expect(await statuses()).toEqual([
      ['expired', false],
      ['paid', false],
      ['paid', true],
    ]);
  });
  rows('3.4', ['ltc underpaid'], async () => {
    const { paymentId, ltcAddress, litoshi } = await ask();
    await payByLtc(ltcAddress, { litoshi: litoshi - 1, confirmations: 2 });
    expect(await find(paymentId)).toMatchObject({ status: 'pending', failureReason: null });
    await advanceClock(app, 30 * 60_000);
    expect(await find(paymentId)).toMatchObject({
      status: 'failed',
      failureReason: 'underpaid',
      returnedCredits: [],
    });
  });
  rows('3.4', ['ltc paid_elsewhere'], async () => {
    const order = { externalId: 'doc-3.4' };
    const { paymentId, ltcAddress, litoshi } = await ask(order);
    const paid = await charge(4_990, order);
    await payByPix(paid);
    const { cryptoBalanceLtc } = (await live.get('/wallet')).body;
    await payByLtc(ltcAddress, { litoshi, confirmations: 2 });
    expect(await find(paymentId)).toMatchObject({ status: 'failed', failureReason: 'paid_elsewhere' });
    expect(await find(paid)).toMatchObject({ status: 'paid' });
    // The payout waits for the operator.
    expect((await live.get('/wallet')).body.cryptoBalanceLtc).toBe(cryptoBalanceLtc);
  });
});

describe('3.5 charge by PIX', () => {
  rows('3.5', ['shares', 'refund of a split charge'], async () => {
    const { body: ana } = await live.post('/subaccounts', { name: 'Ana' });
    const splits = [{ subaccountId: ana.id, percent: 33.33 }];
    const charge = await chargePaid({ valueCents: 1_000, splits });
    const balance = async () => (await live.get(`/subaccounts/${ana.id}`)).body.balanceCents;
    expect(await balance()).toBe(333);
    const { status } = await live.post(`/charges/${charge.chargeId}/refunds`, { amountCents: 500 });
    expect([status, await balance()]).toEqual([201, 167]);
    await live.post(`/charges/${charge.chargeId}/refunds`, {});
    await app.work.settled();
    expect(await balance()).toBe(0);
    expect((await live.get(`/charges/${charge.chargeId}`)).body).toMatchObject({
      status: 'refunded',
      refundedCents: 1_000,
      splits: [{ refundedCents: 333 }],
    });
    const { body } = await live.get(`/subaccounts/${ana.id}/statement`);
    expect(body.entries.map(({ kind, amountCents }: Record<string, unknown>) => [kind, amountCents])).toEqual(
      [
        ['split_reversal', -167],
        ['split_reversal', -166],
        ['split_in', 333],
      ],
    );
  });
});

describe('3.6 dispute', () => {
  /** The statuses of a dispute of 1,00, step by step, each with the amount that is held after it. */
  async function follow(steps: readonly ('under_review' | 'won' | 'lost' | 'forgiven')[]) {
    const tenant = await liveTenant();
    const { disputeBlocked } = (await live.get('/wallet')).body;
    const held = async () =>
      Math.round(((await live.get('/wallet')).body.disputeBlocked - disputeBlocked) * 100);
    const id = await app.controls.openDispute(tenant, { amountCents: 100 });
    const shown = [['open', await held()]];
    for (const step of steps) {
      if (step === 'under_review') await live.post(`/disputes/${id}/evidence`, { text: 'Entregue' });
      else await app.controls.closeDispute(tenant, id, step);
      shown.push([(await live.get(`/disputes/${id}`)).body.status, await held()]);
    }
    return shown;
  }
  rows('3.6', ['open to won'], async () => {
    expect(await follow(['won'])).toEqual([
      ['open', 100],
      ['won', 0],
    ]);
  });
  rows('3.6', ['open to lost', 'lost to forgiven'], async () => {
    expect(await follow(['lost', 'forgiven'])).toEqual([
      ['open', 100],
      ['lost', 100],
      ['forgiven', 0],
    ]);
  });
  rows('3.6', ['open to under_review', 'under_review to won', 'under_review to lost'], async () => {
    expect(await follow(['under_review', 'won'])).toEqual([
      ['open', 100],
      ['under_review', 100],
      ['won', 0],
    ]);
    expect(await follow(['under_review', 'lost', 'forgiven'])).toEqual([
      ['open', 100],
      ['under_review', 100],
      ['lost', 100],
      ['forgiven', 0],
    ]);
  });
  rows('3.6', ['the end of the time for evidence', 'no refund of what is disputed'], async () => {
    const tenant = await liveTenant();
    const paymentId = await charge(4_990);
    await payByPix(paymentId);
    const resource = { type: 'payment', id: paymentId } as const;
    const { disputeId } = (await app.controls.disputePayment(tenant, resource, { amountCents: 4_990 }))!;
    expect((await live.post(`/payments/${paymentId}/refunds`, {})).status).toBe(409);
    await advanceClock(app, 5 * DAY_MS);
    expect((await live.get(`/disputes/${disputeId}`)).body.status).toBe('under_review');
    expect((await live.post(`/disputes/${disputeId}/evidence`, { text: 'Entregue' })).status).toBe(409);
    await app.controls.closeDispute(tenant, disputeId, 'won');
    expect((await live.get(`/payments/${paymentId}`)).body.status).toBe('paid');
    expect((await live.post(`/payments/${paymentId}/refunds`, {})).status).toBe(201);
  });
});

describe('3.7 subscription', () => {
  type Act = 'paid' | 'declined' | 'expired' | 'cancel';
  /** The statuses of a subscription in sandbox, from `pending` on, after each act of its payer or its merchant. */
  async function follow(input: object, acts: readonly Act[]): Promise<string[]> {
    const { body } = await sandbox.post('/subscriptions', {
      valueCents: 4_990,
      interval: 'monthly',
      ...input,
    });
    const path = `/subscriptions/${body.subscriptionId}`;
    const statuses: string[] = [body.status];
    for (const act of acts) {
      if (act === 'cancel') await sandbox.delete(path);
      else await sandbox.post('/sandbox/payments', { id: body.subscriptionId, outcome: act });
      await app.work.settled();
      statuses.push((await sandbox.get(path)).body.status);
    }
    return statuses;
  }

  rows(
    '3.7',
    ['pending to active', 'active to past_due', 'past_due to active', 'active to canceled'],
    async () => {
      expect(await follow({}, ['paid', 'declined', 'paid', 'cancel'])).toEqual([
        ...['pending', 'active', 'past_due', 'active', 'canceled'],
      ]);
    },
  );
  rows('3.7', ['past_due to canceled'], async () => {
    expect(await follow({}, ['paid', 'declined', 'cancel'])).toEqual([
      ...['pending', 'active', 'past_due', 'canceled'],
    ]);
  });
  rows('3.7', ['pending to completed', 'active to completed', 'past_due to completed'], async () => {
    expect(await follow({ endsAfterCycles: 1 }, ['paid'])).toEqual(['pending', 'completed']);
    const twice = { endsAfterCycles: 2 };
    expect(await follow(twice, ['paid', 'paid'])).toEqual(['pending', 'active', 'completed']);
    expect(await follow(twice, ['paid', 'declined', 'paid'])).toEqual([
      ...['pending', 'active', 'past_due', 'completed'],
    ]);
  });
  rows('3.7', ['pending to canceled', 'pending to expired'], async () => {
    expect(await follow({}, ['cancel'])).toEqual(['pending', 'canceled']);
    expect(await follow({}, ['declined'])).toEqual(['pending', 'canceled']);
    expect(await follow({}, ['expired'])).toEqual(['pending', 'expired']);
  });
  rows('3.7', ['attempts of a cycle', 'unpaid', 'payment of a cycle'], async () => {
    const customer = { email: 'nega@psa.example' };
    const { body } = await live.post('/subscriptions', { valueCents: 4_990, interval: 'weekly', customer });
    await app.pix.pay({ txid: txidOf(body.subscriptionId) });
    await app.work.settled();
    const find = async () => (await live.get(`/subscriptions/${body.subscriptionId}`)).body;
    const { cycles, nextDueAt } = await find();
    expect(cycles).toMatchObject([
      { number: 2, status: 'scheduled', attempts: 0, dueAt: nextDueAt, nextAttemptAt: nextDueAt },
      { number: 1, status: 'paid', attempts: 1 },
    ]);
    expect((await live.get(`/payments/${cycles[1].paymentId}`)).body).toMatchObject({
      status: 'paid',
      subscriptionId: body.subscriptionId,
      amountCents: 4_990,
    });
    const until = async (at: number) => {
      await advanceClock(app, at - app.clock.ms());
      return (await find()).cycles.find(({ number }: { number: number }) => number === 2);
    };
    const dueAt = Date.parse(nextDueAt);
    // The attempts are on the due day, and one and three days after it; seven days after it the next cycle is due.
    for (const [day, attempts, next] of [
      [0, 1, 1],
      [1, 2, 3],
    ] as const) {
      expect((await until(dueAt + day * DAY_MS - 1)).attempts).toBe(attempts - 1);
      expect(await until(dueAt + day * DAY_MS + 22 * HOUR_MS)).toMatchObject({
        status: 'retrying',
        attempts,
        nextAttemptAt: new Date(dueAt + next * DAY_MS).toISOString(),
      });
    }
    expect(await until(dueAt + 3 * DAY_MS + 22 * HOUR_MS)).toMatchObject({ status: 'failed', attempts: 3 });
    expect((await find()).status).toBe('past_due');
    await until(dueAt + 18 * DAY_MS);
    const ended = await find();
    expect(ended).toMatchObject({ status: 'canceled', cancelReason: 'unpaid', nextDueAt: null });
    expect(ended.cycles.map(({ status }: { status: string }) => status)).toEqual([
      ...['failed', 'failed', 'failed', 'paid'],
    ]);
  });
});

// ── 4. Endpoints ────────────────────────────────────────────────────────────────────────────────

describe('4.1 GET /v1/subaccounts/{id}/payouts/{payoutId}', () => {
  let code: string;
  beforeAll(async () => {
    code = (await subaccountPayout(CPF)).body.code;
  });
  rows('4.1', ['path id', 'path payoutId', '400'], async () => {
    const errors = [
      await live.get(`/subaccounts/sacc_12/payouts/${code}`),
      await live.get(`/subaccounts/${subaccountId.toUpperCase()}/payouts/${code}`),
      await lookUp('nothing'),
      await lookUp('saq_idem_'),
      await lookUp(`saq_idem_${'x'.repeat(129)}`),
    ];
    expect(errors.map(({ status, body }) => [status, Object.keys(body)])).toEqual(
      errors.map(() => [400, ['error', 'code', 'retryPolicy', 'fields']]),
    );
  });
  rows('4.1', ['200', 'body'], async () => {
    const { status, body } = await lookUp(code);
    expect([status, body]).toMatchObject([200, { code, subaccountId, amountCents: 10_000, reversed: false }]);
  });
  rows('4.1', ['403', 'rule 1'], async () => {
    const manages = await withKey(['subcontas.gerenciar']);
    const withdraws = await withKey(['subcontas.sacar']);
    expect((await lookUp(code, manages)).status).toBe(200);
    expect((await lookUp(code, withdraws)).status).toBe(200);
    expect((await withdraws.get('/wallet')).status).toBe(403);
    expect((await withdraws.post('/subaccounts', { name: 'x' })).status).toBe(403);
  });
  rows('4.1', ['404', 'rule 2', 'rule 3'], async () => {
    const absent = `sacc_${'0'.repeat(32)}`;
    const other = (await live.post('/subaccounts', { name: 'Bia' })).body.id;
    const stranger = patient(
      createRestClient(app.url, await addKey(app, { accountId: await addAccount(app) })),
    );
    const answers: [RestAnswer, string][] = [
      [await live.get(`/subaccounts/${absent}/payouts/${code}`), 'Subaccount not found'],
      [await stranger.get(`/subaccounts/${subaccountId}/payouts/${code}`), 'Subaccount not found'],
      [await sandbox.get(`/subaccounts/${subaccountId}/payouts/${code}`), 'Subaccount not found'],
      [await live.get(`/subaccounts/${other}/payouts/${code}`), 'Payout not found'],
      [await lookUp('TURBO-AAAAAAAAAAAA'), 'Payout not found'],
      [await lookUp('0'.repeat(24)), 'Payout not found'],
    ];
    for (const [{ status, body }, error] of answers) expect([status, body]).toMatchObject([404, { error }]);
    const own = (await sandbox.post('/subaccounts', { name: 'Teste' })).body.id;
    expect((await sandbox.get(`/subaccounts/${own}/payouts/${code}`)).status).toBe(404);
  });
});

/** Sends a request while a table is missing. */
async function whileBroken(table: string, ask: () => Promise<RestAnswer>): Promise<RestAnswer> {
  const { sql } = await import('kysely');
  await sql.raw(`alter table ${table} rename to ${table}_away`).execute(app.database.sql);
  try {
    return await ask();
  } finally {
    await sql.raw(`alter table ${table}_away rename to ${table}`).execute(app.database.sql);
    // The server logged this fault, which the test causes.
    app.faults.splice(0);
  }
}

describe('4.2 POST /v1/card-payments', () => {
  const create = (input: object, client = live) =>
    client.post('/card-payments', { valueCents: 4990, ...input });

  rows('4.2', ['customer'], async () => {
    const customer = { name: 'Ana', email: 'ana@example.com', externalId: '7' };
    const { body } = await create({ customer });
    expect((await live.get(`/card-payments/${body.orderCode}`)).body.customer).toEqual(customer);
    expect((await create({ customer: 'Ana' })).status).toBe(400);
  });
  rows('4.2', ['not configured', 'sandbox'], async () => {
    const closed = await addAccount(app, { cardPaymentsEnabled: false });
    const client = createRestClient(app.url, await addKey(app, { accountId: closed }));
    expect(await create({}, client)).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/not configured/) },
    });
    expect(await create({}, sandbox)).toMatchObject({
      status: 403,
      body: { error: 'Card payments are not available in sandbox' },
    });
  });
});

describe('4.4 DELETE /v1/products/{id}', () => {
  rows('4.4', ['path id', 'body', 'success', 'unknown id'], async () => {
    const { body: product } = await live.post('/products', { name: 'Copo', priceCents: 990 });
    expect(await live.delete(`/products/${product.id}`)).toMatchObject({
      status: 200,
      body: { deleted: true },
    });
    expect(await live.delete(`/products/${product.id}`)).toMatchObject({
      status: 404,
      body: { error: 'Product not found' },
    });
  });
  rows('4.4', ['invalid id'], async () => {
    const { status, body } = await live.delete('/products/42');
    expect([status, body]).toMatchObject([
      400,
      { error: expect.stringMatching(/invalid product id format/i) },
    ]);
  });
});

describe('4.5 other endpoints', () => {
  rows('4.5', ['POST /v1/subaccounts/{id}/payout'], async () => {
    const key = { idempotencyKey: 'doc-4.5' };
    const first = await subaccountPayout(CPF, key);
    expect(first).toMatchObject({
      status: 201,
      body: {
        withdrawal: { id: expect.stringMatching(OBJECT_ID) },
        code: expect.stringMatching(/^TURBO-/),
        status: 'processing',
      },
    });
    const again = await subaccountPayout(CPF, key);
    expect(again.body.withdrawal).toEqual(first.body.withdrawal);
    expect((await subaccountPayout(CPF, { ...key, amountCents: 10_001 })).status).toBe(409);
    // A payout that is under verification is accepted, and not created yet.
    expect((await subaccountPayout('verifica@psa.example')).status).toBe(202);
    const { body: ofSandbox } = await sandbox.post('/subaccounts', { name: 'Teste' });
    const refused = await sandbox.post(`/subaccounts/${ofSandbox.id}/payout`, {
      amountCents: 10_000,
      pixKey: CPF,
    });
    expect([refused.status, refused.body]).toMatchObject([403, { error: expect.stringMatching(/sandbox/) }]);
  });
  rows(
    '4.5',
    ['GET /v1/card-payments', 'GET /v1/payments', 'GET /v1/charges', 'GET /v1/subscriptions'],
    async () => {
      for (const [name, input, id] of [
        ['card-payments', { valueCents: 80 }, 'orderCode'],
        ['payments', { valueCents: 1 }, 'paymentId'],
        ['charges', { valueCents: 1 }, 'chargeId'],
        ['subscriptions', { valueCents: 1, interval: 'weekly' }, 'subscriptionId'],
      ] as const) {
        const [, { body: newest }] = [await live.post(`/${name}`, input), await live.post(`/${name}`, input)];
        const { body } = await live.get(`/${name}?limit=1`);
        const { [name === 'card-payments' ? 'cardPayments' : name]: items, ...page } = body;
        expect(items).toMatchObject([{ [id]: newest[id], status: 'pending' }]);
        expect(page).toEqual({ total: expect.any(Number), limit: 1, offset: 0 });
        expect(page.total).toBeGreaterThan(1);
      }
    },
  );
  rows('4.5', ['DELETE /v1/card-payments/{orderCode}'], async () => {
    const { body } = await live.post('/card-payments', { valueCents: 80 });
    const canceled = await live.delete(`/card-payments/${body.orderCode}`);
    expect([canceled.status, canceled.body]).toMatchObject([
      200,
      { status: 'expired', canceledAt: app.clock.now().toISOString() },
    ]);
    expect(await live.delete(`/card-payments/${body.orderCode}`)).toMatchObject({
      status: 200,
      body: canceled.body,
    });
    expect((await live.delete(`/card-payments/${await sell(80)}`)).status).toBe(409);
  });
  rows('4.5', ['DELETE /v1/payments/{id}', 'DELETE /v1/charges/{id}'], async () => {
    for (const [path, idName] of [
      ['payments', 'paymentId'],
      ['charges', 'chargeId'],
    ] as const) {
      const { body } = await live.post(`/${path}`, { valueCents: 4_990 });
      const at = `/${path}/${body[idName]}`;
      const canceled = await live.delete(at);
      expect([canceled.status, canceled.body]).toMatchObject([
        200,
        { status: 'expired', canceledAt: app.clock.now().toISOString(), pixCopyPaste: null },
      ]);
      expect(await live.delete(at)).toMatchObject({ status: 200, body: canceled.body });
      expect((await live.get(at)).body).toEqual(canceled.body);
      expect((await live.delete(`/${path}/${body[idName].slice(0, -1)}`)).status).toBe(400);
    }
    const paymentId = await charge(4_990);
    await payByPix(paymentId);
    expect((await live.delete(`/payments/${paymentId}`)).status).toBe(409);
    expect((await live.delete(`/charges/psc_${'0'.repeat(32)}`)).status).toBe(404);
  });
  rows('4.5', ['GET /v1/webhook-endpoint', 'POST /v1/webhook-endpoint'], async () => {
    const before = await live.get('/webhook-endpoint');
    const set = { enabled: true, optionalEvents: [], previousSecretValidUntil: null };
    expect([before.status, before.body]).toEqual([200, { url: receiver.url, ...set }]);
    const from = receiver.received.length;
    expect((await live.post('/webhook-endpoint', { enabled: false })).body).toMatchObject({
      enabled: false,
      secret: null,
    });
    await sell(820);
    expect(receiver.received).toHaveLength(from);
    expect((await live.post('/webhook-endpoint', { enabled: true })).body).toEqual({
      ...before.body,
      secret: null,
    });
    await sell(820);
    expect(receiver.received).toHaveLength(from + 1);
    expect((await live.post('/webhook-endpoint', { url: null })).status).toBe(400);
  });
  rows('4.5', ['POST /v1/disputes/{id}/accept'], async () => {
    const id = await app.controls.openDispute(await liveTenant(), { amountCents: 100 });
    const { status, body } = await live.post(`/disputes/${id}/accept`, {});
    const closedAt = app.clock.now().toISOString();
    expect([status, body]).toMatchObject([
      200,
      { status: 'lost', closedAt, acceptedAt: closedAt, blockedCents: 100 },
    ]);
    expect((await live.post(`/disputes/${id}/accept`, {})).body).toEqual(body);
    const won = await app.controls.openDispute(await liveTenant(), { amountCents: 100 });
    await app.controls.closeDispute(await liveTenant(), won, 'won');
    expect((await live.post(`/disputes/${won}/accept`, {})).status).toBe(409);
    expect((await live.post(`/disputes/dsp_${'0'.repeat(24)}/accept`, {})).status).toBe(404);
    await app.controls.closeDispute(await liveTenant(), id, 'forgiven');
  });
  rows('4.5', ['GET /v1/sales'], async () => {
    const orderCode = await sell(4_990);
    const paymentId = await charge(4_990);
    const { chargeId } = await chargePaid({ valueCents: 4_990 });
    for (const [type, id] of [
      ['card_payment', orderCode],
      ['payment', paymentId],
      ['charge', chargeId],
    ])
      expect((await live.get(`/sales?reference=${id}`)).body).toMatchObject({
        total: 1,
        sales: [{ type, id }],
      });
    expect((await live.get('/sales?limit=2')).body.sales).toHaveLength(2);
  });
  rows('4.5', ['GET /v1/returns'], async () => {
    const [first, second] = [await charge(4_990), await charge(819)];
    for (const paymentId of [first, first, second, second]) await payByPix(paymentId);
    const { returns, total } = (await live.get('/returns?limit=2')).body;
    expect(total).toBeGreaterThanOrEqual(2);
    const of = { cause: 'already_paid', externalId: null, keptPayment: null };
    expect(returns).toMatchObject([
      { ...of, paymentId: second, amountCents: 819, returnId: expect.stringMatching(/^ret_[0-9a-f]{24}$/) },
      { ...of, paymentId: first, amountCents: 4_990 },
    ]);
  });
  rows(
    '4.5',
    [
      'POST /v1/card-payments/{orderCode}/refunds',
      'POST /v1/payments/{id}/refunds',
      'POST /v1/charges/{id}/refunds',
      'GET /v1/refunds/{refundId}',
    ],
    async () => {
      const paymentId = await charge(4_990);
      await payByPix(paymentId);
      const { chargeId } = await chargePaid({ valueCents: 4_990 });
      for (const [path, resource] of [
        ['card-payments', { orderCode: await sell(4_990) }],
        ['payments', { paymentId }],
        ['charges', { chargeId }],
      ] as const) {
        const [id] = Object.values(resource);
        const idempotencyKey = `doc-4.5-${path}`;
        const refund = { amountCents: 990, reason: 'Um item', idempotencyKey };
        const made = await live.post(`/${path}/${id}/refunds`, refund);
        expect([made.status, made.body]).toMatchObject([
          201,
          {
            refundId: expect.stringMatching(/^ref_[0-9a-f]{24}$/),
            ...resource,
            amountCents: 990,
            reason: 'Um item',
          },
        ]);
        await app.work.settled();
        const { body: found } = await live.get(`/refunds/${made.body.refundId}`);
        expect(found).toEqual({
          ...made.body,
          status: 'completed',
          completedAt: found.completedAt,
          endToEndId: found.endToEndId,
        });
        expect((await live.get(`/refunds/ref_idem_${idempotencyKey}`)).body).toEqual(found);
        expect((await live.post(`/${path}/${id}/refunds`, refund)).body).toEqual(found);
        const rest = await live.post(`/${path}/${id}/refunds`, {});
        expect(rest.body.amountCents).toBe(4_000);
        await app.work.settled();
        expect((await live.post(`/${path}/${id}/refunds`, {})).status).toBe(409);
      }
      expect((await live.get(`/refunds/ref_${'0'.repeat(24)}`)).status).toBe(404);
    },
  );
  rows('4.5', ['GET /v1/payouts/{id}', 'GET /v1/products/{id}', 'DELETE /v1/deliveries/{id}'], async () => {
    await advanceClock(app, HOUR_MS);
    const { body: requested } = await withdraw({});
    const { body: payout } = await live.get(`/payouts/${requested.id}`);
    expect(payout).toMatchObject({ id: requested.id, code: requested.code, amount: 100 });
    expect((await live.get(`/payouts/${requested.code}`)).body).toEqual(payout);
    const { body: product } = await live.post('/products', { name: 'Curso', priceCents: 4990 });
    expect((await live.get(`/products/${product.id}`)).body).toEqual(product);
    const content = { text: 'Obrigada!' };
    const { body: delivery } = await live.post('/deliveries', { productId: product.id, content });
    const paymentId = await charge(4990, { valueCents: undefined, productId: product.id });
    await payByPix(paymentId);
    const given = [{ kind: 'text', status: 'delivered', content: 'Obrigada!' }];
    expect((await live.get(`/payments/${paymentId}`)).body.delivered).toMatchObject(given);
    expect((await live.delete(`/deliveries/${delivery.deliveryId}`)).status).toBe(200);
    expect((await live.delete(`/deliveries/${delivery.deliveryId}`)).status).toBe(404);
    expect((await live.get(`/deliveries?productId=${product.id}`)).body.total).toBe(0);
    expect((await live.get(`/payments/${paymentId}`)).body.delivered).toMatchObject(given);
  });
  rows(
    '4.5',
    [
      'POST /v1/subaccounts',
      'GET /v1/subaccounts',
      'GET /v1/subaccounts/{id}',
      'GET /v1/subaccounts/{id}/statement',
      'POST /v1/subaccounts/{id}/transfers',
      'GET /v1/subaccounts/{id}/payouts',
    ],
    async () => {
      const opened = await live.post('/subaccounts', { name: 'Rui', externalId: 'doc-4.5' });
      const { id } = opened.body;
      expect([
        opened.status,
        (await live.post('/subaccounts', { name: 'Rui', externalId: 'doc-4.5' })).body.id,
      ]).toEqual([201, id]);
      const transfer = await live.post(`/subaccounts/${id}/transfers`, { amountCents: 50_000 });
      expect([transfer.status, transfer.body]).toMatchObject([
        201,
        { kind: 'transfer_in', refId: expect.stringMatching(/^rep_/), amountCents: 50_000 },
      ]);
      const { body: wallet } = await live.get('/wallet');
      const above = { amountCents: wallet.withdrawableCents + 1 };
      expect((await live.post(`/subaccounts/${id}/transfers`, above)).status).toBe(400);
      const { body: payout } = await live.post(`/subaccounts/${id}/payout`, {
        amountCents: 10_000,
        pixKey: CPF,
      });
      await app.work.settled();
      const { body: subaccount } = await live.get(`/subaccounts/${id}`);
      expect(subaccount).toMatchObject({ id, name: 'Rui', externalId: 'doc-4.5', balanceCents: 40_000 });
      expect((await live.get('/subaccounts?limit=1')).body.subaccounts).toEqual([subaccount]);
      const { body } = await live.get(`/subaccounts/${id}/statement`);
      expect(body).toMatchObject({
        entries: [
          { kind: 'payout', amountCents: -10_000, balanceAfterCents: 40_000 },
          { kind: 'transfer_in', amountCents: 50_000, refId: transfer.body.refId },
        ],
        total: 2,
        limit: 50,
        offset: 0,
      });
      expect((await live.get(`/subaccounts/${id}/payouts`)).body).toMatchObject({
        payouts: [{ code: payout.code, subaccountId: id }],
        total: 1,
        limit: 50,
        offset: 0,
      });
    },
  );
  rows('4.5', ['GET /v1/payouts', 'POST /v1/payouts'], async () => {
    await advanceClock(app, HOUR_MS);
    const { body } = await withdraw({});
    const { body: list } = await live.get('/payouts?limit=1');
    expect(list.payouts).toMatchObject([
      { id: body.id, withdrawalId: body.id, walletAddress: '***.456.789-**' },
    ]);
    expect(JSON.stringify(list)).not.toContain(CPF);
    const { body: wallet } = await live.get('/wallet');
    const above = await withdraw({ amount: (wallet.withdrawableCents + 1) / 100 });
    expect(above.status).toBe(400);
    expect(above.body.error).toMatch(/withdrawn.*belongs to subaccounts/);
  });
  rows('4.5', ['GET /v1/card-payments/{orderCode}', 'GET /v1/sandbox/wallet'], async () => {
    const { body } = await live.post('/card-payments', { valueCents: 4990 });
    expect((await live.get(`/card-payments/${body.orderCode}`)).body).toMatchObject({ amount: 49.9 });
    expect((await live.get('/card-payments/PSC-0')).status).toBeOneOf([400, 404]);
    expect((await sandbox.get('/sandbox/wallet')).body.sandbox).toBe(true);
    expect((await live.get('/sandbox/wallet')).status).toBe(403);
  });
  rows('4.5', ['POST /v1/products', 'GET /v1/products'], async () => {
    const made = await live.post('/products', { name: 'Vaso', priceCents: 8990 });
    expect([made.status, made.body.name]).toEqual([201, 'Vaso']);
    expect((await live.get('/products')).body).toMatchObject({
      products: expect.arrayContaining([made.body]),
      total: expect.any(Number),
      limit: 50,
      offset: 0,
    });
  });
  rows('4.5', ['POST /v1/sandbox/payments'], async () => {
    const { body: wallet } = await sandbox.get('/wallet');
    expect((await sandbox.post('/sandbox/payments', { valueCents: 50_000 })).status).toBe(201);
    expect((await sandbox.get('/wallet')).body.balanceCents).toBe(wallet.balanceCents + 50_000);
    for (const { path, lookUp } of [
      { path: '/payments', lookUp: ({ paymentId }: { paymentId: string }) => `/payments/${paymentId}` },
      { path: '/charges', lookUp: ({ chargeId }: { chargeId: string }) => `/charges/${chargeId}` },
    ]) {
      const { body } = await sandbox.post(path, { valueCents: 4990 });
      await sandbox.post('/sandbox/payments', { id: lookUp(body).split('/')[2] });
      await app.work.settled();
      expect((await sandbox.get(lookUp(body))).body.status).toBe('paid');
    }
    expect((await live.post('/sandbox/payments', { valueCents: 50_000 })).status).toBe(403);
  });
  rows('4.5', ['POST /v1/payments', 'GET /v1/payments/{id}'], async () => {
    for (const client of [live, sandbox]) {
      const { status, body } = await client.post('/payments', { valueCents: 1 });
      expect([status, body.status]).toEqual([201, 'pending']);
      expect((await client.get(`/payments/${body.paymentId}`)).body).toEqual(body);
    }
    expect((await live.post('/payments', {})).status).toBe(400);
    expect((await live.get('/payments/psa_0')).status).toBe(400);
    expect((await live.get(`/payments/psa_${'0'.repeat(32)}`)).status).toBe(404);
    const byLtc = await live.post('/payments', { valueCents: 4, method: 'ltc' });
    expect(byLtc).toMatchObject({ status: 201, body: { method: 'ltc', ltcAmount: '0.00006533' } });
    const dust = await live.post('/payments', { valueCents: 3, method: 'ltc' });
    expect(dust).toMatchObject({ status: 400, body: { error: expect.stringContaining('0.00005460 LTC') } });
    expect((await sandbox.post('/payments', { valueCents: 1, method: 'ltc' })).status).toBe(403);
  });
  rows('4.5', ['POST /v1/charges', 'GET /v1/charges/{id}'], async () => {
    for (const client of [live, sandbox]) {
      const { status, body } = await client.post('/charges', { valueCents: 1 });
      expect([status, body.status]).toEqual([201, 'pending']);
      expect((await client.get(`/charges/${body.chargeId}`)).body).toEqual(body);
    }
    expect((await live.post('/charges', {})).status).toBe(400);
    expect((await live.get('/charges/psc_0')).status).toBe(400);
    expect((await live.get(`/charges/psc_${'0'.repeat(32)}`)).status).toBe(404);
    const nobody = { subaccountId: `sacc_${'0'.repeat(32)}`, amountCents: 1 };
    expect(await live.post('/charges', { valueCents: 1, splits: [nobody] })).toMatchObject({
      status: 404,
      body: { error: 'Subaccount not found' },
    });
  });
  const FILE = '/v1/disputes/{id}/files/{fileId}';
  rows('4.5', ['POST /v1/disputes/{id}/files', `GET ${FILE}`, `DELETE ${FILE}`], async () => {
    const id = await app.controls.openDispute(await liveTenant(), { amountCents: 100 });
    const upload = (body: Buffer) =>
      live.send(`/disputes/${id}/files?name=nota.pdf`, {
        method: 'POST',
        headers: { 'content-type': 'application/pdf' },
        body: new Uint8Array(body),
      });
    const { status, body } = await upload(pdf());
    expect([status, body.sizeBytes]).toEqual([201, pdf().length]);
    expect((await upload(pdf())).body).toEqual(body);
    const answer = await fetch(`${app.url}/v1/disputes/${id}/files/${body.fileId}`, {
      headers: { authorization: `Bearer ${LIVE_KEY}` },
    });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(pdf());
    expect((await upload(Buffer.from('no file'))).status).toBe(400);
    expect((await upload(pdf('x'.repeat(5_242_880)))).status).toBe(413);
    const { body: wrong } = await upload(pdf('errado'));
    expect(await live.delete(`/disputes/${id}/files/${wrong.fileId}`)).toMatchObject({
      status: 200,
      body: { deleted: true },
    });
    expect((await live.post(`/disputes/${id}/evidence`, { fileIds: [body.fileId] })).body).toMatchObject({
      status: 'under_review',
      files: [body],
      evidence: [{ fileIds: [body.fileId] }],
    });
    expect((await live.delete(`/disputes/${id}/files/${body.fileId}`)).status).toBe(409);
    await app.controls.closeDispute(await liveTenant(), id, 'won');
    expect((await upload(pdf('late'))).status).toBe(409);
    expect((await live.get(`/disputes/${id}/files/dsf_${'0'.repeat(24)}`)).status).toBe(404);
  });

  rows('4.5', ['GET /v1/disputes', 'GET /v1/disputes/{id}', 'POST /v1/disputes/{id}/evidence'], async () => {
    const id = await app.controls.openDispute(await liveTenant(), { amountCents: 100 });
    const { status, body } = await live.post(`/disputes/${id}/evidence`, { text: 'Entregue' });
    expect([status, body.status]).toEqual([201, 'under_review']);
    expect((await live.get(`/disputes/${id}`)).body).toEqual(body);
    expect((await live.get('/disputes?status=under_review')).body).toEqual({
      disputes: [body],
      total: 1,
      limit: 50,
      offset: 0,
    });
    expect((await live.get('/disputes?status=lost')).body.disputes).toEqual([]);
    expect((await live.post(`/disputes/${id}/evidence`, {})).status).toBe(400);
    await app.controls.closeDispute(await liveTenant(), id, 'won');
    expect((await live.post(`/disputes/${id}/evidence`, { text: 'x' })).status).toBe(409);
    // The sandbox has no disputes.
    expect((await sandbox.get('/disputes')).body).toMatchObject({ disputes: [], total: 0 });
    expect((await sandbox.get(`/disputes/${id}`)).status).toBe(404);
    expect((await sandbox.post(`/disputes/${id}/evidence`, { text: 'x' })).status).toBe(404);
  });
  rows(
    '4.5',
    ['POST /v1/subscriptions', 'GET /v1/subscriptions/{id}', 'DELETE /v1/subscriptions/{id}'],
    async () => {
      for (const client of [live, sandbox]) {
        const { status, body } = await client.post('/subscriptions', { valueCents: 1, interval: 'yearly' });
        expect([status, body.status]).toEqual([201, 'pending']);
        expect((await client.get(`/subscriptions/${body.subscriptionId}`)).body).toEqual(body);
        for (const _ of [1, 2]) {
          const canceled = await client.delete(`/subscriptions/${body.subscriptionId}`);
          expect([canceled.status, canceled.body.status]).toEqual([200, 'canceled']);
        }
      }
      expect((await live.post('/subscriptions', { valueCents: 1 })).status).toBe(400);
      expect((await live.get('/subscriptions/psa_sub_0')).status).toBe(400);
      expect((await live.delete(`/subscriptions/psa_sub_${'0'.repeat(32)}`)).status).toBe(404);
    },
  );
});

// ── 5. Authentication ───────────────────────────────────────────────────────────────────────────

describe('5 authentication', () => {
  rows('5', ['bearer'], async () => {
    for (const credential of [null, 'ps_live_wrong', 'ps_checkout_x', '']) {
      const { status, headers, body } = await createRestClient(app.url, credential).get('/wallet');
      expect([status, headers.get('www-authenticate'), body]).toMatchObject([
        401,
        'Bearer',
        { error: 'Invalid API key' },
      ]);
    }
  });
  rows('5', ['prefixes', 'environments'], async () => {
    expect(LIVE_KEY).toMatch(/^ps_live_/);
    expect(TEST_KEY).toMatch(/^ps_test_/);
    const { body } = await live.post('/products', { name: 'Só aqui', priceCents: 990 });
    expect((await sandbox.get(`/products/${body.id}`)).status).toBe(404);
    expect((await sandbox.get(`/subaccounts/${subaccountId}`)).status).toBe(404);
  });
  rows('5', ['at most 10 keys'], async () => {
    const accountId = await addAccount(app);
    const administration = createAdministration({
      database: app.database,
      clock: app.clock,
      committer: createCommitter({ database: app.database, clock: app.clock, onCommit: () => undefined }),
    });
    const create = () =>
      administration.createKey({ accountId, environment: 'live', permissions: [], name: null });
    const made = await Promise.allSettled(Array.from({ length: 12 }, create));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  });
  rows('5', ['permissions'], async () => {
    const restricted = await withKey(['subcontas.sacar']);
    for (const path of ['/payouts', '/products', '/card-payments', '/wallet'])
      expect((await restricted.get(path)).status, path).toBe(403);
  });
  rows('5', ['webhook signature'], async () => {
    const from = receiver.received.length;
    await sell(990);
    const { headers, raw } = reported(from)[0]!;
    const expected = createHmac('sha256', secret).update(raw).digest('hex');
    expect(headers['x-webhook-signature']).toBe(expected);
  });
});

// ── 6. Events ───────────────────────────────────────────────────────────────────────────────────

/** The delivery of the webhook of a payment, with its attempts. */
async function deliveryOf(orderCode: string): Promise<{ status: string; attempts: unknown[] }> {
  const { headers } = receiver.received.find(({ body }) => body.includes(orderCode))!;
  const query =
    '{ webhookDeliveries(first: 50) { nodes { webhookId status attempts { responseStatus error } } } }';
  const { nodes } = (await app.live.request(query)).webhookDeliveries;
  return nodes.find(({ webhookId }: { webhookId: string }) => webhookId === headers['x-webhook-id']);
}

describe('6 webhooks', () => {
  rows('6', ['destination', 'signature', 'idempotency'], async () => {
    const own = await openReceiver();
    const from = receiver.received.length;
    // The URL must be public https; the test then replaces it by its own receiver.
    const { body } = await live.post('/card-payments', {
      valueCents: 1_000,
      callbackUrl: 'https://loja.example/hook',
    });
    await app.database.sql
      .updateTable('card_payment')
      .set({ callback_url: own.url })
      .where('order_code', '=', body.orderCode)
      .execute();
    await app.cardPayments.pay(body.orderCode, approved());
    await app.work.settled();
    expect(own.received).toHaveLength(1);
    expect(reported(from)).toEqual([]);
    expect(own.received[0]!.headers['x-webhook-id']).toMatch(/./);
    expect(own.received[0]!.headers['x-webhook-signature']).toMatch(/^[0-9a-f]{64}$/);
    await own.shut();
  });
  rows('6', ['timeout'], async () => {
    const { body } = await live.post('/card-payments', { valueCents: 2_000 });
    const from = receiver.received.length;
    const own = () => reported(from).filter((each) => each.body.orderCode === body.orderCode).length;
    const arrived = new Promise<void>((resolve) => {
      receiver.answer = (response, { body: sent }) =>
        void (sent.includes(body.orderCode) ? resolve() : response.end());
    });
    await app.cardPayments.pay(body.orderCode, approved());
    await arrived;
    receiver.answer = (response) => response.end();
    app.clock.advance(4_999);
    expect((await deliveryOf(body.orderCode)).attempts).toEqual([]);
    app.clock.advance(1);
    await app.work.settled();
    expect((await deliveryOf(body.orderCode)).attempts).toMatchObject([
      { responseStatus: null, error: 'no complete answer within 5 seconds' },
    ]);
    await advanceClock(app, 60_000);
    expect([(await deliveryOf(body.orderCode)).attempts.length, own()]).toEqual([2, 2]);
  });
  rows('6', ['retries'], async () => {
    const from = receiver.received.length;
    receiver.answer = (response) => response.writeHead(500).end();
    await sell(2_000);
    await advanceClock(app, 2 * DAY_MS);
    receiver.answer = (response) => response.end();
    const attempts = reported(from, 'card_payment.paid');
    expect(attempts).toHaveLength(7);
    expect(new Set(attempts.map(({ headers }) => headers['x-webhook-id'])).size).toBe(1);
    await advanceClock(app, 2 * DAY_MS);
    expect(reported(from, 'card_payment.paid')).toHaveLength(7);
  });
});

describe('6.1 withdrawal events', () => {
  rows(
    '6.1',
    [
      'withdrawal.requested',
      'withdrawal.completed',
      'event',
      'withdrawalId',
      'code',
      'amount',
      'method',
      'walletAddress',
      'status',
      'requestedAt',
      'processedAt',
      'sandbox',
    ],
    async () => {
      await advanceClock(app, HOUR_MS);
      const from = receiver.received.length;
      const { body } = await withdraw({ amount: 12.34 });
      await advanceClock(app, 60_000);
      const common = {
        withdrawalId: body.withdrawalId,
        code: expect.stringMatching(/^SAQ-/),
        amount: 12.34,
        method: 'pix',
        walletAddress: CPF,
      };
      expect(reported(from).map((each) => each.body)).toEqual([
        {
          event: 'withdrawal.requested',
          ...common,
          status: 'pendente',
          requestedAt: expect.stringMatching(ISO),
        },
        {
          event: 'withdrawal.completed',
          ...common,
          status: 'concluido',
          processedAt: expect.stringMatching(ISO),
        },
      ]);
      expect(JSON.parse(reported(from)[0]!.raw).sandbox).toBe(false);
    },
  );
  rows('6.1', ['processing is not reported'], async () => {
    const from = receiver.received.length;
    await withdraw({ method: 'pix_turbo' });
    await advanceClock(app, 60_000);
    expect(reported(from).map(({ body }) => [body.event, body.method])).toEqual([
      ['withdrawal.requested', 'pix_turbo'],
      ['withdrawal.completed', 'pix_turbo'],
    ]);
  });
  rows('6.1', ['sandbox names'], async () => {
    const own = await openReceiver();
    await app.sandbox.request(
      'mutation ($url: Url!) { configureWebhook(input: { url: $url }) { ... on ConfigureWebhookSuccess { url } } }',
      { url: own.url },
    );
    await sandbox.post('/sandbox/payments', { valueCents: 100_000 });
    await withdraw({ walletAddress: 'negado@psa.example' }, sandbox);
    await advanceClock(app, 60_000);
    expect(reported(0, undefined, own).map(({ body, raw }) => [body.event, JSON.parse(raw).sandbox])).toEqual(
      [
        ['withdrawal.test.requested', true],
        ['withdrawal.test.completed', true],
      ],
    );
    await own.shut();
  });
});

describe('6.2 card_payment.paid', () => {
  rows(
    '6.2',
    ['event type', 'orderCode', 'amount', 'status', 'confirmation time', 'customer', 'metadata'],
    async () => {
      const from = receiver.received.length;
      const metadata = '{"pedido": 7}';
      const orderCode = await sell(819, { metadata, customer: { name: 'Ana', email: 'ana@example.com' } });
      expect(reported(from).map(({ body }) => body)).toEqual([
        {
          event: 'card_payment.paid',
          orderCode,
          amount: 8.19,
          status: 'paid',
          paidAt: expect.stringMatching(ISO),
          customer: { name: 'Ana', email: 'ana@example.com' },
          metadata,
        },
      ]);
      await sell(820);
      expect(reported(from).at(-1)!.body.metadata).toBeNull();
    },
  );
  rows('6.2', ['no sandbox event'], async () => {
    expect((await sandbox.post('/card-payments', { valueCents: 820 })).status).toBe(403);
  });
});

describe('6.3 other events', () => {
  rows('6.3', ['subaccount.payout'], async () => {
    const from = receiver.received.length;
    const { body } = await subaccountPayout(CPF);
    await advanceClock(app, 60_000);
    const events = reported(from, 'subaccount.payout').map((each) => each.body);
    expect(events.at(-1)).toEqual({ event: 'subaccount.payout', ...(await lookUp(body.code)).body });
  });
  rows('6.3', ['payment.paid', 'two differences'], async () => {
    const from = receiver.received.length;
    const given = { metadata: '{"pedido": 7}', customer: { name: 'Ana', email: 'ana@example.com' } };
    const paymentId = await charge(819, given);
    await payByPix(paymentId);
    await sell(819, given);
    const [ofPix, ofCard] = reported(from).map(({ body }) => body);
    expect(ofPix).toEqual({
      event: 'payment.paid',
      paymentId,
      amountCents: 819,
      status: 'paid',
      ...given,
      paidAt: expect.stringMatching(ISO),
    });
    // The bodies differ in the identifier, and in cents in place of reais: all other members are the same.
    const names = (body: object) => Object.keys(body);
    expect(names(ofPix).filter((name) => !names(ofCard).includes(name))).toEqual([
      'paymentId',
      'amountCents',
    ]);
    expect(names(ofCard).filter((name) => !names(ofPix).includes(name))).toEqual(['orderCode', 'amount']);
    expect(ofCard.amount).toBe(ofPix.amountCents / 100);
    expect({ ...ofPix, event: '', paidAt: '' }).toMatchObject({ status: ofCard.status, ...given });
  });
  rows('6.3', ['charge.paid'], async () => {
    const from = receiver.received.length;
    const { chargeId } = await chargePaid({ valueCents: 819, metadata: '{"aluno": 7}' });
    const split = await chargePaid({ valueCents: 819, splits: [{ subaccountId, amountCents: 9 }] });
    const paid = { event: 'charge.paid', amountCents: 819, status: 'paid' };
    const paidAt = expect.stringMatching(ISO);
    expect(reported(from).map(({ body }) => body)).toEqual([
      { ...paid, paidAt, chargeId, metadata: '{"aluno": 7}' },
      {
        ...paid,
        paidAt,
        chargeId: split.chargeId,
        splits: [{ subaccountId, amountCents: 9, percent: null, refundedCents: 0 }],
      },
    ]);
  });
  rows('6.3', ['refund.failed'], async () => {
    const customer = { email: 'devolve-falha@psa.example' };
    const paymentId = await charge(819, { customer });
    await payByPix(paymentId);
    const { balanceCents } = (await live.get('/wallet')).body;
    const from = receiver.received.length;
    const { body } = await live.post(`/payments/${paymentId}/refunds`, { amountCents: 19 });
    await app.work.settled();
    expect(reported(from).map((each) => each.body)).toEqual([
      {
        event: 'refund.failed',
        refundId: body.refundId,
        of: { type: 'payment', id: paymentId },
        amountCents: 19,
        status: 'failed',
        reason: null,
        completedAt: null,
        failedAt: expect.stringMatching(ISO),
        metadata: null,
        failureReason: expect.stringMatching(/./),
      },
    ]);
    expect((await live.get('/wallet')).body.balanceCents).toBe(balanceCents);
  });
  rows('6.3', ['refund.completed'], async () => {
    const paymentId = await charge(819, { metadata: '{"pedido": 8}' });
    await payByPix(paymentId);
    const from = receiver.received.length;
    const { body } = await live.post(`/payments/${paymentId}/refunds`, { amountCents: 19, reason: 'troca' });
    await app.work.settled();
    expect(reported(from).map((each) => each.body)).toEqual([
      {
        event: 'refund.completed',
        refundId: body.refundId,
        of: { type: 'payment', id: paymentId },
        amountCents: 19,
        status: 'completed',
        reason: 'troca',
        failureReason: null,
        completedAt: expect.stringMatching(ISO),
        failedAt: null,
        metadata: '{"pedido": 8}',
      },
    ]);
  });
  rows('6.3', ['charge.test.paid'], async () => {
    const own = await openReceiver();
    await app.sandbox.request(
      'mutation ($url: Url!) { configureWebhook(input: { url: $url }) { ... on ConfigureWebhookSuccess { url } } }',
      { url: own.url },
    );
    const { chargeId } = await chargePaid({ valueCents: 819 }, sandbox);
    expect(
      own.received.map(({ body }) => ({ ...ownMembers(body), sandbox: JSON.parse(body).sandbox })),
    ).toEqual([
      {
        event: 'charge.test.paid',
        chargeId,
        amountCents: 819,
        status: 'paid',
        sandbox: true,
        paidAt: expect.stringMatching(ISO),
        metadata: null,
      },
    ]);
    await own.shut();
  });
  rows('6.3', ['payment.test.paid'], async () => {
    const own = await openReceiver();
    const paymentId = await charge(819, { callbackUrl: own.url }, sandbox);
    await payByPix(paymentId, 'sandbox');
    expect(
      own.received.map(({ body }) => ({ ...ownMembers(body), sandbox: JSON.parse(body).sandbox })),
    ).toEqual([
      {
        event: 'payment.test.paid',
        paymentId,
        amountCents: 819,
        status: 'paid',
        sandbox: true,
        paidAt: expect.stringMatching(ISO),
        metadata: null,
      },
    ]);
    await own.shut();
  });
});

describe('6.4 optional events', () => {
  const given = { metadata: '{"pedido": 7}', customer: { name: 'Ana', email: 'ana@example.com' } };
  const metadata = '{"aluno": 7}';

  const optIn = async (events: readonly string[]) => {
    const optionalEvents = events.map((event) => event.replace('.', '_').toUpperCase());
    const configured = await app.live.request(
      'mutation ($input: ConfigureWebhookInput!) { configureWebhook(input: $input) { __typename } }',
      { input: { url: receiver.url, optionalEvents } },
    );
    expect(configured.configureWebhook.__typename).toBe('ConfigureWebhookSuccess');
  };
  /** The optional events of a family about one resource, in their order, with whole bodies. */
  const optionalOf = (family: string) => (from: number, id: string) =>
    reported(from)
      .filter(({ body }) => OPTIONAL_WEBHOOK_EVENTS.some((event) => event === body.event))
      .flatMap(({ raw, body }) => (body.event.startsWith(`${family}.`) && raw.includes(id) ? [body] : []));
  beforeAll(() => optIn(OPTIONAL_WEBHOOK_EVENTS));
  afterAll(() => optIn([]));

  const at = expect.stringMatching(ISO);
  const failureReason = expect.stringMatching(/./);

  rows('6.4', ['card_payment'], async () => {
    const optional = optionalOf('card_payment');
    const from = receiver.received.length;
    const make = async (): Promise<string> =>
      (await live.post('/card-payments', { valueCents: 819, ...given })).body.orderCode;
    const [expired, canceled, failed, refunded] = [await make(), await make(), await make(), await make()];
    await app.cardPayments.pay(failed, declinedForGood());
    await app.cardPayments.pay(refunded, approved());
    await live.post(`/card-payments/${refunded}/refunds`, {});
    await live.delete(`/card-payments/${canceled}`);
    await advanceClock(app, 30 * 60_000);
    const of = (orderCode: string) => ({ orderCode, amount: 8.19, ...given });
    const end = { event: 'card_payment.expired', status: 'expired', expiredAt: at };
    expect(optional(from, expired)).toEqual([{ ...of(expired), ...end }]);
    expect(optional(from, canceled)).toEqual([{ ...of(canceled), ...end, canceledAt: at }]);
    expect(optional(from, failed)).toEqual([
      { ...of(failed), event: 'card_payment.failed', status: 'failed', failureReason },
    ]);
    expect(optional(from, refunded)).toEqual([
      { ...of(refunded), event: 'card_payment.refunded', status: 'refunded', paidAt: at, refundedAt: at },
    ]);
  });
  rows('6.4', ['payment'], async () => {
    const optional = optionalOf('payment');
    const from = receiver.received.length;
    const [expired, refunded] = [await charge(819, given), await charge(819, given)];
    await payByPix(refunded);
    await live.post(`/payments/${refunded}/refunds`, {});
    const customer = { email: 'sem-codigo@psa.example' };
    await live.post('/payments', { valueCents: 819, ...given, customer });
    const [{ paymentId: failed }] = (await live.get('/payments?limit=1')).body.payments;
    await advanceClock(app, 30 * 60_000);
    const of = (paymentId: string) => ({ paymentId, amountCents: 819, ...given });
    expect(optional(from, expired)).toEqual([
      { ...of(expired), event: 'payment.expired', status: 'expired', expiredAt: at },
    ]);
    expect(optional(from, failed)).toEqual([
      { ...of(failed), customer, event: 'payment.failed', status: 'failed', failureReason },
    ]);
    expect(optional(from, refunded)).toEqual([
      { ...of(refunded), event: 'payment.refunded', status: 'refunded', paidAt: at, refundedAt: at },
    ]);
  });
  rows('6.4', ['return'], async () => {
    const from = receiver.received.length;
    const id = await charge(819, { metadata });
    await payByPix(id);
    await payByPix(id);
    await advanceClock(app, 1_000);
    const { body } = reported(from).find((each) => each.body.event === 'return.completed')!;
    const of = { type: 'payment', id };
    expect(body).toMatchObject({ of, amountCents: 819, cause: 'already_paid', metadata });
  });
  rows('6.4', ['charge'], async () => {
    const optional = optionalOf('charge');
    const from = receiver.received.length;
    const { body: expired } = await live.post('/charges', {
      valueCents: 819,
      metadata,
      expiresInSeconds: 60,
    });
    const refunded = await chargePaid({ valueCents: 819, metadata });
    await live.post(`/charges/${refunded.chargeId}/refunds`, {});
    const failed = await refusedCharge({ valueCents: 819, metadata });
    await advanceClock(app, 60_000);
    const of = (chargeId: string) => ({ chargeId, amountCents: 819, metadata });
    expect(optional(from, expired.chargeId)).toEqual([
      { ...of(expired.chargeId), event: 'charge.expired', status: 'expired', expiredAt: at },
    ]);
    expect(optional(from, failed)).toEqual([
      { ...of(failed), event: 'charge.failed', status: 'failed', failureReason: 'Não' },
    ]);
    expect(optional(from, refunded.chargeId)).toEqual([
      { ...of(refunded.chargeId), event: 'charge.refunded', status: 'refunded', paidAt: at, refundedAt: at },
    ]);
  });

  /** Creates a charge without a code. No payer of a charge makes the simulated bank refuse one, so its row says so. */
  async function refusedCharge(input: object): Promise<string> {
    await whileBroken('simulated_pix_code', () => live.post('/charges', input));
    const [{ chargeId, status }] = (await live.get('/charges?limit=1')).body.charges;
    expect(status).toBe('pending');
    const now = app.clock.now();
    await app.database.sql
      .insertInto('simulated_pix_code')
      .values({
        txid: txidOf(chargeId),
        account_id: (await liveTenant()).accountId,
        environment: 'live',
        amount_cents: 819,
        br_code: null,
        refusal: 'Não',
        registered_at: now,
        expires_at: now,
      })
      .execute();
    return chargeId;
  }

  rows('6.4', ['withdrawal'], async () => {
    await advanceClock(app, HOUR_MS);
    const from = receiver.received.length;
    const { body } = await withdraw({ method: 'pix_turbo' });
    await advanceClock(app, 60_000);
    const [requested, processing] = reported(from).map((each) => each.body);
    expect(requested).toMatchObject({ event: 'withdrawal.requested', status: 'pendente' });
    expect(processing).toEqual({ ...requested, event: 'withdrawal.processing', status: 'processing' });
    expect(processing.withdrawalId).toBe(body.id);
  });
  rows('6.4', ['returned withdrawal'], async () => {
    await advanceClock(app, HOUR_MS);
    const from = receiver.received.length;
    const { body } = await withdraw({});
    await advanceClock(app, 60_000);
    const sent = await fetch(`${app.url}/simulator/transfers/${body.id}/return`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-psa-action': '1' },
      body: '{}',
    });
    expect(sent.status).toBe(200);
    await advanceClock(app, 1_000);
    const [, completed, returned] = reported(from).map((each) => each.body);
    expect(returned).toEqual({
      ...completed,
      event: 'withdrawal.returned',
      status: 'concluido',
      returnedAt: expect.any(String),
    });
    expect((await live.get(`/payouts/${body.id}`)).body).toMatchObject({
      status: 'concluido',
      returnedAt: returned.returnedAt,
    });
  });
  rows('6.4', ['subscription'], async () => {
    const optional = optionalOf('subscription');
    const from = receiver.received.length;
    const subscribe = async (input: object): Promise<string> => {
      const { body } = await live.post('/subscriptions', {
        valueCents: 819,
        interval: 'weekly',
        metadata,
        ...input,
      });
      return body.subscriptionId;
    };
    // The payer's bank refuses the first attempt of each cycle but the first.
    const customer = { email: 'nega-uma@psa.example' };
    const followed = await subscribe({ customer, endsAfterCycles: 2 });
    const canceled = await subscribe({});
    const expired = await subscribe({});
    for (const id of [followed, canceled]) await app.pix.pay({ txid: txidOf(id) });
    await app.work.settled();
    await live.delete(`/subscriptions/${canceled}`);
    await advanceClock(app, 10 * DAY_MS);

    const of = { amountCents: 819, cancelReason: null, metadata };
    const shown = (id: string) =>
      optional(from, id).map(({ event, status, cycle, ...rest }) => {
        expect(rest).toEqual({ subscriptionId: id, ...of, cancelReason: rest.cancelReason });
        return [event, status, cycle && [cycle.number, cycle.status, cycle.attempts], rest.cancelReason];
      });
    expect(shown(followed)).toEqual([
      ['subscription.activated', 'active', [1, 'paid', 1], null],
      ['subscription.paid', 'active', [1, 'paid', 1], null],
      ['subscription.payment_failed', 'past_due', [2, 'retrying', 1], null],
      ['subscription.past_due', 'past_due', [2, 'retrying', 1], null],
      ['subscription.paid', 'completed', [2, 'paid', 2], null],
      ['subscription.completed', 'completed', [2, 'paid', 2], null],
    ]);
    expect(shown(canceled).at(-1)).toEqual([
      ...['subscription.canceled', 'canceled', [2, 'canceled', 0], 'merchant'],
    ]);
    expect(shown(expired)).toEqual([['subscription.expired', 'expired', null, null]]);
    // A cycle makes a payment, and no payment.paid.
    const { body } = await live.get(`/subscriptions/${followed}`);
    const paid = reported(from, 'payment.paid').map((each) => each.body.paymentId);
    for (const { paymentId } of body.cycles) expect(paid).not.toContain(paymentId);
  });
  rows('6.4', ['dispute'], async () => {
    const tenant = await liveTenant();
    const from = receiver.received.length;
    const id = await app.controls.openDispute(tenant, { amountCents: 100, reason: 'operational_error' });
    await live.post(`/disputes/${id}/evidence`, { text: 'Entregue' });
    await app.work.settled();
    await app.controls.closeDispute(tenant, id, 'won');
    await app.work.settled();
    const events = reported(from).map(({ body }) => body);
    expect(events.map(({ event, status }) => [event, status])).toEqual([
      ['dispute.opened', 'open'],
      ['dispute.updated', 'under_review'],
      ['dispute.closed', 'won'],
    ]);
    const { blockedCents, evidence, files, acceptedAt, ...shown } = (await live.get(`/disputes/${id}`)).body;
    expect(events.at(-1)).toEqual({ event: 'dispute.closed', of: null, ...shown });
  });
  rows('6.4', ['delivery'], async () => {
    const optional = optionalOf('delivery');
    const { body: product } = await live.post('/products', { name: 'Curso', priceCents: 4990 });
    const content = { codes: ['AAAA-1'] };
    const { body } = await live.post('/deliveries', { productId: product.id, content });
    const from = receiver.received.length;
    const of = { deliveryId: body.deliveryId, productId: product.id };
    for (const event of ['delivery.delivered', 'delivery.out_of_stock']) {
      const id = await charge(4990, { valueCents: undefined, productId: product.id });
      await payByPix(id);
      expect(optional(from, id)).toEqual([{ event, ...of, of: { type: 'payment', id } }]);
    }
    expect(JSON.stringify(reported(from).map(({ raw }) => raw))).not.toContain('AAAA-1');
  });
});

// ── 7. Errors, 8. Limits, 9. Versioning ─────────────────────────────────────────────────────────

describe('7 errors', () => {
  rows('7', ['form', '400', '403', '404', 'messages'], async () => {
    const restricted = await withKey(['subcontas.sacar']);
    const answers = [
      [400, await live.post('/products', { name: 7, priceCents: 990 })],
      [403, await restricted.get('/wallet')],
      [404, await live.get(`/products/${'0'.repeat(24)}`)],
      [404, await live.get('/nothing')],
    ] as const;
    for (const [expected, { status, body }] of answers)
      expect([status, body]).toMatchObject([expected, { error: expect.any(String) }]);
    for (const body of ['', '{', '[]', '7', 'null']) {
      const { status, body: answer } = await live.send('/products', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      expect([status, Object.keys(answer)]).toEqual([400, ['error', 'code', 'retryPolicy']]);
    }
  });
  rows('7', ['500'], async () => {
    for (const [table, ask] of [
      ['ledger_account', () => live.get('/wallet')],
      ['subaccount_payout', () => lookUp(`saq_${'0'.repeat(32)}`)],
      ['product', () => live.delete(`/products/${'0'.repeat(24)}`)],
    ] as const)
      expect(await whileBroken(table, ask)).toMatchObject({ status: 500, body: { error: 'Internal error' } });
  });
  andRows('4.1', ['500', 'rule 4']);
  andRows('4.4', ['internal']);
});

describe('8 limits', () => {
  rows('8', ['requests'], async () => {
    const client = createRestClient(app.url, await addKey(app, { accountId: await addAccount(app) }));
    const answers: RestAnswer[] = [];
    for (let count = 0; count < 121; count++) answers.push(await client.get('/wallet'));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(120);
    const last = answers.at(-1)!;
    expect([last.status, Object.keys(last.body)]).toEqual([
      429,
      ['error', 'code', 'retryPolicy', 'retryAfterSeconds'],
    ]);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const { headers } of answers)
      for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
        expect(headers.get(name), name).toMatch(/^\d+$/);
    app.clock.advance(60_000);
    expect((await client.get('/wallet')).status).toBe(200);
  });
  andRows('7', ['429']);
  rows('8', ['withdrawals'], async () => {
    await advanceClock(app, HOUR_MS);
    const statuses: number[] = [];
    for (let count = 0; count < 6; count++) statuses.push((await withdraw({ method: 'pix_turbo' })).status);
    for (let count = 0; count < 6; count++) statuses.push((await withdraw({})).status);
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 201, 201, 201, 201, 201, 429]);
    const refused = await withdraw({});
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
    await advanceClock(app, HOUR_MS);
    expect((await withdraw({ method: 'pix_turbo' })).status).toBe(201);
  });
  rows('8', ['split charge', 'split beneficiaries'], async () => {
    const splits = [{ subaccountId, percent: 1 }];
    expect((await live.post('/charges', { valueCents: 500_000, splits })).status).toBe(201);
    expect((await live.post('/charges', { valueCents: 500_001, splits })).status).toBe(400);
    expect((await live.post('/charges', { valueCents: 500_001 })).status).toBe(201);
    const many = [...splits];
    while (many.length < 10) {
      const { body } = await live.post('/subaccounts', { name: 'Sócia' });
      many.push({ subaccountId: body.id, percent: 1 });
    }
    expect((await live.post('/charges', { valueCents: 1_000, splits: many.slice(0, 9) })).status).toBe(201);
    expect((await live.post('/charges', { valueCents: 1_000, splits: many })).status).toBe(400);
  });
  rows('8', ['active API keys', 'billing products'], async () => {
    const tenant: Tenant = { accountId: await addAccount(app), environment: 'live' };
    const client = patient(createRestClient(app.url, await addKey(app, tenant)));
    const { products } = app.servicesFor({ priority: 'merchant', subject: null, onRead: () => undefined });
    await Promise.all(
      Array.from({ length: 499 }, (_, count) =>
        products.create(tenant, { name: `Produto ${count}`, priceCents: 990 }),
      ),
    );
    expect((await client.post('/products', { name: 'Produto 499', priceCents: 990 })).status).toBe(201);
    const { status, body } = await client.post('/products', { name: 'Mais um', priceCents: 990 });
    expect([status, body]).toMatchObject([409, { error: expect.stringContaining('500') }]);
  });
  rows('8', ['list page size'], async () => {
    for (const [limit, status] of [
      [0, 400],
      [1, 200],
      [100, 200],
      [101, 400],
    ])
      expect([limit, (await live.get(`/products?limit=${limit}`)).status]).toEqual([limit, status]);
    expect((await live.get('/products')).body.limit).toBe(50);
  });
  /** Asserts that the longest text of a field is accepted, and that one more character is refused by the field's name. */
  async function isLimited(path: string, field: string, textOf: (length: number) => string, most: number) {
    const create = (length: number) => live.post(path, { valueCents: 80, [field]: textOf(length) });
    expect([path, field, textOf(most).length, (await create(most)).status]).toEqual([path, field, most, 201]);
    const { status, body } = await create(most + 1);
    expect([path, field, status, body.error]).toEqual([path, field, 400, expect.stringContaining(field)]);
  }
  rows('8', ['card valueCents'], async () => {
    for (const [valueCents, status] of [
      [79, 400],
      [80, 201],
      [10_000_000_000, 201],
      [10_000_000_001, 400],
    ])
      expect([valueCents, (await live.post('/card-payments', { valueCents })).status]).toEqual([
        valueCents,
        status,
      ]);
  });
  andRows('4.2', ['valueCents', 'below 80']);
  rows('8', ['card description'], () =>
    isLimited('/card-payments', 'description', (length) => 'd'.repeat(length), 200),
  );
  andRows('4.2', ['description']);
  rows('8', ['card URLs'], async () => {
    const url = (length: number) => `https://loja.example/${'a'.repeat(length - 21)}`;
    for (const field of ['callbackUrl', 'successUrl', 'cancelUrl'])
      await isLimited('/card-payments', field, url, 500);
  });
  andRows('4.2', ['callbackUrl', 'successUrl', 'cancelUrl']);
  rows('8', ['metadata'], async () => {
    for (const path of ['/card-payments', '/payments', '/charges'])
      await isLimited(path, 'metadata', (length) => `"${'m'.repeat(length - 2)}"`, 2048);
  });
  andRows('4.2', ['metadata']);
  rows('8', ['webhook delivery'], async () => {
    receiver.answer = (response) => response.writeHead(500).end();
    const orderCode = await sell(2_000);
    // The first waits together are 73 minutes, or up to a fifth more. The last wait is six hours.
    await advanceClock(app, 88 * 60_000);
    const standing = async () => {
      const { status, attempts } = await deliveryOf(orderCode);
      return [status, attempts.length];
    };
    expect(await standing()).toEqual(['PENDING', 6]);
    await advanceClock(app, 8 * HOUR_MS);
    receiver.answer = (response) => response.end();
    expect(await standing()).toEqual(['EXHAUSTED', 7]);
  });
  rows('8', ['wallet withdrawal'], async () => {
    await advanceClock(app, HOUR_MS);
    const account = await addAccount(app);
    const client = patient(createRestClient(app.url, await addKey(app, { accountId: account })));
    await app.controls.credit({ accountId: account, environment: 'live' }, 50_000);
    expect((await withdraw({ amount: 500.01 }, client)).status).toBe(400);
    expect((await withdraw({ amount: 500 }, client)).status).toBe(201);
    expect((await withdraw({ amount: 10 }, client)).status).toBe(400);
  });
});

describe('8.1 fees', () => {
  rows('8.1', ['fee of pix', 'fee of pix_turbo', 'fee of ltc', 'fee of usd'], async () => {
    await advanceClock(app, HOUR_MS);
    await app.controls.creditLtc(await liveTenant(), 1_000_000_000);
    for (const [method, fee] of [
      ['pix', 1],
      ['pix_turbo', 2],
      ['ltc', 5],
      ['usd', 5],
    ] as const) {
      const { status, body } = await withdraw({ method, walletAddress: DESTINATIONS[method] });
      expect([method, status]).toEqual([method, 201]);
      expect((await live.get(`/payouts/${body.id}`)).body).toMatchObject({ method, amount: 100, fee });
    }
  });
  rows('8.1', ['fee of a payment by PIX'], async () => {
    const { body: free } = await live.post('/payments', { valueCents: 819 });
    expect(free).toMatchObject({ feeCents: 0, netAmountCents: 819 });
    const key = await addKey(app, { accountId: await addAccount(app, { pixFeeCents: 50 }) });
    const client = patient(createRestClient(app.url, key));
    for (const path of ['/payments', '/charges'])
      for (const [valueCents, feeCents, netAmountCents] of [
        [819, 50, 769],
        [30, 30, 0],
      ])
        expect((await client.post(path, { valueCents })).body).toMatchObject({ feeCents, netAmountCents });
    const byLtc = await client.post('/payments', { valueCents: 819, method: 'ltc' });
    expect(byLtc.body).toMatchObject({ feeCents: 0, netAmountCents: 819 });
  });
  rows('8.1', ['release of a card sale'], () => {
    // The first sale of this file, before fourteen days had passed and after.
    expect(release).toEqual([
      { balanceCents: 0, pendingReleaseCents: 10_000_000 },
      { balanceCents: 10_000_000, pendingReleaseCents: 0 },
    ]);
  });
});

describe('9 versioning', () => {
  rows('9', ['path prefix', 'version 1.0.0', 'dates'], async () => {
    const description = await (await fetch(`${app.url}/v1/openapi.json`)).json();
    expect(description.info.version).toBe('1.0.0');
    for (const path of Object.keys(description.paths)) expect(path).toMatch(/^\/v1\//);
    for (const path of ['/payouts?limit=1', '/card-payments?limit=1', '/payments?limit=1']) {
      const [items] = Object.values((await live.get(path)).body) as Record<string, unknown>[][];
      const instants = Object.entries(items![0]!).filter(
        ([name, value]) => /At$/.test(name) && value !== null,
      );
      expect(instants.length, path).toBeGreaterThan(0);
      for (const [name, instant] of instants)
        expect([path, name, instant]).toEqual([path, name, expect.stringMatching(ISO)]);
    }
  });
});

test('every row of the document has a case', () => {
  const all = Object.entries(DOCUMENT_ROWS).flatMap(([section, names]) =>
    names.map((name) => `${section} ${name}`),
  );
  expect(all.filter((row) => !shown.has(row))).toEqual([]);
  expect([...shown].filter((row) => !all.includes(row))).toEqual([]);
  expect(app.faults).toEqual([]);
});
