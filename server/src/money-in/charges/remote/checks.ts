import { type Checks, checkedFamily, ZEROS } from '../../../upstream/checks.ts';
import { chargeFromWire } from '../wire.ts';

export const chargeChecks: Checks = {
  reads: checkedFamily({
    path: 'charges',
    idName: 'chargeId',
    resource: 'charge',
    nobody: `psc_${ZEROS}`,
    read: chargeFromWire,
    members: ['status', 'amountCents', 'expiresAt'],
  }),
  writes: [{ name: 'POST /v1/charges', family: 'charges' }],
  features: [{ feature: 'the status of charges' }],
};
