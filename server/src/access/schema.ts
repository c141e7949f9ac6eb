import { CustomerInput } from '../card-payments/schema.ts';
import type { StoredEvent } from '../events/event.ts';
import { builder } from '../graphql/builder.ts';
import { callerOf, type RateLimitState } from '../graphql/context.ts';
import { authorized, successType } from '../graphql/mutations.ts';
import { NotFoundError, RateLimitError, UnavailableError, ValidationError } from '../kernel/errors.ts';
import type { Environment } from '../kernel/tenant.ts';
import {
  assertMayFollowAccount,
  assertMayReadCardPayments,
  assertUnrestrictedKey,
  type Credential,
  createCheckoutTokenInput,
  createDashboardTokenInput,
  type PausedToken,
} from './model.ts';

const EnvironmentEnum = builder.enumType('Environment', {
  description: 'The API key’s prefix selects it: ps_live_ or ps_test_. Data of the two never meet.',
  values: { LIVE: { value: 'live' }, SANDBOX: { value: 'sandbox' } } as const,
});

const CredentialKind = builder.enumType('CredentialKind', {
  values: {
    API_KEY: { value: 'api_key', description: 'For servers alone.' },
    CHECKOUT_TOKEN: { value: 'checkout_token', description: 'createCheckoutToken: may be public.' },
    PAYMENT_TOKEN: { value: 'payment_token', description: 'startCheckout: follows one payment.' },
    DASHBOARD_TOKEN: { value: 'dashboard_token', description: 'createDashboardToken: reads by scope.' },
  } as const,
});

const RateLimit = builder.objectRef<RateLimitState>('RateLimit').implement({
  description: 'Root fields a minute.',
  fields: (t) => ({
    limit: t.exposeInt('limit'),
    remaining: t.exposeInt('remaining'),
    resetAt: t.expose('resetAt', { type: 'DateTime' }),
  }),
});

const Viewer = builder.objectRef<{ environment: Environment; credential: Credential }>('Viewer').implement({
  description: 'Who is asking.',
  fields: (t) => ({
    environment: t.expose('environment', { type: EnvironmentEnum }),
    credential: t.field({
      type: CredentialKind,
      description: 'How the caller was let in.',
      resolve: ({ credential }) => credential.kind,
    }),
    permissions: t.stringList({
      nullable: true,
      description:
        'Null where they are not known (a token, or remote mode: the service does not show a key’s permissions). Empty for an unrestricted key.',
      resolve: ({ credential }) =>
        credential.kind === 'api_key' && credential.permissions ? [...credential.permissions] : null,
    }),
    rateLimit: t.field({ type: RateLimit, resolve: (_, __, context) => context.rateLimit() }),
  }),
});

builder.queryFields((t) => ({
  viewer: t.field({
    type: Viewer,
    resolve: (_, __, context) => {
      const { tenant, credential } = callerOf(context);
      return { environment: tenant.environment, credential };
    },
  }),
  updatesCursor: t.string({
    description:
      'Where the account’s updates stand. Ask for it in the same query as a list, before the list (it is read first), and open an `all…Updates` subscription with it as `after`: nothing falls between the list and the stream.',
    resolve: (_, __, context) => {
      assertMayFollowAccount(callerOf(context));
      return context.updatesCursor();
    },
  }),
}));

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
    successUrl: t.field({ type: 'Url' }),
    cancelUrl: t.field({ type: 'Url' }),
    allowedOrigins: t.field({
      type: ['Url'],
      description:
        'Origins of the pages that may use it, such as https://loja.example; at most 20, empty for any.',
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
  }),
});

const CheckoutTokenSuccess = successType<{ token: string; expiresAt: Date | null }>(
  'CheckoutTokenSuccess',
  (t) => ({
    token: t.exposeString('token', { description: 'Shown this once; it is stored hashed.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
  }),
);

const DashboardScope = builder.enumType('DashboardScope', {
  description: 'What a dashboard token may read and follow.',
  values: {
    WALLET: { value: 'wallet' },
    PAYOUTS: { value: 'payouts' },
    SUBACCOUNTS: { value: 'subaccounts' },
    CARD_PAYMENTS: { value: 'card_payments' },
    PRODUCTS: { value: 'products' },
    WEBHOOKS: { value: 'webhooks' },
  } as const,
});

const CreateDashboardTokenInput = builder.inputType('CreateDashboardTokenInput', {
  validate: { schema: createDashboardTokenInput },
  fields: (t) => ({
    scopes: t.field({ type: [DashboardScope], required: true, description: 'At least one, each once.' }),
    allowedOrigins: t.field({
      type: ['Url'],
      description:
        'Origins of the pages that may use it, such as https://loja.example; at most 20, empty for any.',
    }),
    expiresInSeconds: t.int({ defaultValue: 3600, description: 'From a minute (60) to a day (86400).' }),
  }),
});

const DashboardTokenSuccess = successType<{ token: string; expiresAt: Date }>(
  'DashboardTokenSuccess',
  (t) => ({
    token: t.exposeString('token', { description: 'Shown this once; it is stored hashed.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
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
      description: 'tok_… ; names the token where its text is not to be shown.',
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

builder.queryField('pausedTokens', (t) =>
  t.field({
    type: [TokenPauseRef],
    description: 'The pauses of checkout tokens that are in force, newest first; at most 100.',
    resolve: (_, __, context) => {
      const caller = callerOf(context);
      assertMayReadCardPayments(caller);
      return context.services.access.listPausedTokens(caller.tenant);
    },
  }),
);

builder.subscriptionField('allCheckoutTokenUpdates', (t) =>
  t.field({
    type: CheckoutTokenUpdate,
    description:
      'Each pause of a checkout token and each resumption; no first state, only changes. The end of a pause by itself is in its pausedUntil.',
    args: { after: t.arg.string() },
    subscribe: (_, { after }, context) => {
      assertMayReadCardPayments(callerOf(context));
      return context.subscribe({
        topic: { resource: 'checkout_token' },
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

const RevokeTokenSuccess = successType<{ revoked: boolean }>('RevokeTokenSuccess', (t) => ({
  revoked: t.exposeBoolean('revoked'),
}));

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
    errors: { types: [ValidationError, NotFoundError, RateLimitError, UnavailableError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }, keyId) =>
      services.access.createCheckoutToken(tenant, keyId, input),
    ),
  }),
  createDashboardToken: t.field({
    type: DashboardTokenSuccess,
    description:
      'A short-lived token that reads and follows what its scopes name, and changes nothing. It ends with the key that minted it.',
    args: { input: t.arg({ type: CreateDashboardTokenInput, required: true }) },
    errors: { types: [ValidationError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }, keyId) =>
      services.access.createDashboardToken(tenant, keyId, input),
    ),
  }),
  revokeToken: t.field({
    type: RevokeTokenSuccess,
    description:
      'With the API key of its account: ends a checkout or dashboard token at once, its open sockets included.',
    args: { token: t.arg.string({ required: true }) },
    errors: { types: [NotFoundError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { token }, { services }) => {
      await services.access.revokeToken(tenant, token);
      return { revoked: true };
    }),
  }),
  pauseToken: t.field({
    type: PauseTokenSuccess,
    description:
      'With the API key of its account: a checkout token takes no payments from now on, neither new ones nor, where the payer’s page is this server’s, those that it has started. A charge under way goes on.',
    args: {
      token: t.arg.string({ required: true, description: 'Its text, or its id (tok_…).' }),
      seconds: t.arg.int({ description: 'From 1 to a year (31536000); until resumeToken where left out.' }),
    },
    errors: { types: [ValidationError, NotFoundError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { token, seconds }, { services }) => ({
      pause: await services.access.pauseToken(tenant, token, seconds ?? null),
    })),
  }),
  resumeToken: t.field({
    type: ResumeTokenSuccess,
    description:
      'With the API key of its account: ends the pause of a checkout token, by hand or for its declined cards.',
    args: { token: t.arg.string({ required: true, description: 'Its text, or its id (tok_…).' }) },
    errors: { types: [NotFoundError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { token }, { services }) => ({
      tokenId: await services.access.resumeToken(tenant, token),
    })),
  }),
}));
