import { type Voucher, voucherFromJson } from './model.ts';

declare module '../../state/events/event.ts' {
  interface EventTypes {
    voucher: {
      kind: `voucher.${Voucher['status']}`;
      previousStatus: Voucher['status'] | null;
      snapshot: Voucher;
    };
  }
}

export const voucherSnapshots = { voucher: voucherFromJson };
