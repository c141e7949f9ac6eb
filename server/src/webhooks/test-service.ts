import { createWindows } from '../api/limits/windows.ts';
import { type Clock, secondsUntil } from '../kernel/clock.ts';
import { NotFoundError, RateLimitError, ValidationError } from '../kernel/errors.ts';
import { tenantKey } from '../kernel/tenant.ts';
import type { WebhookEnvelope } from '../kernel/webhook-event.ts';
import type { Database } from '../state/db/database.ts';
import { ENDPOINT } from './collections.ts';
import { endpointTable } from './endpoint-store.ts';
import { accountEndpointId, signingSecrets } from './endpoints.ts';
import { newWebhookId } from './model.ts';
import { sampleOf } from './sample.ts';
import type { Send } from './sender.ts';
import { DESCRIBED_WEBHOOKS } from './sent-events.ts';
import { signedHeaders } from './signing.ts';
import type { WebhookTestService } from './tests.ts';

/** The largest number of tests a minute: each is a request to a server of the merchant's choice. */
const TESTS_A_MINUTE = 10;

/** Webhooks that try a receiver. Nothing of them is stored. */
export function createWebhookTests({
  database,
  clock,
  realClock = clock,
  send,
}: {
  database: Database;
  clock: Clock;
  /** The real clock, for the signature and the duration: the simulator does not move it. */
  realClock?: Pick<Clock, 'now' | 'ms'>;
  send: Send;
}): WebhookTestService {
  const windows = createWindows({
    ...{ sql: database.sql, clock, name: 'webhook_test' },
    ...{ limit: TESTS_A_MINUTE, chunk: 1 },
  });

  return {
    async send(tenant, { event, endpointId }) {
      const described = DESCRIBED_WEBHOOKS.find(
        (each) => each.event === event || each.nameInSandbox === event,
      );
      if (!described)
        throw new ValidationError([
          { path: 'input.event', message: 'must be the name of an event in webhookEvents' },
        ]);
      const [stored] = await endpointTable.load(database.sql, tenant, [ENDPOINT]);
      const isOfAccount = (endpointId ?? accountEndpointId(tenant)) === accountEndpointId(tenant);
      const endpoint = isOfAccount ? stored : stored?.further.find((each) => each.endpointId === endpointId);
      if (!endpoint || endpoint.url === null)
        throw new NotFoundError(isOfAccount ? 'No webhook URL is set' : 'Webhook endpoint not found');
      const key = tenantKey(tenant);
      if (!(await windows.take(key)))
        throw new RateLimitError(
          `${TESTS_A_MINUTE} tests of webhooks a minute`,
          secondsUntil(windows.peek(key).resetAt, clock),
        );

      const { url } = endpoint;
      const at = clock.now();
      const webhookId = newWebhookId();
      const sandbox = tenant.environment === 'sandbox';
      const sample = sampleOf(described.body, at);
      const envelope: Partial<WebhookEnvelope> = {
        id: webhookId,
        occurredAt: at.toISOString(),
        version: 1,
        sandbox,
      };
      const name = sandbox ? (described.nameInSandbox ?? described.event) : described.event;
      const payload = JSON.stringify({ ...sample, event: name, ...envelope, test: true });
      const startedMs = realClock.ms();
      const headers = signedHeaders({
        ...{ webhookId, resourceVersion: 1, occurredAt: at, body: payload },
        ...{ secrets: signingSecrets(endpoint, at), at: realClock.now() },
      });
      const sent = await send({ url, headers: { ...headers, 'x-webhook-test': 'true' }, body: payload });
      const durationMs = Math.max(0, realClock.ms() - startedMs);
      return {
        webhookId,
        event: name,
        url,
        payload,
        attempt: { webhookId, number: 1, at, ...sent, durationMs },
      };
    },
  };
}
