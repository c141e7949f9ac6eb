import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../server/src/db/database.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import {
  applyToBalances,
  type Balances,
  type LedgerAccountName,
  type LedgerTransaction,
  ledgerTransaction,
  NO_BALANCES,
} from '../../server/src/ledger/postings.ts';
import { post, readBalances } from '../../server/src/ledger/store.ts';
import { openAccount } from '../support/core.ts';
import { describeOnBothEngines } from '../support/database.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');

describeOnBothEngines('the ledger', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('moves each balance with the postings', async () => {
    const tenant = await openAccount(database);
    await sell(tenant, 'sale', 5000);
    await post(
      database.sql,
      tenant,
      [
        ledgerTransaction('release', [
          { from: 'merchant_pending', to: 'merchant_balance', amountCents: 2000 },
        ]),
      ],
      NOW,
    );
    expect(await readBalances(database.sql, tenant)).toEqual({
      merchant_balance: 2000,
      merchant_pending: 3000,
      merchant_receivable: 0,
      acquirer: -5000,
    });
  });

  // A session keeps its first plan: made for an empty ledger, a scan would then read every posting there is, each time.
  test('looks up what it needs and scans nothing, for a large group as for a small one', async () => {
    const fresh = await open();
    const tenant = await openAccount(fresh);
    const scans = await fresh.transaction(async (trx) => {
      const group = Array.from({ length: 64 }, (_, index) => sale(`sale:${index}`, 100));
      await post(trx, tenant, group, NOW);
      await post(trx, tenant, [sale('one more', 100)], NOW);
      const { rows } = await sql<{ relname: string }>`
        select relname, seq_scan, seq_tup_read from pg_stat_xact_user_tables
        where relname in ('posting', 'ledger_account') and seq_scan > 0`.execute(trx);
      return rows;
    });
    expect(scans).toEqual([]);
  });

  test('keeps two tenants apart that use the same transaction id', async () => {
    const [one, other] = [await openAccount(database), await openAccount(database)];
    await sell(one, 'sale', 100);
    await sell(other, 'sale', 200);
    expect((await readBalances(database.sql, one)).merchant_pending).toBe(100);
    expect((await readBalances(database.sql, { ...one, environment: 'sandbox' })).merchant_pending).toBe(0);
  });

  test('refuses lines that do not sum to zero, with all that came in the same statement', async () => {
    const tenant = await openAccount(database);
    const unbalanced: LedgerTransaction = {
      id: 'lost',
      lines: [{ account: 'merchant_pending', amountCents: 1 }],
    };
    await expect(post(database.sql, tenant, [sale('good', 100), unbalanced], NOW)).rejects.toMatchObject({
      constraint: 'posting_sums_to_zero',
    });
    expect(await readBalances(database.sql, tenant)).toEqual(NO_BALANCES);
    expect(await postings(tenant)).toBe(0);
  });

  test('refuses two transactions that balance only together', async () => {
    const tenant = await openAccount(database);
    const half = (id: string, account: LedgerAccountName, amountCents: number) => ({
      id,
      lines: [{ account, amountCents }],
    });
    await expect(
      post(database.sql, tenant, [half('a', 'acquirer', -5), half('b', 'merchant_pending', 5)], NOW),
    ).rejects.toMatchObject({ constraint: 'posting_sums_to_zero' });
  });

  test('refuses a transaction that was posted before', async () => {
    const tenant = await openAccount(database);
    await sell(tenant, 'sale', 100);
    await expect(sell(tenant, 'sale', 100)).rejects.toMatchObject({ code: '23505' });
    expect((await readBalances(database.sql, tenant)).merchant_pending).toBe(100);
  });

  test('refuses a transaction that was posted before, though its lines are on other accounts', async () => {
    const tenant = await openAccount(database);
    await sell(tenant, 'sale', 100);
    const again = ledgerTransaction('sale', [
      { from: 'merchant_receivable', to: 'merchant_balance', amountCents: 100 },
    ]);
    await expect(post(database.sql, tenant, [again], NOW)).rejects.toMatchObject({
      code: '23505',
      constraint: 'posting_once',
    });
    expect((await readBalances(database.sql, tenant)).merchant_balance).toBe(0);
  });

  test.each<[string, LedgerAccountName, LedgerAccountName]>([
    ['the balance below zero', 'merchant_balance', 'acquirer'],
    ['what is pending below zero', 'merchant_pending', 'merchant_balance'],
    ['the receivable above zero', 'merchant_pending', 'merchant_receivable'],
    ['what the acquirer holds below zero', 'merchant_pending', 'acquirer'],
  ])('does not let %s', async (_, from, to) => {
    const tenant = await openAccount(database);
    await sell(tenant, 'sale', 100);
    const before = await readBalances(database.sql, tenant);
    await expect(
      post(database.sql, tenant, [ledgerTransaction('wrong', [{ from, to, amountCents: 101 }])], NOW),
    ).rejects.toMatchObject({ constraint: 'ledger_account_sign' });
    expect(await readBalances(database.sql, tenant)).toEqual(before);
  });

  test('does not let a balance grow beyond what can be read back', async () => {
    const tenant = await openAccount(database);
    await sell(tenant, 'all', Number.MAX_SAFE_INTEGER);
    await expect(sell(tenant, 'more', 1)).rejects.toMatchObject({ constraint: 'ledger_account_exact' });
    expect((await readBalances(database.sql, tenant)).merchant_pending).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('refuses an account that it does not know', async () => {
    const tenant = await openAccount(database);
    const lines = [
      { account: 'merchant_pendng' as LedgerAccountName, amountCents: 5 },
      { account: 'acquirer' as const, amountCents: -5 },
    ];
    await expect(post(database.sql, tenant, [{ id: 'typo', lines }], NOW)).rejects.toMatchObject({
      constraint: 'ledger_account_known',
    });
  });

  test.each([
    'update posting set amount_cents = amount_cents + 1',
    'update posting set amount_cents = 0 where false',
    'delete from posting',
    'truncate posting',
    `update event set snapshot = '{}'`,
    'delete from event',
    'truncate event',
    'truncate stream cascade',
    'truncate account cascade',
    'update ledger_account set balance_cents = balance_cents + 1',
    'delete from ledger_account',
    'truncate ledger_account',
    `insert into ledger_account (account_id, environment, name, balance_cents) select id, 'sandbox', 'merchant_balance', 5 from account`,
  ])('refuses: %s', async (statement) => {
    const tenant = await openAccount(database);
    await sell(tenant, 'sale', 100);
    await expect(sql.raw(statement).execute(database.sql)).rejects.toMatchObject({ code: '23001' });
    expect((await readBalances(database.sql, tenant)).merchant_pending).toBe(100);
  });

  test('has balances that are the sum of the entries, whatever was posted and refused', async () => {
    const account = fc.constantFrom(...(Object.keys(NO_BALANCES) as LedgerAccountName[]));
    const move = fc.record({ from: account, to: account, amountCents: fc.integer({ min: 1, max: 500 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(move, { minLength: 1, maxLength: 3 }), { maxLength: 8 }),
        async (batches) => {
          const tenant = await openAccount(database);
          await sell(tenant, 'opening', 1000);
          let expected: Balances = await readBalances(database.sql, tenant);
          for (const [index, moves] of batches.entries()) {
            const transactions = moves
              .filter(({ from, to }) => from !== to)
              .map((each, line) => ledgerTransaction(`${index}.${line}`, [each]));
            // The database looks at the sums of a statement, the model at each transaction: where both are asked, it
            // is the model that is stricter.
            let after: Balances | null = expected;
            for (const { lines } of transactions)
              for (const { account: name, amountCents } of lines)
                after = { ...after, [name]: after[name] + amountCents };
            const fits = signsHold(after);
            const posted = await post(database.sql, tenant, transactions, NOW).then(
              () => true,
              () => false,
            );
            expect(posted).toBe(fits);
            if (posted) expected = after;
          }
          expect(await readBalances(database.sql, tenant)).toEqual(expected);
          expect(await sums(tenant)).toEqual(expected);
        },
      ),
      { numRuns: 25 },
    );
  });

  function sell(tenant: Tenant, id: string, cents: number): Promise<void> {
    return post(database.sql, tenant, [sale(id, cents)], NOW);
  }

  async function postings(tenant: Tenant): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from posting where account_id = ${tenant.accountId}
    `.execute(database.sql);
    return rows[0]!.count;
  }

  async function sums(tenant: Tenant): Promise<Balances> {
    const { rows } = await sql<{ name: LedgerAccountName; cents: number }>`
      select ledger_account as name, sum(amount_cents)::bigint as cents from posting
      where account_id = ${tenant.accountId} group by ledger_account
    `.execute(database.sql);
    return { ...NO_BALANCES, ...Object.fromEntries(rows.map(({ name, cents }) => [name, cents])) };
  }
});

describe('a transaction that the program lets pass', () => {
  test('is one that the database lets pass: their signs are the same', () => {
    for (const [account, cents] of [
      ['merchant_balance', -1],
      ['merchant_pending', -1],
      ['merchant_receivable', 1],
      ['acquirer', 1],
    ] as const)
      expect(() =>
        applyToBalances(NO_BALANCES, { id: 't', lines: [{ account, amountCents: cents }] }),
      ).toThrow(RangeError);
  });
});

function sale(id: string, cents: number): LedgerTransaction {
  return ledgerTransaction(id, [{ from: 'acquirer', to: 'merchant_pending', amountCents: cents }]);
}

function signsHold(balances: Balances): boolean {
  const { merchant_balance, merchant_pending, merchant_receivable, acquirer } = balances;
  return merchant_balance >= 0 && merchant_pending >= 0 && merchant_receivable <= 0 && acquirer <= 0;
}
