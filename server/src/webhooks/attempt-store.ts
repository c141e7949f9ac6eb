import { sql as raw } from 'kysely';
import type { Tenant } from '../kernel/tenant.ts';
import type { Sql } from '../state/db/database.ts';
import type { TenantRecord } from '../state/db/each-tenant.ts';
import { ofTenant } from '../state/db/of-tenant.ts';
import { KEPT_EXCHANGES, type WebhookExchange } from './exchange.ts';
import { SHOWN_ATTEMPTS, type WebhookAttempt } from './model.ts';

/** An attempt as it is written, with what it has sent and what came back. */
export interface MadeAttempt extends WebhookAttempt {
  exchange: WebhookExchange | null;
}

/** Inserts attempts. The exchange of an attempt that leaves the last ten of its delivery is forgotten. */
export async function insertAttempts(
  sql: Sql,
  attempts: readonly TenantRecord<MadeAttempt>[],
): Promise<void> {
  const of = <Member>(member: (attempt: MadeAttempt) => Member) =>
    attempts.map(({ record }) => member(record));
  const leaving = attempts.filter(({ record: { number } }) => number > KEPT_EXCHANGES);
  // Most deliveries have one attempt, so most statements have no second part.
  const forgotten = raw`
    /* insert_late_attempts */
    with forgotten as (
      update webhook_attempt a set exchange = null
      from unnest(
        ${leaving.map(({ record: { webhookId } }) => webhookId)}::text[],
        ${leaving.map(({ record: { number } }) => number - KEPT_EXCHANGES)}::integer[]
      ) leaving (webhook_id, number)
      where a.webhook_id = leaving.webhook_id and a.number = leaving.number
    )`;
  await raw`
    ${leaving.length > 0 ? forgotten : raw`/* insert_attempts */`}
    insert into webhook_attempt (webhook_id, number, at, response_status, error, duration_ms, exchange)
    select webhook_id, number, at, response_status, error, duration_ms, exchange::jsonb
    from unnest(
      ${of(({ webhookId }) => webhookId)}::text[],
      ${of(({ number }) => number)}::integer[],
      ${of(({ at }) => at)}::timestamptz[],
      ${of(({ responseStatus }) => responseStatus)}::integer[],
      ${of(({ error }) => error)}::text[],
      ${of(({ durationMs }) => durationMs)}::integer[],
      ${of(({ exchange }) => exchange && JSON.stringify(exchange))}::text[]
    ) made (webhook_id, number, at, response_status, error, duration_ms, exchange)`.execute(sql);
}

/** Selects the last attempts of each delivery, oldest first. */
export async function selectAttempts(
  sql: Sql,
  tenant: Tenant,
  webhookIds: readonly string[],
): Promise<WebhookAttempt[]> {
  const rows = await ofTenant(sql, 'webhook_delivery', tenant)
    .innerJoin('webhook_attempt', 'webhook_attempt.webhook_id', 'webhook_delivery.webhook_id')
    .select([
      'webhook_attempt.webhook_id',
      'webhook_attempt.number',
      'webhook_attempt.at',
      'webhook_attempt.response_status',
      'webhook_attempt.error',
      'webhook_attempt.duration_ms',
    ])
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

/** Selects what the last attempts of deliveries have sent and what came back. */
export async function selectExchanges(
  sql: Sql,
  tenant: Tenant,
  webhookIds: readonly string[],
): Promise<{ webhookId: string; number: number; exchange: WebhookExchange }[]> {
  const rows = await ofTenant(sql, 'webhook_delivery', tenant)
    .innerJoin('webhook_attempt', 'webhook_attempt.webhook_id', 'webhook_delivery.webhook_id')
    .select(['webhook_attempt.webhook_id', 'webhook_attempt.number', 'webhook_attempt.exchange'])
    .where('webhook_delivery.webhook_id', 'in', webhookIds)
    .where((row) => row('webhook_attempt.number', '>', row('webhook_delivery.attempts', '-', KEPT_EXCHANGES)))
    .where('webhook_attempt.exchange', 'is not', null)
    .execute();
  return rows.map((row) => ({
    webhookId: row.webhook_id,
    number: row.number,
    exchange: row.exchange as WebhookExchange,
  }));
}
