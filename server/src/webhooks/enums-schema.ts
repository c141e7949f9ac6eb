import { builder } from '../api/graphql/builder.ts';

export const WebhookDeliveryStatusEnum = builder.enumType('WebhookDeliveryStatus', {
  description: 'The state of a webhook delivery.',
  values: {
    PENDING: { value: 'pending', description: 'An attempt is still to follow.' },
    DELIVERED: { value: 'delivered', description: 'An attempt was answered with a status of 2xx.' },
    EXHAUSTED: { value: 'exhausted', description: 'All seven attempts have failed; it can be sent again.' },
    HELD: {
      value: 'held',
      description: 'The endpoint is DISABLED_BY_FAILURES; it is sent when that is enabled again.',
    },
    CANCELED: { value: 'canceled', description: 'The endpoint was deleted before it was delivered.' },
  } as const,
});
