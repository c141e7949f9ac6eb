import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatePaymentInput } from '../../server/src/money-in/payments/model.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { approved } from '../support/cards.ts';
import { openFreshDatabase } from '../support/database.ts';
import { PASS } from '../support/fault-proxy.ts';
import { here, LOST, live, loseFirst, portsOf, sent, startNamed, there } from '../support/named-families.ts';
import { type Pair, type Service, startService } from '../support/pair.ts';
import { readMetrics } from '../support/scrape.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

describe('a facade whose operator has named the families of the service', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(async () => {
    expect(service.app.faults).toEqual([]);
    await service.app.close();
  });

  const start = (families: string, options?: Parameters<typeof startNamed>[2]) =>
    startNamed(service, families, options);

  async function pay(pair: Pair, paymentId: string): Promise<void> {
    await service.app.pix.pay({ txid: txidOf(paymentId) });
    await service.app.payments.receive(there(pair), paymentId);
    await pair.settled();
  }

  /**
   * The metrics of a facade that show a doubt of an operation. A scrape shows the counts that the one before it has
   * read.
   */
  async function metricsWithDoubt(pair: Pair, operation: string) {
    for (;;) {
      const metrics = readMetrics(await (await fetch(`${pair.facade.url}/metrics`)).text());
      if (metrics.value('psa_upstream_doubts', { operation })) return metrics;
    }
  }

  describe('payments', () => {
    const INPUT: CreatePaymentInput = {
      valueCents: 4990,
      description: 'Rede Varanda',
      customer: { name: 'Ana', email: 'ana@example.com', taxId: '52998224725' },
      metadata: '{"order":"1042"}',
      externalId: '1042',
      callbackUrl: 'https://loja.example/psa',
      idempotencyKey: 'pedido-1042',
    };
    const list = async (pair: Pair) =>
      (await service.app.payments.listPage(there(pair), { limit: 9, offset: 0 })).items;

    test('A payment is created at the service once for its key, is followed, and is paid by webhook', async () => {
      const pair = await start('payments');
      const create = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) {
        __typename ... on CreatePaymentSuccess { replayed payment { paymentId status amountCents description externalId
          customer { name taxId } metadata pix { copyPaste txid } } } ... on UserError { code message } } }`;
      const first = (await live(pair).request(create, { input: INPUT })).createPayment;
      const [made, ...others] = await list(pair);
      expect(others).toEqual([]);
      expect(first).toEqual({
        __typename: 'CreatePaymentSuccess',
        replayed: false,
        payment: {
          paymentId: made!.paymentId,
          status: 'PENDING',
          amountCents: 4990,
          description: 'Rede Varanda',
          externalId: '1042',
          metadata: '{"order":"1042"}',
          customer: { name: 'Ana', taxId: '***.982.247-**' },
          pix: { copyPaste: made!.brCode, txid: txidOf(made!.paymentId) },
        },
      });
      // The merchant's own address stays at this server, which relays to it.
      expect(made).toMatchObject({ externalId: '1042', callbackUrl: null });
      const again = (await live(pair).request(create, { input: INPUT })).createPayment;
      expect(again).toEqual({ ...first, replayed: true });
      expect(sent(pair, 'POST')).toHaveLength(1);
      const other = (await live(pair).request(create, { input: { ...INPUT, valueCents: 1 } })).createPayment;
      expect(other).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
      expect(
        await live(pair).request(`{ payment(idempotencyKey: "pedido-1042") { paymentId }
          other: payment(idempotencyKey: "pedido-1043") { paymentId } }`),
      ).toEqual({ payment: { paymentId: made!.paymentId }, other: null });

      await pay(pair, made!.paymentId);
      const { payments } = await live(pair).request('{ payments { totalCount nodes { paymentId status } } }');
      expect(payments).toEqual({
        totalCount: 1,
        nodes: [{ paymentId: made!.paymentId, status: 'PAID' }],
      });
      expect(pair.facade.faults).toEqual([]);
    });

    test('A payment of a product has its price, and a product that is not there makes none', async () => {
      const pair = await start('payments');
      const { payments, products } = pair.services();
      const { id: productId } = await products.create(here(pair), { name: 'Vela', priceCents: 1290 });
      const { payment } = await payments.create(here(pair), { productId });
      expect(payment).toMatchObject({ productId, amountCents: 1290, description: 'Vela' });
      await expect(payments.create(here(pair), { productId: '0'.repeat(24) })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      });
      expect(await list(pair)).toHaveLength(1);
    });

    test('An answer that is lost moves no money, and the same key gives the one payment that was made', async () => {
      const pair = await start('payments');
      loseFirst(pair, ({ method, path }) => method === 'POST' && path === '/v1/payments');
      const { payments } = pair.services();
      const error = { code: 'UPSTREAM_UNAVAILABLE', retryable: true, moneyMayHaveMoved: false };
      await expect(payments.create(here(pair), INPUT)).rejects.toMatchObject(error);
      // Nobody takes a doubt for a payment that was never made.
      const { body } = await live(pair).send('{ payment(idempotencyKey: "pedido-1042") { paymentId } }');
      expect(body.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
      await pair.pass(MINUTE);
      const { payment } = await payments.create(here(pair), INPUT);
      const made = await list(pair);
      expect(made.map(({ paymentId }) => paymentId)).toEqual([payment.paymentId]);
      expect(payment.brCode).toBe(made[0]!.brCode);
      expect(sent(pair, 'POST').map(({ idempotencyKey }) => idempotencyKey)).toEqual([
        'pedido-1042',
        'pedido-1042',
      ]);
    });

    test('A lost payment that nobody asks for again is given up when it has expired, and its key still gives it', async () => {
      const pair = await start('payments');
      loseFirst(pair, ({ method, path }) => method === 'POST' && path === '/v1/payments');
      const { payments } = pair.services();
      await expect(payments.create(here(pair), INPUT)).rejects.toMatchObject({ retryable: true });
      expect(await unresolved(pair)).toMatchObject([
        { operation: 'createPayment', idempotencyKey: 'pedido-1042', amountCents: 4990 },
      ]);
      await pair.pass(29 * MINUTE);
      expect(await unresolved(pair)).toHaveLength(1);
      // The doubt raises no alert, because the operation moves no money.
      const metrics = await metricsWithDoubt(pair, 'createPayment');
      expect(metrics.value('psa_upstream_oldest_doubt_seconds')).toBe(0);
      await pair.pass(2 * MINUTE);
      expect(await unresolved(pair)).toEqual([]);
      const { payment } = await payments.create(here(pair), INPUT);
      expect(payment).toMatchObject({ status: 'expired', paymentId: (await list(pair))[0]!.paymentId });
      expect(await list(pair)).toHaveLength(1);
    });

    test('A request in doubt of a kind that only another version knows counts as one that moves money', async () => {
      const databases: Database[] = [];
      const pair = await start('payments', {
        async open(clock) {
          const database = await openFreshDatabase(clock);
          databases.push(database);
          return database;
        },
      });
      loseFirst(pair, ({ method, path }) => method === 'POST' && path === '/v1/payments');
      await expect(pair.services().payments.create(here(pair), INPUT)).rejects.toMatchObject({
        retryable: true,
      });
      await databases[0]!.sql.updateTable('upstream_intent').set({ operation: 'payVoucher' }).execute();
      pair.clock.advance(SECOND);
      const metrics = await metricsWithDoubt(pair, 'payVoucher');
      expect(metrics.value('psa_upstream_oldest_doubt_seconds')).toBeGreaterThan(0);
    });

    test('Two requests of one key at once make one payment, and two without a key make two', async () => {
      const pair = await start('payments');
      const { payments } = pair.services();
      const [left, right] = await Promise.all([1, 2].map(() => payments.create(here(pair), INPUT)));
      expect(left!.payment.paymentId).toBe(right!.payment.paymentId);
      await payments.create(here(pair), { valueCents: 100 });
      await payments.create(here(pair), { valueCents: 100 });
      expect(await list(pair)).toHaveLength(3);
    });

    test('What the service refuses is refused as it is there, and its key stays free', async () => {
      const pair = await start('payments', { account: { pixEnabled: false } });
      const { payments } = pair.services();
      await expect(payments.create(here(pair), INPUT)).rejects.toMatchObject({
        code: 'PAYMENTS_NOT_CONFIGURED',
      });
      await expect(
        payments.create({ ...here(pair), environment: 'sandbox' }, { ...INPUT, method: 'ltc' }),
      ).rejects.toMatchObject({ code: 'NOT_IN_SANDBOX' });
      expect(await list(pair)).toEqual([]);
      await pair.pass(MINUTE);
      await expect(payments.create(here(pair), { ...INPUT, valueCents: 1 })).rejects.toMatchObject({
        code: 'PAYMENTS_NOT_CONFIGURED',
      });
    });

    test('A payment by LTC has its address and its amount', async () => {
      const pair = await start('payments');
      const { payments } = pair.services();
      const { payment } = await payments.create(here(pair), { valueCents: 5000, method: 'ltc' });
      const [made] = await list(pair);
      expect(payment).toMatchObject({
        method: 'ltc',
        amountCents: 5000,
        brCode: null,
        ltc: { address: made!.ltc!.address, litoshi: made!.ltc!.litoshi },
      });
    });
  });

  describe('refunds', () => {
    const answerOf = (
      kind: string,
    ) => `__typename ... on Refund${kind}Success { replayed refund { refundId status amountCents reason
      of { ... on Payment { paymentId } ... on CardPayment { orderCode } ... on Charge { chargeId } } } }
      ... on UserError { code message } ... on ValidationError { fields { path message } }
      ... on InsufficientFundsError { requestedCents }
      ... on UpstreamError { moneyMayHaveMoved retryable lookupReference }`;
    const refund = async (pair: Pair, kind: string, input: object) =>
      (
        await live(pair).request(
          `mutation ($input: Refund${kind}Input!) { refunded: refund${kind}(input: $input) { ${answerOf(kind)} } }`,
          { input },
        )
      ).refunded;
    const made = async (pair: Pair) =>
      (await portsOf(service).refunds.list(there(pair), { end: 'first', limit: 9 })).items.map(
        (item) => item.resource,
      );

    async function paid(pair: Pair, input: Partial<CreatePaymentInput> = {}): Promise<string> {
      const { payment } = await service.app.payments.create(there(pair), { valueCents: 4990, ...input });
      await pay(pair, payment.paymentId);
      return payment.paymentId;
    }

    test('A payment, a card payment and a charge are refunded once for a key, and followers get the end', async () => {
      const pair = await start('refunds');
      const paymentId = await paid(pair);
      const { charge } = await service.app.charges.create(there(pair), { valueCents: 2000 });
      await service.app.pix.pay({ txid: txidOf(charge.chargeId) });
      await service.app.charges.receive(there(pair), charge.chargeId);
      const { payment: card } = await service.app.cardPayments.create(there(pair), { valueCents: 3000 });
      await service.app.cardPayments.pay(card.orderCode, approved());
      await pair.settled();
      // A stream from a cursor misses nothing, however late the server reads.
      const { updatesCursor: after } = await live(pair).request('{ updatesCursor }');
      const updates = live(pair).ws(
        'subscription ($after: String) { allRefundUpdates(after: $after) { previousStatus refund { refundId status } } }',
        { after },
      );

      const input = { paymentId, amountCents: 990, reason: 'Um item', idempotencyKey: 'devolucao-1' };
      const first = await refund(pair, 'Payment', input);
      expect(first).toMatchObject({
        __typename: 'RefundPaymentSuccess',
        replayed: false,
        refund: { status: 'PROCESSING', amountCents: 990, reason: 'Um item', of: { paymentId } },
      });
      expect((await updates.data()).allRefundUpdates).toEqual({
        previousStatus: null,
        refund: { refundId: first.refund.refundId, status: 'PROCESSING' },
      });
      await pair.pass(2 * MINUTE);
      expect((await updates.data()).allRefundUpdates).toEqual({
        previousStatus: 'PROCESSING',
        refund: { refundId: first.refund.refundId, status: 'COMPLETED' },
      });
      await updates.close();
      // One stream has the observations of every kind, in the same order.
      const all = live(pair).ws(
        'subscription ($after: String) { accountUpdates(after: $after, kinds: [REFUND]) { ... on RefundUpdate { refund { refundId status } } } }',
        { after },
      );
      for (const status of ['PROCESSING', 'COMPLETED'])
        expect((await all.data()).accountUpdates.refund).toEqual({ refundId: first.refund.refundId, status });
      await all.close();
      const balances = live(pair).ws(
        'subscription { accountUpdates(kinds: [REFUND, SUBACCOUNT]) { cursor } }',
      );
      expect((await balances.next()).value.errors).toMatchObject([
        { extensions: { code: 'NOT_OFFERED', retryPolicy: 'AFTER_CHANGE' } },
      ]);
      await balances.close();
      expect(await refund(pair, 'Payment', input)).toMatchObject({
        replayed: true,
        refund: { refundId: first.refund.refundId, status: 'COMPLETED' },
      });
      expect(await refund(pair, 'Charge', { chargeId: charge.chargeId })).toMatchObject({
        refund: { amountCents: 2000, of: { chargeId: charge.chargeId } },
      });
      expect(await refund(pair, 'CardPayment', { orderCode: card.orderCode })).toMatchObject({
        refund: { amountCents: 3000, of: { orderCode: card.orderCode } },
      });
      await pair.pass(2 * MINUTE);
      expect(await made(pair)).toMatchObject([
        ...[{ amountCents: 3000 }, { amountCents: 2000 }, { amountCents: 990, reason: 'Um item' }],
      ]);
      const shown = await live(pair).request(`{ refunds { totalCount nodes { amountCents status } }
        one: refund(refundId: "${first.refund.refundId}") { amountCents }
        byKey: refund(refundId: "ref_idem_devolucao-1") { amountCents }
        none: refund(refundId: "ref_idem_devolucao-2") { amountCents }
        payment(paymentId: "${paymentId}") { refundedCents refunds { refundId status } }
        charge(chargeId: "${charge.chargeId}") { refunds { amountCents } }
        cardPayment(orderCode: "${card.orderCode}") { refunds { amountCents } } }`);
      expect(shown).toEqual({
        refunds: {
          totalCount: 3,
          nodes: [3000, 2000, 990].map((amountCents) => ({ amountCents, status: 'COMPLETED' })),
        },
        one: { amountCents: 990 },
        byKey: { amountCents: 990 },
        none: null,
        payment: {
          refundedCents: 990,
          refunds: [{ refundId: first.refund.refundId, status: 'COMPLETED' }],
        },
        charge: { refunds: [{ amountCents: 2000 }] },
        // The service does not show the refunds of a card payment.
        cardPayment: { refunds: null },
      });
      expect(pair.facade.faults).toEqual([]);
    });

    test('A payment shows each refund as soon as it is made, here or at the service, and never a part of them', async () => {
      const pair = await start('refunds');
      const paymentId = await paid(pair);
      const shown = async () => {
        const { payment } = await live(pair).request(
          `{ payment(paymentId: "${paymentId}") { refunds { amountCents } } }`,
        );
        return payment.refunds;
      };
      expect(await shown()).toEqual([]);
      const { refund: first } = await refund(pair, 'Payment', { paymentId, amountCents: 100 });
      expect(first.amountCents).toBe(100);
      expect(await shown()).toEqual([{ amountCents: 100 }]);
      await portsOf(service).refunds.request(
        there(pair),
        { type: 'payment', id: paymentId },
        { amountCents: 20 },
      );
      await pair.pass(2 * MINUTE);
      expect(await shown()).toEqual([{ amountCents: 100 }, { amountCents: 20 }]);
      const { payments } = await live(pair).request('{ payments { nodes { refunds { amountCents } } } }');
      expect(payments.nodes).toEqual([{ refunds: [{ amountCents: 100 }, { amountCents: 20 }] }]);
      const unnamed = await start('payments');
      const other = await paid(unnamed);
      await portsOf(service).refunds.request(there(unnamed), { type: 'payment', id: other }, {});
      expect(
        await live(unnamed).request(`{ payment(paymentId: "${other}") { refunds { amountCents } } }`),
      ).toEqual({ payment: { refunds: null } });
      expect([...pair.facade.faults, ...unnamed.facade.faults]).toEqual([]);
    });

    test('A payment is refunded by an id of whatever form the service has, and the service itself refuses others than its own', async () => {
      const pair = await start('refunds');
      const asked = pair.proxy.arrivals.length;
      expect(await refund(pair, 'Payment', { paymentId: 'psa_Pedido-1' })).toMatchObject({
        __typename: 'ValidationError',
      });
      expect(await refund(pair, 'Charge', { chargeId: 'psc_Pedido-1' })).toMatchObject({
        __typename: 'ValidationError',
      });
      const sent = pair.proxy.arrivals.slice(asked).filter(({ method }) => method === 'POST');
      expect(sent.map(({ path }) => path)).toEqual([
        '/v1/payments/psa_Pedido-1/refunds',
        '/v1/charges/psc_Pedido-1/refunds',
      ]);
      for (const [paymentId, message] of [
        ['psa_sub_1', 'is the id of a subscription: use subscription(subscriptionId:)'],
        ['PSC-1', 'is the id of a card payment: use refundCardPayment(input: { orderCode: … })'],
        ['psa_a/b', 'must be psa_ and 32 hex digits, in lower case'],
        ['x', 'must be psa_ and 32 hex digits, in lower case'],
      ])
        expect(await refund(pair, 'Payment', { paymentId })).toMatchObject({
          fields: [{ path: 'input.paymentId', message }],
        });
      for (const orderCode of ['..', '.', '', 'PSC-1/refunds', 'x'.repeat(65)])
        expect(await refund(pair, 'CardPayment', { orderCode })).toMatchObject({
          __typename: 'NotFoundError',
        });
      expect(pair.proxy.arrivals.slice(asked).filter(({ method }) => method === 'POST')).toHaveLength(2);

      const mutation = `mutation ($input: RefundPaymentInput!) { refunded: refundPayment(input: $input) { ${answerOf('Payment')} } }`;
      const { refunded } = await service.app
        .client(pair.keys.live)
        .request(mutation, { input: { paymentId: 'psa_Pedido-1' } });
      expect(refunded).toMatchObject({ fields: [{ path: 'input.paymentId' }] });
    });

    test('A refund whose answer is lost is found by its key at once', async () => {
      const pair = await start('refunds');
      const paymentId = await paid(pair);
      loseFirst(pair, ({ method }) => method === 'POST');
      const input = { paymentId, amountCents: 990, idempotencyKey: 'devolucao-1' };
      const { refund: found } = await refund(pair, 'Payment', input);
      expect(await made(pair)).toMatchObject([{ refundId: found.refundId }]);
    });

    test('Money may have moved while no answer comes, and the same key never refunds twice', async () => {
      const pair = await start('refunds');
      const paymentId = await paid(pair);
      pair.proxy.plan = () => LOST;
      const input = { paymentId, amountCents: 990, idempotencyKey: 'devolucao-1' };
      const inDoubt = {
        __typename: 'UpstreamError',
        moneyMayHaveMoved: true,
        retryable: false,
        lookupReference: 'ref_idem_devolucao-1',
      };
      for (let time = 0; time < 2; time += 1) {
        const asked = refund(pair, 'Payment', input);
        // A lookup is tried three times, with pauses.
        await pair.pass(MINUTE / 6);
        expect(await asked).toMatchObject(inDoubt);
      }
      expect(await unresolved(pair)).toMatchObject([
        { operation: 'refund', idempotencyKey: 'devolucao-1', amountCents: 990 },
      ]);
      const metrics = await metricsWithDoubt(pair, 'refund');
      expect(metrics.value('psa_upstream_oldest_doubt_seconds')).toBeGreaterThan(0);
      pair.proxy.plan = () => PASS;
      await pair.pass(3 * MINUTE);
      expect(await unresolved(pair)).toEqual([]);
      const { refund: found, replayed } = await refund(pair, 'Payment', input);
      expect(replayed).toBe(true);
      expect(await made(pair)).toMatchObject([{ refundId: found.refundId, status: 'completed' }]);
      expect(await made(pair)).toHaveLength(1);
    });

    test('A refund that never arrived is not made, and its key may be used again', async () => {
      const pair = await start('refunds');
      const paymentId = await paid(pair);
      pair.proxy.plan = ({ method }) => (method === 'POST' ? { kind: 'reset', when: 'before' } : PASS);
      const input = { paymentId, idempotencyKey: 'devolucao-1' };
      expect(await refund(pair, 'Payment', input)).toMatchObject({ moneyMayHaveMoved: true });
      pair.proxy.plan = () => PASS;
      await pair.pass(30 * MINUTE);
      expect(await made(pair)).toEqual([]);
      expect(await refund(pair, 'Payment', input)).toMatchObject({ refund: { amountCents: 4990 } });
      expect(await made(pair)).toHaveLength(1);
    });

    test('What the service refuses is refused as it is there', async () => {
      const pair = await start('refunds');
      const paymentId = await paid(pair);
      const { payment: open } = await service.app.payments.create(there(pair), { valueCents: 4990 });
      const { payment: elsewhere } = await service.app.payments.create(
        { ...there(pair), environment: 'sandbox' },
        { valueCents: 4990 },
      );
      expect(await refund(pair, 'Payment', { paymentId, amountCents: 4991 })).toMatchObject({
        fields: [{ path: 'input.amountCents' }],
      });
      expect(await refund(pair, 'Payment', { paymentId: open.paymentId })).toMatchObject({
        code: 'NOT_REFUNDABLE',
      });
      expect(await refund(pair, 'Payment', { paymentId: elsewhere.paymentId })).toMatchObject({
        __typename: 'NotFoundError',
      });
      await portsOf(service).payouts.request(there(pair), {
        method: 'pix',
        amountCents: 4000,
        destination: 'ana@example.com',
      });
      for (const part of [{ amountCents: 4990 }, {}])
        expect(await refund(pair, 'Payment', { paymentId, ...part })).toMatchObject({
          __typename: 'InsufficientFundsError',
          requestedCents: 4990,
        });
      expect(await made(pair)).toEqual([]);
    });

    test('A refund that the service made is known by its webhook, and one that fails, too', async () => {
      const pair = await start('refunds');
      await paid(pair, { customer: { email: 'devolve-falha@psa.example' } });
      const [paymentId] = [
        (await service.app.payments.listPage(there(pair), { limit: 1, offset: 0 })).items[0]!.paymentId,
      ];
      await refund(pair, 'Payment', { paymentId, amountCents: 10 });
      await pair.pass(3 * MINUTE);
      const { refunds } = await live(pair).request(
        '{ refunds(status: [FAILED]) { nodes { amountCents status failureReason } } }',
      );
      expect(refunds.nodes).toMatchObject([{ amountCents: 10, status: 'FAILED' }]);
    });
  });
});

/** The requests whose outcome is unknown. */
async function unresolved(pair: Parameters<typeof here>[0]) {
  const { items } = await pair.services().requests.list(here(pair), { end: 'first', limit: 9 });
  return items.map(({ request }) => request);
}
