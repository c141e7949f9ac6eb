import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { objectId } from '../../../server/src/kernel/ids.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { isWallet, type OwnWallet, walletOf } from '../../../server/src/money-out/wallet/model.ts';
import { createWalletService } from '../../../server/src/money-out/wallet/service.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { withdrawableOf } from '../../../server/src/state/ledger/funds.ts';
import {
  applyToBalances,
  type Balances,
  type LedgerAccountName,
  NO_BALANCES,
} from '../../../server/src/state/ledger/postings.ts';
import { type Core, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { readAfter } from '../../support/events.ts';
import { ledgerTransaction } from '../../support/ledger.ts';
import { embedded } from '../../support/port-fixture.ts';
import { generated } from '../../support/scale.ts';
import { failStatements } from '../../support/statements.ts';
import { describePort } from './port.ts';

type Move = [from: LedgerAccountName, to: LedgerAccountName];

/** Each kind of posting, by its name. */
const OPERATIONS = {
  sale: ['acquirer', 'merchant_pending'],
  release: ['merchant_pending', 'merchant_balance'],
  refund: ['merchant_balance', 'acquirer'],
  refundOfWhatIsGone: ['merchant_receivable', 'acquirer'],
  credit: ['received', 'merchant_balance'],
  settlement: ['received', 'merchant_receivable'],
  hold: ['dispute_claims', 'dispute_hold'],
  free: ['dispute_hold', 'dispute_claims'],
  transfer: ['merchant_balance', 'merchant_subaccounts'],
  payout: ['merchant_balance', 'payouts_in_transit'],
  payoutOfSubaccount: ['merchant_subaccounts', 'payouts_in_transit'],
  completion: ['payouts_in_transit', 'paid_out'],
  denial: ['payouts_in_transit', 'merchant_balance'],
  fee: ['payouts_in_transit', 'platform_fees'],
  ltc: ['ltc_received', 'merchant_ltc'],
  ltcPayout: ['merchant_ltc', 'ltc_in_transit'],
} satisfies Record<string, Move>;
const operation = fc.constantFrom(...(Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[]));

describeOnDatabase('the wallet', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  describePort(embedded(() => database));

  test('The wallet agrees with the postings after every operation', async () => {
    const step = fc.record({ operation, amount: fc.integer({ min: 1, max: 900 }) });
    const opening: { operation: keyof typeof OPERATIONS; amount: number }[] = [
      { operation: 'sale', amount: 1_000 },
      { operation: 'credit', amount: 1_000 },
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const core = await startCore({ database, follows: false });
        const subaccountId = await openSubaccount(core.tenant);
        for (const [index, { operation, amount }] of [...opening, ...steps].entries()) {
          const [from, to] = OPERATIONS[operation];
          const named = [from, to].includes('merchant_subaccounts') ? subaccountId : null;
          const transaction = ledgerTransaction(String(index), [{ from, to, amount }], named);
          // An account never gives what it does not have.
          if (!fits(await core.balances(), transaction)) continue;
          await commit(core, transaction);

          const summed = await sums(core.tenant);
          const expected = walletOfSums(summed);
          expect(await core.wallet.read(core.tenant)).toEqual(expected);
          // The last update has the expected wallet.
          expect(await lastReported(core)).toEqual(expected);
          expect(withdrawableOf(await core.balances())).toBe(expected.withdrawableCents);
          expect(expected.withdrawableCents).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: generated(20), endOnFailure: true },
    );
  });

  describe('whose subaccounts’ sum cannot be computed', () => {
    test('A wallet shows null for a sum that cannot be computed and does not subtract it, while the debit still does', async () => {
      const core = await startCore({ database });
      const subaccountId = await openSubaccount(core.tenant);
      await core.controls.credit(core.tenant, 1_000);
      await core.controls.openDispute(core.tenant, { amountCents: 100 });
      await commit(
        core,
        ledgerTransaction(
          'transfer',
          [{ from: 'merchant_balance', to: 'merchant_subaccounts', amount: 600 }],
          subaccountId,
        ),
      );
      const { wallet, faults, repair } = broken(core);
      expect(await wallet.read(core.tenant)).toEqual({
        environment: 'live',
        balanceCents: 1_000,
        disputeBlockedCents: 100,
        withdrawableCents: 900,
        pendingReleaseCents: 0,
        receivableCents: 0,
        subaccountsBalanceCents: null,
        assignableCents: null,
        cryptoBalanceLitoshi: 0,
      });
      expect(faults).toHaveLength(1);
      expect(withdrawableOf(await core.balances())).toBe(300);

      repair();
      expect(await wallet.read(core.tenant)).toMatchObject({
        withdrawableCents: 300,
        subaccountsBalanceCents: 600,
        assignableCents: 300,
      });
      expect(faults).toHaveLength(1);
    });

    test('A wallet without the subaccounts’ sum still has the version of its log', async () => {
      const core = await startCore({ database });
      await core.controls.credit(core.tenant, 1_000);
      const { version } = await core.wallet.readWithVersion(core.tenant);
      expect(version).toBe(1);
      expect((await broken(core).wallet.readWithVersion(core.tenant)).version).toBe(version);
    });

    test('No wallet is shown where the balances cannot be read', async () => {
      const core = await startCore({ database });
      const nothing = failStatements(database, () => true);
      const faults: unknown[] = [];
      const wallet = createWalletService({ database: nothing, onFault: (fault) => faults.push(fault) });
      await expect(wallet.read(core.tenant)).rejects.toThrow('statement timeout');
    });
  });

  test('The wallet of a new account is empty, at the beginning of its log', async () => {
    const core = await startCore({ database });
    expect(await core.wallet.readWithVersion(core.tenant)).toEqual({
      version: 0,
      wallet: walletOf('live', NO_BALANCES, 0),
    });
  });

  test('The wallet is read in one statement, so that all its figures are of one moment', async () => {
    const core = await startCore({ database });
    const statements: string[] = [];
    const counted = failStatements(database, (statement) => {
      statements.push(statement);
      return false;
    });
    await createWalletService({ database: counted, onFault: () => undefined }).readWithVersion(core.tenant);
    expect(statements).toHaveLength(1);
  });

  /** A wallet service whose statements about subaccounts fail until it is repaired. */
  function broken(core: Core) {
    let failing = true;
    const faults: unknown[] = [];
    const flaky = failStatements(
      core.database,
      (statement) => failing && /\bfrom subaccount\b/.test(statement),
    );
    const wallet = createWalletService({ database: flaky, onFault: (fault) => faults.push(fault) });
    return {
      wallet,
      faults,
      repair: () => {
        failing = false;
      },
    };
  }

  async function openSubaccount({ accountId, environment }: Tenant): Promise<string> {
    const id = `sacc_${objectId()}${objectId().slice(0, 8)}`;
    const created_at = new Date('2026-03-02T12:00:00.000Z');
    await database.sql
      .insertInto('subaccount')
      .values({ account_id: accountId, environment, id, name: 'Ana', external_id: null, created_at })
      .execute();
    return id;
  }

  /** Computes the balances from all entries, without the stored sums. */
  async function sums({ accountId, environment }: Tenant): Promise<Balances> {
    const { rows } = await sql<{ name: LedgerAccountName; amount: number }>`
      select ledger_account as name, sum(amount)::bigint as amount from posting
      where account_id = ${accountId} and environment = ${environment} group by ledger_account
    `.execute(database.sql);
    return { ...NO_BALANCES, ...Object.fromEntries(rows.map(({ name, amount }) => [name, amount])) };
  }

  async function lastReported(core: Core): Promise<OwnWallet> {
    const { events } = await readAfter(database.sql, core.tenant, {
      after: 0,
      topic: { resource: 'wallet' },
      limit: 100,
    });
    const event = events.at(-1)!;
    if (event.resource !== 'wallet' || isWallet(event.snapshot))
      throw new TypeError('not an event of the ledger');
    return walletOf('live', event.snapshot, event.snapshot.merchant_subaccounts);
  }
});

/** The wallet by the document's section 2.4, written a second time. */
function walletOfSums(sum: Balances): OwnWallet {
  const gross = sum.merchant_balance + sum.merchant_subaccounts;
  const withdrawable = Math.max(0, gross - sum.dispute_hold - sum.merchant_subaccounts);
  return {
    environment: 'live',
    balanceCents: gross,
    disputeBlockedCents: sum.dispute_hold,
    withdrawableCents: withdrawable,
    pendingReleaseCents: sum.merchant_pending,
    receivableCents: Math.abs(sum.merchant_receivable),
    subaccountsBalanceCents: sum.merchant_subaccounts,
    assignableCents: withdrawable,
    cryptoBalanceLitoshi: sum.merchant_ltc,
  };
}

function fits(balances: Balances, transaction: ReturnType<typeof ledgerTransaction>): boolean {
  try {
    applyToBalances(balances, transaction);
    return true;
  } catch {
    return false;
  }
}

function commit(
  { committer, tenant }: Core,
  transaction: ReturnType<typeof ledgerTransaction>,
): Promise<void> {
  return committer.change({
    tenant,
    read: async () => undefined,
    decide: () => ({ outcome: undefined, writes: { transactions: [transaction] } }),
  });
}
