import { sql as raw, type Selectable } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import {
  isOfWanted,
  recordsOf,
  type TenantKey,
  type TenantRecord,
  wantedKeys,
} from '../../state/db/each-tenant.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { sizeOfPage } from '../../state/db/lists.ts';
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
  SUBSCRIPTION_STATUSES,
  type SubscriptionFilter,
  subscriptionConditions,
} from './model.ts';

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
    subscription_cycle: RowsOf<StoredCycle, typeof cycleColumns>;
  }
}

const subscriptions = table<Kept, ShownElsewhere>('pix_subscription', columns, {
  key: 'subscriptionId',
  isKey: isSubscriptionId,
});

export async function selectSubscriptions(
  sql: Sql,
  subscriptionIds: readonly TenantKey[],
): Promise<TenantRecord<StoredSubscription>[]> {
  return withCycles(sql, await subscriptions.loadEach(sql, subscriptionIds));
}

/** Finds a subscription of any account, for the payer's page, which knows the id alone. */
export async function selectBySubscriptionId(
  sql: Sql,
  subscriptionId: string,
): Promise<{ tenant: Tenant; merchantName: string; resource: StoredSubscription } | null> {
  const found = await subscriptions.loadHosted(sql, subscriptionId);
  if (!found) return null;
  const [whole] = await withCycles(sql, recordsOf(found.tenant, [found.resource]));
  return { ...found, resource: whole!.record };
}

/** Reads a subscription and the version of the log at which it holds, in one statement and so at one moment. */
export async function selectWithHead(
  sql: Sql,
  tenant: Tenant,
  subscriptionId: string,
): Promise<{ version: number; resource: StoredSubscription } | null> {
  const found = await subscriptions.loadWithHead(sql, tenant, subscriptionId);
  // All that readers see of a subscription is in its own row.
  return found && { ...found, resource: { ...found.resource, cycle: null } };
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listSubscriptions(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset, after, before, ...filter }: ListRange & SubscriptionFilter & { offset?: number },
): Promise<{ position: number; resource: StoredSubscription }[]> {
  const range = { end, limit, offset, after, before };
  const rows = await selectFiltered<{ number: number }>(
    ...([sql, tenant, 'pix_subscription', conditionsOf(filter), range] as const),
  );
  return rows.map((row) => ({
    position: row.number,
    resource: Object.assign(subscriptions.fromRow(row), { cycle: null }),
  }));
}

export function countSubscriptions(sql: Sql, tenant: Tenant, filter: SubscriptionFilter): Promise<number> {
  const { status } = filter;
  return countFiltered(sql, tenant, 'pix_subscription', conditionsOf(filter), { status });
}

const conditionsOf = listConditions(subscriptionConditions, {
  columns: subscriptions.columns,
  lists: { status: SUBSCRIPTION_STATUSES },
});

export const saveSubscriptions = subscriptions.saveEach;

// ── Cycles ──────────────────────────────────────────────────────────────────────────────────────

const cycleColumns = {
  subscriptionId: fixed('subscription_id'),
  number: fixed('number'),
  dueAt: fixed('due_at'),
  status: changing('status'),
  amountCents: fixed('amount_cents'),
  attempts: changing('attempts'),
  nextAttemptAt: changing('next_attempt_at'),
  sent: changing('sent'),
  paymentId: changing('payment_id'),
  paidAt: changing('paid_at'),
  failureReason: changing('failure_reason'),
} satisfies Columns<StoredCycle>;

export const cycleTable = table<StoredCycle, never, 'subscriptionId' | 'number'>(
  'subscription_cycle',
  cycleColumns,
  {
    key: { subscriptionId: 'text', number: 'integer' },
    // A cycle from an earlier version may still have the reason of a previous attempt.
    complete: (cycle) => (cycle.status === 'paid' ? { ...cycle, failureReason: null } : cycle),
  },
);

/**
 * A part of the cycles of one subscription. All parts that are read together are at the same `end`, which is
 * given once.
 */
export interface CyclesPage extends Omit<ListRange, 'end'> {
  tenant: Tenant;
  subscriptionId: string;
}

/**
 * Lists the first or the last cycles of each of several subscriptions in one statement, newest first. The
 * condition on the tenant is outside of `page`: inside, a PostgreSQL without statistics would expect one cycle
 * of each, and sort all.
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
  for (const row of rows) found[row.nth]!.push(cycleTable.fromRow(row));
  return found;
}

/** Lists the newest cycles of each subscription, at most `limit` of one, newest first. */
export async function selectNewestCycles(
  sql: Sql,
  subscriptionIds: readonly TenantKey[],
  limit: number,
): Promise<StoredCycle[]> {
  if (subscriptionIds.length === 0) return [];
  const { rows } = await raw<Selectable<Tables['subscription_cycle']>>`
    select newest.* from ${wantedKeys(subscriptionIds)}
    cross join lateral (
      select * from subscription_cycle where subscription_id = wanted.key order by number desc limit ${sizeOfPage(limit)}
    ) newest
    where ${isOfWanted('newest')}`.execute(sql);
  return rows.map(cycleTable.fromRow);
}

async function withCycles(
  sql: Sql,
  found: readonly TenantRecord<Kept>[],
): Promise<TenantRecord<StoredSubscription>[]> {
  const ids = found.map(({ tenant, record }) => ({ tenant, key: record.subscriptionId }));
  const newest = new Map(
    (await selectNewestCycles(sql, ids, 1)).map((cycle) => [cycle.subscriptionId, cycle]),
  );
  return found.map(({ tenant, record }) => ({
    tenant,
    record: Object.assign(record, { cycle: newest.get(record.subscriptionId) ?? null }),
  }));
}
