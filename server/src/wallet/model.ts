import type { Cents } from '../kernel/money.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Balances } from '../ledger/postings.ts';

export const LITOSHI_PER_LTC = 100_000_000;

/** The document's section 2.4, in cents throughout. */
export interface Wallet {
  environment: Tenant['environment'];
  /** Gross: the subaccounts' share included. */
  balanceCents: Cents;
  disputeBlockedCents: Cents;
  /** balance − disputeBlocked − subaccounts, never below 0: the most that a payout may take. */
  withdrawableCents: Cents;
  pendingReleaseCents: Cents;
  /** Null where it could not be computed; withdrawable then does not subtract it. */
  subaccountsBalanceCents: Cents | null;
  /** The ceiling of a transfer to a subaccount: withdrawable, or null where the sum above is. */
  assignableCents: Cents | null;
  cryptoBalanceLitoshi: number;
}

export interface WalletService {
  read(tenant: Tenant): Promise<Wallet>;
}

/** The wallet is what the ledger says, by the document's formula. */
export function walletOf(
  environment: Tenant['environment'],
  balances: Balances,
  subaccountsBalanceCents: Cents | null,
): Wallet {
  const balanceCents = balances.merchant_balance + balances.merchant_subaccounts;
  const disputeBlockedCents = balances.dispute_hold;
  const withdrawableCents = Math.max(0, balanceCents - disputeBlockedCents - (subaccountsBalanceCents ?? 0));
  return {
    environment,
    balanceCents,
    disputeBlockedCents,
    withdrawableCents,
    pendingReleaseCents: balances.merchant_pending,
    subaccountsBalanceCents,
    assignableCents: subaccountsBalanceCents === null ? null : withdrawableCents,
    cryptoBalanceLitoshi: balances.merchant_ltc,
  };
}

/** What a debit may really take, whether or not the wallet could show the subaccounts' sum. */
export function withdrawableOf(balances: Balances): Cents {
  return Math.max(0, balances.merchant_balance - balances.dispute_hold);
}
