import { type RawBuilder, sql as raw } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { isStorable } from '../../kernel/text.ts';
import type { Sql } from '../../state/db/database.ts';
import { rangeOfAmounts } from '../../state/db/filtered-lists.ts';
import { inPeriod, type Period as Range, selectRange } from '../../state/db/lists.ts';
import type { Tables } from '../../state/db/tables.ts';
import { type WalletFigures, walletOfFigures } from './model.ts';
import {
  type ClosingLine,
  type Period,
  WALLET_ENTRY_KINDS,
  type WalletChanges,
  type WalletEntry,
  type WalletEntryFilter,
  type WalletEntryKind,
} from './statement.ts';

// The statement: the rows of the journal that move a figure of the wallet.

type JournalRow = Tables['ledger_transaction'];
type Figures = Pick<JournalRow, keyof WalletFigures>;

const TABLE = 'ledger_transaction';
const IS_ENTRY = raw<boolean>`is_entry`;

function toEntry(tenant: Tenant, row: JournalRow): WalletEntry {
  return {
    number: row.number,
    kind: kindOf(row.kind),
    reference: row.ref,
    resource: row.resource === null ? null : { type: row.resource, id: row.resource_id! },
    subaccountId: row.subaccount_id,
    createdAt: row.occurred_at,
    amountCents: row.balance_delta + row.subaccounts_delta,
    subaccountsDeltaCents: row.subaccounts_delta,
    pendingReleaseDeltaCents: row.pending_delta,
    disputeBlockedDeltaCents: row.dispute_hold_delta,
    receivableDeltaCents: 0 - row.receivable_delta,
    litoshiDelta: row.ltc_delta,
    feeCents: row.fee_cents ?? 0,
    after: toWallet(tenant, row),
    unexplainedCents: 0,
  };
}

/** A kind that a newer version has written is unknown here. */
function kindOf(kind: string | null): WalletEntryKind | 'unknown' {
  return (WALLET_ENTRY_KINDS as readonly (string | null)[]).includes(kind)
    ? (kind as WalletEntryKind)
    : 'unknown';
}

const toWallet = ({ environment }: Tenant, figures: Figures | null) => walletOfFigures(environment, figures);

// ── Lists ───────────────────────────────────────────────────────────────────────────────────────

const ofTenant = ({ accountId, environment }: Tenant) =>
  raw`account_id = ${accountId}::text and environment = ${environment}::text`;

/**
 * The conditions of a filter. Instants never go back, so a period is a range of numbers, whose two ends are
 * looked up: the list stays in its order.
 */
function conditionsOf(tenant: Tenant, filter: WalletEntryFilter): RawBuilder<boolean>[] {
  const { kind, createdAfter, createdBefore, reference, subaccountId, ...amounts } = filter;
  const conditions = [IS_ENTRY];
  if (createdAfter)
    conditions.push(raw`number >= (
      select number from ledger_transaction where ${ofTenant(tenant)} and is_entry and occurred_at >= ${createdAfter}
      order by occurred_at, number limit 1)`);
  if (createdBefore)
    conditions.push(raw`number <= (
      select number from ledger_transaction where ${ofTenant(tenant)} and is_entry and occurred_at < ${createdBefore}
      order by occurred_at desc, number desc limit 1)`);
  if (kind) conditions.push(raw`kind = any(${kind}::text[])`);
  // No subaccount has a text that PostgreSQL cannot store, and it refuses the query.
  if (subaccountId !== undefined)
    conditions.push(isStorable(subaccountId) ? raw`subaccount_id = ${subaccountId}` : raw`false`);
  if (reference !== undefined)
    conditions.push(
      raw`ref = any(ledger_refs_of(${tenant.accountId}, ${tenant.environment}::environment, ${reference}))`,
      raw`${reference} in (ref, resource_id)`,
    );
  const range = rangeOfAmounts(amounts);
  if (range) conditions.push(...inPeriod(sizeOfEntry, rangeInText(range)));
  return conditions;
}

/**
 * The bounds of a range as constants of the statement: a plan for any bounds would read the whole statement for a rare amount,
 * half a second at a million entries. One amount has an index in the order of the list.
 */
function rangeInText({ from, before }: Range<number>): Range<number | RawBuilder<unknown>> {
  if (before === (from ?? 0) + 1) return { from, before };
  return { from: from && raw.lit(from), before: before && raw.lit(before) };
}

/** The amount of an entry without its sign. */
const sizeOfEntry = () => raw<number>`abs(balance_delta + subaccounts_delta)`;

export async function listEntries(
  sql: Sql,
  tenant: Tenant,
  { kind, ...others }: WalletEntryFilter,
  range: ListRange & { offset?: number },
): Promise<{ position: number; entry: WalletEntry }[]> {
  const list = { table: TABLE, where: conditionsOf(tenant, others), oneOf: { kind } };
  const rows = await selectRange<JournalRow>(sql, tenant, list, range);
  return rows.map((row) => ({ position: row.number, entry: toEntry(tenant, row) }));
}

/** Counts the entries: those of a period by the count that each row has, others one by one. */
export async function countEntries(sql: Sql, tenant: Tenant, filter: WalletEntryFilter): Promise<number> {
  const { createdAfter: _, createdBefore: __, ...others } = filter;
  const isOfPeriod = Object.values(others).every((value) => value === undefined);
  const where = raw`${ofTenant(tenant)} and ${raw.join(conditionsOf(tenant, filter), raw` and `)}`;
  const end = (direction: 'asc' | 'desc') => raw`(
    select entries from ledger_transaction where ${where} order by number ${raw.raw(direction)} limit 1)`;
  const { rows } = isOfPeriod
    ? await raw<{ count: number }>`select coalesce(${end('desc')} - ${end('asc')} + 1, 0) as count`.execute(
        sql,
      )
    : await raw<{ count: number }>`select count(*) as count from ledger_transaction where ${where}`.execute(
        sql,
      );
  return rows[0]!.count;
}

export async function findEntry(sql: Sql, tenant: Tenant, number: number): Promise<WalletEntry | null> {
  const { rows } = await raw<JournalRow>`
    select * from ledger_transaction where ${ofTenant(tenant)} and number = ${number}::bigint and is_entry
  `.execute(sql);
  return rows[0] ? toEntry(tenant, rows[0]) : null;
}

export async function findEntriesOf(
  sql: Sql,
  tenant: Tenant,
  ids: readonly string[],
  since: Date,
): Promise<WalletEntry[]> {
  const { rows } = await raw<JournalRow>`
    select * from ledger_transaction
    where ${ofTenant(tenant)} and is_entry and occurred_at >= ${since} and transaction_id = any(${ids}::text[])
    order by occurred_at, number limit ${ids.length}
  `.execute(sql);
  return rows.map((row) => toEntry(tenant, row));
}

// ── Instants ────────────────────────────────────────────────────────────────────────────────────

/** The last entry at an instant or before it. */
export async function findEntryAt(sql: Sql, tenant: Tenant, instant: Date): Promise<WalletEntry | null> {
  const { rows } = await raw<JournalRow>`
    /* wallet_at */
    select * from ledger_transaction where ${ofTenant(tenant)} and is_entry and occurred_at <= ${instant}
    order by occurred_at desc, number desc limit 1
  `.execute(sql);
  return rows[0] ? toEntry(tenant, rows[0]) : null;
}

/** The wallet at the end of each bucket, and what has moved inside it; the ends are those of `bucketsOf`. */
export async function readBuckets(sql: Sql, tenant: Tenant, ends: readonly Date[]) {
  const { rows } = await raw<
    { since: Date; until: Date; in_cents: number; out_cents: number } & Partial<Figures>
  >`
    select
      bucket.since, bucket.until, moved.in_cents, moved.out_cents,
      last.balance, last.subaccounts, last.pending, last.dispute_hold, last.ltc, last.receivable
    from unnest(${ends.slice(0, -1)}::timestamptz[], ${ends.slice(1)}::timestamptz[]) bucket (since, until)
    left join lateral (
      select * from ledger_transaction where ${ofTenant(tenant)} and is_entry and occurred_at < bucket.until
      order by occurred_at desc, number desc limit 1
    ) last on true
    cross join lateral (
      select
        coalesce(sum(greatest(balance_delta + subaccounts_delta, 0)), 0)::bigint as in_cents,
        coalesce(sum(greatest(-balance_delta - subaccounts_delta, 0)), 0)::bigint as out_cents
      from ledger_transaction
      where ${ofTenant(tenant)} and is_entry and occurred_at >= bucket.since and occurred_at < bucket.until
    ) moved
    order by bucket.since
  `.execute(sql);
  return rows.map(({ since, until, in_cents: inCents, out_cents: outCents, ...figures }) => ({
    ...{ startsAt: since, endsAt: until, inCents, outCents },
    closing: toWallet(tenant, figures.balance == null ? null : (figures as Figures)),
  }));
}

/** The sums of a period by kind, between the wallets at its two ends, all of the same moment. */
export async function readClosing(sql: Sql, tenant: Tenant, { startsAt, endsAt }: Period) {
  const at = (name: string, instant: Date) => raw`(
    select ${name}::text as kind, 0::bigint as count, 0::bigint as fee_cents,
      balance, subaccounts, pending, dispute_hold, ltc, receivable
    from ledger_transaction where ${ofTenant(tenant)} and is_entry and occurred_at < ${instant}
    order by occurred_at desc, number desc limit 1)`;
  const { rows } = await raw<{ kind: string | null; count: number; fee_cents: number } & Figures>`
    ${at(OPENING, startsAt)} union all ${at(CLOSING, endsAt)} union all
    select kind, count(*), coalesce(sum(fee_cents), 0)::bigint, sum(balance_delta)::bigint, sum(subaccounts_delta)::bigint,
      sum(pending_delta)::bigint, sum(dispute_hold_delta)::bigint, sum(ltc_delta)::bigint, sum(receivable_delta)::bigint
    from ledger_transaction
    where ${ofTenant(tenant)} and is_entry and occurred_at >= ${startsAt} and occurred_at < ${endsAt}
    group by kind order by 1
  `.execute(sql);
  const end = (name: string) => toWallet(tenant, rows.find(({ kind }) => kind === name) ?? null);
  return {
    opening: end(OPENING),
    closing: end(CLOSING),
    lines: linesOf(rows.filter(({ kind }) => kind !== OPENING && kind !== CLOSING)),
  };
}

/** Names that no kind has. */
const [OPENING, CLOSING] = ['<opening', '<closing'];

/** Kinds that this version does not know share one line. */
function linesOf(
  rows: readonly ({ kind: string | null; count: number; fee_cents: number } & Figures)[],
): ClosingLine[] {
  const lines = new Map<ClosingLine['kind'], ClosingLine>();
  for (const row of rows) {
    const kind = kindOf(row.kind);
    const before = lines.get(kind);
    const sums: WalletChanges & { count: number } = {
      count: row.count,
      amountCents: row.balance + row.subaccounts,
      subaccountsDeltaCents: row.subaccounts,
      pendingReleaseDeltaCents: row.pending,
      disputeBlockedDeltaCents: row.dispute_hold,
      receivableDeltaCents: 0 - row.receivable,
      litoshiDelta: row.ltc,
      feeCents: row.fee_cents,
    };
    const names = Object.keys(sums) as (keyof typeof sums)[];
    lines.set(kind, {
      kind,
      ...(Object.fromEntries(
        names.map((name) => [name, (before?.[name] ?? 0) + sums[name]]),
      ) as unknown as typeof sums),
    });
  }
  return [...lines.values()];
}
