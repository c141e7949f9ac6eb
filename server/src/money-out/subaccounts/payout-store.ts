import { type RawBuilder, sql as raw, type Selectable } from 'kysely';
import { type ListRange, withoutExtra } from '../../kernel/list-range.ts';
import { kindOfPixKey, maskPixKey } from '../../kernel/pix-key.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import type { Sql } from '../../state/db/database.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { headOf } from '../../state/db/head.ts';
import { countList, sizeOfPage } from '../../state/db/lists.ts';
import type { Tables } from '../../state/db/tables.ts';
import { selectTotals } from '../../state/db/totals.ts';
import {
  type PayoutRecord,
  type StoredSubaccountPayout,
  SUBACCOUNT_PAYOUT_STATUSES,
  type SubaccountPayoutFilter,
  type SubaccountPayoutPeriods,
  type SubaccountPayoutStatus,
  subaccountPayoutConditions,
} from './model.ts';
import { type ReferenceKind, referenceKind } from './names.ts';
import {
  countEachList,
  groupByList,
  isId,
  newest,
  requestedLists,
  type SubaccountList,
  type SubaccountListPage,
  type Window,
} from './store.ts';

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

/** Finds a payout of any of the tenant's subaccounts by any form of 2.2, with the version of the tenant's log. */
export async function selectByReference(
  sql: Sql,
  tenant: Tenant,
  reference: string,
): Promise<{ version: number; payout: StoredSubaccountPayout } | null> {
  const kind = referenceKind(reference);
  if (kind === null) return null;
  // One statement, so the payout and the version are of one snapshot.
  const row = await payoutsOf(sql, tenant)
    .selectAll('subaccount_payout')
    .select(headOf(tenant).as('head'))
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
  const { rows } = await raw<Selectable<Tables['subaccount_payout']> & { nth: number }>`
    select page.*, wanted.nth from ${requestedLists(pages)}
    cross join lateral (${raw.join(lists, raw` union all `)}) page
    order by page.number desc`.execute(sql);
  const found = groupByList(pages, rows, (row) => ({ place: row.number, item: toRecord(row).payout }));
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
  range: ListRange,
): Promise<{ place: number; item: StoredSubaccountPayout }[]> {
  if (!isId(subaccountId)) return [];
  const rows = await selectFiltered<Selectable<Tables['subaccount_payout']>>(
    ...([sql, tenant, 'subaccount_payout', conditionsOf(filter), range] as const),
    [raw<boolean>`subaccount_id = ${subaccountId}`],
  );
  return rows.map((row) => ({ place: row.number, item: toRecord(row).payout }));
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
  filter: SubaccountPayoutPeriods,
  groupBy: readonly TotalsGrouping[],
): Promise<Totals> {
  return selectTotals(sql, tenant, 'subaccount_payout', conditionsOf(filter), groupBy);
}

/** The columns of the members that the filter compares. */
const COLUMNS = {
  ...{ status: 'status', createdAt: 'created_at', completedAt: 'completed_at', reversedAt: 'reversed_at' },
  ...{ externalId: 'external_id', amountCents: 'amount_cents' },
  ...{ payoutId: 'payout_id', withdrawalId: 'withdrawal_id', endToEndId: 'end_to_end_id' },
  // A code has one of two columns, which depends on when it was given; both are names.
  ...{ code: 'turbo_code', formerCode: 'sub_code' },
};

const conditionsOf = listConditions(subaccountPayoutConditions, {
  columns: COLUMNS,
  lists: { status: SUBACCOUNT_PAYOUT_STATUSES },
});

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
  const isAssembled = row.withdrawal_id !== null;
  const payout: StoredSubaccountPayout = {
    id: row.id,
    version: row.version,
    payoutId: row.payout_id,
    withdrawalId: row.withdrawal_id,
    code: row.sub_code ?? row.turbo_code,
    ...(row.sub_code !== null && row.turbo_code !== null && { formerCode: row.turbo_code }),
    subaccountId: row.subaccount_id,
    status: row.status,
    reversed: row.reversed_at !== null,
    amountCents: row.amount_cents,
    feeCents: row.fee_cents,
    platformFeeCents: isAssembled ? row.agreed_fee_cents : null,
    netAmountCents: isAssembled ? row.amount_cents - row.fee_cents - row.agreed_fee_cents : null,
    pixKey: maskPixKey(row.pix_key),
    endToEndId: row.end_to_end_id,
    recipientName: row.recipient_name,
    recipientBankName: row.recipient_bank_name,
    failureReason: row.failure_reason,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    reversedAt: row.reversed_at,
    externalId: row.external_id,
    destinationKind: kindOfPixKey(row.pix_key),
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
    external_id: payout.externalId,
  };
}

function payoutsOf(sql: Sql, { accountId, environment }: Tenant) {
  return sql
    .selectFrom('subaccount_payout')
    .where('subaccount_payout.account_id', '=', accountId)
    .where('subaccount_payout.environment', '=', environment);
}
