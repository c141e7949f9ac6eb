import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import type { CreateSubscriptionInput } from '../../server/src/money-in/subscriptions/model.ts';
import { pdf } from '../support/evidence-files.ts';
import { PASS } from '../support/fault-proxy.ts';
import { here, LOST, live, loseFirst, portsOf, sent, startNamed, there } from '../support/named-families.ts';
import { type Pair, type Service, startService } from '../support/pair.ts';

const MINUTE = 60_000;
const ALL = 'payments,charges,subscriptions,deliveries,store,disputes,refunds';
const LOST_ANSWER = { code: 'UPSTREAM_UNAVAILABLE', retryable: true, moneyMayHaveMoved: false };

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  expect(service.app.faults).toEqual([]);
  await service.app.close();
});

const start = (families = ALL, options?: Parameters<typeof startNamed>[2]) =>
  startNamed(service, families, options);

describe('charges at a service that takes them', () => {
  const made = async (pair: Pair) =>
    (await service.app.charges.listPage(there(pair), { limit: 9, offset: 0 })).items;

  test('A charge is created once for its key, and is paid by webhook', async () => {
    const pair = await start();
    const create = `mutation ($input: CreateChargeInput!) { createCharge(input: $input) { __typename
      ... on CreateChargeSuccess { replayed charge { chargeId status amountCents metadata pix { copyPaste } expiresAt } }
      ... on UserError { code message } } }`;
    const input = { valueCents: 2590, expiresInSeconds: 3600, metadata: ' {"a":1}', idempotencyKey: 'c-1' };
    const first = (await live(pair).request(create, { input })).createCharge;
    const [charge] = await made(pair);
    expect(first).toEqual({
      __typename: 'CreateChargeSuccess',
      replayed: false,
      charge: {
        chargeId: charge!.chargeId,
        status: 'PENDING',
        amountCents: 2590,
        metadata: ' {"a":1}',
        pix: { copyPaste: charge!.brCode },
        expiresAt: charge!.expiresAt.toISOString(),
      },
    });
    expect(first.charge.chargeId).toMatch(/^psc_/);
    const again = (await live(pair).request(create, { input })).createCharge;
    expect(again).toEqual({ ...first, replayed: true });
    await service.app.pix.pay({ txid: txidOf(charge!.chargeId) });
    await service.app.charges.receive(there(pair), charge!.chargeId);
    await pair.settled();
    expect(await live(pair).request('{ charges { totalCount nodes { status } } }')).toEqual({
      charges: { totalCount: 1, nodes: [{ status: 'PAID' }] },
    });
    expect(await made(pair)).toHaveLength(1);
    expect(pair.facade.faults).toEqual([]);
  });

  test('A split charge has its parts, by amount and by percentage, and one key makes one', async () => {
    const pair = await start();
    const { subaccounts, charges } = pair.services();
    const ids: string[] = [];
    for (const name of ['Ana', 'Rui'])
      ids.push((await subaccounts.create(here(pair), { name })).subaccount.id);
    loseFirst(pair, ({ method, path }) => method === 'POST' && path === '/v1/charges');
    const input = {
      valueCents: 10_000,
      splits: [
        { subaccountId: ids[0]!, amountCents: 1000 },
        { subaccountId: ids[1]!, percent: '33.30' },
      ],
      idempotencyKey: 's-1',
    };
    await expect(charges.create(here(pair), input)).rejects.toMatchObject(LOST_ANSWER);
    const { charge } = await charges.create(here(pair), input);
    const [split, ...others] = await made(pair);
    expect(others).toEqual([]);
    expect(charge).toMatchObject({
      chargeId: split!.chargeId,
      brCode: split!.brCode,
      splits: [
        { subaccountId: ids[0], amountCents: 1000, percent: null },
        { subaccountId: ids[1], percent: '33.3' },
      ],
    });
    expect(charge.chargeId).toMatch(/^psplit_/);
    expect(charge.splits.map(({ amountCents }) => amountCents)).toEqual(
      split!.splits.map(({ amountCents }) => amountCents),
    );
    await expect(
      charges.create(here(pair), {
        valueCents: 100,
        splits: [{ subaccountId: `sacc_${'0'.repeat(32)}`, amountCents: 10 }],
      }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'Subaccount not found' });
    await expect(
      charges.create(here(pair), { ...input, valueCents: 999, idempotencyKey: 's-2' }),
    ).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(await made(pair)).toHaveLength(1);
  });
});

describe('evidence at a service that takes it', () => {
  async function dispute(pair: Pair): Promise<string> {
    const { payment } = await service.app.payments.create(there(pair), { valueCents: 4990 });
    await service.app.pix.pay({ txid: txidOf(payment.paymentId) });
    await service.app.payments.receive(there(pair), payment.paymentId);
    const resource = { type: 'payment', id: payment.paymentId } as const;
    const opened = await service.app.controls.disputePayment(there(pair), resource, { amountCents: 990 });
    await pair.settled();
    return opened!.disputeId;
  }
  const evidence = {
    text: 'O pedido foi entregue.',
    documents: [{ url: 'https://loja.example/entregas/1042.pdf', description: 'Comprovante' }],
    idempotencyKey: 'disputa-1',
  };

  test('Evidence is submitted once for its key, and what the service refuses is refused', async () => {
    const pair = await start('disputes');
    const disputeId = await dispute(pair);
    loseFirst(pair, ({ method }) => method === 'POST');
    const { disputes } = pair.services();
    await expect(disputes.submitEvidence(here(pair), disputeId, evidence)).rejects.toMatchObject(LOST_ANSWER);
    const { idempotencyKey: _, ...shown } = evidence;
    const { dispute: answered } = await disputes.submitEvidence(here(pair), disputeId, evidence);
    expect(answered).toMatchObject({ disputeId, status: 'under_review', evidence: [shown] });
    expect(await disputes.submitEvidence(here(pair), disputeId, evidence)).toMatchObject({ replayed: true });
    const kept = await portsOf(service).disputes.find(there(pair), disputeId);
    expect(kept!.evidence).toHaveLength(1);

    const uploaded = await service.app.rest(pair.keys.live).send(`/disputes/${disputeId}/files?name=a.pdf`, {
      method: 'POST',
      headers: { 'content-type': 'application/pdf' },
      body: new Uint8Array(pdf()),
    });
    const fileIds: string[] = [uploaded.body.fileId];
    await disputes.submitEvidence(here(pair), disputeId, { fileIds });
    expect(await disputes.find(here(pair), disputeId)).toMatchObject({
      evidence: [shown, { fileIds }],
      files: [{ fileId: fileIds[0], name: 'a.pdf', createdAt: expect.any(Date) }],
    });
    await expect(
      disputes.submitEvidence(here(pair), disputeId, { fileIds: ['dsf_none'] }),
    ).rejects.toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringContaining('fileIds') });
    expect((await disputes.find(here(pair), disputeId))!.evidence).toHaveLength(2);
    await service.app.controls.closeDispute(there(pair), disputeId, 'won');
    await expect(disputes.submitEvidence(here(pair), disputeId, { text: 'x' })).rejects.toMatchObject({
      code: 'DISPUTE_STATE',
    });
    await expect(
      disputes.submitEvidence(here(pair), `dsp_${'0'.repeat(24)}`, evidence),
    ).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    for (const tenant of [here(pair), { ...here(pair), environment: 'sandbox' } as const])
      await expect(
        disputes.submitEvidence(tenant, `dsp_${'0'.repeat(24)}`, { text: 'x' }),
      ).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('deliveries at a service that takes them', () => {
  test('Content is created once for its key, is deleted, and is not stored here', async () => {
    const pair = await start('deliveries');
    const { deliveries, products } = pair.services();
    const { id: productId } = await products.create(here(pair), { name: 'Vale', priceCents: 1290 });
    const codes = ['AAAA-1111', 'BBBB-2222'];
    const input = { productId, content: { codes }, idempotencyKey: 'lote-1' };
    loseFirst(pair, ({ method, path }) => method === 'POST' && path === '/v1/deliveries');
    await expect(deliveries.create(here(pair), input)).rejects.toMatchObject(LOST_ANSWER);
    const { delivery } = await deliveries.create(here(pair), input);
    expect(delivery).toMatchObject({ productId, kind: 'codes', content: null, remainingCount: 2 });
    expect(await deliveries.create(here(pair), input)).toEqual({ delivery, replayed: true });
    const { delivery: text } = await deliveries.create(here(pair), {
      productId,
      content: { text: 'Obrigado' },
    });
    expect(text).toMatchObject({ kind: 'text', content: 'Obrigado', deliveredCount: 0 });
    expect(await deliveries.count(here(pair), {})).toBe(2);
    const rows = await pair.facade.database.sql.selectFrom('upstream_intent').selectAll().execute();
    expect(JSON.stringify(rows)).not.toMatch(/AAAA-1111|Obrigado/);

    await deliveries.delete(here(pair), text.deliveryId);
    await expect(deliveries.delete(here(pair), text.deliveryId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(deliveries.delete(here(pair), 'x')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(
      deliveries.create(here(pair), { productId: '0'.repeat(24), content: { text: 'x' } }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'Product not found' });
    await expect(
      deliveries.create(here(pair), { productId, content: { codes: ['AAAA-1111'] } }),
    ).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await pair.pass(MINUTE);
    expect(await portsOf(service).deliveries.count(there(pair), {})).toBe(1);
    expect(pair.facade.faults).toEqual([]);
  });
});

describe('subscriptions at a service that takes them', () => {
  const INPUT: CreateSubscriptionInput = {
    valueCents: 2990,
    interval: 'monthly' as const,
    endsAfterCycles: 12,
    description: 'Clube',
    customer: { name: 'Ana', taxId: '52998224725' },
    metadata: '{"plano":1}',
    idempotencyKey: 'a-1',
  };
  const made = async (pair: Pair) =>
    (await portsOf(service).subscriptions.listPage(there(pair), { limit: 9, offset: 0 })).items;

  test('A subscription is created once for its key, and is canceled', async () => {
    const pair = await start('subscriptions');
    loseFirst(pair, ({ method }) => method === 'POST');
    const { subscriptions } = pair.services();
    await expect(subscriptions.create(here(pair), INPUT)).rejects.toMatchObject(LOST_ANSWER);
    const { subscription } = await subscriptions.create(here(pair), INPUT);
    const [kept, ...others] = await made(pair);
    expect(others).toEqual([]);
    expect(subscription).toMatchObject({
      subscriptionId: kept!.subscriptionId,
      status: 'pending',
      amountCents: 2990,
      interval: 'monthly',
      endsAfterCycles: 12,
      brCode: kept!.brCode,
      metadata: '{"plano":1}',
      description: 'Clube',
      customer: { name: 'Ana', taxId: '52998224725' },
    });
    expect(await subscriptions.create(here(pair), INPUT)).toMatchObject({ replayed: true });

    const { subscriptionId } = subscription;
    loseFirst(pair, ({ method }) => method === 'DELETE');
    await expect(subscriptions.cancel(here(pair), subscriptionId)).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
      moneyMayHaveMoved: false,
    });
    const canceled = { subscriptionId, status: 'canceled', cancelReason: 'merchant' };
    expect((await subscriptions.cancel(here(pair), subscriptionId)).subscription).toMatchObject(canceled);
    expect(await subscriptions.cancel(here(pair), subscriptionId)).toMatchObject({
      replayed: true,
      subscription: canceled,
    });
    for (const id of [`psa_sub_${'0'.repeat(32)}`, 'psa_sub_', '../money-out/wallet'])
      await expect(subscriptions.cancel(here(pair), id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await made(pair))[0]).toMatchObject({ status: 'canceled' });
    expect(pair.facade.faults).toEqual([]);
  });

  test('A WebSocket of the facade follows a subscription from its creation to its end', async () => {
    const pair = await start('subscriptions');
    const { subscription } = await pair.services().subscriptions.create(here(pair), INPUT);
    const { subscriptionId } = subscription;
    const updates = live(pair).ws(
      `subscription ($subscriptionId: String!) { subscriptionUpdates(subscriptionId: $subscriptionId) {
        previousStatus subscription { subscriptionId status cancelReason cycles(first: 2) { nodes { number status } } } } }`,
      { subscriptionId },
    );
    const next = async () => (await updates.data()).subscriptionUpdates;
    expect(await next()).toMatchObject({
      previousStatus: null,
      subscription: { subscriptionId, status: 'PENDING', cycles: { nodes: [] } },
    });
    await service.app.pix.pay({ txid: txidOf(subscriptionId) });
    await pair.settled();
    // The account has not opted into its webhooks, so the followed resource is looked up.
    await pair.pass(MINUTE);
    expect(await next()).toMatchObject({
      previousStatus: 'PENDING',
      subscription: {
        status: 'ACTIVE',
        cycles: {
          nodes: [
            { number: 2, status: 'SCHEDULED' },
            { number: 1, status: 'PAID' },
          ],
        },
      },
    });
    await pair.services().subscriptions.cancel(here(pair), subscriptionId);
    expect(await next()).toMatchObject({
      previousStatus: 'ACTIVE',
      subscription: { status: 'CANCELED', cancelReason: 'MERCHANT' },
    });
    expect((await updates.next()).done).toBe(true);
    expect(pair.facade.faults).toEqual([]);
  });

  test('What the service refuses is refused as it is there', async () => {
    const pair = await start('subscriptions', { account: { pixEnabled: false } });
    await expect(pair.services().subscriptions.create(here(pair), INPUT)).rejects.toMatchObject({
      code: 'PAYMENTS_NOT_CONFIGURED',
    });
    expect(await made(pair)).toEqual([]);
  });
});

describe('what is not named', () => {
  const HEX = '0'.repeat(32);
  const CHANGES = {
    payments: ['createPayment(input: { valueCents: 80 })'],
    charges: ['createCharge(input: { valueCents: 80 })'],
    subscriptions: [
      'createSubscription(input: { valueCents: 80, interval: MONTHLY })',
      `cancelSubscription(subscriptionId: "psa_sub_${HEX}")`,
    ],
    deliveries: [
      `createDelivery(input: { productId: "${'0'.repeat(24)}", content: { text: "x" } })`,
      `deleteDelivery(deliveryId: "${'0'.repeat(24)}")`,
    ],
    disputes: [`submitDisputeEvidence(input: { disputeId: "dsp_${'0'.repeat(24)}", text: "x" })`],
    refunds: [
      `refundPayment(input: { paymentId: "psa_${HEX}", idempotencyKey: "a" })`,
      `refundCharge(input: { chargeId: "psc_${HEX}", idempotencyKey: "a" })`,
      'refundCardPayment(input: { orderCode: "PSC-1", idempotencyKey: "a" })',
    ],
  };

  test.each(['', ...Object.keys(CHANGES)])(
    'With "%s" the changes of every other family are NOT_OFFERED, and nothing of them is sent',
    async (families) => {
      const named = Object.keys(CHANGES).filter((family) => family === families);
      const pair = await start(families);
      await pair.settled();
      const before = pair.proxy.arrivals.length;
      for (const [family, changes] of Object.entries(CHANGES)) {
        if (named.includes(family)) continue;
        for (const change of changes) {
          const { done } = await live(pair).request(
            `mutation { done: ${change} { __typename ... on UserError { code } } }`,
          );
          expect({ change, done }).toMatchObject({
            done: { __typename: 'PreconditionError', code: 'NOT_OFFERED' },
          });
        }
      }
      expect(pair.proxy.arrivals).toHaveLength(before);
      for (const change of named.flatMap((family) => CHANGES[family as keyof typeof CHANGES]))
        expect(
          await live(pair).request(`mutation { done: ${change} { __typename ... on UserError { code } } }`),
        ).not.toMatchObject({ done: { code: 'NOT_OFFERED' } });
      expect(pair.proxy.arrivals.length).toBeGreaterThanOrEqual(before + named.length);
    },
  );

  test('The store has a word, and is read without it', async () => {
    for (const families of ['', 'store']) {
      const pair = await start(families);
      expect(await live(pair).request('{ storeProducts { totalCount } }')).toEqual({
        storeProducts: { totalCount: 0 },
      });
    }
  });

  test('A request that is sent for good is never sent again', async () => {
    const pair = await start();
    const { charges } = pair.services();
    pair.proxy.plan = ({ method }) => (method === 'POST' ? LOST : PASS);
    const input = { valueCents: 100, idempotencyKey: 'c-1' };
    await expect(charges.create(here(pair), input)).rejects.toMatchObject(LOST_ANSWER);
    pair.proxy.plan = () => PASS;
    await charges.create(here(pair), input);
    const count = sent(pair, 'POST').length;
    await charges.create(here(pair), input);
    await pair.pass(60 * MINUTE);
    expect(sent(pair, 'POST')).toHaveLength(count);
  });
});
