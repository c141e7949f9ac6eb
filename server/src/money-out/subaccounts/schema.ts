import { builder } from '../../api/graphql/builder.ts';
import type { Context } from '../../api/graphql/context.ts';
import { deprecatedSince } from '../../api/graphql/deprecations.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { finalFields } from '../../api/graphql/final-fields.ts';
import { keyArgument, keyMember, onlyName, withRequiredKey } from '../../api/graphql/keys.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import { addReference } from '../../api/graphql/lookup-reference.ts';
import { authorized, replayableSuccessType } from '../../api/graphql/mutations.ts';
import { BOTH_WAYS, connectionArguments, readConnection, totalOf } from '../../api/graphql/paging.ts';
import { assertMay, callerOf } from '../../kernel/caller.ts';
import { knownBy } from '../../kernel/doubts.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { PIX_KEY_TYPE_RULE } from '../../kernel/pix-key.ts';
import { EXTERNAL_ID_FORM } from '../../kernel/text.ts';
import { DESTINATION_KIND, DestinationKindEnum, PixKeyTypeEnum } from '../payouts/enums-schema.ts';
import { SubaccountPayoutStatusEnum } from './enums-schema.ts';
import { payoutFilterArguments, payoutFilterOf } from './filter-schema.ts';
import {
  guidanceOf,
  isSettled,
  requestPayoutInput,
  type SubaccountPayout,
  type SubaccountPayoutService,
  type SubaccountService,
  unknownSubaccount,
} from './model.ts';
import { anyPayoutReference, anySubaccountId, keyInReference, REFERENCE_OF_A_KEY } from './names.ts';
import { SubaccountRef } from './subaccount-schema.ts';

const loads = addLoaders({
  subaccount: ({ subaccounts }, tenant, ids) => subaccounts.findMany(tenant, ids),
  subaccountPayout: ({ subaccounts }, tenant, ids) => subaccounts.findPayouts(tenant, ids),
});

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    subaccounts: SubaccountService & SubaccountPayoutService;
  }
}

declare module '../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

/** The forms of a reference, for a description. */
export const REFERENCE_FORMS =
  'its withdrawalId, its TURBO- code, saq_idem_<idempotencyKey>, the saq_ refId of the statement, or its SUB- code';

const PayoutGuidanceEnum = builder.enumType('PayoutGuidance', {
  description: 'The next step for the caller, according to the state of the payout.',
  values: {
    NONE: { description: 'Nothing is left to do: the payout is done.' },
    WAIT: {
      description:
        'The money may have left, or only a webhook reports how the payout ended. Do not repeat it; look it up again later.',
    },
    RETRY_WITH_NEW_KEY: {
      description: 'The amount is back. A new payout may be requested, with a new idempotency key.',
    },
    CONTACT_SUPPORT: { description: 'The payout has failed and was not reversed: contact support.' },
  } as const,
});

export const SubaccountPayoutRef = builder.objectRef<SubaccountPayout>('SubaccountPayout');

const SubaccountPayoutConnection = builder.connectionObject(
  {
    type: SubaccountPayoutRef,
    name: 'SubaccountPayoutConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'SubaccountPayoutEdge' },
);

builder.objectFields(SubaccountRef, (t) => ({
  payouts: t.field({
    type: SubaccountPayoutConnection,
    description: `The payouts of the subaccount, newest first. In remote mode: those that this server has requested or seen. ${BOTH_WAYS}`,
    args: {
      ...connectionArguments(t.arg),
      ...payoutFilterArguments(t.arg),
    },
    resolve: async ({ id }, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subaccount_payouts.read');
      const filter = payoutFilterOf(args);
      const { subaccounts } = context.services;
      return readConnection(context.listCursors(`subaccountPayouts:${id}`), args, {
        list: (range) => subaccounts.payouts(caller.tenant, id, { ...range, ...filter }),
        node: ({ item }) => item,
        total: () => subaccounts.countPayouts(caller.tenant, id, filter),
      });
    },
  }),
  payout: t.field({
    type: SubaccountPayoutRef,
    nullable: true,
    description: `The payout with a reference: ${REFERENCE_FORMS}.`,
    args: { reference: t.arg.string({ required: true, validate: { schema: anyPayoutReference } }) },
    resolve: ({ id }, { reference }, context) => {
      const { tenant } = assertMayReadPayouts(context);
      context.services.subaccounts.assertNames({ reference });
      return context.services.subaccounts.findPayout(tenant, id, reference);
    },
  }),
}));

addEntity(SubaccountPayoutRef);
builder.node(SubaccountPayoutRef, {
  id: {
    resolve: ({ id }) => id,
    description: 'The identifier, which is the same whichever reference form led here.',
  },
  loadOne: (id, context) => {
    assertMay(callerOf(context), 'subaccount_payouts.read');
    return context.loaders.subaccountPayout.load(id);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'payoutId' in value,
  description: 'A payout of a subaccount by PIX.',
  fields: (t) => ({
    payoutId: t.exposeString('payoutId', {
      nullable: true,
      description:
        'The refId of the payout’s entry in the statement; saq_idem_<idempotencyKey> for a payout with a key.',
    }),
    withdrawalId: t.exposeString('withdrawalId', {
      nullable: true,
      description:
        'The identifier of the payout, 24 hex digits; null while the payout is still being created.',
    }),
    code: t.exposeString('code', {
      nullable: true,
      description: 'The code TURBO-…; or SUB-… for a payout refused before it reached the bank.',
    }),
    subaccountId: t.exposeString('subaccountId'),
    subaccount: t.field({
      type: SubaccountRef,
      description: 'The subaccount that was debited, in its current state.',
      resolve: async ({ subaccountId }, _, context) =>
        (await context.loaders.subaccount.load(subaccountId)) ?? unknownSubaccount(subaccountId),
    }),
    status: t.field({ type: SubaccountPayoutStatusEnum, resolve: ({ status }) => status }),
    guidance: t.field({
      type: PayoutGuidanceEnum,
      description: 'The next step for the caller, so that nobody pays twice.',
      resolve: guidanceOf,
    }),
    reversed: t.exposeBoolean('reversed', { description: 'Whether the amount went back to the subaccount.' }),
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      description: 'The gross amount in cents that the subaccount was debited.',
    }),
    markupCents: t.expose('feeCents', {
      type: 'Cents',
      nullable: true,
      description:
        'Your own markup in cents, a part of the gross amount that your account keeps. Null if the upstream service does not report it.',
    }),
    feeCents: t.expose('feeCents', {
      type: 'Cents',
      nullable: true,
      deprecationReason: deprecatedSince(
        '0.2.0',
        'Use markupCents, which is the same: it is not the service’s fee.',
      ),
      description: 'Your own markup in cents.',
    }),
    serviceFeeCents: t.expose('platformFeeCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The service’s fee in cents, a part of the gross amount. Null if the payout was never prepared for sending.',
    }),
    platformFeeCents: t.expose('platformFeeCents', {
      type: 'Cents',
      nullable: true,
      deprecationReason: deprecatedSince('0.2.0', 'Use serviceFeeCents, which is the same.'),
      description: 'The service’s fee in cents.',
    }),
    netAmountCents: t.expose('netAmountCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The amount in cents that the PIX key receives. Null if the payout was never prepared for sending.',
    }),
    pixKey: t.exposeString('pixKey', { nullable: true, description: 'The PIX key of the receiver, masked.' }),
    destinationKind: t.field({
      type: DestinationKindEnum,
      nullable: true,
      description: DESTINATION_KIND,
      resolve: ({ destinationKind }) => destinationKind,
    }),
    endToEndId: t.exposeString('endToEndId', {
      nullable: true,
      description: 'The bank’s identifier of the PIX, by which the receiver finds the credit.',
    }),
    recipientName: t.exposeString('recipientName', {
      nullable: true,
      description: 'The name of the receiver, according to the PIX key; null if it is not known.',
    }),
    recipientBankName: t.exposeString('recipientBankName', {
      nullable: true,
      description: 'The name of the receiver’s bank, according to the PIX key; null if it is not known.',
    }),
    failureReason: t.exposeString('failureReason', {
      nullable: true,
      description: 'The bank’s reason for the failure; null unless FAILED.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    completedAt: t.expose('completedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the bank had sent it; null unless COMPLETED.',
    }),
    reversedAt: t.expose('reversedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the amount was back in the subaccount; null before.',
    }),
    externalId: t.exposeString('externalId', {
      nullable: true,
      description: 'Your own number for the resource; null if none was given.',
    }),
    inDoubt: t.boolean({
      description:
        'Whether the upstream service has not reported if it made this payout: the money may have left. Wait; do not request it again under another key. requestsInDoubt lists all such requests.',
      resolve: ({ inDoubt }) => inDoubt === true,
    }),
    knownBy: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'The time by which it is known whether a payout that is inDoubt was made; one that is in doubt after it needs the operator of this server. Null for any other.',
      resolve: ({ inDoubt, createdAt }) => knownBy({ inDoubt, requestedAt: createdAt }),
    }),
    ...finalFields(
      t,
      'Whether the status is final: COMPLETED, or FAILED and reversed. False while only a webhook reports the end, which the upstream service has not confirmed.',
      isSettled,
    ),
    version: t.exposeInt('version', {
      description:
        'A number that grows with each change of this payout: of two answers the larger is the newer.',
    }),
  }),
});

// ── The query, the mutation ─────────────────────────────────────────────────────────────────────

function assertMayReadPayouts(context: Context) {
  const caller = callerOf(context);
  assertMay(caller, 'subaccount_payouts.read');
  return caller;
}

addReference(REFERENCE_OF_A_KEY, (reference, context) => {
  const { tenant } = assertMayReadPayouts(context);
  return context.services.subaccounts.findPayoutByKey(tenant, keyInReference(reference)!);
});

builder.queryFields((t) => ({
  subaccountPayout: t.field({
    type: SubaccountPayoutRef,
    nullable: true,
    description: `The payout with a reference: ${REFERENCE_FORMS}. A malformed reference is an error, so that nobody takes a typing error for a payout that was never made. A payout whose request is in doubt has the status PROCESSING; null says that there is none. With the idempotencyKey of its request alone, a payout of any subaccount is found.`,
    args: {
      subaccountId: t.arg.string({
        description: 'The identifier of its subaccount; required with a reference.',
        validate: { schema: anySubaccountId },
      }),
      reference: t.arg.string({ validate: { schema: anyPayoutReference } }),
      idempotencyKey: keyArgument(t.arg, 'payout'),
    },
    resolve: async (_, { subaccountId, ...args }, context) => {
      const { tenant } = assertMayReadPayouts(context);
      const { subaccounts } = context.services;
      const [name, value] = onlyName(args, ['reference', 'idempotencyKey']);
      subaccounts.assertNames({ subaccountId, reference: args.reference });
      if (name === 'idempotencyKey') {
        const payout = await subaccounts.findPayoutByKey(tenant, value);
        return payout && (subaccountId ?? payout.subaccountId) === payout.subaccountId ? payout : null;
      }
      if (subaccountId == null)
        throw new ValidationError([{ path: 'subaccountId', message: 'is required with a reference' }]);
      return subaccounts.findPayout(tenant, subaccountId, value);
    },
  }),
}));

const RequestSubaccountPayoutInput = builder.inputType('RequestSubaccountPayoutInput', {
  validate: { schema: withRequiredKey(requestPayoutInput) as never },
  fields: (t) => ({
    subaccountId: t.string({ required: true }),
    amountCents: t.field({
      type: 'Cents',
      required: true,
      description:
        'The gross amount in cents: more than the markup and the fee, and at most the subaccount’s balance.',
    }),
    pixKey: t.string({
      required: true,
      description:
        'The PIX key: a CPF or CNPJ with its check digits, a phone number as +55…, an e-mail address, or a random key.',
    }),
    pixKeyType: t.field({ type: PixKeyTypeEnum, description: `${PIX_KEY_TYPE_RULE}.` }),
    externalId: t.string({
      description: `Your own number for the payout, ${EXTERNAL_ID_FORM}. Several payouts may have the same number.`,
    }),
    idempotencyKey: keyMember(t, 'give the same payout', { required: true }),
  }),
});

const RequestSubaccountPayoutSuccess = replayableSuccessType<{ payout: SubaccountPayout }>(
  'RequestSubaccountPayoutSuccess',
  (t) => ({ subaccountPayout: t.expose('payout', { type: SubaccountPayoutRef }) }),
  { formerly: 'SubaccountPayoutSuccess' },
);

builder.mutationFields((t) => ({
  requestSubaccountPayout: t.field({
    type: RequestSubaccountPayoutSuccess,
    description:
      'Requests a payout by PIX from the subaccount’s balance. Live keys only. After a timeout, repeat it with the same idempotencyKey, or look the payout up as saq_idem_<idempotencyKey>.',
    args: { input: t.arg({ type: RequestSubaccountPayoutInput, required: true }) },
    errors: {
      types: [
        ValidationError,
        NotFoundError,
        RateLimitError,
        PreconditionError,
        InsufficientFundsError,
        IdempotencyError,
        UpstreamError,
      ],
    },
    resolve: authorized(
      (caller) => assertMay(caller, 'subaccount_payouts.request'),
      ({ tenant }, { input }, { services }) => {
        services.subaccounts.assertNames({ subaccountId: input.subaccountId }, 'input.');
        return services.subaccounts.requestPayout(tenant, input);
      },
    ),
  }),
}));
