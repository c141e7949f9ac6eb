import { hash } from 'node:crypto';
import { CompiledQuery } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Database } from '../../state/db/database.ts';
import { derivedFor } from './laws/derived.ts';
import type { Law, Slice } from './laws/law.ts';
import type { Finding } from './model.ts';
import type { Sums } from './pieces.ts';
import { rowsOf } from './slices.ts';

/** The most rows of one law that one statement returns: where one is broken everywhere, the first are enough. */
const MOST_OF_A_LAW = 100;

/** Composes the statement that decides laws in a slice. It returns one row for each row that breaks one. */
export function textOf(slice: Slice, laws: readonly Law[]): string {
  const found = laws.map(
    ({ sql }, index) =>
      `(select ${index} as law, row_to_json(f) as found from (${sql}\n) f limit ${MOST_OF_A_LAW})`,
  );
  const query = [...found, ...(slice === 'journal' ? [SUMS] : [])].join('\nunion all\n');
  return `with ${[...rowsOf(slice), ...derivedFor(query)].join(',\n')}\n${query}`;
}

/** Digests the statements that decide laws: it changes with a law that is new or corrected, and with the rows that a slice has. */
export function digestOf(laws: readonly Law[]): string {
  const slices = [...new Set(laws.flatMap(({ scope }) => scope))].sort();
  const texts = slices.map((slice) =>
    textOf(
      slice,
      laws.filter(({ scope }) => scope.includes(slice)),
    ),
  );
  return hash('sha256', texts.join('\n'));
}

/** The sums of the postings by ledger account, without those of the row before the first. */
const SUMS = `(select -1 as law, coalesce(json_object_agg(name, amount), '{}') as found from (
  select ledger_account as name, sum(amount)::bigint as amount from posting
  where transaction_id is distinct from (select transaction_id from ledger_transaction where number = $3::bigint - 1)
  group by 1
) sums)`;

interface Row {
  law: number;
  found: Record<string, unknown>;
}

/**
 * The settings of a statement: what it reads is hashed and sorted in memory, which the size of a slice bounds. The planner cannot
 * know how many rows a part of a slice has: a nested loop would compare all with all, and a merge would sort them. So its plan is the
 * same for all sizes, and is made once a connection.
 */
const SETTINGS = `select set_config('work_mem', '64MB', true), set_config('enable_nestloop', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)`;

/** Decides laws in a slice. Returns the rows that break one, each with the place of its law, and the sums of the journal. */
export function decide(
  { transaction }: Pick<Database, 'transaction'>,
  text: string,
  parameters: readonly unknown[],
): Promise<{ found: { law: number; row: Record<string, unknown> }[]; sums: Sums }> {
  return transaction(async (sql) => {
    const [, { rows }] = await Promise.all([
      sql.executeQuery(CompiledQuery.raw(SETTINGS)),
      sql.executeQuery<Row>(CompiledQuery.raw(text, [...parameters])),
    ]);
    return {
      found: rows.filter(({ law }) => law >= 0).map(({ law, found }) => ({ law, row: found })),
      sums: (rows.find(({ law }) => law === -1)?.found ?? {}) as Sums,
    };
  });
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
