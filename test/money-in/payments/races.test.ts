import { setImmediate as turn } from 'node:timers/promises';
import { sql as raw } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { rulesOfPix } from '../../faults/audit.ts';
import { createRandom } from '../../faults/random.ts';
import { expectBooksHold } from '../../laws/books.ts';
import { approved } from '../../support/cards.ts';
import { type Core, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { scale } from '../../support/scale.ts';

const ATTEMPTS = scale('ATTEMPTS');
/** The number of attempts that are paid at the same time. */
const AT_ONCE = 12;
const DAY = 24 * 3_600_000;
const SALE = { minCents: 100, maxCents: 100_000 };

describeOnDatabase('an attempt that is paid by card and by PIX at the same moment', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test(`Of each of ${ATTEMPTS} attempts, paid at two instances, one payment is kept and all others are returned`, {
    timeout: 60_000 + ATTEMPTS * 500,
  }, async () => {
    const random = createRandom(7);
    const account = { cardReleaseDays: 1 };
    const first = await startCore({ database, account, follows: false });
    const { tenant, clock } = first;
    const cores = [first, await startCore({ database, tenant, clock, follows: false })];
    const core = (): Core => random.pick(cores);

    /** Begins each payment after some turns of its own, so that the first to begin is sometimes the second to end. */
    const race = (pays: readonly (() => Promise<unknown>)[]) =>
      Promise.all(
        pays.map(async (pay) => {
          for (let turns = random.below(60); turns > 0; turns -= 1) await turn();
          await pay();
        }),
      );

    /** Starts a card and a PIX payment, and pays both, in half of all cases the PIX twice. Returns the ids. */
    async function payTwice(
      index: number,
    ): Promise<{ orderCode: string; paymentId: string; valueCents: number }> {
      const token = {
        id: 'tok_races',
        grant: { amount: { kind: 'range' as const, ...SALE }, reusable: true },
      };
      const attemptId = `tentativa-${String(index).padStart(20, '0')}`;
      const valueCents = SALE.minCents + index;
      const [{ orderCode }, { paymentId }] = await Promise.all([
        core()
          .cardPayments.startCheckout(tenant, token, { attemptId: `${attemptId}.1`, valueCents })
          .then(({ payment }) => payment),
        core()
          .payments.startCheckout(tenant, token, { attemptId: `${attemptId}.2`, valueCents })
          .then(({ payment }) => payment),
      ]);
      const byCard = () => core().cardPayments.pay(orderCode, approved());
      const byPix = async () => {
        await first.pix.pay({ txid: txidOf(paymentId) });
        // The bank notifies both instances, and one of them twice.
        await Promise.all([...cores, core()].map((each) => each.payments.receive(tenant, paymentId)));
      };
      // Two attempts are paid one method after the other, so that each method comes first at least once. All others
      // race.
      if (index < 2) for (const pay of index === 0 ? [byCard, byPix] : [byPix, byCard]) await pay();
      else await race(random.below(2) === 0 ? [byCard, byPix] : [byPix, byCard, byPix]);
      return { orderCode, paymentId, valueCents };
    }

    const tried = [];
    for (let from = 0; from < ATTEMPTS; from += AT_ONCE)
      tried.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(AT_ONCE, ATTEMPTS - from) }, (_, index) => payTwice(from + index)),
        )),
      );
    // The money of cards is released, and the bank has returned the excess.
    await first.pass(2 * DAY);

    const kept = { card: 0, pix: 0 };
    for (const { orderCode, paymentId } of tried) {
      const card = (await first.cardPayments.find(tenant, orderCode))!;
      const pix = (await first.payments.find(tenant, paymentId))!;
      const statuses = [card.status, pix.status].join();
      // The second payment is returned, or the card was not charged at all.
      expect(['paid,failed', 'failed,paid', 'expired,paid']).toContain(statuses);
      for (const { returnedAt } of pix.returnedCredits) expect(returnedAt).not.toBeNull();
      kept[pix.status === 'paid' ? 'pix' : 'card'] += 1;
    }
    const sum = tried.reduce((cents, { valueCents }) => cents + valueCents, 0);
    const sums = await expectBooksHold(database, tenant);
    expect(sums).toEqual({
      ...NO_BALANCES,
      merchant_balance: sum,
      acquirer: sums.acquirer,
      pix_received: 0 - sum - sums.acquirer,
    });
    for (const [rule, text] of Object.entries(rulesOfPix("'infinity'::timestamptz"))) {
      const { rows } = await raw.raw(text).execute(database.sql);
      expect([rule, rows]).toEqual([rule, []]);
    }
    for (const { faults } of cores) expect(faults).toEqual([]);
    expect(Math.min(kept.card, kept.pix)).toBeGreaterThan(0);
  });
});
