import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buildSchema, parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { selectCursorKey } from '../../server/src/access/store.ts';
import { createCursors } from '../../server/src/kernel/cursor.ts';
import { txidOfCode } from '../../server/src/rails/simulated/pix.ts';
import { newWebhookSecret, signedHeaders } from '../../server/src/webhooks/signing.ts';
import { follow } from '../../widget/src/server/follow.ts';
import { mintCheckout, tokenHandler } from '../../widget/src/server/mint.ts';
import { PsaError } from '../../widget/src/server/request.ts';
import { followSales, refundOf, SALE_UPDATES, saleOf, sales } from '../../widget/src/server/sales.ts';
import {
  type AccountUpdate,
  accountDocument,
  documentOf,
  type FollowedUpdate,
  readAccountUpdate,
  TOPIC_NAMES,
} from '../../widget/src/server/topics.ts';
import { verifyWebhook } from '../../widget/src/server/webhook.ts';
import type { WebhookEvent } from '../../widget/src/server/webhook-events.generated.ts';
import { payAt } from '../e2e/fixture.ts';
import { addAccount, addKey } from '../support/accounts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { fund } from '../support/funds.ts';

let app: TestApp;
let accountId: string;
let server: { endpoint: string; key: string };
beforeAll(async () => {
  app = await startApp();
  accountId = await addAccount(app);
  server = { endpoint: `${app.url}/graphql`, key: await addKey(app, { accountId }) };
});
afterAll(async () => {
  await app.close();
  expect(app.faults).toEqual([]);
});

const cardPayment = async (externalId: string): Promise<string> =>
  (
    await app
      .client(server.key)
      .request(
        `mutation { createCardPayment(input: { valueCents: 4990, externalId: "${externalId}" }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }`,
      )
  ).createCardPayment.cardPayment.orderCode;

const pay = async (): Promise<string> =>
  (
    await app
      .client(server.key)
      .request(
        'mutation { createPayment(input: { valueCents: 10 }) { ... on CreatePaymentSuccess { payment { paymentId } } } }',
      )
  ).createPayment.payment.paymentId;

describe('follow', () => {
  /** A program that follows payments and stores its cursor; it is started again after each end. */
  function program() {
    const handled: string[] = [];
    const reasons: string[] = [];
    let stored: string | null = null;
    return {
      handled,
      reasons,
      store: (cursor: string) => {
        stored = cursor;
      },
      /** Runs until it has handled this number of updates; if `fails`, an update fails before it is saved. */
      async run(
        count: number,
        {
          fails = (_: string): boolean => false,
          begun = () => Promise.resolve() as Promise<unknown>,
          onError = ((error) => {
            throw error;
          }) as (error: unknown, attempt: number) => unknown,
          wait = (_: number) => Promise.resolve(),
        } = {},
      ) {
        const left = new AbortController();
        let runs = 0;
        await follow<{ paymentId: string }>('payments', {
          ...server,
          signal: left.signal,
          load: () => stored,
          save(cursor) {
            stored = cursor;
            if (runs === count) left.abort();
          },
          async reconcile(reason) {
            reasons.push(reason);
            await begun();
          },
          onUpdate({ resource }) {
            if (fails(resource.paymentId)) throw new Error('The database is away');
            handled.push(resource.paymentId);
            runs += 1;
          },
          onError,
          wait,
        });
      },
    };
  }

  test('what the program fails at is repeated after growing waits, and each is handled', async () => {
    const ids: string[] = [];
    const { run, handled } = program();
    const errors: [unknown, number][] = [];
    const waits: number[] = [];
    let begins = 0;
    await run(2, {
      begun: async () => {
        begins += 1;
        if (begins < 3) throw new Error('The lists are away');
        ids.push(await pay(), await pay());
      },
      fails: (id) => id === ids[0] && errors.length < 6,
      onError: (error, attempt) => errors.push([(error as Error).message, attempt]),
      wait: async (ms: number) => void waits.push(ms),
    });
    expect(handled).toEqual(ids);
    expect(errors).toEqual([
      ...[1, 2].map((attempt) => ['The lists are away', attempt]),
      ...[1, 2, 3, 4].map((attempt) => ['The database is away', attempt]),
    ]);
    // Each wait is between a half and one and a half of a wait that doubles.
    expect(waits.slice(2).map((ms, index) => ms >= 50 * 2 ** index && ms <= 150 * 2 ** index)).toEqual(
      Array(4).fill(true),
    );
  });

  test('an error that nobody asks for is written to the console, and an abort ends the waiting', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => error.mockRestore());
    const left = new AbortController();
    const fails = () => Promise.reject(new Error('The database is away'));
    await follow('payments', {
      ...server,
      signal: left.signal,
      load: fails,
      save: fails,
      onUpdate: fails,
      reconcile: fails,
      wait: async () => left.abort(),
    });
    expect(error).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^follow: /), expect.any(Error));
  });

  test('goes on from the stored cursor after its end, and handles again what it had not saved', async () => {
    const ids: string[] = [];
    const { run, handled, reasons } = program();
    await run(2, { begun: async () => ids.push(await pay(), await pay()) });
    ids.push(await pay());
    await expect(run(1, { fails: (id) => id === ids[2] })).rejects.toThrow('The database is away');
    ids.push(await pay());
    await run(2);
    expect(handled).toEqual(ids);
    expect(reasons).toEqual(['first']);
  });

  test('a failed reconcile ends follow and saves no cursor, so that the next run reconciles again', async () => {
    const ids: string[] = [];
    const { run, handled, reasons } = program();
    const fails = () => Promise.reject(new Error('The database is away'));
    await expect(run(1, { begun: fails })).rejects.toThrow('The database is away');
    await run(1, { begun: async () => ids.push(await pay()) });
    expect(reasons).toEqual(['first', 'first']);
    expect(handled).toEqual(ids);
  });

  test('an abort ends follow while the server is away', async () => {
    const left = new AbortController();
    const causes: unknown[] = [];
    await follow('payments', {
      ...server,
      endpoint: 'http://127.0.0.1:1',
      signal: left.signal,
      load: () => null,
      save: () => expect.unreachable(),
      reconcile: () => expect.unreachable(),
      onUpdate: () => expect.unreachable(),
      onRetry: (cause) => causes.push(cause) === 2 && left.abort(),
      wait: () => Promise.resolve(),
    });
    expect(causes).toMatchObject([{ code: 'NETWORK' }, { code: 'NETWORK' }]);
  });

  test('an expired cursor is reconciled, and what happens from then on follows', async () => {
    const cursorsFor = createCursors((await selectCursorKey(app.database.sql))!);
    const { run, handled, reasons, store } = program();
    store(cursorsFor({ accountId, environment: 'live' }, 'updates').encode(1_000_000));
    const ids: string[] = [];
    await run(1, { begun: async () => ids.push(await pay()) });
    expect(reasons).toEqual(['expired']);
    expect(handled).toEqual(ids);
  });

  test('a subaccount comes with its balance and with the new entry of its statement', async () => {
    const client = app.client(server.key);
    const left = new AbortController();
    const updates: FollowedUpdate[] = [];
    let subaccountId = '';
    await follow('subaccounts', {
      ...server,
      signal: left.signal,
      load: () => null,
      save: () => undefined,
      async reconcile() {
        await fund({ database: app.database, tenant: { accountId, environment: 'live' } }, { cents: 5_000 });
        const { createSubaccount } = await client.request(
          'mutation { createSubaccount(input: { name: "Bia" }) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } } }',
        );
        ({ subaccountId } = createSubaccount.subaccount);
        await client.request(
          `mutation { transferToSubaccount(input: { subaccountId: "${subaccountId}", amountCents: 1500, idempotencyKey: "a" }) { __typename } }`,
        );
      },
      onUpdate(update) {
        updates.push(update);
        if (update.entry) left.abort();
      },
    });
    expect(updates).toMatchObject([
      { entry: null },
      { entry: { amountCents: 1_500, balanceAfterCents: 1_500 } },
    ]);
    expect(updates[1]!.resource).toMatchObject({ subaccountId, balanceCents: 1_500 });
    expect(updates[1]).not.toHaveProperty('previousStatus');
  });

  test.each([
    ...TOPIC_NAMES.map((topic) => [topic, documentOf(topic)]),
    ['accountUpdates', accountDocument()],
    ['sales', SALE_UPDATES],
  ])('the subscription of %s is valid', (_, document) => {
    const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));
    expect(validate(schema, parse(document))).toEqual([]);
  });

  test('everything of an account comes in one order, each with its kind and its own members', async () => {
    const left = new AbortController();
    const updates: AccountUpdate[] = [];
    let ids: string[] = [];
    await follow('accountUpdates', {
      ...server,
      signal: left.signal,
      load: () => null,
      save: () => updates.length === 3 && left.abort(),
      async reconcile() {
        ids = [await pay(), await cardPayment('1044'), await pay()];
      },
      onUpdate(update) {
        if (update.kind === 'PAYMENT' || update.kind === 'CARD_PAYMENT') updates.push(update);
      },
    });
    // A member that the compiler does not find in a kind fails the gate `types`.
    const idOf = (update: AccountUpdate) =>
      update.kind === 'PAYMENT'
        ? update.resource.paymentId
        : update.kind === 'CARD_PAYMENT'
          ? update.resource.orderCode
          : null;
    expect(updates.map(idOf)).toEqual(ids);
    expect(updates[1]).toEqual({
      kind: 'CARD_PAYMENT',
      cursor: expect.any(String),
      occurredAt: expect.any(String),
      previousStatus: null,
      resource: {
        orderCode: ids[1],
        orderId: '1044',
        externalId: '1044',
        metadata: null,
        status: 'PENDING',
        amountCents: 4990,
        version: expect.any(Number),
      },
    });
  });

  test('an update of a kind that a newer server has is left out, and its cursor is saved', () => {
    expect(readAccountUpdate({ cursor: 'c', occurredAt: 'now', __typename: 'ParcelUpdate' })).toBeNull();
    const pause = { reason: 'DISPUTES', pausedAt: 'now', pausedUntil: null };
    expect(
      readAccountUpdate({
        cursor: 'c',
        occurredAt: 'now',
        __typename: 'CheckoutTokenUpdate',
        tokenId: 't',
        pause,
      }),
    ).toEqual({ kind: 'CHECKOUT_TOKEN', cursor: 'c', occurredAt: 'now', resource: { tokenId: 't', pause } });
  });
});

describe('tokens', () => {
  test('mintCheckout gives a token, or an error that names the field', async () => {
    const { token, expiresInSeconds } = await mintCheckout(server, {
      amount: { fixedCents: 4990 },
      methods: ['PIX'],
      language: 'ES',
      expiresInSeconds: 600,
    });
    expect(token).toMatch(/^ps_checkout_/);
    expect(expiresInSeconds).toBe(600);
    const refused = mintCheckout(server, { amount: { fixedCents: 4990 }, successUrl: 'ftp://shop.example' });
    await expect(refused).rejects.toThrow(PsaError);
    await expect(refused).rejects.toMatchObject({ isRetryable: false });
    await expect(
      mintCheckout({ ...server, endpoint: 'http://127.0.0.1:1' }, { amount: { fixedCents: 1 } }),
    ).rejects.toMatchObject({
      code: 'NETWORK',
      isRetryable: true,
    });
  });

  const handlerOf = <Incoming extends { method?: string | undefined }>(mayCome: boolean) =>
    tokenHandler<Incoming>({ ...server, scopes: ['PAYMENTS'], authorize: () => mayCome });

  test('a handler of Web requests renews a token for whom it lets in', async () => {
    const post = () => new Request('https://shop.example/token', { method: 'POST' });
    const answer = await handlerOf<Request>(true)(post());
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const { token } = await answer.json();
    // Next, Bun, Deno and Workers pass a second argument of their own.
    const handler = handlerOf<Request>(true) as unknown as (...given: unknown[]) => Promise<Response>;
    expect((await handler(post(), { params: {} })).status).toBe(200);
    expect((await app.client(token).request('{ updatesCursor }')).updatesCursor).toEqual(expect.any(String));
    expect((await handlerOf<Request>(false)(post())).status).toBe(403);
    expect((await handlerOf<Request>(true)(new Request('https://shop.example/token'))).status).toBe(405);
    const away = tokenHandler<Request>({
      ...server,
      key: 'ps_live_x',
      scopes: ['PAYMENTS'],
      authorize: () => true,
    });
    expect(await (await away(post())).text()).toBe('{"error":"no token"}');
    const down = tokenHandler<Request>({
      ...server,
      scopes: ['PAYMENTS'],
      authorize: () => Promise.reject(new Error('the sessions are away')),
    });
    await expect(down(post())).rejects.toThrow('the sessions are away');
    const written: unknown[] = [];
    const response = {
      writeHead: (status: number) => written.push(status),
      end: (text: string) => written.push(text),
    };
    await down(post(), response);
    expect(written).toEqual([502, '{"error":"no token"}']);
  });

  test('a handler of Node writes the same', async () => {
    const handler = handlerOf(true);
    const http = createServer((request, response) => void handler(request, response)).listen(0);
    const answer = await fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, {
      method: 'POST',
    });
    expect(await answer.json()).toEqual({
      token: expect.any(String),
      expiresAt: expect.any(String),
      expiresInSeconds: 3_600,
    });
    http.close();
  });
});

describe('sales', () => {
  test('what was paid by card and by PIX is read from the lists, page by page', async () => {
    const created = await app.client(server.key).request(
      `mutation {
        card: createCardPayment(input: { valueCents: 4990, externalId: "1042", metadata: "{}" }) {
          ... on CreateCardPaymentSuccess { payment: cardPayment { orderCode } }
        }
        one: createPayment(input: { valueCents: 10, externalId: "1043" }) { ...Payment }
        other: createPayment(input: { valueCents: 20 }) { ...Payment }
        open: createPayment(input: { valueCents: 30 }) { ...Payment }
      }
      fragment Payment on CreatePaymentResult {
        ... on CreatePaymentSuccess { payment { paymentId pix { copyPaste } } }
      }`,
    );
    const { card, one, other } = created;
    await payAt(app.url, card.payment.orderCode);
    for (const { payment } of [one, other]) await app.pix.pay({ txid: txidOfCode(payment.pix.copyPaste)! });
    await app.work.settled();
    app.clock.advance(1);
    await app.work.settled();

    const from = new Date(app.clock.ms() - 60_000);
    const read = async (options: { from: Date; to?: Date }) => {
      const found = [];
      const small: typeof fetch = (url, init) =>
        fetch(url, { ...init, body: String(init?.body).replaceAll('first:100', 'first:1') });
      for await (const sale of sales({ ...server, fetch: small }, options)) found.push(sale);
      return found;
    };
    const paidAt = expect.stringMatching(/^2026-03-02T12:/);
    expect(await read({ from })).toEqual([
      {
        id: card.payment.orderCode,
        orderId: '1042',
        externalId: '1042',
        amountCents: 4990,
        paidAt,
        metadata: '{}',
      },
      {
        id: other.payment.paymentId,
        orderId: null,
        externalId: null,
        amountCents: 20,
        paidAt,
        metadata: null,
      },
      {
        id: one.payment.paymentId,
        orderId: '1043',
        externalId: '1043',
        amountCents: 10,
        paidAt,
        metadata: null,
      },
    ]);
    expect(await read({ from: new Date(0), to: from })).toEqual([]);
    const refused = sales({ ...server, key: 'ps_live_x' }, { from }).next();
    await expect(refused).rejects.toThrow(PsaError);
  });

  test('what is sold by card and by PIX, and given back, is followed from one cursor', async () => {
    const client = app.client(server.key);
    const left = new AbortController();
    let stored: string | null = null;
    const heard: unknown[] = [];
    const followed = (reconcile?: () => Promise<void>) =>
      followSales({
        ...server,
        signal: left.signal,
        reconcile,
        load: () => stored,
        save: (cursor) => {
          stored = cursor;
          if (heard.length === 3) left.abort();
        },
        onSale: (sale) => heard.push(sale),
        onRefund: ({ id, orderId, externalId }) => heard.push({ refunded: id, orderId, externalId }),
      });
    let orderCode = '';
    let paymentId = '';
    await followed(async () => {
      orderCode = await cardPayment('2001');
      const { createPayment } = await client.request(
        'mutation { createPayment(input: { valueCents: 35 }) { ... on CreatePaymentSuccess { payment { paymentId pix { copyPaste } } } } }',
      );
      paymentId = createPayment.payment.paymentId;
      await payAt(app.url, orderCode);
      await app.pix.pay({ txid: txidOfCode(createPayment.payment.pix.copyPaste)! });
      await app.work.settled();
      await client.request(
        `mutation { refundCardPayment(input: { orderCode: "${orderCode}", idempotencyKey: "2001" }) { __typename } }`,
      );
      await app.work.settled();
    });
    const paidAt = expect.any(String);
    expect(heard).toEqual([
      { id: orderCode, orderId: '2001', externalId: '2001', amountCents: 4990, paidAt, metadata: null },
      { id: paymentId, orderId: null, externalId: null, amountCents: 35, paidAt, metadata: null },
      { refunded: orderCode, orderId: '2001', externalId: '2001' },
    ]);
  });

  test('without a cursor the sales of the last week are handled first', async () => {
    const left = new AbortController();
    const from = new Date(app.clock.ms() - 60_000);
    vi.useFakeTimers({ toFake: ['Date'], now: app.clock.ms() });
    onTestFinished(() => void vi.useRealTimers());
    const listed: unknown[] = [];
    for await (const sale of sales(server, { from })) listed.push(sale);
    const handled: unknown[] = [];
    await followSales({
      ...server,
      signal: left.signal,
      load: () => null,
      save: () => left.abort(),
      onSale: (sale) => handled.push(sale),
    });
    expect(listed).not.toEqual([]);
    expect(handled).toEqual(expect.arrayContaining(listed));
  });

  /** The envelope of an event. */
  const of = <Type extends string>(type: Type) => ({
    ...{ id: 'whd_1', occurredAt: '2026-03-02T12:00:00.000Z', version: 2, sandbox: false },
    resource: { type, id: '1' },
  });

  test('the sale of a webhook is the one of the lists', () => {
    const paid = { status: 'paid', paidAt: '2026-03-02T12:00:00.000Z', metadata: null } as const;
    const sale = { paidAt: paid.paidAt, metadata: null };
    expect(
      saleOf({
        ...of('card_payment'),
        event: 'card_payment.paid',
        orderCode: 'PSC-1',
        amount: 1.1,
        externalId: '7',
        ...paid,
      }),
    ).toEqual({ id: 'PSC-1', orderId: '7', externalId: '7', amountCents: 110, ...sale });
    for (const event of ['payment.paid', 'payment.test.paid'] as const)
      expect(saleOf({ ...of('payment'), event, paymentId: 'psa_1', amountCents: 10, ...paid })).toEqual({
        id: 'psa_1',
        orderId: null,
        externalId: null,
        amountCents: 10,
        ...sale,
      });
    const refunded = { ...paid, status: 'refunded', refundedAt: paid.paidAt } as const;
    expect(
      saleOf({
        ...of('payment'),
        event: 'payment.refunded',
        paymentId: 'psa_1',
        amountCents: 10,
        ...refunded,
      }),
    ).toBeNull();
    expect(
      saleOf({ ...of('charge'), event: 'charge.paid', chargeId: 'psc_1', amountCents: 10, ...paid }),
    ).toBeNull();
  });

  test('refundOf reads the whole refund of a sale, once, and nothing of money that is returned', () => {
    const paidAt = '2026-03-02T12:00:00.000Z';
    const refunded = { status: 'refunded', paidAt, refundedAt: paidAt, metadata: null } as const;
    const refund = { orderId: '7', externalId: '7', refundedAt: paidAt, metadata: null };
    expect(
      refundOf({
        ...of('card_payment'),
        event: 'card_payment.refunded',
        orderCode: 'PSC-1',
        amount: 1.1,
        externalId: '7',
        ...refunded,
      }),
    ).toEqual({ id: 'PSC-1', amountCents: 110, ...refund });
    for (const event of ['payment.refunded', 'payment.test.refunded'] as const)
      expect(
        refundOf({
          ...of('payment'),
          event,
          paymentId: 'psa_1',
          amountCents: 10,
          externalId: '7',
          ...refunded,
        }),
      ).toEqual({
        id: 'psa_1',
        amountCents: 10,
        ...refund,
      });
    const payment = { type: 'card_payment', id: 'PSC-1' } as const;
    const [returnId, refundId] = [`ret_${'1'.repeat(24)}`, `ref_${'1'.repeat(24)}`];
    const times = { receivedAt: paidAt, returnedAt: paidAt };
    const cause = {
      cause: 'paid_elsewhere',
      orderId: '7',
      externalId: '7',
      keptPayment: 'PSC-2',
      endToEndId: null,
    } as const;
    const returned = {
      ...of('return'),
      returnId,
      of: payment,
      amountCents: 110,
      ...cause,
      ...times,
      metadata: null,
    };
    for (const event of ['return.completed', 'return.test.completed'] as const)
      for (const read of [refundOf, saleOf]) expect(read({ event, ...returned })).toBeNull();
    // A refund of a part, or the last refund, which card_payment.refunded reports.
    const end = { completedAt: paidAt, failedAt: null };
    const ended = { status: 'completed', reason: null, failureReason: null, ...end } as const;
    expect(
      refundOf({
        ...of('refund'),
        event: 'refund.completed',
        refundId,
        of: payment,
        amountCents: 110,
        metadata: null,
        ...ended,
      }),
    ).toBeNull();
  });

  // A member that is unknown to the compiler, or optional for it, fails the gate `types`.
  test('the name of an event tells which members it has', () => {
    const shown = (event: WebhookEvent): [isTest: boolean | null, text: string | null] => {
      switch (event.event) {
        case 'payment.paid':
        case 'payment.test.paid':
          return [event.sandbox, event.paidAt];
        case 'card_payment.expired':
          return [null, event.canceledAt ?? event.expiredAt];
        case 'charge.paid':
          return [null, event.splits?.[0]?.subaccountId ?? null];
        case 'subscription.payment_failed':
          return [event.sandbox, event.cycle?.nextAttemptAt ?? null];
        case 'subaccount.payout':
          return [event.reversed, event.failureReason];
        case 'withdrawal.requested':
          return [event.sandbox, event.status satisfies 'pendente'];
        default:
          return [null, null];
      }
    };
    const paidAt = '2026-03-02T12:00:00.000Z';
    const paid = { paymentId: 'psa_1', amountCents: 10, status: 'paid', paidAt, metadata: null } as const;
    expect(shown({ ...of('payment'), event: 'payment.test.paid', ...paid, sandbox: true })).toEqual([
      true,
      paidAt,
    ]);
    expect(shown({ ...of('payment'), event: 'payment.paid', ...paid })).toEqual([false, paidAt]);
    expect(
      shown({
        ...of('charge'),
        event: 'charge.paid',
        chargeId: 'psc_1',
        amountCents: 1,
        status: 'paid',
        paidAt,
      }),
    ).toEqual([null, null]);
  });
});

describe('verifyWebhook', () => {
  const secret = newWebhookSecret();
  const at = new Date('2026-03-02T12:00:00Z');
  const now = () => at;
  const body = '{"event":"payment.paid","paymentId":"psa_1","metadata":"ã"}';
  const headers = signedHeaders({
    webhookId: 'wh_1',
    resourceVersion: 2,
    occurredAt: at,
    body,
    secrets: [secret, newWebhookSecret()],
    at,
  });
  const verified = {
    id: 'wh_1',
    event: JSON.parse(body),
    resourceVersion: 2,
    occurredAt: at,
  };

  test('reads a webhook from a Request, from Node, and from a body that was read', async () => {
    const web = new Request('https://shop.example', { method: 'POST', headers, body });
    const bytes = Buffer.from(body);
    const node = {
      headers,
      async *[Symbol.asyncIterator]() {
        yield bytes.subarray(0, 9);
        yield bytes.subarray(9);
      },
    };
    for (const request of [web, node, { headers, body }, { headers, body: bytes }])
      expect(await verifyWebhook(request, { secret, now })).toEqual(verified);
    expect(await verifyWebhook({ headers, body }, { secret: [newWebhookSecret(), secret], now })).toEqual(
      verified,
    );
    const two = { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` };
    expect(await verifyWebhook({ headers: two, body }, { secret, now })).toEqual(verified);
    for (const signature of [headers['x-webhook-signature']!, `sha256=${headers['x-webhook-signature']}`]) {
      const documented = { 'x-webhook-id': 'wh_1', 'x-webhook-signature': signature };
      const { id } = await verifyWebhook({ headers: documented, body }, { secret, scheme: 'document' });
      expect(id).toBe('wh_1');
    }
  });

  test('takes id, version and instant from the signed body where it has them, and from headers otherwise', async () => {
    const resource = { type: 'payment', id: 'psa_1' };
    const envelope = {
      id: 'whd_1',
      occurredAt: '2026-03-02T11:59:59.000Z',
      version: 7,
      sandbox: false,
      resource,
    };
    const of = async (event: object) => {
      const text = JSON.stringify(event);
      const signed = signedHeaders({
        webhookId: 'wh_1',
        resourceVersion: 2,
        occurredAt: at,
        body: text,
        secrets: [secret],
        at,
      });
      const { 'x-webhook-signature': signature } = signed;
      const forged = { 'x-webhook-id': 'wh_2', 'x-webhook-signature': signature! };
      const standard = await verifyWebhook({ headers: signed, body: text }, { secret, now });
      const document = await verifyWebhook({ headers: forged, body: text }, { secret, scheme: 'document' });
      return [standard.id, standard.resourceVersion, standard.occurredAt, document.id];
    };
    expect(await of({ event: 'payment.paid', ...envelope })).toEqual([
      ...['whd_1', 7, new Date('2026-03-02T11:59:59.000Z'), 'whd_1'],
    ]);
    // The `id` of another service's event may be that of its payment.
    expect(await of({ event: 'payment.paid', id: 'psa_1', version: 7 })).toEqual(['wh_1', 2, at, 'wh_2']);
  });

  test('finds the headers of another realm, and by names in capitals', async () => {
    const foreign = { get: (name: string) => new Headers(headers).get(name) } as Headers;
    expect(await verifyWebhook({ headers: foreign, body }, { secret, now })).toEqual(verified);
    const capitals = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
        value,
      ]),
    );
    expect(await verifyWebhook({ headers: capitals, body }, { secret, now })).toEqual(verified);
  });

  test.each<[string, Parameters<typeof verifyWebhook>[0], object]>([
    ['another body', { headers, body: `${body} ` }, {}],
    ['another secret', { headers, body }, { secret: newWebhookSecret() }],
    ['another id', { headers: { ...headers, 'webhook-id': 'wh_2' }, body }, {}],
    ['another instant', { headers: { ...headers, 'webhook-timestamp': '1772452801' }, body }, {}],
    ['no signature', { headers: { ...headers, 'webhook-signature': '' }, body }, {}],
    ['an old instant', { headers, body }, { now: () => new Date(at.getTime() + 301_000) }],
    [
      'a signature of the document alone',
      { headers: { 'x-webhook-id': '1', 'x-webhook-signature': headers['x-webhook-signature'] }, body },
      {},
    ],
    [
      'a wrong signature of the document',
      { headers: { 'x-webhook-signature': 'ab'.repeat(32) }, body },
      { scheme: 'document' },
    ],
    [
      'no JSON',
      { headers: signedHeaders({ webhookId: 'w', body: '{', secrets: [secret], at }), body: '{' },
      {},
    ],
  ])('refuses %s', async (_, request, options) => {
    await expect(verifyWebhook(request, { secret, now, ...options })).rejects.toMatchObject({
      name: 'WebhookError',
    });
  });

  test('a body beyond a megabyte is refused, however it comes, and read no further', async () => {
    const part = new Uint8Array(250_000);
    let read = 0;
    async function* parts() {
      for (; read < 1_000; read += 1) yield part;
    }
    const init = { method: 'POST', headers, body: parts(), duplex: 'half' };
    for (const request of [
      new Request('https://shop.example', init as unknown as RequestInit),
      { headers, [Symbol.asyncIterator]: parts },
      { headers, body: 'x'.repeat(1_000_001) },
      { headers, body: new Uint8Array(1_000_001) },
    ])
      await expect(verifyWebhook(request, { secret, now })).rejects.toThrow('The body is too large');
    expect(read).toBeLessThan(20);
    const largest = { headers, body: 'x'.repeat(1_000_000) };
    await expect(verifyWebhook(largest, { secret, now })).rejects.not.toThrow('too large');
  });

  test('reads a webhook from Hono, from a Lambda, and from the raw body that a framework keeps', async () => {
    const web = () => new Request('https://shop.example', { method: 'POST', headers, body });
    /** A request as Hono passes it: without its own headers, and with a body that Hono has already read. */
    const hono = (raw: Request, text?: string) => ({
      raw,
      arrayBuffer: () =>
        text === undefined
          ? raw.arrayBuffer()
          : Promise.resolve(new TextEncoder().encode(text).buffer as ArrayBuffer),
    });
    const read = web();
    const text = await read.text();
    const base64 = Buffer.from(body).toString('base64');
    for (const request of [
      hono(web()),
      hono(read, text),
      { headers, body: base64, isBase64Encoded: true },
      { headers, body, isBase64Encoded: false },
      { headers, body: JSON.parse(body), rawBody: Buffer.from(body) },
      { headers, body: new DataView(new TextEncoder().encode(body).buffer) as unknown as Uint8Array },
    ])
      expect(await verifyWebhook(request, { secret, now })).toEqual(verified);
  });

  /** Mistakes in a program's handling of requests, each with the words that name the cause. */
  const MISTAKES: [string, () => Promise<object>, string, string][] = [
    [
      'a Request whose body was read',
      async () => {
        const request = new Request('https://shop.example', { method: 'POST', headers, body });
        await request.text();
        return request;
      },
      'TypeError',
      'was read before',
    ],
    [
      'a Request whose body is being read',
      async () => {
        const request = new Request('https://shop.example', { method: 'POST', headers, body });
        request.body?.getReader();
        return request;
      },
      'TypeError',
      'was read before',
    ],
    [
      'Hono’s request whose body was read outside of it',
      async () => {
        const raw = new Request('https://shop.example', { method: 'POST', headers, body });
        await raw.text();
        return { raw, arrayBuffer: () => raw.arrayBuffer() };
      },
      'TypeError',
      'was read before',
    ],
    [
      'a message of Node’s that a parser of Fastify or Koa has read',
      async () => {
        const message = Object.assign(Readable.from([Buffer.from(body)]), { headers });
        await message.toArray();
        return message;
      },
      'TypeError',
      'was read before',
    ],
    [
      'a parsed object in place of the raw body',
      async () => ({ headers, body: JSON.parse(body) }),
      'TypeError',
      'was parsed before',
    ],
    [
      'an empty text of a body that came',
      async () => ({ headers: { ...headers, 'content-length': '58' }, body: '' }),
      'TypeError',
      'was read before',
    ],
    ['an empty body', async () => ({ headers, body: '' }), 'WebhookError', 'The body is empty'],
    [
      'a Lambda’s request without a body',
      async () => ({ headers, body: null }),
      'WebhookError',
      'The body is empty',
    ],
    [
      'a Request without a body',
      async () => new Request('https://shop.example', { method: 'POST', headers }),
      'WebhookError',
      'The body is empty',
    ],
    [
      'a body in base64',
      async () => ({ headers, body: Buffer.from(body).toString('base64') }),
      'WebhookError',
      'in base64',
    ],
    [
      'a body that was written again',
      async () => ({ headers, body: JSON.stringify(JSON.parse(body), null, 1) }),
      'WebhookError',
      'not byte for byte',
    ],
    ['no signature', async () => ({ headers: {}, body }), 'WebhookError', 'has no webhook-id'],
    [
      'the signature of the document alone',
      async () => ({ headers: { 'x-webhook-signature': 'ab' }, body }),
      'WebhookError',
      "scheme: 'document'",
    ],
    [
      'a clock that is behind',
      async () => ({
        headers: signedHeaders({
          webhookId: 'w',
          body,
          secrets: [secret],
          at: new Date(at.getTime() + 400_000),
        }),
        body,
      }),
      'WebhookError',
      '400 s before its time',
    ],
    [
      'an old instant',
      async () => ({
        headers: signedHeaders({
          webhookId: 'w',
          body,
          secrets: [secret],
          at: new Date(at.getTime() - 400_000),
        }),
        body,
      }),
      'WebhookError',
      '400 s old',
    ],
    ['no headers', async () => ({ body }), 'TypeError', 'has no headers'],
    ['nothing to read', async () => ({ headers }), 'TypeError', 'has no body to read'],
  ];

  test.each(MISTAKES)('names its cause: %s', async (_, request, name, cause) => {
    const given = (await request()) as Parameters<typeof verifyWebhook>[0];
    await expect(verifyWebhook(given, { secret, now })).rejects.toMatchObject({
      name,
      message: expect.stringContaining(cause),
    });
  });

  test.each(['standard', 'document'] as const)('a missing secret is named (%s)', async (scheme) => {
    for (const missing of [undefined as unknown as string, '', [secret, '']])
      await expect(verifyWebhook({ headers, body }, { secret: missing, scheme, now })).rejects.toThrow(
        'The secret is not one of webhooks',
      );
  });
});
