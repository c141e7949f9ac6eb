import { type Checks, checkedFamily, ZEROS } from '../../../upstream/checks.ts';
import { disputeFromWire, disputesFromWire } from '../wire.ts';

export const disputeChecks: Checks = {
  reads: checkedFamily({
    path: 'disputes',
    idName: 'disputeId',
    resource: 'dispute',
    nobody: `dsp_${ZEROS}`,
    members: ['status', 'reason', 'amountCents'],
    read: disputeFromWire,
    readList: disputesFromWire,
  }),
  writes: [{ name: 'POST /v1/disputes/{id}/evidence', family: 'disputes' }],
  features: [{ feature: 'disputes' }],
};
