import type { z } from 'zod';
import type { Caller, Right } from '../../../kernel/caller.ts';
import type { ListedRange, ListRange } from '../../../kernel/list-range.ts';
import { decimalText, LITOSHI_DECIMALS, REAIS_DECIMALS } from '../../../kernel/money.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { readFilterQuery } from '../list-query.ts';

// An export is a whole list as one file. A slice declares the columns of its rows, and reads them page by page.

// ── Amounts ─────────────────────────────────────────────────────────────────────────────────────

/** The units in which amounts are stored, with the decimals of the amount in reais or in LTC. */
export const DECIMALS = { cents: REAIS_DECIMALS, litoshi: LITOSHI_DECIMALS } as const;
export type Unit = keyof typeof DECIMALS;

/** The name of an amount in cents, which stands beside the decimal. */
export const centsName = (name: string) => `${name}Cents`;

/** The members of an amount in JSON: the cents and the decimal; of LTC the decimal alone. */
export function amountMembers(
  name: string,
  unit: Unit,
  units: number | null,
): [string, number | string | null][] {
  const decimal: [string, string | null] = [name, units === null ? null : decimalText(units, DECIMALS[unit])];
  return unit === 'cents' ? [[centsName(name), units], decimal] : [decimal];
}

// ── Columns ─────────────────────────────────────────────────────────────────────────────────────

/** A column of a file. An amount in `cents` becomes two: the cents, and the same as a decimal. */
export type Column<Row> = { readonly name: string } & (
  | { readonly kind: 'text'; readonly of: (row: Row) => string | null | undefined }
  | { readonly kind: 'instant'; readonly of: (row: Row) => Date | null | undefined }
  | {
      readonly kind: Unit;
      readonly of: (row: Row) => number | null | undefined;
      /** Whether the end of a file has the sum of the column. */
      readonly isAdded: boolean;
    }
);

export const text = <Row>(name: string, of: (row: Row) => string | null | undefined): Column<Row> => ({
  name,
  kind: 'text',
  of,
});

export const instant = <Row>(name: string, of: (row: Row) => Date | null | undefined): Column<Row> => ({
  name,
  kind: 'instant',
  of,
});

/** An amount that has moved: the end of a file has the sum. */
export const moved = <Row>(
  name: string,
  of: (row: Row) => number | null | undefined,
  kind: Unit = 'cents',
): Column<Row> => ({ name, kind, of, isAdded: true });

/** An amount at one moment, such as a balance. */
export const figure = <Row>(
  name: string,
  of: (row: Row) => number | null | undefined,
  kind: Unit = 'cents',
): Column<Row> => ({ name, kind, of, isAdded: false });

// ── Exports ─────────────────────────────────────────────────────────────────────────────────────

/** A row with its position in the list. */
export interface Placed<Row> {
  readonly position: number;
  readonly row: Row;
}

export type Pages<Row> = AsyncIterable<readonly Placed<Row>[]>;

/** The figures of a wallet, by their names in the file. */
export type Figures = Readonly<Record<string, number | string | null>>;

/** The figures before the first row of a file, which add up with all sums to the figures after the last one. */
export interface Ends<Row> {
  before(row: Row): Figures;
  after(row: Row): Figures;
  /** Reads the figures of a file without rows; null if none are known. */
  withoutRows(): Promise<Figures | null>;
}

/** The rows of one file. */
export interface Reading<Row> {
  /** Reads the rows behind a position, or all of them. Each is given once, whatever is written meanwhile. */
  pages(after: number | undefined): Pages<Row>;
  /** The figures before and after the rows. Omitted if the rows do not add up to any, such as those that a filter selects. */
  ends?: Ends<Row> | undefined;
}

interface Definition<Row, Members extends z.ZodRawShape> {
  /** The name of the file, without its extension. */
  readonly name: string;
  /** The parameters that select rows: the filter of the list under its names in GraphQL. */
  readonly query: Members;
  readonly columns: readonly Column<Row>[];
  /** The caller has one of these rights at least; the file has the rows that its rights show. */
  readonly rights: readonly [Right, ...Right[]];
  /** Opens the list for such a caller. @throws ValidationError naming the parameter, PreconditionError */
  open(caller: Caller, members: z.output<z.ZodObject<Members>>): Reading<Row>;
}

/** An export whose types were checked at its declaration. */
// biome-ignore lint/suspicious/noExplicitAny: the only way to express "of some types"
export type Export = Definition<any, any>;

/** Declares an export. */
export function exportOf<Row, Members extends z.ZodRawShape>(definition: Definition<Row, Members>): Export {
  return definition;
}

// ── Pages ───────────────────────────────────────────────────────────────────────────────────────

/** The rows that one statement reads. */
export const PAGE_ROWS = 500;

/**
 * Reads a list, newest first, behind a position. An item that is made meanwhile comes before the first page. `placeOf`:
 * the position of a row, if it is not that of its item.
 */
export async function* pagesOf<Item extends { readonly position: number }, Row>(
  list: (range: ListRange) => Promise<ListedRange<Item>>,
  rowOf: (item: Item) => Row,
  after: number | undefined,
  placeOf = (position: number) => position,
): Pages<Row> {
  for (let last = after; ; ) {
    const { items, more } = await list({ end: 'first', limit: PAGE_ROWS, after: last });
    if (items.length > 0) yield items.map((item) => ({ position: placeOf(item.position), row: rowOf(item) }));
    if (!more || items.length === 0) return;
    last = items.at(-1)!.position;
  }
}

/** Makes the `open` of an export whose rows are the items of one list. `filterOf`: the filter, if a caller sees fewer. */
export function readingOf<Filter extends object, Item extends { readonly position: number }, Row>(
  list: (tenant: Tenant, range: ListRange & Filter) => Promise<ListedRange<Item>>,
  rowOf: (item: Item) => Row,
  filterOf: (members: Readonly<Record<string, unknown>>, caller: Caller) => Filter = (members) =>
    readFilterQuery(members),
) {
  return (caller: Caller, members: Readonly<Record<string, unknown>>): Reading<Row> => {
    const filter = filterOf(members, caller);
    return {
      pages: (after) => pagesOf((range) => list(caller.tenant, { ...filter, ...range }), rowOf, after),
    };
  };
}
