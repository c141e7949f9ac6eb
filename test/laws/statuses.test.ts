import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { plusMs } from '../../server/src/kernel/clock.ts';
import { methodOf, PAYOUT_METHODS } from '../../server/src/kernel/payout-methods/registry.ts';
import type { Bank, TransferStatus } from '../../server/src/rails/bank.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { type Core, startCore } from '../support/core.ts';
import { describeOnDatabase } from '../support/database.ts';
import { readAfter } from '../support/events.ts';
import { fund } from '../support/funds.ts';
import { DESTINATIONS, FEES } from '../support/payout-methods.ts';
import { generated } from '../support/scale.ts';
import { expectStatementsHold, MARKUP, openSubaccount } from '../support/subaccounts.ts';
import { expectBooksHold } from './books.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const debited = (from: 'brl' | 'ltc') => PAYOUT_METHODS.filter((method) => methodOf(method).debits === from);
const DEBITED = { brl: debited('brl'), ltc: debited('ltc') };

const RECEIPT = { endToEndId: 'E1', recipientName: 'Ana Souza', recipientBankName: 'Banco Ipê S.A.' };
type Said =
  | 'in_verification'
  | 'queued'
  | 'sent'
  | 'completed'
  | 'returned'
  | 'denied'
  | 'refused'
  | 'nothing';
const ENDS: readonly Said[] = ['completed', 'denied', 'refused'];
const word = fc.constantFrom<Said>('in_verification', 'queued', 'sent', 'nothing', 'returned', ...ENDS);

/** A bank's answers about one transfer, in this order, consistent or not; the last one is repeated. */
const script = fc
  .tuple(
    fc.array(word, { maxLength: 5 }),
    fc.constantFrom<Said>('completed', 'returned', 'denied', 'refused'),
  )
  .map(([words, end]) => [...words, end]);

const RANK: Record<string, number> = {
  pending: 0,
  processing: 1,
  completed: 2,
  denied: 2,
  failed: 2,
  returned: 3,
};

describeOnDatabase('whatever a bank says, in whatever order and however often', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('a payout’s status never goes back, and its money is given away or back once', async () => {
    const payouts = fc.array(
      fc.record({ from: fc.constantFrom(...PAYOUT_METHODS, 'subaccount' as const), script }),
      { minLength: 1, maxLength: 5 },
    );
    const looks = fc.array(fc.tuple(fc.nat({ max: 4 }), fc.integer({ min: 1, max: 20 })), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(payouts, looks, async (asked, looks) => {
        const scripts = new Map<string, Said[]>();
        /** The first final answer about a transfer: later answers are ignored. */
        const ended = new Map<string, Said>();
        /** The transfers that were returned, after their arrival or at once. */
        const returned = new Set<string>();
        const bank = (simulated: Bank): Bank => ({
          ...simulated,
          async send({ id, method }) {
            const words = scripts.get(id) ?? scripts.set(id, [...upcoming.shift()!]).get(id)!;
            const said = words.length > 1 ? words.shift()! : words[0]!;
            if (said === 'nothing') throw new Error('the bank is out of reach');
            // No chain returns a payment: there it has arrived.
            const comesBack = said === 'returned' && (method === 'pix' || method === 'pix_turbo');
            const end = said === 'returned' ? 'completed' : said;
            if (ENDS.includes(end) && !ended.has(id)) ended.set(id, end);
            if (comesBack && ended.get(id) === 'completed') returned.add(id);
            return statusOf(comesBack ? said : end, core);
          },
        });
        const upcoming: Said[][] = [];
        const account = { payoutFeesCents: FEES, pixMaxCents: null, subaccountMarkupCents: MARKUP };
        const core = await startCore({ database, account, bank, follows: false });
        const subaccountId = await openSubaccount(core, 50_000);
        await fund(core, { cents: 50_000, litoshi: 100_000_000 });

        const ids: string[] = [];
        for (const { from, script } of asked) {
          upcoming.push(script);
          if (from === 'subaccount') {
            const pixKey = 'ana@padaria.example';
            const input = { subaccountId, amountCents: 2_000, pixKey };
            ids.push((await core.subaccounts.requestPayout(core.tenant, input)).payout.id);
          } else {
            const input = { method: from, amountCents: 2_000, destination: DESTINATIONS[from] };
            ids.push((await core.payouts.request(core.tenant, input)).payout.withdrawalId);
            // Each transfer gets its own script, in the order of the requests.
            await core.work.settled();
          }
        }
        for (const [which, seconds] of looks) {
          const index = which % ids.length;
          const recheck = () =>
            asked[index]!.from === 'subaccount'
              ? core.subaccounts.recheck(core.tenant, ids[index]!)
              : core.payouts.recheck(core.tenant, ids[index]!);
          await Promise.all([recheck(), recheck(), core.work.settled()]);
          await core.pass(seconds * SECOND);
        }
        await core.pass(2 * HOUR);

        const { events } = await readAfter(database.sql, core.tenant, { after: 0, limit: 500 });
        for (const [index, id] of ids.entries()) {
          const snapshots = events
            .filter(({ resourceId }) => resourceId === id)
            .map(({ snapshot }) => snapshot as { version: number; status: string; reversed?: boolean });
          expect(snapshots.map(({ version }) => version)).toEqual(snapshots.map((_, n) => n + 1));
          const ranks = snapshots.map(({ status }) => RANK[status]!);
          expect(ranks).toEqual([...ranks].sort());
          const statuses = new Set(snapshots.map(({ status }) => status));
          expect(['completed', 'denied', 'failed'].filter((end) => statuses.has(end))).toEqual([
            ended.get(id) === 'completed'
              ? 'completed'
              : asked[index]!.from === 'subaccount'
                ? 'failed'
                : 'denied',
          ]);
        }
        for (const [index, id] of ids.entries()) {
          const { status, reversed } = events.findLast(({ resourceId }) => resourceId === id)!.snapshot as {
            status: string;
            reversed?: boolean;
          };
          const isBack =
            asked[index]!.from === 'subaccount' ? reversed && status === 'completed' : status === 'returned';
          expect(isBack).toBe(returned.has(id));
        }
        const came = (...from: string[]) =>
          asked.filter(
            (payout, index) =>
              from.includes(payout.from) &&
              ended.get(ids[index]!) === 'completed' &&
              !returned.has(ids[index]!),
          ).length;
        const [main, ltc, subaccount] = [came(...DEBITED.brl), came(...DEBITED.ltc), came('subaccount')];
        const sums = await expectBooksHold(database, core.tenant);
        expect(sums).toMatchObject({
          payouts_in_transit: 0,
          ltc_in_transit: 0,
          merchant_balance: 50_000 - 2_000 * main + MARKUP * subaccount,
          merchant_subaccounts: 50_000 - 2_000 * subaccount,
        });
        expect(sums.paid_out + sums.platform_fees).toBe(2_000 * main + (2_000 - MARKUP) * subaccount);
        expect(sums.ltc_paid_out).toBe(ltc * (await core.bank.quoteLitoshi(2_000)));
        await expectStatementsHold(database, core.tenant);
        for (const fault of core.faults) expect((fault as Error).message).toBe('the bank is out of reach');
        await core.close();
      }),
      { numRuns: generated(20), endOnFailure: true },
    );
  });
});

function statusOf(said: Exclude<Said, 'nothing'>, { clock }: Core): TransferStatus {
  switch (said) {
    case 'in_verification':
    case 'queued':
    case 'sent':
      return { status: said, until: said === 'sent' ? null : plusMs(clock.now(), 3 * SECOND) };
    case 'completed':
    case 'returned':
      return { status: said, receipt: RECEIPT };
    case 'denied':
    case 'refused':
      return { status: said, reason: 'Não' };
  }
}
