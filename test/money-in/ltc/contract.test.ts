import { sql as raw } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { PaymentError, type PreconditionError, UpstreamError } from '../../../server/src/kernel/errors.ts';
import type { ReportedOutput } from '../../../server/src/money-in/ltc/decisions.ts';
import type { StoredPayment } from '../../../server/src/money-in/payments/model.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { describeRefusal } from '../../../server/src/programs/ops/operations.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { rulesOfPix } from '../../faults/audit.ts';
import { rulesOfLtc } from '../../faults/ltc-rules.ts';
import { type Core, startCore, startTwoCores } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { readAfter } from '../../support/events.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const SESSION = 30 * MINUTE;
const DAY = 24 * 60 * MINUTE;
/** R$ 49,90 at the simulated bank's price of R$ 612,34, rounded up. */
const ASKED = 8_149_068;

describeOnDatabase('payments by LTC', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('A payment has an address of its own, its quote, and 30 minutes', async () => {
    const core = await startCore({ database });
    const [first, second] = [await create(core), await create(core, { valueCents: 100_000 })];
    expect(first).toMatchObject({
      status: 'pending',
      method: 'ltc',
      amountCents: 4_990,
      feeCents: 0,
      brCode: null,
      ltc: { litoshi: ASKED, receivedLitoshi: 0, confirmations: 0, requiredConfirmations: 2 },
      expiresAt: plusMs(core.clock.now(), SESSION),
    });
    expect(second.ltc?.requiredConfirmations).toBe(6);
    expect(first.ltc?.address).toMatch(/^rltc1[a-z0-9]{39}$/);
    expect(second.ltc?.address).not.toBe(first.ltc?.address);
    expect(await core.payments.find(core.tenant, first.paymentId)).toEqual(first);
    expect(await core.balances()).toEqual(NO_BALANCES);
  });

  test('Ten thousand outputs of one address are recorded, and a report writes those alone that have changed', async () => {
    const outputs: ReportedOutput[] = Array.from({ length: 10_000 }, (_, vout) => ({
      vout,
      litoshi: 1,
      confirmations: 0,
      seenAt: new Date('2026-03-02T12:00:00.000Z'),
      txid: '',
    }));
    let revision = 0;
    const core = await startCore({
      database,
      litecoin: (rail) => ({ ...rail, reportOf: async () => ({ revision, outputs }) }),
    });
    const { paymentId, ltc } = await create(core);
    for (const output of outputs) output.txid = txidFor(ltc!.address!);
    const report = async () => {
      revision += 1;
      await core.ltc.receive(core.tenant, paymentId);
    };
    /** The number of rows that each transaction has written, oldest first. */
    const written = async () => {
      const { rows } = await raw<{ count: number }>`
        select count(*)::integer as count from ltc_output where payment_id = ${paymentId}
        group by xmin::text::bigint order by xmin::text::bigint`.execute(database.sql);
      return rows.map(({ count }) => count);
    };
    await report();
    expect(await written()).toEqual([10_000]);
    outputs[7] = { ...outputs[7]!, confirmations: 1 };
    await report();
    await report();
    expect(await written()).toEqual([9_999, 1]);
    expect(await core.payments.find(core.tenant, paymentId)).toMatchObject({
      status: 'pending',
      ltc: { receivedLitoshi: 10_000 },
    });
    expect(core.faults).toEqual([]);
  });

  test('A payment is seen, confirmed and paid, and each change is announced once', async () => {
    const core = await startCore({ database });
    const { paymentId, ltc } = await create(core, { metadata: '{"pedido":7}' });
    const send = (confirmations: number) => core.litecoin.send(ltc!.address!, { ...output, confirmations });
    const output = { txid: 'a'.repeat(64), litoshi: ASKED };
    for (const confirmations of [0, 0, 1, 2, 3]) {
      await send(confirmations);
      await core.work.settled();
      await core.ltc.receive(core.tenant, paymentId);
    }
    expect(await core.payments.find(core.tenant, paymentId)).toMatchObject({
      status: 'paid',
      paidAt: core.clock.now(),
      paidLate: false,
      metadata: '{"pedido":7}',
      endToEndId: null,
      refundedCents: 0,
      ltc: { receivedLitoshi: ASKED, confirmations: 2 },
    });
    expect(await core.balances()).toEqual({ ...NO_BALANCES, merchant_ltc: ASKED, ltc_received: -ASKED });
    expect(await core.wallet.read(core.tenant)).toMatchObject({
      balanceCents: 0,
      withdrawableCents: 0,
      cryptoBalanceLitoshi: ASKED,
    });
    const { events } = await readAfter(database.sql, core.tenant, { after: 0, limit: 100 });
    const own = events.filter(({ resource }) => resource === 'payment');
    expect(
      own.map(({ kind, previousStatus, snapshot }) => {
        const { version, ltc: shown } = snapshot as StoredPayment;
        return [kind, previousStatus, version, shown!.receivedLitoshi, shown!.confirmations];
      }),
    ).toEqual([
      ['payment.pending', null, 2, 0, 0],
      ['payment.pending', 'pending', 3, ASKED, 0],
      ['payment.pending', 'pending', 4, ASKED, 1],
      ['payment.paid', 'pending', 5, ASKED, 2],
    ]);
    expect(core.faults).toEqual([]);
  });

  test('A payment that got a part of its amount fails, and the operator credits the part once', async () => {
    const core = await startCore({ database });
    const { paymentId, ltc } = await create(core);
    await core.litecoin.send(ltc!.address!, { litoshi: ASKED - 1, confirmations: 2 });
    await core.pass(SESSION);
    expect(await core.payments.find(core.tenant, paymentId)).toMatchObject({
      status: 'failed',
      failureReason: 'underpaid',
      paidAt: null,
    });
    expect(await core.balances()).toMatchObject({ merchant_ltc: 0, ltc_unmatched: ASKED - 1 });
    expect(await core.ltc.creditUnmatched(core.tenant, paymentId)).toBe(ASKED - 1);
    expect(await core.ltc.creditUnmatched(core.tenant, paymentId)).toBe(0);
    expect(await core.balances()).toMatchObject({ merchant_ltc: ASKED - 1, ltc_unmatched: 0 });
    await expect(core.ltc.creditUnmatched(core.tenant, `psa_${'0'.repeat(32)}`)).rejects.toThrow(
      'Payment not found',
    );
  });

  test('A payment that was seen in time is confirmed within a day, and one that was not expires', async () => {
    const core = await startCore({ database, follows: false });
    const [confirmed, stuck, empty] = [await create(core), await create(core), await create(core)];
    for (const { ltc } of [confirmed, stuck])
      await core.litecoin.send(ltc!.address!, {
        txid: txidFor(ltc!.address!),
        litoshi: ASKED,
        confirmations: 1,
      });
    await core.pass(SESSION);
    expect(await statusOf(core, empty)).toBe('expired');
    expect(await statusOf(core, confirmed)).toBe('pending');
    const { address } = confirmed.ltc!;
    await core.litecoin.send(address!, { txid: txidFor(address!), litoshi: ASKED, confirmations: 2 });
    await core.pass(DAY);
    expect(await core.payments.find(core.tenant, confirmed.paymentId)).toMatchObject({
      status: 'paid',
      paidLate: false,
    });
    expect(await statusOf(core, stuck)).toBe('expired');
    // Late money is the merchant's, too.
    await core.litecoin.send(empty.ltc!.address!, { litoshi: ASKED + 5, confirmations: 9 });
    await core.work.settled();
    expect(await core.payments.find(core.tenant, empty.paymentId)).toMatchObject({
      status: 'paid',
      paidLate: true,
    });
    expect((await core.balances()).merchant_ltc).toBe(2 * ASKED + 5);
    expect(core.faults).toEqual([]);
  });

  test('A reorganisation takes an output back until it has paid', async () => {
    const core = await startCore({ database });
    const { paymentId, ltc } = await create(core);
    const part = { txid: 'b'.repeat(64), litoshi: ASKED - 10, confirmations: 2 };
    await core.litecoin.send(ltc!.address!, part);
    await core.work.settled();
    expect((await core.balances()).ltc_unmatched).toBe(ASKED - 10);
    await core.litecoin.reorganise(ltc!.address!, part.txid);
    await core.work.settled();
    expect(await core.balances()).toEqual(NO_BALANCES);
    expect((await core.payments.find(core.tenant, paymentId))?.ltc?.receivedLitoshi).toBe(0);
    await core.litecoin.send(ltc!.address!, part);
    await core.litecoin.send(ltc!.address!, { litoshi: 10, confirmations: 2 });
    await core.work.settled();
    expect(await statusOf(core, { paymentId })).toBe('paid');
    await core.litecoin.reorganise(ltc!.address!, part.txid);
    await core.work.settled();
    expect(await statusOf(core, { paymentId })).toBe('paid');
    expect((await core.balances()).merchant_ltc).toBe(ASKED);
    expect(core.faults).toEqual([]);
  });

  test('A network that does not answer gives the address later, and asks for nothing twice', async () => {
    let isAway = true;
    const ids: string[] = [];
    const core = await startCore({
      database,
      litecoin: (simulated) => ({
        ...simulated,
        async addressFor(request) {
          ids.push(request.id);
          if (isAway) throw new Error('connection refused');
          return simulated.addressFor(request);
        },
      }),
    });
    const input = { valueCents: 4_990, method: 'ltc', idempotencyKey: 'pedido-7' } as const;
    const failure = await core.payments.create(core.tenant, input).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UpstreamError);
    expect(failure).toMatchObject({ retryable: true, moneyMayHaveMoved: false });
    const { lookupReference } = failure as UpstreamError;
    expect((await core.payments.find(core.tenant, lookupReference!))?.ltc?.address).toBeNull();
    isAway = false;
    await core.pass(10 * SECOND);
    const found = await core.payments.find(core.tenant, lookupReference!);
    expect(found?.ltc?.address).toMatch(/^rltc1/);
    expect(await core.payments.create(core.tenant, input)).toEqual({ payment: found, replayed: true });
    expect(new Set(ids)).toEqual(new Set([lookupReference]));
    expect((await core.payments.list(core.tenant, { end: 'first', limit: 5 })).items).toHaveLength(1);
  });

  test('A payment without a quote is not created, and one that was made is replayed without a quote', async () => {
    let isAway = false;
    const core = await startCore({
      database,
      bank: (simulated) => ({
        ...simulated,
        async quoteLitoshi(amountCents) {
          if (isAway) throw new Error('no price');
          return simulated.quoteLitoshi(amountCents);
        },
      }),
    });
    const input = { valueCents: 4_990, method: 'ltc', idempotencyKey: 'pedido-8' } as const;
    const { payment } = await core.payments.create(core.tenant, input);
    isAway = true;
    await expect(core.payments.create(core.tenant, { ...input, idempotencyKey: 'pedido-9' })).rejects.toThrow(
      'No quote for LTC',
    );
    expect(await core.payments.create(core.tenant, input)).toEqual({ payment, replayed: true });
    expect(await core.payments.count(core.tenant, {})).toBe(1);
  });

  test('A payment of a product is quoted by its price', async () => {
    const core = await startCore({ database });
    const product = await core.products.create(core.tenant, { name: 'Rede', priceCents: 4_990 });
    const payment = await create(core, { valueCents: null, productId: product.id });
    expect(payment).toMatchObject({ amountCents: 4_990, productId: product.id, ltc: { litoshi: ASKED } });
    await expect(create(core, { valueCents: null, productId: '0'.repeat(24) })).rejects.toThrow(
      'Product not found',
    );
  });

  test('There are no payments by LTC in sandbox, nor for an account that takes none', async () => {
    const core = await startCore({ database, account: { ltcEnabled: false } });
    const codeOf = (promise: Promise<unknown>) =>
      promise.catch((error: unknown) => error instanceof PaymentError && (error as PreconditionError).code);
    expect(await codeOf(create(core))).toBe('PAYMENTS_NOT_CONFIGURED');
    const sandbox = { ...core, tenant: { ...core.tenant, environment: 'sandbox' as const } };
    expect(await codeOf(create(sandbox))).toBe('NOT_IN_SANDBOX');
    // The key's method for PIX is unaffected.
    expect((await create(core, { method: 'pix' })).brCode).not.toBeNull();
  });

  test('A payment by LTC is never refunded', async () => {
    const core = await startCore({ database });
    const { paymentId, ltc } = await create(core);
    await core.litecoin.send(ltc!.address!, { litoshi: ASKED, confirmations: 2 });
    await core.work.settled();
    expect(await statusOf(core, { paymentId })).toBe('paid');
    const refund = core.refunds.request(core.tenant, { type: 'payment', id: paymentId }, {});
    await expect(refund).rejects.toMatchObject({ code: 'NOT_REFUNDABLE' });
    expect((await core.balances()).refunds_in_transit).toBe(0);
  });

  test('A payment by LTC is never disputed: no bank has sent it', async () => {
    const core = await startCore({ database });
    const { paymentId, ltc } = await create(core);
    const dispute = () =>
      core.controls.disputePayment(core.tenant, { type: 'payment', id: paymentId }, { amountCents: 4_990 });
    expect(await dispute()).toBeNull();
    await core.litecoin.send(ltc!.address!, { litoshi: ASKED, confirmations: 2 });
    await core.work.settled();
    const paid = await core.payments.find(core.tenant, paymentId);
    expect(paid).toMatchObject({ status: 'paid', amountCents: 4_990 });
    expect(await dispute()).toBeNull();
    expect(await core.disputes.count(core.tenant, {})).toBe(0);
    expect(await core.payments.find(core.tenant, paymentId)).toEqual(paid);
    expect(await core.balances()).toEqual({ ...NO_BALANCES, merchant_ltc: ASKED, ltc_received: -ASKED });
    // A PIX payment in the same state gets a dispute.
    const byPix = await create(core, { method: 'pix' });
    await payByPix(core, byPix.paymentId);
    const other = { type: 'payment', id: byPix.paymentId } as const;
    expect(await core.controls.disputePayment(core.tenant, other, { amountCents: 4_990 })).toMatchObject({
      status: 'open',
      amountCents: 4_990,
    });
  });

  test('Of an order one payment is kept: LTC that come second wait for the operator', async () => {
    const core = await startCore({ database });
    const order = { externalId: 'pedido 1042' };
    const [byPix, byLtc] = [await create(core, { ...order, method: 'pix' }), await create(core, order)];
    await payByPix(core, byPix.paymentId);
    await core.litecoin.send(byLtc.ltc!.address!, { litoshi: ASKED, confirmations: 2 });
    await core.work.settled();
    expect(await core.payments.find(core.tenant, byLtc.paymentId)).toMatchObject({
      status: 'failed',
      failureReason: 'paid_elsewhere',
      returned: false,
      keptPayment: byPix.paymentId,
    });
    expect((await core.balances()).ltc_unmatched).toBe(ASKED);

    const other = { externalId: 'pedido 1043' };
    const [late, first] = [await create(core, { ...other, method: 'pix' }), await create(core, other)];
    await core.litecoin.send(first.ltc!.address!, { litoshi: ASKED, confirmations: 2 });
    await core.work.settled();
    await payByPix(core, late.paymentId);
    expect(await statusOf(core, first)).toBe('paid');
    expect(await core.payments.find(core.tenant, late.paymentId)).toMatchObject({
      ...{ status: 'failed', failureReason: 'paid_elsewhere', returned: true },
      ...{ keptPayment: first.paymentId, paidAt: null, endToEndId: null },
      returnedCredits: [{ cause: 'paid_elsewhere' }],
    });
  });

  test('The operator finds the LTC of payments that have ended without them, and why they did', async () => {
    const core = await startCore({ database });
    const order = { externalId: 'pedido 1044' };
    const made = async (input: object = {}) => {
      core.clock.advance(SECOND);
      return create(core, input);
    };
    const [pix, expired, part, elsewhere, pending, late] = [
      await made({ ...order, method: 'pix' }),
      ...[await made(order), await made(), await made({ externalId: 'pedido 1045' })],
      ...[await made(), await made()],
    ];
    const other = await made({ externalId: 'pedido 1045', method: 'pix' });
    const send = async ({ ltc }: StoredPayment, litoshi: number) => {
      core.clock.advance(SECOND);
      await core.litecoin.send(ltc!.address!, { litoshi, confirmations: 2 });
      await core.work.settled();
    };
    const listed = async () => {
      const { payments } = await core.ltc.listUnmatchedLtc({});
      const own = payments.filter(({ accountId }) => accountId === core.tenant.accountId);
      return own.map(({ paymentId, status, reason, litoshi }) => [paymentId, status, reason, litoshi]);
    };
    await payByPix(core, pix!.paymentId);
    await payByPix(core, other.paymentId);
    await send(part!, ASKED - 1);
    await send(elsewhere!, ASKED);
    // The payment may still be paid in full.
    await send(pending!, 5);
    expect(await listed()).toEqual([[elsewhere!.paymentId, 'failed', 'paid_elsewhere', ASKED]]);
    await core.pass(SESSION);
    // The rest arrives after the payment has failed.
    await send(pending!, ASKED - 5);
    // Neither payment had received anything in time.
    await send(expired!, ASKED);
    await send(late!, 7);
    await send(late!, 8);
    expect(await listed()).toEqual([
      [part!.paymentId, 'failed', 'underpaid', ASKED - 1],
      [elsewhere!.paymentId, 'failed', 'paid_elsewhere', ASKED],
      [pending!.paymentId, 'failed', 'late', ASKED],
      [expired!.paymentId, 'failed', 'paid_elsewhere', ASKED],
      [late!.paymentId, 'expired', 'underpaid', 15],
    ]);
    expect((await core.balances()).ltc_unmatched).toBe(4 * ASKED + 14);
    const { payments } = await core.ltc.listUnmatchedLtc({});
    expect(payments.find(({ paymentId }) => paymentId === part!.paymentId)).toEqual({
      paymentId: part!.paymentId,
      accountId: core.tenant.accountId,
      status: 'failed',
      reason: 'underpaid',
      amountCents: 4_990,
      askedLitoshi: ASKED,
      litoshi: ASKED - 1,
      seenAt: expect.any(Date),
    });
    for (const [paymentId] of await listed()) await core.ltc.creditLtc({ id: paymentId as string });
    expect(await listed()).toEqual([]);
    // The credited output counts towards the amount.
    await send(part!, 1);
    await send(late!, 1);
    expect(await listed()).toEqual([
      [part!.paymentId, 'failed', 'late', 1],
      [late!.paymentId, 'expired', 'underpaid', 1],
    ]);
  });

  test('The LTC that wait are listed page by page, also behind a payment that was credited meanwhile', async () => {
    const core = await startCore({ database });
    const { accountId, environment } = core.tenant;
    const now = core.clock.now();
    await raw`
      insert into payment (account_id, environment, payment_id, version, status, method, amount_cents, fee_cents,
        created_at, expires_at, ltc_litoshi, ltc_received_litoshi, ltc_confirmations, ltc_required_confirmations, ltc_revision)
      select ${accountId}, ${environment}::environment, 'psa_' || md5(${accountId} || n), 3, 'expired', 'ltc', 4990, 0,
        ${now}, ${now}, ${ASKED}, 5, 2, 2, 1 from generate_series(1, 150) n
    `.execute(database.sql);
    // All outputs are seen at one instant, which a page of at most 100 splits.
    await raw`
      insert into ltc_output (account_id, environment, payment_id, txid, vout, litoshi, seen_at, confirmations, state, postings)
      select account_id, environment, payment_id, md5(payment_id) || md5(payment_id), 0, 5, ${now}, 2, 'unmatched', 1
      from payment where account_id = ${accountId}
    `.execute(database.sql);
    const { rows } = await raw<{ id: string }>`
      select payment_id as id from ltc_output where account_id = ${accountId} order by seen_at, payment_id
    `.execute(database.sql);
    const listed: string[] = [];
    for (let after: string | undefined, isMore = true; isMore; ) {
      const { payments, next } = await core.ltc.listUnmatchedLtc({ after });
      listed.push(...payments.flatMap((each) => (each.accountId === accountId ? each.paymentId : [])));
      expect(payments.length).toBeLessThanOrEqual(100);
      expect([null, payments.at(-1)?.paymentId]).toContain(next);
      if (next !== null) {
        await raw`update ltc_output set state = 'credited' where payment_id = ${next}`.execute(database.sql);
        // Another output arrives for the address, much later.
        await raw`
          insert into ltc_output (account_id, environment, payment_id, txid, vout, litoshi, seen_at, confirmations, state, postings)
          select account_id, environment, payment_id, md5('late') || md5(payment_id), 0, 5, ${plusMs(now, 3_600_000)}, 2, 'unmatched', 1
          from payment where payment_id = ${next}
        `.execute(database.sql);
      }
      [after, isMore] = [next ?? undefined, next !== null];
    }
    expect(listed).toEqual(rows.map(({ id }) => id));
    const { paymentId } = await create(core);
    for (const after of ['psa_1', paymentId]) {
      const refusal = await core.ltc.listUnmatchedLtc({ after }).catch((error: PaymentError) => error);
      expect(describeRefusal(refusal as PaymentError)).toBe('--after is not a payment that has received LTC');
    }
  });

  test('Payments are listed and counted by their method', async () => {
    const core = await startCore({ database });
    const [byLtc, byPix] = [await create(core), await create(core, { method: 'pix' })];
    const listed = async (method?: ('pix' | 'ltc')[]) => {
      const { items } = await core.payments.list(core.tenant, { end: 'first', limit: 5, method });
      expect(await core.payments.count(core.tenant, { method })).toBe(items.length);
      return items.map(({ resource }) => resource.paymentId);
    };
    expect(await listed()).toEqual([byPix.paymentId, byLtc.paymentId]);
    expect(await listed(['ltc'])).toEqual([byLtc.paymentId]);
    expect(await listed(['pix'])).toEqual([byPix.paymentId]);
  });

  test('A lost notification of a confirmation is made up for by the next look', async () => {
    const core = await startCore({ database });
    const { paymentId, ltc } = await create(core);
    await core.litecoin.send(ltc!.address!, { txid: 'c'.repeat(64), litoshi: ASKED, confirmations: 0 });
    await core.work.settled();
    await database.sql
      .updateTable('simulated_ltc_output')
      .set({ confirmations: 2 })
      .where('txid', '=', 'c'.repeat(64))
      .execute();
    await database.sql
      .updateTable('simulated_ltc_address')
      .set({ revision: 2 })
      .where('id', '=', paymentId)
      .execute();
    await core.pass(10 * MINUTE);
    expect(await statusOf(core, { paymentId })).toBe('paid');
  });
});

describeOnDatabase('the books of payments by LTC', (open) => {
  test('The rules of the audit hold for payments in every state, and find a litoshi that is missing', async () => {
    const database = await open();
    const core = await startCore({ database });
    const made = await Promise.all([1, 2, 3, 4].map(() => create(core)));
    const [paid, part, over, open_] = made as [StoredPayment, StoredPayment, StoredPayment, StoredPayment];
    await core.litecoin.send(paid.ltc!.address!, { litoshi: ASKED, confirmations: 2 });
    await core.litecoin.send(part.ltc!.address!, { litoshi: 5, confirmations: 2 });
    await core.litecoin.send(over.ltc!.address!, { litoshi: 3 * ASKED, confirmations: 1 });
    await core.work.settled();
    await core.litecoin.send(open_.ltc!.address!, { litoshi: 7, confirmations: 0 });
    const broken = async () => {
      const found = await Promise.all(
        Object.entries({ ...rulesOfLtc(), ...rulesOfPix("'infinity'::timestamptz") }).map(
          async ([rule, text]) => ((await raw.raw(text).execute(database.sql)).rows.length > 0 ? [rule] : []),
        ),
      );
      return found.flat();
    };
    expect(await broken()).toEqual([]);
    await core.work.settled();
    await core.pass(SESSION);
    await core.ltc.creditUnmatched(core.tenant, part.paymentId);
    expect(await broken()).toEqual([]);
    await database.sql
      .updateTable('ltc_output')
      .set({ litoshi: 4 })
      .where('payment_id', '=', part.paymentId)
      .execute();
    expect(await broken()).toEqual(
      expect.arrayContaining([
        'the litoshi of the confirmed outputs of a payment are unmatched or the merchant’s, each once',
        'a payment by LTC shows what has come for it',
      ]),
    );
  });
});

describe('on two instances', () => {
  test('A report that both record at once counts once', async () => {
    const [one, two] = await startTwoCores();
    for (let round = 0; round < 5; round++) {
      const { paymentId, ltc } = await create(one);
      await one.litecoin.send(ltc!.address!, { litoshi: ASKED, confirmations: 2 });
      await Promise.all([one, two, one, two].map((each) => each.ltc.receive(each.tenant, paymentId)));
      expect(await statusOf(two, { paymentId })).toBe('paid');
      expect((await one.balances()).merchant_ltc).toBe((round + 1) * ASKED);
    }
  });
});

async function create({ payments, tenant }: Core, input: object = {}): Promise<StoredPayment> {
  return (await payments.create(tenant, { valueCents: 4_990, method: 'ltc', ...input })).payment;
}

async function statusOf({ payments, tenant }: Core, { paymentId }: Pick<StoredPayment, 'paymentId'>) {
  return (await payments.find(tenant, paymentId))?.status;
}

async function payByPix({ pix, payments, tenant }: Core, paymentId: string): Promise<void> {
  await pix.pay({ txid: txidOf(paymentId) });
  await payments.receive(tenant, paymentId);
}

/** An id of a transaction that pays one address alone. */
function txidFor(address: string): string {
  return Buffer.from(address.slice(-32)).toString('hex');
}
