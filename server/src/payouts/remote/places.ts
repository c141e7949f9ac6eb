import type { Payout } from '../model.ts';

// Places of payouts in a list whose first payouts are in doubt.

/** The place of a payout in doubt: below 0, the newest lowest. The places in the service's list are ranks, from 1. */
export function placeOfDoubt(payout: Payout): number {
  return -payout.requestedAt!.getTime();
}

/** Whether a place comes after another in the list, newest first. */
export function isBehind(place: number, other: number): boolean {
  if (place < 0 && other < 0) return place > other;
  if (place < 0 || other < 0) return other < 0;
  return place < other;
}
