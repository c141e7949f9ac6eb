import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { headOf } from '../../state/db/head.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import { type Columns, changing, fixed, type Listed, type RowsOf, table } from '../../state/db/table.ts';
import {
  isVoucherId,
  type StoredVoucher,
  VOUCHER_STATUSES,
  type VoucherFilter,
  voucherConditions,
} from './model.ts';

const columns = {
  voucherId: fixed('id'),
  version: changing('version'),
  status: changing('status'),
  amountCents: fixed('amount_cents'),
  description: fixed('description'),
  createdAt: fixed('created_at'),
  paidAt: changing('paid_at'),
} satisfies Columns<StoredVoucher>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    voucher: RowsOf<StoredVoucher, typeof columns> & Listed;
  }
}

declare module '../../state/db/lists.ts' {
  interface CountedLists {
    voucher: true;
  }
}

export const voucherTable = table<StoredVoucher>('voucher', columns, {
  key: 'voucherId',
  isKey: isVoucherId,
});

const conditionsOf = listConditions(voucherConditions, {
  columns: voucherTable.columns,
  lists: { status: VOUCHER_STATUSES },
});

export async function selectVoucherAndVersion(sql: Sql, tenant: Tenant, voucherId: string) {
  if (!isVoucherId(voucherId)) return null;
  const row = await ofTenant(sql, 'voucher', tenant)
    .selectAll('voucher')
    .select(headOf(tenant).as('head'))
    .where('voucher.id', '=', voucherId)
    .executeTakeFirst();
  return row ? { version: row.head, resource: voucherTable.fromRow(row) } : null;
}

export async function listVouchers(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset, after, before, ...filter }: ListRange & VoucherFilter & { offset?: number },
): Promise<{ position: number; resource: StoredVoucher }[]> {
  const range = { end, limit, offset, after, before };
  const rows = await selectFiltered<{ number: number }>(sql, tenant, 'voucher', conditionsOf(filter), range);
  return rows.map((row) => ({ position: row.number, resource: voucherTable.fromRow(row) }));
}

export function countVouchers(sql: Sql, tenant: Tenant, filter: VoucherFilter): Promise<number> {
  return countFiltered(sql, tenant, 'voucher', conditionsOf(filter), { status: filter.status });
}
