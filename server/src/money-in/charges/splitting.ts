import { ValidationError } from '../../kernel/errors.ts';
import type { Cents } from '../../kernel/money.ts';
import type { AskedSplit, RefundPart, StoredCharge, StoredSplit } from './model.ts';
import { basisPointsOf } from './percent.ts';

/**
 * Computes the shares of a net amount: fixed ones as they are, percentages rounded down. What is left is the owner's, with
 * the cents that rounding leaves.
 * @throws ValidationError naming the share that is nothing, or all of them where they are more than the net amount
 */
export function splitsOf(asked: readonly AskedSplit[], netCents: Cents): StoredSplit[] {
  const splits = asked.map(({ subaccountId, amountCents, percent }) => ({
    subaccountId,
    amountCents: amountCents ?? Math.floor((netCents * basisPointsOf(percent!)!) / 10_000),
    percent,
    refundedCents: 0,
    assignedCents: 0,
  }));
  const empty = splits.findIndex(({ amountCents }) => amountCents === 0);
  if (empty >= 0)
    throw new ValidationError([
      { path: `input.splits.${empty}.percent`, message: 'is less than a cent of the net amount' },
    ]);
  const sum = splits.reduce((cents, { amountCents }) => cents + amountCents, 0);
  if (sum > netCents)
    throw new ValidationError([
      { path: 'input.splits', message: `must not be more than the net amount, ${netCents} cents, together` },
    ]);
  return splits;
}

/**
 * Divides an amount between parties in proportion to what each has left: the k-th gets the difference of two prefixes,
 * each rounded down. So the parts sum to the amount, none is more than what its party has left, and the whole of what is
 * left takes exactly that of each.
 */
export function divide(amountCents: Cents, leftCents: readonly Cents[]): Cents[] {
  // The product of two amounts is beyond what a number can hold.
  const total = BigInt(leftCents.reduce((sum, left) => sum + left, 0));
  let prefix = 0n;
  let given = 0n;
  return leftCents.map((left) => {
    prefix += BigInt(left);
    const upTo = (prefix * BigInt(amountCents)) / total;
    const part = Number(upTo - given);
    given = upTo;
    return part;
  });
}

/**
 * Divides a refund between the subaccounts and, last, the owner, who has the fee as well. What the balance of a subaccount
 * lacks is not taken from it.
 */
export function partsOfRefund(
  charge: StoredCharge,
  amountCents: Cents,
  balanceOf: (subaccountId: string) => Cents,
): RefundPart[] {
  const { splits } = charge;
  const left = splits.map((split) => split.amountCents - split.assignedCents);
  // With what is disputed: a dispute holds of the owner alone, and changes nothing of what each party has still to give.
  const notRefunded = charge.amountCents - charge.refundedCents - charge.refundingCents;
  const ownersLeft = left.reduce((rest, cents) => rest - cents, notRefunded);
  const assigned = divide(amountCents, [...left, ownersLeft]);
  return splits.map(({ subaccountId }, nth) => ({
    subaccountId,
    assignedCents: assigned[nth]!,
    takenCents: Math.min(assigned[nth]!, balanceOf(subaccountId)),
  }));
}
