import { assertMay, assertUnrestrictedKey } from '../../access/model.ts';
import { TRUSTED_DOCUMENTS_ONLY, Viewer } from '../../access/schema.ts';
import type { StoredEvent } from '../../events/event.ts';
import { AccountUpdate, addAccountUpdates } from '../../graphql/account-updates.ts';
import { builder } from '../../graphql/builder.ts';
import { callerOf } from '../../graphql/context.ts';
import { authorized, successType } from '../../graphql/mutations.ts';
import { secondsLeft } from '../../kernel/clock.ts';
import {
  IdempotencyError,
  NotFoundError,
  RateLimitError,
  UnavailableError,
  ValidationError,
} from '../../kernel/errors.ts';
import { methodsOf } from '../checkout/model.ts';
import { CustomerInput, EXTERNAL_ID } from '../schema.ts';
import { createCheckoutTokenInput, type PausedToken } from './model.ts';

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

const CentsRangeInput = builder.inputType('CentsRangeInput', {
  fields: (t) => ({
    minCents: t.field({ type: 'Cents', required: true }),
    maxCents: t.field({ type: 'Cents', required: true }),
  }),
});

const CheckoutAmountInput = builder.inputType('CheckoutAmountInput', {
  isOneOf: true,
  description:
    'What a checkout token lets a browser pay: a fixed amount, a range that the payer chooses in, or a product’s price.',
  fields: (t) => ({
    fixedCents: t.field({ type: 'Cents' }),
    range: t.field({ type: CentsRangeInput }),
    productId: t.string(),
  }),
});

const CheckoutMethodEnum = builder.enumType('CheckoutMethod', {
  values: {
    CARD: { value: 'card', description: 'startCheckout: on the hosted page.' },
    PIX: { value: 'pix', description: 'startPixCheckout: in the page itself.' },
  } as const,
});

const CreateCheckoutTokenInput = builder.inputType('CreateCheckoutTokenInput', {
  fields: (t) => ({
    amount: t.field({ type: CheckoutAmountInput, required: true }),
    description: t.string({ description: 'Shown on the checkout; at most 200 characters.' }),
    callbackUrl: t.field({
      type: 'Url',
      description: 'Public https URL that receives the webhook; at most 500 characters.',
    }),
    customer: t.field({ type: CustomerInput }),
    metadata: t.string({ description: 'Serialized JSON, at most 2048 characters; returned byte for byte.' }),
    externalId: t.string({
      description: `${EXTERNAL_ID} Tokens of one number are of one order: minted again with the same input, expiresInSeconds apart, a token gives the open payment of the order; with another input it is refused. Not with reusable.`,
    }),
    successUrl: t.field({ type: 'Url' }),
    cancelUrl: t.field({ type: 'Url' }),
    allowedOrigins: t.field({
      type: ['Url'],
      description:
        'Origins of the pages that may use it, such as https://loja.example; at most 20, empty for any.',
    }),
    methods: t.field({
      type: [CheckoutMethodEnum],
      defaultValue: ['card'],
      description:
        'Each once. A token made before there were methods pays by card. Cards need a live key, and PIX takes a test key as well.',
    }),
    reusable: t.boolean({
      defaultValue: false,
      description:
        'A page that many people visit (a shop’s static page) needs a reusable one: each visitor gets a payment of their own.',
    }),
    expiresInSeconds: t.int({
      description:
        'From a minute (60) to a year (31536000). One day for a single-use token where left out; a reusable one does not expire by itself, it is revoked.',
    }),
    trustedDocumentsOnly: t.boolean({ defaultValue: false, description: TRUSTED_DOCUMENTS_ONLY }),
  }),
});

const CheckoutTokenSuccess = successType<{ token: string; expiresAt: Date | null }>(
  'CheckoutTokenSuccess',
  (t) => ({
    token: t.exposeString('token', { description: 'Shown this once; it is stored hashed.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    expiresInSeconds: t.int({
      nullable: true,
      description:
        'Seconds until expiresAt by the server’s clock, 0 when past: a device’s clock may be wrong.',
      resolve: ({ expiresAt }, _, { clock }) => expiresAt && secondsLeft(expiresAt, clock),
    }),
  }),
);

const TokenPauseReason = builder.enumType('TokenPauseReason', {
  values: {
    MERCHANT: {
      value: 'merchant',
      description: 'By pauseToken or the psa command: it starts no payment, and its payments take no card.',
    },
    DECLINES: {
      value: 'declines',
      description:
        'Many cards were declined, as when stolen ones are tried. It ends by itself; meanwhile every payer can pay, with longer waits after a declined card.',
    },
  } as const,
});

const TokenPauseRef = builder.objectRef<PausedToken>('TokenPause').implement({
  description: 'A pause of a checkout token.',
  fields: (t) => ({
    tokenId: t.exposeString('tokenId', {
      description:
        'tok_… ; names the token where its text is not to be shown. Of an order’s tokens, which are paused together, the first.',
    }),
    reason: t.field({ type: TokenPauseReason, resolve: ({ reason }) => reason }),
    pausedAt: t.expose('pausedAt', { type: 'DateTime' }),
    pausedUntil: t.expose('pausedUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'Null: until it is resumed.',
    }),
  }),
});

const PauseTokenSuccess = successType<{ pause: PausedToken }>('PauseTokenSuccess', (t) => ({
  pause: t.expose('pause', { type: TokenPauseRef }),
}));

const ResumeTokenSuccess = successType<{ tokenId: string }>('ResumeTokenSuccess', (t) => ({
  tokenId: t.exposeString('tokenId'),
}));

interface TokenUpdate {
  cursor: string;
  occurredAt: Date;
  tokenId: string;
  pause: PausedToken | null;
}

const CheckoutTokenUpdate = builder.objectRef<TokenUpdate>('CheckoutTokenUpdate').implement({
  interfaces: [AccountUpdate],
  description: 'A checkout token was paused or resumed.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'The `after` that continues behind this update.' }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    tokenId: t.exposeString('tokenId'),
    pause: t.field({
      type: TokenPauseRef,
      nullable: true,
      description: 'Null where it was resumed.',
      resolve: ({ pause }) => pause,
    }),
  }),
});

builder.objectField(Viewer, 'checkoutMethods', (t) =>
  t.field({
    type: [CheckoutMethodEnum],
    nullable: true,
    description: 'What the checkout token lets its payer pay with; null to every other credential.',
    resolve: ({ credential }) =>
      credential.kind === 'checkout_token' ? [...methodsOf(credential.grant)] : null,
  }),
);

// ── Queries and subscriptions ───────────────────────────────────────────────────────────────────

builder.queryField('pausedTokens', (t) =>
  t.field({
    type: [TokenPauseRef],
    description: 'The pauses of checkout tokens that are in force, newest first; at most 100.',
    resolve: (_, __, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'card_payments.read');
      return context.services.checkoutTokens.listPaused(caller.tenant);
    },
  }),
);

addAccountUpdates('CHECKOUT_TOKEN', {
  ...{ typename: 'CheckoutTokenUpdate', resource: 'checkout_token' },
  follow(context) {
    assertMay(callerOf(context), 'card_payments.read');
    return { toItem: tokenUpdate };
  },
});

builder.subscriptionField('allCheckoutTokenUpdates', (t) =>
  t.field({
    type: CheckoutTokenUpdate,
    description:
      'Each pause of a checkout token and each resumption; no first state, only changes. The end of a pause by itself is in its pausedUntil.',
    args: {
      after: t.arg.string(),
      tokenId: t.arg.string({ description: 'Only changes of this token: tok_…' }),
    },
    subscribe: (_, { after, tokenId }, context) => {
      assertMay(callerOf(context), 'card_payments.read');
      return context.subscribe({
        topic: { resource: 'checkout_token' },
        matches: (event) =>
          event.resource === 'checkout_token' && (tokenId == null || event.snapshot.tokenId === tokenId),
        after,
        toItem: tokenUpdate,
        isLast: () => false,
      });
    },
    resolve: (update) => update,
  }),
);

function tokenUpdate(event: StoredEvent, cursor: string): TokenUpdate {
  if (event.resource !== 'checkout_token')
    throw new TypeError(`${event.kind} is not a checkout token's event`);
  const { tokenId, pause } = event.snapshot;
  return { cursor, occurredAt: event.occurredAt, tokenId, pause: pause && { tokenId, ...pause } };
}

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

builder.mutationFields((t) => ({
  createCheckoutToken: t.field({
    type: CheckoutTokenSuccess,
    description:
      'A token that a page may show to everyone: it starts the payment that it describes, and nothing else.',
    args: {
      input: t.arg({
        type: CreateCheckoutTokenInput,
        required: true,
        validate: { schema: createCheckoutTokenInput as never },
      }),
    },
    errors: { types: [ValidationError, NotFoundError, RateLimitError, UnavailableError, IdempotencyError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }, keyId) =>
      services.checkoutTokens.create(tenant, keyId, input),
    ),
  }),
  pauseToken: t.field({
    type: PauseTokenSuccess,
    description:
      'With the API key of its account: a checkout token takes no payments from now on, neither new ones nor, where the payer’s page is this server’s, those that it has started. Tokens of one externalId are paused together. A charge under way goes on, and a PIX code that was given can still be paid.',
    args: {
      token: t.arg.string({ required: true, description: 'Its text, or its id (tok_…).' }),
      seconds: t.arg.int({ description: 'From 1 to a year (31536000); until resumeToken where left out.' }),
    },
    errors: { types: [ValidationError, NotFoundError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { token, seconds }, { services }) => ({
      pause: await services.checkoutTokens.pause(tenant, token, seconds ?? null),
    })),
  }),
  resumeToken: t.field({
    type: ResumeTokenSuccess,
    description:
      'With the API key of its account: ends the pause of a checkout token, by hand or for its declined cards.',
    args: { token: t.arg.string({ required: true, description: 'Its text, or its id (tok_…).' }) },
    errors: { types: [NotFoundError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { token }, { services }) => ({
      tokenId: await services.checkoutTokens.resume(tenant, token),
    })),
  }),
}));
