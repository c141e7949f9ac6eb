import { CompiledQuery } from 'kysely';
import { OutageError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import type { Law, Slice } from './laws/law.ts';
import type { Finding } from './model.ts';
import { withRowsOf } from './slices.ts';

/** The most rows of one law that one statement returns: where one is broken everywhere, the first are enough. */
const MOST_OF_A_LAW = 100;

/** Composes the statement that decides laws in a slice. It returns one row for each row that breaks one. */
export function textOf(slice: Slice, laws: readonly Law[]): string {
  const found = laws.map(
    ({ sql }, index) =>
      `(select ${index} as law, row_to_json(f) as found from (${sql}\n) f limit ${MOST_OF_A_LAW})`,
  );
  const sums = slice === 'journal' ? [SUMS] : [];
  return `${withRowsOf(slice)}\n${[...found, ...sums].join('\nunion all\n')}`;
}

/** The sums of the postings by ledger account, without those of the row before the first. */
const SUMS = `(select -1 as law, coalesce(json_object_agg(name, amount), '{}') as found from (
  select p.ledger_account as name, sum(p.amount)::bigint as amount
  from posting p join ledger_transaction l using (account_id, environment, transaction_id)
  where l.number >= $3::bigint group by 1
) sums)`;

interface Row {
  law: number;
  found: Record<string, unknown>;
}

/** Decides laws in a slice. A statement that an outage has ended is sent once more; after that its error is thrown. */
export async function decide(
  sql: Sql,
  text: string,
  parameters: readonly unknown[],
): Promise<{ rows: Row[]; sums: Record<string, number> }> {
  const run = () => sql.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]));
  const { rows } = await run().catch((error: unknown) => {
    if (error instanceof OutageError) return run();
    throw error;
  });
  return {
    rows: rows.filter(({ law }) => law >= 0),
    sums: (rows.find(({ law }) => law === -1)?.found ?? {}) as Record<string, number>,
  };
}

/** Columns that say whose a row is. */
const WHOSE: ReadonlySet<string> = new Set(['account_id', 'environment']);

/** Makes a finding of a row. Null for the row before the first, which only shows what that one continues. */
export function findingOf(
  law: Law,
  { accountId, environment }: Tenant,
  row: Record<string, unknown>,
  numbers: [number, number] | null,
  isInside: (row: Record<string, unknown>) => boolean = () => true,
): Finding | null {
  if (!isInside(row)) return null;
  const columns = Object.entries(row).filter(([name]) => !WHOSE.has(name));
  const place = row.number ?? (law.scope.includes('log') ? row.version : undefined);
  if (numbers !== null && typeof place === 'number' && place < numbers[0]) return null;
  const key = columns.find(([, value]) => typeof value === 'string')?.[1] ?? columns[0]?.[1] ?? '';
  return {
    law: law.name,
    account: accountId,
    environment,
    key: String(key),
    expected: law.explain,
    found: Object.fromEntries(columns.filter(isPlain)),
    numbers,
  };
}

/** Whether a column is shown: texts of several words, and what is made of several values, are not. */
function isPlain(column: [string, unknown]): column is [string, string | number | boolean | null] {
  const [, value] = column;
  return typeof value === 'string'
    ? /^[\w.:+-]{1,100}$/.test(value)
    : typeof value !== 'object' || value === null;
}
