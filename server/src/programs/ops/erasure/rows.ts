import { type RawBuilder, sql as raw } from 'kysely';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { Sql } from '../../../state/db/database.ts';
import type { Own, Person } from './person.ts';
import { ATTEMPT, type Swept, sweptTable } from './tables.ts';

// Rows of any table, found by texts and changed without a person. All of it runs under the lock of the tenant's log, so nobody
// else changes them meanwhile.

export type Row = Readonly<Record<string, unknown>>;
/** The number of changed rows of each table. */
export type Counts = Record<string, number>;

export const isOf = ({ accountId, environment }: Tenant) =>
  raw<boolean>`account_id = ${accountId} and environment = ${environment}`;

/** Compares the keys of rows with a key. */
export function comparedKey(
  { key }: Swept,
  sign: '>' | '<=' | '=',
  values: readonly string[],
): RawBuilder<boolean> {
  const typed = Object.values(key).map((type, nth) => raw`${values[nth]}::${raw.raw(type)}`);
  return raw`(${keyColumns({ key })}) ${raw.raw(sign)} (${raw.join(typed)})`;
}

export const keyColumns = ({ key }: Pick<Swept, 'key'>) =>
  raw.join(Object.keys(key).map((name) => raw.ref(name)));

/** Whether a row can have a text of the person. */
export function mayName({ table, columns }: Swept, { patterns }: Person, customer: string | undefined) {
  const textOf = (names: readonly string[]) =>
    raw`concat_ws(' ', ${raw.join(names.map((name) => raw`${raw.ref(name)}::text`))})`;
  const like = raw`ilike any(${patterns}::text[])`;
  if (table === 'webhook_delivery')
    return raw<boolean>`(${textOf(columns)} ${like} or exists (
      select from webhook_attempt a
      where a.webhook_id = webhook_delivery.webhook_id and concat_ws(' ', a.exchange::text, a.error) ${like}))`;
  if (table === 'subaccount' && customer !== undefined)
    return raw<boolean>`(${textOf(columns)} ${like} or external_id = ${customer})`;
  return raw<boolean>`${textOf(columns)} ${like}`;
}

interface Change {
  swept: Swept;
  row: Row;
  person: Person;
  own: Own | null;
  /** Whether nothing is changed, and what would be is counted. */
  isDryRun: boolean;
}

/** Changes the columns of a row, if the person is in them, and says whether it was changed. */
async function changeRow(
  sql: Sql,
  of: Tenant | null,
  { swept, row, person, own, isDryRun }: Change,
): Promise<boolean> {
  const changes = swept.columns.flatMap((name) => {
    const before = row[name] ?? null;
    const after =
      name === 'body'
        ? bodyWithout(before as string, person, own)
        : person.without({ [name]: before }, own)[name];
    const isJson = typeof before === 'object';
    if (isJson ? JSON.stringify(after) === JSON.stringify(before) : after === before) return [];
    return [raw`${raw.ref(name)} = ${isJson ? raw`${JSON.stringify(after)}::jsonb` : after}`];
  });
  if (changes.length === 0) return false;
  if (isDryRun) return true;
  const key = Object.keys(swept.key).map((name) => String(row[name]));
  await raw`
    update ${raw.table(swept.table)} set ${raw.join(changes)}
    where ${of ? isOf(of) : raw`true`} and ${comparedKey(swept, '=', key)}`.execute(sql);
  return true;
}

/** A body is JSON; what another service has sent may be any text. */
function bodyWithout(body: string, person: Person, own: Own | null): string {
  try {
    const before: unknown = JSON.parse(body);
    const after = JSON.stringify(person.without(before, own));
    return after === JSON.stringify(before) ? body : after;
  } catch {
    return person.without(body, own);
  }
}

/** Erases a person in a row and, of a record of the person, in its events, refunds, disputes and webhooks. */
export async function eraseRow(sql: Sql, of: Tenant, { swept, row, ...whose }: Change): Promise<Counts> {
  const { own } = whose;
  const counts: Counts = {};
  const change = async (changed: Swept, each: Row) => {
    if (changed.table === 'webhook_delivery') {
      for (const attempt of await attemptsOf(sql, each))
        if (await changeRow(sql, null, { swept: ATTEMPT, row: attempt, ...whose }))
          add(counts, ATTEMPT.table);
    }
    if (await changeRow(sql, of, { swept: changed, row: each, ...whose })) add(counts, changed.table);
  };
  const record = swept.record?.id ?? (swept.table === 'observed' ? 'id' : null);
  // In a dry run events and webhooks are counted in their own tables.
  if (own && record && !whose.isDryRun) {
    const resource = swept.record?.resource ?? String(row.resource);
    const pairs: [string, string][] = [[resource, String(row[record])]];
    for (const name of ['refund', 'dispute'] as const) {
      const related = sweptTable(name);
      for (const each of await rowsOf(
        sql,
        of,
        name,
        raw`resource = ${resource} and resource_id = ${pairs[0]![1]}`,
      )) {
        pairs.push([name, String(each[related.record!.id])]);
        await change(related, each);
        if (name === 'dispute') await deleteFiles(sql, of, String(each.id), counts);
      }
    }
    for (const [type, id] of pairs)
      for (const each of await rowsOf(sql, of, 'event', raw`resource = ${type} and resource_id = ${id}`))
        await change(sweptTable('event'), each);
    const ids = pairs.map(([, id]) => id);
    for (const by of ['resource_id', 'subject_id'])
      for (const each of await rowsOf(sql, of, 'webhook_delivery', raw`${raw.ref(by)} = any(${ids}::text[])`))
        await change(sweptTable('webhook_delivery'), each);
  }
  await change(swept, row);
  return counts;
}

/** Deletes the bytes of a dispute's files: they are encrypted, so nothing can be looked for in them. */
async function deleteFiles(sql: Sql, of: Tenant, disputeId: string, counts: Counts): Promise<void> {
  const { rows } = await raw`
    delete from dispute_file where ${isOf(of)} and dispute_id = ${disputeId} returning file_id`.execute(sql);
  for (const _ of rows) add(counts, 'dispute_file');
}

function add(counts: Counts, table: string): void {
  counts[table] = (counts[table] ?? 0) + 1;
}

async function rowsOf(sql: Sql, of: Tenant, table: string, where: RawBuilder<unknown>): Promise<Row[]> {
  const { rows } = await raw<Row>`
    select * from ${raw.table(table)} where ${isOf(of)} and ${where} order by ${keyColumns(sweptTable(table))}`.execute(
    sql,
  );
  return rows;
}

async function attemptsOf(sql: Sql, { webhook_id: id }: Row): Promise<Row[]> {
  const { rows } = await raw<Row>`
    select * from webhook_attempt where webhook_id = ${id} order by number`.execute(sql);
  return rows;
}

// ── What has to stay ────────────────────────────────────────────────────────────────────────────

/** The reason for which a row keeps its texts of a person until something has ended; null if there is none. */
export async function keptReason(
  sql: Sql,
  of: Tenant,
  { table, record }: Swept,
  row: Row,
): Promise<string | null> {
  if (table === 'upstream_intent')
    return row.state === 'sending' || row.state === 'in_doubt' ? 'its outcome is not known' : null;
  // What goes to a further endpoint is signed by this server with each attempt.
  if (
    table === 'webhook_delivery' &&
    row.headers !== null &&
    row.endpoint_id === null &&
    row.status === 'pending'
  )
    return ON_ITS_WAY;
  if (record) return reasonOf(sql, of, record.resource, String(row[record.id]));
  if (table === 'observed') return reasonOf(sql, of, String(row.resource), String(row.id));
  if (table === 'event' || table === 'webhook_delivery')
    return reasonOf(sql, of, String(row.resource), String(row.resource_id));
  return null;
}

const ON_ITS_WAY = 'a webhook of the service is on its way with its signature';

async function reasonOf(sql: Sql, of: Tenant, resource: string, id: string): Promise<string | null> {
  const query = reasonQuery(of, resource, id);
  if (!query) return null;
  const { rows } = await query.execute(sql);
  const [found] = rows;
  return found?.reason ?? (found?.of ? reasonOf(sql, of, found.of, found.of_id!) : null);
}

/** Selects the reason, or the resource that may have one. */
function reasonQuery(of: Tenant, resource: string, id: string) {
  type Found = { reason: string | null; of?: string | null; of_id?: string };
  const isIt = raw`${isOf(of)} and resource = ${resource} and resource_id = ${id}`;
  const isOpenThere = raw`exists (
    select from observed where ${isOf(of)} and resource = ${resource} and id = ${id} and not final)`;
  switch (resource) {
    case 'card_payment':
    case 'payment':
    case 'charge':
    case 'subscription':
      return raw<Found>`select case
        when exists (select from dispute where ${isIt} and status in ('open', 'under_review')) or exists (
          select from observed where ${isOf(of)} and resource = 'dispute' and not final
            and snapshot -> 'resource' ->> 'id' = ${id}) then 'a dispute of it is open'
        when exists (select from refund where ${isIt} and status = 'processing') or exists (
          select from observed where ${isOf(of)} and resource = 'refund' and not final
            and snapshot -> 'resource' ->> 'id' = ${id}) then 'a refund of it is under way'
        when exists (select from payment_return where ${isIt} and returned_at is null)
          then 'money that came for it is on its way back'
        when exists (
          select from webhook_delivery
          where ${isOf(of)} and resource_id = ${id} and status = 'pending' and headers is not null and endpoint_id is null) then ${ON_ITS_WAY}
        end as reason`;
    case 'payout':
      return raw<Found>`select case when ${isOpenThere} or exists (
          select from payout where ${isOf(of)} and withdrawal_id = ${id} and status in ('pending', 'processing'))
        then 'it is under way' end as reason`;
    case 'subaccount_payout':
      return raw<Found>`select case when ${isOpenThere} or exists (
          select from subaccount_payout where ${isOf(of)} and id = ${id} and status = 'processing')
        then 'it is under way' end as reason`;
    case 'subaccount':
      return raw<Found>`select case when balance_cents > 0 then 'it has a balance' end as reason
        from subaccount where ${isOf(of)} and id = ${id}`;
    case 'dispute':
      return raw<Found>`select case when status in ('open', 'under_review') then 'it is open' end as reason,
          resource as of, resource_id as of_id
        from dispute where ${isOf(of)} and id = ${id}`;
    case 'refund':
      return raw<Found>`select case when status = 'processing' then 'it is under way' end as reason,
          resource as of, resource_id as of_id
        from refund where ${isOf(of)} and refund_id = ${id}`;
    default:
      return null;
  }
}
