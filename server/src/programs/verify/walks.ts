import { sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import type { Family } from './laws/law.ts';
import { KEYS } from './slices.ts';

/** The place of a resource in the order in which its family is read. */
type Place = readonly (string | number)[];

/** Reads the ids of the next resources of a family, and the place after which it goes on; null at the end. */
export async function nextOf(
  sql: Sql,
  { accountId, environment }: Tenant,
  { family, after, limit }: { family: Family; after: Place | null; limit: number },
): Promise<{ ids: string[]; next: Place | null }> {
  const { table, key, order, only } = KEYS[family];
  const columns = raw.join(order.map((column) => raw.ref(column)));
  const { rows } = await raw<{ key: string } & Record<string, string | number>>`
    select ${raw.raw(key)} as key, ${columns} from ${raw.table(table)}
    where account_id = ${accountId} and environment = ${environment}
      ${only === undefined ? raw`` : raw`and ${raw.raw(only)}`}
      ${after === null ? raw`` : raw`and (${columns}) > (${raw.join(after.map((value) => raw.val(value)))})`}
    order by ${columns} limit ${limit}`.execute(sql);
  const last = rows.at(-1);
  return {
    ids: rows.map((row) => row.key),
    next: rows.length < limit || !last ? null : order.map((column) => last[column]!),
  };
}

/** Reads the first and the last number of a tenant's rows after a place; null if there are none. */
export async function rangeOf(
  sql: Sql,
  { accountId, environment }: Tenant,
  {
    table,
    column,
    after,
  }: { table: 'ledger_transaction' | 'event'; column: 'number' | 'version'; after: number },
): Promise<{ first: number; head: number } | null> {
  const { rows } = await raw<{ first: number | null; head: number | null }>`
    select min(${raw.ref(column)}) as first, max(${raw.ref(column)}) as head from ${raw.table(table)}
    where account_id = ${accountId} and environment = ${environment} and ${raw.ref(column)} > ${after}`.execute(
    sql,
  );
  const { first = null, head = null } = rows[0] ?? {};
  return first === null || head === null ? null : { first, head };
}

/** The resources that events name, by the type of resource in the log. */
const FAMILY_OF: Readonly<Record<string, Family>> = {
  card_payment: 'card_payment',
  payment: 'payment',
  charge: 'charge',
  subscription: 'pix_subscription',
  dispute: 'dispute',
  payout: 'payout',
  subaccount_payout: 'subaccount_payout',
};

/** Resources that have changed, by family. */
export type Changed = Map<Family, Set<string>>;

type Named = { resource: string | null; id: string | null };

function add(changed: Changed, rows: readonly Named[]): void {
  for (const { resource, id } of rows) {
    if (resource === null || id === null) continue;
    const family = FAMILY_OF[resource] ?? (resource as Family);
    changed.set(family, (changed.get(family) ?? new Set()).add(id));
  }
}

/** Adds the resources that events have changed, from one version to another: refunds and disputes by their payments. */
export async function addChangedByEvents(
  changed: Changed,
  sql: Sql,
  { accountId, environment }: Tenant,
  [from, to]: readonly [from: number, to: number],
): Promise<void> {
  const events = raw`event e where e.account_id = ${accountId} and e.environment = ${environment}
    and e.version between ${from} and ${to}`;
  const { rows } = await raw<Named>`
    select distinct e.resource, e.resource_id as id from ${events}
    union
    select r.resource, r.resource_id from refund r where r.refund_id in (
      select e.resource_id from ${events} and e.resource = 'refund'
    )
    union
    select d.resource, d.resource_id from dispute d where d.id in (
      select e.resource_id from ${events} and e.resource = 'dispute'
    )`.execute(sql);
  add(changed, rows);
}

/** Adds the resources that rows of the journal name, from one number to another. */
export async function addChangedByTransactions(
  changed: Changed,
  sql: Sql,
  { accountId, environment }: Tenant,
  [from, to]: readonly [from: number, to: number],
): Promise<void> {
  const transactions = raw`ledger_transaction l where l.account_id = ${accountId} and l.environment = ${environment}
    and l.number between ${from} and ${to}`;
  const { rows } = await raw<Named>`
    select distinct l.resource, l.resource_id as id from ${transactions}
    union
    select 'subaccount', l.subaccount_id from ${transactions}
    union
    select case when starts_with(l.transaction_id, 'subaccount.') then 'transfer' else 'test_payment' end,
      substr(l.transaction_id, strpos(l.transaction_id, ':') + 1)
    from ${transactions} and (starts_with(l.transaction_id, 'subaccount.transfer_in:')
      or starts_with(l.transaction_id, 'test_payment.'))`.execute(sql);
  add(changed, rows);
}

/** Reads the days in UTC with totals of a tenant: the first, and the one after the last; null if there are none. */
export async function daysOf(
  sql: Sql,
  { accountId, environment }: Tenant,
): Promise<{ first: Date; until: Date } | null> {
  const { rows } = await raw<{ first: Date | null; until: Date | null }>`
    select min(since) as first, max(since) + interval '1 day' as until from list_amount
    where account_id = ${accountId} and environment = ${environment} and seconds = 86400`.execute(sql);
  const { first = null, until = null } = rows[0] ?? {};
  return first === null || until === null ? null : { first, until };
}
