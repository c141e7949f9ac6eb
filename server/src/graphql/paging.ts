import type { Cursors } from '../kernel/cursor.ts';
import { ValidationError } from '../kernel/errors.ts';

export const DEFAULT_PAGE = 50;
export const LARGEST_PAGE = 100;

/** The document's section 2.1.6: 1 to 100, 50 where left out. @throws ValidationError */
export function pageSize(first: number | null | undefined): number {
  const size = first ?? DEFAULT_PAGE;
  if (size < 1 || size > LARGEST_PAGE)
    throw new ValidationError([{ path: 'first', message: `must lie from 1 to ${LARGEST_PAGE}` }]);
  return size;
}

/** The place in a list that an `after` names. @throws ValidationError */
export function placeArgument(cursors: Cursors, after: string | null | undefined): number | undefined {
  if (after == null) return undefined;
  const place = cursors.decode(after);
  if (place === null)
    throw new ValidationError([{ path: 'after', message: 'is not a cursor of this server' }]);
  return place;
}
