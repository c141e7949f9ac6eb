import { builder } from '../api/graphql/builder.ts';

export const WebhookDeliveryStatusEnum = builder.enumType('WebhookDeliveryStatus', {
  description: 'The state of a webhook delivery.',
  values: {
    PENDING: { value: 'pending', description: 'An attempt is still to follow.' },
    DELIVERED: { value: 'delivered', description: 'An attempt was answered with a status of 2xx.' },
    EXHAUSTED: { value: 'exhausted', description: 'All seven attempts have failed; it can be sent again.' },
  } as const,
});
