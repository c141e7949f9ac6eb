import { NotFoundError } from '../kernel/errors.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Database } from '../state/db/database.ts';
import type { WebhookEndpointService } from './endpoints.ts';
import type { WebhookAdministration } from './managed.ts';
import { readStatuses, type WebhookService } from './model.ts';
import { selectTenantOf } from './store.ts';
import type { WebhookTestService } from './tests.ts';

/** The largest number of deliveries that the command lists. */
const MAX_LISTED = 100;

/** The log of webhooks over all accounts. */
export function createWebhookAdministration({
  database,
  webhooks,
  endpoints,
  tests,
  findAccount,
}: {
  database: Database;
  webhooks: Pick<
    WebhookService,
    'list' | 'findMany' | 'attemptsOf' | 'exchangesOf' | 'payloadsOf' | 'redeliver'
  >;
  endpoints: Pick<WebhookEndpointService, 'list'>;
  tests: WebhookTestService;
  /** Finds the account with an id, or the only one. */
  findAccount: (accountId: string | undefined) => Promise<string>;
}): WebhookAdministration {
  async function tenantOf(webhookId: string): Promise<Tenant> {
    const tenant = await selectTenantOf(database.sql, webhookId);
    if (!tenant) throw new NotFoundError('Webhook delivery not found');
    return tenant;
  }

  return {
    async listWebhooks({ accountId, environment, status, event, responseStatus, ...named }) {
      const tenant = { accountId: await findAccount(accountId), environment };
      const { items } = await webhooks.list(tenant, {
        end: 'first',
        limit: MAX_LISTED,
        ...named,
        status: status && [status],
        event: event === undefined ? undefined : [event],
        ...(responseStatus !== undefined && readStatuses([responseStatus])),
      });
      return { deliveries: items.map(({ delivery }) => delivery) };
    },

    async showWebhook({ webhookId }) {
      const tenant = await tenantOf(webhookId);
      const [[delivery], [payload = null], [attempts = []], [exchanges]] = await Promise.all([
        webhooks.findMany(tenant, [webhookId]),
        webhooks.payloadsOf(tenant, [webhookId]),
        webhooks.attemptsOf(tenant, [webhookId]),
        webhooks.exchangesOf(tenant, [webhookId]),
      ]);
      return {
        delivery: { ...delivery!, ...tenant },
        payload,
        attempts: attempts.map((each) => ({ ...each, exchange: exchanges?.get(each.number) ?? null })),
      };
    },

    async redeliverWebhook({ webhookId }) {
      return { delivery: await webhooks.redeliver(await tenantOf(webhookId), webhookId) };
    },

    async listEndpoints({ accountId, environment }) {
      return { endpoints: await endpoints.list({ accountId: await findAccount(accountId), environment }) };
    },

    async testWebhook({ accountId, environment, ...input }) {
      return tests.send({ accountId: await findAccount(accountId), environment }, input);
    },
  };
}
