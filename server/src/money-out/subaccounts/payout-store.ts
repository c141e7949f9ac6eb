import { type RawBuilder, sql as raw } from 'kysely';
import { type ListRange, withoutExtra } from '../../kernel/list-range.ts';
import { kindOfPixKey, maskPixKey } from '../../kernel/pix-key.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import type { Sql } from '../../state/db/database.ts';
import type { TenantKey, TenantRecord } from '../../state/db/each-tenant.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { headOf } from '../../state/db/head.ts';
import { sizeOfPage } from '../../state/db/lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import {
  type Columns,
  changing,
  copyOf,
  fixed,
  type Listed,
  type RowsOf,
  table,
} from '../../state/db/table.ts';
import type { Tables } from '../../state/db/tables.ts';
import { selectTotals } from '../../state/db/totals.ts';
import {
  type PayoutRecord,
  type StoredSubaccountPayout,
  SUBACCOUNT_PAYOUT_STATUSES,
  type SubaccountPayoutFilter,
  type SubaccountPayoutStatus,
  subaccountPayoutConditions,
} from './model.ts';
import { type ReferenceKind, referenceKind } from './names.ts';
import {
  countEachList,
  groupByList,
  isId,
  requestedLists,
  type SubaccountList,
  type SubaccountListPage,
} from './store.ts';

/** The members that follow from the others. */
type Derived =
  | ('reversed' | 'platformFeeCents' | 'netAmountCents' | 'pixKey' | 'destinationKind')
  | ('code' | 'formerCode');

/** The members that only another service's payouts have. */
type ShownElsewhere = 'formerId' | 'inDoubt' | 'neverMade' | 'claimedAt';

/** The members of a payout that its row has as they are. */
type Shown = Omit<StoredSubaccountPayout, Derived | ShownElsewhere>;

interface Kept extends Shown, Omit<PayoutRecord, 'payout'> {
  subCode: string | null;
}

const shownColumns = {
  id: fixed('id'),
  subaccountId: fixed('subaccount_id'),
  version: changing('version'),
  payoutId: fixed('payout_id'),
  status: changing('status'),
  withdrawalId: changing('withdrawal_id'),
  amountCents: fixed('amount_cents'),
  feeCents: fixed('fee_cents'),
  endToEndId: changing('end_to_end_id'),
  recipientName: changing('recipient_name'),
  recipientBankName: changing('recipient_bank_name'),
  failureReason: changing('failure_reason'),
  createdAt: fixed('created_at'),
  completedAt: changing('completed_at'),
  reversedAt: changing('reversed_at'),
  externalId: fixed('external_id'),
} satisfies Columns<Shown>;

const columns = {
  ...shownColumns,
  destination: fixed('pix_key'),
  agreedFeeCents: fixed('agreed_fee_cents'),
  underVerification: changing('under_verification'),
  turboCode: changing('turbo_code'),
  subCode: changing('sub_code'),
} satisfies Columns<Kept>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    subaccount_payout: RowsOf<Kept, typeof columns> & Listed;
  }
}

const kept = table<Kept>('subaccount_payout', columns, {
  key: 'id',
  isKey: (id) => /^sqp_[0-9a-f]{32}$/.test(id),
});

export async function selectPayouts(
  sql: Sql,
  ids: readonly TenantKey[],
): Promise<TenantRecord<PayoutRecord>[]> {
  const found = await kept.loadEach(sql, ids);
  return found.map(({ tenant, record }) => ({ tenant, record: toRecord(record) }));
}

const COLUMN = {
  withdrawalId: 'withdrawal_id',
  turboCode: 'turbo_code',
  payoutId: 'payout_id',
  subCode: 'sub_code',
} as const satisfies Record<ReferenceKind, keyof Tables['subaccount_payout']>;

/** Finds a payout of any of the tenant's subaccounts by any form of 2.2, with the version of the tenant's log. */
export async function selectByReference(
  sql: Sql,
  tenant: Tenant,
  reference: string,
): Promise<{ version: number; payout: StoredSubaccountPayout } | null> {
  const kind = referenceKind(reference);
  if (kind === null) return null;
  // One statement, so the payout and the version are of one snapshot.
  const row = await ofTenant(sql, 'subaccount_payout', tenant)
    .selectAll('subaccount_payout')
    .select(headOf(tenant).as('head'))
    .where(`subaccount_payout.${COLUMN[kind]}`, '=', reference)
    .executeTakeFirst();
  return row ? { version: row.head, payout: toRecord(kept.fromRow(row)).payout } : null;
}

/**
 * Lists the first or the last payouts of each of several subaccounts, all with the same filter, in one statement. Each
 * status is read as a list of its own.
 */
export async function listPayoutsOfEach(
  sql: Sql,
  pages: readonly SubaccountListPage[],
  { end = 'first', status }: PayoutsOfEach,
) {
  if (status?.length === 0) return pages.map(() => []);
  const partWith = (condition: RawBuilder<unknown>) => raw`(
    select * from subaccount_payout
    where account_id = wanted.account_id and environment = wanted.environment
      and subaccount_id = wanted.subaccount_id and number < wanted.after and number > wanted.before ${condition}
    order by number ${raw.raw(end === 'first' ? 'desc' : 'asc')} limit ${sizeOfPage(raw`wanted.size`)}
  )`;
  const lists = status
    ? [...new Set(status)].map((each) => partWith(raw`and status = ${each}`))
    : [partWith(raw``)];
  const { rows } = await raw<{ number: number; nth: number }>`
    select page.*, wanted.nth from ${requestedLists(pages)}
    cross join lateral (${raw.join(lists, raw` union all `)}) page
    order by page.number desc`.execute(sql);
  const found = groupByList(pages, rows, (row) => ({
    position: row.number,
    item: toRecord(kept.fromRow(row)).payout,
  }));
  return found.map((items, nth) => withoutExtra(items, { end, limit: pages[nth]!.limit }).items);
}

interface PayoutsOfEach {
  end?: ListRange['end'];
  status?: readonly SubaccountPayoutStatus[] | undefined;
}

/** Counts the payouts of each of several subaccounts, all with the same filter, in one statement. */
export async function countPayoutsOfEach(
  sql: Sql,
  pages: readonly SubaccountList[],
  { status }: Pick<PayoutsOfEach, 'status'>,
): Promise<number[]> {
  if (status?.length === 0) return pages.map(() => 0);
  return countEachList(sql, pages, { list: 'subaccount_payout', status });
}

/** Lists the payouts of one subaccount that a filter selects, in the order of the last instant that it restricts. */
export async function listFilteredPayouts(
  sql: Sql,
  tenant: Tenant,
  subaccountId: string,
  filter: SubaccountPayoutFilter,
  range: ListRange & { offset?: number },
): Promise<{ position: number; item: StoredSubaccountPayout }[]> {
  if (!isId(subaccountId)) return [];
  const rows = await selectFiltered<{ number: number }>(
    ...([sql, tenant, 'subaccount_payout', conditionsOf(filter), range] as const),
    [raw<boolean>`subaccount_id = ${subaccountId}`],
  );
  return rows.map((row) => ({ position: row.number, item: toRecord(kept.fromRow(row)).payout }));
}

/** Counts the payouts of one subaccount that a filter selects, by more than the status. */
export async function countFilteredPayouts(
  sql: Sql,
  tenant: Tenant,
  subaccountId: string,
  filter: SubaccountPayoutFilter,
): Promise<number> {
  if (!isId(subaccountId)) return 0;
  return countFiltered(sql, tenant, 'subaccount_payout', conditionsOf(filter), filter, [
    raw<boolean>`subaccount_id = ${subaccountId}`,
  ]);
}

/**
 * Adds up the payouts of all subaccounts. No list has an index of them all; totals by whole hours need none.
 */
export function totalsOfPayouts(
  sql: Sql,
  tenant: Tenant,
  filter: SubaccountPayoutFilter,
  groupBy: readonly TotalsGrouping[],
): Promise<Totals> {
  return selectTotals(sql, tenant, 'subaccount_payout', conditionsOf(filter), groupBy);
}

const conditionsOf = listConditions(subaccountPayoutConditions, {
  // A code has one of two columns, which depends on when it was given; both are names.
  columns: { ...kept.columns, code: kept.columns.turboCode, formerCode: kept.columns.subCode },
  lists: { status: SUBACCOUNT_PAYOUT_STATUSES },
});

export async function savePayouts(sql: Sql, records: readonly TenantRecord<PayoutRecord>[]): Promise<void> {
  await kept.saveEach(
    sql,
    records.map(({ tenant, record: { payout, turboCode, ...own } }) => ({
      tenant,
      record: {
        ...payout,
        ...own,
        turboCode,
        subCode: payout.code === turboCode ? null : payout.code,
      },
    })),
  );
}

const copyShown = copyOf<Shown>(shownColumns);

function toRecord(stored: Kept): PayoutRecord {
  const { destination, agreedFeeCents, underVerification, turboCode, subCode } = stored;
  const { amountCents, feeCents } = stored;
  const isAssembled = stored.withdrawalId !== null;
  const payout: StoredSubaccountPayout = Object.assign(copyShown(stored), {
    code: subCode ?? turboCode,
    ...(subCode !== null && turboCode !== null && { formerCode: turboCode }),
    reversed: stored.reversedAt !== null,
    platformFeeCents: isAssembled ? agreedFeeCents : null,
    netAmountCents: isAssembled ? amountCents - feeCents - agreedFeeCents : null,
    pixKey: maskPixKey(destination),
    destinationKind: kindOfPixKey(destination),
  });
  return { payout, destination, agreedFeeCents, underVerification, turboCode };
}
