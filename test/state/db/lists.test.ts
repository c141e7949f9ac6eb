import fc from 'fast-check';
import { CompiledQuery, sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { listDeliveries as listContents } from '../../../server/src/catalogue/deliveries/store.ts';
import {
  countProducts,
  deleteProducts,
  listProducts,
  productTable,
} from '../../../server/src/catalogue/products/store.ts';
import { listStoreProducts } from '../../../server/src/catalogue/store/store.ts';
import { createSystemClock, plusMs } from '../../../server/src/kernel/clock.ts';
import { objectId } from '../../../server/src/kernel/ids.ts';
import { askedOf as conditionsOf, type DetailFilter } from '../../../server/src/kernel/list-filter.ts';
import { PAYOUT_METHODS, type PayoutMethod } from '../../../server/src/kernel/payout-methods/registry.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { cardPaymentConditions } from '../../../server/src/money-in/card-payments/filter.ts';
import { countCardPayments, listCardPayments } from '../../../server/src/money-in/card-payments/store.ts';
import type { ChargeListFilter } from '../../../server/src/money-in/charges/model.ts';
import { chargeTable } from '../../../server/src/money-in/charges/store.ts';
import type { DisputeFilter } from '../../../server/src/money-in/disputes/model.ts';
import { countDisputes, listDisputes } from '../../../server/src/money-in/disputes/store.ts';
import { type PaymentFilter, paymentConditions } from '../../../server/src/money-in/payments/model.ts';
import { paymentTable } from '../../../server/src/money-in/payments/store.ts';
import type { RefundFilter } from '../../../server/src/money-in/refunds/model.ts';
import { countRefunds, listRefunds } from '../../../server/src/money-in/refunds/store.ts';
import type { ReturnFilter } from '../../../server/src/money-in/returns/model.ts';
import { countReturns, listReturns } from '../../../server/src/money-in/returns/store.ts';
import {
  countSubscriptions,
  listCyclesOfEach,
  listSubscriptions,
} from '../../../server/src/money-in/subscriptions/store.ts';
import {
  type OwnPayout,
  PAYOUT_STATUSES,
  type PayoutFilter,
  type PayoutRange,
  type PayoutStatus,
  payoutConditions,
} from '../../../server/src/money-out/payouts/model.ts';
import {
  countPayouts,
  listPayouts,
  savePayouts,
  totalsOfPayouts,
} from '../../../server/src/money-out/payouts/store.ts';
import {
  type StatementFilter,
  type SubaccountPayoutFilter,
  subaccountPayoutConditions,
} from '../../../server/src/money-out/subaccounts/model.ts';
import {
  countFilteredPayouts,
  countPayoutsOfEach,
  listFilteredPayouts,
  listPayoutsOfEach,
} from '../../../server/src/money-out/subaccounts/payout-store.ts';
import {
  countEntries,
  countFilteredEntries,
  entryTable,
  listEntries,
  listEntriesOfEach,
  listFilteredEntries,
} from '../../../server/src/money-out/subaccounts/statement-store.ts';
import { countSubaccounts, listSubaccounts } from '../../../server/src/money-out/subaccounts/store.ts';
import { TOTAL_LAWS } from '../../../server/src/programs/verify/laws/totals.ts';
import type { Database, Sql } from '../../../server/src/state/db/database.ts';
import { recordsOf } from '../../../server/src/state/db/each-tenant.ts';
import { splitPeriod } from '../../../server/src/state/db/lists.ts';
import { migrate } from '../../../server/src/state/db/migrate.ts';
import { openPostgres } from '../../../server/src/state/db/postgres.ts';
import { openStreams } from '../../../server/src/state/events/log.ts';
import {
  countMirroredRange,
  listMirroredRange,
  type RangeFilter,
} from '../../../server/src/upstream/mirror-lists.ts';
import { type MirroredRow, saveMirrored } from '../../../server/src/upstream/mirror-store.ts';
import {
  countDeliveries,
  insertDeliveries,
  listDeliveries,
  updateDeliveries,
} from '../../../server/src/webhooks/store.ts';
import { PAYOUT } from '../../money-out/payouts/examples.ts';
import { openAccount } from '../../support/core.ts';
import { createPostgresDatabase, describeOnDatabase, hasLockWaiter } from '../../support/database.ts';
import { readAfter } from '../../support/events.ts';
import { generated, scale } from '../../support/scale.ts';
import { explainQueries, type ReadPlan, scansBy } from '../../support/statements.ts';
import { silent } from '../../support/templates.ts';
import {
  COMMON_CENTS,
  COUNT,
  CROWD,
  MOST,
  PAYER,
  placeOfReturned,
  RARE,
  RARE_CENTS,
  ROWS,
  ROWS_OF_CROWD,
  SEED,
  SUBACCOUNT,
  SUBSCRIPTION,
  seed,
} from './list-rows.ts';

const START = new Date('2026-01-30T22:00:00.000Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The range of a whole list of the mirror. */
const plain = { period: {}, allOf: null };

// ── Periods ─────────────────────────────────────────────────────────────────────────────────────

describe('A period', () => {
  const end = fc.option(
    fc.integer({ min: 0, max: 4_000 * 24 * HOUR }).map((ms) => plusMs(START, ms)),
    {
      nil: undefined,
    },
  );

  test('A period is split into adjacent parts: few counts, and parts of rows that are shorter than two hours', () => {
    fc.assert(
      fc.property(end, end, (from, before) => {
        const parts = splitPeriod({ from, before });
        if (from && before && from >= before) {
          expect(parts).toEqual([]);
          return;
        }
        const inOrder = [...parts].sort(
          (left, right) => (left.from?.getTime() ?? 0) - (right.from?.getTime() ?? 0),
        );
        expect([inOrder[0]!.from, inOrder.at(-1)!.before]).toEqual([from, before]);
        for (const [index, part] of inOrder.entries()) {
          if (index > 0) expect(part.from).toEqual(inOrder[index - 1]!.before);
          const { seconds, from: first, before: last } = part;
          if (seconds === 0) expect(last!.getTime() - first!.getTime()).toBeLessThan(2 * HOUR);
          else for (const edge of [first, last]) expect((edge?.getTime() ?? 0) % (seconds * 1_000)).toBe(0);
          if (seconds > 0 && first && last)
            expect((last.getTime() - first.getTime()) / seconds / 1_000).toBeLessThanOrEqual(130);
        }
      }),
    );
  });

  test('A period without ends is one count', () => {
    expect(splitPeriod({})).toEqual([{ seconds: 2_764_800 }]);
  });
});

// ── Totals ──────────────────────────────────────────────────────────────────────────────────────

/** A change in one transaction, which may be rolled back. */
interface Step {
  what: 'payouts' | 'products' | 'deliveries' | 'observed' | 'by hand';
  places: number[];
  variant: number;
  isUndone: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('payouts', 'products', 'deliveries', 'observed', 'by hand'),
  places: fc.uniqueArray(fc.nat({ max: 30 }), { minLength: 1, maxLength: 8 }),
  variant: fc.nat({ max: 11 }),
  isUndone: fc.boolean(),
});

/** The payout with this number, always of the same method and instant. */
function payoutOf(tenant: Tenant, place: number, variant: number): OwnPayout {
  const method = PAYOUT_METHODS[place % 4]!;
  const of = (status: PayoutStatus) =>
    status === 'processing' && method !== 'pix_turbo' ? 'pending' : status;
  const status = of(PAYOUT_STATUSES[variant % 4]!);
  const requestedAt = plusMs(START, place * 7 * HOUR + variantOf(place) * MINUTE);
  const isOver = status === 'completed' || status === 'denied';
  return {
    ...PAYOUT,
    withdrawalId: idOf(tenant, place),
    code: `SAQ-${idOf(tenant, place).slice(-12).toUpperCase()}`,
    method,
    status,
    amountCents: PAYOUT.amountCents + place,
    requestedAt,
    litoshi: method === 'ltc' ? 7 : null,
    processedAt: isOver ? requestedAt : null,
    deniedReason: status === 'denied' ? 'refused' : null,
  };
}

const variantOf = (place: number) => (place * 37) % 60;

/** An id of 24 hex digits, from a tenant and a number. */
function idOf({ accountId }: Tenant, place: number): string {
  return `${accountId.slice(-20)}${place.toString(16).padStart(4, '0')}`;
}

async function perform(db: Sql, tenant: Tenant, { what, places, variant }: Step): Promise<void> {
  const ids = places.map((place) => idOf(tenant, place));
  if (what === 'payouts')
    return savePayouts(
      db,
      recordsOf(
        tenant,
        places.map((place) => payoutOf(tenant, place, variant)),
      ),
    );
  if (what === 'products') {
    await deleteProducts(db, tenant, ids);
    if (variant % 3 === 0) return;
    const product = { name: 'Caneca', description: null, priceCents: 4_990, createdAt: START };
    return productTable.insert(
      db,
      tenant,
      ids.map((id) => ({ ...product, id })),
    );
  }
  if (what === 'deliveries') {
    const status = (['pending', 'delivered', 'exhausted'] as const)[variant % 3]!;
    const deliveries = ids.map((id, index) => ({
      webhookId: `whd_${id}`,
      event: 'payment.paid',
      url: 'https://shop.example/hook',
      status,
      attempts: 0,
      failures: 0,
      nextAttemptAt: status === 'pending' ? START : null,
      createdAt: START,
      resourceVersion: 1,
      occurredAt: null,
      eventVersion: places[index]! + 1,
      resource: 'card_payment',
      resourceId: id,
      ...{ endpointId: null, subjectType: null, subjectId: null, responseStatus: null, responseClass: null },
      body: '{}',
      headers: null,
    }));
    await insertDeliveries(db, recordsOf(tenant, deliveries));
    return updateDeliveries(db, recordsOf(tenant, deliveries));
  }
  if (what === 'observed') {
    const resource = (['card_payment', 'subaccount_payout', 'payment'] as const)[variant % 3]!;
    return saveMirrored(
      db,
      tenant,
      ids.map(
        (id, index): MirroredRow => ({
          resource,
          id,
          version: 1,
          status: ['paid', 'pending', 'unknown', 'failed'][variant % 4]!,
          final: false,
          // The method of a payment may become known later.
          parent: {
            card_payment: null,
            subaccount_payout: `sacc_${places[index]! % 3}`,
            payment: variant % 2 === 0 ? 'pix' : 'ltc',
          }[resource],
          createdAt: resource === 'payment' ? START : null,
          snapshot: {},
          observedAt: START,
        }),
      ),
    );
  }
  // Only an operator deletes a payout.
  const of = sql`account_id = ${tenant.accountId} and withdrawal_id = any(${ids}::text[])`;
  if (variant % 3 === 0) await sql`delete from payout where ${of}`.execute(db);
  else
    await sql`update payout set status = 'completed', processed_at = requested_at, denied_reason = null where ${of}`.execute(
      db,
    );
}

/** The stored amounts that differ from the sums of their rows. */
async function brokenAmounts({ sql: db }: Pick<Database, 'sql'>): Promise<object[]> {
  const law = TOTAL_LAWS[1]!.sql;
  return (await db.executeQuery<object>(CompiledQuery.raw(law!))).rows;
}

async function brokenTotals({ sql: db }: Pick<Database, 'sql'>): Promise<object[]> {
  const law = TOTAL_LAWS[0]!.sql;
  // A database of an earlier version lacks the list.
  const { rows } = await sql<{ list: string }>`
    select list from unnest('{refund, payment, charge, pix_subscription, payment_return}'::text[]) list where to_regclass(list) is null`.execute(
    db,
  );
  const text = rows.reduce(
    (all, { list }) => all.replace(new RegExp(`union all select [^\\n]* from ${list}\\n`), ''),
    law!,
  );
  return (await db.executeQuery<object>(CompiledQuery.raw(text))).rows;
}

class Undone extends Error {
  override readonly name = 'Undone';
}

describeOnDatabase('A total', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('A total is the number of its rows after any history, for any filter', async () => {
    const some = <Value>(values: readonly Value[]) =>
      fc.option(fc.uniqueArray(fc.constantFrom(...values)), { nil: undefined });
    const instant = fc.option(
      fc.integer({ min: -HOUR, max: 10 * 24 * HOUR }).map((ms) => plusMs(START, ms)),
      { nil: undefined },
    );
    const filters = fc.record({
      status: some<PayoutStatus>(PAYOUT_STATUSES),
      method: some<PayoutMethod>(PAYOUT_METHODS),
      requestedAfter: instant,
      requestedBefore: instant,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 12 }),
        fc.array(filters, { minLength: 6, maxLength: 6 }),
        async (steps, asked) => {
          const tenant = await openAccount(database);
          await openStreams(database.sql, [tenant]);
          for (const each of steps)
            await database
              .transaction(async (db) => {
                await perform(db, tenant, each);
                if (each.isUndone) throw new Undone();
              })
              .catch((error: unknown) => {
                if (!(error instanceof Undone)) throw error;
              });
          expect(await brokenTotals(database)).toEqual([]);
          expect(await brokenAmounts(database)).toEqual([]);
          const { rows } = await sql<OwnPayout & { requestedAt: Date }>`
            select status, method, requested_at as "requestedAt", amount_cents as "amountCents" from payout
            where account_id = ${tenant.accountId}`.execute(database.sql);
          for (const filter of asked)
            expect(await countPayouts(database.sql, tenant, filter)).toBe(
              rows.filter((row) => fulfils(row, filter)).length,
            );
          for (const filter of asked) {
            const found = rows.filter((row) => fulfils(row, filter));
            const sum = (of: typeof found) => of.reduce((cents, { amountCents }) => cents + amountCents, 0);
            const { groups, ...whole } = await totalsOfPayouts(database.sql, tenant, filter, [
              ...(['method', 'status'] as const),
            ]);
            expect(whole).toEqual({ count: found.length, amountCents: sum(found), isExact: true });
            for (const { method, status, count, amountCents } of groups) {
              const part = found.filter((row) => row.method === method && row.status === status);
              expect([count, amountCents]).toEqual([part.length, sum(part)]);
            }
          }
          expect(await countProducts(database.sql, tenant)).toBe(
            (await listProducts(database.sql, tenant, { end: 'first', limit: 100 })).length,
          );
          for (const status of ['delivered', 'pending'] as const)
            expect(await countDeliveries(database.sql, tenant, { status: [status] })).toBe(
              (await listDeliveries(database.sql, tenant, { end: 'first', limit: 100, status: [status] }))
                .length,
            );
          for (const filter of [{}, { status: ['paid', 'unknown'] }, { parent: ['sacc_1'] }]) {
            const range = { ...filter, ...plain };
            expect(await countMirroredRange(database.sql, tenant, 'subaccount_payout', range)).toBe(
              (
                await listMirroredRange(database.sql, tenant, 'subaccount_payout', {
                  ...range,
                  end: 'first',
                  limit: 100,
                })
              ).length,
            );
          }
        },
      ),
      { numRuns: generated(40), endOnFailure: true },
    );
  });

  test('A total of a period at the ends of time counts the rows in it', async () => {
    const tenant = await openAccount(database);
    await perform(database.sql, tenant, { what: 'payouts', places: [1, 2], variant: 0, isUndone: false });
    const [first, last] = [new Date('0000-01-01T00:30:00Z'), new Date('9999-12-31T23:30:00Z')];
    const count = (filter: PayoutFilter) => countPayouts(database.sql, tenant, filter);
    expect(await count({ requestedAfter: first, requestedBefore: last })).toBe(2);
    expect(await count({ requestedAfter: last })).toBe(0);
    expect(await count({ requestedBefore: first })).toBe(0);
    expect(await count({ requestedAfter: last, requestedBefore: first })).toBe(0);
  });

  test('The total of an emptied table is 0', async () => {
    const fresh = await open();
    const tenant = await openAccount(fresh);
    const payout = { what: 'payouts', places: [1, 2, 3], variant: 0, isUndone: false } as const;
    await perform(fresh.sql, tenant, { ...payout, places: [...payout.places] });
    expect(await countPayouts(fresh.sql, tenant, {})).toBe(3);
    await sql`truncate payout`.execute(fresh.sql);
    expect(await countPayouts(fresh.sql, tenant, {})).toBe(0);
    expect(await brokenTotals(fresh)).toEqual([]);
    expect(await brokenAmounts(fresh)).toEqual([]);
  });

  test('A total is kept by lookups alone, however many totals there are', async () => {
    const fresh = await open();
    const tenant = await openAccount(fresh);
    const places = Array.from({ length: 64 }, (_, place) => place);
    const scans = await fresh.transaction((db) =>
      scansBy(db, ['list_count', 'list_amount'], async () => {
        await perform(db, tenant, { what: 'payouts', places, variant: 0, isUndone: false });
        await perform(db, tenant, { what: 'payouts', places: [1], variant: 2, isUndone: false });
      }),
    );
    expect(scans).toEqual({});
  });
});

function fulfils(
  row: Pick<OwnPayout, 'status' | 'method' | 'requestedAt'>,
  { status, method, requestedAfter, requestedBefore }: PayoutFilter,
): boolean {
  return (
    (!status || status.includes(row.status)) &&
    (!method || method.includes(row.method)) &&
    (!requestedAfter || row.requestedAt >= requestedAfter) &&
    (!requestedBefore || row.requestedAt < requestedBefore)
  );
}

// ── Migrations under way ────────────────────────────────────────────────────────────────────────

test('What was there before its counts and amounts were kept is in them while others write', async () => {
  const databaseUrl = await createPostgresDatabase('template1');
  const open = async () => {
    const database = await openPostgres({ databaseUrl, clock: createSystemClock(), log: silent });
    onTestFinished(() => database.close());
    return database;
  };
  const [starting, working] = [await open(), await open()];
  const payouts = (places: number[], variant: number) =>
    ({ what: 'payouts', places, variant, isUndone: false }) as const;
  await migrate(starting, undefined, '0041_webhooks');
  const [one, other] = [await openAccount(starting), await openAccount(starting)];
  await openStreams(starting.sql, [one, other]);
  await perform(working.sql, one, payouts([0, 1, 2, 3], 0));

  // A server of the version before is still running between the two steps.
  await migrate(starting, undefined, '0042_lists');
  await perform(working.sql, one, payouts([2, 3, 4], 2));
  await perform(working.sql, other, payouts([0], 0));

  let migrated: Promise<string[]> | undefined;
  await working.transaction(async (db) => {
    // The server changes a count that the migration changes, too.
    await perform(db, one, payouts([4, 5], 0));
    migrated = migrate(starting, undefined, '0043_lists_online');
    await expect.poll(() => hasLockWaiter(working)).toBe(true);
    await perform(db, one, payouts([0, 6], 2));
  });
  await migrated;
  expect([...(await brokenTotals(working)), ...(await brokenAmounts(working))]).toEqual([]);
  expect(await countPayouts(working.sql, one, {})).toBe(7);

  // The migration is interrupted and repeated, and finds no difference.
  await sql`delete from kysely_migration where name like '0043%'`.execute(starting.sql);
  await migrate(starting, undefined, '0043_lists_online');
  expect([...(await brokenTotals(working)), ...(await brokenAmounts(working))]).toEqual([]);
});

// ── Pages ───────────────────────────────────────────────────────────────────────────────────────

const atPlace = (place: number) => plusMs(new Date('2026-01-01'), place * MINUTE);

describeOnDatabase('A page', (open) => {
  let database: Database;
  let plans: ReadPlan[];
  let tenant: Tenant;
  let dearWithoutStatistics: object[];
  beforeAll(async () => {
    const opened = await open();
    tenant = await openAccount(opened);
    await seed(
      opened,
      ...SEED([{ accountId: tenant.accountId, rows: ROWS, rare: RARE, first: 0 }, ...CROWD]),
    );
    const inOrder = Object.entries(asked).filter(([name]) => IS_OF_STATEMENT.test(name));
    dearWithoutStatistics = await dearReads(opened, tenant, inOrder);
    await opened.maintenance((connections) => sql`analyze`.execute(connections.sql));
    ({ database, plans } = explainQueries(opened));
  });

  type Ask = (db: Sql, of: Tenant) => Promise<unknown>;
  /** Statements have an order of their own. Without statistics PostgreSQL cannot know that a filter is rare. */
  const IS_OF_STATEMENT = /^of a statement(?:, the last before .*)?$/;
  const period = {
    requestedAfter: new Date('2026-01-01T00:10Z'),
    requestedBefore: new Date('2026-01-01T20:10Z'),
  };
  const rare = { status: ['denied', 'processing'], method: ['ltc', 'usd'] } as const;
  const payoutFiltersOf = (rows: number): Record<string, PayoutFilter> => ({
    'without a filter': {},
    'of a rare status': { status: ['denied'] },
    'of a rare status or one that none has': { status: rare.status },
    'of a common status or a rare one': { status: ['denied', 'completed'] },
    'of a rare method': { method: ['ltc'] },
    'of rare methods and statuses': rare,
    'of a period long ago': period,
    'of all time but the last hour': {
      requestedBefore: plusMs(new Date('2026-01-01'), (rows - 60) * MINUTE),
    },
    'of a period long ago and a rare status': { ...period, status: ['denied'] },
    'of a rare method since long ago': { requestedAfter: period.requestedAfter, method: ['ltc'] },
    'of all time and all that is rare': { ...rare, requestedAfter: new Date(0) },
  });
  const payoutFilters = payoutFiltersOf(ROWS);
  const created = { createdAfter: period.requestedAfter, createdBefore: period.requestedBefore };
  /** The period has so few rows that they are counted one by one. */
  const brief = { from: new Date('2026-01-02T00:00Z'), before: new Date('2026-01-02T00:40Z') };
  const createdBriefly = { createdAfter: brief.from, createdBefore: brief.before };
  const payoutDetails: Record<string, PayoutFilter> = {
    'of a number': { externalId: 'pedido-1042' },
    'of a rare amount': { amountCents: RARE_CENTS },
    'of a rare amount and a common status': { amountCents: RARE_CENTS, status: ['completed'] },
    'of a name': { reference: `${'0'.repeat(23)}7` },
    'processed long ago': { processedAfter: brief.from, processedBefore: brief.before },
  };
  const detailed: Record<string, Omit<PaymentFilter, 'method'>> = {
    'of a number': { externalId: 'pedido-1042' },
    'of a rare amount': { amountCents: RARE_CENTS },
    'of a name': { reference: 'E700' },
    'paid long ago': { paidAfter: brief.from, paidBefore: brief.before },
    'refunded long ago': { refundedBefore: period.requestedBefore },
  };
  const ofCustomers: Record<string, DetailFilter> = {
    'of an e-mail address': { customer: { email: PAYER.rare.email.toUpperCase() } },
    'of a customer': { customer: { externalId: '42' } },
  };
  const paymentFiltersOf = (rows: number): Record<string, PaymentFilter> => ({
    'without a filter': {},
    ...detailed,
    ...ofCustomers,
    'of a rare status or one that none has': { status: ['failed', 'expired'] },
    'of a common status or a rare one': { status: ['failed', 'paid'] },
    'of a method that none has': { method: ['ltc'] },
    'of all methods and a rare status': { method: ['pix', 'ltc'], status: ['failed'] },
    'of a period long ago': created,
    'of a period long ago and a rare status': { ...created, status: ['failed'] },
    'of all time but the last hour': { createdBefore: plusMs(new Date('2026-01-01'), (rows - 60) * MINUTE) },
    'of all time and a rare status': { createdAfter: new Date(0), status: ['failed'] },
  });
  const chargeFilters: Record<string, ChargeListFilter> = {
    ...detailed,
    'without a filter': {},
    'of a rare kind': { kind: ['split'] },
    'of a common kind and a rare status': { kind: ['single'], status: ['failed'] },
    'of a period long ago and a rare kind': { ...created, kind: ['split'] },
  };
  const longAgo = { from: period.requestedAfter, before: period.requestedBefore };
  const mirrored = { limit: 51, allOf: { parent: ['pix', 'ltc'], status: ['paid', 'failed', 'pending'] } };
  const paymentFilters: Record<string, RangeFilter> = {
    'without a filter': { period: {} },
    'of rare methods and statuses': { parent: ['ltc'], status: ['failed', 'pending'], period: {} },
    'of a rare status': { status: ['failed'], period: {} },
    'of a period long ago': { period: longAgo },
    'of a period long ago and a rare status': { status: ['failed'], period: longAgo },
  };
  const page = { end: 'first' as const, limit: 51 };
  const statementFilters: Record<string, StatementFilter> = {
    'of a rare kind': { kind: ['split_in'] },
    'of a common kind and a rare one': { kind: ['transfer_in', 'split_in'] },
    'of a period long ago': created,
    'of a period long ago and a rare kind': { ...created, kind: ['split_in'] },
    'of a reference': { reference: '7' },
    'of a rare amount': { amountCents: RARE_CENTS },
    'of a common amount': { amountCents: COMMON_CENTS },
  };
  const subaccountPayoutFilters: Record<string, SubaccountPayoutFilter> = {
    'of a number': { externalId: 'pedido-1042' },
    'of a rare amount': { amountCents: RARE_CENTS },
    'of a name': { reference: 'saq_7' },
    'created long ago': createdBriefly,
    'created long ago and of a rare status': { ...created, status: ['failed'] },
    'completed long ago': { completedAfter: brief.from, completedBefore: brief.before },
    'reversed long ago': { reversedBefore: period.requestedBefore, status: ['failed'] },
  };
  const refundFilters: Record<string, RefundFilter> = {
    'without a filter': {},
    'of a rare status or one that none has': { status: ['failed', 'processing'] },
    'of a rare type or one that none has': { types: ['charge', 'card_payment'] },
    'of a common type and a rare status': { types: ['payment'], status: ['failed'] },
    'of all types and statuses': {
      types: ['card_payment', 'payment', 'charge'],
      status: ['processing', 'completed', 'failed'],
    },
    'created long ago': createdBriefly,
    'created long ago, of a rare type and status': { ...created, types: ['charge'], status: ['failed'] },
    'completed long ago': {
      completedAfter: brief.from,
      completedBefore: brief.before,
    },
  };
  const returnFilters: Record<string, ReturnFilter> = {
    'without a filter': {},
    'of a rare type or one that none has': { types: ['charge', 'subscription'] },
    'of a common type and a rare one': { types: ['payment', 'charge'] },
    'of an order': { externalId: 'pedido-7' },
    'of an order and of two types': { externalId: 'pedido-7', types: ['payment', 'charge'] },
    'of an order that has none': { externalId: 'pedido' },
  };
  const disputeFilters: Record<string, DisputeFilter> = {
    'without a filter': {},
    'of a rare status or one that none has': { status: ['won', 'open'] },
    'of a common status or a rare one': { status: ['forgiven', 'won'] },
    'opened long ago': createdBriefly,
    'opened long ago and of a rare status': { ...created, status: ['won'] },
    'decided long ago': { closedAfter: brief.from, closedBefore: brief.before },
  };
  /** The middle of the list; in a list by a date of return, a row with that date. */
  const placeIn = (filter: object, middle: number) =>
    'refundedBefore' in filter || 'reversedBefore' in filter ? placeOfReturned(middle) : middle;
  const askedOf = (rows: number, middle: number): Record<string, Ask> => ({
    ...Object.fromEntries(
      Object.entries(refundFilters).flatMap(([name, filter]): [string, Ask][] => [
        [
          `of refunds ${name}, behind a place in the middle`,
          (db, of) => listRefunds(db, of, { ...page, ...filter, after: middle }),
        ],
        [
          `of refunds ${name}, the last before a place in the middle`,
          (db, of) => listRefunds(db, of, { ...filter, end: 'last', limit: 51, before: middle }),
        ],
        [`of refunds ${name}, its total`, (db, of) => countRefunds(db, of, filter)],
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(returnFilters).flatMap(([name, filter]): [string, Ask][] => [
        [
          `of returns ${name}, behind a place in the middle`,
          (db, of) => listReturns(db, of, { ...page, ...filter, after: middle }),
        ],
        [
          `of returns ${name}, the last before a place in the middle`,
          (db, of) => listReturns(db, of, { ...filter, end: 'last', limit: 51, before: middle }),
        ],
        [`of returns ${name}, its total`, (db, of) => countReturns(db, of, filter)],
      ]),
    ),
    'of refunds that failed long ago': (db, of) =>
      listRefunds(db, of, { ...page, failedBefore: period.requestedBefore, types: ['charge'] }),
    'of refunds that failed long ago, its total': (db, of) =>
      countRefunds(db, of, { failedBefore: period.requestedBefore }),
    ...Object.fromEntries(
      Object.entries(disputeFilters).flatMap(([name, filter]): [string, Ask][] => [
        [
          `of disputes ${name}, behind a place in the middle`,
          (db, of) => listDisputes(db, of, { ...page, ...filter, after: middle }),
        ],
        [
          `of disputes ${name}, the last before a place in the middle`,
          (db, of) => listDisputes(db, of, { ...filter, end: 'last', limit: 51, before: middle }),
        ],
        [`of disputes ${name}, its total`, (db, of) => countDisputes(db, of, filter)],
      ]),
    ),
    ...Object.fromEntries(
      Object.entries({
        'without a filter': undefined,
        'of a rare status or one that none has': ['expired', 'pending'] as const,
        'of a common status or a rare one': ['completed', 'expired'] as const,
      }).flatMap(([name, status]): [string, Ask][] => [
        [
          `of subscriptions ${name}, behind a place in the middle`,
          (db, of) => listSubscriptions(db, of, { ...page, status, after: middle }),
        ],
        [
          `of subscriptions ${name}, the last before a place in the middle`,
          (db, of) => listSubscriptions(db, of, { end: 'last', limit: 51, status, before: middle }),
        ],
        [`of subscriptions ${name}, its total`, (db, of) => countSubscriptions(db, of, { status })],
      ]),
    ),
    'of cycles of a subscription, behind a place in the middle': (db, of) =>
      listCyclesOfEach(db, [{ tenant: of, subscriptionId: SUBSCRIPTION, limit: 51, after: middle }], 'first'),
    'of cycles of a subscription, the last before a place in the middle': (db, of) =>
      listCyclesOfEach(db, [{ tenant: of, subscriptionId: SUBSCRIPTION, limit: 51, before: middle }], 'last'),
    'of cycles of a subscription, its total': (db, of) =>
      listCyclesOfEach(db, [{ tenant: of, subscriptionId: SUBSCRIPTION, limit: 1 }], 'first'),
    'of content, behind a place in the middle': (db, of) =>
      listContents(db, of, { ...page, after: MOST / 2 }),
    'of content, the last before a place in the middle': (db, of) =>
      listContents(db, of, { end: 'last', limit: 51, before: MOST / 2 }),
    'of products of the store, behind a place in the middle': (db, of) =>
      listStoreProducts(db, of, { ...page, after: MOST / 2 }),
    'of products of the store, the last before a place in the middle': (db, of) =>
      listStoreProducts(db, of, { end: 'last', limit: 51, before: MOST / 2 }),
    ...Object.fromEntries(
      Object.entries({ ...payoutFiltersOf(rows), ...payoutDetails }).flatMap(
        ([name, filter]): [string, Ask][] => [
          [
            `of payouts ${name}, behind a place in the middle`,
            (db, of) => listPayouts(db, of, { end: 'first', limit: 51, after: middle, ...filter }),
          ],
          [
            `of payouts ${name}, the last before a place in the middle`,
            (db, of) => listPayouts(db, of, { end: 'last', limit: 51, before: middle, ...filter }),
          ],
          [`of payouts ${name}, its total`, (db, of) => countPayouts(db, of, filter)],
        ],
      ),
    ),
    ...Object.fromEntries(
      Object.entries(paymentFiltersOf(rows)).flatMap(([name, filter]): [string, Ask][] => [
        [
          `of payments ${name}, the last before a place in the middle`,
          (db, of) =>
            paymentTable.list(db, of, { end: 'last', limit: 51, before: placeIn(filter, middle), ...filter }),
        ],
        [`of payments ${name}, its total`, (db, of) => paymentTable.count(db, of, filter)],
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(chargeFilters).flatMap(([name, filter]): [string, Ask][] => [
        [
          `of charges ${name}, the last before a place in the middle`,
          (db, of) =>
            chargeTable.list(db, of, { end: 'last', limit: 51, before: placeIn(filter, middle), ...filter }),
        ],
        [`of charges ${name}, its total`, (db, of) => chargeTable.count(db, of, filter)],
      ]),
    ),
    'of card payments of rare statuses': (db, of) =>
      listCardPayments(db, of, { end: 'first', limit: 51, status: ['failed', 'expired'] }),
    'of card payments of a rare status and a common one, from the middle': (db, of) =>
      listCardPayments(db, of, { end: 'first', after: middle, limit: 51, status: ['failed', 'paid'] }),
    ...Object.fromEntries(
      Object.entries({
        ...detailed,
        ...ofCustomers,
        'created long ago': createdBriefly,
        'released within an hour': { releasedAfter: brief.from, releasedBefore: brief.before },
      }).flatMap(([name, filter]): [string, Ask][] => [
        [
          `of card payments ${name}, the last before a place in the middle`,
          (db, of) =>
            listCardPayments(db, of, { end: 'last', limit: 51, before: placeIn(filter, middle), ...filter }),
        ],
        [`of card payments ${name}, its total`, (db, of) => countCardPayments(db, of, filter)],
      ]),
    ),
    'of what was observed of card payments created long ago': (db, of) =>
      listMirroredRange(db, of, 'card_payment', {
        end: 'first',
        limit: 51,
        period: {},
        details: { asked: conditionsOf(cardPaymentConditions, created) },
        allOf: null,
      }),
    'of card payments, its total': (db, of) => countCardPayments(db, of, {}),
    'of card payments of a common status, its total': (db, of) =>
      countCardPayments(db, of, { status: ['paid'] }),
    'of products': (db, of) => listProducts(db, of, { ...page, after: middle }),
    'of products, the last before a place in the middle': (db, of) =>
      listProducts(db, of, { end: 'last', limit: 51, before: middle }),
    'of products, its total': countProducts,
    'of subaccounts': (db, of) => listSubaccounts(db, of, { ...page, after: middle }),
    'of subaccounts, the last before a place in the middle': (db, of) =>
      listSubaccounts(db, of, { end: 'last', limit: 51, before: middle }),
    'of subaccounts, its total': countSubaccounts,
    'of a statement': (db, of) =>
      listEntriesOfEach(db, [{ tenant: of, subaccountId: SUBACCOUNT, limit: 51, after: middle }]),
    'of a statement, the last before a place in the middle': (db, of) =>
      listEntriesOfEach(db, [{ tenant: of, subaccountId: SUBACCOUNT, limit: 51, before: middle }], 'last'),
    'of a statement, its total': (db, of) => countEntries(db, of, SUBACCOUNT),
    ...Object.fromEntries(
      Object.entries(statementFilters).flatMap(([name, filter]): [string, Ask][] => [
        [
          `of a statement ${name}, the last before a place in the middle`,
          (db, of) =>
            listFilteredEntries(db, of, SUBACCOUNT, filter, { end: 'last', limit: 51, before: middle }),
        ],
      ]),
    ),
    'of a statement of a rare kind, its total': (db, of) =>
      countFilteredEntries(db, of, SUBACCOUNT, { kind: ['split_in'] }),
    'of a statement of a reference, its total': (db, of) =>
      countFilteredEntries(db, of, SUBACCOUNT, { reference: '7' }),
    'of a subaccount’s payouts, its total': (db, of) =>
      countPayoutsOfEach(db, [{ tenant: of, subaccountId: SUBACCOUNT }], {}),
    ...Object.fromEntries(
      Object.entries(subaccountPayoutFilters).flatMap(([name, filter]): [string, Ask][] => {
        const { status, ...details } = filter;
        const referenceName = filter.reference && `${SUBACCOUNT}/${filter.reference}`;
        const asked = conditionsOf(subaccountPayoutConditions, details);
        const seen = { parent: [SUBACCOUNT], status, period: {}, details: { asked, referenceName } };
        return [
          [
            `of a subaccount’s payouts ${name}, the last before a place in the middle`,
            (db, of) =>
              listFilteredPayouts(db, of, SUBACCOUNT, filter, {
                end: 'last',
                limit: 51,
                before: placeIn(filter, middle),
              }),
          ],
          [
            `of a subaccount’s payouts ${name}, its total`,
            (db, of) => countFilteredPayouts(db, of, SUBACCOUNT, filter),
          ],
          [
            `of what was observed of a subaccount’s payouts ${name}`,
            (db, of) => listMirroredRange(db, of, 'subaccount_payout', { ...seen, ...page, allOf: null }),
          ],
          [
            `of what was observed of a subaccount’s payouts ${name}, its total`,
            (db, of) => countMirroredRange(db, of, 'subaccount_payout', seen),
          ],
        ];
      }),
    ),
    'of what was observed of payouts of a number': (db, of) =>
      listMirroredRange(db, of, 'payout', {
        ...{ ...page, allOf: null, status: ['completed'], period: {} },
        details: {
          asked: conditionsOf(payoutConditions, { externalId: 'pedido-1042', method: ['pix'] }),
          isNamed: true,
        },
      }),
    'of a subaccount’s payouts of a rare status': (db, of) =>
      listPayoutsOfEach(db, [{ tenant: of, subaccountId: SUBACCOUNT, limit: 51 }], {
        status: ['failed', 'processing'],
      }),
    'of a subaccount’s payouts of a rare status, the last before a place in the middle': (db, of) =>
      listPayoutsOfEach(db, [{ tenant: of, subaccountId: SUBACCOUNT, limit: 51, before: middle }], {
        end: 'last',
        status: ['failed', 'processing'],
      }),
    'of a subaccount’s payouts of a common status, its total': (db, of) =>
      countPayoutsOfEach(db, [{ tenant: of, subaccountId: SUBACCOUNT }], { status: ['completed'] }),
    'of deliveries of rare statuses, the last before a place in the middle': (db, of) =>
      listDeliveries(db, of, { end: 'last', limit: 51, before: middle, status: ['exhausted', 'pending'] }),
    'of deliveries, its total': (db, of) => countDeliveries(db, of, { status: ['delivered'] }),
    'of what was observed of card payments': (db, of) =>
      listMirroredRange(db, of, 'card_payment', { ...page, ...plain }),
    'of what was observed of card payments of a rare status': (db, of) =>
      listMirroredRange(db, of, 'card_payment', { ...page, ...plain, status: ['failed', 'unknown'] }),
    'of what was observed of card payments, its total': (db, of) =>
      countMirroredRange(db, of, 'card_payment', plain),
    ...Object.fromEntries(
      Object.entries(paymentFilters).flatMap(([name, filter]): [string, Ask][] => [
        [
          `of what was observed of payments ${name}`,
          (db, of) => listMirroredRange(db, of, 'payment', { ...filter, ...mirrored, end: 'first' }),
        ],
        [
          `of what was observed of payments ${name}, the last before a place in the middle`,
          // The ids are numbered after those of two other kinds.
          (db, of) =>
            listMirroredRange(db, of, 'payment', {
              ...filter,
              ...mirrored,
              end: 'last',
              before: 2 * rows + middle,
            }),
        ],
      ]),
    ),
    ...Object.fromEntries(
      Object.entries({ ...detailed, ...ofCustomers })
        .map(([name, filter]) => [name, { asked: conditionsOf(paymentConditions, filter) }] as const)
        .flatMap(([name, details]): [string, Ask][] => [
          [
            `of what was observed of payments ${name}`,
            (db, of) =>
              listMirroredRange(db, of, 'payment', { ...mirrored, period: {}, details, end: 'first' }),
          ],
          [
            `of what was observed of payments ${name}, its total`,
            (db, of) => countMirroredRange(db, of, 'payment', { period: {}, details }),
          ],
        ]),
    ),
    'of what was observed of payments of a rare method, its total': (db, of) =>
      countMirroredRange(db, of, 'payment', { parent: ['ltc'], status: ['failed', 'paid'], period: {} }),
    'of what was observed of a subaccount’s payouts of a rare status': (db, of) =>
      listMirroredRange(db, of, 'subaccount_payout', {
        ...{ ...page, ...plain },
        parent: [SUBACCOUNT],
        status: ['failed'],
      }),
    'of what was observed of a subaccount’s payouts, the last before a place': (db, of) =>
      listMirroredRange(db, of, 'subaccount_payout', {
        ...{ ...plain, end: 'last', limit: 51, before: middle },
        parent: [SUBACCOUNT],
      }),
  });
  const middle = ROWS / 2;
  const asked = askedOf(ROWS, middle);

  function deepPages(offset: number): [string, Ask][] {
    const window = { limit: 50, offset };
    const all: Record<string, Ask> = {
      payouts: (db, of) => listPayouts(db, of, { end: 'first', ...window }),
      'card payments': (db, of) => listCardPayments(db, of, { end: 'first', ...window }),
      payments: (db, of) => paymentTable.list(db, of, { end: 'first', ...window }),
      products: (db, of) => listProducts(db, of, { end: 'first', ...window }),
      disputes: (db, of) => listDisputes(db, of, { end: 'first', ...window }),
      subscriptions: (db, of) => listSubscriptions(db, of, { end: 'first', ...window }),
      subaccounts: (db, of) => listSubaccounts(db, of, { end: 'first', ...window }),
      'a statement': (db, of) => listEntries(db, of, SUBACCOUNT, window),
      'a subaccount’s payouts': (db, of) =>
        listFilteredPayouts(db, of, SUBACCOUNT, {}, { end: 'first', ...window }),
      'what was observed': (db, of) =>
        listMirroredRange(db, of, 'card_payment', { end: 'first', ...plain, ...window }),
    };
    return Object.entries(all).map(([name, ask]) => [`of ${name} at offset ${offset}`, ask]);
  }

  // The first half of the log is of payouts, and the second of card payments.
  test.each([
    ['of payouts, which have none', () => readAfter(database.sql, tenant, topicAfter('payout', middle)), 0],
    [
      'of card payments from the start',
      () => readAfter(database.sql, tenant, topicAfter('card_payment', 0)),
      51,
    ],
  ])(
    'A page of the log behind a cursor, %s, reads what it shows, and nothing else',
    async (_, ask, shown) => {
      plans.length = 0;
      await ask();
      expect(plans).toHaveLength(1);
      expect(plans[0]!.scanned.filter((table) => table !== 'stream')).toEqual([]);
      // The statements also read the few streams, and the marks at the cursor and at the head.
      expect(plans[0]!.rowsRead).toBeLessThanOrEqual(shown + 3 + CROWD.length);
    },
  );

  function topicAfter(resource: 'payout' | 'card_payment', after: number) {
    return { after, topic: { resource }, limit: 51 };
  }

  test.each(Object.entries(asked))('A page %s reads what it shows, and nothing else', async (_, ask) => {
    plans.length = 0;
    await ask(database.sql, tenant);
    const [{ rowsRead, scanned }, ...others] = plans as [ReadPlan, ...ReadPlan[]];
    // An empty page looks up only the row of its cursor.
    expect(others.filter((plan) => plan.rowsRead > 1 || plan.scanned.length > 0)).toEqual([]);
    expect(others.length).toBeLessThan(2);
    expect(scanned.filter((table) => table !== 'list_count')).toEqual([]);
    // Each of up to sixteen lists gives at most one page.
    expect(rowsRead).toBeLessThan(16 * 51);
  });

  const many = scale('LIST_ROWS');
  if (many > ROWS)
    test(`A page of lists of ${many} rows reads what it shows, and nothing else`, {
      timeout: 1_200_000,
    }, async () => {
      const long = await open();
      const of = await openAccount(long);
      await seed(long, ...SEED([{ accountId: of.accountId, rows: many, rare: RARE, first: 0 }, ...CROWD]));
      await seed(long, COUNT);
      await long.maintenance((connections) => sql`vacuum analyze`.execute(connections.sql));
      const explained = explainQueries(long);
      const took: [name: string, ms: number][] = [];
      // If most rows lie before the page, a scan of all is as cheap, and PostgreSQL may choose it.
      const offset = Math.min(10_000, many / 4);
      for (const [name, ask] of [...Object.entries(askedOf(many, many / 2)), ...deepPages(offset)]) {
        explained.plans.length = 0;
        await ask(explained.database.sql, of);
        const [{ rowsRead, scanned }] = explained.plans as [ReadPlan];
        const most = name.includes('offset') ? offset + 50 : 16 * 51;
        expect([name, rowsRead <= most, scanned.filter((table) => table !== 'list_count')]).toEqual([
          name,
          true,
          [],
        ]);
        const times = [];
        for (let round = 0; round < 11; round += 1) {
          const before = performance.now();
          await ask(long.sql, of);
          times.push(performance.now() - before);
        }
        took.push([name, times.sort((left, right) => left - right)[5]!]);
      }
      const [slowest] = took.sort(([, left], [, right]) => right - left);
      console.log(
        `${took.length} pages of ${many} rows, the slowest ${slowest![0]}: ${slowest![1].toFixed(1)} ms`,
      );
    });

  // By the average of the existing values PostgreSQL would expect an absent value in every row.
  test('A page of a list whose rows are all alike reads no more than others', async () => {
    const alike = await open();
    const of = await openAccount(alike);
    await seed(alike, ...SEED([{ accountId: of.accountId, rows: ROWS, rare: 0, first: 0 }]));
    await alike.maintenance((connections) => sql`analyze`.execute(connections.sql));
    // No row is refunded or reversed: a list by that date has no rows.
    const isRefused = (name: string) => /\b(?:refunded|reversed) long ago, the last before/.test(name);
    const allowed = Object.entries(asked).filter(([name]) => !isRefused(name));
    expect(await dearReads(alike, of, allowed)).toEqual([]);
  });

  // A table has no statistics until it is analyzed for the first time, and after each restore of a backup.
  test('A page of a statement without statistics reads no more than others', () => {
    expect(dearWithoutStatistics).toEqual([]);
  });

  /** The requests that read more rows than they show, each with the rows that it read. */
  async function dearReads(of: Database, asker: Tenant, asks: readonly [string, Ask][]): Promise<object[]> {
    const dear = [];
    const explained = explainQueries(of);
    for (const [name, ask] of asks) {
      explained.plans.length = 0;
      await ask(explained.database.sql, asker);
      for (const { rowsRead, scanned } of explained.plans)
        if (rowsRead >= 16 * 51 || scanned.some((table) => table !== 'list_count'))
          dear.push({ name, rowsRead, scanned });
    }
    return dear;
  }

  test.each<[string, PayoutRange]>([
    ['after', { end: 'first', limit: 51, after: 100, requestedBefore: atPlace(ROWS - 60) }],
    ['before', { end: 'last', limit: 51, before: ROWS - 100, requestedAfter: atPlace(60) }],
  ])('A page of payouts of nearly all time begins at the place of its argument %s', async (_, range) => {
    plans.length = 0;
    await listPayouts(database.sql, tenant, range);
    // Without the end of the period the scan would read half of the index, whose pages have some hundred rows.
    expect(plans[0]!.pages).toBeLessThanOrEqual(30);
  });

  test('A page of payouts is bounded by the end of its period or by a place, whichever is nearer', async () => {
    for (const place of [1, 99, 100, 101, ROWS]) {
      const instants = [atPlace(100), plusMs(atPlace(100), 1)];
      for (const [index, instant] of instants.entries()) {
        const range = { limit: 2, requestedBefore: instant, after: place };
        const first = await listPayouts(database.sql, tenant, { end: 'first', ...range });
        const newest = Math.min(place, 100 + index) - 1;
        expect(first.map((each) => each.position)).toEqual([newest, newest - 1].filter((each) => each > 0));
        const last = await listPayouts(database.sql, tenant, {
          end: 'last',
          limit: 2,
          requestedAfter: instant,
          before: place,
        });
        const oldest = Math.max(place + 1, 100 + index);
        expect(last.map((each) => each.position)).toEqual(
          [oldest + 1, oldest].filter((each) => each <= ROWS),
        );
      }
    }
    const nowhere = { end: 'first', limit: 2, requestedBefore: atPlace(100), after: ROWS + 1 } as const;
    expect(await listPayouts(database.sql, tenant, nowhere)).toEqual([]);
  });

  test('A new entry is checked against its own statement alone, however many entries of others are newer', async () => {
    const readRows = async (db: Sql) => {
      const { rows } = await sql<{ read: number }>`
        select (idx_tup_fetch + seq_tup_read)::int as read from pg_stat_xact_user_tables
        where relname = 'statement_entry'`.execute(db);
      return rows[0]!.read;
    };
    let read = 0;
    const work = database.transaction(async (db) => {
      // The postings would change the balance, so triggers are off.
      await sql`set local session_replication_role = replica`.execute(db);
      await sql`update subaccount set balance_cents = ${ROWS + 1} where id = ${SUBACCOUNT}`.execute(db);
      await sql`set local session_replication_role = origin`.execute(db);
      const before = await readRows(db);
      await entryTable.insert(db, tenant, [
        {
          subaccountId: SUBACCOUNT,
          kind: 'transfer_in',
          refId: 'newest',
          amountCents: 1,
          balanceAfterCents: ROWS + 1,
          createdAt: START,
        },
      ]);
      read = (await readRows(db)) - before;
      throw new Undone();
    });
    await expect(work).rejects.toThrow(Undone);
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(10);
  });

  // The list is so much longer than a page that PostgreSQL may prefer to walk it, and would reach the old rows last.
  test.each([
    ['card payments', () => asked['of card payments of rare statuses']!],
    ['payouts', () => asked['of payouts of rare methods and statuses, behind a place in the middle']!],
  ])(
    'A page of %s of rare statuses looks each row up, whatever cost PostgreSQL estimates',
    async (_, ask) => {
      await database.transaction(async (db) => {
        await sql`set local enable_nestloop = off`.execute(db);
        await sql`set local enable_hashjoin = off`.execute(db);
        const explained = explainQueries({ ...database, sql: db });
        await ask()(explained.database.sql, tenant);
        expect(explained.plans[0]!.rowsRead).toBeLessThan(16 * 51);
      });
    },
  );

  test('A page at an offset reads the rows before it, and no more', async () => {
    for (const [, ask] of deepPages(400)) {
      plans.length = 0;
      expect(await ask(database.sql, tenant)).toHaveLength(50);
      // A statement may be read by its number alone: newer entries of other accounts then come first.
      expect(plans[0]!.rowsRead).toBeLessThanOrEqual(1_050 + ROWS_OF_CROWD);
      expect(plans[0]!.scanned).toEqual([]);
    }
  });

  test.each(Object.entries(payoutFilters))(
    'A list of payouts %s shows each payout once, in either direction',
    async (_, filter) => {
      const all = await listPayouts(database.sql, tenant, { end: 'first', limit: ROWS, ...filter });
      const places = all.map(({ position }) => position);
      expect(places).toEqual([...new Set(places)].sort((left, right) => right - left));
      const range = { limit: 40, ...filter };
      const ids = (found: Awaited<ReturnType<typeof listPayouts>>) => found.map(({ position }) => position);
      const after = places[10]!;
      expect(ids(await listPayouts(database.sql, tenant, { end: 'first', after, ...range }))).toEqual(
        places.slice(11, 51),
      );
      expect(ids(await listPayouts(database.sql, tenant, { end: 'last', ...range }))).toEqual(
        places.slice(-40),
      );
      const before = places.at(-10)!;
      expect(ids(await listPayouts(database.sql, tenant, { end: 'last', before, ...range }))).toEqual(
        places.slice(0, -10).slice(-40),
      );
    },
  );

  test('A page of statuses that are named twice shows each row once', async () => {
    const status = ['failed', 'failed'] as const;
    const found = await listCardPayments(database.sql, tenant, { end: 'first', limit: 100, status });
    expect(new Set(found.map(({ position }) => position)).size).toBe(found.length);
    const [ofOne] = await listPayoutsOfEach(
      database.sql,
      [{ tenant, subaccountId: SUBACCOUNT, limit: 2 * RARE }],
      { status },
    );
    // The rare rows, and the reversed ones.
    expect(new Set(ofOne!.map(({ position }) => position)).size).toBe(RARE - 1 + RARE);
  });
});

test('Payouts of a period are in the order of their instants, also where a clock was set back', async () => {
  const database = await openPostgres({
    databaseUrl: await createPostgresDatabase(),
    clock: createSystemClock(),
    log: silent,
  });
  onTestFinished(() => database.close());
  const tenant: Tenant = await openAccount(database);
  const at = (minutes: number): OwnPayout => ({
    ...payoutOf(tenant, 0, 0),
    withdrawalId: objectId(),
    code: `SAQ-${minutes}`,
    requestedAt: plusMs(START, minutes * MINUTE),
  });
  for (const minutes of [1, 5, 3, 9, 7]) await savePayouts(database.sql, recordsOf(tenant, [at(minutes)]));
  const range = {
    limit: 2,
    requestedAfter: plusMs(START, 2 * MINUTE),
    requestedBefore: plusMs(START, 9 * MINUTE),
  };
  const first = await listPayouts(database.sql, tenant, { end: 'first', ...range });
  const rest = await listPayouts(database.sql, tenant, { end: 'first', ...range, after: first[1]!.position });
  expect([...first, ...rest].map(({ payout: { code } }) => code)).toEqual(['SAQ-7', 'SAQ-5', 'SAQ-3']);
});
