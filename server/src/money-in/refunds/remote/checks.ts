import { type Checks, one, ZEROS } from '../../../upstream/checks.ts';
import { refundFromWire } from '../wire.ts';

export const refundChecks: Checks = {
  reads: [
    {
      name: 'GET /v1/refunds/{refundId}',
      resource: 'refund',
      nobody: `ref_${ZEROS}`,
      pathOf: (id) => `/v1/refunds/${encodeURIComponent(id)}`,
      read: one(refundFromWire, 'refundId', ['status', 'amountCents']),
    },
  ],
  writes: [
    { name: 'POST /v1/payments/{id}/refunds', family: 'refunds' },
    { name: 'POST /v1/charges/{id}/refunds', family: 'refunds' },
    { name: 'POST /v1/card-payments/{orderCode}/refunds', family: 'refunds' },
  ],
  features: [{ feature: 'refunds', family: 'refunds' }],
};
