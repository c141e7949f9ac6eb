import { sql as raw, type Selectable } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { headOf } from '../../state/db/head.ts';
import { boundsOfPage, countList, selectPage, sizeOfPage } from '../../state/db/lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import {
  type Columns,
  changing,
  fixed,
  json,
  type Listed,
  type RowsOf,
  table,
} from '../../state/db/table.ts';
import type { Tables } from '../../state/db/tables.ts';
import { returnedCreditFromJson } from '../pix/model.ts';
import {
  isSubscriptionId,
  type StoredCycle,
  type StoredSubscription,
  type SubscriptionFilter,
} from './model.ts';

// A text that is no id is not queried: it is in no row, and Postgres rejects one with U+0000.

/** The members that only another service's subscriptions have. */
type ShownElsewhere = 'lastStatus' | 'checkoutUrl' | 'txid' | 'cycles' | 'paidAt' | 'endToEndId';

/** A subscription without its newest cycle, which has a row of its own. */
type Kept = Omit<StoredSubscription, 'cycle'>;

const columns = {
  subscriptionId: fixed('subscription_id'),
  version: changing('version'),
  status: changing('status'),
  amountCents: fixed('amount_cents'),
  feeCents: fixed('fee_cents'),
  interval: fixed('every'),
  endsAfterCycles: fixed('ends_after_cycles'),
  description: fixed('description'),
  customer: json(fixed('customer')),
  metadata: fixed('metadata'),
  successUrl: fixed('success_url'),
  cancelUrl: fixed('cancel_url'),
  language: fixed('language'),
  brCode: changing('br_code'),
  nextDueAt: changing('next_due_at'),
  cancelReason: changing('cancel_reason'),
  canceledAt: changing('canceled_at'),
  createdAt: fixed('created_at'),
  expiresAt: changing('expires_at'),
  authorisedAt: changing('authorised_at'),
  failedInRow: changing('failed_in_row'),
  returnedCredits: json(changing('returned_credits'), (credits: unknown[]) =>
    credits.map(returnedCreditFromJson),
  ),
} satisfies Columns<Omit<Kept, ShownElsewhere>>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    pix_subscription: RowsOf<Kept, typeof columns> & Listed;
  }
}

const kept = table<Kept, ShownElsewhere>('pix_subscription', columns, {
  key: 'subscriptionId',
  isKey: isSubscriptionId,
});

type SubscriptionRow = Selectable<Tables['pix_subscription']>;

export async function selectSubscriptions(
  sql: Sql,
  tenant: Tenant,
  subscriptionIds: readonly string[],
): Promise<StoredSubscription[]> {
  const possible = subscriptionIds.filter(isSubscriptionId);
  if (possible.length === 0) return [];
  const rows = await ofTenant(sql, 'pix_subscription', tenant)
    .selectAll()
    .where('subscription_id', 'in', possible)
    .execute();
  return withCycles(sql, tenant, rows);
}

/** Finds a subscription of any account, for the payer's page, which knows the id alone. */
export async function selectBySubscriptionId(
  sql: Sql,
  subscriptionId: string,
): Promise<{ tenant: Tenant; merchantName: string; resource: StoredSubscription } | null> {
  if (!isSubscriptionId(subscriptionId)) return null;
  const row = await sql
    .selectFrom('pix_subscription')
    .innerJoin('account', 'account.id', 'pix_subscription.account_id')
    .selectAll('pix_subscription')
    .select('account.name as merchant_name')
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
  if (!row) return null;
  const tenant = { accountId: row.account_id, environment: row.environment };
  const [resource] = await withCycles(sql, tenant, [row]);
  return { tenant, merchantName: row.merchant_name, resource: resource! };
}

/** Reads a subscription and the version of the log at which it holds, in one statement and so at one moment. */
export async function selectWithHead(
  sql: Sql,
  tenant: Tenant,
  subscriptionId: string,
): Promise<{ version: number; resource: StoredSubscription } | null> {
  if (!isSubscriptionId(subscriptionId)) return null;
  const row = await ofTenant(sql, 'pix_subscription', tenant)
    .selectAll('pix_subscription')
    .select(headOf(tenant).as('head'))
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
  // All that readers see of a subscription is in its own row.
  return row ? { version: row.head, resource: toSubscription(row, null) } : null;
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listSubscriptions(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset = 0, after, before, status }: ListRange & SubscriptionFilter & { offset?: number },
): Promise<{ place: number; resource: StoredSubscription }[]> {
  const table = 'pix_subscription';
  const rows = await selectPage<SubscriptionRow>(sql, tenant, {
    table,
    where: boundsOfPage(tenant, { table, instant: 'created_at', after, before, period: {} }),
    oneOf: { status },
    order: ['number'],
    direction: end === 'first' ? 'desc' : 'asc',
    limit,
    offset,
  });
  const items = rows.map((row) => ({ place: row.number, resource: toSubscription(row, null) }));
  return end === 'first' ? items : items.reverse();
}

export function countSubscriptions(
  sql: Sql,
  tenant: Tenant,
  { status }: SubscriptionFilter,
): Promise<number> {
  return countList(sql, tenant, { list: 'pix_subscription', status });
}

export async function saveSubscriptions(
  sql: Sql,
  tenant: Tenant,
  subscriptions: readonly StoredSubscription[],
): Promise<void> {
  await kept.save(sql, tenant, subscriptions);
}

// ── Cycles ──────────────────────────────────────────────────────────────────────────────────────

/** The key of a cycle among all cycles of a tenant. */
export function cycleKey({ subscriptionId, number }: Pick<StoredCycle, 'subscriptionId' | 'number'>): string {
  return `${subscriptionId} ${number}`;
}

export async function selectCycles(
  sql: Sql,
  tenant: Tenant,
  keys: readonly string[],
): Promise<StoredCycle[]> {
  const rows = await ofTenant(sql, 'subscription_cycle', tenant)
    .selectAll()
    .where((row) =>
      row.or(
        keys.map((key) => {
          const [subscriptionId = '', number] = key.split(' ');
          return row.and([row('subscription_id', '=', subscriptionId), row('number', '=', Number(number))]);
        }),
      ),
    )
    .execute();
  return rows.map(toCycle);
}

/**
 * A part of the cycles of one subscription. `end`, where the part lies, is the same for all parts that are
 * read together.
 */
export interface CyclesPage extends Omit<ListRange, 'end'> {
  tenant: Tenant;
  subscriptionId: string;
}

/**
 * Lists the first or the last cycles of each of several subscriptions in one statement, newest first. The
 * condition on the tenant is outside: with it PostgreSQL would expect one cycle of each without statistics,
 * and sort all.
 */
export async function listCyclesOfEach(
  sql: Sql,
  pages: readonly CyclesPage[],
  end: ListRange['end'],
): Promise<StoredCycle[][]> {
  const wanted = pages.map(
    ({ tenant, subscriptionId, after = Number.MAX_SAFE_INTEGER, before = 0, limit }, nth) => ({
      nth,
      account_id: tenant.accountId,
      environment: tenant.environment,
      subscription_id: subscriptionId,
      after,
      before,
      size: limit,
    }),
  );
  const { rows } = await raw<Selectable<Tables['subscription_cycle']> & { nth: number }>`
    select page.*, wanted.nth
    from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) wanted (
      nth integer, account_id text, environment text, subscription_id text, after bigint, before bigint, size integer
    )
    cross join lateral (
      select * from subscription_cycle
      where subscription_id = wanted.subscription_id and number < wanted.after and number > wanted.before
      order by number ${raw.raw(end === 'first' ? 'desc' : 'asc')} limit ${sizeOfPage(raw`wanted.size`)}
    ) page
    where page.account_id = wanted.account_id and page.environment = wanted.environment
    order by page.number desc`.execute(sql);
  const found = pages.map((): StoredCycle[] => []);
  for (const row of rows) found[row.nth]!.push(toCycle(row));
  return found;
}

/** Lists the newest cycles of each subscription, at most `limit` of one, newest first. */
export async function selectNewestCycles(
  sql: Sql,
  tenant: Tenant,
  subscriptionIds: readonly string[],
  limit: number,
): Promise<StoredCycle[]> {
  if (subscriptionIds.length === 0) return [];
  const { rows } = await raw<Selectable<Tables['subscription_cycle']>>`
    select newest.*
    from unnest(${[...subscriptionIds]}::text[]) asked (id)
    cross join lateral (
      select * from subscription_cycle where subscription_id = asked.id order by number desc limit ${sizeOfPage(limit)}
    ) newest
    where newest.account_id = ${tenant.accountId} and newest.environment = ${tenant.environment}`.execute(
    sql,
  );
  return rows.map(toCycle);
}

export async function saveCycles(sql: Sql, tenant: Tenant, cycles: readonly StoredCycle[]): Promise<void> {
  await sql
    .insertInto('subscription_cycle')
    .values(
      cycles.map((cycle) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        subscription_id: cycle.subscriptionId,
        number: cycle.number,
        due_at: cycle.dueAt,
        status: cycle.status,
        amount_cents: cycle.amountCents,
        attempts: cycle.attempts,
        next_attempt_at: cycle.nextAttemptAt,
        sent: cycle.sent,
        payment_id: cycle.paymentId,
        paid_at: cycle.paidAt,
        failure_reason: cycle.failureReason,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['subscription_id', 'number']).doUpdateSet((row) => ({
        status: row.ref('excluded.status'),
        attempts: row.ref('excluded.attempts'),
        next_attempt_at: row.ref('excluded.next_attempt_at'),
        sent: row.ref('excluded.sent'),
        payment_id: row.ref('excluded.payment_id'),
        paid_at: row.ref('excluded.paid_at'),
        failure_reason: row.ref('excluded.failure_reason'),
      })),
    )
    .execute();
}

// ── Rows ────────────────────────────────────────────────────────────────────────────────────────

async function withCycles(
  sql: Sql,
  tenant: Tenant,
  rows: readonly SubscriptionRow[],
): Promise<StoredSubscription[]> {
  const ids = rows.map((row) => row.subscription_id);
  const cycles = new Map(
    (await selectNewestCycles(sql, tenant, ids, 1)).map((cycle) => [cycle.subscriptionId, cycle]),
  );
  return rows.map((row) => toSubscription(row, cycles.get(row.subscription_id) ?? null));
}

function toSubscription(row: object, cycle: StoredCycle | null): StoredSubscription {
  return Object.assign(kept.fromRow(row), { cycle });
}

function toCycle(row: Selectable<Tables['subscription_cycle']>): StoredCycle {
  return {
    subscriptionId: row.subscription_id,
    number: row.number,
    dueAt: row.due_at,
    status: row.status,
    amountCents: row.amount_cents,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    sent: row.sent,
    paymentId: row.payment_id,
    paidAt: row.paid_at,
    // A cycle from an earlier version may still have the reason of a previous attempt.
    failureReason: row.status === 'paid' ? null : row.failure_reason,
  };
}
