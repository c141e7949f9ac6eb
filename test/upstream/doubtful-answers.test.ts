import { beforeAll, describe, expect, test } from 'vitest';
import { createRemoteDeliveries } from '../../server/src/catalogue/deliveries/remote/service.ts';
import { createRemoteProducts } from '../../server/src/catalogue/products/remote/service.ts';
import { RateLimitError } from '../../server/src/kernel/errors.ts';
import type { Requester } from '../../server/src/kernel/requester.ts';
import { createRemoteDisputes } from '../../server/src/money-in/disputes/remote/service.ts';
import { createRemotePayments } from '../../server/src/money-in/payments/remote/service.ts';
import { createRemoteRefunds } from '../../server/src/money-in/refunds/remote/service.ts';
import { createRemotePayouts } from '../../server/src/money-out/payouts/remote/service.ts';
import { createRemoteSubaccounts } from '../../server/src/money-out/subaccounts/remote/service.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { readRefusal, secondsOf } from '../../server/src/upstream/rate-limits.ts';
import { openFreshDatabase } from '../support/database.ts';
import { startFacade, type TestFacade } from '../support/facade.ts';
import { createScriptedService, ok, refused, timeout } from '../support/scripted-service.ts';

// Answers that seem to say more than they do: the page of a proxy, a body of another version, an answer of an hour
// ago.

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
});

const MINUTE_MS = 60_000;
const HEX = '0c7d1a5be2f94a3d8e6b7f100c7d1a5b';
const readWallet = () => Promise.reject(new Error('no wallet is read here'));
const requesterOf = (onRead: Requester['onRead'] = () => undefined): Requester => ({
  priority: 'merchant',
  subject: null,
  onRead,
});
/** The page of a proxy in front of the service, whose HTML the client reads as null. */
const proxyPage = () => ({ status: 404, body: null });

async function pass(facade: TestFacade, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    facade.clock.advance(MINUTE_MS);
    await facade.work.settled();
  }
}

async function start() {
  const script = createScriptedService();
  const facade = await startFacade({
    database,
    upstream: script.upstream,
    families: ['refunds', 'deliveries'],
  });
  return { script, facade, tenant: facade.tenant };
}

describe('a request whose outcome is unknown', () => {
  test('A 404 page of a proxy does not deny a payout of a subaccount, and the message of the service does', async () => {
    const { script, facade, tenant } = await start();
    const remote = createRemoteSubaccounts({ ...facade, readWallet });
    Object.assign(facade.requests, remote.requests);
    const port = remote.serviceFor(requesterOf());
    const subaccountId = `sacc_${'a'.repeat(32)}`;
    script.on('POST', '/v1/subaccounts/', () => timeout());
    script.on('GET', '/v1/subaccounts/', proxyPage);
    const input = { subaccountId, amountCents: 5_000, pixKey: 'ana@example.com', idempotencyKey: 'k1' };
    await port.requestPayout(tenant, input);
    await pass(facade, 20);
    const find = () => port.findPayout(tenant, subaccountId, 'saq_idem_k1');
    expect(await find()).toMatchObject({ status: 'processing' });
    expect(await facade.intents.unresolved(tenant, { end: 'first', limit: 9 })).toHaveLength(1);

    script.on('GET', '/v1/subaccounts/', () => refused(404, 'Payout not found'));
    await pass(facade, 60);
    expect(await find()).toMatchObject({ status: 'failed', reversed: true });
  });

  const RIGHT = {
    refundId: `ref_${HEX.slice(8)}`,
    status: 'processing',
    amountCents: 990,
    paymentId: `psa_${HEX}`,
  };

  async function requestRefund() {
    const started = await start();
    const slice = createRemoteRefunds({ ...started.facade, readWallet });
    Object.assign(started.facade.requests, slice.requests);
    const port = slice.serviceFor(requesterOf());
    started.script.on('POST', '/v1/payments/', () => timeout());
    const request = () =>
      port.request(
        started.tenant,
        { type: 'payment', id: RIGHT.paymentId },
        { amountCents: 990, idempotencyKey: 'k1' },
      );
    return { ...started, port, request };
  }

  test.each([
    ['an empty body', () => ok(null)],
    ['a body of another version', () => ok({ refund: { id: RIGHT.refundId, state: 'done' } })],
    ['the page of a proxy', proxyPage],
  ])('%s does not say that a refund was not made', async (_, answer) => {
    const { script, facade, tenant, port, request } = await requestRefund();
    script.on('GET', '/v1/refunds/', answer);
    await expect(request()).rejects.toMatchObject({ moneyMayHaveMoved: true });
    await expect(port.find(tenant, 'ref_idem_k1')).rejects.toThrow(/payments service/);
    await pass(facade, 20);
    expect(await facade.intents.unresolved(tenant, { end: 'first', limit: 9 })).toHaveLength(1);

    script.on('GET', '/v1/refunds/', () => ok(RIGHT));
    await pass(facade, 60);
    expect(await facade.intents.unresolved(tenant, { end: 'first', limit: 9 })).toEqual([]);
    expect(await port.find(tenant, 'ref_idem_k1')).toMatchObject({ refundId: RIGHT.refundId });
  });

  test('A Retry-After of years delays its lookup by an hour', async () => {
    const { script, facade, tenant, request } = await requestRefund();
    const { ms } = readRefusal({ 'retry-after': '999999999' }, { now: new Date(), windowMs: MINUTE_MS });
    script.on('GET', '/v1/refunds/', () => new RateLimitError('requests', secondsOf(ms)));
    await expect(request()).rejects.toMatchObject({ moneyMayHaveMoved: true });
    await pass(facade, 2);
    script.on('GET', '/v1/refunds/', () => ok(RIGHT));
    await pass(facade, 60);
    expect(await facade.intents.unresolved(tenant, { end: 'first', limit: 9 })).toEqual([]);
  });

  test('Payouts in doubt of one instant have positions of their own, so that each is on one page', async () => {
    const { script, facade, tenant } = await start();
    const remote = createRemotePayouts({ ...facade, readWallet });
    Object.assign(facade.requests, remote.requests);
    const port = remote.serviceFor(requesterOf());
    script.on('POST', '/v1/payouts', () => timeout());
    script.on('GET', '/v1/payouts', () => ok({ payouts: [], total: 0 }));
    const keys = ['d1', 'd2', 'd3'];
    await Promise.all(
      keys.map((idempotencyKey) =>
        port.request(tenant, {
          method: 'pix',
          amountCents: 1_000,
          destination: `${idempotencyKey}@a.example`,
          idempotencyKey,
        }),
      ),
    );
    for (const end of ['first', 'last'] as const) {
      const seen: string[] = [];
      let bound = {};
      for (let more = true; more; ) {
        const page = await port.list(tenant, { end, limit: 1, ...bound });
        seen.push(...page.items.map(({ payout }) => payout!.requestId!));
        more = page.more;
        const { position } = page.items[0]!;
        bound = end === 'first' ? { after: position } : { before: position };
      }
      expect(new Set(seen).size, end).toBe(keys.length);
      expect(seen, end).toHaveLength(keys.length);
    }
    expect(await port.count(tenant, {})).toBe(keys.length);
  });
});

describe('an answer from before', () => {
  test('That there was no such payment an hour ago says nothing about now', async () => {
    const { script, facade, tenant } = await start();
    const payments = createRemotePayments({
      ...facade,
      callbackUrl: null,
      findProduct: async () => null,
      privateAddresses: false,
    }).serviceFor(requesterOf());
    script.on('GET', '/v1/payments', () => ok({ payments: [], total: 0 }));
    script.on('GET', '/v1/payments/', () => refused(404, 'Payment not found'));
    expect(await payments.find(tenant, `psa_${HEX}`)).toBeNull();
    script.on('GET', '/v1/payments/', () => timeout());
    facade.clock.advance(3_600_000);
    await expect(payments.find(tenant, `psa_${HEX}`)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });

  test('Each of several lists of disputes that share a read says how old it is', async () => {
    const { script, facade, tenant } = await start();
    const slice = createRemoteDisputes(facade);
    script.on('GET', '/v1/disputes', () => ok({ disputes: [], total: 0 }));
    const ages: string[] = [];
    const list = (name: string) =>
      slice
        .serviceFor(requesterOf((_, stale) => ages.push(`${name} ${stale ? 'stale' : 'fresh'}`)))
        .list(tenant, { end: 'first', limit: 5 });
    await list('first');
    script.on('GET', '/v1/disputes', () => timeout());
    facade.clock.advance(3_600_000);
    await Promise.all(['a', 'b', 'c'].map(list));
    expect(ages.sort()).toEqual(['a stale', 'b stale', 'c stale', 'first fresh']);
  });
});

describe('a change that may not have been made', () => {
  test.each([
    ['a message', { error: 'Product not found' }],
    ['that nothing was deleted', { deleted: false }],
    ['that it is none', { success: false, message: 'Erro' }],
  ])('A product is not taken for deleted where a success says %s', async (_, body) => {
    const { script, facade, tenant } = await start();
    const products = createRemoteProducts(facade).serviceFor(requesterOf());
    script.on('DELETE', '/v1/products/', () => ok(body));
    await expect(products.delete(tenant, 'a'.repeat(24))).rejects.toThrow(/payments service/);
    script.on('DELETE', '/v1/products/', () => ok({ deleted: true }));
    await products.delete(tenant, 'a'.repeat(24));
  });

  test.each([
    ['a message', { error: 'Delivery is in use' }],
    ['that nothing was deleted', { deleted: false }],
    ['that it is none', { success: false }],
  ])('Content is not taken for deleted where a success says %s', async (_, body) => {
    const { script, facade, tenant } = await start();
    const deliveries = createRemoteDeliveries(facade).serviceFor(requesterOf());
    script.on('DELETE', '/v1/deliveries/', () => ok(body));
    await expect(deliveries.delete(tenant, 'a'.repeat(24))).rejects.toThrow(/payments service/);
    script.on('DELETE', '/v1/deliveries/', () => ({ status: 204, body: null }));
    await deliveries.delete(tenant, 'a'.repeat(24));
  });

  test('A transfer is not taken for done where a success says that it is none', async () => {
    const { script, facade, tenant } = await start();
    const remote = createRemoteSubaccounts({ ...facade, readWallet });
    Object.assign(facade.requests, remote.requests);
    script.on('POST', '/v1/subaccounts/', () => ok({ success: false, message: 'Saldo insuficiente' }));
    script.on('GET', '/v1/subaccounts/', () => ok({ entries: [], total: 0 }));
    const input = { subaccountId: `sacc_${'a'.repeat(32)}`, amountCents: 5_000, idempotencyKey: 'k1' };
    await expect(remote.serviceFor(requesterOf()).transfer(tenant, input)).rejects.toMatchObject({
      moneyMayHaveMoved: true,
    });
  });

  test('An unregistered status does not say that a subaccount was refused', async () => {
    const { script, facade, tenant } = await start();
    const port = createRemoteSubaccounts({ ...facade, readWallet }).serviceFor(requesterOf());
    script.on('POST', '/v1/subaccounts', () => ({ status: 499, body: null }));
    await expect(port.create(tenant, { name: 'Ana', externalId: '42' })).rejects.toMatchObject({
      retryable: true,
    });
  });
});

test('A payer reads a refusal in words of this server, and a merchant in those of the service', async () => {
  const { script, facade, tenant } = await start();
  script.on('GET', '/v1/payments/', () => refused(403, 'A chave da loja Varanda venceu'));
  const payments = createRemotePayments({
    ...facade,
    callbackUrl: null,
    findProduct: async () => null,
    privateAddresses: false,
  });
  const find = (priority: Requester['priority']) =>
    payments.serviceFor({ ...requesterOf(), priority }).find(tenant, `psa_${HEX}`);
  await expect(find('merchant')).rejects.toThrow('A chave da loja Varanda venceu');
  await expect(find('payer')).rejects.toThrow(/^The payments service refuses this$/);
});

describe('an answer to a creation that is not of the request', () => {
  const SUBACCOUNT = `sacc_${'a'.repeat(32)}`;
  const faultsOf = (facade: TestFacade) =>
    facade.faults.splice(0).map((fault) => String(fault).replace(/.*has answered with /, ''));
  const PIX = { method: 'pix', amountCents: 2_222, destination: 'ana@example.com' } as const;
  const MADE = { id: HEX.slice(0, 24), amount: 22.22, method: 'pix', status: 'concluido' };

  async function startPayouts() {
    const started = await start();
    const remote = createRemotePayouts({ ...started.facade, readWallet });
    Object.assign(started.facade.requests, remote.requests);
    started.script.on('GET', '/v1/payouts', () => refused(405, 'no list'));
    const answer = (body: object) => started.script.on('POST', '/v1/payouts', () => ok(body));
    return { ...started, remote, answer, port: remote.serviceFor(requesterOf()) };
  }

  test.each([
    ['amount', { amount: 9_999.99 }],
    ['method', { method: 'ltc' }],
    ['destination', { walletAddress: 'bia@example.com' }],
    ['destination', { walletAddress: 'b**@example.com' }],
    ['currency', { currency: 'USD' }],
  ])('A withdrawal that is answered with another %s is in doubt, and logged', async (name, other) => {
    const { facade, tenant, port, answer } = await startPayouts();
    answer({ ...MADE, ...other });
    const { payout } = await port.request(tenant, { ...PIX, idempotencyKey: 'k1' });
    expect(payout).toMatchObject({ inDoubt: true, status: 'processing', amountCents: 2_222, method: 'pix' });
    expect(faultsOf(facade)).toEqual([`another ${name}`]);
    expect((await port.request(tenant, { ...PIX, idempotencyKey: 'k1' })).payout.inDoubt).toBe(true);
  });

  test('A withdrawal that is answered as it was requested, however little that says, is believed', async () => {
    const { facade, tenant, port, answer } = await startPayouts();
    const answers = [
      MADE,
      { id: '1'.repeat(24) },
      { ...MADE, id: '2'.repeat(24), walletAddress: 'a**@example.com', currency: 'BRL' },
    ];
    for (const [index, body] of answers.entries()) {
      answer(body);
      const { payout } = await port.request(tenant, { ...PIX, idempotencyKey: `k${index}` });
      expect(payout).toMatchObject({ withdrawalId: body.id });
      expect(payout.inDoubt).toBeFalsy();
    }
    expect(faultsOf(facade)).toEqual([]);
  });

  test('A withdrawal that is answered with the id of another is in doubt', async () => {
    const { facade, tenant, port, answer, remote } = await startPayouts();
    answer(MADE);
    await port.request(tenant, { ...PIX, idempotencyKey: 'k1' });
    expect((await port.request(tenant, { ...PIX, idempotencyKey: 'k2' })).payout.inDoubt).toBe(true);
    // A payout of another system that a webhook has named, with and without a key.
    const known = {
      withdrawalId: 'f'.repeat(24),
      code: 'SAQ-7',
      amount: 10,
      method: 'pix',
      walletAddress: 'eva@example.com',
    };
    const { observation } = remote.readWebhook({
      event: 'withdrawal.requested',
      status: 'pendente',
      ...known,
    })!;
    await facade.committer.change({
      tenant,
      read: observation.read,
      decide: (state) => ({ outcome: null, writes: observation.decide(state).writes }),
    });
    answer({ ...MADE, id: known.withdrawalId });
    for (const idempotencyKey of ['k3', null])
      expect((await port.request(tenant, { ...PIX, idempotencyKey })).payout.inDoubt).toBe(true);
    const eva = { ...PIX, amountCents: 1_000, destination: 'eva@example.com' };
    answer({ id: known.withdrawalId });
    expect((await port.request(tenant, { ...eva, idempotencyKey: null })).payout.inDoubt).toBe(true);
    // A service that knows keys returns the earlier payout of the key.
    expect((await port.request(tenant, { ...eva, idempotencyKey: 'k4' })).payout).toMatchObject({
      withdrawalId: known.withdrawalId,
    });
    expect(faultsOf(facade)).toEqual(Array(4).fill('what belongs to another request'));
  });

  async function startSubaccounts() {
    const started = await start();
    const remote = createRemoteSubaccounts({ ...started.facade, readWallet });
    Object.assign(started.facade.requests, remote.requests);
    started.script.on('GET', '/v1/subaccounts/', () => refused(404, 'Payout not found'));
    const answer = (body: object) => started.script.on('POST', '/v1/subaccounts', () => ok(body));
    return { ...started, answer, port: remote.serviceFor(requesterOf()) };
  }

  test('A transfer that is answered with another amount, subaccount or currency, or with the entry of another, is in doubt', async () => {
    const { facade, tenant, port, answer } = await startSubaccounts();
    const entry = {
      refId: 'rep_1',
      amountCents: 500,
      kind: 'transfer_in',
      createdAt: facade.clock.now().toISOString(),
    };
    const transfer = (idempotencyKey: string) =>
      port.transfer(tenant, { subaccountId: SUBACCOUNT, amountCents: 500, idempotencyKey });
    answer({ entry });
    expect(await transfer('k0')).toMatchObject({ entry: { refId: 'rep_1' } });
    const others = [{ amountCents: 1 }, { subaccountId: `sacc_${'b'.repeat(32)}` }, { currency: 'USD' }, {}];
    for (const [index, other] of others.entries()) {
      answer({ entry: { ...entry, ...other } });
      await expect(transfer(`k${index + 1}`)).rejects.toMatchObject({ moneyMayHaveMoved: true });
    }
    expect(faultsOf(facade)).toEqual([
      'another amount',
      'another subaccount',
      'another currency',
      'what belongs to another request',
    ]);
  });

  test('A payout of a subaccount that is answered with another amount, or with the payout of another key, is in doubt', async () => {
    const { facade, tenant, port, script, answer } = await startSubaccounts();
    const withdrawal = { id: HEX.slice(0, 24), amountCents: 5_000 };
    const input = { subaccountId: SUBACCOUNT, amountCents: 5_000, pixKey: 'ana@example.com' };
    answer({ withdrawal, code: 'TURBO-1' });
    script.on('GET', '/v1/subaccounts/', timeout);
    const request = async (idempotencyKey: string) =>
      (await port.requestPayout(tenant, { ...input, idempotencyKey })).payout;
    expect((await request('k1')).inDoubt).toBeFalsy();
    expect(await request('k2')).toMatchObject({ inDoubt: true, amountCents: 5_000 });
    answer({ withdrawal: { id: 'f'.repeat(24), amountCents: 1 }, code: 'TURBO-2' });
    expect(await request('k3')).toMatchObject({ inDoubt: true, amountCents: 5_000 });
    expect(faultsOf(facade)).toEqual(['what belongs to another request', 'another amount']);
  });

  test('A subaccount and a product are not created by an answer about another', async () => {
    const { facade, script, tenant, port, answer } = await startSubaccounts();
    answer({ id: SUBACCOUNT, name: 'Bia', externalId: null });
    const refusal = { code: 'UPSTREAM_REFUSED', retryable: false, moneyMayHaveMoved: false };
    await expect(port.create(tenant, { name: 'Ana' })).rejects.toMatchObject(refusal);
    answer({ id: SUBACCOUNT, name: 'Ana', externalId: '7' });
    await expect(port.create(tenant, { name: 'Ana', externalId: '8' })).rejects.toMatchObject(refusal);
    const products = createRemoteProducts(facade).serviceFor(requesterOf());
    script.on('POST', '/v1/products', () => ok({ id: HEX.slice(0, 24), name: 'Caneca', priceCents: 1 }));
    await expect(products.create(tenant, { name: 'Caneca', priceCents: 4_990 })).rejects.toMatchObject(
      refusal,
    );
    expect(faultsOf(facade)).toEqual(['another name', 'another externalId', 'another price']);
  });

  test('A subaccount and a product are not created by an answer that names what another creation has made', async () => {
    const { facade, script, tenant, port, answer } = await startSubaccounts();
    const refusal = { code: 'UPSTREAM_REFUSED', retryable: false, moneyMayHaveMoved: false };
    answer({ id: SUBACCOUNT, name: 'Ana' });
    const created = await port.create(tenant, { name: 'Ana', externalId: '7' });
    // The number belongs to one subaccount, however often it is created and under any name.
    expect(await port.create(tenant, { name: 'Ana Lima', externalId: '7' })).toMatchObject({
      subaccount: { id: created.subaccount.id },
    });
    await expect(port.create(tenant, { name: 'Ana', externalId: '8' })).rejects.toMatchObject(refusal);
    await expect(port.create(tenant, { name: 'Ana' })).rejects.toMatchObject(refusal);
    const products = createRemoteProducts(facade).serviceFor(requesterOf());
    const product = { name: 'Caneca', priceCents: 4_990 };
    const answerProduct = (id: string) => script.on('POST', '/v1/products', () => ok({ id, ...product }));
    answerProduct(HEX.slice(0, 24));
    await products.create(tenant, product);
    await expect(products.create(tenant, product)).rejects.toMatchObject(refusal);
    answerProduct('f'.repeat(24));
    await products.create(tenant, product);
    // Another merchant's products have other ids.
    answerProduct(HEX.slice(0, 24));
    await products.create({ ...tenant, environment: 'sandbox' }, product);
    expect(faultsOf(facade)).toEqual(Array(3).fill('what belongs to another request'));
  });

  test('A refund that is answered with that of another request is in doubt', async () => {
    const { script, facade, tenant } = await start();
    const slice = createRemoteRefunds({ ...facade, readWallet });
    Object.assign(facade.requests, slice.requests);
    const port = slice.serviceFor(requesterOf());
    const resource = { type: 'payment', id: `psa_${HEX}` } as const;
    script.on('POST', '/v1/payments/', () =>
      ok({ refundId: `ref_${HEX.slice(8)}`, status: 'processing', amountCents: 990, paymentId: resource.id }),
    );
    script.on('GET', '/v1/refunds/', () => refused(404, 'Refund not found'));
    const refund = (idempotencyKey: string) =>
      port.request(tenant, resource, { amountCents: 990, idempotencyKey });
    await refund('k1');
    await expect(refund('k2')).rejects.toMatchObject({ moneyMayHaveMoved: true });
    expect(faultsOf(facade)).toEqual(['what belongs to another request']);
  });
});
