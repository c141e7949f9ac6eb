import { z } from 'zod';
import { parseInput, readObject } from '../../api/http/json-input.ts';
import type { RequestContext, Route } from '../../api/http/routes.ts';
import type { SameOrigin } from '../../api/http/same-origin.ts';
import { instantText } from '../../kernel/instant.ts';
import { idempotencyKeyText } from '../../kernel/text.ts';
import {
  batchIdText,
  MAX_ROWS,
  type PayoutBatchService,
  type PayoutBatchState,
  statusOfBatch,
} from '../../money-out/payouts/batch.ts';
import { type PayoutService, requestPayoutFields, withDestination } from '../../money-out/payouts/model.ts';
import { type Actions, confirmed } from './actions.ts';

/** The operations of the console that pay money out. */
export interface PayoutOperations {
  payouts: Pick<PayoutService, 'request'>;
  payoutBatches: PayoutBatchService;
}

const noInput = z.object({});
const termsInput = requestPayoutFields.omit({ idempotencyKey: true }).transform(withDestination);
const payoutInput = requestPayoutFields
  .extend({ ...confirmed, idempotencyKey: idempotencyKeyText })
  .transform(withDestination);
/** The rows of a batch are read one by one, so that each mistake names its row. */
const rows = z
  .array(z.unknown())
  .min(1, 'must have a row')
  .max(MAX_ROWS, `must have at most ${MAX_ROWS} rows`);
const checkInput = z.object({ rows });
const batchInput = z.object({
  ...confirmed,
  rows,
  confirmedBefore: instantText.nullable().default(null),
  paidBefore: z
    .array(z.string().max(128, 'must be a payout’s id'))
    .max(MAX_ROWS, `must name at most ${MAX_ROWS} payouts`)
    .default([]),
  idempotencyKey: idempotencyKeyText,
});
const cancelInput = z.object({ batchId: batchIdText });
const resumeInput = z.object({ ...confirmed, batchId: batchIdText });
const BATCH_LIMIT_BYTES = 512 * 1024;

/** The routes that request payouts, one or many. Each needs an unrestricted key; what pays asks for the key of the session again. */
export function createPayoutRoutes({
  operations,
  sameOrigin: { action, post },
  actions: { admit, admitWithKey, recorded },
}: {
  operations: () => PayoutOperations;
  sameOrigin: SameOrigin;
  actions: Actions;
}): Route[] {
  /** Reads a body with the rows of a batch, which may be larger than others. */
  async function readRows<Schema extends z.ZodType>(
    { request }: RequestContext,
    schema: Schema,
  ): Promise<z.output<Schema>> {
    return parseInput(schema, await readObject(request, BATCH_LIMIT_BYTES)) as z.output<Schema>;
  }

  return [
    // An action, so that no PIX key is part of an address.
    action(/^\/console\/payouts\/terms$/, termsInput, async (input, context) => {
      const { tenant } = await admit(context);
      return { body: await operations().payoutBatches.terms(tenant, input) };
    }),
    action(/^\/console\/payouts$/, payoutInput, async ({ key, ...input }, context) => {
      const actor = await admitWithKey(context, key);
      const { method, amountCents, idempotencyKey } = input;
      const body = await recorded(actor, 'payout', { method, amountCents, idempotencyKey }, async () => {
        const { payout, replayed } = await operations().payouts.request(actor.tenant, input);
        const { withdrawalId, code, status, inDoubt = false } = payout;
        return { withdrawalId, code, status, inDoubt, replayed };
      });
      return { status: 201, body };
    }),
    post(/^\/console\/payouts\/batches\/check$/, async (context) => {
      const { tenant } = await admit(context);
      const { rows } = await readRows(context, checkInput);
      return { body: await operations().payoutBatches.check(tenant, rows) };
    }),
    post(/^\/console\/payouts\/batches$/, async (context) => {
      // Who may not is refused before a body of that size is read.
      await admit(context);
      const { key, ...input } = await readRows(context, batchInput);
      const actor = await admitWithKey(context, key);
      const { rows, idempotencyKey } = input;
      const details = { count: rows.length, idempotencyKey };
      const body = await recorded(actor, 'payout batch', details, async () => {
        const keyId = actor.session?.key.id ?? null;
        const { batch, replayed } = await operations().payoutBatches.request(actor.tenant, {
          ...input,
          keyId,
        });
        return { batchId: batch.batchId, replayed };
      });
      return { status: 201, body };
    }),
    action(/^\/console\/payouts\/batches\/newest$/, noInput, async (_, context) => {
      const { tenant } = await admit(context);
      const newest = await operations().payoutBatches.newest(tenant);
      return { body: { batch: newest && toView(newest) } };
    }),
    action(/^\/console\/payouts\/batches\/cancel$/, cancelInput, async ({ batchId }, context) => {
      const actor = await admit(context);
      const body = await recorded(actor, 'payout batch canceled', { batchId }, async () => {
        const batch = await operations().payoutBatches.cancel(actor.tenant, batchId);
        return { batchId, status: statusOfBatch(batch) };
      });
      return { body };
    }),
    action(/^\/console\/payouts\/batches\/resume$/, resumeInput, async ({ key, batchId }, context) => {
      const actor = await admitWithKey(context, key);
      const body = await recorded(actor, 'payout batch resumed', { batchId }, async () => {
        const batch = await operations().payoutBatches.resume(actor.tenant, batchId);
        return { batchId, status: statusOfBatch(batch) };
      });
      return { body };
    }),
  ];
}

/** The batch for its page, with the rows that were refused. */
function toView({ batch, endsAt, denied, inDoubt }: PayoutBatchState) {
  const { batchId, waiting, createdAt, finishedAt, canceledAt, cancelReason } = batch;
  const refused = batch.rows.flatMap(({ outcome, method, amountCents, destination }, place) =>
    outcome && 'refused' in outcome ? [{ row: place + 1, method, amountCents, destination, ...outcome }] : [],
  );
  const paid = batch.rows.filter(({ outcome }) => outcome && 'payoutId' in outcome);
  return {
    ...{
      batchId,
      status: statusOfBatch(batch),
      waiting,
      createdAt,
      finishedAt,
      canceledAt,
      cancelReason,
      endsAt,
      denied,
      inDoubt,
    },
    count: batch.rows.length,
    totalCents: batch.rows.reduce((total, { amountCents }) => total + amountCents, 0),
    paid: paid.length,
    paidCents: paid.reduce((total, { amountCents }) => total + amountCents, 0),
    refused,
  };
}
