import { type RawBuilder, sql as raw, type Selectable } from 'kysely';
import type { Sql } from '../db/database.ts';
import { countList, type ListFilter, SUM } from '../db/lists.ts';
import type { Tables } from '../db/tables.ts';
import { maskPixKey } from '../kernel/pix-key.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import {
  type PayoutRecord,
  type ReferenceKind,
  referenceKind,
  type StatementEntryKind,
  type StoredStatementEntry,
  type StoredSubaccount,
  type StoredSubaccountPayout,
  type SubaccountPayoutStatus,
  subaccountIdText,
} from './model.ts';

// A text that is no id is not asked for: it is in no row, and Postgres takes one with U+0000 for a fault.
const isId = (text: string) => subaccountIdText.safeParse(text).success;

/** Newest first, `limit` of them older than the number `before` or behind the first `offset`. */
export interface Window {
  limit: number;
  before?: number | undefined;
  offset?: number;
}

// ── Subaccounts ─────────────────────────────────────────────────────────────────────────────────

export async function selectSubaccounts(
  sql: Sql,
  tenant: Tenant,
  ids: readonly string[],
): Promise<StoredSubaccount[]> {
  const possible = ids.filter(isId);
  if (possible.length === 0) return [];
  const rows = await subaccountsOf(sql, tenant).selectAll().where('id', 'in', possible).execute();
  return rows.map(toSubaccount);
}

export async function selectByExternalIds(
  sql: Sql,
  tenant: Tenant,
  externalIds: readonly string[],
): Promise<StoredSubaccount[]> {
  const rows = await subaccountsOf(sql, tenant).selectAll().where('external_id', 'in', externalIds).execute();
  return rows.map(toSubaccount);
}

export async function insertSubaccounts(
  sql: Sql,
  tenant: Tenant,
  subaccounts: readonly StoredSubaccount[],
): Promise<void> {
  await sql
    .insertInto('subaccount')
    .values(
      subaccounts.map(({ id, name, externalId, createdAt }) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        id,
        name,
        external_id: externalId,
        created_at: createdAt,
      })),
    )
    .execute();
}

export async function listSubaccounts(
  sql: Sql,
  tenant: Tenant,
  window: Window,
): Promise<{ place: number; item: StoredSubaccount }[]> {
  const rows = await newest(subaccountsOf(sql, tenant).selectAll(), window).execute();
  return rows.map((row) => ({ place: row.number, item: toSubaccount(row) }));
}

export function countSubaccounts(sql: Sql, tenant: Tenant): Promise<number> {
  return countList(sql, tenant, { list: 'subaccount' });
}

function toSubaccount(row: Selectable<Tables['subaccount']>): StoredSubaccount {
  return {
    id: row.id,
    name: row.name,
    externalId: row.external_id,
    balanceCents: row.balance_cents,
    createdAt: row.created_at,
  };
}

// ── Statements ──────────────────────────────────────────────────────────────────────────────────

export async function selectEntries(
  sql: Sql,
  tenant: Tenant,
  keys: readonly { kind: StatementEntryKind; refId: string }[],
): Promise<StoredStatementEntry[]> {
  const rows = await entriesOf(sql, tenant)
    .selectAll()
    .where((row) => row.or(keys.map(({ kind, refId }) => row.and({ kind, ref_id: refId }))))
    .execute();
  return rows.map(toEntry);
}

/** In the order in which they were decided, which is the order of their numbers. */
export async function insertEntries(
  sql: Sql,
  tenant: Tenant,
  entries: readonly StoredStatementEntry[],
): Promise<void> {
  await sql
    .insertInto('statement_entry')
    .values(
      entries.map((entry) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        subaccount_id: entry.subaccountId,
        kind: entry.kind,
        ref_id: entry.refId,
        amount_cents: entry.amountCents,
        balance_after_cents: entry.balanceAfterCents,
        created_at: entry.createdAt,
      })),
    )
    .execute();
}

export async function listEntries(
  sql: Sql,
  tenant: Tenant,
  subaccountId: string,
  window: Window,
): Promise<{ place: number; item: StoredStatementEntry }[]> {
  if (!isId(subaccountId)) return [];
  const rows = await newest(
    entriesOf(sql, tenant).selectAll().where('subaccount_id', '=', subaccountId),
    window,
  ).execute();
  return rows.map((row) => ({ place: row.number, item: toEntry(row) }));
}

/** As `listEntries`, for each of several: one statement. */
export async function listEntriesOfEach(sql: Sql, pages: readonly PageOfOne[]) {
  const rows = await sql
    .selectFrom(wanted(pages))
    .innerJoinLateral(
      (of) =>
        of
          .selectFrom('statement_entry')
          .selectAll('statement_entry')
          .whereRef('statement_entry.account_id', '=', 'wanted.account_id')
          .whereRef('statement_entry.environment', '=', 'wanted.environment')
          .whereRef('statement_entry.subaccount_id', '=', 'wanted.subaccount_id')
          .whereRef('statement_entry.number', '<', 'wanted.before')
          .orderBy('statement_entry.number', 'desc')
          .limit(raw<number>`wanted.size`)
          .as('page'),
      (join) => join.onTrue(),
    )
    .selectAll('page')
    .select('wanted.nth')
    .orderBy('page.number', 'desc')
    .execute();
  return ofEach(pages, rows, (row) => ({ place: row.number, item: toEntry(row) }));
}

/** As `countEntries`, for each of several: one statement. */
export function countEntriesOfEach(sql: Sql, pages: readonly OfOne[]): Promise<number[]> {
  return countOfEach(sql, pages, { list: 'statement_entry' });
}

export async function countEntries(sql: Sql, tenant: Tenant, subaccountId: string): Promise<number> {
  if (!isId(subaccountId)) return 0;
  return countList(sql, tenant, { list: 'statement_entry', parent: subaccountId });
}

function toEntry(row: Selectable<Tables['statement_entry']>): StoredStatementEntry {
  return {
    subaccountId: row.subaccount_id,
    kind: row.kind,
    refId: row.ref_id,
    amountCents: row.amount_cents,
    balanceAfterCents: row.balance_after_cents,
    createdAt: row.created_at,
  };
}

// ── Payouts ─────────────────────────────────────────────────────────────────────────────────────

export async function selectPayouts(
  sql: Sql,
  tenant: Tenant,
  ids: readonly string[],
): Promise<PayoutRecord[]> {
  const possible = ids.filter((id) => /^sqp_[0-9a-f]{32}$/.test(id));
  if (possible.length === 0) return [];
  const rows = await payoutsOf(sql, tenant).selectAll().where('id', 'in', possible).execute();
  return rows.map(toRecord);
}

const COLUMN = {
  withdrawalId: 'withdrawal_id',
  turboCode: 'turbo_code',
  payoutId: 'payout_id',
  subCode: 'sub_code',
} as const satisfies Record<ReferenceKind, keyof Tables['subaccount_payout']>;

/** By any form of 2.2, of whichever subaccount of the tenant, with the version of the log that it stands for. */
export async function selectByReference(
  sql: Sql,
  tenant: Tenant,
  reference: string,
): Promise<{ version: number; payout: StoredSubaccountPayout } | null> {
  const kind = referenceKind(reference);
  if (kind === null) return null;
  // One statement, and so of one moment.
  const row = await payoutsOf(sql, tenant)
    .innerJoin('stream', (join) =>
      join
        .onRef('stream.account_id', '=', 'subaccount_payout.account_id')
        .onRef('stream.environment', '=', 'subaccount_payout.environment'),
    )
    .selectAll('subaccount_payout')
    .select('stream.version as head')
    .where(`subaccount_payout.${COLUMN[kind]}`, '=', reference)
    .executeTakeFirst();
  return row ? { version: row.head, payout: toRecord(row).payout } : null;
}

export async function listPayouts(
  sql: Sql,
  tenant: Tenant,
  subaccountId: string,
  window: Window,
): Promise<{ place: number; item: StoredSubaccountPayout }[]> {
  if (!isId(subaccountId)) return [];
  const rows = await newest(
    payoutsOf(sql, tenant).selectAll().where('subaccount_id', '=', subaccountId),
    window,
  ).execute();
  return rows.map((row) => ({ place: row.number, item: toRecord(row).payout }));
}

export async function countPayouts(sql: Sql, tenant: Tenant, subaccountId: string): Promise<number> {
  if (!isId(subaccountId)) return 0;
  return countList(sql, tenant, { list: 'subaccount_payout', parent: subaccountId });
}

/** As `listPayouts`, for each of several, all with the same filter: one statement. Each status is read as a list of its own. */
export async function listPayoutsOfEach(
  sql: Sql,
  pages: readonly PageOfOne[],
  status: readonly SubaccountPayoutStatus[] | undefined,
) {
  if (status?.length === 0) return pages.map(() => []);
  const newestWith = (condition: RawBuilder<unknown>) => raw`(
    select * from subaccount_payout
    where account_id = wanted.account_id and environment = wanted.environment
      and subaccount_id = wanted.subaccount_id and number < wanted.before ${condition}
    order by number desc limit wanted.size
  )`;
  const lists = status
    ? [...new Set(status)].map((each) => newestWith(raw`and status = ${each}`))
    : [newestWith(raw``)];
  const { rows } = await raw<Selectable<Tables['subaccount_payout']> & { nth: number }>`
    select page.*, wanted.nth from ${wanted(pages)}
    cross join lateral (${raw.join(lists, raw` union all `)}) page
    order by page.number desc`.execute(sql);
  const found = ofEach(pages, rows, (row) => ({ place: row.number, item: toRecord(row).payout }));
  return found.map((items, nth) => items.slice(0, pages[nth]!.limit));
}

/** As `countPayouts`, for each of several, all with the same filter: one statement. */
export async function countPayoutsOfEach(
  sql: Sql,
  pages: readonly OfOne[],
  status: readonly SubaccountPayoutStatus[] | undefined,
): Promise<number[]> {
  if (status?.length === 0) return pages.map(() => 0);
  return countOfEach(sql, pages, { list: 'subaccount_payout', status });
}

export async function savePayouts(sql: Sql, tenant: Tenant, records: readonly PayoutRecord[]): Promise<void> {
  await sql
    .insertInto('subaccount_payout')
    .values(records.map((record) => toRow(tenant, record)))
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((row) => ({
        version: row.ref('excluded.version'),
        status: row.ref('excluded.status'),
        under_verification: row.ref('excluded.under_verification'),
        withdrawal_id: row.ref('excluded.withdrawal_id'),
        turbo_code: row.ref('excluded.turbo_code'),
        sub_code: row.ref('excluded.sub_code'),
        end_to_end_id: row.ref('excluded.end_to_end_id'),
        recipient_name: row.ref('excluded.recipient_name'),
        recipient_bank_name: row.ref('excluded.recipient_bank_name'),
        failure_reason: row.ref('excluded.failure_reason'),
        completed_at: row.ref('excluded.completed_at'),
        reversed_at: row.ref('excluded.reversed_at'),
      })),
    )
    .execute();
}

function toRecord(row: Selectable<Tables['subaccount_payout']>): PayoutRecord {
  const assembled = row.withdrawal_id !== null;
  const payout: StoredSubaccountPayout = {
    id: row.id,
    version: row.version,
    payoutId: row.payout_id,
    withdrawalId: row.withdrawal_id,
    code: row.sub_code ?? row.turbo_code,
    subaccountId: row.subaccount_id,
    status: row.status,
    reversed: row.reversed_at !== null,
    amountCents: row.amount_cents,
    feeCents: row.fee_cents,
    platformFeeCents: assembled ? row.agreed_fee_cents : null,
    netAmountCents: assembled ? row.amount_cents - row.fee_cents - row.agreed_fee_cents : null,
    pixKey: maskPixKey(row.pix_key),
    endToEndId: row.end_to_end_id,
    recipientName: row.recipient_name,
    recipientBankName: row.recipient_bank_name,
    failureReason: row.failure_reason,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    reversedAt: row.reversed_at,
  };
  return {
    payout,
    destination: row.pix_key,
    agreedFeeCents: row.agreed_fee_cents,
    underVerification: row.under_verification,
    turboCode: row.turbo_code,
  };
}

function toRow(
  tenant: Tenant,
  { payout, destination, agreedFeeCents, underVerification, turboCode }: PayoutRecord,
) {
  return {
    account_id: tenant.accountId,
    environment: tenant.environment,
    id: payout.id,
    subaccount_id: payout.subaccountId,
    version: payout.version,
    payout_id: payout.payoutId,
    status: payout.status,
    under_verification: underVerification,
    withdrawal_id: payout.withdrawalId,
    turbo_code: turboCode,
    sub_code: payout.code === turboCode ? null : payout.code,
    amount_cents: payout.amountCents,
    fee_cents: payout.feeCents,
    agreed_fee_cents: agreedFeeCents,
    pix_key: destination,
    end_to_end_id: payout.endToEndId,
    recipient_name: payout.recipientName,
    recipient_bank_name: payout.recipientBankName,
    failure_reason: payout.failureReason,
    created_at: payout.createdAt,
    completed_at: payout.completedAt,
    reversed_at: payout.reversedAt,
  };
}

// ── Of all three ────────────────────────────────────────────────────────────────────────────────

/** What one subaccount has, of the tenant that it is asked for by. */
export interface OfOne {
  tenant: Tenant;
  subaccountId: string;
}

/** The newest `limit` of it that are older than the number `before`. */
export interface PageOfOne extends OfOne {
  limit: number;
  before?: number | undefined;
}

interface Wanted {
  nth: number;
  account_id: string;
  environment: Environment;
  subaccount_id: string;
  before: number;
  size: number;
}

/** What is asked for, as a table. An id that is none is left out, as above. */
function wanted(pages: readonly (OfOne & Partial<PageOfOne>)[]) {
  const rows = pages.map(
    ({ tenant, subaccountId, before = Number.MAX_SAFE_INTEGER, limit = 0 }, nth): Wanted => ({
      nth,
      account_id: tenant.accountId,
      environment: tenant.environment,
      subaccount_id: subaccountId,
      before,
      size: limit,
    }),
  );
  const possible = JSON.stringify(rows.filter((row) => isId(row.subaccount_id)));
  return raw<Wanted>`jsonb_to_recordset(${possible}::jsonb)`.as<'wanted'>(
    raw`wanted (nth integer, account_id text, environment text, subaccount_id text, before bigint, size integer)`,
  );
}

/** The rows of each, in the order asked. */
function ofEach<Row extends { nth: number }, Item>(
  pages: readonly unknown[],
  rows: readonly Row[],
  toItem: (row: Row) => Item,
): Item[][] {
  const each = pages.map((): Item[] => []);
  for (const row of rows) each[row.nth]!.push(toItem(row));
  return each;
}

function subaccountsOf(sql: Sql, { accountId, environment }: Tenant) {
  return sql
    .selectFrom('subaccount')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment);
}

function entriesOf(sql: Sql, { accountId, environment }: Tenant) {
  return sql
    .selectFrom('statement_entry')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment);
}

function payoutsOf(sql: Sql, { accountId, environment }: Tenant) {
  return sql
    .selectFrom('subaccount_payout')
    .where('subaccount_payout.account_id', '=', accountId)
    .where('subaccount_payout.environment', '=', environment);
}

// biome-ignore lint/suspicious/noExplicitAny: Kysely's builders of several tables share no type that has these
function newest<Query extends Record<'where' | 'orderBy' | 'limit' | 'offset', (...given: any[]) => any>>(
  query: Query,
  { limit, before, offset = 0 }: Window,
): Query {
  const older = before === undefined ? query : query.where('number', '<', before);
  return older.orderBy('number', 'desc').limit(limit).offset(offset);
}

/** How many rows of a list each has: one statement. */
async function countOfEach(
  sql: Sql,
  pages: readonly OfOne[],
  { list, status }: Pick<ListFilter, 'list' | 'status'>,
): Promise<number[]> {
  const rows = await sql
    .selectFrom(wanted(pages))
    .select((of) => [
      'wanted.nth',
      of
        .selectFrom('list_count')
        .select(SUM.as('count'))
        .whereRef('list_count.account_id', '=', 'wanted.account_id')
        .whereRef('list_count.environment', '=', 'wanted.environment')
        .where('list_count.list', '=', list)
        .whereRef('list_count.parent', '=', 'wanted.subaccount_id')
        .$if(status !== undefined, (query) => query.where('list_count.status', 'in', status!))
        .as('count'),
    ])
    .execute();
  return ofEach(pages, rows, ({ count }) => count ?? 0).map(([count]) => count ?? 0);
}
