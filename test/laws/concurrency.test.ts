import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../server/src/db/database.ts';
import { IdempotencyError, InsufficientFundsError, RateLimitError } from '../../server/src/kernel/errors.ts';
import { type Core, startCore } from '../support/core.ts';
import { describeOnDatabase } from '../support/database.ts';
import { fund } from '../support/funds.ts';
import { FEES } from '../support/payout-methods.ts';
import { generated, scale } from '../support/scale.ts';
import { expectStatementsHold, MARKUP, openSubaccount } from '../support/subaccounts.ts';
import { expectBooksHold } from './books.ts';

const MINUTE = 60_000;
const LTC = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';
const AT_ONCE = 64;
const ROUNDS = scale('ONE_KEY');

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
/** Everything that takes a key. */
const keyed = fc.oneof(
  debit,
  fc.record({ kind: fc.constant('card' as const), amountCents, pixKey: receives }),
);
type Keyed = typeof keyed extends fc.Arbitrary<infer Value> ? Value : never;

/** Asks one instance for one of them. `id` is what tells its effect from any other's. */
async function take(
  { tenant, payouts, subaccounts, cardPayments }: Core,
  subaccountId: string,
  { kind, amountCents, pixKey }: Keyed,
  idempotencyKey?: string,
): Promise<{ id: string; replayed: boolean }> {
  switch (kind) {
    case 'card': {
      const input = { valueCents: amountCents, idempotencyKey };
      const { payment, replayed } = await cardPayments.create(tenant, input);
      return { id: payment.orderCode, replayed };
    }
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

describeOnDatabase(`${AT_ONCE} debits of all kinds at once, of two instances`, (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  async function start(): Promise<[Core, Core]> {
    const account = { payoutFeesCents: FEES, subaccountMarkupCents: MARKUP };
    const first = await startCore({ database, account, follows: false });
    return [first, await startCore({ database, tenant: first.tenant, clock: first.clock, follows: false })];
  }

  test('Concurrent debits of two instances never take more than there is', async () => {
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
      { numRuns: generated(5), endOnFailure: true },
    );
  });

  test(`One key has one effect of each kind, and is refused with another input (${ROUNDS} rounds)`, {
    timeout: 600_000 + ROUNDS * 5_000,
  }, async () => {
    const kinds = fc.uniqueArray(keyed, { minLength: 2, maxLength: 5, selector: operationOf });
    const order = fc.array(fc.record({ which: fc.nat({ max: 4 }), other: fc.nat({ max: 5 }) }), {
      minLength: AT_ONCE,
      maxLength: AT_ONCE,
    });
    await fc.assert(
      fc.asyncProperty(kinds, order, async (kinds, order) => {
        const cores = await start();
        const [core] = cores;
        const subaccountId = await openSubaccount(core, 10_000);
        await fund(core, { cents: 20_000, litoshi: 50_000_000 });
        const asked = order.map(({ which, other }) => {
          const one = kinds[which % kinds.length]!;
          return other > 0 ? one : { ...one, amountCents: one.amountCents + 1 };
        });
        const ask = (index: number) => take(cores[index % 2]!, subaccountId, asked[index]!, 'chave-1');
        const results = await Promise.allSettled(asked.map((_, index) => ask(index)));

        const operations = [...new Set(asked.map(operationOf))];
        /** The first input of each operation, and every answer to it. */
        const made = new Map<string, { id: string; amountCents: number }>();
        for (const operation of operations) {
          const its = results.flatMap((result, index) =>
            operationOf(asked[index]!) === operation ? [{ result, ...asked[index]! }] : [],
          );
          const done = its.flatMap(({ result, amountCents }) =>
            result.status === 'fulfilled' ? [{ ...result.value, amountCents }] : [],
          );
          expect(done.filter(({ replayed }) => !replayed)).toHaveLength(1);
          const [{ id, amountCents }] = done as [(typeof done)[number]];
          made.set(operation, { id, amountCents });
          for (const { result, ...each } of its)
            if (each.amountCents === amountCents) expect(result).toMatchObject({ value: { id } });
            else expect(result).toMatchObject({ reason: expect.any(IdempotencyError) });
        }
        // Whatever has become of it, and on any instance.
        await core.pass(40 * MINUTE);
        for (const index of asked.keys()) {
          const { id, amountCents } = made.get(operationOf(asked[index]!))!;
          if (asked[index]!.amountCents === amountCents)
            expect(await ask(index)).toEqual({ id, replayed: true });
          else await expect(ask(index)).rejects.toBeInstanceOf(IdempotencyError);
        }
        const keys = await database.sql
          .selectFrom('idempotency')
          .select('key')
          .where('account_id', '=', core.tenant.accountId)
          .execute();
        expect(keys).toHaveLength(operations.length);
        await expectBooksHold(database, core.tenant);
        await expectStatementsHold(database, core.tenant);
        await Promise.all(cores.map((each) => each.close()));
      }),
      { numRuns: ROUNDS, endOnFailure: true },
    );
  });
});

/** A key is one operation's: payouts of all methods share theirs. */
function operationOf({ kind }: Keyed): string {
  return kind === 'transfer' || kind === 'subaccountPayout' || kind === 'card' ? kind : 'payout';
}
