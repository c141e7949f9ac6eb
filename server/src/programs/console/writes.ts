import { z } from 'zod';
import { readFile } from '../../api/http/file-bodies.ts';
import { parseInput } from '../../api/http/json-input.ts';
import type { OpenFile } from '../../api/http/rest-routes.ts';
import { HttpError, type Route } from '../../api/http/routes.ts';
import type { SameOrigin } from '../../api/http/same-origin.ts';
import { PreconditionError, ValidationError } from '../../kernel/errors.ts';
import { idempotencyKeyText, plainText } from '../../kernel/text.ts';
import type { CardPaymentService } from '../../money-in/card-payments/model.ts';
import type { ChargeService } from '../../money-in/charges/model.ts';
import {
  type DisputeFiles,
  fileNameText,
  MAX_FILE_BYTES,
  MEDIA_TYPES,
} from '../../money-in/disputes/files.ts';
import {
  type DisputeService,
  disputeIdText,
  submitDisputeEvidenceInput,
} from '../../money-in/disputes/model.ts';
import type { PaymentService } from '../../money-in/payments/model.ts';
import { REFUNDED_TYPES, type RefundService, refundInput } from '../../money-in/refunds/model.ts';
import type { SubscriptionService } from '../../money-in/subscriptions/model.ts';
import { type Actions, confirmed } from './actions.ts';
import { type CatalogueOperations, createCatalogueRoutes } from './catalogue.ts';
import { createPayoutRoutes, type PayoutOperations } from './payout-routes.ts';

/** The operations of the console that change something. */
export interface ConsoleOperations extends CatalogueOperations, PayoutOperations {
  refunds: Pick<RefundService, 'request'>;
  cardPayments: Pick<CardPaymentService, 'cancel'>;
  payments: Pick<PaymentService, 'cancel'>;
  charges: Pick<ChargeService, 'cancel'>;
  disputes: Pick<DisputeService, 'submitEvidence' | 'accept'>;
  /** Null in front of another service, which stores no files of this one. */
  disputeFiles: Pick<DisputeFiles, 'upload'> | null;
  subscriptions: Pick<SubscriptionService, 'assertId' | 'cancel'>;
}

const reference = plainText({ max: 100 });
/** A part of a sale can be refunded twice, so that a page names each refund by a key. */
const consoleRefundInput = refundInput.extend({
  ...confirmed,
  ...{ type: z.enum(REFUNDED_TYPES), reference, idempotencyKey: idempotencyKeyText },
});
const cancellationInput = z.object({ type: z.enum(REFUNDED_TYPES), reference });
/** An id of any service's dispute: the service refuses a form that it does not have. */
const disputeId = plainText({ max: 100 });
const acceptInput = z.object({ ...confirmed, disputeId });
const cancelSubscriptionInput = z.object({ ...confirmed, subscriptionId: reference });
const uploadPath = z.object({ disputeId: disputeIdText });
const uploadQuery = z.object({ name: fileNameText });
const FILES = { mediaTypes: MEDIA_TYPES, maxBytes: MAX_FILE_BYTES };

/**
 * The routes that change something. Each needs an unrestricted key, as over `/v1`; those that cost money, or cannot be undone,
 * ask for the key of the session again.
 */
export function createWriteRoutes({
  operations,
  sameOrigin,
  actions,
  openFile,
}: {
  /** Creates the operations of one request. */
  operations: () => ConsoleOperations;
  sameOrigin: SameOrigin;
  actions: Actions;
  openFile: OpenFile;
}): Route[] {
  const { action, post } = sameOrigin;
  const { admit, admitWithKey, recorded } = actions;
  return [
    action(
      /^\/console\/refunds$/,
      consoleRefundInput,
      async ({ key, type, reference: id, ...input }, context) => {
        const actor = await admitWithKey(context, key);
        const { amountCents, idempotencyKey } = input;
        const details = { type, reference: id, amountCents, idempotencyKey };
        const body = await recorded(actor, 'refund', details, async () => {
          const requested = operations().refunds.request(actor.tenant, { type, id }, input);
          const { refund, replayed } = await requested.catch(nameReference);
          const { refundId, status, amountCents } = refund;
          return { refundId, status, amountCents, replayed };
        });
        return { status: 201, body };
      },
    ),
    action(/^\/console\/cancellations$/, cancellationInput, async ({ type, reference: id }, context) => {
      const actor = await admit(context);
      const body = await recorded(actor, 'sale canceled', { type, reference: id }, async () => {
        const { cardPayments, payments, charges } = operations();
        const service = { card_payment: cardPayments, payment: payments, charge: charges }[type];
        const { replayed } = await service.cancel(actor.tenant, id).catch(nameReference);
        return { type, reference: id, replayed };
      });
      return { body };
    }),
    action(/^\/console\/disputes\/evidence$/, submitDisputeEvidenceInput, async (input, context) => {
      const actor = await admit(context);
      const { disputeId, ...evidence } = input;
      const body = await recorded(actor, 'evidence', { disputeId }, async () => {
        const { disputes } = operations();
        const { dispute, replayed } = await disputes.submitEvidence(actor.tenant, disputeId, evidence);
        return { disputeId, status: dispute.status, replayed };
      });
      return { status: 201, body };
    }),
    action(/^\/console\/disputes\/accept$/, acceptInput, async ({ key, disputeId }, context) => {
      const actor = await admitWithKey(context, key);
      const body = await recorded(actor, 'acceptance', { disputeId }, async () => {
        const { dispute, replayed } = await operations().disputes.accept(actor.tenant, disputeId);
        return { disputeId, status: dispute.status, replayed };
      });
      return { body };
    }),
    post(
      /^\/console\/disputes\/(?<disputeId>[^/]+)\/files$/,
      async (context) => {
        const { request, response, params, url } = context;
        const actor = await admit(context);
        const { disputeFiles } = operations();
        if (!disputeFiles)
          throw new PreconditionError('NOT_OFFERED', 'The service behind this server takes no files here');
        const { disputeId } = parseInput(uploadPath, params) as z.infer<typeof uploadPath>;
        const { name } = parseInput(uploadQuery, Object.fromEntries(url.searchParams)) as z.infer<
          typeof uploadQuery
        >;
        // A response closes once: a file that was opened after that would count as open for ever.
        if (response.destroyed) throw new HttpError(400, 'The client has left');
        response.once('close', openFile(actor.tenant));
        const content = await readFile(request, FILES, null);
        const body = await recorded(actor, 'file', { disputeId }, async () => {
          const input = { name, ...content };
          const { file, replayed } = await disputeFiles.upload(actor.tenant, disputeId, input);
          return { fileId: file.fileId, replayed };
        });
        return { status: 201, body };
      },
      uploadQuery,
    ),
    action(
      /^\/console\/subscriptions\/cancel$/,
      cancelSubscriptionInput,
      async ({ key, subscriptionId }, context) => {
        const actor = await admitWithKey(context, key);
        const body = await recorded(actor, 'cancellation', { subscriptionId }, async () => {
          const { subscriptions } = operations();
          subscriptions.assertId(subscriptionId);
          const { subscription, replayed } = await subscriptions.cancel(actor.tenant, subscriptionId);
          return { subscriptionId, status: subscription.status, replayed };
        });
        return { body };
      },
    ),
    ...createCatalogueRoutes({ operations, sameOrigin, actions }),
    ...createPayoutRoutes({ operations, sameOrigin, actions }),
  ];
}

/** Names the id of a sale as the input does. @throws the error */
function nameReference(error: unknown): never {
  if (!(error instanceof ValidationError)) throw error;
  const isId = (path: string) => /^(input\.)?(paymentId|chargeId)$/.test(path);
  throw new ValidationError(
    error.fields.map((field) => (isId(field.path) ? { ...field, path: 'reference' } : field)),
  );
}
