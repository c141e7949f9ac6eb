import { sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import { CHARGE_KINDS } from '../../money-in/charges/model.ts';
import { PAYMENT_METHODS } from '../../money-in/payments/methods.ts';
import type { Sql } from '../../state/db/database.ts';
import type { Family } from './laws/law.ts';
import type { Read } from './patience.ts';
import { AMOUNTS, KEYS } from './slices.ts';
import { JOURNAL, LOG, partsOf, type Range } from './walks.ts';

/** The families by the names that the log and the journal have of their resources, where these differ. */
const FAMILY_OF: Readonly<Record<string, Family>> = { subscription: 'pix_subscription' };

/**
 * The resources that change without an event while they are pending. Where they have kinds, their index by status begins with these:
 * without them PostgreSQL before 18 reads the whole index.
 */
const UNREPORTED = {
  card_payment: null,
  payment: { column: 'method', kinds: PAYMENT_METHODS },
  charge: { column: 'kind', kinds: CHARGE_KINDS },
  pix_subscription: null,
  webhook_delivery: null,
} as const satisfies Partial<Record<Family, { column: string; kinds: readonly string[] } | null>>;

type Unreported = keyof typeof UNREPORTED;

/** The most rows of the log or the journal whose names one statement reads. */
const MOST = 5_000;

/** Resources that have changed, by family. */
export type Changed = ReadonlyMap<Family, ReadonlySet<string>>;

type Named = { resource: string | null; id: string | null };

/**
 * Reads which resources may have changed: those that events and rows of the journal name, with what these belong to, and those
 * that change without either.
 */
export async function changedSince(
  read: Read,
  tenant: Tenant,
  { events, transactions, isFacade }: { events: Range | null; transactions: Range | null; isFacade: boolean },
): Promise<Changed> {
  const changed = new Map<Family, Set<string>>();
  const add = (family: Family, id: string) => {
    changed.set(family, (changed.get(family) ?? new Set()).add(id));
  };
  const addAll = ({ rows }: { rows: readonly Named[] }) => {
    for (const { resource, id } of rows)
      if (resource !== null && id !== null) add(FAMILY_OF[resource] ?? (resource as Family), id);
  };
  const size = () => MOST;
  if (events)
    for await (const part of partsOf(read, tenant, LOG, { range: events, size })) {
      const named = await read((sql) => namedByEvents(sql, tenant, part));
      if (!isFacade) addAll(named);
      else for (const { resource, id } of named.rows) add('observed', `${resource}:${id}`);
    }
  if (isFacade) return changed;
  if (transactions)
    for await (const part of partsOf(read, tenant, JOURNAL, { range: transactions, size }))
      addAll(await read((sql) => namedByTransactions(sql, tenant, part)));
  for (const family of Object.keys(UNREPORTED) as Unreported[])
    for (const kind of UNREPORTED[family]?.kinds ?? [null])
      for (let after = 0, isDone = false; !isDone; ) {
        const { rows } = await read((sql) => pendingOf(tenant, family, { kind, after }).execute(sql));
        addAll({ rows });
        isDone = rows.length < MOST;
        after = rows.at(-1)?.number ?? after;
      }
  return changed;
}

const ofTenant = ({ accountId, environment }: Tenant, alias: string) =>
  raw`${raw.ref(`${alias}.account_id`)} = ${accountId} and ${raw.ref(`${alias}.environment`)} = ${environment}`;

/** The resources that events name: refunds, disputes and content with the payments that they are of. */
function namedByEvents(sql: Sql, tenant: Tenant, { first, head }: Range) {
  const events = raw`event e where ${ofTenant(tenant, 'e')} and e.version between ${first} and ${head}`;
  return raw<Named>`
    select distinct e.resource, e.resource_id as id from ${events}
    union
    select r.resource, r.resource_id from refund r where r.refund_id in (
      select e.resource_id from ${events} and e.resource = 'refund'
    )
    union
    select d.resource, d.resource_id from dispute d where d.id in (
      select e.resource_id from ${events} and e.resource = 'dispute'
    )
    union
    select e.snapshot -> 'resource' ->> 'type', e.snapshot -> 'resource' ->> 'id' from ${events} and e.resource = 'delivery'
  `.execute(sql);
}

/** The resources that rows of the journal name, and those of the credits that they have sent back. */
function namedByTransactions(sql: Sql, tenant: Tenant, { first, head }: Range) {
  const transactions = raw`ledger_transaction l where ${ofTenant(tenant, 'l')} and l.number between ${first} and ${head}`;
  const named = raw`substr(l.transaction_id, strpos(l.transaction_id, ':') + 1)`;
  return raw<Named>`
    select distinct l.resource, l.resource_id as id from ${transactions}
    union
    select 'subaccount', l.subaccount_id from ${transactions}
    union
    select case when starts_with(l.transaction_id, 'subaccount.') then 'transfer' else 'test_payment' end, ${named}
    from ${transactions} and (starts_with(l.transaction_id, 'subaccount.transfer_in:')
      or starts_with(l.transaction_id, 'test_payment.'))
    union
    select family, c.payment_id from pix_credit c cross join unnest(array['payment', 'charge', 'subscription']) family
    where ${ofTenant(tenant, 'c')} and c.end_to_end_id in (
      select ${named} from ${transactions} and starts_with(l.transaction_id, 'pix_credit.')
    )`.execute(sql);
}

/** Composes the query for the next pending resources of a family, of one kind if it has kinds. */
export function pendingOf(
  tenant: Tenant,
  family: Unreported,
  { kind, after }: { kind: string | null; after: number },
) {
  const { table, key } = KEYS[family];
  const of = UNREPORTED[family];
  return raw<Named & { number: number }>`
    select ${family} as resource, ${raw.raw(key)} as id, number from ${raw.table(table)} r
    where ${ofTenant(tenant, 'r')} and r.status = 'pending' ${of ? raw`and ${raw.ref(of.column)} = ${kind}` : raw``}
      and number > ${after}::bigint
    order by number limit ${raw.lit(MOST)}`;
}

/** Reads the days in UTC whose totals the changed resources, and their refunds, are part of, in order. */
export async function changedDays(read: Read, tenant: Tenant, changed: Changed): Promise<Date[]> {
  const days = new Set<number>();
  for (const [table, [, begins, ends]] of Object.entries(AMOUNTS)) {
    const families =
      table === 'refund' ? (['card_payment', 'payment', 'charge'] as const) : [table as Family];
    for (const family of families) {
      const ids = [...(changed.get(family) ?? [])];
      const isChanged =
        table === 'refund'
          ? raw`r.resource = ${family} and r.resource_id = any`
          : raw`${raw.raw(KEYS[family].key)} = any`;
      for (let start = 0; start < ids.length; start += MOST) {
        const { rows } = await read((sql) =>
          raw<{ day: Date }>`
          select distinct date_trunc('day', at, 'UTC') as day
          from ${raw.table(table)} r cross join lateral (values (r.${raw.raw(begins)}), (r.${raw.raw(ends)})) i (at)
          where at is not null and ${ofTenant(tenant, 'r')} and ${isChanged}(${ids.slice(start, start + MOST)}::text[])`.execute(
            sql,
          ),
        );
        for (const { day } of rows) days.add(day.getTime());
      }
    }
  }
  return [...days].sort((one, other) => one - other).map((day) => new Date(day));
}
