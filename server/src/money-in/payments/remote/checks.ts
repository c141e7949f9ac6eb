import { type Checks, checkedFamily, ZEROS } from '../../../upstream/checks.ts';
import { paymentFromWire } from '../wire.ts';

export const paymentChecks: Checks = {
  reads: checkedFamily({
    path: 'payments',
    idName: 'paymentId',
    resource: 'payment',
    nobody: `psa_${ZEROS}`,
    read: paymentFromWire,
    members: ['status', 'amountCents', 'expiresAt'],
  }),
  writes: [{ name: 'POST /v1/payments', family: 'payments' }],
  features: [
    { feature: 'the status of payments by PIX and LTC' },
    { feature: 'createPayment, and PIX in <psa-checkout>', family: 'payments' },
  ],
};
