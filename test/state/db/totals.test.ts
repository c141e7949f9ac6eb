import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { MAX_ADDED_ROWS } from '../../../server/src/kernel/totals.ts';
import { totalsOfCardPayments } from '../../../server/src/money-in/card-payments/store.ts';
import { paymentTable } from '../../../server/src/money-in/payments/store.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { explainQueries } from '../../support/statements.ts';
import { COUNT, ORDER, PAYER, RARE, SEED, seed } from './list-rows.ts';

const ROWS = MAX_ADDED_ROWS + RARE + 100;
const TENANT: Tenant = { accountId: `acc_${'a'.repeat(24)}`, environment: 'live' };
const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 0, 1);

describe('the totals of a long list', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openFreshDatabase();
    await seed(database, ...SEED([{ accountId: TENANT.accountId, rows: ROWS, rare: RARE, first: 0 }]));
    await seed(database, COUNT);
  });

  /** The sum of the rows. */
  async function added(table: string, condition: string) {
    const { rows } = await sql<{ count: number; amountCents: number }>`
      select count(*) as count, coalesce(sum(amount_cents), 0)::bigint as "amountCents"
      from ${sql.table(table)} where account_id = ${TENANT.accountId} and ${sql.raw(condition)}`.execute(
      database.sql,
    );
    return rows[0]!;
  }

  test('A total of whole hours reads the amounts that are kept, and no row', async () => {
    const { database: explained, plans } = explainQueries(database);
    const period = {
      paidAfter: new Date(START + HOUR_MS),
      paidBefore: new Date(START + 171 * HOUR_MS),
    };
    const { groups, ...whole } = await totalsOfCardPayments(
      ...[explained.sql, TENANT, { ...period, status: ['paid' as const, 'refunded' as const] }],
      ['hour', 'status'],
    );
    expect(whole).toEqual({
      ...(await added(
        'card_payment',
        `paid_at >= '2026-01-01T01:00Z' and paid_at < '2026-01-08T03:00Z' and status in ('paid', 'refunded')`,
      )),
      isExact: true,
    });
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(whole.count);
    expect(new Set(groups.map(({ hour }) => hour!.getTime() % HOUR_MS))).toEqual(new Set([0]));
    const all = await totalsOfCardPayments(explained.sql, TENANT, {}, []);
    expect(all).toEqual({ ...(await added('card_payment', 'true')), isExact: true, groups: [] });
    const kept = plans.filter(({ scanned }) => !scanned.includes('card_payment'));
    expect(kept).toHaveLength(plans.length);
    expect(Math.max(...plans.map(({ rowsRead }) => rowsRead))).toBeLessThan(1_000);
  });

  test('A part of an hour at either end is added up row by row', async () => {
    const totals = await paymentTable.totals(
      database.sql,
      TENANT,
      {
        createdAfter: new Date(START + 90 * 60_000),
        createdBefore: new Date(START + 100 * HOUR_MS + 60_000),
        method: ['pix'],
      },
      ['method'],
    );
    const expected = await added(
      'payment',
      `created_at >= '2026-01-01T01:30Z' and created_at < '2026-01-05T04:01Z' and method = 'pix'`,
    );
    expect(totals).toEqual({
      ...{ ...expected, isExact: true },
      groups: [{ hour: null, status: null, method: 'pix', ...expected }],
    });
  });

  test('Any other condition is exact up to ten thousand rows, and says where there are more', async () => {
    const rare = await paymentTable.totals(
      database.sql,
      TENANT,
      { customer: { email: PAYER.rare.email } },
      [],
    );
    expect(rare).toEqual({
      ...(await added('payment', `customer ->> 'email' = '${PAYER.rare.email}'`)),
      ...{ isExact: true, groups: [] },
    });
    expect(rare.count).toBe(1);
    const many = await paymentTable.totals(database.sql, TENANT, { externalId: ORDER }, ['status']);
    expect([many.count, many.isExact]).toEqual([MAX_ADDED_ROWS, false]);
    const one = await paymentTable.totals(
      ...[database.sql, TENANT, { externalId: ORDER, status: ['refunded' as const] }],
      [],
    );
    expect(one).toEqual({
      ...(await added('payment', `external_id = '${ORDER}' and status = 'refunded'`)),
      ...{ isExact: true, groups: [] },
    });
  });
});
