import { sql as raw } from 'kysely';
import { plusMs } from '../kernel/clock.ts';
import type { ListRange } from '../kernel/list-range.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Sql } from '../state/db/database.ts';
import { countFiltered, listConditions, selectFiltered } from '../state/db/filtered-lists.ts';
import { ofTenant } from '../state/db/of-tenant.ts';
import { type Columns, changing, fixed, type Listed, type RowsOf, table } from '../state/db/table.ts';
import { previousSecretsOf } from './endpoint-store.ts';
import {
  isWebhookId,
  SHOWN_ATTEMPTS,
  type SigningSecrets,
  WEBHOOK_DELIVERY_STATUSES,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookDeliveryFilter,
  webhookDeliveryConditions,
} from './model.ts';

// ── Deliveries ──────────────────────────────────────────────────────────────────────────────────

const columns = {
  webhookId: fixed('webhook_id'),
  event: fixed('event'),
  url: fixed('url'),
  status: changing('status'),
  attempts: changing('attempts'),
  failures: changing('failures'),
  nextAttemptAt: changing('next_attempt_at'),
  createdAt: fixed('created_at'),
} satisfies Columns<WebhookDelivery>;

/** Deliveries without their bodies, which no list shows. */
export const deliveryTable = table<WebhookDelivery>('webhook_delivery', columns, {
  key: 'webhookId',
  isKey: isWebhookId,
  isPart: true,
});

/** A new delivery with its resource, body and headers, which no list shows. */
export interface NewDelivery extends WebhookDelivery {
  /** The event's version in the tenant's log; null for a relayed webhook. */
  eventVersion: number | null;
  /** The version and the instant of the reported state; null for a relayed webhook. */
  resourceVersion: number | null;
  occurredAt: Date | null;
  /** The resource whose events it follows in order: the payment of a refund, a dispute or delivered content. */
  resource: string;
  resourceId: string;
  body: string;
  /** The headers of a relayed webhook, its signature included; null if this server signs each attempt. */
  headers: Record<string, string> | null;
}

declare module '../state/db/tables.ts' {
  interface Tables {
    webhook_delivery: RowsOf<WebhookDelivery, typeof columns> &
      Listed & {
        resource: string;
        resource_id: string;
        resource_version: number | null;
        occurred_at: Date | null;
        body: string;
        headers: Record<string, string> | null;
      };
    received_webhook: RowsOf<ReceivedWebhook, typeof receivedColumns>;
  }
}

/** Inserts deliveries. An existing id is skipped: the ids of relayed webhooks are another service's. */
export async function insertDeliveries(
  sql: Sql,
  tenant: Tenant,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  const of = <Member>(member: (delivery: NewDelivery) => Member) => deliveries.map(member);
  await raw`
    insert into webhook_delivery (account_id, environment, webhook_id, event_version, resource_version, occurred_at, event,
      resource, resource_id, url, body, headers, status, attempts, failures, next_attempt_at, created_at)
    select ${tenant.accountId}::text, ${tenant.environment}::text, d.webhook_id, d.event_version, d.resource_version,
      d.occurred_at, d.event, d.resource, d.resource_id, d.url, d.body, d.headers::jsonb, d.status, d.attempts, d.failures,
      d.next_attempt_at, d.created_at
    from unnest(
      ${of(({ webhookId }) => webhookId)}::text[],
      ${of(({ eventVersion }) => eventVersion)}::bigint[],
      ${of(({ resourceVersion }) => resourceVersion)}::integer[],
      ${of(({ occurredAt }) => occurredAt)}::timestamptz[],
      ${of(({ event }) => event)}::text[],
      ${of(({ resource }) => resource)}::text[],
      ${of(({ resourceId }) => resourceId)}::text[],
      ${of(({ url }) => url)}::text[],
      ${of(({ body }) => body)}::text[],
      ${of(({ headers }) => headers && JSON.stringify(headers))}::text[],
      ${of(({ status }) => status)}::text[],
      ${of(({ attempts }) => attempts)}::integer[],
      ${of(({ failures }) => failures)}::integer[],
      ${of(({ nextAttemptAt }) => nextAttemptAt)}::timestamptz[],
      ${of(({ createdAt }) => createdAt)}::timestamptz[]
    ) with ordinality d (webhook_id, event_version, resource_version, occurred_at, event, resource, resource_id, url, body,
      headers, status, attempts, failures, next_attempt_at, created_at, nth)
    order by d.nth
    on conflict (webhook_id) do nothing`.execute(sql);
}

/**
 * Selects the subscriptions whose cycles made these payments, here and at another service, by the id of the
 * payment.
 */
export async function selectSubscriptionsOf(
  sql: Sql,
  { accountId, environment }: Tenant,
  paymentIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await raw<{ payment_id: string; subscription_id: string }>`
    select payment_id, subscription_id from payment
    where account_id = ${accountId} and environment = ${environment} and payment_id = any(${paymentIds}::text[])
      and subscription_id is not null
    union all
    select id, snapshot ->> 'subscriptionId' from observed
    where account_id = ${accountId} and environment = ${environment} and resource = 'payment'
      and id = any(${paymentIds}::text[]) and snapshot ->> 'subscriptionId' is not null
  `.execute(sql);
  return new Map(rows.map((row) => [row.payment_id, row.subscription_id]));
}

/** Updates the outcome of deliveries; all their other fields never change. */
export async function updateDeliveries(sql: Sql, deliveries: readonly WebhookDelivery[]): Promise<void> {
  const changed = deliveries.map((delivery) => ({
    webhook_id: delivery.webhookId,
    status: delivery.status,
    attempts: delivery.attempts,
    failures: delivery.failures,
    next_attempt_at: delivery.nextAttemptAt,
  }));
  await raw`
    update webhook_delivery d
    set status = c.status, attempts = c.attempts, failures = c.failures, next_attempt_at = c.next_attempt_at
    from jsonb_to_recordset(${JSON.stringify(changed)}::jsonb)
      as c (webhook_id text, status text, attempts integer, failures integer, next_attempt_at timestamptz)
    where d.webhook_id = c.webhook_id
  `.execute(sql);
}

/** Selects everything that an attempt needs; null if the delivery does not exist. */
export async function selectForAttempt(
  sql: Sql,
  tenant: Tenant,
  webhookId: string,
): Promise<{
  delivery: WebhookDelivery;
  body: string;
  /** The headers of a relayed webhook; null if this server signs. */
  headers: Record<string, string> | null;
  /** The version of the state; null for a relayed webhook, and for a delivery of an older release. */
  resourceVersion: number | null;
  occurredAt: Date | null;
  /** The secrets; null if nothing was ever signed for this tenant. */
  secrets: SigningSecrets | null;
  isBehindAnother: boolean;
} | null> {
  const row = await ofTenant(sql, 'webhook_delivery', tenant)
    .leftJoin('webhook_endpoint', (join) =>
      join
        .onRef('webhook_endpoint.account_id', '=', 'webhook_delivery.account_id')
        .onRef('webhook_endpoint.environment', '=', 'webhook_delivery.environment'),
    )
    .selectAll('webhook_delivery')
    .select(['webhook_endpoint.secret', 'webhook_endpoint.previous_secrets'])
    .select((row) =>
      row
        .exists(
          row
            .selectFrom('webhook_delivery as earlier')
            .select('earlier.number')
            .whereRef('earlier.account_id', '=', 'webhook_delivery.account_id')
            .whereRef('earlier.environment', '=', 'webhook_delivery.environment')
            .whereRef('earlier.resource', '=', 'webhook_delivery.resource')
            .whereRef('earlier.resource_id', '=', 'webhook_delivery.resource_id')
            .whereRef('earlier.url', '=', 'webhook_delivery.url')
            .whereRef('earlier.number', '<', 'webhook_delivery.number')
            .where('earlier.status', '=', 'pending'),
        )
        .as('is_behind_another'),
    )
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst();
  if (!row) return null;
  return {
    delivery: deliveryTable.fromRow(row),
    body: row.body,
    headers: row.headers,
    resourceVersion: row.resource_version,
    occurredAt: row.occurred_at,
    secrets:
      row.secret === null
        ? null
        : { secret: row.secret, previousSecrets: previousSecretsOf(row.previous_secrets ?? []) },
    isBehindAnother: Boolean(row.is_behind_another),
  };
}

/** The pending deliveries of the same resource to the same URL, which wait for each other. */
export interface Neighbours {
  webhookId: string;
  /** The ids of pending deliveries of earlier events, in their order. */
  earlier: string[];
  /** The id of the next pending delivery of a later event. */
  next: string | null;
}

export async function selectNeighbours(
  sql: Sql,
  tenant: Tenant,
  webhookIds: readonly string[],
): Promise<Neighbours[]> {
  const { rows } = await raw<{ webhook_id: string; other_id: string; is_earlier: boolean }>`
    select d.webhook_id, other.webhook_id as other_id, other.number < d.number as is_earlier
    from webhook_delivery d
    join webhook_delivery other
      on other.account_id = d.account_id and other.environment = d.environment
      and other.resource = d.resource and other.resource_id = d.resource_id
      and other.url = d.url and other.status = 'pending' and other.number <> d.number
    where d.account_id = ${tenant.accountId} and d.environment = ${tenant.environment}
      and d.webhook_id in (${raw.join(webhookIds)})
    order by other.number
  `.execute(sql);
  return webhookIds.map((webhookId) => {
    const others = rows.filter((row) => row.webhook_id === webhookId);
    return {
      webhookId,
      earlier: others.filter((row) => row.is_earlier).map((row) => row.other_id),
      next: others.find((row) => !row.is_earlier)?.other_id ?? null,
    };
  });
}

/** Lists a range of the deliveries, newest first. */
export async function listDeliveries(
  sql: Sql,
  tenant: Tenant,
  { end, limit, after, before, ...filter }: ListRange & WebhookDeliveryFilter,
): Promise<{ position: number; delivery: WebhookDelivery }[]> {
  const list = { table: 'webhook_delivery', columns: [...Object.values(deliveryTable.columns), 'number'] };
  const range = { end, limit, after, before };
  const rows = await selectFiltered<{ number: number }>(sql, tenant, list, conditionsOf(filter), range);
  return rows.map((row) => ({ position: row.number, delivery: deliveryTable.fromRow(row) }));
}

export function countDeliveries(sql: Sql, tenant: Tenant, filter: WebhookDeliveryFilter): Promise<number> {
  const { status } = filter;
  return countFiltered(sql, tenant, 'webhook_delivery', conditionsOf(filter), { status });
}

const conditionsOf = listConditions(webhookDeliveryConditions, {
  columns: deliveryTable.columns,
  lists: { status: WEBHOOK_DELIVERY_STATUSES },
});

// ── Attempts ────────────────────────────────────────────────────────────────────────────────────

export interface StoredAttempt extends WebhookAttempt {
  webhookId: string;
  /** The attempt's number within its delivery, from 1. */
  number: number;
}

export async function insertAttempts(sql: Sql, attempts: readonly StoredAttempt[]): Promise<void> {
  await sql
    .insertInto('webhook_attempt')
    .values(
      attempts.map(({ webhookId, number, at, responseStatus, error, durationMs }) => ({
        webhook_id: webhookId,
        number,
        at,
        response_status: responseStatus,
        error,
        duration_ms: durationMs,
      })),
    )
    .execute();
}

/** Selects the last attempts of each delivery, oldest first. */
export async function selectAttempts(
  sql: Sql,
  tenant: Tenant,
  webhookIds: readonly string[],
): Promise<StoredAttempt[]> {
  const rows = await ofTenant(sql, 'webhook_delivery', tenant)
    .innerJoin('webhook_attempt', 'webhook_attempt.webhook_id', 'webhook_delivery.webhook_id')
    .selectAll('webhook_attempt')
    .where('webhook_delivery.webhook_id', 'in', webhookIds)
    .where((row) => row('webhook_attempt.number', '>', row('webhook_delivery.attempts', '-', SHOWN_ATTEMPTS)))
    .orderBy('webhook_attempt.number')
    .execute();
  return rows.map((row) => ({
    webhookId: row.webhook_id,
    number: row.number,
    at: row.at,
    responseStatus: row.response_status,
    error: row.error,
    durationMs: row.duration_ms,
  }));
}

// ── Received webhooks ───────────────────────────────────────────────────────────────────────────

/** A webhook of the service that was received, recorded so that it is not applied twice. */
export interface ReceivedWebhook {
  webhookId: string;
  bodyHash: string;
  receivedAt: Date;
}

const receivedColumns = {
  webhookId: fixed('webhook_id'),
  bodyHash: fixed('body_hash'),
  receivedAt: fixed('received_at'),
} satisfies Columns<ReceivedWebhook>;

export const receivedTable = table<ReceivedWebhook>('received_webhook', receivedColumns, {
  key: 'webhookId',
});

/** The service retries for some seven hours, and a webhook that is three days late must still be recognized. */
const RETENTION_MS = 30 * 24 * 60 * 60_000;

export async function selectReceivedBodies(
  sql: Sql,
  tenant: Tenant,
  hashes: readonly string[],
): Promise<ReceivedWebhook[]> {
  const rows = await ofTenant(sql, 'received_webhook', tenant)
    .selectAll()
    .where('body_hash', 'in', hashes)
    .execute();
  return rows.map(receivedTable.fromRow);
}

/** Inserts received webhooks, and deletes those that are too old to arrive again. */
export async function insertReceived(
  sql: Sql,
  tenant: Tenant,
  received: readonly ReceivedWebhook[],
): Promise<void> {
  await receivedTable.insert(sql, tenant, received);
  await sql
    .deleteFrom('received_webhook')
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .where('received_at', '<', plusMs(received[0]!.receivedAt, -RETENTION_MS))
    .execute();
}
