import { DAY_MS } from '../../kernel/clock.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import type { PaidRow, ParsedRows } from './batch.ts';
import { areDifferent, fingerprintOf } from './destinations.ts';
import { isMasked, NO_DESTINATION, type Payout, payoutIdOf } from './model.ts';

// Rows for which there is a payout already. A file that was corrected and uploaded whole has those that were paid at first.

/** The age up to which a payout counts: at the hourly limit there are 1,680 of them. */
export const PAID_WITHIN_MS = 7 * DAY_MS;

type Row = ParsedRows['rows'][number];

/**
 * Finds the rows that repeat payouts, each with the first of those: of one method, destination and amount, unless both have a
 * reference and the two differ. Of equal rows each is found, though there may be one payout: which of them it was is not known.
 */
export function paidRows(rows: readonly Row[], payouts: readonly Payout[]): PaidRow[] {
  const byAmount = Map.groupBy(
    payouts.filter(({ status }) => status !== 'denied' && status !== 'returned'),
    ({ amountCents }) => amountCents,
  );
  const known = new Map<string, Payout | undefined>();
  return rows.flatMap((row, place) => {
    const { method, destination, amountCents, externalId = null } = row;
    const same = hashInput([method, destination, amountCents, externalId]);
    if (!known.has(same)) known.set(same, byAmount.get(amountCents)?.find(isRepeatedBy(row)));
    const payout = known.get(same);
    if (!payout) return [];
    const { code, requestedAt, inDoubt = false } = payout;
    return [{ row: place + 1, payoutId: payoutIdOf(payout), code, requestedAt, inDoubt }];
  });
}

function isRepeatedBy({ method, destination, amountCents, externalId }: Row): (payout: Payout) => boolean {
  const inputHash = fingerprintOf(method, amountCents, destination);
  const isSame = (payout: Payout) => {
    if (payout.inputHash !== undefined && inputHash !== null) return payout.inputHash === inputHash;
    // Another service may show a key masked, in a way of its own, or not at all.
    return isMasked(payout.destination) || payout.destination === NO_DESTINATION
      ? !areDifferent(payout, { method, destination })
      : payout.destination === destination;
  };
  return (payout) =>
    (payout.method === method || payout.method === 'unknown') &&
    (!externalId || !payout.externalId || payout.externalId === externalId) &&
    isSame(payout);
}
