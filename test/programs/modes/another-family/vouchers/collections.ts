import { type Collection, put } from '../../state/commit/commit.ts';
import type { VoucherChange } from './decisions.ts';
import type { StoredVoucher } from './model.ts';
import { voucherTable } from './store.ts';

export const vouchers: Collection<StoredVoucher> = {
  name: 'voucher',
  loadEach: voucherTable.loadEach,
  keyOf: ({ voucherId }) => voucherId,
  saveEach: voucherTable.saveEach,
};

export function writesOf({ previous, voucher, transactions }: VoucherChange) {
  return {
    records: [put(vouchers, voucher)],
    transactions,
    events: [
      {
        kind: `voucher.${voucher.status}` as const,
        resource: 'voucher' as const,
        resourceId: voucher.voucherId,
        previousStatus: previous?.status ?? null,
        snapshot: voucher,
      },
    ],
  };
}
