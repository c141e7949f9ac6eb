import { ValidationError } from '../../kernel/errors.ts';
import type { Cents } from '../../kernel/money.ts';
import type { AskedSplit, RefundPart, StoredCharge, StoredSplit } from './model.ts';
import { basisPointsOf } from './percent.ts';

/**
 * Computes the shares of a net amount: fixed shares as given, percentages rounded down. The owner gets the
 * rest, including the cents from rounding.
 * @throws ValidationError naming a share of nothing, or all of them if they exceed the net amount
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
 * Divides an amount between parties in proportion to `leftCents`: the k-th gets the difference of two
 * prefixes, each rounded down. So the parts sum to the amount, none exceeds what its party has left, and
 * dividing the whole rest takes exactly that of each.
 */
export function divide(amountCents: Cents, leftCents: readonly Cents[]): Cents[] {
  // The product of two amounts exceeds the safe integers.
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
 * Divides a refund between the subaccounts and, last, the owner, who also gets the fee. A subaccount gives at
 * most its balance.
 */
export function partsOfRefund(
  charge: StoredCharge,
  amountCents: Cents,
  balanceOf: (subaccountId: string) => Cents,
): RefundPart[] {
  const { splits } = charge;
  const left = splits.map((split) => split.amountCents - split.assignedCents);
  // Disputed cents are included: a dispute holds money of the owner alone, and does not change the share that
  // each party still has to give.
  const notRefunded = charge.amountCents - charge.refundedCents - charge.refundingCents;
  const ownersLeft = left.reduce((rest, cents) => rest - cents, notRefunded);
  const assigned = divide(amountCents, [...left, ownersLeft]);
  return splits.map(({ subaccountId }, nth) => ({
    subaccountId,
    assignedCents: assigned[nth]!,
    takenCents: Math.min(assigned[nth]!, balanceOf(subaccountId)),
  }));
}
