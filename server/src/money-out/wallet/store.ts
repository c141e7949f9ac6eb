import { type RawBuilder, sql as raw } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { isStorable } from '../../kernel/text.ts';
import type { Sql } from '../../state/db/database.ts';
import { rangeOfAmounts } from '../../state/db/filtered-lists.ts';
import { inPeriod, type Period as Range, selectRange } from '../../state/db/lists.ts';
import type { Tables } from '../../state/db/tables.ts';
import { type Wallet, type WalletFigures, walletOfFigures } from './model.ts';
import {
  type ClosingLine,
  type ClosingReport,
  type Period,
  WALLET_ENTRY_KINDS,
  type WalletAt,
  type WalletBucket,
  type WalletEntry,
  type WalletEntryFilter,
  type WalletEntryKind,
} from './statement.ts';

// The statement: the rows of a table that move a figure of the wallet.

type JournalRow = Tables['ledger_transaction'];

/** The columns that the rows of every statement have. */
export type StatementRow = Omit<JournalRow, keyof WalletFigures | 'transaction_id'>;

/** A table with a statement: the journal, or what was seen of another service. */
export interface StatementTable<Row extends StatementRow> {
  readonly name: string;
  /** The rows with the wallet of their time. */
  readonly hasWallet: RawBuilder<boolean>;
  /** The wallet after a row; of null, before the first one. */
  walletOf(tenant: Tenant, row: Row | null): Wallet;
  /** The members of an entry that differ between tables. */
  entryOf(row: Row): Pick<WalletEntry, 'feeCents' | 'seenAt'>;
  /** The part of the balance that no entry explains, up to a row and with it. */
  unexplainedOf(row: Row): number;
  /** Whether the fee of an entry is not known, also by the entries after it in the period. */
  lacksFee(tenant: Tenant, period: RawBuilder<boolean>): RawBuilder<boolean>;
  /** Whether the wallets are sightings of another service's, each with an instant. */
  readonly isSeen: boolean;
  /** The condition of the entries that the event of a commit names. */
  namedBy(ids: readonly string[]): RawBuilder<boolean>;
  /** The conditions of the entries of a reference. */
  ofReference(tenant: Tenant, reference: string): RawBuilder<boolean>[];
}

const IS_ENTRY = raw<boolean>`is_entry`;

/** The statement of the journal. */
export const JOURNAL: StatementTable<JournalRow> = {
  name: 'ledger_transaction',
  hasWallet: IS_ENTRY,
  walletOf: ({ environment }, row) => walletOfFigures(environment, row),
  entryOf: ({ fee_cents: fee }) => ({ feeCents: fee ?? 0, seenAt: null }),
  unexplainedOf: () => 0,
  lacksFee: () => raw`false`,
  isSeen: false,
  namedBy: (ids) => raw`transaction_id = any(${ids}::text[])`,
  ofReference: ({ accountId, environment }, reference) => [
    raw`ref = any(ledger_refs_of(${accountId}, ${environment}::environment, ${reference}))`,
    raw`${reference} in (ref, resource_id)`,
  ],
};

/** A kind that a newer version has written is unknown here. */
function kindOf(kind: string | null): WalletEntryKind | 'unknown' {
  return (WALLET_ENTRY_KINDS as readonly (string | null)[]).includes(kind)
    ? (kind as WalletEntryKind)
    : 'unknown';
}

const ofTenant = ({ accountId, environment }: Tenant) =>
  raw`account_id = ${accountId}::text and environment = ${environment}::text`;

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

/** The sums of the entries of a kind. */
type SumsOfKind = { kind: string | null; count: number; unknown_fees: number } & Omit<ClosingLine, 'kind'>;

/** The columns of the changes of the wallet's figures. */
type ChangeColumns = Pick<
  StatementRow,
  | 'balance_delta'
  | 'subaccounts_delta'
  | 'pending_delta'
  | 'dispute_hold_delta'
  | 'receivable_delta'
  | 'ltc_delta'
>;

/** Reads the changes of the wallet's figures from their columns. */
export const changesOf = (row: ChangeColumns) => ({
  amountCents: row.balance_delta + row.subaccounts_delta,
  subaccountsDeltaCents: row.subaccounts_delta,
  pendingReleaseDeltaCents: row.pending_delta,
  disputeBlockedDeltaCents: row.dispute_hold_delta,
  receivableDeltaCents: 0 - row.receivable_delta,
  litoshiDelta: row.ltc_delta,
});

/** Reads the statement of a table; each read is one statement, so all that it shows is of one moment. */
export function createStatementStore<Row extends StatementRow>(table: StatementTable<Row>) {
  const from = raw.table(table.name);

  function toEntry(tenant: Tenant, row: Row): WalletEntry {
    return {
      number: row.number,
      kind: kindOf(row.kind),
      reference: row.ref,
      resource: row.resource === null ? null : { type: row.resource, id: row.resource_id! },
      subaccountId: row.subaccount_id,
      createdAt: row.occurred_at,
      ...changesOf(row),
      ...table.entryOf(row),
      after: table.walletOf(tenant, row),
      unexplainedCents: table.unexplainedOf(row),
    };
  }

  /**
   * The conditions of a filter. Instants never go back, so a period is a range of numbers, whose two ends are
   * looked up: the list stays in its order.
   */
  function conditionsOf(tenant: Tenant, filter: WalletEntryFilter): RawBuilder<boolean>[] {
    const { kind, createdAfter, createdBefore, reference, subaccountId, ...amounts } = filter;
    const conditions = [IS_ENTRY];
    if (createdAfter)
      conditions.push(raw`number >= (
        select number from ${from} where ${ofTenant(tenant)} and is_entry and occurred_at >= ${createdAfter}
        order by occurred_at, number limit 1)`);
    if (createdBefore)
      conditions.push(raw`number <= (
        select number from ${from} where ${ofTenant(tenant)} and is_entry and occurred_at < ${createdBefore}
        order by occurred_at desc, number desc limit 1)`);
    if (kind) conditions.push(raw`kind = any(${kind}::text[])`);
    // No subaccount has a text that PostgreSQL cannot store, and it refuses the query.
    if (subaccountId !== undefined)
      conditions.push(isStorable(subaccountId) ? raw`subaccount_id = ${subaccountId}` : raw`false`);
    if (reference !== undefined) conditions.push(...table.ofReference(tenant, reference));
    const range = rangeOfAmounts(amounts);
    if (range) conditions.push(...inPeriod(sizeOfEntry, rangeInText(range)));
    return conditions;
  }

  /** The last row of some that was written at an instant or before it. */
  const lastOf = (tenant: Tenant, ...conditions: RawBuilder<unknown>[]) => raw<Row>`
    select * from ${from} where ${raw.join([ofTenant(tenant), ...conditions], raw` and `)}
    order by occurred_at desc, number desc limit 1`;

  return {
    async list(
      sql: Sql,
      tenant: Tenant,
      { kind, ...others }: WalletEntryFilter,
      range: ListRange & { offset?: number },
    ): Promise<{ position: number; entry: WalletEntry }[]> {
      const list = { table: table.name, where: conditionsOf(tenant, others), oneOf: { kind } };
      const rows = await selectRange<Row>(sql, tenant, list, range);
      return rows.map((row) => ({ position: row.number, entry: toEntry(tenant, row) }));
    },

    /** Counts the entries: those of a period by the count that each row has, others one by one. */
    async count(sql: Sql, tenant: Tenant, filter: WalletEntryFilter): Promise<number> {
      const { createdAfter: _, createdBefore: __, ...others } = filter;
      const isOfPeriod = Object.values(others).every((value) => value === undefined);
      const where = raw`${ofTenant(tenant)} and ${raw.join(conditionsOf(tenant, filter), raw` and `)}`;
      const end = (direction: 'asc' | 'desc') => raw`(
        select entries from ${from} where ${where} order by number ${raw.raw(direction)} limit 1)`;
      const { rows } = isOfPeriod
        ? await raw<{
            count: number;
          }>`select coalesce(${end('desc')} - ${end('asc')} + 1, 0) as count`.execute(sql)
        : await raw<{ count: number }>`select count(*) as count from ${from} where ${where}`.execute(sql);
      return rows[0]!.count;
    },

    async find(sql: Sql, tenant: Tenant, number: number): Promise<WalletEntry | null> {
      const { rows } = await raw<Row>`
        select * from ${from} where ${ofTenant(tenant)} and number = ${number}::bigint and is_entry
      `.execute(sql);
      return rows[0] ? toEntry(tenant, rows[0]) : null;
    },

    /** Finds the entries of a commit by the ids in its event, oldest first. */
    async findOf(sql: Sql, tenant: Tenant, ids: readonly string[], since: Date): Promise<WalletEntry[]> {
      const { rows } = await raw<Row>`
        select * from ${from}
        where ${ofTenant(tenant)} and is_entry and occurred_at >= ${since} and ${table.namedBy(ids)}
        order by occurred_at, number limit ${ids.length}
      `.execute(sql);
      return rows.map((row) => toEntry(tenant, row));
    },

    /** The wallet at an instant, with the last entry at it or before it. */
    async at(sql: Sql, tenant: Tenant, instant: Date): Promise<Omit<WalletAt, 'instant'> | null> {
      const found = lastOf(tenant, table.hasWallet, raw`occurred_at <= ${instant}`);
      const { rows } = await raw<Row>`${table.isSeen ? raw`` : raw`/* wallet_at */`} ${found}`.execute(sql);
      const [row] = rows;
      if (!row) return null;
      const [entry] = row.is_entry
        ? [row]
        : (await lastOf(tenant, IS_ENTRY, raw`number < ${row.number}::bigint`).execute(sql)).rows;
      return {
        figures: table.walletOf(tenant, row),
        entry: entry ? toEntry(tenant, entry) : null,
        unexplainedCents: table.unexplainedOf(row),
        seenAt: table.isSeen ? row.occurred_at : null,
      };
    },

    /** The wallet at the end of each bucket, and what has moved inside it; the ends are those of `bucketsOf`. */
    async buckets(sql: Sql, tenant: Tenant, ends: readonly Date[]): Promise<WalletBucket[]> {
      const { rows } = await raw<{
        since: Date;
        until: Date;
        in_cents: number;
        out_cents: number;
        last: Row | null;
      }>`
        select bucket.since, bucket.until, moved.in_cents, moved.out_cents, to_jsonb(last) as last
        from unnest(${ends.slice(0, -1)}::timestamptz[], ${ends.slice(1)}::timestamptz[]) bucket (since, until)
        left join lateral (${lastOf(tenant, table.hasWallet, raw`occurred_at < bucket.until`)}) last on true
        cross join lateral (
          select
            coalesce(sum(greatest(balance_delta + subaccounts_delta, 0)), 0)::bigint as in_cents,
            coalesce(sum(greatest(-balance_delta - subaccounts_delta, 0)), 0)::bigint as out_cents
          from ${from}
          where ${ofTenant(tenant)} and is_entry and occurred_at >= bucket.since and occurred_at < bucket.until
        ) moved
        order by bucket.since
      `.execute(sql);
      return rows.map(({ since, until, in_cents: inCents, out_cents: outCents, last }) => ({
        ...{ startsAt: since, endsAt: until, inCents, outCents },
        closing: table.walletOf(tenant, last),
      }));
    },

    /**
     * The sums of a period by kind, between the wallets at its two ends, all of the same moment. What was seen begins with its
     * first sighting: of a period that begins before it, that is the opening.
     */
    async closing(
      sql: Sql,
      tenant: Tenant,
      { startsAt, endsAt }: Period,
    ): Promise<Omit<ClosingReport, keyof Period>> {
      const last = (before: Date) => lastOf(tenant, table.hasWallet, raw`occurred_at < ${before}`);
      const period = raw<boolean>`is_entry and occurred_at >= ${startsAt} and occurred_at < ${endsAt}`;
      const first = raw`select * from ${from}
        where ${ofTenant(tenant)} and number = 1 and occurred_at < ${endsAt} and ${raw.lit(table.isSeen)}`;
      const { rows } = await raw<{ opening: Row | null; closing: Row | null; lines: SumsOfKind[] }>`
        select to_jsonb(opening) as opening, to_jsonb(closing) as closing, lines.lines
        from (
          select coalesce(json_agg(line), '[]') as lines from (
            select kind, count(*) as count, count(*) filter (where ${table.lacksFee(tenant, period)}) as unknown_fees,
              coalesce(sum(fee_cents), 0)::bigint as "feeCents",
              sum(balance_delta + subaccounts_delta)::bigint as "amountCents",
              sum(subaccounts_delta)::bigint as "subaccountsDeltaCents",
              sum(pending_delta)::bigint as "pendingReleaseDeltaCents",
              sum(dispute_hold_delta)::bigint as "disputeBlockedDeltaCents",
              -sum(receivable_delta)::bigint as "receivableDeltaCents",
              sum(ltc_delta)::bigint as "litoshiDelta"
            from ${from}
            where ${ofTenant(tenant)} and ${period}
            group by kind order by kind
          ) line
        ) lines
        left join lateral (
          select * from ((${last(startsAt)}) union all (${first})) either order by number desc limit 1
        ) opening on true
        left join lateral (${last(endsAt)}) closing on true
      `.execute(sql);
      const { opening, closing, lines } = rows[0]!;
      const seenAt = (row: Row | null) => (row && table.isSeen ? new Date(row.occurred_at) : null);
      return {
        opening: table.walletOf(tenant, opening),
        openingSeenAt: seenAt(opening),
        closing: table.walletOf(tenant, closing),
        closingSeenAt: seenAt(closing),
        lines: linesOf(lines),
        unexplainedCents: closing ? table.unexplainedOf(closing) : 0,
      };
    },
  };
}

/** Kinds that this version does not know share one line. A sum with a fee that is not known is not known. */
function linesOf(sums: readonly SumsOfKind[]): ClosingLine[] {
  const lines = new Map<ClosingLine['kind'], ClosingLine>();
  for (const { kind: word, unknown_fees: unknown, ...own } of sums) {
    const kind = kindOf(word);
    const line = { ...own, kind, feeCents: unknown > 0 ? null : own.feeCents };
    const before = lines.get(kind);
    lines.set(kind, before ? added(before, line) : line);
  }
  return [...lines.values()];
}

function added(left: ClosingLine, right: ClosingLine): ClosingLine {
  const names = Object.keys(left).filter((name) => name !== 'kind') as Exclude<keyof ClosingLine, 'kind'>[];
  const sums = names.map((name) => {
    const [one, other] = [left[name], right[name]];
    return [name, one === null || other === null ? null : one + other];
  });
  return { ...left, ...Object.fromEntries(sums) };
}
