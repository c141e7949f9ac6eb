import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { CreatePaymentInput } from '../../../server/src/money-in/payments/model.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { connectTo, takePostgresDatabase } from '../../support/database.ts';
import { PASS } from '../../support/fault-proxy.ts';
import { type Pair, type Service, startPair, startService } from '../../support/pair.ts';
import { readMetrics } from '../../support/scrape.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const PAYMENT = `paymentId status method amountCents feeCents refundedCents otherPaidCents paidLate final
  pix { copyPaste txid qr { size } } checkoutUrl`;
const FIND = `query ($paymentId: String!) { payment(paymentId: $paymentId) { id ${PAYMENT} } }`;
const LIST = `query ($first: Int, $last: Int, $after: String, $before: String, $filter: PaymentFilter) {
  payments(first: $first, last: $last, after: $after, before: $before, filter: $filter) {
    totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { paymentId } } }`;
const FOLLOW = `subscription ($paymentId: String!, $after: String) {
  paymentUpdates(paymentId: $paymentId, after: $after) { cursor previousStatus payment { paymentId status } } }`;
const FOLLOW_ALL = `subscription ($after: String) {
  allPaymentUpdates(after: $after) { cursor previousStatus payment { paymentId status } } }`;

describe('a facade of a service with PIX payments', () => {
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
  const create = async (pair: Pair, input: Partial<CreatePaymentInput> = {}): Promise<string> =>
    (await service.app.payments.create(tenantOf(pair), { valueCents: 4990, ...input })).payment.paymentId;
  const faultsOf = ({ facade }: Pair) => facade.faults.map((fault) => String((fault as { err: Error }).err));
  const published = async ({ facade }: Pair, paymentId: string) =>
    (
      await facade.database.sql
        .selectFrom('event')
        .select('kind')
        .where('resource_id', '=', paymentId)
        .orderBy('version')
        .execute()
    ).map(({ kind }) => kind);
  const live = ({ facade, keys }: Pair) => facade.client(keys.live);

  async function pay(pair: Pair, paymentId: string): Promise<void> {
    await service.app.pix.pay({ txid: txidOf(paymentId) });
    await service.app.payments.receive(tenantOf(pair), paymentId);
    await pair.settled();
  }

  /** Sends a webhook to the facade as the service would; with `secret` null, without a valid signature. */
  async function deliver(pair: Pair, payload: object, secret: string | null = pair.webhookSecrets.live) {
    const body = JSON.stringify(payload);
    const signature = createHmac('sha256', secret ?? 'guessed')
      .update(body)
      .digest('hex');
    const response = await fetch(`http://127.0.0.1:${pair.facade.port}/webhooks/psa`, {
      method: 'POST',
      body,
      headers: { 'x-webhook-signature': signature },
    });
    return response.status;
  }

  test('A payment is read with its code, and its followers get PAID by webhook, with a token and over a restart too', async () => {
    const databaseUrl = await takePostgresDatabase();
    const pair = await start({ open: (clock) => connectTo(databaseUrl, clock) });
    const [paymentId, next] = [await create(pair), await create(pair)];
    const { payment } = await live(pair).request(FIND, { paymentId });
    expect(payment).toMatchObject({
      paymentId,
      status: 'PENDING',
      method: 'PIX',
      amountCents: 4990,
      feeCents: 0,
      refundedCents: 0,
      otherPaidCents: null,
      checkoutUrl: `${pair.service.url}/checkout/${paymentId}`,
      pix: {
        txid: txidOf(paymentId),
        copyPaste: expect.stringMatching(/^000201/),
        qr: { size: expect.any(Number) },
      },
    });
    const { node } = await live(pair).request(
      'query ($id: ID!) { node(id: $id) { ... on Payment { paymentId } } }',
      { id: payment.id },
    );
    expect(node).toEqual({ paymentId });
    const token = await pair
      .services()
      .access.createPaymentToken({ accountId: pair.accountIds.facade, environment: 'live' }, { paymentId });
    const payer = pair.facade.client(token).ws(FOLLOW, { paymentId });
    const first = (await payer.data()).paymentUpdates;
    expect(first).toMatchObject({ previousStatus: null, payment: { status: 'PENDING' } });
    const { updatesCursor } = await live(pair).request('{ updatesCursor }');

    await pair.settled();
    const asked = pair.proxy.arrivals.length;
    await pay(pair, paymentId);
    expect((await payer.data()).paymentUpdates).toMatchObject({
      previousStatus: 'PENDING',
      payment: { paymentId, status: 'PAID' },
    });
    expect((await payer.next()).done).toBe(true);
    expect(pair.proxy.arrivals.slice(asked).filter(({ path }) => path.includes(paymentId))).toEqual([]);
    await pay(pair, next);

    const other = await pair.another();
    for (const [client, query, variables] of [
      [live(other), FOLLOW_ALL, { after: updatesCursor }],
      [other.facade.client(token), FOLLOW, { paymentId, after: first.cursor }],
    ] as const) {
      const updates = client.ws(query, variables);
      const update = Object.values(await updates.data())[0];
      expect(update).toMatchObject({ previousStatus: 'PENDING', payment: { paymentId, status: 'PAID' } });
      if (query === FOLLOW_ALL)
        expect(await updates.data()).toMatchObject({
          allPaymentUpdates: { previousStatus: null, payment: { paymentId: next, status: 'PAID' } },
        });
      await updates.close();
    }
    await pair.pass(MINUTE);
    expect([...pair.facade.faults, ...other.facade.faults]).toEqual([]);
  });

  test('Payments are listed in both directions, by filter and with the total, to a dashboard with their scope alone', async () => {
    const pair = await start();
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      ids.unshift(await create(pair));
      await live(pair).request(FIND, { paymentId: ids[0] });
      await pair.pass(SECOND);
    }
    await pay(pair, ids[1]!);
    const mint = async (scope: string) => {
      const { createDashboardToken } = await live(pair).request(
        `mutation { createDashboardToken(input: { scopes: [${scope}] }) { ... on CreateDashboardTokenSuccess { token } } }`,
      );
      return pair.facade.client(createDashboardToken.token);
    };
    const dashboard = await mint('PAYMENTS');
    const list = async (variables: object) => {
      const { payments } = await dashboard.request(LIST, { ...variables });
      return { ...payments, nodes: payments.nodes.map(({ paymentId }: { paymentId: string }) => paymentId) };
    };
    const newest = await list({ first: 2 });
    expect(newest).toMatchObject({
      totalCount: 4,
      nodes: ids.slice(0, 2),
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
    });
    expect(await list({ first: 2, after: newest.pageInfo.endCursor })).toMatchObject({ nodes: ids.slice(2) });
    const oldest = await list({ last: 1 });
    expect(oldest).toMatchObject({ nodes: ids.slice(3), pageInfo: { hasPreviousPage: true } });
    expect(await list({ last: 1, before: oldest.pageInfo.startCursor })).toMatchObject({ nodes: [ids[2]] });
    expect(await list({ filter: { status: ['PAID'], method: ['PIX'] } })).toMatchObject({
      totalCount: 1,
      nodes: [ids[1]],
    });
    expect(await list({ filter: { createdBefore: pair.clock.now().toISOString() } })).toMatchObject({
      totalCount: 4,
    });
    const { body } = await (await mint('CARD_PAYMENTS')).send(LIST);
    expect(body.errors[0].extensions.code).toBe('FORBIDDEN');
  });

  test('A webhook that nobody has signed changes nothing, and what a signed one says is verified', async () => {
    const pair = await start();
    const paymentId = await create(pair);
    await live(pair).request(FIND, { paymentId });
    const claim = { event: 'payment.paid', paymentId, amountCents: 4990, status: 'paid' };
    expect(await deliver(pair, claim, null)).toBe(401);
    expect((await live(pair).request(FIND, { paymentId })).payment).toMatchObject({ status: 'PENDING' });
    pair.facade.faults.length = 0;

    expect(await deliver(pair, { ...claim, amountCents: 1 })).toBe(200);
    expect((await live(pair).request(FIND, { paymentId })).payment).toMatchObject({
      status: 'PENDING',
      otherPaidCents: 1,
    });
    // The clock passes the life of the cached answer.
    await pair.pass(1);
    expect(await deliver(pair, { ...claim, status: 'em_disputa' })).toBe(200);
    expect((await live(pair).request(FIND, { paymentId })).payment).toMatchObject({
      status: 'UNKNOWN',
      pix: null,
    });
    await pair.pass(MINUTE);
    expect((await live(pair).request(FIND, { paymentId })).payment).toMatchObject({ status: 'PENDING' });
    // As with a card payment, the service never confirms the webhook.
    expect(await deliver(pair, { ...claim, note: 'again' })).toBe(200);
    const doubt = `query ($paymentId: String!) { payment(paymentId: $paymentId) { status final unresolved } }`;
    expect((await live(pair).request(doubt, { paymentId })).payment).toMatchObject({ status: 'PAID' });
    await pair.pass(10 * MINUTE);
    expect(faultsOf(pair)).toEqual([
      `Error: The payments service has corrected payment ${paymentId} from paid to pending`,
      `Error: A webhook said of payment ${paymentId} that it was paid; the service does not`,
    ]);
    expect((await live(pair).request(doubt, { paymentId })).payment).toEqual({
      status: 'PENDING',
      final: false,
      unresolved: true,
    });
  });

  test('A payment that a webhook has called failed is paid as soon as the service says so, and the correction is published, logged and counted', async () => {
    const pair = await start();
    const paymentId = await create(pair);
    const find = async () =>
      (
        await live(pair).request(
          `query ($paymentId: String!) { payment(paymentId: $paymentId) { status final unresolved } }`,
          { paymentId },
        )
      ).payment;
    expect(await find()).toMatchObject({ status: 'PENDING' });
    await pair.pass(1);
    const failed = { event: 'payment.failed', paymentId, amountCents: 4990, status: 'failed' };
    expect(await deliver(pair, failed)).toBe(200);
    expect(await find()).toEqual({ status: 'FAILED', final: false, unresolved: false });
    await pay(pair, paymentId);
    await pair.pass(5 * SECOND);
    expect(await find()).toEqual({ status: 'PAID', final: false, unresolved: false });
    expect(faultsOf(pair)).toEqual([
      `Error: The payments service has corrected payment ${paymentId} from failed to paid`,
    ]);
    const metrics = readMetrics(await (await fetch(`${pair.facade.url}/metrics`)).text());
    expect(metrics.value('psa_upstream_corrections_total', { resource: 'payment' })).toBe(1);
    expect(await published(pair, paymentId)).toEqual([
      'payment.pending',
      'payment.failed',
      'payment.failed',
      'payment.paid',
    ]);
  });

  test('A payment of the sandbox is read in the sandbox, and its webhook arrives there', async () => {
    const pair = await start();
    const sandbox = { ...tenantOf(pair), environment: 'sandbox' } as const;
    const { payment } = await service.app.payments.create(sandbox, { valueCents: 100 });
    await service.app.pix.pay({ txid: txidOf(payment.paymentId) });
    await service.app.payments.receive(sandbox, payment.paymentId);
    await pair.pass(5 * SECOND);
    const list = async (key: string) => (await pair.facade.client(key).request(LIST)).payments;
    expect(await list(pair.keys.sandbox)).toMatchObject({
      totalCount: 1,
      nodes: [{ paymentId: payment.paymentId }],
    });
    expect(await list(pair.keys.live)).toMatchObject({ totalCount: 0 });
    expect(pair.facade.faults).toEqual([]);
  });

  test('No PIX payment is created, started or refunded, no token takes PIX, and nothing is sent', async () => {
    const pair = await start();
    const paymentId = await create(pair);
    await pay(pair, paymentId);
    await pair.pass(MINUTE);
    const asked = pair.proxy.arrivals.length;
    for (const change of [
      'createPayment(input: { valueCents: 80 })',
      `refundPayment(input: { paymentId: "${paymentId}", idempotencyKey: "a" })`,
      'createCheckoutToken(input: { amount: { fixedCents: 80 }, methods: [PIX, CARD] })',
      'createCheckoutToken(input: { amount: { fixedCents: 80 }, methods: [PIX] })',
    ])
      expect(
        await live(pair).request(`mutation { done: ${change} { __typename ... on UserError { code } } }`),
      ).toEqual({ done: { __typename: 'PreconditionError', code: 'NOT_OFFERED' } });
    const { createCheckoutToken } = await live(pair).request(
      'mutation { createCheckoutToken(input: { amount: { fixedCents: 80 } }) { ... on CreateCheckoutTokenSuccess { token } } }',
    );
    const page = pair.facade.client(createCheckoutToken.token);
    expect(await page.request('{ viewer { checkoutMethods } }')).toEqual({
      viewer: { checkoutMethods: ['CARD'] },
    });
    expect(pair.proxy.arrivals).toHaveLength(asked);
  });

  describe('with a token, where the operator has named payments', () => {
    const environment = { PSA_UPSTREAM_FAMILIES: 'payments' };
    const ATTEMPT = 'tentativa-000000000000001';
    const OTHER = 'tentativa-000000000000009';
    const CODE = '... on UserError { code }';
    const START = `mutation ($input: StartCheckoutInput!) { startPixCheckout(input: $input) { ${CODE}
      ... on StartPixCheckoutSuccess { paymentToken payment { paymentId status pix { copyPaste } } }
      ... on UpstreamError { retryable moneyMayHaveMoved } } }`;
    const START_CARD = `mutation ($input: StartCheckoutInput!) { startCheckout(input: $input) { ${CODE}
      ... on StartCheckoutSuccess { cardPayment { orderCode } } } }`;

    async function mint(pair: Pair, input: object = {}) {
      const { createCheckoutToken } = await live(pair).request(
        'mutation ($input: CreateCheckoutTokenInput!) { createCheckoutToken(input: $input) { ... on CreateCheckoutTokenSuccess { token } } }',
        { input: { amount: { fixedCents: 4990 }, methods: ['PIX', 'CARD'], ...input } },
      );
      const page = pair.facade.client(createCheckoutToken.token);
      return {
        page,
        byPix: async (attemptId = ATTEMPT) =>
          (await page.request(START, { input: { attemptId } })).startPixCheckout,
        byCard: async (attemptId = ATTEMPT) =>
          (await page.request(START_CARD, { input: { attemptId } })).startCheckout,
      };
    }

    test('A page starts a payment by PIX with its code and follows it to PAID, and the order takes no other', async () => {
      const pair = await start({ environment });
      const { page, byPix, byCard } = await mint(pair, { externalId: 'pedido-7', metadata: '{"a":1}' });
      const { viewer } = await page.request('{ viewer { checkoutMethods } }');
      expect(viewer.checkoutMethods.sort()).toEqual(['CARD', 'PIX']);
      const { payment, paymentToken } = await byPix();
      expect(payment).toMatchObject({ status: 'PENDING', pix: { copyPaste: expect.any(String) } });
      const { paymentId } = payment;
      expect(await service.app.payments.find(tenantOf(pair), paymentId)).toMatchObject({
        ...{ amountCents: 4990, externalId: 'pedido-7', metadata: '{"a":1}' },
      });
      const stream = pair.facade.client(paymentToken).ws(FOLLOW, { paymentId });
      expect((await stream.next()).value.data.paymentUpdates.payment.status).toBe('PENDING');
      await pay(pair, paymentId);
      expect((await stream.next()).value.data.paymentUpdates.payment.status).toBe('PAID');
      await stream.close();
      for (const started of [await byPix(OTHER), await byCard(OTHER), await byCard()])
        expect(started).toEqual({ code: 'ORDER_PAID' });
      expect(pair.facade.faults).toEqual([]);
    });

    test('A start whose answer was lost is sent again with its key, by the same page and by a second device', async () => {
      let lost = 1;
      const pair = await start({
        environment,
        plan: ({ method, path }) =>
          method === 'POST' && path === '/v1/payments' && lost-- > 0
            ? { kind: 'status', status: 502, when: 'after' }
            : PASS,
      });
      const count = async () => service.app.payments.count(tenantOf(pair), {});
      for (const next of [ATTEMPT, OTHER]) {
        lost = 1;
        const { byPix } = await mint(pair);
        const before = await count();
        expect(await byPix()).toEqual({
          ...{ code: 'UPSTREAM_UNAVAILABLE', retryable: true, moneyMayHaveMoved: false },
        });
        const { payment } = await byPix(next);
        expect(await service.app.payments.find(tenantOf(pair), payment.paymentId)).not.toBeNull();
        expect((await byPix()).payment.paymentId).toBe(payment.paymentId);
        expect(await count()).toBe(before + 1);
      }
      // No payer has the code, so the payer may take a card instead, and then gets no code.
      lost = 1;
      const { byPix, byCard } = await mint(pair);
      await byPix();
      expect(await byCard()).toMatchObject({ cardPayment: { orderCode: expect.any(String) } });
      expect(await byPix()).toEqual({ code: 'CHECKOUT_TOKEN_USED' });
    });

    test.each([{ reusable: false }, { reusable: true }])(
      'An attempt has one open payment, by card or by PIX, until that has expired: $reusable',
      async ({ reusable }) => {
        const pair = await start({ environment });
        for (const [first, second] of [
          ['byPix', 'byCard'],
          ['byCard', 'byPix'],
        ] as const) {
          const page = await mint(pair, { reusable });
          const started = await page[first]();
          expect(await page[second]()).toEqual({ code: 'CHECKOUT_TOKEN_USED' });
          // The page counts its attempts, and gets the open payment again.
          const again = await page[first](`${ATTEMPT}.2`);
          expect(again.payment?.paymentId ?? again.cardPayment.orderCode).toBe(
            started.payment?.paymentId ?? started.cardPayment.orderCode,
          );
          await pair.pass(30 * MINUTE);
          expect(Object.keys(await page[second](`${ATTEMPT}.3`))).not.toContain('code');
        }
      },
    );
  });

  test('A service without payments says so at the top, and its other reads go on', async () => {
    const pair = await start({
      plan: ({ path }) =>
        path.startsWith('/v1/payments') ? { kind: 'status', status: 404, when: 'before' } : PASS,
    });
    const { body } = await live(pair).send(FIND, { paymentId: `psa_${'0'.repeat(32)}` });
    expect(body).toMatchObject({
      data: { payment: null },
      errors: [{ extensions: { code: 'NOT_OFFERED', retryPolicy: 'AFTER_CHANGE' } }],
    });
    expect(await live(pair).request('{ wallet { balanceCents } payments { totalCount } }')).toEqual({
      wallet: { balanceCents: 0 },
      payments: { totalCount: 0 },
    });
    const malformed = await live(pair).send(FIND, { paymentId: 'PSC-1' });
    expect(malformed.body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });
});
