import fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { objectId } from '../../../server/src/kernel/ids.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import type { JournalEntry } from '../../../server/src/state/ledger/journal.ts';
import {
  applyToBalances,
  type Balances,
  ledgerTransaction as build,
  type LedgerAccountName,
  type LedgerTransaction,
  NO_BALANCES,
} from '../../../server/src/state/ledger/postings.ts';
import {
  post,
  readBalancesAndSubaccounts,
  readBalancesAndVersion,
} from '../../../server/src/state/ledger/store.ts';
import { openAccount, startCore } from '../../support/core.ts';
import { describeOnBothEngines } from '../../support/database.ts';
import {
  ALL_ACCOUNTS,
  ANY_ENTRY,
  balancesOf,
  CENTS_ACCOUNTS,
  isOwed,
  ledgerTransaction,
  signsHold,
} from '../../support/ledger.ts';
import { generated, runsAll } from '../../support/scale.ts';
import { scansBy } from '../../support/statements.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');

describeOnBothEngines('the ledger', (open, engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('The ledger changes each balance with its postings', async () => {
    const tenant = await openAccount(database);
    await sell(tenant, 'sale', 5000);
    const release = ledgerTransaction('release', [
      { from: 'merchant_pending', to: 'merchant_balance', amount: 2000 },
    ]);
    await post(database.sql, [{ tenant, transactions: [release] }], NOW);
    expect(await balancesOf(database.sql, tenant)).toEqual({
      ...NO_BALANCES,
      merchant_balance: 2000,
      merchant_pending: 3000,
      merchant_receivable: 0,
      acquirer: -5000,
    });
  });

  test('The ledger reads the log version of its balances, and the sum of the subaccounts', async () => {
    const { tenant, controls, subaccounts } = await startCore({ database });
    const nothing = { balances: NO_BALANCES, version: 0, subaccountsCents: 0 };
    expect(await readBalancesAndVersion(database.sql, tenant)).toEqual(nothing);
    expect(await readBalancesAndSubaccounts(database.sql, tenant)).toEqual(nothing);

    await controls.credit(tenant, 500);
    const { subaccount } = await subaccounts.create(tenant, { name: 'Ana' });
    await subaccounts.transfer(tenant, { subaccountId: subaccount.id, amountCents: 200 });
    const balances = {
      ...NO_BALANCES,
      merchant_balance: 300,
      merchant_subaccounts: 200,
      received: -500,
    };
    expect(await balancesOf(database.sql, tenant)).toEqual(balances);
    expect(await readBalancesAndVersion(database.sql, tenant)).toEqual({
      balances,
      version: 4,
      subaccountsCents: 0,
    });
    expect(await readBalancesAndSubaccounts(database.sql, tenant)).toEqual({
      balances,
      version: 4,
      subaccountsCents: 200,
    });
  });

  // A session keeps its first plan: with the plan of an empty ledger it would scan every posting each time.
  if (engine === 'PostgreSQL' || runsAll())
    test('The ledger looks up what it needs and scans nothing, for a large group as for a small one', async () => {
      const fresh = await open();
      const tenant = await openAccount(fresh);
      const scans = await fresh.transaction(async (trx) => {
        // A new session has no plans. One of an earlier test has the plans of its postings.
        await sql`discard plans`.execute(trx);
        const group = Array.from({ length: 64 }, (_, index) => sale(`sale:${index}`, 100));
        return scansBy(trx, ['posting', 'ledger_account', 'ledger_transaction'], async () => {
          await post(trx, [{ tenant, transactions: group }], NOW);
          await post(trx, [{ tenant, transactions: [sale('one more', 100)] }], NOW);
        });
      });
      expect(scans).toEqual({});
    });

  describe('its journal', () => {
    test('A row of the journal says what its transaction was for, what it moved, and the figures after it', async () => {
      const tenant = await openAccount(database);
      const entry = (kind: JournalEntry['kind'], id: string, feeCents = 0) =>
        ({ kind, ref: id, resource: { type: 'card_payment', id }, feeCents }) as const;
      await post(
        database.sql,
        [
          {
            tenant,
            transactions: [
              build(
                'paid',
                [{ from: 'acquirer', to: 'merchant_pending', amount: 500 }],
                entry('card_payment', 'a'),
              ),
              build(
                'sent',
                [{ from: 'acquirer', to: 'refunds_in_transit', amount: 70 }],
                entry('return', 'b', 7),
              ),
            ],
          },
        ],
        NOW,
      );
      await post(
        database.sql,
        [
          {
            tenant,
            transactions: [
              build(
                'free',
                [{ from: 'merchant_pending', to: 'merchant_balance', amount: 200 }],
                entry('card_release', 'a'),
              ),
            ],
          },
        ],
        // A clock that is behind that of the instance before: the journal never goes back.
        new Date(NOW.getTime() - 1000),
      );
      const common = { resource: 'card_payment', subaccount_id: null, occurred_at: NOW };
      const first = 2 ** 40;
      expect(await journal(tenant)).toEqual([
        {
          ...{ ...common, number: first, entries: first, is_entry: true, transaction_id: 'paid' },
          ...{ kind: 'card_payment', ref: 'a', resource_id: 'a', fee_cents: 0 },
          ...{ ...NO_FIGURES, pending_delta: 500, pending: 500 },
        },
        {
          ...{ ...common, number: first + 1, entries: first, is_entry: false, transaction_id: 'sent' },
          ...{ kind: 'return', ref: 'b', resource_id: 'b', fee_cents: 7 },
          ...{ ...NO_FIGURES, pending: 500 },
        },
        {
          ...{ ...common, number: first + 2, entries: first + 1, is_entry: true, transaction_id: 'free' },
          ...{ kind: 'card_release', ref: 'a', resource_id: 'a', fee_cents: 0 },
          ...{ ...NO_FIGURES, pending_delta: -200, pending: 300, balance_delta: 200, balance: 200 },
        },
      ]);
    });

    test('What a server of the version before posts gets its rows, and its names with the commit', async () => {
      const { tenant, controls, payouts } = await startCore({ database });
      await controls.credit(tenant, 10_000);
      const { payout } = await payouts.request(tenant, {
        method: 'pix',
        amountCents: 2_500,
        destination: 'ana@example.com',
      });
      const id = payout.withdrawalId!;
      await database.transaction(async (trx) => {
        // One statement, without a row of the journal.
        await sql`
          insert into posting (account_id, environment, transaction_id, ledger_account, amount, occurred_at)
          values
            (${tenant.accountId}, 'live', ${`payout.denied:${id}`}, 'payouts_in_transit', -2500, ${NOW}),
            (${tenant.accountId}, 'live', ${`payout.denied:${id}`}, 'merchant_balance', 2500, ${NOW}),
            (${tenant.accountId}, 'live', 'credit:later', 'received', -7, ${NOW}),
            (${tenant.accountId}, 'live', 'credit:later', 'merchant_balance', 7, ${NOW})
        `.execute(trx);
        expect((await journal(tenant, trx)).at(-1)).toMatchObject({ kind: null, balance: 10_007 });
      });
      expect((await journal(tenant)).slice(1)).toMatchObject([
        {
          kind: 'payout',
          ref: payout.code,
          balance_delta: -2500,
          balance: 7_500,
          fee_cents: payout.feeCents,
        },
        {
          ...{ kind: 'payout_return', ref: payout.code, resource: 'payout', resource_id: id },
          ...{ balance_delta: 2500, balance: 10_000, fee_cents: -payout.feeCents! },
        },
        { kind: 'credit', ref: 'later', resource: null, balance_delta: 7, balance: 10_007 },
      ]);
    });

    test.each([
      [{ balance_delta: 6 }, 'journal_equals_postings'],
      [{ pending: 1 }, 'journal_ends_with_balances'],
      [{ balance: 104 }, 'journal_ends_with_balances'],
      [{ entries: 2 ** 40 }, 'journal_continues'],
      [{ number: 2 ** 40 + 2 }, 'journal_continues'],
      [{ occurred_at: new Date(0) }, 'journal_continues'],
      [{ transaction_id: 'other' }, 'journal_ends_with_balances'],
    ])('The journal refuses a row with %j', async (changed, constraint) => {
      const tenant = await openAccount(database);
      await credit(tenant, 'first', 100);
      const [first] = await journal(tenant);
      const next = { ...first!, number: 2 ** 40 + 1, entries: 2 ** 40 + 1, transaction_id: 'second' };
      const row = { ...next, balance_delta: 5, balance: 105, ...changed };
      const attempt = database.sql
        .with('journal', (db) =>
          db.insertInto('ledger_transaction').values({ ...ofTenant(tenant), ...row } as never),
        )
        .insertInto('posting')
        .values(
          [
            { ledger_account: 'received', amount: -5 },
            { ledger_account: 'merchant_balance', amount: 5 },
          ].map(
            (line) => ({ ...line, ...ofTenant(tenant), transaction_id: 'second', occurred_at: NOW }) as never,
          ),
        )
        .execute();
      await expect(attempt).rejects.toMatchObject({ constraint });
      expect(await journal(tenant)).toEqual([first]);
    });

    test('The journal refuses a row without postings', async () => {
      const tenant = await openAccount(database);
      await credit(tenant, 'first', 100);
      const again = sql`
        insert into ledger_transaction
        select account_id, environment, number + 1, entries, false, 'nothing', kind, ref, resource, resource_id,
          subaccount_id, fee_cents, occurred_at, 0, 0, 0, 0, 0, 0, balance, subaccounts, pending, dispute_hold, ltc, receivable
        from ledger_transaction where account_id = ${tenant.accountId}
      `.execute(database.sql);
      await expect(again).rejects.toMatchObject({ constraint: 'journal_equals_postings' });
    });

    test.each([
      'update ledger_transaction set fee_cents = 1',
      'delete from ledger_transaction',
      'truncate ledger_transaction',
    ])('The journal refuses the statement: %s', async (statement) => {
      await credit(await openAccount(database), 'first', 100);
      await expect(sql.raw(statement).execute(database.sql)).rejects.toMatchObject({ code: '23001' });
    });

    const NO_FIGURES = Object.fromEntries(
      ['balance', 'subaccounts', 'pending', 'dispute_hold', 'ltc', 'receivable'].flatMap((name) => [
        [name, 0],
        [`${name}_delta`, 0],
      ]),
    );
    const ofTenant = ({ accountId, environment }: Tenant) => ({ account_id: accountId, environment });
    const credit = (tenant: Tenant, id: string, amount: number) =>
      post(
        database.sql,
        [
          {
            tenant,
            transactions: [ledgerTransaction(id, [{ from: 'received', to: 'merchant_balance', amount }])],
          },
        ],
        NOW,
      );
    const journal = async ({ accountId, environment }: Tenant, db = database.sql) => {
      const { rows } = await sql<Record<string, unknown>>`
        select * from ledger_transaction where account_id = ${accountId} and environment = ${environment} order by number
      `.execute(db);
      return rows.map(({ account_id: _, environment: __, ...row }) => row);
    };
  });

  test('The ledger separates two tenants that use the same transaction id', async () => {
    const [one, other] = [await openAccount(database), await openAccount(database)];
    await sell(one, 'sale', 100);
    await sell(other, 'sale', 200);
    expect((await balancesOf(database.sql, one)).merchant_pending).toBe(100);
    expect((await balancesOf(database.sql, { ...one, environment: 'sandbox' })).merchant_pending).toBe(0);
  });

  test('The ledger refuses lines that do not sum to zero, with the whole statement that contains them', async () => {
    const tenant = await openAccount(database);
    const unbalanced: LedgerTransaction = {
      id: 'lost',
      lines: [{ account: 'merchant_pending', amount: 1 }],
      subaccountId: null,
      entry: ANY_ENTRY,
    };
    await expect(
      post(database.sql, [{ tenant, transactions: [sale('good', 100), unbalanced] }], NOW),
    ).rejects.toMatchObject({
      constraint: 'posting_sums_to_zero',
    });
    expect(await balancesOf(database.sql, tenant)).toEqual(NO_BALANCES);
    expect(await postings(tenant)).toBe(0);
  });

  test('The ledger refuses two transactions that balance only together', async () => {
    const tenant = await openAccount(database);
    const half = (id: string, account: LedgerAccountName, amount: number) => ({
      id,
      lines: [{ account, amount }],
      subaccountId: null,
      entry: ANY_ENTRY,
    });
    await expect(
      post(
        database.sql,
        [{ tenant, transactions: [half('a', 'acquirer', -5), half('b', 'merchant_pending', 5)] }],
        NOW,
      ),
    ).rejects.toMatchObject({ constraint: 'posting_sums_to_zero' });
  });

  test('The ledger refuses a transaction that was posted before', async () => {
    const tenant = await openAccount(database);
    await sell(tenant, 'sale', 100);
    await expect(sell(tenant, 'sale', 100)).rejects.toMatchObject({ code: '23505' });
    expect((await balancesOf(database.sql, tenant)).merchant_pending).toBe(100);
  });

  test('The ledger refuses a transaction that was posted before, although its lines are on other accounts', async () => {
    const tenant = await openAccount(database);
    await sell(tenant, 'sale', 100);
    const again = ledgerTransaction('sale', [
      { from: 'merchant_receivable', to: 'merchant_balance', amount: 100 },
    ]);
    await expect(post(database.sql, [{ tenant, transactions: [again] }], NOW)).rejects.toMatchObject({
      code: '23505',
      constraint: 'posting_once',
    });
    expect((await balancesOf(database.sql, tenant)).merchant_balance).toBe(0);
  });

  test.each<[string, LedgerAccountName, LedgerAccountName]>([
    ['the balance below zero', 'merchant_balance', 'acquirer'],
    ['what is pending below zero', 'merchant_pending', 'merchant_balance'],
    ['the receivable above zero', 'merchant_pending', 'merchant_receivable'],
    ['what the acquirer holds below zero', 'merchant_pending', 'acquirer'],
  ])('The ledger lets no transaction bring %s', async (_, from, to) => {
    const tenant = await openAccount(database);
    await sell(tenant, 'sale', 100);
    const before = await balancesOf(database.sql, tenant);
    await expect(
      post(
        database.sql,
        [{ tenant, transactions: [ledgerTransaction('wrong', [{ from, to, amount: 101 }])] }],
        NOW,
      ),
    ).rejects.toMatchObject({ constraint: 'ledger_account_sign' });
    expect(await balancesOf(database.sql, tenant)).toEqual(before);
  });

  test('The ledger does not let a balance grow beyond what can be read back', async () => {
    const tenant = await openAccount(database);
    await sell(tenant, 'all', Number.MAX_SAFE_INTEGER);
    await expect(sell(tenant, 'more', 1)).rejects.toMatchObject({ constraint: 'ledger_account_exact' });
    expect((await balancesOf(database.sql, tenant)).merchant_pending).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('The ledger refuses an account that it does not know', async () => {
    const tenant = await openAccount(database);
    const lines = [
      { account: 'merchant_pendng' as LedgerAccountName, amount: 5 },
      { account: 'acquirer' as const, amount: -5 },
    ];
    await expect(
      post(
        database.sql,
        [{ tenant, transactions: [{ id: 'typo', lines, subaccountId: null, entry: ANY_ENTRY }] }],
        NOW,
      ),
    ).rejects.toMatchObject({
      constraint: 'ledger_account_known',
    });
  });

  test.each([
    'update posting set amount = amount + 1',
    'update posting set amount = 0 where false',
    'delete from posting',
    'truncate posting',
    `update event set snapshot = '{}'`,
    'delete from event',
    'truncate event',
    'truncate stream cascade',
    'truncate account cascade',
    'update ledger_account set balance = balance + 1',
    'delete from ledger_account',
    'truncate ledger_account',
    `insert into ledger_account (account_id, environment, name, balance) select id, 'sandbox', 'merchant_balance', 5 from account`,
  ])('The ledger refuses the statement: %s', async (statement) => {
    const tenant = await openAccount(database);
    await sell(tenant, 'sale', 100);
    await expect(sql.raw(statement).execute(database.sql)).rejects.toMatchObject({ code: '23001' });
    expect((await balancesOf(database.sql, tenant)).merchant_pending).toBe(100);
  });

  test('The balances are the sum of the entries, whatever was posted and refused', async () => {
    const account = fc.constantFrom(...CENTS_ACCOUNTS);
    const move = fc.record({ from: account, to: account, amount: fc.integer({ min: 1, max: 500 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(move, { minLength: 1, maxLength: 3 }), { maxLength: 8 }),
        async (batches) => {
          const tenant = await openAccount(database);
          await sell(tenant, 'opening', 1000);
          let expected: Balances = await balancesOf(database.sql, tenant);
          for (const [index, moves] of batches.entries()) {
            const transactions = moves
              .filter(({ from, to }) => from !== to)
              .map((each, line) => ledgerTransaction(`${index}.${line}`, [each]));
            // The database checks the sums of a statement, the model each transaction: the model is stricter than the
            // database.
            let after: Balances | null = expected;
            for (const { lines } of transactions)
              for (const { account: name, amount } of lines)
                after = { ...after, [name]: after[name] + amount };
            const fits = signsHold(after);
            const posted = await post(database.sql, [{ tenant, transactions }], NOW).then(
              () => true,
              () => false,
            );
            expect(posted).toBe(fits);
            if (posted) expected = after;
          }
          expect(await balancesOf(database.sql, tenant)).toEqual(expected);
          expect(await sums(tenant)).toEqual(expected);
        },
      ),
      { numRuns: generated(25), endOnFailure: true },
    );
  });

  describe('of a subaccount', () => {
    test('The balance of a subaccount changes with the postings that name it, as the sum of all subaccounts does', async () => {
      const tenant = await openAccount(database);
      const [ana, bia] = [await openSubaccount(tenant), await openSubaccount(tenant)];
      await sell(tenant, 'sale', 100);
      await move(tenant, 'release', 'merchant_pending', 'merchant_balance', 100);
      await move(tenant, 'a', 'merchant_balance', 'merchant_subaccounts', 70, ana);
      await move(tenant, 'b', 'merchant_balance', 'merchant_subaccounts', 20, bia);
      await move(tenant, 'c', 'merchant_subaccounts', 'payouts_in_transit', 30, ana);
      expect(await readBalancesAndSubaccounts(database.sql, tenant)).toMatchObject({
        balances: { merchant_balance: 10, merchant_subaccounts: 60, payouts_in_transit: 30 },
        subaccountsCents: 60,
      });
      expect(await balanceOf(ana)).toBe(40);
      expect(await balanceOf(bia)).toBe(20);

      await expect(
        move(tenant, 'more', 'merchant_subaccounts', 'payouts_in_transit', 41, ana),
      ).rejects.toMatchObject({ code: '23514' });
      expect(await balanceOf(ana)).toBe(40);
    });

    test('Every line of a subaccount names it, and it belongs to the same tenant', async () => {
      const [tenant, other] = [await openAccount(database), await openAccount(database)];
      await sell(tenant, 'sale', 100);
      await move(tenant, 'release', 'merchant_pending', 'merchant_balance', 100);
      const nameless = {
        ...ledgerTransaction('n', [{ from: 'merchant_balance', to: 'paid_out', amount: 1 }]),
        lines: [
          { account: 'merchant_balance' as const, amount: -1 },
          { account: 'merchant_subaccounts' as const, amount: 1 },
        ],
      };
      await expect(post(database.sql, [{ tenant, transactions: [nameless] }], NOW)).rejects.toMatchObject({
        constraint: 'posting_names_subaccount',
      });
      const foreign = await openSubaccount(other);
      await expect(
        move(tenant, 'f', 'merchant_balance', 'merchant_subaccounts', 1, foreign),
      ).rejects.toMatchObject({ constraint: 'posting_of_subaccount' });
    });

    test.each([
      'update subaccount set balance_cents = balance_cents + 1',
      'delete from subaccount',
      'truncate subaccount cascade',
      `insert into subaccount (account_id, environment, id, name, balance_cents, created_at)
       select id, 'live', 'sacc_' || md5(random()::text), 'x', 5, '2026-01-01' from account limit 1`,
    ])('The ledger refuses the statement about subaccounts: %s', async (statement) => {
      const tenant = await openAccount(database);
      await openSubaccount(tenant);
      await expect(sql.raw(statement).execute(database.sql)).rejects.toMatchObject({ code: '23001' });
    });

    async function openSubaccount(tenant: Tenant): Promise<string> {
      const id = `sacc_${objectId()}${objectId().slice(0, 8)}`;
      await database.sql
        .insertInto('subaccount')
        .values({
          account_id: tenant.accountId,
          environment: tenant.environment,
          id,
          name: 'Ana',
          external_id: null,
          created_at: NOW,
        })
        .execute();
      return id;
    }

    async function balanceOf(id: string): Promise<number> {
      const row = await database.sql
        .selectFrom('subaccount')
        .select('balance_cents')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      return row.balance_cents;
    }
  });

  test('The ledger never balances cents with litoshi', async () => {
    const tenant = await openAccount(database);
    const lines = [
      { account: 'ltc_received' as const, amount: -5 },
      { account: 'merchant_balance' as const, amount: 5 },
    ];
    await expect(
      post(
        database.sql,
        [{ tenant, transactions: [{ id: 'mixed', lines, subaccountId: null, entry: ANY_ENTRY }] }],
        NOW,
      ),
    ).rejects.toMatchObject({ constraint: 'posting_sums_to_zero' });
  });

  function move(
    tenant: Tenant,
    id: string,
    from: LedgerAccountName,
    to: LedgerAccountName,
    amount: number,
    subaccountId: string | null = null,
  ): Promise<void> {
    return post(
      database.sql,
      [{ tenant, transactions: [ledgerTransaction(id, [{ from, to, amount }], subaccountId)] }],
      NOW,
    );
  }

  function sell(tenant: Tenant, id: string, cents: number): Promise<void> {
    return post(database.sql, [{ tenant, transactions: [sale(id, cents)] }], NOW);
  }

  async function postings(tenant: Tenant): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from posting where account_id = ${tenant.accountId}
    `.execute(database.sql);
    return rows[0]!.count;
  }

  async function sums(tenant: Tenant): Promise<Balances> {
    const { rows } = await sql<{ name: LedgerAccountName; cents: number }>`
      select ledger_account as name, sum(amount)::bigint as cents from posting
      where account_id = ${tenant.accountId} group by ledger_account
    `.execute(database.sql);
    return { ...NO_BALANCES, ...Object.fromEntries(rows.map(({ name, cents }) => [name, cents])) };
  }
});

describe('a transaction that the program lets pass', () => {
  test('The program refuses a wrong sign on each account, as the database does', () => {
    for (const account of ALL_ACCOUNTS) {
      const amount = isOwed(account) ? 1 : -1;
      expect(() =>
        applyToBalances(NO_BALANCES, {
          id: 't',
          lines: [{ account, amount }],
          subaccountId: null,
          entry: ANY_ENTRY,
        }),
      ).toThrow(RangeError);
    }
  });
});

function sale(id: string, cents: number): LedgerTransaction {
  return ledgerTransaction(id, [{ from: 'acquirer', to: 'merchant_pending', amount: cents }]);
}
