import type { Sql } from '../db/database.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { RecordedOutput } from './decisions.ts';

/** The outputs of one payment. */
export interface OutputsOf {
  paymentId: string;
  outputs: readonly RecordedOutput[];
}

export async function selectOutputs(
  sql: Sql,
  tenant: Tenant,
  paymentIds: readonly string[],
): Promise<OutputsOf[]> {
  const rows = await sql
    .selectFrom('ltc_output')
    .selectAll()
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .where('payment_id', 'in', paymentIds)
    .orderBy('seen_at')
    .orderBy('txid')
    .orderBy('vout')
    .execute();
  return paymentIds.map((paymentId) => ({
    paymentId,
    outputs: rows
      .filter((row) => row.payment_id === paymentId)
      .map((row) => ({
        txid: row.txid,
        vout: row.vout,
        litoshi: row.litoshi,
        seenAt: row.seen_at,
        confirmations: row.confirmations,
        state: row.state,
        postings: row.postings,
      })),
  }));
}

export async function saveOutputs(sql: Sql, tenant: Tenant, payments: readonly OutputsOf[]): Promise<void> {
  const rows = payments.flatMap(({ paymentId, outputs }) =>
    outputs.map((output) => ({
      account_id: tenant.accountId,
      environment: tenant.environment,
      payment_id: paymentId,
      txid: output.txid,
      vout: output.vout,
      litoshi: output.litoshi,
      seen_at: output.seenAt,
      confirmations: output.confirmations,
      state: output.state,
      postings: output.postings,
    })),
  );
  if (rows.length === 0) return;
  await sql
    .insertInto('ltc_output')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['txid', 'vout']).doUpdateSet((row) => ({
        confirmations: row.ref('excluded.confirmations'),
        state: row.ref('excluded.state'),
        postings: row.ref('excluded.postings'),
      })),
    )
    .execute();
}
