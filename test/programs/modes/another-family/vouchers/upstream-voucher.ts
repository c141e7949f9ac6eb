import { isUnchanged } from '../../kernel/objects.ts';
import type { Voucher } from './model.ts';

/** A voucher as another service shows it. Null: not shown. */
export type UpstreamVoucher = {
  [Member in keyof Omit<Voucher, 'version' | 'voucherId'>]: Voucher[Member] | null;
} & {
  voucherId: string;
};

/** Merges what the service shows into the known state; null if nothing changes, or if too little of it is shown. */
export function mergeUpstreamVoucher(known: Voucher | null, claim: UpstreamVoucher) {
  const amountCents = known?.amountCents ?? claim.amountCents;
  if (amountCents === null) return null;
  const status = known?.status === 'paid' ? 'paid' : (claim.status ?? known?.status ?? 'unknown');
  const voucher: Voucher = {
    voucherId: claim.voucherId,
    version: known?.version ?? 1,
    ...{ status, amountCents },
    description: known?.description ?? claim.description,
    createdAt: known?.createdAt ?? claim.createdAt,
    paidAt: known?.paidAt ?? claim.paidAt,
  };
  if (!known) return { resource: voucher, changed: { from: null } };
  if (isUnchanged(known, voucher)) return null;
  return { resource: { ...voucher, version: known.version + 1 }, changed: { from: known.status } };
}
