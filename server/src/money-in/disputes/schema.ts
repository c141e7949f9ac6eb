import { builder } from '../../api/graphql/builder.ts';
import type { Context } from '../../api/graphql/context.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { finalFields } from '../../api/graphql/final-fields.ts';
import { keyMember } from '../../api/graphql/keys.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import { authorized, replayableSuccessType, successType } from '../../api/graphql/mutations.ts';
import {
  BOTH_WAYS,
  connectionArguments,
  connectionOf,
  pagesBeside,
  rangeOf,
  totalOf,
} from '../../api/graphql/paging.ts';
import { assertMay, assertUnrestrictedKey, callerOf, may } from '../../kernel/caller.ts';
import {
  IdempotencyError,
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { URL_MAX } from '../../kernel/text.ts';
import { CardPaymentRef } from '../card-payments/schema.ts';
import { ChargeRef } from '../charges/schema.ts';
import { PaymentRef } from '../payments/schema.ts';
import { SaleRef } from '../receiving/sale-schema.ts';
import { refundedResource } from '../refunds/schema.ts';
import { DisputeStatusEnum } from './enums-schema.ts';
import { DisputeFileRef } from './file-schema.ts';
import { MAX_FILES } from './files.ts';
import { filterArguments, filterOf } from './filter-schema.ts';
import {
  blockedCents,
  type Dispute,
  type DisputeService,
  DOCUMENT_DESCRIPTION_MAX,
  EVIDENCE_TEXT_MAX,
  type Evidence,
  type EvidenceDocument,
  isFinal,
  MAX_DOCUMENTS,
  MAX_EVIDENCE,
  submitDisputeEvidenceInput,
} from './model.ts';

const loads = addLoaders({
  dispute: ({ disputes }, tenant, disputeIds) => disputes.findMany(tenant, disputeIds),
  /** Finds the disputes of card payments by order code. */
  disputesOfCardPayment: ({ disputes }, tenant, orderCodes) =>
    disputes.ofResources(tenant, 'card_payment', orderCodes),
  /** Finds the disputes of charges by their id. */
  disputesOfCharge: ({ disputes }, tenant, chargeIds) => disputes.ofResources(tenant, 'charge', chargeIds),
  /** Finds the disputes of payments by their id. */
  disputesOfPayment: ({ disputes }, tenant, paymentIds) =>
    disputes.ofResources(tenant, 'payment', paymentIds),
});

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    disputes: DisputeService;
  }
}

declare module '../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

const DisputeReasonEnum = builder.enumType('DisputeReason', {
  description: 'The reason for which a payer’s bank claims the money back, in the terms of the PIX rules.',
  values: {
    FRAUD: { value: 'fraud', description: 'The payer claims to have been deceived, or not to have paid.' },
    OPERATIONAL_ERROR: {
      value: 'operational_error',
      description: 'The payer’s bank made a mistake, such as sending twice.',
    },
    UNKNOWN: {
      value: 'unknown',
      description:
        'A reason that the bank gives in words that this server does not know. Never accepted as input.',
    },
  } as const,
});

const EvidenceDocumentRef = builder.objectRef<EvidenceDocument>('EvidenceDocument').implement({
  description: 'A document at an address of the merchant.',
  fields: (t) => ({
    url: t.expose('url', {
      type: 'Url',
      description: 'The https URL of the document, which the banks open.',
    }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'The merchant’s description of what the document shows; null if none was given.',
    }),
  }),
});

const DisputeEvidence = builder.objectRef<Evidence>('DisputeEvidence').implement({
  description: 'One submission of evidence.',
  fields: (t) => ({
    text: t.exposeString('text', { nullable: true, description: 'The merchant’s statement, as submitted.' }),
    documents: t.field({
      type: [EvidenceDocumentRef],
      description: 'The documents with their addresses, as submitted.',
      resolve: ({ documents }) => [...documents],
    }),
    fileIds: t.stringList({
      description: 'The files of the submission, by their fileId among the files of the dispute.',
      resolve: ({ fileIds }) => [...fileIds],
    }),
    submittedAt: t.expose('submittedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the service received the submission; null if the upstream service does not report it.',
    }),
  }),
});

export const DisputeRef = builder.objectRef<Dispute>('Dispute');

addEntity(DisputeRef, 'disputeId');
builder.node(DisputeRef, {
  id: { resolve: ({ disputeId }) => disputeId },
  loadOne: (disputeId, context) => {
    assertMay(callerOf(context), 'disputes.read');
    return context.loaders.dispute.load(disputeId);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'disputeId' in value,
  description: 'A claim by which a payer’s bank demands a payment back (MED).',
  fields: (t) => ({
    disputeId: t.exposeString('disputeId', {
      description:
        'The identifier of the dispute: dsp_ and 24 hex digits; in remote mode, dsp_ and the identifier that the upstream service gives.',
    }),
    status: t.field({ type: DisputeStatusEnum, resolve: ({ status }) => status }),
    reason: t.field({
      type: DisputeReasonEnum,
      description: 'The reason that the payer’s bank gives.',
      resolve: ({ reason }) => reason,
    }),
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      description:
        'The claimed amount in cents, at most what could be refunded. It grows if a refund fails that held some of it.',
    }),
    blockedCents: t.field({
      type: 'Cents',
      description:
        'The amount in cents that is held of the balance: amountCents while the dispute is OPEN, UNDER_REVIEW or LOST, else 0.',
      resolve: blockedCents,
    }),
    of: t.field({
      type: SaleRef,
      nullable: true,
      description:
        'The disputed sale; null if the upstream service does not report it, and to a token that may not read it.',
      resolve: ({ resource }, _, context) => resource && refundedResource(resource, context),
    }),
    evidence: t.field({
      type: [DisputeEvidence],
      description: `The submissions of evidence, oldest first; at most ${MAX_EVIDENCE}.`,
      resolve: ({ evidence }) => [...evidence],
    }),
    files: t.field({
      type: [DisputeFileRef],
      description: `The files that the merchant has uploaded for this dispute, oldest first, also those that no submission has; at most ${MAX_FILES}. Only REST takes and answers their bytes, for API keys alone. Empty if the upstream service does not report them.`,
      resolve: ({ files }) => [...files],
    }),
    evidenceDueAt: t.expose('evidenceDueAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time until which evidence is accepted, as long as the dispute is OPEN or UNDER_REVIEW; it stays once the dispute is decided. Null if the upstream service does not report it.',
    }),
    evidenceDueInSeconds: t.int({
      nullable: true,
      description:
        'The seconds until evidenceDueAt by the server’s clock, 0 when past: a countdown must not trust the device’s clock. Null if evidenceDueAt is null.',
      resolve: ({ evidenceDueAt }, _, { clock }) =>
        evidenceDueAt && Math.max(0, Math.ceil((evidenceDueAt.getTime() - clock.ms()) / 1_000)),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true }),
    closedAt: t.expose('closedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The instant at which the dispute was decided; one that is FORGIVEN keeps that at which it was LOST.',
    }),
    acceptedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the merchant accepted the claim, by which the dispute is LOST. Null if it did not, and if the upstream service does not report it.',
      resolve: ({ acceptedAt = null }) => acceptedAt,
    }),
    ...finalFields(
      t,
      'Whether the status is final, as WON and FORGIVEN are: no later status can follow.',
      ({ status }) => isFinal(status),
    ),
    version: t.exposeInt('version', {
      description:
        'A number that grows with each change of this dispute: of two answers the larger is the newer.',
    }),
  }),
});

const OF_A_PAYMENT =
  'The disputes, oldest first. Null to a browser’s checkout or payment token, to a dashboard token without DISPUTES, and if the upstream service does not report them.';

builder.interfaceField(SaleRef, 'disputes', (t) =>
  t.field({ type: [DisputeRef], nullable: true, description: OF_A_PAYMENT }),
);

builder.objectField(CardPaymentRef, 'disputes', (t) =>
  t.field({
    type: [DisputeRef],
    nullable: true,
    description: OF_A_PAYMENT,
    resolve: ({ orderCode }, _, context) =>
      mayRead(context) ? context.loaders.disputesOfCardPayment.load(orderCode) : null,
  }),
);

builder.objectField(PaymentRef, 'disputes', (t) =>
  t.field({
    type: [DisputeRef],
    nullable: true,
    description: OF_A_PAYMENT,
    resolve: ({ paymentId }, _, context) =>
      mayRead(context) ? context.loaders.disputesOfPayment.load(paymentId) : null,
  }),
);

builder.objectField(ChargeRef, 'disputes', (t) =>
  t.field({
    type: [DisputeRef],
    nullable: true,
    description: OF_A_PAYMENT,
    resolve: ({ chargeId }, _, context) =>
      mayRead(context) ? context.loaders.disputesOfCharge.load(chargeId) : null,
  }),
);

function mayRead(context: Context): boolean {
  return may(callerOf(context), 'disputes.read');
}

const DisputeConnection = builder.connectionObject(
  {
    type: DisputeRef,
    name: 'DisputeConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'DisputeEdge' },
);

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

builder.queryFields((t) => ({
  dispute: t.field({
    type: DisputeRef,
    nullable: true,
    args: { disputeId: t.arg.string({ required: true }) },
    description: 'The dispute with this disputeId.',
    resolve: (_, { disputeId }, context) => {
      const { tenant } = readerOf(context);
      context.services.disputes.assertId(disputeId);
      return context.services.disputes.find(tenant, disputeId);
    },
  }),
  disputes: t.field({
    type: DisputeConnection,
    description: `A list of disputes, newest first; with a test key there are none. ${BOTH_WAYS}`,
    args: {
      ...connectionArguments(t.arg),
      ...filterArguments(t.arg),
    },
    resolve: async (_, args, context) => {
      const { tenant } = readerOf(context);
      const filter = filterOf(args);
      const cursors = context.listCursors('disputes');
      const range = rangeOf(cursors, args);
      const { items, more } = await context.services.disputes.list(tenant, { ...filter, ...range });
      const nodes = items.map(({ position, resource }) => ({ position, node: resource }));
      return connectionOf(cursors, nodes, {
        ...pagesBeside(range, more),
        total: () => context.services.disputes.count(tenant, filter),
      });
    },
  }),
}));

/** @throws PermissionError */
function readerOf(context: Context) {
  const caller = callerOf(context);
  assertMay(caller, 'disputes.read');
  return caller;
}

// ── Mutation ────────────────────────────────────────────────────────────────────────────────────

const EvidenceDocumentInput = builder.inputType('EvidenceDocumentInput', {
  fields: (t) => ({
    url: t.field({
      type: 'Url',
      required: true,
      description: `The public https URL of the document, at most ${URL_MAX} characters. This server never opens it.`,
    }),
    description: t.string({
      description: `The description of what the document shows, at most ${DOCUMENT_DESCRIPTION_MAX} characters.`,
    }),
  }),
});

const SubmitDisputeEvidenceInput = builder.inputType('SubmitDisputeEvidenceInput', {
  validate: { schema: submitDisputeEvidenceInput },
  fields: (t) => ({
    disputeId: t.string({ required: true }),
    text: t.string({
      description: `The merchant’s statement, at most ${EVIDENCE_TEXT_MAX} characters. A text, a document or a file is required.`,
    }),
    documents: t.field({
      type: [EvidenceDocumentInput],
      description: `The documents of the submission; at most ${MAX_DOCUMENTS}.`,
    }),
    fileIds: t.stringList({
      description: `The files of the submission, each by the fileId that its upload has answered; at most ${MAX_FILES}. They belong to this dispute, and may be in several submissions.`,
    }),
    idempotencyKey: keyMember(t, 'submit once'),
  }),
});

const SubmitDisputeEvidenceSuccess = replayableSuccessType<{ dispute: Dispute }>(
  'SubmitDisputeEvidenceSuccess',
  (t) => ({ dispute: t.expose('dispute', { type: DisputeRef }) }),
);

builder.mutationField('submitDisputeEvidence', (t) =>
  t.field({
    type: SubmitDisputeEvidenceSuccess,
    description: `Submits evidence, until evidenceDueAt and at most ${MAX_EVIDENCE} times. After a timeout, repeat it with the same idempotencyKey.`,
    args: { input: t.arg({ type: SubmitDisputeEvidenceInput, required: true }) },
    errors: {
      types: [
        ValidationError,
        NotFoundError,
        RateLimitError,
        PreconditionError,
        IdempotencyError,
        UpstreamError,
      ],
    },
    resolve: authorized(
      assertUnrestrictedKey,
      ({ tenant }, { input: { disputeId, ...input } }, { services }) =>
        services.disputes.submitEvidence(tenant, disputeId, input),
    ),
  }),
);

const AcceptDisputeSuccess = replayableSuccessType<{ dispute: Dispute }>('AcceptDisputeSuccess', (t) => ({
  dispute: t.expose('dispute', { type: DisputeRef }),
}));

builder.mutationField('acceptDispute', (t) =>
  t.field({
    type: AcceptDisputeSuccess,
    description:
      'Accepts the claim of an OPEN dispute, or of one UNDER_REVIEW: it is LOST at once, and its amount stays held. It cannot be undone. A repetition changes nothing.',
    args: { disputeId: t.arg.string({ required: true }) },
    errors: { types: [ValidationError, NotFoundError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { disputeId }, { services }) =>
      services.disputes.accept(tenant, disputeId),
    ),
  }),
);

const DeleteDisputeFileSuccess = successType<{ dispute: Dispute }>('DeleteDisputeFileSuccess', (t) => ({
  dispute: t.expose('dispute', { type: DisputeRef }),
}));

builder.mutationField('deleteDisputeFile', (t) =>
  t.field({
    type: DeleteDisputeFileSuccess,
    description:
      'Deletes a file that no submission has, while the dispute takes evidence. The dispute can have another one then.',
    args: {
      disputeId: t.arg.string({ required: true }),
      fileId: t.arg.string({
        required: true,
        description: 'The file’s identifier, dsf_…, as its upload has answered it.',
      }),
    },
    errors: { types: [ValidationError, NotFoundError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { disputeId, fileId }, { services }) =>
      services.disputes.deleteFile(tenant, disputeId, fileId),
    ),
  }),
);
