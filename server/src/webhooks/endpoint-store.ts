import type { Tenant } from '../kernel/tenant.ts';
import type { Sql } from '../state/db/database.ts';
import { ofTenant } from '../state/db/of-tenant.ts';
import type { SigningSecrets, WebhookEndpoint } from './model.ts';

export async function selectEndpoint(sql: Sql, tenant: Tenant): Promise<WebhookEndpoint | null> {
  const row = await ofTenant(sql, 'webhook_endpoint', tenant).selectAll().executeTakeFirst();
  if (!row) return null;
  return {
    url: row.url,
    ...secretsOf(row.secret, row.previous_secrets),
    secretShown: row.secret_shown,
    // A newer version may have stored unknown events, which are left as they are.
    optionalEvents: row.optional_events,
  };
}

export async function saveEndpoint(sql: Sql, tenant: Tenant, endpoint: WebhookEndpoint): Promise<void> {
  await sql
    .insertInto('webhook_endpoint')
    .values({
      account_id: tenant.accountId,
      environment: tenant.environment,
      url: endpoint.url,
      secret: endpoint.secret,
      secret_shown: endpoint.secretShown,
      previous_secrets: JSON.stringify(endpoint.previousSecrets),
      optional_events: [...endpoint.optionalEvents],
    })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'environment']).doUpdateSet((row) => ({
        url: row.ref('excluded.url'),
        secret: row.ref('excluded.secret'),
        secret_shown: row.ref('excluded.secret_shown'),
        previous_secrets: row.ref('excluded.previous_secrets'),
        optional_events: row.ref('excluded.optional_events'),
      })),
    )
    .execute();
}

export function secretsOf(
  secret: string,
  previous: readonly { secret: string; until: string }[],
): SigningSecrets {
  return { secret, previousSecrets: previous.map((each) => ({ ...each, until: new Date(each.until) })) };
}
