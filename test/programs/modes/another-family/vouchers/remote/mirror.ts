import { type Family, observationsOf } from '../../../upstream/family-mirror.ts';
import { type Voucher, voucherFromJson } from '../model.ts';
import { mergeUpstreamVoucher, type UpstreamVoucher } from '../upstream-voucher.ts';

export const voucherFamily: Family<Voucher, UpstreamVoucher> = {
  resource: 'voucher',
  idOf: ({ voucherId }) => voucherId,
  merge: mergeUpstreamVoucher,
  isFinal: (status) => status === 'paid',
  fromJson: voucherFromJson,
  listedBy: ({ createdAt }) => ({ parent: null, createdAt }),
  eventOf: (voucher, from) => ({
    kind: `voucher.${voucher.status}`,
    resource: 'voucher',
    resourceId: voucher.voucherId,
    previousStatus: from,
    snapshot: voucher,
  }),
};

export const { observationOf } = observationsOf(voucherFamily);
