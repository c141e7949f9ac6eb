import { sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Family } from './laws/law.ts';
import type { Read } from './patience.ts';
import { KEYS } from './slices.ts';

/** The place of a resource in the order in which its family is read. */
type Place = readonly (string | number)[];

/** Reads the ids of the next resources of a family, and the place after which it goes on; null at the end. */
export async function nextOf(
  read: Read,
  { accountId, environment }: Tenant,
  { family, after, limit }: { family: Family; after: Place | null; limit: number },
): Promise<{ ids: string[]; next: Place | null }> {
  const { table, key, order, only } = KEYS[family];
  const columns = raw.join(order.map((column) => raw.ref(column)));
  const { rows } = await read((sql) =>
    raw<{ key: string } & Record<string, string | number>>`
    select ${raw.raw(key)} as key, ${columns} from ${raw.table(table)}
    where account_id = ${accountId} and environment = ${environment}
      ${only === undefined ? raw`` : raw`and ${raw.raw(only)}`}
      ${after === null ? raw`` : raw`and (${columns}) > (${raw.join(after.map((value) => raw.val(value)))})`}
    order by ${columns} limit ${limit}`.execute(sql),
  );
  const last = rows.at(-1);
  return {
    ids: rows.map((row) => row.key),
    next: rows.length < limit || !last ? null : order.map((column) => last[column]!),
  };
}

/** Rows with numbers: the journal, the log, or what was seen. */
export interface Numbered {
  readonly table: 'ledger_transaction' | 'event' | 'observed_entry';
  readonly column: 'number' | 'version';
}

export const JOURNAL: Numbered = { table: 'ledger_transaction', column: 'number' };
export const LOG: Numbered = { table: 'event', column: 'version' };
export const SIGHTINGS: Numbered = { table: 'observed_entry', column: 'number' };

/** The first and the last number of rows. */
export interface Range {
  readonly first: number;
  readonly head: number;
}

/** Divides a range into parts. A number that is wrong may be far from the others, so the rows say where each begins. */
export async function* partsOf(
  read: Read,
  tenant: Tenant,
  numbered: Numbered,
  { range: { first, head }, size }: { range: Range; size: () => number },
): AsyncGenerator<Range> {
  for (let from = first; ; ) {
    const to = Math.min(head, from + size() - 1);
    yield { first: from, head: to };
    const rest = to < head ? await rangeOf(read, tenant, numbered, to) : null;
    if (!rest || rest.first > head) return;
    from = rest.first;
  }
}

/** Reads the first and the last number of a tenant's rows after a place; null if there are none. */
export async function rangeOf(
  read: Read,
  { accountId, environment }: Tenant,
  { table, column }: Numbered,
  after: number,
): Promise<Range | null> {
  const { rows } = await read((sql) =>
    raw<{ first: number | null; head: number | null }>`
    select min(${raw.ref(column)}) as first, max(${raw.ref(column)}) as head from ${raw.table(table)}
    where account_id = ${accountId} and environment = ${environment} and ${raw.ref(column)} > ${after}`.execute(
      sql,
    ),
  );
  const { first = null, head = null } = rows[0] ?? {};
  return first === null || head === null ? null : { first, head };
}

/** Reads the days in UTC with totals of a tenant: the first, and the one after the last; null if there are none. */
export async function daysOf(
  read: Read,
  { accountId, environment }: Tenant,
): Promise<{ first: Date; until: Date } | null> {
  const { rows } = await read((sql) =>
    raw<{ first: Date | null; until: Date | null }>`
    select min(since) as first, max(since) + interval '1 day' as until from list_amount
    where account_id = ${accountId} and environment = ${environment} and seconds = 86400`.execute(sql),
  );
  const { first = null, until = null } = rows[0] ?? {};
  return first === null || until === null ? null : { first, until };
}
