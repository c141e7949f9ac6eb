import { sql as raw, type Selectable } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { headOf } from '../../state/db/head.ts';
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
import type { Tables } from '../../state/db/tables.ts';
import {
  DISPUTE_STATUSES,
  type DisputedResource,
  type DisputedType,
  type DisputeFilter,
  type DisputeRange,
  disputeConditions,
  evidenceDueAfter,
  evidenceFromJson,
  isDisputeId,
  type Shortfall,
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
  evidenceDueAt: fixed('evidence_due_at'),
  createdAt: fixed('created_at'),
  closedAt: changing('closed_at'),
  acceptedAt: changing('accepted_at'),
} satisfies Columns<Omit<StoredDispute, ShownElsewhere>>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    dispute: RowsOf<StoredDispute, typeof columns> & Listed & { order_code: string | null };
  }
}

const disputes = table<StoredDispute, ShownElsewhere>('dispute', columns, {
  key: 'disputeId',
  isKey: isDisputeId,
  // The version before knows disputes of card payments alone, and reads this column.
  own: ({ resource }) => ({ order_code: resource?.type === 'card_payment' ? resource.id : null }),
});

// A text that is no id is not queried: it is in no row, and Postgres rejects one with U+0000.

export async function selectDisputes(
  sql: Sql,
  tenant: Tenant,
  disputeIds: readonly string[],
): Promise<StoredDispute[]> {
  const possible = disputeIds.filter(isDisputeId);
  if (possible.length === 0) return [];
  const rows = await ofTenant(sql, 'dispute', tenant).selectAll().where('id', 'in', possible).execute();
  return rows.map(toDispute);
}

/** Selects a dispute with the version of the tenant's log at which its state holds. */
export async function selectDisputeAndVersion(
  sql: Sql,
  tenant: Tenant,
  disputeId: string,
): Promise<{ version: number; resource: StoredDispute } | null> {
  if (!isDisputeId(disputeId)) return null;
  const row = await ofTenant(sql, 'dispute', tenant)
    .selectAll('dispute')
    .select(headOf(tenant).as('head'))
    .where('dispute.id', '=', disputeId)
    .executeTakeFirst();
  return row ? { version: row.head, resource: toDispute(row) } : null;
}

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
  return rows.map(toDispute);
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listDisputes(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset, after, before, ...filter }: DisputeRange & { offset?: number },
): Promise<{ place: number; resource: StoredDispute }[]> {
  const rows = await selectFiltered<Selectable<Tables['dispute']>>(
    sql,
    tenant,
    'dispute',
    conditionsOf(filter),
    { end, limit, offset, after, before },
  );
  return rows.map((row) => ({ place: row.number, resource: toDispute(row) }));
}

export function countDisputes(sql: Sql, tenant: Tenant, filter: DisputeFilter): Promise<number> {
  const { status } = filter;
  return countFiltered(sql, tenant, 'dispute', conditionsOf(filter), { status });
}

const conditionsOf = listConditions(disputeConditions, {
  columns: disputes.columns,
  lists: { status: DISPUTE_STATUSES },
});

export const saveDisputes = disputes.save;

/** Selects the shortfalls of claims on resources. */
export async function selectShortfalls(
  sql: Sql,
  tenant: Tenant,
  resources: readonly DisputedResource[],
): Promise<Shortfalls[]> {
  // The id in a request may be any text.
  const possible = resources.filter(({ id }) => !id.includes('\u0000'));
  const { rows } = await raw<{ resource: DisputedType; resource_id: string; claims: Shortfall[] }>`
    select s.resource, s.resource_id, s.claims
    from dispute_shortfall s join unnest(
      ${possible.map(({ type }) => type)}::text[], ${possible.map(({ id }) => id)}::text[]
    ) t (resource, resource_id) on s.resource = t.resource and s.resource_id = t.resource_id
    where s.account_id = ${tenant.accountId} and s.environment = ${tenant.environment}
  `.execute(sql);
  return rows.map(({ resource: type, resource_id: id, claims }) => ({ resource: { type, id }, claims }));
}

export async function saveShortfalls(sql: Sql, tenant: Tenant, all: readonly Shortfalls[]): Promise<void> {
  await sql
    .insertInto('dispute_shortfall')
    .values(
      all.map(({ resource, claims }) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        resource: resource.type,
        resource_id: resource.id,
        claims: JSON.stringify(claims),
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'environment', 'resource', 'resource_id'])
        .doUpdateSet((row) => ({ claims: row.ref('excluded.claims') })),
    )
    .execute();
}

/** A row of the version before names its card payment alone, and has no end of the time for evidence. */
function toDispute(row: Selectable<Tables['dispute']>): StoredDispute {
  const dispute = disputes.fromRow(row);
  if (row.order_code !== null) dispute.resource ??= { type: 'card_payment', id: row.order_code };
  dispute.evidenceDueAt ??= evidenceDueAfter(dispute.createdAt);
  return dispute;
}
