import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { CreateChargeInput } from '../../../server/src/money-in/charges/model.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { PASS } from '../../support/fault-proxy.ts';
import { type Pair, type Service, startPair, startService } from '../../support/pair.ts';

const MINUTE = 60_000;
const FIND = `query ($chargeId: String!) { charge(chargeId: $chargeId) { id chargeId status amountCents feeCents
  ownerAmountCents otherPaidCents checkoutUrl pix { copyPaste txid }
  splits { subaccountId amountCents percent refundedCents } } }`;
const FOLLOW = `subscription ($chargeId: String!) {
  chargeUpdates(chargeId: $chargeId) { previousStatus charge { chargeId status } } }`;

describe('a facade of a service with charges', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(async () => {
    expect(service.app.faults).toEqual([]);
    await service.app.close();
  });

  async function start(options: Parameters<typeof startPair>[0] = {}): Promise<Pair> {
    const pair = await startPair({ service, account: {}, ...options });
    onTestFinished(async () => {
      await pair.close();
      await service.app.database.sql
        .deleteFrom('task')
        .where('account_id', '=', pair.accountIds.service)
        .execute();
    });
    return pair;
  }

  const tenantOf = ({ accountIds }: Pair) =>
    ({ accountId: accountIds.service, environment: 'live' }) as const;
  const create = async (pair: Pair, input: Partial<CreateChargeInput> = {}): Promise<string> =>
    (await service.app.charges.create(tenantOf(pair), { valueCents: 4990, ...input })).charge.chargeId;
  const live = ({ facade, keys }: Pair) => facade.client(keys.live);

  async function pay(pair: Pair, chargeId: string): Promise<void> {
    await service.app.pix.pay({ txid: txidOf(chargeId) });
    await service.app.charges.receive(tenantOf(pair), chargeId);
    await pair.settled();
  }

  /** Sends a webhook to the facade as the service would. */
  async function deliver(pair: Pair, payload: object): Promise<number> {
    const body = JSON.stringify(payload);
    const signature = createHmac('sha256', pair.webhookSecrets.live).update(body).digest('hex');
    const response = await fetch(`http://127.0.0.1:${pair.facade.port}/webhooks/psa`, {
      method: 'POST',
      body,
      headers: { 'x-webhook-signature': signature },
    });
    return response.status;
  }

  test('A split charge is read with its code and its shares, and its followers get PAID by webhook', async () => {
    const pair = await start();
    const { subaccount } = await service.app
      .servicesFor({ priority: 'merchant', subject: null, onRead: () => undefined })
      .subaccounts.create(tenantOf(pair), { name: 'Ana' });
    const chargeId = await create(pair, {
      splits: [{ subaccountId: subaccount.id, percent: '12.5' }],
    });
    const { charge } = await live(pair).request(FIND, { chargeId });
    expect(charge).toMatchObject({
      chargeId,
      status: 'PENDING',
      amountCents: 4990,
      feeCents: 0,
      ownerAmountCents: 4367,
      otherPaidCents: null,
      checkoutUrl: `${pair.service.url}/checkout/${chargeId}`,
      splits: [{ subaccountId: subaccount.id, amountCents: 623, percent: '12.5', refundedCents: 0 }],
      pix: { txid: txidOf(chargeId), copyPaste: expect.stringMatching(/^000201/) },
    });
    const { node } = await live(pair).request(
      'query ($id: ID!) { node(id: $id) { ... on Charge { chargeId } } }',
      { id: charge.id },
    );
    expect(node).toEqual({ chargeId });
    const updates = live(pair).ws(FOLLOW, { chargeId });
    expect((await updates.data()).chargeUpdates).toMatchObject({
      previousStatus: null,
      charge: { status: 'PENDING' },
    });
    await pair.settled();
    const asked = pair.proxy.arrivals.length;
    await pay(pair, chargeId);
    expect((await updates.data()).chargeUpdates).toMatchObject({
      previousStatus: 'PENDING',
      charge: { chargeId, status: 'PAID' },
    });
    expect((await updates.next()).done).toBe(true);
    expect(pair.proxy.arrivals.slice(asked).filter(({ path }) => path.includes(chargeId))).toEqual([]);
    await pair.pass(MINUTE);
    expect(pair.facade.faults).toEqual([]);
  });

  test('The event of a charge is no payment’s, and that of its refund, dispute or delivery is no charge’s', async () => {
    const pair = await start();
    const chargeId = await create(pair);
    await live(pair).request(FIND, { chargeId });
    const status = async () => (await live(pair).request(FIND, { chargeId })).charge.status;
    const about = { chargeId, amountCents: 4990, status: 'paid', paidAt: pair.clock.now().toISOString() };
    for (const other of ['disputeId', 'refundId', 'deliveryId', 'subscriptionId']) {
      expect(await deliver(pair, { event: 'charge.paid', [other]: `${other}-1`, ...about })).toBe(200);
      expect(await status()).toBe('PENDING');
    }
    expect(await deliver(pair, { event: 'charge.paid', ...about, amountCents: 1 })).toBe(200);
    expect((await live(pair).request(FIND, { chargeId })).charge).toMatchObject({
      status: 'PENDING',
      otherPaidCents: 1,
    });
    const { payments } = await live(pair).request('{ payments { totalCount } }');
    expect(payments.totalCount).toBe(0);
    pair.facade.faults.length = 0;
  });

  test('No charge is created or refunded, and nothing is sent', async () => {
    const pair = await start();
    const chargeId = await create(pair);
    await pay(pair, chargeId);
    await pair.pass(MINUTE);
    const asked = pair.proxy.arrivals.length;
    for (const change of [
      'createCharge(input: { valueCents: 80 })',
      `refundCharge(input: { chargeId: "${chargeId}", idempotencyKey: "a" })`,
    ])
      expect(
        await live(pair).request(`mutation { done: ${change} { __typename ... on UserError { code } } }`),
      ).toEqual({ done: { __typename: 'PreconditionError', code: 'NOT_OFFERED' } });
    const played = await pair.facade
      .client(pair.keys.sandbox)
      .request(
        `mutation { done: simulatePayment(input: { id: "${chargeId}" }) { ... on UserError { code } } }`,
      );
    expect(played).toEqual({ done: { code: 'NOT_OFFERED' } });
    expect(pair.proxy.arrivals).toHaveLength(asked);
  });

  test('A service without charges says so at the top, and its other reads go on', async () => {
    const pair = await start({
      plan: ({ path }) =>
        path.startsWith('/v1/charges') ? { kind: 'status', status: 404, when: 'before' } : PASS,
    });
    const { body } = await live(pair).send(FIND, { chargeId: `psc_${'0'.repeat(32)}` });
    expect(body).toMatchObject({
      data: { charge: null },
      errors: [{ extensions: { code: 'NOT_OFFERED', retryPolicy: 'AFTER_CHANGE' } }],
    });
    expect(await live(pair).request('{ wallet { balanceCents } charges { totalCount } }')).toEqual({
      wallet: { balanceCents: 0 },
      charges: { totalCount: 0 },
    });
    const malformed = await live(pair).send(FIND, { chargeId: 'psa_1' });
    expect(malformed.body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });
});
