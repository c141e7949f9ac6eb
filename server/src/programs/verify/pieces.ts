import { DAY_MS, plusMs } from '../../kernel/clock.ts';
import type { Family, Slice } from './laws/law.ts';

/** The sums of the postings by ledger account. */
export type Sums = Readonly<Record<string, number>>;

/** The rows that one statement sees. */
export interface Piece {
  readonly slice: Slice;
  readonly parameters: readonly unknown[];
  /** The number of rows, resources or days. */
  readonly rows: number;
  /** The first and the last number of the journal, or version of the log. */
  readonly numbers?: [from: number, to: number] | null;
  /** Whether a row that breaks a law is of this piece, and not beside it. */
  readonly isInside?: (row: Record<string, unknown>) => boolean;
  /** Divides it, for a statement that takes too long. A piece without it cannot be divided. */
  readonly halves?: () => readonly Piece[];
  readonly onDone?: (rows: number, sums: Sums) => void;
}

/** Divides what a piece is of, and makes a piece of each half. */
function halvesOf<T>(items: readonly T[], make: (items: readonly T[]) => Piece): readonly Piece[] {
  if (items.length < 2) return [];
  const middle = Math.ceil(items.length / 2);
  return [make(items.slice(0, middle)), make(items.slice(middle))];
}

/** Rows of the journal or the log, by their numbers. */
export function pieceOfNumbers(
  slice: Slice,
  [from, to]: readonly [from: number, to: number],
  onDone: NonNullable<Piece['onDone']>,
): Piece {
  const middle = Math.floor((from + to) / 2);
  const part = (first: number, last: number) => pieceOfNumbers(slice, [first, last], onDone);
  return {
    slice,
    parameters: [from, to],
    rows: to - from + 1,
    numbers: [from, to],
    halves: () => (from < to ? [part(from, middle), part(middle + 1, to)] : []),
    onDone,
  };
}

/** Resources of a family, by their ids. */
export function pieceOfIds(
  family: Family,
  ids: readonly string[],
  onDone: NonNullable<Piece['onDone']>,
): Piece {
  return {
    slice: family,
    parameters: [ids],
    rows: ids.length,
    halves: () => halvesOf(ids, (half) => pieceOfIds(family, half, onDone)),
    onDone,
  };
}

/** Totals of whole days in UTC, which follow each other. */
export function pieceOfDays(days: readonly Date[]): Piece {
  const from = days[0]!;
  const until = plusMs(days.at(-1)!, DAY_MS);
  return {
    slice: 'hours',
    parameters: [from, until],
    rows: days.length,
    isInside({ since }) {
      const at = new Date(String(since));
      return at >= from && at < until;
    },
    halves: () => halvesOf(days, pieceOfDays),
  };
}

/** Totals of lists, by the names of those whose rows are counted. */
export function pieceOfTotals(lists: readonly string[]): Piece {
  return {
    slice: 'totals',
    parameters: [lists],
    rows: lists.length,
    halves: () => halvesOf(lists, pieceOfTotals),
  };
}

/** Rows that a tenant has once. */
export function pieceOfOne(
  slice: Slice,
  parameters: readonly unknown[] = [],
  numbers: [number, number] | null = null,
): Piece {
  return { slice, parameters, rows: 1, numbers };
}
