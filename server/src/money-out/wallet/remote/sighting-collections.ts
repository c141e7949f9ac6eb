import { type RawBuilder, sql as raw, type Selectable } from 'kysely';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { Collection } from '../../../state/commit/commit.ts';
import type { Sql } from '../../../state/db/database.ts';
import { loadPerTenant, savePerTenant } from '../../../state/db/each-tenant.ts';
import { headOf } from '../../../state/db/head.ts';
import type { Tables } from '../../../state/db/tables.ts';
import type { ReadMoney, SeenMoney } from '../../../upstream/seen-money.ts';
import type { Wallet } from '../model.ts';
import { changesOf, type StatementTable } from '../store.ts';
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

/** An event of the log. A log that was set back uses its version again, with another mark. */
export interface Position {
  readonly version: number;
  readonly mark: number;
}

/** The statement of what was seen, as a sighting continues it. */
export interface Book {
  /** Null before the first sighting. */
  readonly last: LastRow | null;
  /** The movements of resources since. */
  readonly movements: readonly Movement[];
  /** The position in the log up to which `movements` are. */
  readonly seen: Position;
  /** Whether later movements follow in the log. */
  readonly hasMore: boolean;
  readonly written: readonly SeenRow[];
}

/** The most events of one sighting. Those behind them follow with another, of the same figures. */
const MAX_EVENTS = 1_000;

const ofTenant = ({ accountId, environment }: Tenant) =>
  raw`account_id = ${accountId}::text and environment = ${environment}::environment`;

/** A change in the log. */
interface LoggedEvent extends Omit<SeenEvent, 'money'>, Position {
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
  const nothing = { last, movements: [], seen: head, hasMore: false, written: [] };
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
  const seen = hasMore ? logged.at(-1)! : head;
  return { ...nothing, movements: movementsOf(events, before), seen, hasMore };
}

/** The mark of the event of a version; 0 if there is none. */
const markOf = (tenant: Tenant, version: RawBuilder<number>) => raw<number>`coalesce((
  select mark from event where ${ofTenant(tenant)} and event.version = ${version}
), 0)`;

async function selectEnd(sql: Sql, tenant: Tenant): Promise<{ head: Position; last: LastRow | null }> {
  const head = headOf(tenant);
  const { rows } = await raw<Position & { last: EntryRow | null }>`
    select ${head} as version, ${markOf(tenant, head)} as mark, (
      select to_jsonb(e) from observed_entry e where ${ofTenant(tenant)} order by number desc limit 1
    ) as last
  `.execute(sql);
  const { version, mark, last } = rows[0]!;
  return {
    head: { version, mark },
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
    select found.* from unnest(${[...resources]}::text[]) each (resource)
    cross join lateral (
      select version, mark, resource, resource_id as "resourceId", occurred_at as "occurredAt", snapshot from event
      where ${ofTenant(tenant)} and event.resource = each.resource and version > ${after}::bigint
      order by version limit ${MAX_EVENTS + 1}
    ) found
    order by version limit ${MAX_EVENTS + 1}
  `.execute(sql);
  return rows;
}

/**
 * Whether resources have changed behind a position in the log, with its end and the wallet of the last sighting. If the log was set back
 * since, and has another event there, what follows the last sighting counts.
 */
export async function selectChanges(
  sql: Sql,
  tenant: Tenant,
  { resources, seen }: { resources: readonly string[]; seen: Position },
): Promise<{ head: Position; wallet: Wallet | null; isChanged: boolean }> {
  const head = headOf(tenant);
  const seenTo = raw<number>`${seen.version}::bigint`;
  const { rows } = await raw<Position & { wallet: Wallet | null; isChanged: boolean }>`
    select ${head} as version, ${markOf(tenant, head)} as mark, last.wallet, coalesce(newest.version > greatest(
      last.seen_to, case when ${markOf(tenant, seenTo)} = ${seen.mark}::integer then ${seenTo} end
    ), false) as "isChanged"
    from (
      select max(found.version) as version from unnest(${[...resources]}::text[]) each (resource)
      cross join lateral (
        select version from event where ${ofTenant(tenant)} and event.resource = each.resource
        order by version desc limit 1
      ) found
    ) newest
    left join lateral (
      select seen_to, wallet from observed_entry where ${ofTenant(tenant)} order by number desc limit 1
    ) last on true
  `.execute(sql);
  const { version, mark, ...changes } = rows[0]!;
  return { head: { version, mark }, ...changes };
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

/** The columns of a movement. */
const OF_MOVEMENT = [
  ...(['number', 'kind', 'ref', 'resource', 'resource_id', 'subaccount_id', 'fee_cents', 'seen_at'] as const),
  ...(['is_entry', 'balance_delta', 'subaccounts_delta', 'pending_delta', 'dispute_hold_delta'] as const),
  ...(['ltc_delta', 'receivable_delta'] as const),
];
type MovementRow = Pick<EntryRow, (typeof OF_MOVEMENT)[number]>;

/** All movements of resources, and of the refunds of these. */
async function selectMovements(sql: Sql, tenant: Tenant, ids: readonly string[]): Promise<Movement[]> {
  const columns = raw.join(OF_MOVEMENT.map((column) => raw.ref(column)));
  const found = (condition: RawBuilder<unknown>) =>
    raw`select ${columns} from observed_entry where ${ofTenant(tenant)} and resource is not null and ${condition}`;
  const { rows } = await raw<MovementRow>`
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
      select version, mark, resource, resource_id as "resourceId", occurred_at as "occurredAt", snapshot from event
      where ${ofTenant(tenant)} and event.resource = wanted.resource and event.resource_id = wanted.resource_id
        and version <= ${upTo}::bigint
      order by version desc limit 1
    ) found
  `.execute(sql);
  return rows;
}

function toMovement(row: MovementRow): Movement {
  return {
    kind: row.kind as Movement['kind'],
    reference: row.ref,
    resource: row.resource === null ? null : { type: row.resource, id: row.resource_id! },
    subaccountId: row.subaccount_id,
    changes: changesOf(row),
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
  // A fee that was shown later has a line of its own, whose gross amount is nothing.
  lacksFee: (tenant, period) => raw`fee_cents is null and (kind, resource_id) not in (
    select kind, resource_id from observed_entry
    where ${ofTenant(tenant)} and ${period} and fee_cents <> 0
      and balance_delta + subaccounts_delta + pending_delta + fee_cents = 0
  )`,
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
