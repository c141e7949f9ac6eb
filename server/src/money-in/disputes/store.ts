import { sql as raw, type Selectable } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { headOf } from '../../state/db/head.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
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

/** The columns of the members that the filter compares. */
const COLUMNS = {
  ...{ status: 'status', createdAt: 'created_at', closedAt: 'closed_at' },
};

const conditionsOf = (filter: DisputeFilter) =>
  listConditions(disputeConditions, filter, {
    columns: COLUMNS,
    lists: { status: DISPUTE_STATUSES },
  });

export async function saveDisputes(
  sql: Sql,
  tenant: Tenant,
  disputes: readonly StoredDispute[],
): Promise<void> {
  await sql
    .insertInto('dispute')
    .values(
      disputes.map((dispute) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        id: dispute.disputeId,
        version: dispute.version,
        amount_cents: dispute.amountCents,
        // For the version before, which knows disputes of card payments alone.
        order_code: dispute.resource?.type === 'card_payment' ? dispute.resource.id : null,
        resource: dispute.resource?.type ?? null,
        resource_id: dispute.resource?.id ?? null,
        reason: dispute.reason,
        status: dispute.status,
        evidence: JSON.stringify(dispute.evidence),
        evidence_due_at: dispute.evidenceDueAt,
        created_at: dispute.createdAt,
        closed_at: dispute.closedAt,
        accepted_at: dispute.acceptedAt,
      })),
    )
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((row) => ({
        version: row.ref('excluded.version'),
        amount_cents: row.ref('excluded.amount_cents'),
        status: row.ref('excluded.status'),
        evidence: row.ref('excluded.evidence'),
        closed_at: row.ref('excluded.closed_at'),
        accepted_at: row.ref('excluded.accepted_at'),
      })),
    )
    .execute();
}

/** Selects what claims on resources lack. */
export async function selectShortfalls(
  sql: Sql,
  tenant: Tenant,
  resources: readonly DisputedResource[],
): Promise<Shortfalls[]> {
  // An id of a request may be any text.
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

function toDispute(row: Selectable<Tables['dispute']>): StoredDispute {
  return {
    disputeId: row.id,
    version: row.version,
    status: row.status,
    reason: row.reason,
    resource: namedBy(row),
    amountCents: row.amount_cents,
    evidence: row.evidence.map(evidenceFromJson),
    evidenceDueAt: row.evidence_due_at ?? evidenceDueAfter(row.created_at),
    createdAt: row.created_at,
    closedAt: row.closed_at,
    acceptedAt: row.accepted_at,
  };
}

/** The resource that a row disputes. A row of the version before names its card payment alone. */
function namedBy({
  resource,
  resource_id: id,
  order_code: orderCode,
}: Selectable<Tables['dispute']>): StoredDispute['resource'] {
  if (resource !== null && id !== null) return { type: resource as DisputedType, id };
  return orderCode === null ? null : { type: 'card_payment', id: orderCode };
}
