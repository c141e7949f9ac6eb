import { builder } from '../../api/graphql/builder.ts';
import type { Context } from '../../api/graphql/context.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { byKey, findByKey, keyArgument, keyMember, onlyName } from '../../api/graphql/keys.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import { addReference } from '../../api/graphql/lookup-reference.ts';
import { authorized, replayableSuccessType } from '../../api/graphql/mutations.ts';
import { connectionArguments, totalOf } from '../../api/graphql/paging.ts';
import { assertMay, assertUnrestrictedKey, type Caller, callerOf, may } from '../../kernel/caller.ts';
import {
  IdempotencyError,
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { EXTERNAL_ID_FORM } from '../../kernel/text.ts';
import { SubaccountRef } from '../../money-out/subaccounts/subaccount-schema.ts';
import { receivedFilterFields } from '../checkout/filter-schema.ts';
import { amountInputs, descriptionInput, languageInput, metadataInput } from '../checkout/schema.ts';
import { listDescription, listedPix, pixFields } from '../pix/fields-schema.ts';
import { PaymentStatusEnum, SaleRef, SalesMethodEnum } from '../receiving/sale-schema.ts';
import {
  type Charge,
  type ChargeFilter,
  type ChargeService,
  type ChargeSplit,
  createChargeGraphqlInput,
  flatInput,
  nestedPaths,
  ownerAmountOf,
} from './model.ts';

const loads = addLoaders({
  charge: ({ charges }, tenant, chargeIds) => charges.findMany(tenant, chargeIds),
});

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    charges: ChargeService;
  }
}

declare module '../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

const ChargeSplitRef = builder.objectRef<ChargeSplit>('ChargeSplit').implement({
  description: 'The part of a subaccount in a split charge, credited the moment that the charge is paid.',
  fields: (t) => ({
    subaccountId: t.exposeString('subaccountId'),
    subaccount: t.field({
      type: SubaccountRef,
      nullable: true,
      description:
        'The subaccount that receives the part. Null to a dashboard token without the scope SUBACCOUNTS.',
      resolve: ({ subaccountId }, _, context) =>
        may(callerOf(context), 'subaccounts.read') ? context.loaders.subaccount.load(subaccountId) : null,
    }),
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      description: 'The part in cents, whether an amount or a percentage was requested.',
    }),
    percent: t.expose('percent', {
      type: 'Decimal',
      nullable: true,
      description: 'The requested percentage of the net amount; null for a fixed amount.',
    }),
    refundedCents: t.expose('refundedCents', {
      type: 'Cents',
      description:
        'The part of it that refunds, under way or completed, have taken back from the subaccount, in cents. The amount that a failed refund took is given back. The account has paid what the subaccount’s balance lacked.',
    }),
  }),
});

export const ChargeRef = builder.objectRef<Charge>('Charge');

addEntity(ChargeRef, 'chargeId');
builder.node(ChargeRef, {
  interfaces: [SaleRef],
  id: { resolve: ({ chargeId }) => chargeId },
  loadOne: (chargeId, context) =>
    mayReadCharge(callerOf(context)) ? context.loaders.charge.load(chargeId) : null,
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'splits' in value,
  description: 'A PIX charge without customer, product and order, which may be split between subaccounts.',
  fields: (t) => ({
    ...pixFields(t, {
      idOf: ({ chargeId }) => chargeId,
      name: 'charge',
      updates: 'chargeUpdates',
      isShownToPayers: false,
    }),
    chargeId: t.exposeString('chargeId', {
      description:
        'The identifier of the charge: psc_ or, with splits, psplit_, and 32 hex digits; in remote mode, the identifier that the upstream service gives. It is also the secret part of checkoutUrl.',
    }),
    method: t.field({
      type: SalesMethodEnum,
      description: 'The method by which the payer pays: PIX.',
      resolve: () => 'pix' as const,
    }),
    ownerAmountCents: t.field({
      type: 'Cents',
      nullable: true,
      description:
        'The account’s own part in cents: the net amount without the splits. Null if the upstream service does not report it.',
      resolve: ownerAmountOf,
    }),
    splits: t.field({
      type: [ChargeSplitRef],
      description: 'The parts of the subaccounts; empty for psc_.',
      resolve: ({ splits }) => [...splits],
    }),
    externalId: t.exposeString('externalId', {
      nullable: true,
      description: 'Your own label for the charge, which several may have; null if none was given.',
    }),
    orderId: t.string({
      nullable: true,
      description: 'Always null: a charge belongs to no order. Your own number for it is externalId.',
      resolve: () => null,
    }),
  }),
});

const ChargeConnection = builder.connectionObject(
  {
    type: ChargeRef,
    name: 'ChargeConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'ChargeEdge' },
);

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

/** A payer's token reads no charge. @throws PermissionError */
export function mayReadCharge(caller: Caller): boolean {
  assertMay(caller, 'payments.read');
  return true;
}

export const ChargeFilterInput = builder.inputType('ChargeFilter', {
  fields: (t) => ({
    ...receivedFilterFields(
      t,
      'Selects the charge with this chargeId, or paid by the PIX with this endToEndId.',
    ),
    externalId: t.string({ description: 'Selects charges with this label.' }),
    split: t.boolean({
      description: 'Selects split charges where true, and charges without splits where false.',
    }),
    status: t.field({ type: [PaymentStatusEnum] }),
  }),
});

/** Reads the filter as the port has it. @throws ValidationError naming the argument */
export function chargeFilterOf(
  filter: typeof ChargeFilterInput.$inferInput | null | undefined,
): ChargeFilter {
  return readFilter<ChargeFilter>(filter);
}

function findCharge(chargeId: string, context: Context) {
  const caller = callerOf(context);
  mayReadCharge(caller);
  const { charges } = context.services;
  charges.assertId(chargeId);
  return charges.find(caller.tenant, chargeId);
}

addReference('psc_', findCharge);
addReference('psplit_', findCharge);

builder.queryFields((t) => ({
  charge: t.field({
    type: ChargeRef,
    nullable: true,
    description: `The charge with this chargeId, psc_ or psplit_. If the upstream service does not offer charges, the field fails with a top-level error, extensions.code NOT_OFFERED. ${byKey('charge')}`,
    args: { chargeId: t.arg.string(), idempotencyKey: keyArgument(t.arg, 'charge') },
    resolve: (_, args, context) => {
      mayReadCharge(callerOf(context));
      const [name, value] = onlyName(args, ['chargeId', 'idempotencyKey']);
      const find = (chargeId: string) => findCharge(chargeId, context);
      return name === 'idempotencyKey' ? findByKey(context, 'createCharge', value, find) : find(value);
    },
  }),
  charges: t.field({
    type: ChargeConnection,
    description: listDescription('charges'),
    args: {
      ...connectionArguments(t.arg),
      filter: t.arg({ type: ChargeFilterInput }),
    },
    resolve: (_, { filter, ...args }, context) => {
      const caller = callerOf(context);
      mayReadCharge(caller);
      return listedPix(context, {
        tenant: caller.tenant,
        list: 'charges',
        reads: context.services.charges,
        args,
        filter: chargeFilterOf(filter),
      });
    },
  }),
}));

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const ChargeSplitShareInput = builder.inputType('ChargeSplitShareInput', {
  description: 'The share of a beneficiary, given by exactly one of the two members.',
  isOneOf: true,
  fields: (t) => ({
    amountCents: t.field({ type: 'Cents', description: 'The amount in cents; at least 1.' }),
    percent: t.field({
      type: 'Decimal',
      description:
        'The percentage of the net amount: more than 0 and at most 100, with at most two decimals. The result is rounded down.',
    }),
  }),
});

const ChargeSplitInput = builder.inputType('ChargeSplitInput', {
  fields: (t) => ({
    subaccountId: t.string({
      required: true,
      description: 'The identifier of the beneficiary; each subaccount once.',
    }),
    share: t.field({
      type: ChargeSplitShareInput,
      required: true,
      description: 'A fixed amount, or a percentage of what is left after the fee.',
    }),
  }),
});

const CreateChargeInputRef = builder.inputType('CreateChargeInput', {
  validate: { schema: createChargeGraphqlInput as never },
  fields: (t) => ({
    ...amountInputs(t, 'The amount in cents: at least 1, and with splits at most 500000. Required.'),
    description: descriptionInput(t),
    expiresInSeconds: t.int({
      defaultValue: 86_400,
      description: 'The time to pay in seconds, 60 to 2592000 (30 days).',
    }),
    language: languageInput(t),
    metadata: metadataInput(t, 'Not together with splits.'),
    splits: t.field({
      type: [ChargeSplitInput],
      description: 'The shares of 1 to 9 beneficiaries. The rest belongs to the account. Null is refused.',
    }),
    externalId: t.string({
      description: `Your own label for the charge, ${EXTERNAL_ID_FORM}. Several charges may have the same one: a charge belongs to no order, and a second one is never sent back for its label.`,
    }),
    idempotencyKey: keyMember(t, 'give the same charge'),
  }),
});

const CreateChargeSuccess = replayableSuccessType<{ charge: Charge }>('CreateChargeSuccess', (t) => ({
  charge: t.expose('charge', { type: ChargeRef }),
}));

const CancelChargeSuccess = replayableSuccessType<{ charge: Charge }>('CancelChargeSuccess', (t) => ({
  charge: t.expose('charge', { type: ChargeRef }),
}));

builder.mutationField('cancelCharge', (t) =>
  t.field({
    type: CancelChargeSuccess,
    description:
      'Cancels a PENDING charge, which is EXPIRED at once. Money that comes later is returned automatically, and no beneficiary gets a share of it. A repetition changes nothing.',
    args: { chargeId: t.arg.string({ required: true }) },
    errors: { types: [ValidationError, NotFoundError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { chargeId }, { services }) =>
      services.charges.cancel(tenant, chargeId),
    ),
  }),
);

builder.mutationField('createCharge', (t) =>
  t.field({
    type: CreateChargeSuccess,
    description:
      'Creates a PIX charge; with splits, a split charge of at most R$ 5.000,00 and 9 beneficiaries. Show the payer the code, or send the payer to checkoutUrl. If the bank issues no code, the result is an UpstreamError: repeat the mutation with the same idempotencyKey.',
    args: { input: t.arg({ type: CreateChargeInputRef, required: true }) },
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
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.charges
        .create(tenant, flatInput(input as Parameters<typeof flatInput>[0]))
        .catch((error: unknown) => {
          throw nestedPaths(error);
        }),
    ),
  }),
);
