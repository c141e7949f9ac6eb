import { type Columns, changing, json, type RowsOf, table } from '../state/db/table.ts';
import type { SigningSecrets, WebhookEndpoint } from './model.ts';

const columns = {
  url: changing('url'),
  enabled: changing('enabled'),
  secret: changing('secret'),
  secretShown: changing('secret_shown'),
  previousSecrets: json(changing('previous_secrets'), previousSecretsOf),
  // A newer version may have stored unknown events, which are left as they are.
  optionalEvents: changing('optional_events'),
} satisfies Columns<WebhookEndpoint>;

declare module '../state/db/tables.ts' {
  interface Tables {
    webhook_endpoint: RowsOf<WebhookEndpoint, typeof columns>;
  }
}

/** The endpoints: a tenant has one. */
export const endpointTable = table<WebhookEndpoint, never, never>('webhook_endpoint', columns, {
  key: {},
  unique: ['account_id', 'environment'],
});

/** Reads replaced secrets, whose instants are texts in JSON. */
export function previousSecretsOf(
  previous: readonly { secret: string; until: string | Date }[],
): SigningSecrets['previousSecrets'] {
  return previous.map((each) => ({ ...each, until: new Date(each.until) }));
}
