import { sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
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
  const rows = await ofTenant(sql, 'ltc_output', tenant)
    .selectAll()
    .where('payment_id', 'in', paymentIds)
    .orderBy('seen_at')
    .orderBy('txid')
    .orderBy('vout')
    .execute();
  const found = new Map<string, RecordedOutput[]>(paymentIds.map((paymentId) => [paymentId, []]));
  for (const { txid, vout, litoshi, seen_at: seenAt, confirmations, state, postings, payment_id: id } of rows)
    found.get(id)!.push({ txid, vout, litoshi, seenAt, confirmations, state, postings });
  return [...found].map(([paymentId, outputs]) => ({ paymentId, outputs }));
}

/** Saves the outputs that are new or have changed: a payment may have thousands of others. */
export async function saveOutputs(sql: Sql, tenant: Tenant, payments: readonly OutputsOf[]): Promise<void> {
  const all = payments.flatMap(({ paymentId, outputs }) =>
    outputs.map((output) => ({ ...output, paymentId })),
  );
  if (all.length === 0) return;
  await raw`
    insert into ltc_output (account_id, environment, payment_id, txid, vout, litoshi, seen_at, confirmations, state, postings)
    select ${tenant.accountId}::text, ${tenant.environment}::text, o.*
    from unnest(
      ${all.map(({ paymentId }) => paymentId)}::text[],
      ${all.map(({ txid }) => txid)}::text[],
      ${all.map(({ vout }) => vout)}::integer[],
      ${all.map(({ litoshi }) => litoshi)}::bigint[],
      ${all.map(({ seenAt }) => seenAt)}::timestamptz[],
      ${all.map(({ confirmations }) => confirmations)}::integer[],
      ${all.map(({ state }) => state)}::text[],
      ${all.map(({ postings }) => postings)}::integer[]
    ) o
    on conflict (txid, vout) do update
    set confirmations = excluded.confirmations, state = excluded.state, postings = excluded.postings
    where (ltc_output.confirmations, ltc_output.state, ltc_output.postings)
      <> (excluded.confirmations, excluded.state, excluded.postings)
  `.execute(sql);
}
