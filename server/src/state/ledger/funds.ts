import { InsufficientFundsError, ValidationError } from '../../kernel/errors.ts';
import { type Cents, ltcText, reaisText } from '../../kernel/money.ts';
import type { Balances } from './postings.ts';

/** The most that a debit may take: the merchant's own money without what disputes hold. */
export function withdrawableOf(balances: Balances): Cents {
  return Math.max(0, balances.merchant_balance - balances.dispute_hold);
}

/** Refuses a debit of the merchant's own money that exceeds the limit. @throws InsufficientFundsError */
export function assertWithdrawable(balances: Balances, amountCents: Cents): void {
  if (amountCents > withdrawableOf(balances)) throw notWithdrawable(balances, amountCents);
}

/**
 * Refuses an amount above the account's ceiling for a payout by PIX. A ceiling of null is none. @throws
 * ValidationError
 */
export function assertUnderCeiling(amountCents: Cents, pixMaxCents: Cents | null): void {
  if (pixMaxCents === null || amountCents <= pixMaxCents) return;
  throw new ValidationError([
    {
      path: 'input.amountCents',
      message: `must be at most ${pixMaxCents} (${reaisText(pixMaxCents)}), the account’s ceiling of a payout by PIX`,
    },
  ]);
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

/** Refuses a payout in LTC that exceeds the LTC balance. @throws InsufficientFundsError */
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
