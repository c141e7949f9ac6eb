import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import {
  type Columns,
  changing,
  fixed,
  group,
  json,
  type Listed,
  type RowsOf,
  table,
} from '../../state/db/table.ts';
import { fileFromJson } from './files.ts';
import {
  DISPUTE_STATUSES,
  type DisputedType,
  type DisputeFilter,
  type DisputeRange,
  disputeConditions,
  evidenceDueAfter,
  evidenceFromJson,
  isDisputeId,
  type Shortfalls,
  type StoredDispute,
} from './model.ts';

/** The members that only another service's disputes have. */
type ShownElsewhere = 'lastStatus';

const columns = {
  disputeId: fixed('id'),
  version: changing('version'),
  amountCents: changing('amount_cents'),
  resource: group('type', { type: fixed('resource'), id: fixed('resource_id') }),
  reason: fixed('reason'),
  status: changing('status'),
  evidence: json(changing('evidence'), (evidence: unknown[]) => evidence.map(evidenceFromJson)),
  files: json(changing('files'), (files: unknown[]) => files.map(fileFromJson)),
  evidenceDueAt: fixed('evidence_due_at'),
  createdAt: fixed('created_at'),
  closedAt: changing('closed_at'),
  acceptedAt: changing('accepted_at'),
} satisfies Columns<Omit<StoredDispute, ShownElsewhere>>;

const shortfallColumns = {
  type: fixed('resource'),
  id: fixed('resource_id'),
  claims: json(changing('claims')),
} satisfies Columns<Shortfalls>;

/** The column of the version before, which knows disputes of card payments alone. */
interface OrderCode {
  order_code: string | null;
}

declare module '../../state/db/tables.ts' {
  interface Tables {
    dispute: RowsOf<StoredDispute, typeof columns> & Listed & OrderCode;
    dispute_shortfall: RowsOf<Shortfalls, typeof shortfallColumns>;
  }
}

export const disputeTable = table<StoredDispute, ShownElsewhere>('dispute', columns, {
  key: 'disputeId',
  isKey: isDisputeId,
  own: ({ resource }): OrderCode => ({ order_code: resource?.type === 'card_payment' ? resource.id : null }),
  // A row of the version before names its card payment alone, and has no end of the time for evidence.
  complete(dispute, { order_code }: OrderCode) {
    if (order_code !== null) dispute.resource ??= { type: 'card_payment', id: order_code };
    dispute.evidenceDueAt ??= evidenceDueAfter(dispute.createdAt);
    return dispute;
  },
});

/** The shortfalls of claims, by the claimed resource. */
export const shortfallTable = table<Shortfalls, never, 'type' | 'id'>('dispute_shortfall', shortfallColumns, {
  key: { type: 'text', id: 'text' },
  unique: ['account_id', 'environment', 'resource', 'resource_id'],
});

/** Selects the disputes of resources of one type, oldest first. */
export async function selectDisputesOf(
  sql: Sql,
  tenant: Tenant,
  { type, ids }: { type: DisputedType; ids: readonly string[] },
): Promise<StoredDispute[]> {
  if (ids.length === 0) return [];
  const rows = await ofTenant(sql, 'dispute', tenant)
    .selectAll()
    .where('resource', '=', type)
    .where('resource_id', 'in', ids)
    .orderBy('number')
    .execute();
  return rows.map(disputeTable.fromRow);
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listDisputes(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset, after, before, ...filter }: DisputeRange & { offset?: number },
): Promise<{ position: number; resource: StoredDispute }[]> {
  const rows = await selectFiltered<{ number: number }>(sql, tenant, 'dispute', conditionsOf(filter), {
    end,
    limit,
    offset,
    after,
    before,
  });
  return rows.map((row) => ({ position: row.number, resource: disputeTable.fromRow(row) }));
}

export function countDisputes(sql: Sql, tenant: Tenant, filter: DisputeFilter): Promise<number> {
  const { status } = filter;
  return countFiltered(sql, tenant, 'dispute', conditionsOf(filter), { status });
}

const conditionsOf = listConditions(disputeConditions, {
  columns: disputeTable.columns,
  lists: { status: DISPUTE_STATUSES },
});
