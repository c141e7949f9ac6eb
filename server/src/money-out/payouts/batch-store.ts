import { sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import { type Columns, changing, fixed, json, type RowsOf, table } from '../../state/db/table.ts';
import { type BatchWait, isBatchId, type PayoutBatch } from './batch.ts';

const columns = {
  batchId: fixed('batch_id'),
  keyId: fixed('key_id'),
  rows: json(changing('payout_rows')),
  rowsHash: fixed('rows_hash'),
  waiting: json(changing('waiting'), waitFromJson),
  createdAt: fixed('created_at'),
  finishedAt: changing('finished_at'),
  canceledAt: changing('canceled_at'),
  cancelReason: changing('cancel_reason'),
  resumedAt: changing('resumed_at'),
} satisfies Columns<PayoutBatch>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    payout_batch: RowsOf<PayoutBatch, typeof columns>;
  }
}

export const batchTable = table<PayoutBatch>('payout_batch', columns, { key: 'batchId', isKey: isBatchId });

/** Reads a wait, whose instant is a text in JSON. */
function waitFromJson(stored: BatchWait): BatchWait {
  return Object.assign(stored, stored.until && { until: new Date(stored.until) });
}

/** Selects the running batch of a tenant, or else the newest. After a step back of the clock a batch that has ended may look newer. */
export async function selectNewestBatch(sql: Sql, tenant: Tenant): Promise<PayoutBatch | null> {
  const row = await ofTenant(sql, 'payout_batch', tenant)
    .selectAll('payout_batch')
    .orderBy(raw`finished_at is null and canceled_at is null`, 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('batch_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? batchTable.fromRow(row) : null;
}

/** Counts the batches of a tenant that were confirmed at an instant or later. */
export async function countBatches(sql: Sql, tenant: Tenant, since: Date): Promise<number> {
  const row = await ofTenant(sql, 'payout_batch', tenant)
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('created_at', '>=', since)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** The instant at which the newest batch with the same rows was confirmed. */
export async function selectSameRows(sql: Sql, tenant: Tenant, rowsHash: string): Promise<Date | null> {
  const row = await ofTenant(sql, 'payout_batch', tenant)
    .select('created_at')
    .where('rows_hash', '=', rowsHash)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.created_at ?? null;
}
