import { stringify } from 'csv-stringify/sync';
import { isoText } from '../../../kernel/instant.ts';
import { decimalText } from '../../../kernel/money.ts';
import { wallText } from '../../../kernel/sao-paulo.ts';
import { amountMembers, type Column, centsName, DECIMALS, type Figures, type Unit } from './export.ts';

// The two formats of an export. The last column, or the last member, of each row is its cursor.

/** The text of a file, part by part. */
export interface Encoder<Row> {
  readonly contentType: string;
  start(head: Head): string;
  rows(rows: readonly { row: Row; cursor: string }[]): string;
  end(tail: Tail): string;
}

/** The start of a file. */
export interface Head {
  readonly export: string;
  readonly environment: string;
  /** Whether the file has every row: in front of another service it has what that service has shown. */
  readonly isExact: boolean;
  readonly updatesCursor: string;
  /** The figures before the first row; null if the export has none around its rows. */
  readonly opening: Figures | null;
}

/** The end of a file. */
export interface Tail {
  readonly rows: number;
  /** Whether the list goes on behind the last row. */
  readonly more: boolean;
  readonly closing: Figures | null;
}

export const FORMATS = ['csv', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

/** The spreadsheets whose separators and dates a CSV may have. */
export const EXCELS = ['pt-BR'] as const;
export type Excel = (typeof EXCELS)[number];

// ── CSV ─────────────────────────────────────────────────────────────────────────────────────────

/**
 * Encodes a CSV as RFC 4180 describes it. With `excel` it has the separators and the dates of a spreadsheet in Brazil. A text
 * that a spreadsheet would take for a formula gets an apostrophe; amounts are numbers, also below 0.
 */
export function csvOf<Row>(columns: readonly Column<Row>[], excel: Excel | undefined): Encoder<Row> {
  const names = columns.flatMap(({ name, kind }) => (kind === 'cents' ? [centsName(name), name] : [name]));
  const decimals = columns.flatMap(({ kind }) =>
    kind === 'cents' ? [0, DECIMALS.cents] : [kind === 'litoshi' ? DECIMALS.litoshi : 0],
  );
  const toInstant = excel ? wallText : isoText;
  const options = {
    delimiter: excel ? ';' : ',',
    record_delimiter: 'windows',
    // A record ends with CRLF, so the library would not quote a cell with only one of the two characters.
    quoted_match: /[\r\n]/,
    escape_formulas: true,
    cast: {
      // A bigint is an amount to the library, which would take the text `-1` for a formula.
      bigint(units: bigint, { index }: { index: number }) {
        const decimal = decimalText(Number(units), decimals[index]!);
        return excel ? decimal.replace('.', ',') : decimal;
      },
    },
  };
  const toCells = (column: Column<Row>, row: Row) => {
    if (column.kind === 'text') return [column.of(row) ?? ''];
    if (column.kind === 'instant') {
      const at = column.of(row);
      return [at ? toInstant(at) : ''];
    }
    const units = column.of(row);
    const cell = units == null ? '' : BigInt(units);
    return column.kind === 'cents' ? [cell, cell] : [cell];
  };
  return {
    contentType: 'text/csv; charset=utf-8; header=present',
    start: () =>
      stringify([], { ...options, bom: excel !== undefined, header: true, columns: [...names, CURSOR] }),
    rows: (rows) =>
      stringify(
        rows.map(({ row, cursor }) => [...columns.flatMap((column) => toCells(column, row)), cursor]),
        options,
      ),
    end: () => '',
  };
}

const CURSOR = 'cursor';

// ── NDJSON ──────────────────────────────────────────────────────────────────────────────────────

/** Encodes a file of JSON lines: the start, a line for each row, and the end with the sums. */
export function ndjsonOf<Row>(columns: readonly Column<Row>[]): Encoder<Row> {
  const sums = new Map<string, { sum: number; kind: Unit }>();
  for (const column of columns)
    if ('isAdded' in column && column.isAdded) sums.set(column.name, { sum: 0, kind: column.kind });
  const lineOf = (value: object) => `${JSON.stringify(value)}\n`;
  const toMembers = (column: Column<Row>, row: Row): [string, unknown][] => {
    const { name } = column;
    if (column.kind === 'text') return [[name, column.of(row) ?? null]];
    if (column.kind === 'instant') {
      const at = column.of(row);
      return [[name, at ? isoText(at) : null]];
    }
    const units = column.of(row) ?? null;
    if (column.isAdded && units !== null) sums.get(name)!.sum += units;
    return amountMembers(name, column.kind, units);
  };
  return {
    contentType: 'application/x-ndjson; charset=utf-8',
    start: (start) => lineOf({ start }),
    rows: (rows) =>
      rows
        .map(({ row, cursor }) =>
          lineOf(
            Object.fromEntries([...columns.flatMap((column) => toMembers(column, row)), [CURSOR, cursor]]),
          ),
        )
        .join(''),
    end: ({ rows, more, closing }) =>
      lineOf({
        end: {
          rows,
          sums: Object.fromEntries(
            [...sums].flatMap(([name, { sum, kind }]) =>
              amountMembers(name, kind, Number.isSafeInteger(sum) ? sum : null),
            ),
          ),
          closing,
          more,
        },
      }),
  };
}
