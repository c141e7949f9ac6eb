import { type RawBuilder, sql as raw, type Selectable } from 'kysely';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { Collection } from '../../../state/commit/commit.ts';
import type { Sql } from '../../../state/db/database.ts';
import { loadPerTenant, savePerTenant } from '../../../state/db/each-tenant.ts';
import { headOf } from '../../../state/db/head.ts';
import type { Tables } from '../../../state/db/tables.ts';
import type { ReadMoney, SeenMoney } from '../../../upstream/seen-money.ts';
import type { Wallet } from '../model.ts';
import type { StatementTable } from '../store.ts';
import {
  type Before,
  type Known,
  keyOf,
  type LastRow,
  type Movement,
  movementsOf,
  type SeenEvent,
  type SeenRow,
} from './sightings.ts';

type EntryRow = Selectable<Tables['observed_entry']>;

/** The resources whose events say what money has moved, and how each says it. */
export type MoneyReaders = Readonly<Record<string, ReadMoney>>;

/** The statement of what was seen, as a sighting continues it. */
export interface Book {
  /** Null before the first sighting. */
  readonly last: LastRow | null;
  /** The movements of resources since. */
  readonly movements: readonly Movement[];
  /** The version of the log up to which `movements` are. */
  readonly seenTo: number;
  /** Whether later movements follow in the log. */
  readonly hasMore: boolean;
  readonly written: readonly SeenRow[];
}

/** The most events of one sighting. Those behind them follow with another, of the same figures. */
const MAX_EVENTS = 1_000;

const ofTenant = ({ accountId, environment }: Tenant) =>
  raw`account_id = ${accountId}::text and environment = ${environment}::environment`;

/** A change in the log. */
interface LoggedEvent extends Omit<SeenEvent, 'money'> {
  readonly version: number;
  readonly snapshot: unknown;
}

type ReadEvent = (event: LoggedEvent) => SeenMoney | null;

/** The statement of each tenant, as the collection of one record. */
export function createBooks(readers: MoneyReaders, onFault: (fault: unknown) => void): Collection<Book> {
  /** A snapshot that cannot be read hides no wallet: its money stays unexplained. */
  const readEvent: ReadEvent = ({ resource, snapshot }) => {
    try {
      return readers[resource]!(snapshot);
    } catch (error) {
      onFault(error);
      return null;
    }
  };
  const resources = Object.keys(readers);
  return {
    name: 'seen statement',
    loadEach: loadPerTenant(async (sql, tenant) => [await loadBook(sql, tenant, { resources, readEvent })]),
    keyOf: () => BOOK,
    saveEach: savePerTenant(async (sql, tenant, books) => {
      for (const { written } of books) if (written.length > 0) await insertRows(sql, tenant, written);
    }),
  };
}

export const BOOK = 'statement';

async function loadBook(
  sql: Sql,
  tenant: Tenant,
  { resources, readEvent }: { resources: readonly string[]; readEvent: ReadEvent },
): Promise<Book> {
  const { head, last } = await selectEnd(sql, tenant);
  const nothing = { last, movements: [], seenTo: head, hasMore: false, written: [] };
  if (!last) return nothing;
  const found = await selectEvents(sql, tenant, resources, last.seenTo);
  const logged = found.slice(0, MAX_EVENTS);
  if (logged.length === 0) return nothing;
  const events = logged.flatMap((event) => {
    const money = readEvent(event);
    return money ? [{ ...event, money }] : [];
  });
  const before = await selectBefore(sql, tenant, { events, last, readEvent });
  const hasMore = found.length > MAX_EVENTS;
  const seenTo = hasMore ? logged.at(-1)!.version : head;
  return { ...nothing, movements: movementsOf(events, before), seenTo, hasMore };
}

async function selectEnd(sql: Sql, tenant: Tenant): Promise<{ head: number; last: LastRow | null }> {
  const { rows } = await raw<{ head: number; last: EntryRow | null }>`
    select ${headOf(tenant)} as head, (
      select to_jsonb(e) from observed_entry e where ${ofTenant(tenant)} order by number desc limit 1
    ) as last
  `.execute(sql);
  const { head, last } = rows[0]!;
  return {
    head,
    last: last && {
      number: last.number,
      entries: last.entries,
      seenTo: last.seen_to,
      occurredAt: new Date(last.occurred_at),
      unexplainedCents: last.unexplained,
      wallet: last.wallet as Wallet,
      known: last.known as Known,
    },
  };
}

async function selectEvents(
  sql: Sql,
  tenant: Tenant,
  resources: readonly string[],
  after: number,
): Promise<LoggedEvent[]> {
  const { rows } = await raw<LoggedEvent>`
    select version, resource, resource_id as "resourceId", occurred_at as "occurredAt", snapshot from event
    where ${ofTenant(tenant)} and version > ${after}::bigint and resource = any(${[...resources]}::text[])
    order by version limit ${MAX_EVENTS + 1}
  `.execute(sql);
  return rows;
}

/** Whether resources have changed behind a version of the log, with its newest version. */
export async function selectChanges(
  sql: Sql,
  tenant: Tenant,
  { resources, seenTo }: { resources: readonly string[]; seenTo: number },
): Promise<{ head: number; isOpened: boolean; isChanged: boolean }> {
  const { rows } = await raw<{ head: number; isOpened: boolean; isChanged: boolean }>`
    select ${headOf(tenant)} as head, last.seen_to is not null as "isOpened", exists (
      select from event
      where ${ofTenant(tenant)} and version > greatest(last.seen_to, ${seenTo}::bigint)
        and resource = any(${[...resources]}::text[])
    ) as "isChanged"
    from (values (1)) one
    left join lateral (
      select seen_to from observed_entry where ${ofTenant(tenant)} order by number desc limit 1
    ) last on true
  `.execute(sql);
  return rows[0]!;
}

async function selectBefore(
  sql: Sql,
  tenant: Tenant,
  { events, last, readEvent }: { events: readonly SeenEvent[]; last: LastRow; readEvent: ReadEvent },
): Promise<Before> {
  const ids = [...new Set(events.flatMap(({ money }) => [...money.ids, money.reference]))];
  const [rows, opening, earlier] = await Promise.all([
    selectMovements(sql, tenant, ids),
    selectOpening(sql, tenant),
    selectEarlier(sql, tenant, events, last.seenTo),
  ]);
  const isSince = ({ version }: { version: number }) => version > opening.seenTo;
  return {
    openedAt: opening.at,
    rows,
    atOpening: new Map(
      earlier.filter((each) => !isSince(each)).map((each) => [keyOf(each), readEvent(each)]),
    ),
    seenUnmoved: new Set(earlier.filter(isSince).map(keyOf)),
  };
}

/** All movements of resources, and of the refunds of these. */
async function selectMovements(sql: Sql, tenant: Tenant, ids: readonly string[]): Promise<Movement[]> {
  const found = (condition: RawBuilder<unknown>) =>
    raw`select * from observed_entry where ${ofTenant(tenant)} and resource is not null and ${condition}`;
  const { rows } = await raw<EntryRow>`
    ${found(raw`resource_id = any(${[...ids]}::text[])`)}
    union
    ${found(raw`ref = any(${[...ids]}::text[]) and resource = 'refund'`)}
    order by number
  `.execute(sql);
  return rows.map(toMovement);
}

async function selectOpening(sql: Sql, tenant: Tenant): Promise<{ at: Date; seenTo: number }> {
  const { rows } = await raw<{ at: Date; seenTo: number }>`
    select occurred_at as at, seen_to as "seenTo" from observed_entry where ${ofTenant(tenant)} and number = 1
  `.execute(sql);
  return rows[0]!;
}

/** The last event of each resource up to a version, of those that have one. */
async function selectEarlier(
  sql: Sql,
  tenant: Tenant,
  events: readonly SeenEvent[],
  upTo: number,
): Promise<LoggedEvent[]> {
  const { rows } = await raw<LoggedEvent>`
    select found.* from (
      select distinct resource, resource_id
      from unnest(${events.map(({ resource }) => resource)}::text[], ${events.map(({ resourceId }) => resourceId)}::text[])
        each (resource, resource_id)
    ) wanted
    cross join lateral (
      select version, resource, resource_id as "resourceId", occurred_at as "occurredAt", snapshot from event
      where ${ofTenant(tenant)} and event.resource = wanted.resource and event.resource_id = wanted.resource_id
        and version <= ${upTo}::bigint
      order by version desc limit 1
    ) found
  `.execute(sql);
  return rows;
}

function toMovement(row: EntryRow): Movement {
  return {
    kind: row.kind as Movement['kind'],
    reference: row.ref,
    resource: row.resource === null ? null : { type: row.resource, id: row.resource_id! },
    subaccountId: row.subaccount_id,
    changes: {
      amountCents: row.balance_delta + row.subaccounts_delta,
      subaccountsDeltaCents: row.subaccounts_delta,
      pendingReleaseDeltaCents: row.pending_delta,
      disputeBlockedDeltaCents: row.dispute_hold_delta,
      receivableDeltaCents: 0 - row.receivable_delta,
      litoshiDelta: row.ltc_delta,
    },
    feeCents: row.fee_cents,
    seenAt: row.seen_at,
    isEntry: row.is_entry,
  };
}

async function insertRows(
  sql: Sql,
  { accountId, environment }: Tenant,
  rows: readonly SeenRow[],
): Promise<void> {
  const records = rows.map(({ changes, resource, ...row }) => ({
    number: row.number,
    entries: row.entries,
    is_entry: row.isEntry,
    kind: row.kind,
    ref: row.reference,
    resource: resource?.type ?? null,
    resource_id: resource?.id ?? null,
    subaccount_id: row.subaccountId,
    fee_cents: row.feeCents,
    seen_at: row.seenAt,
    seen_to: row.seenTo,
    occurred_at: row.occurredAt,
    balance_delta: changes.amountCents - changes.subaccountsDeltaCents,
    subaccounts_delta: changes.subaccountsDeltaCents,
    pending_delta: changes.pendingReleaseDeltaCents,
    dispute_hold_delta: changes.disputeBlockedDeltaCents,
    ltc_delta: changes.litoshiDelta,
    receivable_delta: 0 - changes.receivableDeltaCents,
    unexplained: row.unexplainedCents,
    wallet: row.wallet,
    known: row.known,
  }));
  await raw`
    insert into observed_entry
    select r.* from json_populate_recordset(null::observed_entry, ${JSON.stringify(
      records.map((record) => ({ account_id: accountId, environment, ...record })),
    )}::json) r
  `.execute(sql);
}

// ── The statement ───────────────────────────────────────────────────────────────────────────────

/** The table of the statement of what was seen. */
export const SEEN: StatementTable<EntryRow> = {
  name: 'observed_entry',
  hasWallet: raw<boolean>`true`,
  walletOf: (_, row) => (row === null ? NOTHING_SEEN : (row.wallet as Wallet)),
  entryOf: (row) => ({ feeCents: row.fee_cents, seenAt: row.seen_at ?? row.occurred_at }),
  unexplainedOf: ({ unexplained }) => unexplained,
  isSeen: true,
  namedBy: (ids) => raw`number = any(${[...ids]}::bigint[])`,
  ofReference: (_, reference) => [raw<boolean>`(ref = ${reference} or resource_id = ${reference})`],
};

/** The wallet before its first sighting: nothing of it is known. */
const NOTHING_SEEN = {
  balanceCents: null,
  disputeBlockedCents: null,
  withdrawableCents: null,
  pendingReleaseCents: null,
  receivableCents: null,
  subaccountsBalanceCents: null,
  assignableCents: null,
  cryptoBalanceLitoshi: null,
} as unknown as Wallet;
