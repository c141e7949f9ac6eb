import { ValidationError } from '../../../kernel/errors.ts';
import type { ListRange } from '../../../kernel/list-range.ts';

// Places of payouts in a list that begins with payouts in doubt. The rest is the service's list, or a part of
// the mirror.

/**
 * The place of a payout in doubt, by its row of the mirror: below 0, the newest lowest. Places in the
 * service's list are ranks from 1.
 */
export function placeOfDoubt(row: number): number {
  return -row;
}

/** Whether a place comes after another in the list, newest first. */
export function isBehind(place: number, other: number): boolean {
  if (place < 0 && other < 0) return place > other;
  if (place < 0 || other < 0) return other < 0;
  return place < other;
}

/** The places in the mirror begin above all ranks, so that the cursor of one list is not taken for one of the other. */
const MIRROR_BASE = 2 ** 50;

/** The place of a row of the mirror. */
export function placeOfRow(row: number): number {
  return MIRROR_BASE + row;
}

/** The row of the mirror that has a place. */
export function rowOfPlace(place: number): number {
  return place - MIRROR_BASE;
}

/**
 * @throws ValidationError if a cursor belongs to a list with externalId and this list has none, or the
 * reverse
 */
export function assertCursorsOfList(
  places: Pick<ListRange, 'after' | 'before'>,
  { inMirror }: { inMirror: boolean },
): void {
  for (const path of ['after', 'before'] as const) {
    const place = places[path];
    if (place !== undefined && place > 0 && place > MIRROR_BASE !== inMirror)
      throw new ValidationError([
        { path, message: 'is not a cursor of this list: lists with and without externalId have their own' },
      ]);
  }
}
