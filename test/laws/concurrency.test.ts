import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../server/src/db/database.ts';
import { IdempotencyError, InsufficientFundsError, RateLimitError } from '../../server/src/kernel/errors.ts';
import { type Core, startCore } from '../support/core.ts';
import { describeOnBothEngines } from '../support/database.ts';
import { fund } from '../support/funds.ts';
import { expectStatementsHold, FEES, MARKUP, openSubaccount } from '../support/subaccounts.ts';
import { expectBooksHold } from './books.ts';

const MINUTE = 60_000;
const LTC = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';
const AT_ONCE = 64;

const amountCents = fc.integer({ min: 501, max: 4_000 });
const receives = fc.constantFrom('ana@padaria.example', 'nega@psa.example');
/** Everything that takes money. None of it comes back before time has passed. */
const debit = fc.oneof(
  fc.record({
    kind: fc.constantFrom('pix' as const, 'pix_turbo' as const, 'ltc' as const),
    amountCents,
    pixKey: receives,
  }),
  fc.record({ kind: fc.constant('transfer' as const), amountCents, pixKey: receives }),
  fc.record({
    kind: fc.constant('subaccountPayout' as const),
    amountCents,
    pixKey: fc.oneof(receives, fc.constant('recusa@psa.example')),
  }),
);
type Debit = typeof debit extends fc.Arbitrary<infer Value> ? Value : never;

/** Asks one instance for one debit. `id` is what tells its effect from any other's. */
async function take(
  { tenant, payouts, subaccounts }: Core,
  subaccountId: string,
  { kind, amountCents, pixKey }: Debit,
  idempotencyKey?: string,
): Promise<{ id: string; replayed: boolean }> {
  switch (kind) {
    case 'pix':
    case 'pix_turbo':
    case 'ltc': {
      const destination = kind === 'ltc' ? LTC : pixKey;
      const input = { method: kind, amountCents, destination, idempotencyKey };
      const { payout, replayed } = await payouts.request(tenant, input);
      return { id: payout.withdrawalId, replayed };
    }
    case 'transfer': {
      const input = { subaccountId, amountCents, idempotencyKey };
      const { entry, replayed } = await subaccounts.transfer(tenant, input);
      return { id: entry.refId, replayed };
    }
    case 'subaccountPayout': {
      const input = { subaccountId, amountCents, pixKey, idempotencyKey };
      const { payout, replayed } = await subaccounts.requestPayout(tenant, input);
      return { id: payout.id, replayed };
    }
  }
}

describeOnBothEngines(`${AT_ONCE} debits of all kinds at once, of two instances`, (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  async function start(): Promise<[Core, Core]> {
    const account = { payoutFeesCents: FEES, subaccountMarkupCents: MARKUP };
    const first = await startCore({ database, account, follows: false });
    return [first, await startCore({ database, tenant: first.tenant, clock: first.clock, follows: false })];
  }

  test('never take more than there is', { timeout: 120_000 }, async () => {
    const funds = fc.record({ own: fc.nat({ max: 60_000 }), held: fc.nat({ max: 20_000 }) });
    const debits = fc.array(debit, { minLength: AT_ONCE, maxLength: AT_ONCE });
    await fc.assert(
      fc.asyncProperty(funds, debits, async ({ own, held }, debits) => {
        const cores = await start();
        const [core] = cores;
        const subaccountId = await openSubaccount(core, 10_000);
        await fund(core, { cents: own, heldCents: held, litoshi: 10_000_000 });
        const results = await Promise.allSettled(
          debits.map((debit, index) => take(cores[index % 2]!, subaccountId, debit)),
        );

        const after = await expectBooksHold(database, core.tenant);
        await expectStatementsHold(database, core.tenant);
        const taken = (...kinds: Debit['kind'][]) =>
          debits
            .filter(({ kind }, index) => kinds.includes(kind) && results[index]!.status === 'fulfilled')
            .reduce((sum, { amountCents }) => sum + amountCents, 0);
        expect(taken('pix', 'pix_turbo', 'transfer')).toBeLessThanOrEqual(Math.max(0, own - held));
        expect(taken('subaccountPayout')).toBeLessThanOrEqual(10_000 + taken('transfer'));
        expect(after.merchant_balance).toBe(own - taken('pix', 'pix_turbo', 'transfer'));
        for (const [index, result] of results.entries()) {
          if (result.status === 'fulfilled') continue;
          const { kind, amountCents } = debits[index]!;
          if (result.reason instanceof RateLimitError) expect(['pix', 'pix_turbo', 'ltc']).toContain(kind);
          else expect(result.reason).toBeInstanceOf(InsufficientFundsError);
          // What was refused does not fit into what is left.
          if (['pix', 'pix_turbo', 'transfer'].includes(kind) && !(result.reason instanceof RateLimitError))
            expect(amountCents).toBeGreaterThan(Math.max(0, after.merchant_balance - held));
        }

        await core.pass(40 * MINUTE);
        await cores[1].work.settled();
        expect(await expectBooksHold(database, core.tenant)).toMatchObject({
          payouts_in_transit: 0,
          ltc_in_transit: 0,
        });
        await expectStatementsHold(database, core.tenant);
        for (const { faults } of cores) expect(faults).toEqual([]);
        await Promise.all(cores.map((each) => each.close()));
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });

  test('with one key have one effect of each kind, and everyone is told of it', {
    timeout: 120_000,
  }, async () => {
    const kinds = fc.uniqueArray(debit, { minLength: 2, maxLength: 5, selector: operationOf });
    const order = fc.array(fc.nat({ max: 4 }), { minLength: AT_ONCE, maxLength: AT_ONCE });
    await fc.assert(
      fc.asyncProperty(kinds, order, async (debits, order) => {
        const cores = await start();
        const [core] = cores;
        const subaccountId = await openSubaccount(core, 10_000);
        await fund(core, { cents: 20_000, litoshi: 50_000_000 });
        const asked = order.map((n) => debits[n % debits.length]!);
        const answers = await Promise.all(
          asked.map((debit, index) => take(cores[index % 2]!, subaccountId, debit, 'chave-1')),
        );
        for (const debit of new Set(asked)) {
          const its = answers.filter((_, index) => asked[index] === debit);
          expect(new Set(its.map(({ id }) => id)).size).toBe(1);
          expect(its.filter(({ replayed }) => !replayed)).toHaveLength(1);
          const other = { ...debit, amountCents: debit.amountCents + 1 };
          await expect(take(core, subaccountId, other, 'chave-1')).rejects.toBeInstanceOf(IdempotencyError);
        }
        // Whatever has become of it, and whoever is asked.
        await core.pass(40 * MINUTE);
        for (const [index, debit] of asked.entries())
          expect(await take(cores[index % 2]!, subaccountId, debit, 'chave-1')).toEqual({
            id: answers[index]!.id,
            replayed: true,
          });
        const made = await database.sql
          .selectFrom('idempotency')
          .select('key')
          .where('account_id', '=', core.tenant.accountId)
          .execute();
        expect(made).toHaveLength(new Set(asked).size);
        await expectBooksHold(database, core.tenant);
        await expectStatementsHold(database, core.tenant);
        await Promise.all(cores.map((each) => each.close()));
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });
});

/** A key is one operation's: payouts of all methods share theirs. */
function operationOf({ kind }: Debit): string {
  return kind === 'transfer' || kind === 'subaccountPayout' ? kind : 'payout';
}
