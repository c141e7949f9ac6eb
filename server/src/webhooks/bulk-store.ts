import { sql as raw } from 'kysely';
import type { Tenant } from '../kernel/tenant.ts';
import type { Sql } from '../state/db/database.ts';
import { ownConditions, valuesOf } from '../state/db/filtered-lists.ts';
import { inPeriod } from '../state/db/lists.ts';
import { type Columns, changing, fixed, json, type RowsOf, table } from '../state/db/table.ts';
import { BULK_PAGE, isRedeliveryId, type Matching, type WebhookRedelivery } from './bulk.ts';
import { accountEndpointId } from './endpoints.ts';
import type { WebhookDeliveryFilter } from './model.ts';
import { conditionsOf } from './store.ts';

const columns = {
  redeliveryId: fixed('redelivery_id'),
  filter: json(fixed('filter'), filterFromJson),
  toCurrentUrl: fixed('to_current_url'),
  upto: fixed('upto'),
  place: changing('place'),
  total: fixed('total'),
  done: changing('done'),
  createdAt: fixed('created_at'),
  finishedAt: changing('finished_at'),
  canceledAt: changing('canceled_at'),
} satisfies Columns<WebhookRedelivery>;

declare module '../state/db/tables.ts' {
  interface Tables {
    webhook_redelivery: RowsOf<WebhookRedelivery, typeof columns>;
  }
}

export const redeliveryTable = table<WebhookRedelivery>('webhook_redelivery', columns, {
  key: 'redeliveryId',
  isKey: isRedeliveryId,
});

/** Reads a filter, whose instants are texts in JSON. */
function filterFromJson(stored: WebhookDeliveryFilter): WebhookDeliveryFilter {
  const { createdAfter, createdBefore } = stored;
  return Object.assign(
    stored,
    createdAfter && { createdAfter: new Date(createdAfter) },
    createdBefore && { createdBefore: new Date(createdBefore) },
  );
}

/** The deliveries of a tenant that a filter selects. */
function matching({ accountId, environment }: Tenant, filter: WebhookDeliveryFilter) {
  const conditions = conditionsOf(filter);
  const where = [
    raw`account_id = ${accountId} and environment = ${environment}`,
    ...valuesOf(conditions.oneOf),
    ...conditions.periods.flatMap(([instant, period]) => inPeriod(instant, period)),
    ...ownConditions(conditions),
  ];
  return raw`from webhook_delivery where ${raw.join(where, raw` and `)}`;
}

/** Counts the deliveries that match, up to one more than `most`, and finds the newest of them. */
export async function selectExtent(
  sql: Sql,
  tenant: Tenant,
  filter: WebhookDeliveryFilter,
  most: number,
): Promise<{ total: number; upto: number }> {
  const { rows } = await raw<{ total: number; upto: number | null }>`
    select count(*) as total, max(number) as upto
    from (select number ${matching(tenant, filter)} limit ${most + 1}) matching`.execute(sql);
  return { total: Number(rows[0]!.total), upto: Number(rows[0]!.upto ?? 0) };
}

/** Selects the next deliveries of a redelivery, oldest first. */
export async function selectNextMatching(
  sql: Sql,
  tenant: Tenant,
  { filter, place, upto }: WebhookRedelivery,
): Promise<Matching[]> {
  const { rows } = await raw<{
    webhook_id: string;
    number: number;
    endpoint_id: string | null;
    is_of_account: boolean;
  }>`
    select d.webhook_id, d.number, d.endpoint_id, d.headers is null and exists (
      -- A delivery whose event has gone by its age may be one to a payment's own URL.
      select from event e
      where e.account_id = d.account_id and e.environment = d.environment and e.version = d.event_version
        and e.snapshot ->> 'callbackUrl' is null
    ) as is_of_account
    from (
      select * ${matching(tenant, filter)} and number > ${place} and number <= ${upto}
      order by number limit ${BULK_PAGE}
    ) d
    order by d.number`.execute(sql);
  return rows.map((row) => ({
    ...{ webhookId: row.webhook_id, number: Number(row.number) },
    // A delivery of an older version names no endpoint.
    endpointId: row.endpoint_id ?? (row.is_of_account ? accountEndpointId(tenant) : null),
  }));
}
