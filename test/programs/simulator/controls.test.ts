import { request, type ServerResponse } from 'node:http';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { brCode } from '../../../server/src/kernel/br-code.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import { createManualClock } from '../../support/clock.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { newKey } from '../../support/keys.ts';
import { type Received, startReceiver } from '../../support/receiver.ts';

let app: TestApp;
let database: Database;
beforeAll(async () => {
  const clock = createManualClock();
  database = await openFreshDatabase(clock);
  app = await startApp({ database, clock });
});
afterAll(async () => {
  await app?.close();
  expect(app?.faults).toEqual([]);
});
// The clock advances, because an account may request ten payouts an hour.
beforeEach(() => app.clock.advance(3_600_001));

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
  body: any;
}

/** Posts as the page does, unless `headers` say otherwise. */
/** A card whose refunds complete five seconds later. */
const REFUNDED_LATER = '4000000000007726';

async function pull(
  path: string,
  input: unknown = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${app.url}/simulator/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: app.url, ...headers },
    body: JSON.stringify(input),
  });
  const body = await response.json();
  await app.work.settled();
  return { status: response.status, body };
}

async function state(query = '') {
  const response = await fetch(`${app.url}/simulator/state${query}`);
  return { status: response.status, body: await response.json() };
}

async function payOut(destination = 'demora@psa.example', client: GraphQLClient = app.live): Promise<string> {
  const { requestPayout } = await client.request(
    `mutation ($destination: String!, $key: String!) {
      requestPayout(input: { method: PIX, amountCents: 5000, destination: $destination, idempotencyKey: $key }) {
        ... on RequestPayoutSuccess { payout { withdrawalId } }
        ... on UserError { message }
      }
    }`,
    { destination, key: newKey() },
  );
  await app.work.settled();
  return requestPayout.payout.withdrawalId;
}

async function payoutOf(withdrawalId: string) {
  const { payout } = await app.live.request(
    'query ($id: String!) { payout(withdrawalId: $id) { status deniedReason } }',
    { id: withdrawalId },
  );
  return payout;
}

async function walletOf(client: GraphQLClient = app.live) {
  const { wallet } = await client.request(
    '{ wallet { balanceCents withdrawableCents disputeBlockedCents pendingReleaseCents cryptoBalanceLtc } }',
  );
  return wallet;
}

async function sellPaid(number = '4242424242424242'): Promise<string> {
  const { createCardPayment } = await app.live.request(
    'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
  );
  const { orderCode } = createCardPayment.cardPayment;
  const card = {
    number,
    holder: 'Maria',
    expiryMonth: 12,
    expiryYear: 2029,
    securityCode: '123',
  };
  await app.cardPayments.pay(orderCode, card);
  return orderCode;
}

describe('who may use the controls', () => {
  test.each([
    ['a page of another site', { origin: 'https://loja.example' }],
    ['a page of another program on this machine', { origin: 'http://localhost:1' }],
    ['a page that hides its origin', { origin: 'null' }],
    ['a foreign name that leads here', { host: 'loja.example' }],
  ])('The controls are refused to %s', async (_, headers) => {
    const before = await walletOf();

    const refused = await rawPost('/simulator/credit', {
      origin: `http://127.0.0.1:${app.port}`,
      ...headers,
    });

    expect(refused).toBe(403);
    expect(await walletOf()).toEqual(before);
  });

  test('The controls are refused to a program without the headers of a page', async () => {
    expect(await rawPost('/simulator/credit', {})).toBe(403);
    expect(await rawPost('/simulator/credit', { 'x-psa-action': '1' })).toBe(200);
  });

  test('The controls are refused to a form', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await pull('credit', { amountCents: 1 }, headers)).status).toBe(400);
  });

  test('The state is refused to a page of another host', async () => {
    const response = await rawGet('/simulator/state', { host: 'loja.example' });
    expect(response).toBe(403);
    expect(await rawGet('/simulator/', { host: 'loja.example' })).toBe(403);
  });

  test('The simulator does not exist without the demo', async () => {
    const closed = await startApp({ environment: { PSA_DEMO: 'off' } });
    try {
      const answers = await Promise.all(
        ['/simulator/', '/simulator/state', '/demo/dashboard', '/demo/account.json'].map((path) =>
          fetch(`${closed.url}${path}`),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    } finally {
      await closed.close();
    }
  });
});

describe('credits', () => {
  test('Credits add to the wallet, in reais and in LTC', async () => {
    const before = await walletOf();

    const { status, body } = await pull('credit', { amountCents: 100_000 });
    await pull('credit', { litoshi: 50_000_000 });

    expect(status).toBe(200);
    expect(body.withdrawableCents).toBe(before.withdrawableCents + 100_000);
    const after = await walletOf();
    expect(after.balanceCents).toBe(before.balanceCents + 100_000);
    expect(Number(after.cryptoBalanceLtc)).toBe(Number(before.cryptoBalanceLtc) + 0.5);
  });

  test('Credits go to the named account and environment', async () => {
    const account = await addAccount(app);
    const other = app.client(await addKey(app, { accountId: account }));

    await pull('credit', { account, amountCents: 700 });

    expect((await walletOf(other)).balanceCents).toBe(700);
    const { body } = await state(`?account=${account}`);
    expect(body.tenant).toEqual({ accountId: account, environment: 'live' });
    expect(body.accounts.map(({ name }: { name: string }) => name)).toEqual(['Varanda', 'Outra Loja']);
  });

  test.each([
    ['nothing', {}, 'amountCents'],
    ['both', { amountCents: 1, litoshi: 1 }, 'amountCents'],
    ['nought', { amountCents: 0 }, 'amountCents'],
    ['a fraction', { amountCents: 1.5 }, 'amountCents'],
    ['a text', { amountCents: '100' }, 'amountCents'],
    ['too much', { amountCents: 1_000_000_001 }, 'amountCents'],
    ['an environment that is none', { amountCents: 1, environment: 'moon' }, 'environment'],
  ])('A refused credit names the wrong field: %s', async (_, input, path) => {
    const { status, body } = await pull('credit', input);

    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ path }] });
  });

  test('Credits are refused for the sandbox and for an unknown account', async () => {
    expect((await pull('credit', { amountCents: 1, environment: 'sandbox' })).status).toBe(403);
    expect((await pull('credit', { amountCents: 1, account: 'acc_none' })).status).toBe(404);
    expect((await state('?account=acc_none')).status).toBe(404);
    expect((await state('?environment=moon')).status).toBe(400);
  });
});

describe('transfers', () => {
  beforeEach(() => pull('credit', { amountCents: 100_000 }));

  test('Unfinished transfers are listed with a masked destination', async () => {
    const id = await payOut();

    const { body } = await state();

    expect(body.transfers).toContainEqual(
      expect.objectContaining({ id, destination: 'd***@psa.example', amountCents: 4_900, status: 'queued' }),
    );
    await pull(`transfers/${id}/settle`);
  });

  test('A transfer is completed at once, and is no longer listed', async () => {
    const id = await payOut();

    expect((await pull(`transfers/${id}/settle`)).status).toBe(200);

    expect(await payoutOf(id)).toMatchObject({ status: 'COMPLETED' });
    expect((await state()).body.transfers).not.toContainEqual(expect.objectContaining({ id }));
    expect((await pull(`transfers/${id}/deny`)).status).toBe(409);
  });

  test('A transfer is denied with a reason, and the amount returns', async () => {
    const before = await walletOf();
    const id = await payOut();
    expect((await walletOf()).balanceCents).toBe(before.balanceCents - 5_000);

    await pull(`transfers/${id}/deny`, { reason: 'Conta encerrada' });

    expect(await payoutOf(id)).toEqual({ status: 'DENIED', deniedReason: 'Conta encerrada' });
    expect(await walletOf()).toEqual(before);
  });

  test('A payout by PIX that has arrived is sent back: its whole amount returns, and once', async () => {
    const before = await walletOf();
    const id = await payOut();
    expect((await pull(`transfers/${id}/return`)).status).toBe(409);
    await pull(`transfers/${id}/settle`);
    await app.work.settled();
    expect(await payoutOf(id)).toMatchObject({ status: 'COMPLETED' });
    expect((await state()).body.returnableTransfers).toContainEqual(expect.objectContaining({ id }));

    expect((await pull(`transfers/${id}/return`)).status).toBe(200);
    await app.work.settled();
    expect(await payoutOf(id)).toMatchObject({ status: 'RETURNED' });
    expect(await walletOf()).toEqual(before);
    expect((await pull(`transfers/${id}/return`)).status).toBe(409);
    expect((await pull(`transfers/${id}/return`, { environment: 'sandbox' })).status).toBe(409);
    expect((await state()).body.returnableTransfers).not.toContainEqual(expect.objectContaining({ id }));
  });

  test.each(['com \u0000', 'meio \ud83e'])(
    'A transfer is not denied for %j, which no database stores',
    async (reason) => {
      const id = await payOut();
      const refused = await pull(`transfers/${id}/deny`, { reason });
      expect(refused.status).toBe(400);
      expect(refused.body.fields).toEqual([{ path: 'reason', message: expect.stringContaining('U+0000') }]);
      expect(await payoutOf(id)).toMatchObject({ status: 'PENDING' });
      await pull(`transfers/${id}/settle`);
    },
  );

  test('A transfer is postponed', async () => {
    const id = await payOut();

    await pull(`transfers/${id}/delay`, { seconds: 3_600 });
    // An earlier instant does not move it forward, and the same one changes nothing.
    for (const seconds of [60, 3_600])
      expect(await pull(`transfers/${id}/delay`, { seconds })).toMatchObject({
        status: 409,
        body: { error: 'This transfer has ended already, or ends at that time or later' },
      });
    app.clock.advance(30 * 60_000);
    await app.work.settled();
    expect(await payoutOf(id)).toMatchObject({ status: 'PENDING' });

    app.clock.advance(31 * 60_000);
    await app.work.settled();
    expect(await payoutOf(id)).toMatchObject({ status: 'COMPLETED' });
  });

  test('Transfers of subaccounts are completed and denied as well', async () => {
    const { createSubaccount } = await app.live.request(
      'mutation { createSubaccount(input: { name: "Ateliê" }) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } } }',
    );
    const { subaccountId } = createSubaccount.subaccount;
    await app.live.request(
      'mutation ($id: String!) { transferToSubaccount(input: { subaccountId: $id, amountCents: 20000, idempotencyKey: $id }) { __typename } }',
      { id: subaccountId },
    );
    const request = async () => {
      await app.live.request(
        `mutation ($id: String!, $key: String!) {
          requestSubaccountPayout(input: { subaccountId: $id, amountCents: 5000, pixKey: "demora@psa.example", idempotencyKey: $key }) { __typename }
        }`,
        { id: subaccountId, key: newKey() },
      );
      await app.work.settled();
      return (await state()).body.transfers[0].id;
    };

    await pull(`transfers/${await request()}/settle`);
    await pull(`transfers/${await request()}/deny`);

    const { subaccount } = await app.live.request(
      'query ($id: String!) { subaccount(subaccountId: $id) { payouts { nodes { status } } } }',
      { id: subaccountId },
    );
    expect(subaccount.payouts.nodes).toEqual([{ status: 'FAILED' }, { status: 'COMPLETED' }]);
  });

  test('Transfers that do not exist or are another account’s are not found', async () => {
    const id = await payOut();
    const account = await addAccount(app);

    expect((await pull('transfers/nothing/settle')).status).toBe(404);
    expect((await pull(`transfers/${id}/settle`, { account })).status).toBe(404);
    expect((await pull(`transfers/${id}/delay`, { seconds: 0 })).body.fields).toMatchObject([
      { path: 'seconds' },
    ]);
    expect((await pull(`transfers/${id}/deny`, { environment: 'sandbox' })).status).toBe(409);
    await pull(`transfers/${id}/settle`);
  });
});

describe('what waits behind much that is newer', () => {
  test('A transfer is listed and completed behind a thousand newer ones that have ended or are others’', async () => {
    await pull('credit', { amountCents: 100_000 });
    const id = await payOut();
    await sql`
      insert into simulated_transfer
        (id, account_id, environment, method, destination, amount_cents, received_at, settles_at, outcome)
      select
        id || '-' || n, case when n % 2 = 0 then account_id else 'acc_other' end, environment, method, destination,
        amount_cents, received_at, case when n % 2 = 0 then received_at else settles_at end, outcome
      from simulated_transfer, generate_series(1, 1000) n where id = ${id}
    `.execute(app.database.sql);

    const { transfers } = (await state()).body;
    expect(transfers).toContainEqual(expect.objectContaining({ id }));
    expect(transfers.filter((line: { id: string }) => line.id.startsWith(`${id}-`))).toEqual([]);
    expect((await pull(`transfers/${id}/settle`)).status).toBe(200);
    expect((await pull(`transfers/${id}-1/settle`)).status).toBe(404);
    expect((await pull('transfers/%00/settle')).status).toBe(404);
  });

  test('An open dispute is listed behind fifty newer ones that were won', async () => {
    await pull('credit', { amountCents: 10_000 });
    const { id } = (await pull('disputes', { amountCents: 3_000 })).body;
    await sql`
      insert into dispute
        (account_id, environment, id, version, amount_cents, reason, status, evidence, evidence_due_at, created_at, closed_at)
      select
        account_id, environment, id || '-' || n, version, amount_cents, reason, 'won', evidence, evidence_due_at,
        created_at, created_at
      from dispute, generate_series(1, 50) n where id = ${id}
    `.execute(app.database.sql);

    expect((await state()).body.disputes).toMatchObject([{ id, status: 'open' }]);
    await pull(`disputes/${id}/close`, { outcome: 'won' });
  });

  test('A pending test payment is listed behind fifty newer ones that are paid', async () => {
    await app.sandbox.request(
      'mutation { createTestPayment(input: { valueCents: 700, pending: true }) { __typename } }',
    );
    const [{ id }] = (await state('?environment=sandbox')).body.testPayments;
    await sql`
      insert into test_payment (account_id, environment, id, value_cents, status, created_at, paid_at)
      select account_id, environment, id || '-' || n, value_cents, 'paid', created_at, created_at
      from test_payment, generate_series(1, 50) n where id = ${id}
    `.execute(app.database.sql);

    expect((await state('?environment=sandbox')).body.testPayments).toMatchObject([{ id }]);
    expect((await pull(`test-payments/${id}/settle`, { environment: 'sandbox' })).status).toBe(200);
    expect((await pull(`test-payments/${id}/settle`, { environment: 'sandbox' })).status).toBe(409);
  });

  test('The hundred and first account is there as well', async () => {
    for (let more = 0; more < 100; more += 1) await addAccount(app);
    const account = await addAccount(app);
    expect((await pull('credit', { account, amountCents: 100 })).status).toBe(200);
    expect((await state()).body.accounts.length).toBeGreaterThan(100);
  });
});

describe('card payments', () => {
  test('A paid card payment is refunded once', async () => {
    const orderCode = await sellPaid();
    expect((await state()).body.cardPayments[0]).toMatchObject({ orderCode, amountCents: 4_990 });

    expect((await pull(`card-payments/${orderCode}/refund`)).status).toBe(200);

    const { cardPayment } = await app.live.request(
      'query ($c: String!) { cardPayment(orderCode: $c) { status } }',
      {
        c: orderCode,
      },
    );
    expect(cardPayment.status).toBe('REFUNDED');
    expect((await pull(`card-payments/${orderCode}/refund`)).status).toBe(409);
    expect((await pull('card-payments/PSC-NONE/refund')).status).toBe(404);
  });

  test('A card payment that is refunded by two requests at once is refunded once', async () => {
    for (let round = 0; round < 3; round += 1) {
      const orderCode = await sellPaid();
      const refunds = await Promise.all([1, 2, 3].map(() => pull(`card-payments/${orderCode}/refund`)));
      expect(refunds.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    }
  });

  test('A card payment whose refund is under way is not refunded again', async () => {
    // This card's refunds complete five seconds later.
    const orderCode = await sellPaid('4000000000007726');
    expect((await pull(`card-payments/${orderCode}/refund`)).status).toBe(200);
    expect((await pull(`card-payments/${orderCode}/refund`)).status).toBe(409);
  });
});

describe('PIX payments', () => {
  async function charge(input: object = {}, client: GraphQLClient = app.live) {
    const { createPayment } = await client.request(
      `mutation ($input: CreatePaymentInput!) {
        createPayment(input: $input) { ... on CreatePaymentSuccess { payment { paymentId pix { copyPaste } } } }
      }`,
      { input: { valueCents: 4990, ...input } },
    );
    const { paymentId, pix } = createPayment.payment;
    return { id: paymentId as string, copyPaste: pix.copyPaste as string };
  }
  const lineOf = async (id: string, query = '') =>
    (await state(query)).body.pixPayments.find((line: { id: string }) => line.id === id);

  test('A PIX payment is paid by its code or its id, again, by another amount, and late', async () => {
    const { id, copyPaste } = await charge({ customer: { name: 'Ana' }, description: 'Rede' });
    expect(await lineOf(id)).toMatchObject({
      status: 'pending',
      amountCents: 4990,
      description: 'Rede',
      payer: 'Ana',
      copyPaste,
      returnedCredits: [],
      refusesReturns: false,
    });
    const other = await pull('pix/pay', { id, amountCents: 4991 });
    expect(other).toMatchObject({ status: 201, body: { id, amountCents: 4991, cause: 'amount_mismatch' } });
    const before = await walletOf();
    const paid = await pull('pix/pay', { copyPaste: ` ${copyPaste}\n` });
    expect(paid).toMatchObject({ status: 201, body: { id, amountCents: 4990, cause: null } });
    expect((await walletOf()).balanceCents).toBe(before.balanceCents + 4990);
    // The bank reports one PIX twice.
    const { endToEndId } = paid.body;
    expect((await pull('pix/pay', { copyPaste, endToEndId })).body).toEqual(paid.body);
    expect((await pull('pix/pay', { id })).body.cause).toBe('already_paid');
    const { returnedCredits, status } = await lineOf(id);
    expect([status, ...returnedCredits.map(({ cause }: { cause: string }) => cause)]).toEqual([
      ...['paid', 'amount_mismatch', 'already_paid'],
    ]);
    expect(returnedCredits.every(({ returnedAt }: { returnedAt: string }) => returnedAt !== null)).toBe(true);
    expect((await walletOf()).balanceCents).toBe(before.balanceCents + 4990);

    const late = await charge();
    await pull('clock', { seconds: 1_801 });
    expect(await lineOf(late.id)).toMatchObject({ status: 'expired', copyPaste: late.copyPaste });
    expect((await pull('pix/pay', { id: late.id })).body.cause).toBeNull();
    expect(await lineOf(late.id)).toMatchObject({ status: 'paid', paidLate: true });
    const elsewhere = await pull('pix/pay', { copyPaste: (await charge()).copyPaste, endToEndId });
    expect(elsewhere.body.fields).toEqual([
      { path: 'endToEndId', message: expect.stringContaining('another') },
    ]);
  });

  async function requestRefund(id: string) {
    const { refundPayment } = await app.live.request(
      'mutation ($id: String!, $key: String!) { refundPayment(input: { paymentId: $id, amountCents: 990, idempotencyKey: $key }) { ... on RefundPaymentSuccess { refund { refundId } } } }',
      { id, key: newKey() },
    );
    await app.work.settled();
    return refundPayment.refund.refundId as string;
  }
  const statusOf = async (refundId: string) =>
    (await app.live.request(`{ refund(refundId: "${refundId}") { status } }`)).refund.status;

  test('The bank refuses the returns of a payment, and accepts them again', async () => {
    const { id } = await charge();
    await pull('pix/pay', { id });
    const refund = async () => statusOf(await requestRefund(id));
    expect((await pull('pix/returns', { id, returns: 'refused' })).status).toBe(200);
    expect([(await lineOf(id)).refusesReturns, await refund()]).toEqual([true, 'FAILED']);
    await pull('pix/returns', { id, returns: 'accepted' });
    expect([(await lineOf(id)).refusesReturns, await refund()]).toEqual([false, 'COMPLETED']);
    expect(await lineOf(id)).toMatchObject({ status: 'paid', refundedCents: 990 });
    expect((await pull('pix/returns', { id, returns: 'lost' })).body.fields).toMatchObject([
      { path: 'returns' },
    ]);
  });

  test('A bank that completes returns later still completes those under way once it refuses new ones', async () => {
    const { id } = await charge({ customer: { email: 'devolve-depois@psa.example' } });
    await pull('pix/pay', { id });
    const [first, second] = [await requestRefund(id), await requestRefund(id)];
    expect((await pull('pix/returns', { id, returns: 'refused' })).status).toBe(200);
    const refused = await requestRefund(id);
    await pull('pix/returns', { id, returns: 'accepted' });
    const third = await requestRefund(id);
    const statuses = () => Promise.all([first, second, refused, third].map(statusOf));
    expect(await statuses()).toEqual(['PROCESSING', 'PROCESSING', 'FAILED', 'PROCESSING']);
    await pull('clock', { seconds: 5 });
    expect(await statuses()).toEqual(['COMPLETED', 'COMPLETED', 'FAILED', 'COMPLETED']);
  });

  test('A PIX names the wrong field, and pays no other account’s payment by its id', async () => {
    const { id, copyPaste } = await charge({}, app.sandbox);
    const foreign = brCode({
      url: 'pix.banco.example/v2/0c7d1a5b',
      amountCents: 4990,
      merchantName: 'Loja',
      merchantCity: 'RECIFE',
    });
    const wrong: [object, string, string][] = [
      [{}, 'copyPaste', 'not both'],
      [{ id, copyPaste }, 'copyPaste', 'not both'],
      [{ copyPaste: copyPaste.slice(0, -1) }, 'copyPaste', 'CRC'],
      [{ copyPaste: copyPaste.replace('49.90', '49.91') }, 'copyPaste', 'CRC'],
      [{ copyPaste: foreign }, 'copyPaste', 'another bank'],
      [{ copyPaste: 7 }, 'copyPaste', 'PIX code'],
      [{ id: 'psa_1' }, 'id', '32 hex'],
      [{ id, amountCents: 0 }, 'amountCents', 'at least 1'],
      [{ id, amountCents: 1.5 }, 'amountCents', 'whole number'],
      [{ id, endToEndId: 'E1' }, 'endToEndId', '20 digits'],
      [{ id, environment: 'moon' }, 'environment', 'sandbox'],
    ];
    for (const [input, path, message] of wrong)
      expect(await pull('pix/pay', input)).toMatchObject({
        status: 400,
        body: { code: 'BAD_USER_INPUT', fields: [{ path, message: expect.stringContaining(message) }] },
      });
    expect((await pull('pix/pay', { id })).status).toBe(404);
    expect((await pull('pix/returns', { id, returns: 'refused' })).status).toBe(404);
    const unknown = brCode({
      url: `pix.psa.invalid/v2/${'0'.repeat(32)}`,
      amountCents: 4990,
      merchantName: 'Loja',
      merchantCity: 'RECIFE',
    });
    expect((await pull('pix/pay', { copyPaste: unknown })).status).toBe(404);
    // A payer's bank knows only the code, and pays a test payment, too.
    expect((await pull('pix/pay', { copyPaste })).body).toMatchObject({ id, cause: null });
    expect(await lineOf(id, '?environment=sandbox')).toMatchObject({ status: 'paid' });
    expect(await lineOf(id)).toBeUndefined();
    const { body } = await app.live.send(
      'mutation { createPayment(input: { valueCents: 1, customer: { email: "sem-codigo@psa.example" } }) { __typename } }',
    );
    expect(body.data.createPayment.__typename).toBe('UpstreamError');
    const [refused] = (await state()).body.pixPayments;
    expect(refused).toMatchObject({ status: 'failed', copyPaste: null });
    expect((await pull('pix/pay', { id: refused.id })).status).toBe(409);
  });
});

describe('the bank of a subscription’s payer', () => {
  const create = async () => {
    const { createSubscription } = await app.live.request(
      'mutation { createSubscription(input: { valueCents: 4990, interval: MONTHLY }) { ... on CreateSubscriptionSuccess { subscription { subscriptionId } } } }',
    );
    return createSubscription.subscription.subscriptionId as string;
  };
  const line = async (id: string) =>
    (await state()).body.subscriptions.find((each: { id: string }) => each.id === id);
  const step = (id: string, name: string) => pull(`subscriptions/${id}/${name}`, {});

  test('A payer authorises a subscription, and its bank pays, refuses and cancels', async () => {
    const id = await create();
    expect(await line(id)).toMatchObject({
      status: 'pending',
      amountCents: 4990,
      interval: 'monthly',
      isAuthorisable: true,
      cycle: null,
    });
    expect((await step(id, 'cancel')).status).toBe(409);
    expect((await step(id, 'authorise')).status).toBe(200);
    expect(await line(id)).toMatchObject({ status: 'active', cycle: { number: 2, status: 'scheduled' } });
    expect((await step(id, 'authorise')).status).toBe(409);
    expect((await step(id, 'fail')).status).toBe(200);
    expect(await line(id)).toMatchObject({ status: 'past_due', cycle: { status: 'retrying', attempts: 1 } });
    expect((await step(id, 'debit')).status).toBe(200);
    expect(await line(id)).toMatchObject({ status: 'active', cycle: { number: 3, status: 'scheduled' } });
    expect((await step(id, 'cancel')).status).toBe(200);
    expect(await line(id)).toMatchObject({ status: 'canceled', isAuthorisable: false });
    for (const name of ['debit', 'fail', 'cancel', 'reject']) expect((await step(id, name)).status).toBe(409);
  });

  test('A payer rejects a subscription, and nobody plays one that is not there', async () => {
    const id = await create();
    expect((await step(id, 'reject')).status).toBe(200);
    expect(await line(id)).toMatchObject({ status: 'canceled' });
    expect((await step(`psa_sub_${'0'.repeat(32)}`, 'authorise')).status).toBe(404);
  });
});

describe('disputes', () => {
  test('A dispute blocks an amount until it is won, or lost and forgiven', async () => {
    await pull('credit', { amountCents: 10_000 });
    const before = await walletOf();

    const first = await pull('disputes', { amountCents: 3_000 });
    const second = await pull('disputes', { amountCents: 2_000 });
    expect(first).toMatchObject({ status: 201, body: { amountCents: 3_000, status: 'open' } });
    expect((await walletOf()).withdrawableCents).toBe(before.withdrawableCents - 5_000);

    await pull(`disputes/${first.body.id}/close`, { outcome: 'won' });
    await pull(`disputes/${second.body.id}/close`, { outcome: 'lost' });
    expect((await walletOf()).disputeBlockedCents).toBe(before.disputeBlockedCents + 2_000);
    expect((await state()).body.disputes).toMatchObject([{ id: second.body.id, status: 'lost' }]);

    await pull(`disputes/${second.body.id}/close`, { outcome: 'forgiven' });
    expect(await walletOf()).toEqual(before);
  });

  test('A dispute is closed with a known outcome only', async () => {
    const { body } = await pull('disputes', { amountCents: 1 });

    expect((await pull(`disputes/${body.id}/close`, { outcome: 'forgiven' })).status).toBe(400);
    expect((await pull(`disputes/${body.id}/close`, { outcome: 'drawn' })).body.fields).toMatchObject([
      { path: 'outcome' },
    ]);
    expect((await pull('disputes/dsp_none/close', { outcome: 'won' })).status).toBe(404);
    await pull(`disputes/${body.id}/close`, { outcome: 'won' });
  });
});

describe('disputes of payments', () => {
  test('The largest payment is disputed as a whole', async () => {
    const valueCents = 10_000_000_000;
    const { createCardPayment } = await app.live.request(
      'mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
      { input: { valueCents } },
    );
    const { orderCode: id } = createCardPayment.cardPayment;
    await app.cardPayments.pay(id, approved());
    const { status, body } = await pull('disputes', { id, amountCents: valueCents });
    expect([status, body]).toMatchObject([201, { amountCents: valueCents, resourceId: id }]);
    await pull(`disputes/${body.id}/close`, { outcome: 'won' });
  });

  test('A paid payment is disputed by its id, for what can be refunded, and then nothing of it is left', async () => {
    const { createCardPayment } = await app.live.request(
      'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
    );
    const { orderCode: id } = createCardPayment.cardPayment;
    expect((await pull('disputes', { id, amountCents: 4_990 })).status).toBe(409);
    await app.cardPayments.pay(id, approved());
    const { status, body } = await pull('disputes', { id, amountCents: 9_999, reason: 'operational_error' });
    expect([status, body]).toMatchObject([
      201,
      { amountCents: 4_990, status: 'open', resourceId: id, evidence: 0 },
    ]);
    expect((await pull('disputes', { id, amountCents: 1 })).status).toBe(409);
    expect((await pull('disputes', { id: `psa_${'0'.repeat(32)}`, amountCents: 1 })).status).toBe(404);
    expect((await pull('disputes', { id, amountCents: 1, reason: 'none' })).body.fields).toMatchObject([
      { path: 'reason' },
    ]);
    expect((await pull('disputes', { id })).body.fields).toEqual([
      { path: 'amountCents', message: 'is required' },
    ]);
    await pull(`disputes/${body.id}/close`, { outcome: 'won' });
  });

  test('A claim on what a refund holds waits for its end: the answer says so, and a second click adds none', async () => {
    const id = await sellPaid(REFUNDED_LATER);
    await pull(`card-payments/${id}/refund`);
    for (let click = 0; click < 2; click += 1)
      expect(await pull('disputes', { id, amountCents: 4_990 })).toEqual({
        status: 202,
        body: { waits: true },
      });
    const claims = database.sql
      .selectFrom('dispute_shortfall')
      .select('claims')
      .where('resource_id', '=', id);
    expect((await claims.executeTakeFirstOrThrow()).claims).toHaveLength(1);
    app.clock.advance(5_000);
    await app.work.settled();
    expect((await pull('disputes', { id, amountCents: 4_990 })).status).toBe(409);
  });

  test('A member that a control does not know is refused by its name, and nothing is done', async () => {
    for (const [path, input] of [
      ['ltc/ltc1qnobody', { litoshis: 5 }],
      ['credit', { amountCents: 5, amount: 5 }],
      ['pix/pay', { id: `psa_${'0'.repeat(32)}`, valueCents: 5 }],
      ['clock', { seconds: 1, minutes: 1 }],
      ['disputes', { amountCents: 5, ID: 'x' }],
    ] as const)
      expect(await pull(path, input)).toMatchObject({
        status: 400,
        body: { fields: [{ path: Object.keys(input).at(-1)!, message: expect.stringContaining('unknown') }] },
      });
  });

  test('An address of LTC that nobody has is not found, whatever its characters are', async () => {
    for (const address of ['ltc1qnobody', 'a%00b'])
      for (const input of [{}, { blocks: 1 }])
        expect(await pull(`ltc/${address}`, input)).toMatchObject({
          status: 404,
          body: { code: 'NOT_FOUND' },
        });
  });

  test('A payment by LTC is not disputed: the answer is a conflict, and nothing is blocked', async () => {
    const { createPayment } = await app.live.request(
      `mutation { createPayment(input: { valueCents: 4990, method: LTC }) {
        ... on CreatePaymentSuccess { payment { paymentId ltc { address } } } } }`,
    );
    const { paymentId: id, ltc } = createPayment.payment;
    expect((await pull(`ltc/${ltc.address}`, { confirmations: 2 })).status).toBe(201);
    expect(
      await app.live.request('query ($id: String!) { payment(paymentId: $id) { status } }', { id }),
    ).toEqual({
      payment: { status: 'PAID' },
    });
    const before = [await walletOf(), (await state()).body.disputes];
    expect(await pull('disputes', { id, amountCents: 1 })).toMatchObject({
      status: 409,
      body: { error: 'Nothing of this payment can be claimed back' },
    });
    expect([await walletOf(), (await state()).body.disputes]).toEqual(before);
  });
});

describe('test payments', () => {
  test('A test payment of the sandbox is marked as paid once', async () => {
    await app.sandbox.request(
      'mutation { createTestPayment(input: { valueCents: 900, pending: true }) { __typename } }',
    );
    const { body } = await state('?environment=sandbox');
    const { id } = body.testPayments[0];
    const before = await walletOf(app.sandbox);
    expect(before).toMatchObject({ pendingReleaseCents: 900 });

    expect((await pull(`test-payments/${id}/settle`, { environment: 'sandbox' })).status).toBe(200);

    expect(await walletOf(app.sandbox)).toMatchObject({
      pendingReleaseCents: 0,
      balanceCents: before.balanceCents + 900,
    });
    expect((await pull(`test-payments/${id}/settle`, { environment: 'sandbox' })).status).toBe(409);
    expect((await pull('test-payments/none/settle', { environment: 'sandbox' })).status).toBe(404);
  });
});

describe('the clock', () => {
  test('The simulated clock advances, and tasks that fall due run', async () => {
    await pull('credit', { amountCents: 10_000 });
    const id = await payOut();
    const before = (await state()).body.clock;

    const { body } = await pull('clock', { seconds: 86_400 });

    expect(Date.parse(body.now) - Date.parse(before.now)).toBe(86_400_000);
    expect(body.offsetMs).toBe(before.offsetMs + 86_400_000);
    await app.work.settled();
    expect(await payoutOf(id)).toMatchObject({ status: 'COMPLETED' });
  });

  test('Webhooks are signed with the real clock, which their receivers compare with their own', async () => {
    const receiver = await startReceiver();
    const { configureWebhook } = await app.live.request(
      `mutation ($url: Url!) {
        configureWebhook(input: { url: $url }) { ... on ConfigureWebhookSuccess { secret } }
      }`,
      { url: receiver.url },
    );
    await pull('credit', { amountCents: 10_000 });
    await pull('clock', { seconds: 14 * 86_400 });

    await payOut('ana@psa.example');

    const [{ headers, body }] = receiver.received as [Received];
    expect(Number(headers['webhook-timestamp'])).toBe(Math.floor(app.clock.now().getTime() / 1_000));
    vi.useFakeTimers({ toFake: ['Date'], now: app.clock.now() });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    expect(
      new Webhook(configureWebhook.secret).verify(body, headers as Record<string, string>),
    ).toMatchObject({ event: 'withdrawal.requested' });
  });

  test('The simulated clock ends no attempt of a webhook that is under way', async () => {
    const held = deferred<ServerResponse>();
    const receiver = await startReceiver((response) => {
      receiver.answer = (later) => later.end();
      held.resolve(response);
    });
    await app.live.request(
      'mutation ($url: Url!) { configureWebhook(input: { url: $url }) { __typename } }',
      { url: receiver.url },
    );
    await app.live.request(
      'mutation ($key: String!) { requestPayout(input: { method: PIX, amountCents: 5000, destination: "demora@psa.example", idempotencyKey: $key }) { __typename } }',
      { key: newKey() },
    );
    const response = await held.promise;
    await fetch(`${app.url}/simulator/clock`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: app.url },
      body: JSON.stringify({ seconds: 6 }),
    });
    response.end();
    await app.work.settled();
    const { webhookDeliveries } = await app.live.request(
      '{ webhookDeliveries(first: 1) { nodes { status attempts { responseStatus error durationMs } } } }',
    );
    expect(webhookDeliveries.nodes).toEqual([
      { status: 'DELIVERED', attempts: [{ responseStatus: 200, error: null, durationMs: 0 }] },
    ]);
  });

  test('The simulated clock advances to the next due task', async () => {
    await pull('credit', { amountCents: 10_000 });
    const id = await payOut('ana@psa.example');
    const due = (await state()).body.clock.nextDueAt;

    const { body } = await pull('clock', { to: 'next' });

    expect(body.now).toBe(due);
    await app.work.settled();
    expect(await payoutOf(id)).toMatchObject({ status: 'COMPLETED' });
  });

  test('The simulated clock advances by whole seconds alone', async () => {
    for (const input of [
      {},
      { seconds: -1 },
      { seconds: 0.5 },
      { seconds: 1, to: 'next' },
      { to: 'yesterday' },
    ])
      expect((await pull('clock', input)).status).toBe(400);
  });

  test('The simulated clock keeps its offset after a restart', async () => {
    const clock = createManualClock();
    const database = await openFreshDatabase(clock);
    const kept = { ...database, close: async () => undefined };
    const first = await startApp({ database: kept, clock });
    await fetch(`${first.url}/simulator/clock`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-psa-action': '1' },
      body: '{"seconds":3600}',
    });
    await first.close();

    const second = await startApp({ database: kept, clock });
    const response = await fetch(`${second.url}/simulator/state`);
    const answer = await response.json();
    await second.close();
    await database.close();

    const now = new Date(clock.now().getTime() + 3_600_000);
    expect(answer.clock).toMatchObject({ offsetMs: 3_600_000, now: now.toISOString() });
    expect(response.headers.get('date')).toBe(now.toUTCString());
  });
});

/**
 * Posts with these headers: fetch would set Host and Origin itself, and a page of another host differs in exactly
 * these.
 */
async function rawPost(path: string, headers: Record<string, string>): Promise<number> {
  return raw('POST', path, { 'content-type': 'application/json', ...headers }, '{"amountCents":1}');
}
function rawGet(path: string, headers: Record<string, string>): Promise<number> {
  return raw('GET', path, headers);
}
function raw(method: string, path: string, headers: Record<string, string>, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`http://127.0.0.1:${app.port}${path}`, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
