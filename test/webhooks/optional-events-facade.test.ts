import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { cardPaymentWebhook } from '../../server/src/money-in/card-payments/wire.ts';
import { OPTIONAL_WEBHOOK_EVENTS } from '../../server/src/webhooks/sent-events.ts';
import { approved, approvedLate, declinedForGood } from '../support/cards.ts';
import { fund } from '../support/funds.ts';
import { type Pair, type Service, startPair, startService } from '../support/pair.ts';

const MINUTE = 60_000;

const CONFIGURE = `mutation ($input: ConfigureWebhookInput!) { configureWebhook(input: $input) {
  __typename ... on ConfigureWebhookSuccess { endpoint { url optionalEvents } } ... on PreconditionError { code message } } }`;
const CREATE = `mutation { createCardPayment(input: { valueCents: 4990, description: "Pão" }) {
  ... on CreateCardPaymentSuccess { cardPayment { orderCode status } } } }`;
const FIND = `query ($orderCode: String!) { cardPayment(orderCode: $orderCode) {
  status paidAt paidLate refundedAt failureReason amountCents otherPaidCents final } }`;
const REQUEST = `mutation ($input: RequestPayoutInput!) { requestPayout(input: $input) {
  ... on RequestPayoutSuccess { payout { id } } ... on UserError { message } } }`;
const ALL = OPTIONAL_WEBHOOK_EVENTS.map((event) => event.replace('.', '_').toUpperCase());

const MINT = `mutation { createCheckoutToken(input: { amount: { fixedCents: 500 }, reusable: true }) {
  ... on CreateCheckoutTokenSuccess { token tokenId } ... on UserError { message } } }`;
const REVOKE = 'mutation ($tokenId: String) { revokeToken(tokenId: $tokenId) { __typename } }';

describe('a facade of a service whose optional events are all opted into', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(async () => {
    expect(service.app.faults).toEqual([]);
    await service.app.close();
  });

  async function start(): Promise<Pair> {
    const pair = await startPair({ service, account: {} });
    onTestFinished(async () => {
      await pair.close();
      await service.app.database.sql
        .deleteFrom('task')
        .where('account_id', '=', pair.accountIds.service)
        .execute();
    });
    const input = { url: `http://127.0.0.1:${pair.facade.port}/webhooks/psa`, optionalEvents: ALL };
    const { configureWebhook } = await pair.service.client(pair.keys.live).request(CONFIGURE, { input });
    expect(configureWebhook).toMatchObject({ endpoint: { optionalEvents: ALL } });
    return pair;
  }

  const tenantOf = ({ accountIds }: Pair) =>
    ({ accountId: accountIds.service, environment: 'live' }) as const;
  const create = async ({ facade, keys }: Pair): Promise<string> =>
    (await facade.client(keys.live).request(CREATE)).createCardPayment.cardPayment.orderCode;
  const find = async ({ facade, keys }: Pair, orderCode: string) =>
    (await facade.client(keys.live).request(FIND, { orderCode })).cardPayment;

  /** The events of one resource in the facade's log, in order. */
  async function published({ facade, accountIds }: Pair, resource: string): Promise<string[]> {
    const rows = await facade.database.sql
      .selectFrom('event')
      .select('kind')
      .where('account_id', '=', accountIds.facade)
      .where('resource', '=', resource)
      .orderBy('version')
      .execute();
    return rows.map(({ kind }) => kind);
  }

  /** The deliveries of a payment and of its later events, which keep the payment's order. */
  function deliveriesOf(orderCode: string) {
    return service.app.database.sql
      .selectFrom('webhook_delivery')
      .select(['event', 'status', 'attempts'])
      .where('resource_id', '=', orderCode)
      .orderBy('number')
      .execute();
  }

  test('A payment is followed to its refund by webhooks alone', async () => {
    const pair = await start();
    const orderCode = await create(pair);
    const { payment } = await service.app.cardPayments.pay(orderCode, approved());
    await pair.pass(10 * MINUTE);
    const asked = pair.proxy.arrivals.length;
    const refundedAt = pair.clock.now().toISOString();
    await service.app.cardPayments.refund(tenantOf(pair), orderCode);
    await service.app.work.settled();
    expect(await published(pair, 'card_payment')).toEqual([
      'card_payment.pending',
      'card_payment.paid',
      'card_payment.refunded',
    ]);
    expect(pair.proxy.arrivals.slice(asked).filter(({ path }) => path.includes(orderCode))).toEqual([]);
    await pair.pass(5 * MINUTE);
    expect(await find(pair, orderCode)).toEqual({
      status: 'REFUNDED',
      paidAt: payment.paidAt!.toISOString(),
      refundedAt,
      paidLate: false,
      failureReason: null,
      amountCents: 4990,
      otherPaidCents: null,
      final: true,
    });
    const sent = (await deliveriesOf(orderCode)).map(({ event }) => event);
    expect(sent.filter((event) => event.startsWith('card_payment.'))).toEqual([
      'card_payment.paid',
      'card_payment.refunded',
    ]);
    expect(sent.at(-1)).toBe('refund.completed');
    expect(pair.facade.faults).toEqual([]);
  });

  test('A payment that fails is never taken for a paid one', async () => {
    const pair = await start();
    const orderCode = await create(pair);
    await service.app.cardPayments.pay(orderCode, declinedForGood());
    await pair.pass(5 * MINUTE);
    const failed = await find(pair, orderCode);
    expect(failed).toMatchObject({ status: 'FAILED', paidAt: null, refundedAt: null });
    expect(failed.failureReason).toMatch(/\w/);
    expect(await published(pair, 'card_payment')).toEqual(['card_payment.pending', 'card_payment.failed']);
    expect(pair.facade.faults).toEqual([]);
  });

  test('A payment is followed to its expiry, and to a late confirmation', async () => {
    const pair = await start();
    const [unpaid, late] = [await create(pair), await create(pair)];
    await service.app.cardPayments.pay(late, approvedLate());
    await pair.pass(31 * MINUTE);
    expect(await find(pair, unpaid)).toMatchObject({ status: 'EXPIRED', paidAt: null, final: false });
    expect(await find(pair, late)).toMatchObject({ status: 'EXPIRED', paidAt: null });
    await pair.pass(30 * MINUTE);
    expect(await find(pair, unpaid)).toMatchObject({ status: 'EXPIRED', paidAt: null });
    expect(await find(pair, late)).toMatchObject({ status: 'PAID', paidLate: true });
    expect(pair.facade.faults).toEqual([]);
  });

  test('Events that come in the wrong order, and again, lead to the newest state', async () => {
    const pair = await start();
    const orderCode = await create(pair);
    const { payment } = await service.app.cardPayments.pay(orderCode, approved());
    await pair.settled();
    await service.app.cardPayments.refund(tenantOf(pair), orderCode);
    await pair.settled();
    const paid = await pair.service
      .client(pair.keys.live)
      .request('{ webhookDeliveries(first: 10) { nodes { webhookId event } } }');
    for (const { webhookId } of paid.webhookDeliveries.nodes)
      await pair.service
        .client(pair.keys.live)
        .request('mutation ($id: String!) { redeliverWebhook(webhookId: $id) { __typename } }', {
          id: webhookId,
        });
    // An older state arrives under another id, with the right signature.
    const body = JSON.stringify(cardPaymentWebhook({ ...payment, metadata: 'again' }, null));
    const signature = createHmac('sha256', pair.webhookSecrets.live).update(body).digest('hex');
    const response = await fetch(`http://127.0.0.1:${pair.facade.port}/webhooks/psa`, {
      method: 'POST',
      body,
      headers: { 'x-webhook-signature': signature, 'x-webhook-id': 'late' },
    });
    expect(response.status).toBe(200);
    await pair.pass(5 * MINUTE);
    expect(await find(pair, orderCode)).toMatchObject({ status: 'REFUNDED', final: true });
    expect((await published(pair, 'card_payment')).at(-1)).toBe('card_payment.refunded');
    expect(pair.facade.faults).toEqual([]);
  });

  test('A turbo payout is followed to PROCESSING by its webhook, without a request to the service', async () => {
    const pair = await start();
    await fund({ database: service.app.database, tenant: tenantOf(pair) }, { cents: 10_000 });
    const input = { method: 'PIX_TURBO', amountCents: 1_000, destination: 'ana@example.com' };
    await pair.facade.client(pair.keys.live).request(REQUEST, { input });
    await service.app.work.settled();
    expect(await published(pair, 'payout')).toEqual(['payout.pending', 'payout.processing']);
    expect(pair.proxy.arrivals.filter(({ path }) => path.startsWith('/v1/payouts'))).toMatchObject([
      { method: 'POST' },
    ]);
    await pair.pass(5 * MINUTE);
    expect((await published(pair, 'payout')).at(-1)).toBe('payout.completed');
    expect(pair.facade.faults).toEqual([]);
  });

  test('The events of a dispute are followed, and its payment stays paid', async () => {
    const pair = await start();
    const orderCode = await create(pair);
    await service.app.cardPayments.pay(orderCode, approved());
    await pair.settled();
    const resource = { type: 'card_payment', id: orderCode } as const;
    const claim = { amountCents: 4990 };
    const made = await service.app.controls.disputePayment(tenantOf(pair), resource, claim);
    const id = made!.disputeId;
    await service.app.controls.closeDispute(tenantOf(pair), id, 'lost');
    await pair.pass(5 * MINUTE);
    expect(await deliveriesOf(orderCode)).toEqual([
      { event: 'card_payment.paid', status: 'delivered', attempts: 1 },
      { event: 'dispute.opened', status: 'delivered', attempts: 1 },
      { event: 'dispute.closed', status: 'delivered', attempts: 1 },
    ]);
    // The second update shows the amount that the claim keeps from being refunded.
    expect(await published(pair, 'card_payment')).toEqual([
      'card_payment.pending',
      'card_payment.paid',
      'card_payment.paid',
    ]);
    expect(await published(pair, 'dispute')).toEqual(['dispute.open', 'dispute.lost']);
    expect(await find(pair, orderCode)).toMatchObject({ status: 'PAID' });
    expect(pair.facade.faults).toEqual([]);
  });

  test('The facade lists its own tokens, and ends one by its id', async () => {
    const pair = await start();
    const client = pair.facade.client(pair.keys.live);
    const { token, tokenId } = (await client.request(MINT)).createCheckoutToken;
    const listed = async () =>
      (await client.request('{ tokens { nodes { tokenId status pause { reason } } } }')).tokens.nodes;
    expect(await listed()).toEqual([{ tokenId, status: 'ACTIVE', pause: null }]);
    expect((await client.request(REVOKE, { tokenId })).revokeToken.__typename).toBe('RevokeTokenSuccess');
    expect(await listed()).toEqual([]);
    expect((await pair.facade.client(token).send('{ viewer { credential } }')).status).toBe(401);
  });

  test('The facade itself configures no events', async () => {
    const pair = await start();
    const input = { url: 'https://padaria.example/hook', optionalEvents: ALL };
    const { configureWebhook } = await pair.facade.client(pair.keys.live).request(CONFIGURE, { input });
    expect(configureWebhook).toEqual({
      __typename: 'PreconditionError',
      code: 'NOT_OFFERED',
      message: expect.stringContaining('set the URL in its dashboard'),
    });
    const { body } = await pair.facade.client(pair.keys.live).send('{ webhookEndpoint { url } }');
    expect(body).toMatchObject({
      data: { webhookEndpoint: null },
      errors: [{ extensions: { code: 'NOT_OFFERED' } }],
    });
    const endpoints = await pair.facade.database.sql.selectFrom('webhook_endpoint').selectAll().execute();
    expect(endpoints).toEqual([]);
  });
});
