import { sql as raw, type Selectable } from 'kysely';
import { plusMs } from '../kernel/clock.ts';
import type { ListRange } from '../kernel/list-range.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Sql } from '../state/db/database.ts';
import {
  isOfWanted,
  numberedKeys,
  type TenantKey,
  type TenantRecord,
  tenantArrays,
  tenantOf,
  wantedKeys,
} from '../state/db/each-tenant.ts';
import { countFiltered, listConditions, selectFiltered } from '../state/db/filtered-lists.ts';
import { ofTenant } from '../state/db/of-tenant.ts';
import { type Columns, changing, fixed, type Listed, type RowsOf, table } from '../state/db/table.ts';
import type { Tables } from '../state/db/tables.ts';
import type { TenantTable } from '../state/db/tenant-table.ts';
import { furtherOf, previousSecretsOf } from './endpoint-store.ts';
import { type FurtherEndpoint, isFurther, type SigningSecrets } from './endpoints.ts';
import {
  isWebhookId,
  WEBHOOK_DELIVERY_STATUSES,
  type WebhookDelivery,
  type WebhookDeliveryFilter,
  type WebhookDeliveryStatus,
  webhookDeliveryConditions,
} from './model.ts';

// ── Deliveries ──────────────────────────────────────────────────────────────────────────────────

const columns = {
  webhookId: fixed('webhook_id'),
  event: fixed('event'),
  endpointId: fixed('endpoint_id'),
  // A redelivery may send it to another URL.
  url: changing('url'),
  status: changing('status'),
  attempts: changing('attempts'),
  failures: changing('failures'),
  nextAttemptAt: changing('next_attempt_at'),
  responseStatus: changing('response_status'),
  responseClass: changing('response_class'),
  resource: fixed('resource'),
  resourceId: fixed('resource_id'),
  subjectType: fixed('subject_type'),
  subjectId: fixed('subject_id'),
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
  body: string;
  /** The headers of a relayed webhook, its signature included; null if this server signs each attempt. */
  headers: Record<string, string> | null;
}

declare module '../state/db/tables.ts' {
  interface Tables {
    webhook_delivery: RowsOf<WebhookDelivery, typeof columns> &
      Listed & {
        resource_version: number | null;
        occurred_at: Date | null;
        body: string;
        headers: Record<string, string> | null;
      };
    received_webhook: RowsOf<ReceivedWebhook, typeof receivedColumns>;
  }
}

/** Inserts deliveries of tenants. An existing id is skipped: the ids of relayed webhooks are another service's. */
export async function insertDeliveries(
  sql: Sql,
  deliveries: readonly TenantRecord<NewDelivery>[],
): Promise<void> {
  const of = <Member>(member: (delivery: NewDelivery) => Member) =>
    deliveries.map(({ record }) => member(record));
  await raw`
    /* insert_deliveries */
    insert into webhook_delivery (account_id, environment, webhook_id, event_version, resource_version, occurred_at, event,
      resource, resource_id, subject_type, subject_id, endpoint_id, url, body, headers, status, attempts, failures,
      next_attempt_at, created_at)
    select d.account_id, d.environment, d.webhook_id, d.event_version, d.resource_version,
      d.occurred_at, d.event, d.resource, d.resource_id, d.subject_type, d.subject_id, d.endpoint_id, d.url, d.body, d.headers::jsonb,
      d.status, d.attempts, d.failures, d.next_attempt_at, d.created_at
    from unnest(
      ${tenantArrays(deliveries)},
      ${of(({ webhookId }) => webhookId)}::text[],
      ${of(({ eventVersion }) => eventVersion)}::bigint[],
      ${of(({ resourceVersion }) => resourceVersion)}::integer[],
      ${of(({ occurredAt }) => occurredAt)}::timestamptz[],
      ${of(({ event }) => event)}::text[],
      ${of(({ resource }) => resource)}::text[],
      ${of(({ resourceId }) => resourceId)}::text[],
      ${of(({ subjectType }) => subjectType)}::text[],
      ${of(({ subjectId }) => subjectId)}::text[],
      ${of(({ endpointId }) => endpointId)}::text[],
      ${of(({ url }) => url)}::text[],
      ${of(({ body }) => body)}::text[],
      ${of(({ headers }) => headers && JSON.stringify(headers))}::text[],
      ${of(({ status }) => status)}::text[],
      ${of(({ attempts }) => attempts)}::integer[],
      ${of(({ failures }) => failures)}::integer[],
      ${of(({ nextAttemptAt }) => nextAttemptAt)}::timestamptz[],
      ${of(({ createdAt }) => createdAt)}::timestamptz[]
    ) with ordinality d (account_id, environment, webhook_id, event_version, resource_version, occurred_at, event, resource,
      resource_id, subject_type, subject_id, endpoint_id, url, body, headers, status, attempts, failures, next_attempt_at,
      created_at, nth)
    order by d.nth
    on conflict (webhook_id) do nothing`.execute(sql);
}

/**
 * Selects the subscriptions whose cycles made these payments, here and at another service, by the payment's place among
 * them.
 */
export async function selectSubscriptionsOf(
  sql: Sql,
  payments: readonly TenantKey[],
): Promise<ReadonlyMap<number, string>> {
  const { rows } = await raw<{ nth: number; subscription_id: string }>`
    select wanted.nth, found.subscription_id from ${numberedKeys(payments)}
    cross join lateral (
      (
        select subscription_id from payment
        where ${isOfWanted('payment')} and payment_id = wanted.key and subscription_id is not null
      )
      union all (
        select snapshot ->> 'subscriptionId' from observed
        where ${isOfWanted('observed')} and resource = 'payment' and id = wanted.key
          and snapshot ->> 'subscriptionId' is not null
      )
      limit 1
    ) found
  `.execute(sql);
  return new Map(rows.map((row) => [row.nth - 1, row.subscription_id]));
}

/** Updates the outcome of deliveries, and where they go; all their other fields never change. */
export async function updateDeliveries(
  sql: Sql,
  deliveries: readonly TenantRecord<WebhookDelivery>[],
): Promise<void> {
  const changed = deliveries.map(({ tenant, record }) => ({
    account_id: tenant.accountId,
    environment: tenant.environment,
    webhook_id: record.webhookId,
    status: record.status,
    attempts: record.attempts,
    failures: record.failures,
    next_attempt_at: record.nextAttemptAt,
    response_status: record.responseStatus,
    response_class: record.responseClass,
    url: record.url,
  }));
  await raw`
    update webhook_delivery d
    set status = c.status, attempts = c.attempts, failures = c.failures, next_attempt_at = c.next_attempt_at,
      response_status = c.response_status, response_class = c.response_class, url = c.url
    from jsonb_to_recordset(${JSON.stringify(changed)}::jsonb) as c (
      account_id text, environment text, webhook_id text, status text, attempts integer, failures integer,
      next_attempt_at timestamptz, response_status integer, response_class integer, url text
    )
    where d.account_id = c.account_id and d.environment = c.environment and d.webhook_id = c.webhook_id
  `.execute(sql);
}

/** Everything that an attempt needs. */
export interface ForAttempt {
  delivery: WebhookDelivery;
  body: string;
  /** The headers of a relayed webhook; null if this server signs. */
  headers: Record<string, string> | null;
  /** The version of the state; null for a relayed webhook, and for a delivery of an older release. */
  resourceVersion: number | null;
  occurredAt: Date | null;
  /** The secrets of its endpoint; null if that was deleted, or if nothing was ever signed for this tenant. */
  secrets: SigningSecrets | null;
  /** Whether an attempt at its endpoint has failed, and none has succeeded since. */
  isFailing: boolean;
  isBehindAnother: boolean;
}

/** Selects what the attempts of several deliveries need, in their order; null for one that does not exist. */
export async function selectForAttempts(
  sql: Sql,
  webhooks: readonly TenantKey[],
): Promise<(ForAttempt | null)[]> {
  const { rows } = await raw<
    Selectable<Tables['webhook_delivery']> & {
      nth: number;
      secret: string | null;
      previous_secrets: Parameters<typeof previousSecretsOf>[0] | null;
      further: FurtherEndpoint | null;
      failing_since: Date | null;
      is_behind_another: boolean;
    }
  >`
    select d.*, wanted.nth, endpoint.secret, endpoint.previous_secrets, endpoint.further,
      endpoint.failing_since, exists (
      select from webhook_delivery earlier
      where earlier.account_id = d.account_id and earlier.environment = d.environment
        and earlier.resource = d.resource and earlier.resource_id = d.resource_id and earlier.url = d.url
        and earlier.number < d.number and earlier.status = 'pending'
    ) as is_behind_another
    from ${numberedKeys(webhooks)}
    cross join lateral (
      select * from webhook_delivery where ${isOfWanted('webhook_delivery')} and webhook_id = wanted.key limit 1
    ) d
    left join lateral (
      select secret, previous_secrets, failing_since, (
        select each from jsonb_array_elements(further) each where each ->> 'endpointId' = d.endpoint_id
      ) as further
      from webhook_endpoint where ${isOfWanted('webhook_endpoint')} limit 1
    ) endpoint on true`.execute(sql);
  const found = webhooks.map((): ForAttempt | null => null);
  for (const row of rows)
    found[row.nth - 1] = {
      delivery: deliveryTable.fromRow(row),
      body: row.body,
      headers: row.headers,
      resourceVersion: row.resource_version,
      occurredAt: row.occurred_at,
      secrets: secretsOf(row),
      isFailing: (isFurther(row.endpoint_id) ? row.further?.failingSince : row.failing_since) != null,
      isBehindAnother: row.is_behind_another,
    };
  return found;
}

function secretsOf({
  endpoint_id,
  secret,
  previous_secrets,
  further,
}: {
  endpoint_id: string | null;
  secret: string | null;
  previous_secrets: Parameters<typeof previousSecretsOf>[0] | null;
  further: FurtherEndpoint | null;
}): SigningSecrets | null {
  if (isFurther(endpoint_id)) return further && furtherOf([further])[0]!;
  return secret === null ? null : { secret, previousSecrets: previousSecretsOf(previous_secrets ?? []) };
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
  webhooks: readonly TenantKey[],
): Promise<TenantRecord<Neighbours>[]> {
  const { rows } = await raw<{ nth: number; other_id: string; is_earlier: boolean }>`
    select wanted.nth, other.webhook_id as other_id, other.number < d.number as is_earlier
    from ${numberedKeys(webhooks)}
    cross join lateral (
      select * from webhook_delivery where ${isOfWanted('webhook_delivery')} and webhook_id = wanted.key limit 1
    ) d
    join webhook_delivery other
      on other.account_id = d.account_id and other.environment = d.environment
      and other.resource = d.resource and other.resource_id = d.resource_id
      and other.url = d.url and other.status = 'pending' and other.number <> d.number
    order by other.number
  `.execute(sql);
  const others = Map.groupBy(rows, ({ nth }) => nth - 1);
  return webhooks.map(({ tenant, key: webhookId }, index) => {
    const own = others.get(index) ?? [];
    return {
      tenant,
      record: {
        webhookId,
        earlier: own.filter((row) => row.is_earlier).map((row) => row.other_id),
        next: own.find((row) => !row.is_earlier)?.other_id ?? null,
      },
    };
  });
}

/** Selects the tenant of a delivery, for the operator, who knows its id alone. */
export async function selectTenantOf(sql: Sql, webhookId: string): Promise<Tenant | null> {
  if (!isWebhookId(webhookId)) return null;
  const row = await sql
    .selectFrom('webhook_delivery')
    .select(['account_id', 'environment'])
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst();
  return row ? tenantOf(row) : null;
}

/** Selects the oldest deliveries of an endpoint that are still to be sent, or those that are held alone. */
export async function selectUnsent(
  sql: Sql,
  { accountId, environment }: Tenant,
  {
    endpointId,
    statuses,
    limit,
    leastTried = false,
  }: {
    endpointId: string;
    statuses: readonly WebhookDeliveryStatus[];
    limit: number;
    /** Whether those with fewer attempts come first. */
    leastTried?: boolean;
  },
): Promise<string[]> {
  // Few deliveries of a tenant are not sent yet, and an endpoint may have very many.
  const { rows } = await raw<{ webhook_id: string }>`
    with unsent as materialized (
      select webhook_id, number, attempts, endpoint_id from webhook_delivery
      where account_id = ${accountId} and environment = ${environment} and status = any(${[...statuses]}::text[])
    )
    select webhook_id from unsent where endpoint_id = ${endpointId}
    order by ${leastTried ? raw`attempts, number` : raw`number`} limit ${limit}`.execute(sql);
  return rows.map((row) => row.webhook_id);
}

/** Selects the signed bodies of deliveries. */
export async function selectPayloads(
  sql: Sql,
  tenant: Tenant,
  webhookIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await ofTenant(sql, 'webhook_delivery', tenant)
    .select(['webhook_id', 'body'])
    .where('webhook_id', 'in', webhookIds)
    .execute();
  return new Map(rows.map((row) => [row.webhook_id, row.body]));
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

export const conditionsOf = listConditions(webhookDeliveryConditions, {
  columns: deliveryTable.columns,
  lists: { status: WEBHOOK_DELIVERY_STATUSES },
});

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
  hashes: readonly TenantKey[],
): Promise<TenantRecord<ReceivedWebhook>[]> {
  const { rows } = await raw<TenantTable>`
    select found.* from ${wantedKeys(hashes)}
    join received_webhook found on ${isOfWanted('found')} and found.body_hash = wanted.key`.execute(sql);
  return rows.map((row) => ({ tenant: tenantOf(row), record: receivedTable.fromRow(row) }));
}

/** Inserts received webhooks, and deletes those that are too old to arrive again. */
export async function insertReceived(
  sql: Sql,
  received: readonly TenantRecord<ReceivedWebhook>[],
): Promise<void> {
  await receivedTable.insertEach(sql, received);
  await raw`
    delete from received_webhook using unnest(${tenantArrays(received)}) wanted (account_id, environment)
    where ${isOfWanted('received_webhook')}
      and received_webhook.received_at < ${plusMs(received[0]!.record.receivedAt, -RETENTION_MS)}`.execute(
    sql,
  );
}
