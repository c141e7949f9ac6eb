import { type Checks, list, ONE_ITEM, one } from '../../../upstream/checks.ts';
import { readPayout, readPayoutList } from '../wire.ts';

export const payoutChecks: Checks = {
  reads: [
    {
      name: 'GET /v1/payouts',
      pathOf: () => `/v1/payouts?${ONE_ITEM}`,
      read: list(readPayoutList, 'payouts', 'withdrawalId', [
        ...['status', 'method', 'amountCents', 'destination', 'requestedAt'],
      ]),
    },
    {
      name: 'GET /v1/payouts/{id}',
      family: 'GET /v1/payouts',
      nobody: 'SAQ-000000000000',
      pathOf: (id) => `/v1/payouts/${encodeURIComponent(id)}`,
      read: one(readPayout, 'withdrawalId', ['status', 'method', 'amountCents']),
    },
  ],
  writes: [{ name: 'POST /v1/payouts' }],
  features: [
    { feature: 'the list of payouts', needs: ['GET /v1/payouts'] },
    { feature: 'one payout, by its id', needs: ['GET /v1/payouts/{id}'] },
  ],
};
