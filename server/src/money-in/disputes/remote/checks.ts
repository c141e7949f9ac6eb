import { type Checks, list, ONE_ITEM, one, ZEROS } from '../../../upstream/checks.ts';
import { disputeFromWire, disputesFromWire } from '../wire.ts';

const MEMBERS = ['status', 'reason', 'amountCents'];

export const disputeChecks: Checks = {
  reads: [
    {
      name: 'GET /v1/disputes',
      pathOf: () => `/v1/disputes?${ONE_ITEM}`,
      read: list(disputesFromWire, 'disputes', 'disputeId', MEMBERS),
    },
    {
      name: 'GET /v1/disputes/{id}',
      family: 'GET /v1/disputes',
      resource: 'dispute',
      nobody: `dsp_${ZEROS}`,
      pathOf: (id) => `/v1/disputes/${encodeURIComponent(id)}`,
      read: one(disputeFromWire, 'disputeId', MEMBERS),
    },
  ],
  writes: [{ name: 'POST /v1/disputes/{id}/evidence', family: 'disputes' }],
  features: [{ feature: 'disputes' }],
};
