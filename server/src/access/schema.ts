import { CustomerInput } from '../card-payments/schema.ts';
import { builder } from '../graphql/builder.ts';
import { callerOf, type RateLimitState } from '../graphql/context.ts';
import {
  NotFoundError,
  PermissionError,
  RateLimitError,
  UnavailableError,
  ValidationError,
} from '../kernel/errors.ts';
import type { Environment } from '../kernel/tenant.ts';
import {
  assertMayFollowAccount,
  assertUnrestrictedKey,
  type Credential,
  createCheckoutTokenInput,
  createDashboardTokenInput,
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
    extensions: { momentary: true },
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

const CheckoutTokenSuccess = builder
  .objectRef<{ token: string; expiresAt: Date | null }>('CheckoutTokenSuccess')
  .implement({
    fields: (t) => ({
      token: t.exposeString('token', { description: 'Shown this once; it is stored hashed.' }),
      expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    }),
  });

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

const DashboardTokenSuccess = builder
  .objectRef<{ token: string; expiresAt: Date }>('DashboardTokenSuccess')
  .implement({
    fields: (t) => ({
      token: t.exposeString('token', { description: 'Shown this once; it is stored hashed.' }),
      expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    }),
  });

const RevokeTokenSuccess = builder.objectRef<{ revoked: boolean }>('RevokeTokenSuccess').implement({
  fields: (t) => ({ revoked: t.exposeBoolean('revoked') }),
});

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
    errors: {
      union: { name: 'CreateCheckoutTokenResult' },
      types: [ValidationError, NotFoundError, PermissionError, RateLimitError, UnavailableError],
    },
    resolve: (_, { input }, context) => {
      const caller = callerOf(context);
      return context.services.access.createCheckoutToken(caller.tenant, assertUnrestrictedKey(caller), input);
    },
  }),
  createDashboardToken: t.field({
    type: DashboardTokenSuccess,
    description:
      'A short-lived token that reads and follows what its scopes name, and changes nothing. It ends with the key that minted it.',
    args: { input: t.arg({ type: CreateDashboardTokenInput, required: true }) },
    errors: { union: { name: 'CreateDashboardTokenResult' }, types: [ValidationError, PermissionError] },
    resolve: (_, { input }, context) => {
      const caller = callerOf(context);
      return context.services.access.createDashboardToken(
        caller.tenant,
        assertUnrestrictedKey(caller),
        input,
      );
    },
  }),
  revokeToken: t.field({
    type: RevokeTokenSuccess,
    description:
      'With the API key of its account: ends a checkout or dashboard token at once, its open sockets included.',
    args: { token: t.arg.string({ required: true }) },
    errors: { union: { name: 'RevokeTokenResult' }, types: [NotFoundError, PermissionError] },
    resolve: async (_, { token }, context) => {
      const caller = callerOf(context);
      assertUnrestrictedKey(caller);
      await context.services.access.revokeToken(caller.tenant, token);
      return { revoked: true };
    },
  }),
}));
