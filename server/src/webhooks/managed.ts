import { z } from 'zod';
import type { Tenant } from '../kernel/tenant.ts';
import { plainText } from '../kernel/text.ts';
import type { WebhookSettings } from './endpoints.ts';
import type { WebhookExchange } from './exchange.ts';
import { WEBHOOK_DELIVERY_STATUSES, type WebhookAttempt, type WebhookDelivery } from './model.ts';
import type { SentTest } from './tests.ts';

// The log of webhooks, as the operator of the server reads it.

const text = plainText({ max: 255 });

export const listWebhooksInput = z.strictObject({
  /** The account; optional if there is only one. */
  accountId: text.optional(),
  environment: z.enum(['live', 'sandbox']),
  status: z.enum(WEBHOOK_DELIVERY_STATUSES, `must be ${WEBHOOK_DELIVERY_STATUSES.join(', ')}`).optional(),
  event: text.optional(),
  endpointId: text.optional(),
  reference: text.optional(),
  responseStatus: z.number().int().min(0).max(599).optional(),
});
export const testWebhookInput = z.strictObject({
  accountId: text.optional(),
  environment: z.enum(['live', 'sandbox']),
  event: text,
  endpointId: text.optional(),
});
export const listEndpointsInput = z.strictObject({
  accountId: text.optional(),
  environment: z.enum(['live', 'sandbox']),
});
export const webhookInput = z.strictObject({ webhookId: text });

/** A delivery with all that is known of it. */
export interface ShownWebhook {
  delivery: WebhookDelivery & Tenant;
  payload: string | null;
  attempts: (WebhookAttempt & { exchange: WebhookExchange | null })[];
}

export interface WebhookAdministration {
  /** Lists the endpoints of an account. @throws NotFoundError, ValidationError (there are several accounts) */
  listEndpoints(input: z.output<typeof listEndpointsInput>): Promise<{ endpoints: WebhookSettings[] }>;
  /** Lists the newest 100 deliveries that match. @throws NotFoundError, ValidationError (there are several accounts) */
  listWebhooks(input: z.output<typeof listWebhooksInput>): Promise<{ deliveries: WebhookDelivery[] }>;
  /** @throws NotFoundError */
  showWebhook(input: z.output<typeof webhookInput>): Promise<ShownWebhook>;
  /** Sends a delivery again, as `redeliverWebhook` does. @throws NotFoundError */
  redeliverWebhook(input: z.output<typeof webhookInput>): Promise<{ delivery: WebhookDelivery }>;
  /**
   * Sends an event of nothing to an endpoint, by default the account's URL, as `sendTestWebhook` does.
   * @throws ValidationError, NotFoundError, RateLimitError
   */
  testWebhook(input: z.output<typeof testWebhookInput>): Promise<SentTest>;
}
