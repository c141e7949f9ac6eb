import { sql as raw } from 'kysely';
import type { Sql } from '../state/db/database.ts';
import { type Columns, changing, json, type RowsOf, table } from '../state/db/table.ts';
import { EVERY_EVENT, type FurtherEndpoint, type SigningSecrets, type WebhookEndpoint } from './endpoints.ts';

const columns = {
  url: changing('url'),
  enabled: changing('enabled'),
  secret: changing('secret'),
  secretShown: changing('secret_shown'),
  previousSecrets: json(changing('previous_secrets'), previousSecretsOf),
  // A newer version may have stored unknown events, which are left as they are.
  optionalEvents: changing('optional_events'),
  failingSince: changing('failing_since'),
  further: json(changing('further'), furtherOf),
} satisfies Columns<WebhookEndpoint>;

declare module '../state/db/tables.ts' {
  interface Tables {
    webhook_endpoint: RowsOf<WebhookEndpoint, typeof columns>;
  }
}

/** The endpoints: a tenant has one row, with its further endpoints. */
export const endpointTable = table<WebhookEndpoint, never, never>('webhook_endpoint', columns, {
  key: {},
  unique: ['account_id', 'environment'],
});

/** Reads further endpoints, whose instants are texts in JSON. */
export function furtherOf(further: readonly FurtherEndpoint[]): FurtherEndpoint[] {
  return further.map((each) => ({
    ...each,
    // No events meant all of them before they were named.
    events: each.events.length > 0 ? each.events : [EVERY_EVENT],
    previousSecrets: previousSecretsOf(each.previousSecrets),
    createdAt: new Date(each.createdAt),
    failingSince: each.failingSince && new Date(each.failingSince),
    disabledAt: each.disabledAt && new Date(each.disabledAt),
  }));
}

/** Reads replaced secrets, whose instants are texts in JSON. */
export function previousSecretsOf(
  previous: readonly { secret: string; until: string | Date }[],
): SigningSecrets['previousSecrets'] {
  return previous.map((each) => ({ ...each, until: new Date(each.until) }));
}

/** Counts the endpoints of all accounts by their state. One that fails and is not disabled counts as failing. */
export async function countEndpoints(sql: Sql): Promise<{ status: string; count: number }[]> {
  const { rows } = await raw<{ status: string; count: number }>`
    select status, count(*) as count from (
      select case
        when not enabled then 'disabled'
        when disabled_at is not null then 'disabled_by_failures'
        when failing_since is not null then 'failing'
        else 'enabled' end as status
      from (
        select enabled, null as disabled_at, failing_since::text from webhook_endpoint where url is not null
        union all
        select (each ->> 'enabled')::boolean, each ->> 'disabledAt', each ->> 'failingSince'
        from webhook_endpoint cross join jsonb_array_elements(further) each
      ) endpoint
    ) endpoint
    group by status`.execute(sql);
  return rows.map(({ status, count }) => ({ status, count: Number(count) }));
}
