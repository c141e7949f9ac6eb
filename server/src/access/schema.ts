import type { ArgBuilder } from '@pothos/core';
import { builder } from '../api/graphql/builder.ts';
import type { RateLimitState } from '../api/graphql/context.ts';
import { authorized, successType, type Types } from '../api/graphql/mutations.ts';
import {
  assertMayFollowAccount,
  assertUnrestrictedKey,
  type Credential,
  callerOf,
  type DashboardScope,
  SCOPES,
} from '../kernel/caller.ts';
import { secondsLeft } from '../kernel/clock.ts';
import { NotFoundError, ValidationError } from '../kernel/errors.ts';
import type { Environment } from '../kernel/tenant.ts';
import { type AccessService, createDashboardTokenInput, type MintedToken, namedToken } from './model.ts';

declare module '../api/graphql/services.ts' {
  interface PaymentsService {
    access: AccessService;
  }
}

export const EnvironmentEnum = builder.enumType('Environment', {
  description:
    'The environment, which the API key’s prefix selects: ps_live_ or ps_test_. Data of the two never meet.',
  values: {
    LIVE: { value: 'live', description: 'Real money, by keys that begin with ps_live_.' },
    SANDBOX: { value: 'sandbox', description: 'No money, by keys that begin with ps_test_.' },
  } as const,
});

const CredentialKind = builder.enumType('CredentialKind', {
  description: 'The kind of credential that a caller has presented, which limits what it may do.',
  values: {
    API_KEY: { value: 'api_key', description: 'An API key; for servers alone.' },
    CHECKOUT_TOKEN: {
      value: 'checkout_token',
      description: 'A token of createCheckoutToken, which may be public.',
    },
    PAYMENT_TOKEN: {
      value: 'payment_token',
      description: 'A token of startCheckout or startPixCheckout, which follows one payment.',
    },
    DASHBOARD_TOKEN: {
      value: 'dashboard_token',
      description: 'A token of createDashboardToken, which reads by scope.',
    },
  } as const,
});

const RateLimit = builder.objectRef<RateLimitState>('RateLimit').implement({
  description: 'The caller’s limit of root fields a minute.',
  fields: (t) => ({
    limit: t.exposeInt('limit', {
      description: 'The number of root fields that the caller may request in a minute.',
    }),
    remaining: t.exposeInt('remaining', {
      description: 'The number of root fields that are left in this minute.',
    }),
    resetAt: t.expose('resetAt', {
      type: 'DateTime',
      description: 'The time at which the whole limit is available again.',
    }),
  }),
});

export const Viewer = builder
  .objectRef<{ environment: Environment; credential: Credential; trustedDocumentsOnly: boolean }>('Viewer')
  .implement({
    description: 'The caller that sent the request.',
    fields: (t) => ({
      environment: t.expose('environment', {
        type: EnvironmentEnum,
        description: 'The environment of the credential, to which all answers belong.',
      }),
      credential: t.field({
        type: CredentialKind,
        description: 'The kind of credential that identified the caller.',
        resolve: ({ credential }) => credential.kind,
      }),
      permissions: t.stringList({
        nullable: true,
        description:
          'The permissions of the key; null if they are not known (a token, or remote mode: the upstream service does not show a key’s permissions). Empty for an unrestricted key.',
        resolve: ({ credential }) =>
          credential.kind === 'api_key' && credential.permissions ? [...credential.permissions] : null,
      }),
      trustedDocumentsOnly: t.exposeBoolean('trustedDocumentsOnly', {
        description:
          'Whether the token runs only trusted documents. A payment token takes this from the checkout token that started the payment.',
      }),
      rateLimit: t.field({
        type: RateLimit,
        description: 'The caller’s own rate limit, with this request counted.',
        resolve: (_, __, context) => context.rateLimit(),
      }),
    }),
  });

builder.queryFields((t) => ({
  viewer: t.field({
    type: Viewer,
    description: 'The caller: its credential, its permissions and its rate limit.',
    resolve: (_, __, context) => {
      const { tenant, credential, trustedDocumentsOnly } = callerOf(context);
      return { environment: tenant.environment, credential, trustedDocumentsOnly };
    },
  }),
  updatesCursor: t.string({
    description:
      'The current position in the account’s updates. Request it in the same query as a list, before the list (it is read first), and open an `all…Updates` subscription with it as `after`: nothing falls between the list and the stream.',
    resolve: (_, __, context) => {
      assertMayFollowAccount(callerOf(context));
      return context.updatesCursor();
    },
  }),
}));

export const DashboardScopeEnum = builder.enumType('DashboardScope', {
  description: 'The data that a dashboard token may read and follow.',
  values: Object.fromEntries(
    Object.entries(SCOPES).map(([value, { description }]) => [
      value.toUpperCase(),
      { value: value as DashboardScope, description },
    ]),
  ),
});

/** The description of the input that binds a token to trusted documents. */
export const TRUSTED_DOCUMENTS_ONLY =
  'Whether the token runs only documents of the server’s manifest (PSA_TRUSTED_DOCUMENTS) and those of the widget. Refused if the server has no manifest.';

/** The description of a token's id where it is minted. */
export const TOKEN_ID =
  'The identifier of the token, tok_ and 24 hex digits: it is no secret, grants nothing, and ends or pauses the token later.';

/** The arguments by which a mutation names a token: its text or its id. */
export function namedTokenArguments(arg: ArgBuilder<Types>) {
  return {
    token: arg.string({ description: 'The text of the token, or its tokenId. This or tokenId.' }),
    tokenId: arg.string({
      description: 'The tokenId of the token, for somebody who no longer has its text.',
    }),
  };
}

const CreateDashboardTokenInput = builder.inputType('CreateDashboardTokenInput', {
  validate: { schema: createDashboardTokenInput },
  fields: (t) => ({
    scopes: t.field({
      type: [DashboardScopeEnum],
      required: true,
      description: 'The scopes of the token; at least one, each once.',
    }),
    allowedOrigins: t.field({
      type: ['Url'],
      description:
        'The origins of the pages that may use the token, such as https://loja.example; at most 20, empty for any. Null is refused.',
    }),
    expiresInSeconds: t.int({
      defaultValue: 3600,
      description: 'The lifetime in seconds, from a minute (60) to a day (86400).',
    }),
    trustedDocumentsOnly: t.boolean({ defaultValue: false, description: TRUSTED_DOCUMENTS_ONLY }),
  }),
});

const CreateDashboardTokenSuccess = successType<MintedToken & { expiresAt: Date }>(
  'CreateDashboardTokenSuccess',
  (t) => ({
    token: t.exposeString('token', {
      description: 'The token, which is shown this once; it is stored as a hash.',
    }),
    tokenId: t.exposeString('tokenId', { description: TOKEN_ID }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    expiresInSeconds: t.int({
      description: 'The seconds until expiresAt by the server’s clock: a device’s clock may be wrong.',
      resolve: ({ expiresAt }, _, { clock }) => secondsLeft(expiresAt, clock),
    }),
  }),
  { formerly: 'DashboardTokenSuccess' },
);

const RevokeTokenSuccess = successType<{
  revoked: boolean;
  tokenId: string;
  replayed: boolean;
}>('RevokeTokenSuccess', (t) => ({
  replayed: t.exposeBoolean('replayed', {
    description: 'Whether an earlier request had already revoked it, so that this one has changed nothing.',
  }),
  tokenId: t.exposeString('tokenId', { description: 'The token that was ended.' }),
  revoked: t.exposeBoolean('revoked', {
    description: 'Always true, also for a token that had expired or was revoked before.',
  }),
}));

builder.mutationFields((t) => ({
  createDashboardToken: t.field({
    type: CreateDashboardTokenSuccess,
    description:
      'Creates a short-lived token that reads and follows what its scopes name, and changes nothing. It ends with the key that minted it.',
    args: { input: t.arg({ type: CreateDashboardTokenInput, required: true }) },
    errors: { types: [ValidationError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }, keyId) =>
      services.access.createDashboardToken(tenant, keyId, input),
    ),
  }),
  revokeToken: t.field({
    type: RevokeTokenSuccess,
    description:
      'Ends a checkout or dashboard token of the API key’s account, named by its text or by its tokenId, and closes what it has open. The instance that answers takes no request with it any more; others a few milliseconds later, when they are notified, and a second later at most.',
    args: namedTokenArguments(t.arg),
    errors: { types: [ValidationError, NotFoundError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, named, { services }) => ({
      revoked: true,
      ...(await services.access.revokeToken(tenant, namedToken(named))),
    })),
  }),
}));
