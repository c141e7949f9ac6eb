import fc from 'fast-check';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { CheckoutGrant } from '../../../server/src/kernel/caller.ts';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { PreconditionError } from '../../../server/src/kernel/errors.ts';
import { objectId } from '../../../server/src/kernel/ids.ts';
import { RESOLVE_AFTER_MS } from '../../../server/src/money-in/card-payments/decisions.ts';
import type {
  CardPaymentFilter,
  CardPaymentStatus,
  StoredCardPayment,
} from '../../../server/src/money-in/card-payments/model.ts';
import type { Acquirer } from '../../../server/src/rails/acquirer.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import type { StoredEvent } from '../../../server/src/state/events/event.ts';
import { type LedgerAccountName, NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { claimTasks, completeTask } from '../../../server/src/state/work/store.ts';
import { approved, approvedLate, approvedSoon, card, declined } from '../../support/cards.ts';
import { createManualClock } from '../../support/clock.ts';
import { type Core, startCore } from '../../support/core.ts';
import { connectTo, describeOnDatabase, takePostgresDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { readAfter } from '../../support/events.ts';
import { ledgerTransaction } from '../../support/ledger.ts';
import { embedded } from '../../support/port-fixture.ts';
import { generated } from '../../support/scale.ts';
import { describePort } from './port.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const SESSION = 30 * MINUTE;

describeOnDatabase('card payments', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  describePort(embedded(() => database));

  describe('paid by card', () => {
    test('A payment whose charge never arrived is not paid, and the payer may try again', async () => {
      let lost = true;
      const core = await startCore({
        database,
        acquirer: (simulated) => ({
          ...simulated,
          charge: async (charge) => (lost ? { status: 'void' } : simulated.charge(charge)),
        }),
      });
      const orderCode = await create(core);
      expect(await core.cardPayments.pay(orderCode, approved())).toMatchObject({
        kind: 'not_charged',
        payment: { status: 'pending', declinedCharges: 0, openChargeId: null },
      });
      lost = false;
      expect(await core.cardPayments.pay(orderCode, approved())).toMatchObject({ kind: 'paid' });
      expect(await taken(core)).toBe(4990);
    });

    test('The acquirer gets the payer as the merchant has named it, with the whole tax number', async () => {
      const payers: unknown[] = [];
      const core = await startCore({
        database,
        acquirer: (simulated) => ({
          ...simulated,
          charge(charge) {
            payers.push(charge.payer);
            return simulated.charge(charge);
          },
        }),
      });
      const named = { name: 'Ana', email: 'ana@cliente.example', taxId: '12345678909' };
      for (const customer of [named, null]) {
        const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990, customer });
        await core.cardPayments.pay(payment.orderCode, approved());
      }
      expect(payers).toEqual([named, null]);
    });

    test('A payment is open to everybody with its order code, under the merchant’s name', async () => {
      const core = await startCore({ database });
      const orderCode = await create(core);
      expect(await core.cardPayments.open(orderCode)).toMatchObject({
        payment: { orderCode, status: 'pending' },
        merchantName: 'Padaria da Ana',
      });
      expect(await core.cardPayments.open('PSC-NONE')).toBeNull();
      expect(core.cardPayments.cardRefusal(approved().number)).toBeNull();
      expect(core.cardPayments.cardRefusal('4929123456789012')).toBe('test_cards_only');
    });

    test('A payment is charged once for sixteen clicks of the payer', async () => {
      const core = await startCore({ database });
      const orderCode = await create(core);
      const clicks = await Promise.all(
        Array.from({ length: 16 }, () => core.cardPayments.pay(orderCode, approved())),
      );
      expect(clicks.filter(({ kind }) => kind === 'paid')).toHaveLength(1);
      for (const { kind } of clicks) expect(['paid', 'in_progress', 'not_payable']).toContain(kind);
      expect(await taken(core)).toBe(4990);
      expect(await announcedStatuses(core, orderCode)).toEqual(['pending', 'paid']);
    });
  });

  describe('that nobody pays', () => {
    test('A payment expires while the server is down: no card is charged, and the next start announces it', async () => {
      const core = await startCore({ database });
      const orderCode = await create(core);
      core.clock.advance(SESSION);
      expect(await core.cardPayments.pay(orderCode, approved())).toMatchObject({ kind: 'not_payable' });
      await core.close();
      const clock = createManualClock(plusMs(core.clock.now(), DAY));
      const restarted = await startCore({ database, clock, tenant: core.tenant });
      await restarted.work.settled();
      expect((await find(core, orderCode)).status).toBe('expired');
    });
  });

  describe('whose money', () => {
    test('A sale is released into the balance after its days, also by a server that was down', async () => {
      const core = await startCore({ database, account: { cardReleaseDays: 2 } });
      const orderCode = await paid(core);
      await core.pass(2 * DAY - 1);
      expect(await wallet(core)).toMatchObject({ balanceCents: 0, pendingReleaseCents: 4990 });
      await core.pass(1);
      expect(await wallet(core)).toMatchObject({
        balanceCents: 4990,
        withdrawableCents: 4990,
        pendingReleaseCents: 0,
      });
      expect((await find(core, orderCode)).releasedAt).toEqual(core.clock.now());
      const released = async (filter: CardPaymentFilter) => {
        const { items } = await core.cardPayments.list(core.tenant, { end: 'last', limit: 10, ...filter });
        expect(await core.cardPayments.count(core.tenant, filter)).toBe(items.length);
        return items.map(({ resource: payment }) => payment.orderCode);
      };
      const now = core.clock.now();
      expect(await released({ releasedAfter: now, releasedBefore: plusMs(now, 1) })).toEqual([orderCode]);
      expect(await released({ releasedBefore: now })).toEqual([]);

      await paid(core);
      core.clock.advance(9 * DAY);
      await core.work.settled();
      expect(await wallet(core)).toMatchObject({ balanceCents: 9980, pendingReleaseCents: 0 });
      expect(await announcedStatuses(core, orderCode)).toEqual(['pending', 'paid']);
    });

    test('A sale is released at once for an account without release days', async () => {
      const core = await startCore({ database, account: { cardReleaseDays: 0 } });
      await paid(core);
      await core.work.settled();
      expect(await wallet(core)).toMatchObject({ balanceCents: 4990, pendingReleaseCents: 0 });
    });

    test('A sale that is refunded before its release is not released', async () => {
      const core = await startCore({ database });
      const orderCode = await paid(core);
      await core.cardPayments.refund(core.tenant, orderCode);
      await core.work.settled();
      expect(await find(core, orderCode)).toMatchObject({
        status: 'refunded',
        version: 4,
        refundedAt: core.clock.now(),
      });
      await core.pass(20 * DAY);
      expect(await core.balances()).toEqual(NO_BALANCES);
      expect(await announcedStatuses(core, orderCode)).toEqual(['pending', 'paid', 'refunded']);
      expect(await taken(core)).toBe(0);
    });

    test('A sale is refunded once, however often that is requested', async () => {
      const core = await startCore({ database, account: { cardReleaseDays: 0 } });
      const orderCode = await paid(core);
      await core.work.settled();
      const begun = await Promise.all(
        Array.from({ length: 8 }, () => core.cardPayments.refund(core.tenant, orderCode)),
      );
      expect(begun.filter(Boolean)).toHaveLength(1);
      await core.work.settled();
      expect(await core.cardPayments.refund(core.tenant, orderCode)).toBe(false);
      await core.work.settled();
      expect(await core.balances()).toEqual(NO_BALANCES);
      expect(await announcedStatuses(core, orderCode)).toEqual(['pending', 'paid', 'refunded']);
    });

    test('A payment that was never charged is not refunded at the acquirer', async () => {
      const asked: string[] = [];
      const core = await startCore({
        database,
        acquirer: (simulated) => ({
          ...simulated,
          refund(refund) {
            asked.push(refund.railChargeId);
            return simulated.refund(refund);
          },
        }),
      });
      const [pending, expired] = [await create(core), await create(core)];
      await core.cardPayments.refund(core.tenant, pending);
      await core.work.settled();
      await core.pass(SESSION);
      await core.cardPayments.refund(core.tenant, expired);
      await core.work.settled();
      expect(asked).toEqual([]);
      expect(await announcedStatuses(core, expired)).toEqual(['pending', 'expired']);
      expect(core.faults).toEqual([]);
    });

    test('A refund of withdrawn money becomes a debt, which the next release covers first', async () => {
      const core = await startCore({ database, account: { cardReleaseDays: 1 } });
      const first = await paid(core, 5000);
      await core.pass(DAY);
      await paid(core, 3000);
      await paid(core, 4000);
      await withdraw(core, 4500);
      await core.cardPayments.refund(core.tenant, first);
      await core.work.settled();
      expect(await core.balances()).toMatchObject({
        merchant_balance: 0,
        merchant_receivable: -4500,
        merchant_pending: 7000,
      });
      expect(await wallet(core)).toMatchObject({ balanceCents: 0, withdrawableCents: 0, assignableCents: 0 });
      await core.pass(DAY);
      expect(await core.balances()).toMatchObject({
        merchant_balance: 2500,
        merchant_receivable: 0,
        merchant_pending: 0,
      });
      expect(core.faults).toEqual([]);
    });

    test('A refund is retried where the acquirer did not answer', async () => {
      let away = true;
      const core = await startCore({
        database,
        acquirer: (simulated) => ({
          ...simulated,
          async refund(refund) {
            const status = await simulated.refund(refund);
            if (away) throw new Error('no answer');
            return status;
          },
        }),
      });
      const orderCode = await paid(core);
      await core.cardPayments.refund(core.tenant, orderCode);
      await core.work.settled();
      expect((await find(core, orderCode)).status).toBe('paid');
      away = false;
      await core.pass(SECOND);
      expect((await find(core, orderCode)).status).toBe('refunded');
      expect(core.faults).toHaveLength(1);
    });
  });

  describe('started with a token', () => {
    test.each([
      ['the first approved late', approvedLate],
      ['the first approved soon', approvedSoon],
    ])(
      'A second paid payment of one attempt is returned and never announced as paid: %s',
      async (_, lateCard) => {
        const core = await startCore({ database });
        const token = await mint(core, { reusable: true });
        const attemptId = newAttemptId();
        const first = (await core.cardPayments.startCheckout(core.tenant, token, { attemptId })).payment;
        if (lateCard === approvedSoon) await core.pass(SESSION - SECOND);
        await core.cardPayments.pay(first.orderCode, lateCard());
        if (lateCard === approvedSoon) await core.pass(SECOND);
        else await core.pass(SESSION);
        expect((await find(core, first.orderCode)).status).toBe('expired');

        const second = (
          await core.cardPayments.startCheckout(core.tenant, token, {
            attemptId: `${attemptId}.2`,
          })
        ).payment;
        expect(await core.cardPayments.pay(second.orderCode, approved())).toMatchObject({ kind: 'paid' });
        await core.pass(15 * MINUTE);
        expect(await announcedStatuses(core, first.orderCode)).toEqual(['pending', 'expired', 'failed']);
        const keptPayment = second.orderCode;
        expect(await find(core, first.orderCode)).toMatchObject({
          ...{ failureReason: 'paid_elsewhere', returned: true, keptPayment },
          ...{ paidAt: null, paidLate: false, refundedAt: null, refundedCents: 0, refundingCents: 0 },
        });
        expect(await core.refunds.ofResources(core.tenant, 'card_payment', [first.orderCode])).toEqual([[]]);
        const { items } = await core.returns.list(core.tenant, { end: 'first', limit: 2 });
        const resource = { type: 'card_payment', id: first.orderCode };
        const returnedAt = expect.any(Date);
        expect(items.map(({ item }) => item)).toMatchObject([
          { resource, amountCents: 4990, cause: 'paid_elsewhere', keptPayment, returnedAt },
        ]);
        expect(await announcedStatuses(core, second.orderCode)).toEqual(['pending', 'paid']);
        expect(await taken(core)).toBe(4990);
        expect(await wallet(core)).toMatchObject({ pendingReleaseCents: 4990 });

        const third = { attemptId: `${attemptId}.3` };
        await expect(core.cardPayments.startCheckout(core.tenant, token, third)).rejects.toMatchObject({
          code: 'ORDER_PAID',
        });
      },
    );
  });

  describe('whose charge meets a crash', () => {
    /** Asserts that in the end the acquirer holds what this service says that it holds. */
    async function settled(core: Core, orderCode: string, status: CardPaymentStatus, charged = core) {
      await core.pass(11 * SECOND);
      expect(await find(core, orderCode)).toMatchObject({ status, openChargeId: null });
      expect(await taken(charged)).toBe(status === 'paid' ? 4990 : 0);
      expect((await core.balances()).merchant_pending).toBe(status === 'paid' ? 4990 : 0);
    }

    test('A crash before the charge leaves the payment unpaid and payable', async () => {
      const core = await startCore({ database, acquirer: faulty({ charge: 'before' }) });
      const orderCode = await create(core);
      expect(await core.cardPayments.pay(orderCode, approved())).toMatchObject({ kind: 'processing' });
      expect(await core.cardPayments.pay(orderCode, approved())).toMatchObject({ kind: 'in_progress' });
      await settled(core, orderCode, 'pending');
      expect(await core.cardPayments.pay(orderCode, approved())).toMatchObject({ kind: 'paid' });
      expect(core.faults).toHaveLength(1);
      expect(await announcedStatuses(core, orderCode)).toEqual(['pending', 'paid']);
    });

    test('A crash after the approval leaves the payment paid once', async () => {
      const core = await startCore({ database, acquirer: faulty({ charge: 'after' }) });
      const orderCode = await create(core);
      expect(await core.cardPayments.pay(orderCode, approved())).toMatchObject({ kind: 'processing' });
      await settled(core, orderCode, 'paid');
      expect(await announcedStatuses(core, orderCode)).toEqual(['pending', 'paid']);
    });

    test('A charge that outlives its process is resolved by the next one', async () => {
      const asked = deferred();
      const core = await startCore({
        database,
        acquirer: (simulated) => ({
          ...simulated,
          async charge(charge) {
            await simulated.charge(charge);
            asked.resolve();
            // The process is gone: nobody will ever hear the answer.
            return new Promise(() => undefined);
          },
        }),
      });
      const orderCode = await create(core);
      void core.cardPayments.pay(orderCode, approved());
      await asked.promise;
      const next = await startCore({ database, tenant: core.tenant });
      await settled(next, orderCode, 'paid', core);
    });

    test('A charge whose lookup fails too is looked up again', async () => {
      const core = await startCore({ database, acquirer: faulty({ charge: 'after', resolve: 'after' }) });
      const orderCode = await create(core);
      await core.cardPayments.pay(orderCode, approved());
      await settled(core, orderCode, 'paid');
      expect(core.faults).toHaveLength(2);
    });

    test('A request that arrives after its charge was made void takes no money', async () => {
      const asked = deferred();
      const arrive = deferred();
      const core = await startCore({
        database,
        acquirer: (simulated) => ({
          ...simulated,
          async charge(charge) {
            asked.resolve();
            await arrive.promise;
            return simulated.charge(charge);
          },
        }),
      });
      const orderCode = await create(core);
      const slow = core.cardPayments.pay(orderCode, approved());
      // The charge is open from the commit on, and is looked up ten seconds later.
      await asked.promise;
      await settled(core, orderCode, 'pending');
      arrive.resolve();
      expect(await slow).toMatchObject({
        kind: 'not_charged',
        payment: { status: 'pending', declinedCharges: 0 },
      });
      await settled(core, orderCode, 'pending');
      expect(await core.cardPayments.pay(orderCode, approved())).toMatchObject({ kind: 'paid' });
    });

    test('The task of a declined card does not void the charge after it', async () => {
      const asked = deferred();
      const arrive = deferred();
      let isSlow = false;
      const core = await startCore({
        database,
        acquirer: (simulated) => ({
          ...simulated,
          async charge(charge) {
            if (isSlow) {
              asked.resolve();
              await arrive.promise;
            }
            return simulated.charge(charge);
          },
        }),
      });
      const orderCode = await create(core);
      expect(await core.cardPayments.pay(orderCode, declined())).toMatchObject({ kind: 'declined' });
      const now = plusMs(core.clock.now(), RESOLVE_AFTER_MS);
      const claimed = await claimTasks(database.sql, { now, leasedUntil: plusMs(now, MINUTE), limit: 100 });
      const stale = claimed.find(({ kind, key }) => kind === 'card_payment.resolve' && key === orderCode)!;
      isSlow = true;
      const paid = core.cardPayments.pay(orderCode, approved());
      await asked.promise;
      await core.handlers[stale.kind]!(stale);
      expect(await completeTask(database.sql, stale)).toBe(false);
      arrive.resolve();
      expect(await paid).toMatchObject({ kind: 'paid' });
      expect(core.faults).toEqual([]);
    });

    test('A repeated or late answer does not pay a payment twice', async () => {
      const charged = deferred();
      const answer = deferred();
      const core = await startCore({
        database,
        acquirer: (simulated) => ({
          ...simulated,
          async charge(charge) {
            const status = await simulated.charge(charge);
            charged.resolve();
            await answer.promise;
            return status;
          },
        }),
      });
      const orderCode = await create(core);
      const slow = core.cardPayments.pay(orderCode, approved());
      await charged.promise;
      await settled(core, orderCode, 'paid');
      answer.resolve();
      expect(await slow).toMatchObject({ kind: 'paid' });
      expect(await announcedStatuses(core, orderCode)).toEqual(['pending', 'paid']);
      await settled(core, orderCode, 'paid');
    });
  });

  describe('in whatever order things happen to them', () => {
    type Step =
      | { do: 'create'; order: string | null }
      | { do: 'withdraw' }
      | { do: 'start'; isRetry: boolean }
      | { do: 'pay' | 'refund' | 'pay twice' | 'cancel'; which: number; card: string }
      | { do: 'wait'; ms: number };
    const which = fc.nat(5);
    const cards = fc.constantFrom(
      '4242424242424242',
      '4242424242424242',
      '4000000000000002',
      '4100000000000019',
      '4000000000003220',
      '4000000000000077',
    );
    const step = fc.oneof<fc.Arbitrary<Step>[]>(
      fc.record({ do: fc.constant('create'), order: fc.constantFrom(null, '1', '2') }),
      fc.record({ do: fc.constant('start'), isRetry: fc.boolean() }),
      {
        arbitrary: fc.record({
          do: fc.constantFrom('pay', 'pay twice', 'pay', 'refund', 'cancel'),
          which,
          card: cards,
        }),
        weight: 4,
      } as never,
      fc.record({
        do: fc.constant('wait'),
        ms: fc.constantFrom(SECOND, 5 * SECOND, 11 * SECOND, 20 * MINUTE, SESSION, DAY),
      }),
      fc.constant({ do: 'withdraw' }),
    );
    const NEXT: Record<CardPaymentStatus, CardPaymentStatus[]> = {
      // The status is `failed` also if the money was returned: the payment was canceled, or another payment of its
      // order or attempt is kept.
      pending: ['paid', 'failed', 'expired'],
      expired: ['paid', 'failed'],
      paid: ['refunded'],
      refunded: [],
      failed: [],
    };

    test('Card payments keep every law in any order of events', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 5, maxLength: 25 }),
          fc.array(fc.nat(9), { minLength: 30, maxLength: 30 }),
          async (steps, luck) => {
            let call = 0;
            const misfortune = () => luck[call++ % luck.length] === 0 && call < 100;
            const core = await startCore({
              database,
              account: { cardReleaseDays: 1 },
              acquirer: (simulated) => unreliable(simulated, misfortune),
              follows: false,
            });
            await sellElsewhere(core, 1_000_000);
            const token = await mint(core, { reusable: true });
            const attemptId = newAttemptId();
            let retries = 0;
            const orderCodes = [await create(core)];
            for (const each of steps) {
              if (each.do === 'create') {
                const begun = create(core, 4990, each.order);
                await begun.then(
                  (orderCode) => orderCodes.push(orderCode),
                  refused(core, 'order', each.order),
                );
              }
              if (each.do === 'start') {
                retries += 1;
                const id = each.isRetry ? `${attemptId}.${retries + 1}` : newAttemptId();
                const begun = core.cardPayments
                  .startCheckout(core.tenant, token, { attemptId: id })
                  .then(({ payment }) => payment);
                const attempt = `${token.id}:${attemptId}`;
                await begun.then(
                  ({ orderCode }) => orderCodes.push(orderCode),
                  refused(core, 'attempt', attempt),
                );
              }
              if (each.do === 'pay' || each.do === 'pay twice') {
                const orderCode = orderCodes[each.which % orderCodes.length]!;
                const clicks = each.do === 'pay' ? 1 : 2;
                await Promise.all(
                  Array.from({ length: clicks }, () => core.cardPayments.pay(orderCode, card(each.card))),
                );
              }
              if (each.do === 'refund')
                await core.cardPayments.refund(core.tenant, orderCodes[each.which % orderCodes.length]!);
              if (each.do === 'cancel')
                await core.cardPayments
                  .cancel(core.tenant, orderCodes[each.which % orderCodes.length]!)
                  .catch((error: unknown) => {
                    if (!(error instanceof PreconditionError)) throw error;
                  });
              if (each.do === 'wait') await core.pass(each.ms);
              if (each.do === 'withdraw')
                await withdraw(core, (await core.balances()).merchant_balance).catch((error: unknown) => {
                  // A pending refund has taken some of it since the check, and no account goes below zero.
                  if (!(error instanceof RangeError)) throw error;
                });
            }
            // The clock advances until every lookup, retry and release has ended.
            await core.pass(4 * DAY);
            await lawsHold(core);
            await core.close();
          },
        ),
        { numRuns: generated(25), endOnFailure: true },
      );
    }, 120_000);

    /** Asserts that a start was refused because of the state of its order, or of its attempt. */
    const refused =
      (core: Core, by: 'order' | 'attempt', name: string | null) =>
      async (error: unknown): Promise<void> => {
        if (!(error instanceof PreconditionError)) throw error;
        const { items } = await core.cardPayments.list(core.tenant, { end: 'first', limit: 100 });
        const others = items
          .map(({ resource: payment }) => payment)
          .filter((other) => (by === 'order' ? other.externalId : other.checkoutAttempt) === name);
        const reasons = others.flatMap(({ status, canceledAt }) => [
          ...(status === 'paid' ? ['ORDER_PAID'] : []),
          ...(status === 'refunded' ? ['ORDER_REFUNDED'] : []),
          ...(canceledAt && by === 'attempt' ? ['CHECKOUT_TOKEN_USED'] : []),
        ]);
        expect(reasons).toContain(error.code);
      };

    async function lawsHold(core: Core): Promise<void> {
      const balances = await core.balances();
      const postings = await database.sql
        .selectFrom('posting')
        .selectAll()
        .where('account_id', '=', core.tenant.accountId)
        .execute();
      const sums = { ...NO_BALANCES };
      for (const posting of postings) sums[posting.ledger_account as LedgerAccountName] += posting.amount;
      expect(balances).toEqual(sums);
      expect(Object.values(sums).reduce((sum, cents) => sum + cents, 0)).toBe(0);
      // A merchant that owes money has an empty balance.
      expect(balances.merchant_balance === 0 || balances.merchant_receivable === 0).toBe(true);
      expect(await wallet(core)).toMatchObject({
        balanceCents: balances.merchant_balance,
        pendingReleaseCents: balances.merchant_pending,
        withdrawableCents: Math.max(0, balances.merchant_balance),
      });

      const log = await events(core);
      const { items } = await core.cardPayments.list(core.tenant, { end: 'first', limit: 100 });
      let held = 0;
      for (const { resource: payment } of items) {
        const own = log.filter(({ resourceId }) => resourceId === payment.orderCode);
        const snapshots = own.map(({ snapshot }) => snapshot as StoredCardPayment);
        expect(snapshots.map(({ version }) => version)).toEqual(snapshots.map((_, index) => index + 1));
        expect(snapshots[0]!.status).toBe('pending');
        for (const [index, event] of own.entries()) {
          if (index === 0) continue;
          expect(event.previousStatus).toBe(snapshots[index - 1]!.status);
          const [before, after] = [snapshots[index - 1]!, snapshots[index]!];
          // Within one status only the amounts of refunds and the status of the order change.
          if (after.status !== before.status) expect(NEXT[before.status]).toContain(after.status);
          else expect(changesOf(after)).not.toEqual(changesOf(before));
        }
        const steps = snapshots.filter(({ status }, index) => status !== snapshots[index - 1]?.status);
        const last = snapshots.at(-1)!;
        expect([payment.status, payment.version, payment.openChargeId]).toEqual([
          last.status,
          last.version,
          null,
        ]);

        const about = new Set(postings.map(({ transaction_id }) => transaction_id));
        const was = (status: CardPaymentStatus) => steps.filter((each) => each.status === status).length;
        expect(Number(about.has(`card_payment.paid:${payment.orderCode}`))).toBe(was('paid'));
        expect(about.has(`card_payment.returned:${payment.orderCode}`)).toBe(payment.returned);
        if (payment.returned) expect([was('paid'), was('failed'), payment.paidAt]).toEqual([0, 1, null]);
        expect(payment.refundingCents).toBe(0);
        if (payment.canceledAt) expect([was('paid'), was('expired')]).toEqual([0, 1]);
        if (was('refunded') === 1) expect(payment.refundedCents).toBe(payment.amountCents);
        // On its day a payment whose whole amount is being refunded has nothing left to release.
        if (about.has(`card_payment.released:${payment.orderCode}`))
          expect(payment.releasedAt).not.toBeNull();
        else if (payment.releasedAt) expect(payment.refundedCents).toBe(payment.amountCents);
        if (payment.paidAt) held += payment.amountCents - payment.refundedCents;
      }
      // The ledger holds what the acquirer took and did not return.
      expect(await taken(core)).toBe(held);
      // At most one payment of an attempt is kept.
      const kept = items.filter(
        ({ resource: payment }) => payment.status === 'paid' && payment.checkoutAttempt,
      );
      expect(new Set(kept.map(({ resource: payment }) => payment.checkoutAttempt)).size).toBe(kept.length);
      // At most one payment of an order is kept.
      const ofOrders = items.filter(
        ({ resource: payment }) => payment.status === 'paid' && payment.externalId,
      );
      expect(new Set(ofOrders.map(({ resource: payment }) => payment.externalId)).size).toBe(ofOrders.length);
    }
  });
});

describe('two instances on one PostgreSQL', () => {
  test('Two instances charge a payer who clicks on both once, and record it once', async () => {
    const databaseUrl = await takePostgresDatabase();
    const clock = createManualClock();
    const databases = await Promise.all([0, 1].map(() => connectTo(databaseUrl, clock)));
    onTestFinished(async () => {
      await Promise.all(databases.map((database) => database.close()));
    });
    const one = await startCore({ database: databases[0]!, clock });
    const two = await startCore({ database: databases[1]!, clock, tenant: one.tenant });
    const token = await mint(one);
    const attemptId = newAttemptId();
    const started = await Promise.all(
      Array.from({ length: 16 }, (_, click) =>
        (click % 2 ? one : two).cardPayments
          .startCheckout(one.tenant, token, { attemptId })
          .then(({ payment }) => payment),
      ),
    );
    expect(new Set(started.map(({ orderCode }) => orderCode)).size).toBe(1);
    const { orderCode } = started[0]!;
    const clicks = await Promise.all(
      Array.from({ length: 16 }, (_, click) =>
        (click % 2 ? one : two).cardPayments.pay(orderCode, approvedSoon()),
      ),
    );
    expect(clicks.filter(({ kind }) => kind === 'processing')).toHaveLength(1);
    clock.advance(5 * SECOND);
    await Promise.all([one.work.settled(), two.work.settled()]);
    await Promise.all([one.work.settled(), two.work.settled()]);
    expect(await announcedStatuses(one, orderCode)).toEqual(['pending', 'paid']);
    expect(await taken(one, two)).toBe(4990);
    expect([...one.faults, ...two.faults]).toEqual([]);
  });
});

// ── Builders ────────────────────────────────────────────────────────────────────────────────────

async function create(core: Core, valueCents = 4990, externalId: string | null = null): Promise<string> {
  return (await core.cardPayments.create(core.tenant, { valueCents, externalId })).payment.orderCode;
}

async function paid(core: Core, valueCents = 4990): Promise<string> {
  const orderCode = await create(core, valueCents);
  expect(await core.cardPayments.pay(orderCode, approved())).toMatchObject({ kind: 'paid' });
  return orderCode;
}

async function find(core: Core, orderCode: string): Promise<StoredCardPayment> {
  return (await core.cardPayments.find(core.tenant, orderCode))!;
}

function grant(given: Partial<CheckoutGrant> = {}): CheckoutGrant {
  return { amount: { kind: 'fixed', cents: 4990 }, reusable: false, ...given };
}

/** A checkout token as a page presents it. */
async function mint(
  core: Core,
  given: Partial<CheckoutGrant> = {},
): Promise<{ id: string; grant: CheckoutGrant }> {
  const { amount, reusable } = grant(given);
  const { token } = await core.checkoutTokens.create(core.tenant, null, {
    reusable,
    amount: amountInput(amount),
  });
  const { credential } = await core.access.authenticate(`Bearer ${token}`);
  if (credential.kind !== 'checkout_token') throw new TypeError('not a checkout token');
  return credential;
}

function amountInput(amount: CheckoutGrant['amount']) {
  switch (amount.kind) {
    case 'fixed':
      return { fixedCents: amount.cents };
    case 'range':
      return { range: amount };
    case 'product':
      return { productId: amount.productId };
  }
}

/** Creates an id of at least 128 bits, as a browser does. */
function newAttemptId(): string {
  return objectId() + objectId();
}

async function events(core: Core): Promise<StoredEvent[]> {
  return (await readAfter(core.database.sql, core.tenant, { after: 0, limit: 10_000 })).events;
}

/** Lists every status that subscribers were notified of, in order. */
function changesOf({ refundedCents, refundingCents, orderStatus }: StoredCardPayment) {
  return [refundedCents, refundingCents, orderStatus];
}

/** The announced statuses, each once: a change within a status is another update. */
async function announcedStatuses(core: Core, orderCode: string): Promise<CardPaymentStatus[]> {
  return (await events(core))
    .filter(({ resourceId }) => resourceId === orderCode)
    .filter(({ previousStatus, snapshot }) => previousStatus !== (snapshot as StoredCardPayment).status)
    .map(({ snapshot }) => (snapshot as StoredCardPayment).status);
}

function wallet(core: Core) {
  return core.wallet.read(core.tenant);
}

/** The money that the acquirer holds for this merchant, by its own ledger. */
async function taken(...cores: Core[]): Promise<number> {
  const [core] = cores as [Core];
  const chargeIds = cores.flatMap((each) => [...each.chargeIds]);
  if (chargeIds.length === 0) return 0;
  const charges = await core.database.sql
    .selectFrom('simulated_charge')
    .selectAll()
    .where('status', 'in', ['approved', 'pending'])
    .where('id', 'in', chargeIds)
    .execute();
  const refunds = await core.database.sql
    .selectFrom('simulated_refund')
    .selectAll()
    .where('status', '<>', 'failed')
    .where('charge_id', 'in', chargeIds)
    .execute();
  const sum = (rows: readonly { settles_at: Date | null; amount_cents: number }[]) =>
    rows
      .filter(({ settles_at }) => settles_at === null || settles_at <= core.clock.now())
      .reduce((cents, { amount_cents }) => cents + amount_cents, 0);
  return sum(charges) - sum(refunds);
}

/** Takes money out of the merchant's balance. Without payouts here, it is taken from what the acquirer holds. */
async function withdraw(core: Core, amountCents: number): Promise<void> {
  if (amountCents === 0) return;
  await core.committer.change({
    tenant: core.tenant,
    read: async () => undefined,
    decide: () => ({
      outcome: undefined,
      writes: {
        transactions: [
          ledgerTransaction(`withdrawal:${objectId()}`, [
            { from: 'merchant_balance', to: 'acquirer', amount: amountCents },
          ]),
        ],
      },
    }),
  });
}

/** Creates a sale that stays pending, so that the acquirer holds enough for a withdrawal and a later refund. */
async function sellElsewhere(core: Core, amountCents: number): Promise<void> {
  await core.committer.change({
    tenant: core.tenant,
    read: async () => undefined,
    decide: () => ({
      outcome: undefined,
      writes: {
        transactions: [
          ledgerTransaction('sale:elsewhere', [
            { from: 'acquirer', to: 'merchant_pending', amount: amountCents },
          ]),
        ],
      },
    }),
  });
}

type Fault = 'before' | 'after';

/** An acquirer that throws at its first call, before it has the call or after. */
function faulty(faults: { charge?: Fault; resolve?: Fault }): (simulated: Acquirer) => Acquirer {
  const once = <Args extends unknown[], Result>(
    fault: Fault | undefined,
    call: (...args: Args) => Promise<Result>,
  ) => {
    let met = fault === undefined;
    return async (...args: Args): Promise<Result> => {
      if (met) return call(...args);
      met = true;
      if (fault === 'after') await call(...args);
      throw new Error(`no answer: ${fault}`);
    };
  };
  return (simulated) => ({
    ...simulated,
    charge: once(faults.charge, simulated.charge),
    resolve: once(faults.resolve, simulated.resolve),
  });
}

/** An acquirer whose calls may get lost, on the way there or back. */
function unreliable(simulated: Acquirer, misfortune: () => boolean): Acquirer {
  const lossy =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (misfortune()) throw new Error('the request was lost');
      const result = await call(...args);
      if (misfortune()) throw new Error('the answer was lost');
      return result;
    };
  return {
    ...simulated,
    charge: lossy(simulated.charge),
    resolve: lossy(simulated.resolve),
    refund: lossy(simulated.refund),
  };
}
