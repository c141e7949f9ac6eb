import { builder } from '../../api/graphql/builder.ts';
import { deprecatedSince } from '../../api/graphql/deprecations.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { centsFields, periodFields } from '../../api/graphql/filters.ts';
import { finalFields } from '../../api/graphql/final-fields.ts';
import { keyArgument, keyMember, onlyName, withRequiredKey } from '../../api/graphql/keys.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import { authorized, replayableSuccessType } from '../../api/graphql/mutations.ts';
import {
  BOTH_WAYS,
  connectionArguments,
  connectionOf,
  pagesBeside,
  rangeOf,
  totalOf,
} from '../../api/graphql/paging.ts';
import { assertMay, assertUnrestrictedKey, callerOf } from '../../kernel/caller.ts';
import { knownBy } from '../../kernel/doubts.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { ltcText } from '../../kernel/money.ts';
import { PIX_KEY_TYPE_RULE } from '../../kernel/pix-key.ts';
import { EXTERNAL_ID_FORM } from '../../kernel/text.ts';
import {
  DESTINATION_KIND,
  DestinationKindEnum,
  PayoutMethodEnum,
  PayoutStatusEnum,
  PixKeyTypeEnum,
} from './enums-schema.ts';
import {
  DESTINATIONS_IN_WORDS,
  isSettled,
  maskDestination,
  netCents,
  type Payout,
  type PayoutFilter,
  type PayoutService,
  payoutIdOf,
  type RequestPayoutInput,
  requestPayoutInput,
  SHOWN_DESTINATIONS_IN_WORDS,
} from './model.ts';

const loads = addLoaders({
  /** Finds payouts by withdrawal id or code. */
  payout: ({ payouts }, tenant, references) => payouts.findMany(tenant, references),
});

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    payouts: PayoutService;
  }
}

declare module '../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

export const PayoutRef = builder.objectRef<Payout>('Payout');

addEntity(PayoutRef);
builder.node(PayoutRef, {
  id: {
    resolve: payoutIdOf,
    description:
      'The identifier, which stays the same from the request on, also if the service names the payout later.',
  },
  loadOne: (withdrawalId, context) => {
    assertMay(callerOf(context), 'payouts.read');
    return context.loaders.payout.load(withdrawalId);
  },
  isTypeOf: (value) =>
    typeof value === 'object' && value !== null && 'withdrawalId' in value && 'requestedAt' in value,
  description: 'A payout of the main account, which REST and webhooks call a withdrawal.',
  fields: (t) => ({
    withdrawalId: t.exposeString('withdrawalId', {
      nullable: true,
      description:
        'The identifier of the payout, 24 hex digits. Null while inDoubt, and for a request that the service never executed.',
    }),
    code: t.exposeString('code', {
      nullable: true,
      description:
        'The code SAQ-…, for which support asks. Null if the upstream service has not reported it.',
    }),
    method: t.field({
      type: PayoutMethodEnum,
      description: 'The method by which the payout is sent; it never changes.',
      resolve: ({ method }) => method,
    }),
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      description: 'The amount in cents that is debited, the fee included; for an LTC payout, its value.',
    }),
    serviceFeeCents: t.expose('feeCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The service’s fee in cents, a part of the amount. Null if the upstream service does not report it.',
    }),
    feeCents: t.expose('feeCents', {
      type: 'Cents',
      nullable: true,
      deprecationReason: deprecatedSince('0.2.0', 'Use serviceFeeCents, which is the same.'),
      description: 'The service’s fee in cents.',
    }),
    netAmountCents: t.field({
      type: 'Cents',
      nullable: true,
      description:
        'The amount without the service’s fee, in cents, which the destination receives; for an LTC payout, its value. Null if the upstream service does not report the fee.',
      resolve: ({ amountCents, feeCents }) =>
        feeCents === null ? null : netCents({ amountCents, feeCents }),
    }),
    amountLtc: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'The amount debited from the LTC balance, the fee included, as quoted at the request. Null if reais are debited, and if the upstream service does not report it.',
      resolve: ({ litoshi }) => (litoshi === null ? null : ltcText(litoshi)),
    }),
    destination: t.string({
      description: `The destination: ${SHOWN_DESTINATIONS_IN_WORDS}.`,
      resolve: (payout) => maskDestination(payout, { masksPublic: false }),
    }),
    destinationKind: t.field({
      type: DestinationKindEnum,
      nullable: true,
      description: DESTINATION_KIND,
      resolve: ({ destinationKind }) => destinationKind,
    }),
    status: t.field({ type: PayoutStatusEnum, resolve: ({ status }) => status }),
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
      resolve: knownBy,
    }),
    ...finalFields(
      t,
      'Whether the status is final, as COMPLETED, DENIED and RETURNED are: no later status follows, unless a COMPLETED payout comes back. False while only a webhook reports the end, which the upstream service has not confirmed.',
      isSettled,
    ),
    version: t.exposeInt('version', {
      description:
        'A number that grows with each change of this payout: of two answers the larger is the newer.',
    }),
    requestedAt: t.expose('requestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of the request; null if the upstream service does not report it.',
    }),
    processedAt: t.expose('processedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the payout was completed or denied.',
    }),
    returnedAt: t.expose('returnedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the payout had come back; null unless RETURNED.',
    }),
    deniedReason: t.exposeString('deniedReason', {
      nullable: true,
      description: 'The bank’s reason for the denial; null unless DENIED.',
    }),
    endToEndId: t.exposeString('endToEndId', {
      nullable: true,
      description:
        'The bank’s identifier of the PIX, by which the receiver finds the credit. Null until the PIX has arrived, for crypto, and if the upstream service does not report it.',
    }),
    externalId: t.exposeString('externalId', {
      nullable: true,
      description: 'Your own number for the resource; null if none was given.',
    }),
  }),
});

const PayoutConnection = builder.connectionObject(
  {
    type: PayoutRef,
    name: 'PayoutConnection',
    fields: (t) => ({
      totalCount: t.int({ resolve: totalOf }),
    }),
  },
  { name: 'PayoutEdge' },
);

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

export const PayoutFilterInput = builder.inputType('PayoutFilter', {
  fields: (t) =>
    ({
      status: t.field({ type: [PayoutStatusEnum] }),
      method: t.field({ type: [PayoutMethodEnum] }),
      ...periodFields(t, 'requested', 'payouts that were requested'),
      ...periodFields(t, 'processed', 'payouts that were completed or denied'),
      ...centsFields(t, 'payouts'),
      externalId: t.string({
        description:
          'Selects resources with this externalId. In remote mode a list with it has its own cursors.',
      }),
      reference: t.string({
        description: 'Selects the payout with this withdrawalId, code or endToEndId.',
      }),
    }) satisfies { [Member in keyof PayoutFilter]-?: unknown },
});

builder.queryFields((t) => ({
  payout: t.field({
    type: PayoutRef,
    nullable: true,
    description:
      'The payout with this withdrawalId, code or idempotencyKey; give exactly one. The idempotencyKey of its request serves after a timeout: null means that no payout was made with it so far, and one whose outcome is unknown is inDoubt.',
    args: {
      withdrawalId: t.arg.string({ description: 'The identifier: 24 hex digits.' }),
      code: t.arg.string({ description: 'The payout’s code, SAQ-…' }),
      idempotencyKey: keyArgument(t.arg, 'payout'),
    },
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'payouts.read');
      const [name, value] = onlyName(args, ['withdrawalId', 'code', 'idempotencyKey']);
      if (name === 'idempotencyKey') return context.services.payouts.findByKey(caller.tenant, value);
      context.services.payouts.assertNames({ [name]: value });
      const payout = await context.loaders.payout.load(value);
      // The loader accepts either kind of reference.
      return payout?.[name] === value ? payout : null;
    },
  }),
  payouts: t.field({
    type: PayoutConnection,
    description: `A list of payouts, newest first; those that are inDoubt precede the rest. ${BOTH_WAYS}`,
    args: {
      ...connectionArguments(t.arg),
      filter: t.arg({ type: PayoutFilterInput }),
    },
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'payouts.read');
      const filter = filterOf(args.filter ?? {});
      const cursors = context.listCursors('payouts');
      const range = rangeOf(cursors, args);
      const { items, more } = await context.services.payouts.list(caller.tenant, { ...filter, ...range });
      const nodes = items.map(({ position, payout }) => ({ position, node: payout }));
      return connectionOf(cursors, nodes, {
        ...pagesBeside(range, more),
        total: () => context.services.payouts.count(caller.tenant, filter),
      });
    },
  }),
}));

/** Reads the filter as the port has it. @throws ValidationError naming the argument */
export function filterOf(given: typeof PayoutFilterInput.$inferInput): PayoutFilter {
  return readFilter<PayoutFilter>(given);
}

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const RequestPayoutInputRef = builder.inputType('RequestPayoutInput', {
  fields: (t) => ({
    method: t.field({
      type: PayoutMethodEnum,
      required: true,
      description:
        'The method by which the payout is sent. It decides the fee, the limit and the form of the destination.',
    }),
    amountCents: t.field({
      type: 'Cents',
      required: true,
      description:
        'The amount in cents: more than the method’s fee, and at most the wallet’s withdrawableCents.',
    }),
    destination: t.string({
      required: true,
      description: `The destination: ${DESTINATIONS_IN_WORDS}, according to the method, which validates it.`,
    }),
    pixKeyType: t.field({ type: PixKeyTypeEnum, description: `${PIX_KEY_TYPE_RULE}.` }),
    externalId: t.string({
      description: `Your own number for the payout, ${EXTERNAL_ID_FORM}. Several payouts may have the same number.`,
    }),
    idempotencyKey: keyMember(t, 'give the same payout', { required: true }),
  }),
});

const RequestPayoutSuccess = replayableSuccessType<{ payout: Payout }>(
  'RequestPayoutSuccess',
  (t) => ({ payout: t.expose('payout', { type: PayoutRef }) }),
  { formerly: 'PayoutSuccess' },
);

builder.mutationFields((t) => ({
  requestPayout: t.field({
    type: RequestPayoutSuccess,
    description:
      'Requests a payout: debits the amount and sends it on its way. At most 10 an hour, 5 of them turbo. After a timeout, repeat it with the same idempotencyKey. If the upstream service does not report whether it has made the payout, the payout is inDoubt: follow it with payoutUpdates(id:).',
    args: {
      input: t.arg({
        type: RequestPayoutInputRef,
        required: true,
        validate: { schema: withRequiredKey(requestPayoutInput) as never },
      }),
    },
    errors: {
      types: [
        ValidationError,
        RateLimitError,
        InsufficientFundsError,
        PreconditionError,
        IdempotencyError,
        UpstreamError,
      ],
    },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      // The validation above has converted the input into this type.
      services.payouts.request(tenant, input as RequestPayoutInput),
    ),
  }),
}));
