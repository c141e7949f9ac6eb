import type { Environment } from '../../kernel/tenant.ts';
import { decideCredit } from '../../money-out/wallet/model.ts';
import type { Balances, LedgerTransaction } from '../../state/ledger/postings.ts';
import type { CreateVoucherInput, StoredVoucher } from './model.ts';

export interface VoucherChange {
  previous: StoredVoucher | null;
  voucher: StoredVoucher;
  transactions: readonly LedgerTransaction[];
}

export function decideCreate(
  { valueCents, description = null }: CreateVoucherInput,
  { voucherId, now }: { voucherId: string; now: Date },
): VoucherChange {
  const voucher = {
    ...{ voucherId, description, amountCents: valueCents, createdAt: now },
    ...{ version: 1, status: 'open' as const, paidAt: null },
  };
  return { previous: null, voucher, transactions: [] };
}

/** Pays an open voucher; null if it is paid already. The sandbox moves no money. */
export function decidePay(
  voucher: StoredVoucher,
  { environment, balances, now }: { environment: Environment; balances: Balances; now: Date },
): VoucherChange | null {
  if (voucher.status === 'paid') return null;
  return {
    previous: voucher,
    voucher: { ...voucher, version: voucher.version + 1, status: 'paid', paidAt: now },
    transactions:
      environment === 'live' ? [decideCredit(voucher.amountCents, { id: voucher.voucherId, balances })] : [],
  };
}
