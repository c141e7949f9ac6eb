import { type Checks, checkedFamily, ZEROS } from '../../../upstream/checks.ts';
import { voucherFromWire } from '../wire.ts';

export const voucherChecks: Checks = {
  reads: checkedFamily({
    path: 'vouchers',
    idName: 'voucherId',
    resource: 'voucher',
    nobody: `vou_${ZEROS}`,
    read: voucherFromWire,
    members: ['status', 'amountCents'],
  }),
  writes: [{ name: 'POST /v1/vouchers', family: 'vouchers' }],
  features: [{ feature: 'vouchers' }],
};
