import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
import { webhookEvent } from '../kernel/webhook-event.ts';
import type { DisabledEndpoint } from './endpoint-health.ts';

/** The events, with the members of each. */
export const webhookEndpointWebhooks = {
  'webhook_endpoint.disabled': webhookEvent('webhook_endpoint.disabled', {
    summary: 'An endpoint has failed for five days: its events are held until it answers again',
    optional: ': an endpoint has failed for five days, and its events are held until it answers again.',
    resource: 'webhook_endpoint',
    members: {
      endpointId: z.string().meta({ examples: ['whe_65f0c0ffee65f0c0ffee65f0'] }),
      url: z.string().meta({
        format: 'uri',
        description: 'The host of its URL; path and query, which may be secrets, are ***',
        examples: ['https://estoque.example/***'],
      }),
      failingSince: instant.meta({ description: 'The first failure after its last success' }),
      failedAttempts: z.int().min(1).meta({ description: 'The attempts that have failed since then' }),
      disabledAt: instant,
    },
    named: 'alike',
  }),
};

/** The webhook of an endpoint that was disabled. */
export function webhookEndpointWebhook({
  endpointId,
  url,
  failingSince,
  failedAttempts,
  disabledAt,
}: DisabledEndpoint) {
  return {
    event: 'webhook_endpoint.disabled' as const,
    ...{ endpointId, url, failingSince: failingSince.toISOString(), failedAttempts },
    disabledAt: disabledAt.toISOString(),
  };
}
