import { sql as raw, type Selectable } from 'kysely';
import type { Sql } from '../../state/db/database.ts';
import {
  isOfWanted,
  numberedKeys,
  type TenantKey,
  type TenantRecord,
  tenantArrays,
} from '../../state/db/each-tenant.ts';
import type { Tables } from '../../state/db/tables.ts';
import type { RecordedOutput } from './decisions.ts';

/** The outputs of one payment. */
export interface OutputsOf {
  paymentId: string;
  outputs: readonly RecordedOutput[];
}

export async function selectOutputs(
  sql: Sql,
  payments: readonly TenantKey[],
): Promise<TenantRecord<OutputsOf>[]> {
  const { rows } = await raw<Selectable<Tables['ltc_output']> & { nth: number }>`
    select found.*, wanted.nth
    from ${numberedKeys(payments)}
    join ltc_output found on ${isOfWanted('found')} and found.payment_id = wanted.key
    order by found.seen_at, found.txid, found.vout`.execute(sql);
  const found = payments.map((): RecordedOutput[] => []);
  for (const { nth, txid, vout, litoshi, seen_at: seenAt, confirmations, state, postings } of rows)
    found[nth - 1]!.push({ txid, vout, litoshi, seenAt, confirmations, state, postings });
  return payments.map(({ tenant, key }, index) => ({
    tenant,
    record: { paymentId: key, outputs: found[index]! },
  }));
}

/** Saves the outputs that are new or have changed: a payment may have thousands of others. */
export async function saveOutputs(sql: Sql, payments: readonly TenantRecord<OutputsOf>[]): Promise<void> {
  const all = payments.flatMap(({ tenant, record: { paymentId, outputs } }) =>
    outputs.map((output) => ({ ...output, tenant, paymentId })),
  );
  if (all.length === 0) return;
  await raw`
    insert into ltc_output (account_id, environment, payment_id, txid, vout, litoshi, seen_at, confirmations, state, postings)
    select * from unnest(
      ${tenantArrays(all)},
      ${all.map(({ paymentId }) => paymentId)}::text[],
      ${all.map(({ txid }) => txid)}::text[],
      ${all.map(({ vout }) => vout)}::integer[],
      ${all.map(({ litoshi }) => litoshi)}::bigint[],
      ${all.map(({ seenAt }) => seenAt)}::timestamptz[],
      ${all.map(({ confirmations }) => confirmations)}::integer[],
      ${all.map(({ state }) => state)}::text[],
      ${all.map(({ postings }) => postings)}::integer[]
    )
    on conflict (txid, vout) do update
    set confirmations = excluded.confirmations, state = excluded.state, postings = excluded.postings
    where (ltc_output.confirmations, ltc_output.state, ltc_output.postings)
      <> (excluded.confirmations, excluded.state, excluded.postings)
  `.execute(sql);
}
