import { type Checks, list, ONE_ITEM } from '../../../upstream/checks.ts';
import { deliveriesFromWire } from '../wire.ts';

export const deliveryChecks: Checks = {
  reads: [
    {
      name: 'GET /v1/deliveries',
      pathOf: () => `/v1/deliveries?${ONE_ITEM}`,
      read: list(deliveriesFromWire, 'deliveries', 'deliveryId', ['productId', 'kind']),
    },
  ],
  writes: [
    { name: 'POST /v1/deliveries', family: 'deliveries' },
    { name: 'DELETE /v1/deliveries/{id}', family: 'deliveries' },
  ],
  features: [{ feature: 'deliveries' }],
};
