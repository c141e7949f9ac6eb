import { type Dispute, type DisputeStatus, idOfDisputed } from './operations.ts';

/** The sums of a payment that its payer's bank claims, and that it has got. */
export interface Disputed {
  openCents: number;
  lostCents: number;
  /** Whether all disputes of the payment are in the sums. */
  areAllKnown: boolean;
}

/** Sums the disputes of a payment. Those that were won count no more. */
export function disputedOf(id: string, disputes: readonly Dispute[]): Omit<Disputed, 'areAllKnown'> {
  const sumOf = (...statuses: DisputeStatus[]) =>
    disputes
      .filter(({ of, status }) => statuses.includes(status) && of !== null && idOfDisputed(of) === id)
      .reduce((sum, { amountCents }) => sum + amountCents, 0);
  return { openCents: sumOf('OPEN', 'UNDER_REVIEW', 'UNKNOWN'), lostCents: sumOf('LOST', 'FORGIVEN') };
}
