import { InsufficientFundsError } from '../kernel/errors.ts';
import { type Cents, reaisText } from '../kernel/money.ts';
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

/** @throws InsufficientFundsError where a debit of the merchant's own money takes more than may be taken */
export function assertWithdrawable(balances: Balances, amountCents: Cents): void {
  if (amountCents > withdrawableOf(balances)) throw notWithdrawable(balances, amountCents);
}

function notWithdrawable(balances: Balances, requestedCents: Cents): InsufficientFundsError {
  const figures = fundsOf(balances, requestedCents);
  return new InsufficientFundsError(
    `${reaisText(requestedCents)} is more than can be withdrawn, which is ${reaisText(figures.withdrawableCents)}: ` +
      `of the balance of ${reaisText(figures.balanceCents)}, ${reaisText(figures.disputeBlockedCents)} is blocked by disputes ` +
      `and ${reaisText(figures.subaccountsBalanceCents)} belongs to subaccounts`,
    { ...figures, cryptoBalanceLitoshi: null },
  );
}

/** What a payout in LTC costs may not be more than the LTC balance. @throws InsufficientFundsError */
export function assertLtcWithdrawable(
  balances: Balances,
  { amountCents, litoshi }: { amountCents: Cents; litoshi: number },
): void {
  if (litoshi <= balances.merchant_ltc) return;
  throw new InsufficientFundsError(
    `${reaisText(amountCents)} is ${ltcText(litoshi)} LTC at this moment, more than the LTC balance of ` +
      `${ltcText(balances.merchant_ltc)} LTC`,
    { ...fundsOf(balances, amountCents), cryptoBalanceLitoshi: balances.merchant_ltc },
  );
}

function fundsOf(balances: Balances, requestedCents: Cents) {
  return {
    requestedCents,
    withdrawableCents: withdrawableOf(balances),
    balanceCents: balances.merchant_balance + balances.merchant_subaccounts,
    disputeBlockedCents: balances.dispute_hold,
    subaccountsBalanceCents: balances.merchant_subaccounts,
  };
}

/** Exact, with all eight decimals. */
export function ltcText(litoshi: number): string {
  const decimals = String(litoshi % LITOSHI_PER_LTC).padStart(8, '0');
  return `${Math.floor(litoshi / LITOSHI_PER_LTC)}.${decimals}`;
}
