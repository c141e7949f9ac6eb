import { ValidationError } from '../../../kernel/errors.ts';
import type { ListRange } from '../../../kernel/list-range.ts';

// Places of payouts in a list that begins with payouts in doubt. The rest is the service's list, or a part of
// the mirror.

/**
 * The position of a payout in doubt, by its row of the mirror: below 0, the newest lowest. Positions in the
 * service's list are ranks from 1.
 */
export function positionOfDoubt(row: number): number {
  return -row;
}

/** Whether a position comes after another in the list, newest first. */
export function isBehind(position: number, other: number): boolean {
  if (position < 0 && other < 0) return position > other;
  if (position < 0 || other < 0) return other < 0;
  return position < other;
}

/** The positions in the mirror begin above all ranks, so that the cursor of one list is not taken for one of the other. */
const MIRROR_BASE = 2 ** 50;

/** The position of a row of the mirror. */
export function positionOfRow(row: number): number {
  return MIRROR_BASE + row;
}

/** The row of the mirror that has a position. */
export function rowOfPosition(position: number): number {
  return position - MIRROR_BASE;
}

/**
 * @throws ValidationError if a cursor belongs to a list with externalId and this list has none, or the
 * reverse
 */
export function assertCursorsOfList(
  positions: Pick<ListRange, 'after' | 'before'>,
  { inMirror }: { inMirror: boolean },
): void {
  for (const path of ['after', 'before'] as const) {
    const position = positions[path];
    if (position !== undefined && position > 0 && position > MIRROR_BASE !== inMirror)
      throw new ValidationError([
        { path, message: 'is not a cursor of this list: lists with and without externalId have their own' },
      ]);
  }
}
