import { type Checks, checkedFamily } from '../../../upstream/checks.ts';
import { cardPaymentFromWire, cardPaymentsFromWire } from '../wire.ts';

export const cardPaymentChecks: Checks = {
  reads: checkedFamily({
    path: 'card-payments',
    listName: 'cardPayments',
    idInPath: 'orderCode',
    idName: 'orderCode',
    resource: 'card_payment',
    nobody: 'PSC-000000000000',
    members: ['status', 'amountCents'],
    read: cardPaymentFromWire,
    readList: cardPaymentsFromWire,
  }),
  writes: [{ name: 'POST /v1/card-payments' }],
  features: [
    { feature: 'the status of card payments', needs: ['GET /v1/card-payments/{orderCode}'] },
    { feature: 'card payments whose answer was lost', needs: ['GET /v1/card-payments'] },
  ],
};
