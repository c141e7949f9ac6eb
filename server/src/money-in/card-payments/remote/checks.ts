import { type Checks, list, ONE_ITEM, one } from '../../../upstream/checks.ts';
import { cardPaymentFromWire, cardPaymentsFromWire } from '../wire.ts';

const [LIST, LOOKUP] = ['GET /v1/card-payments', 'GET /v1/card-payments/{orderCode}'];
const MEMBERS = ['status', 'amountCents'];

export const cardPaymentChecks: Checks = {
  reads: [
    {
      name: LIST,
      pathOf: () => `/v1/card-payments?${ONE_ITEM}`,
      read: list(cardPaymentsFromWire, 'cardPayments', 'orderCode', MEMBERS),
    },
    {
      name: LOOKUP,
      family: LIST,
      resource: 'card_payment',
      nobody: 'PSC-000000000000',
      pathOf: (id) => `/v1/card-payments/${encodeURIComponent(id)}`,
      read: one(cardPaymentFromWire, 'orderCode', MEMBERS),
    },
  ],
  writes: [{ name: 'POST /v1/card-payments' }],
  features: [
    { feature: 'the status of card payments', needs: [LOOKUP] },
    { feature: 'card payments whose answer was lost', needs: [LIST] },
  ],
};
