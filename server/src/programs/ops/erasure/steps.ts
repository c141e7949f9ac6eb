import { createHmac } from 'node:crypto';
import { sql as raw } from 'kysely';
import { z } from 'zod';
import { findNamedAccount } from '../../../access/administration.ts';
import { selectMode } from '../../../access/store.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { objectId } from '../../../kernel/ids.ts';
import { maskPixKey } from '../../../kernel/pix-key.ts';
import { maskTaxId } from '../../../kernel/tax-id.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { plainText } from '../../../kernel/text.ts';
import type { Database, Sql } from '../../../state/db/database.ts';
import { waitForStream } from '../../../state/events/log.ts';
import { createPerson, type Own, type Person, type PersonInput, personInput } from './person.ts';
import {
  type Counts,
  comparedKey,
  eraseRow,
  isOf,
  keptReason,
  keyColumns,
  mayName,
  type Row,
} from './rows.ts';
import { SWEPT, type Swept } from './tables.ts';

// An erasure is a series of short steps, which the command requests one after the other: the process that has the database open
// may be a server, which has other work.

const id = plainText({ max: 255 });
const place = z.strictObject({
  table: z
    .int()
    .min(0)
    .max(SWEPT.length - 1),
  /** The key of the last row that was looked at; null before the first one. */
  after: z.array(z.string()).nullable(),
});

export const beginErasureInput = z.strictObject({
  accountId: id.optional(),
  requestedBy: plainText({ max: 200 }),
  isDryRun: z.boolean(),
  ...personInput,
});
export const stepErasureInput = z.strictObject({
  accountId: id,
  environment: z.enum(['live', 'sandbox']),
  /** The record that the step adds to; omitted in a dry run. */
  erasureId: id.optional(),
  ...personInput,
  place,
});
export type BeginErasureInput = z.output<typeof beginErasureInput>;
export const endErasureInput = z.strictObject({ erasureId: id });

/** A record that keeps what it says of the person until something has ended. */
export interface Kept {
  readonly resource: string;
  readonly id: string;
  readonly reason: string;
}

export interface ErasureStep {
  /** The place of the next step; null after the last one. */
  readonly place: z.output<typeof place> | null;
  readonly counts: Counts;
  readonly kept: readonly Kept[];
  /** The addresses and documents of the customers that were found, masked. */
  readonly found: readonly string[];
}

export interface ErasureSteps {
  /** @throws NotFoundError, ValidationError (there are several accounts) */
  beginErasure(input: BeginErasureInput): Promise<{
    tenants: Tenant[];
    /** Null in a dry run. */
    erasureId: string | null;
    isOfFacade: boolean;
  }>;
  stepErasure(input: z.output<typeof stepErasureInput>): Promise<ErasureStep>;
  endErasure(input: z.output<typeof endErasureInput>): Promise<object>;
}

/** The rows that a step looks at, and of these the most that it changes, which holds up the other changes of the account. */
const WINDOW = 2_000;
const MOST = 20;

export function createErasureSteps({ database, clock }: { database: Database; clock: Clock }): ErasureSteps {
  return {
    async beginErasure({ accountId, requestedBy, isDryRun, ...person }) {
      const { sql } = database;
      const account = await findNamedAccount(sql, accountId);
      const streams = await sql
        .selectFrom('stream')
        .select(['account_id as accountId', 'environment'])
        .where('account_id', '=', account)
        .orderBy('environment')
        .execute();
      const isOfFacade = (await selectMode(sql))?.kind === 'remote';
      const erasureId = isDryRun
        ? null
        : await openRecord(sql, { account, requestedBy, person, now: clock.now() });
      return { tenants: streams, erasureId, isOfFacade };
    },

    async stepErasure({ accountId, environment, erasureId, place: from, ...input }) {
      const of = { accountId, environment };
      const swept = SWEPT[from.table]!;
      const person = createPerson(input);
      const { keys, next } = await findRows(database.sql, of, { swept, after: from.after, person, input });
      const following = from.table + 1 < SWEPT.length ? { table: from.table + 1, after: null } : null;
      const nextPlace = next ? { table: from.table, after: next } : following;
      const step: ErasureStep & { counts: Counts; kept: Kept[]; found: string[] } = {
        ...{ place: nextPlace, counts: {}, kept: [], found: [] },
      };
      if (keys.length === 0) return step;
      await database.transaction(async (sql) => {
        await raw`select set_config('psa.erasing', 'on', true)`.execute(sql);
        await waitForStream(sql, of);
        for (const key of keys)
          await performRow(sql, of, { swept, key, person, input, step, isDryRun: !erasureId });
        if (erasureId) await addToRecord(sql, erasureId, step);
      });
      return step;
    },

    async endErasure({ erasureId }) {
      const { sql } = database;
      const { rows } = await raw<{ erased: Counts }>`
        update erasure set finished_at = ${clock.now()} where erasure_id = ${erasureId} returning erased`.execute(
        sql,
      );
      // The statistics of the planner have the most common values of columns: they are made again without the person.
      for (const table of Object.keys(rows[0]?.erased ?? {}))
        await raw`analyze ${raw.table(table)}`.execute(sql);
      return {};
    },
  };
}

// ── Rows ────────────────────────────────────────────────────────────────────────────────────────

/** Finds the keys of the next rows that can name the person. `next`: the key from which the table goes on. */
async function findRows(
  sql: Sql,
  of: Tenant,
  {
    swept,
    after,
    person,
    input,
  }: { swept: Swept; after: string[] | null; person: Person; input: PersonInput },
): Promise<{ keys: string[][]; next: string[] | null }> {
  const names = Object.keys(swept.key);
  const keyOf = (row: Row) => names.map((name) => String(row[name]));
  const table = raw.table(swept.table);
  const behind = after ? comparedKey(swept, '>', after) : raw`true`;
  const columns = keyColumns(swept);
  const { rows: page } = await raw<Row>`
    select ${columns} from ${table} where ${isOf(of)} and ${behind} order by ${columns} limit ${WINDOW}`.execute(
    sql,
  );
  const last = page.at(-1);
  if (!last) return { keys: [], next: null };
  const { rows } = await raw<Row>`
    select ${columns} from ${table}
    where ${isOf(of)} and ${behind} and ${comparedKey(swept, '<=', keyOf(last))} and ${mayName(swept, person, input.customer)}
    order by ${columns} limit ${MOST + 1}`.execute(sql);
  const keys = rows.slice(0, MOST).map(keyOf);
  if (rows.length > MOST) return { keys, next: keys.at(-1)! };
  return { keys, next: page.length < WINDOW ? null : keyOf(last) };
}

interface Work {
  swept: Swept;
  key: string[];
  person: Person;
  input: PersonInput;
  step: { counts: Counts; kept: Kept[]; found: string[] };
  isDryRun: boolean;
}

async function performRow(
  sql: Sql,
  of: Tenant,
  { swept, key, person, input, step, isDryRun }: Work,
): Promise<void> {
  const { rows } = await raw<Row>`
    select * from ${raw.table(swept.table)} where ${isOf(of)} and ${comparedKey(swept, '=', key)}`.execute(
    sql,
  );
  const [row] = rows;
  if (!row) return;
  const own = ownOf(swept, row, person, input);
  if (own) step.found.push(...foundIn(recordIn(swept.table, row)));
  const reason = await keptReason(sql, of, swept, row);
  if (reason !== null) {
    step.kept.push({ ...nameOf(swept, row, key), reason });
    return;
  }
  const counts = await eraseRow(sql, of, { swept, row, person, own, isDryRun });
  for (const [table, count] of Object.entries(counts)) step.counts[table] = (step.counts[table] ?? 0) + count;
}

function ownOf({ table }: Swept, row: Row, person: Person, { customer }: PersonInput): Own | null {
  if (table === 'subaccount')
    return customer !== undefined && row.external_id === customer ? { names: [String(row.name)] } : null;
  return person.ownIn(recordIn(table, row));
}

/** The record that a row is, or that one of its columns has. */
function recordIn(table: string, row: Row): object {
  const column = COLUMNS_OF_RECORDS[table];
  return column === undefined ? row : (row[column] as object);
}

const COLUMNS_OF_RECORDS: Readonly<Record<string, string>> = {
  observed: 'snapshot',
  token: 'grant',
  upstream_intent: 'summary',
};

function nameOf(
  { table, record }: Swept,
  row: Row,
  key: readonly string[],
): { resource: string; id: string } {
  if (record) return { resource: record.resource, id: String(row[record.id]) };
  if (table === 'observed') return { resource: String(row.resource), id: String(row.id) };
  if (row.resource_id !== undefined) return { resource: String(row.resource), id: String(row.resource_id) };
  return { resource: table, id: key.at(-1)! };
}

/** The address and the document of the customer of a record, masked. */
function foundIn(record: { customer?: { email?: string; taxId?: string } | null }): string[] {
  const { email, taxId } = record.customer ?? {};
  return [
    ...(email === undefined ? [] : [maskPixKey(email.toLowerCase())]),
    ...(taxId === undefined ? [] : [maskTaxId(taxId)]),
  ];
}

// ── The record ──────────────────────────────────────────────────────────────────────────────────

/** Opens the record of an erasure, or goes on with that of an interrupted one. */
async function openRecord(
  sql: Sql,
  {
    account,
    requestedBy,
    person,
    now,
  }: { account: string; requestedBy: string; person: PersonInput; now: Date },
): Promise<string> {
  const personHash = await hashPerson(sql, account, person);
  const { rows } = await raw<{ erasure_id: string }>`
    update erasure set kept = '[]'
    where account_id = ${account} and person_hash = ${personHash} and finished_at is null
    returning erasure_id`.execute(sql);
  if (rows[0]) return rows[0].erasure_id;
  const erasureId = `era_${objectId()}`;
  await raw`
    insert into erasure (erasure_id, account_id, person_hash, requested_by, started_at)
    values (${erasureId}, ${account}, ${personHash}, ${requestedBy}, ${now})`.execute(sql);
  return erasureId;
}

/** A keyed hash: there are few enough documents and phones to try all of them. */
async function hashPerson(sql: Sql, account: string, person: PersonInput): Promise<string> {
  const { key } = await sql.selectFrom('cursor_key').select('key').executeTakeFirstOrThrow();
  const named = Object.entries(person)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, name === 'email' ? String(value).toLowerCase() : value])
    .sort();
  return createHmac('sha256', key)
    .update(JSON.stringify(['erasure', account, named]))
    .digest('hex');
}

async function addToRecord(
  sql: Sql,
  erasureId: string,
  { counts, kept }: Pick<ErasureStep, 'counts' | 'kept'>,
) {
  const { rows } = await raw<{ erased: Counts; kept: Kept[] }>`
    select erased, kept from erasure where erasure_id = ${erasureId} for update`.execute(sql);
  const erased = { ...rows[0]?.erased };
  for (const [table, count] of Object.entries(counts)) erased[table] = (erased[table] ?? 0) + count;
  const all = [...(rows[0]?.kept ?? []), ...kept];
  await raw`
    update erasure set erased = ${JSON.stringify(erased)}::jsonb, kept = ${JSON.stringify(distinct(all))}::jsonb
    where erasure_id = ${erasureId}`.execute(sql);
}

/** Each record once: its events and webhooks are kept for the same reason. */
export function distinct(kept: readonly Kept[]): Kept[] {
  return [...new Map(kept.map((each) => [`${each.resource} ${each.id}`, each])).values()];
}
