import type { Cursors } from '../kernel/cursor.ts';
import { ValidationError } from '../kernel/errors.ts';

export const DEFAULT_PAGE = 50;
export const LARGEST_PAGE = 100;

/** The document's section 2.1.6: 1 to 100, 50 where left out. @throws ValidationError naming the argument */
export function pageSize(given: number | null | undefined, argument: 'first' | 'last' = 'first'): number {
  const size = given ?? DEFAULT_PAGE;
  if (size < 1 || size > LARGEST_PAGE)
    throw new ValidationError([{ path: argument, message: `must lie from 1 to ${LARGEST_PAGE}` }]);
  return size;
}

/** The place in a list that an `after` or a `before` names. @throws ValidationError naming the argument */
export function placeArgument(
  cursors: Cursors,
  cursor: string | null | undefined,
  argument: 'after' | 'before' = 'after',
): number | undefined {
  if (cursor == null) return undefined;
  const place = cursors.decode(cursor);
  if (place === null)
    throw new ValidationError([{ path: argument, message: 'is not a cursor of this server' }]);
  return place;
}
