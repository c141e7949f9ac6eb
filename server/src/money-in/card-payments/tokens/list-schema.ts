import { isTokenId, type ListedToken, type TokenFilter, tokenStatus } from '../../../access/model.ts';
import { DashboardScopeEnum, EnvironmentEnum } from '../../../access/schema.ts';
import { builder } from '../../../api/graphql/builder.ts';
import { addLoaders, type LoadersOf } from '../../../api/graphql/loaders.ts';
import {
  BOTH_WAYS,
  connectionArguments,
  connectionOf,
  pagesBeside,
  rangeOf,
} from '../../../api/graphql/paging.ts';
import { assertUnrestrictedKey, callerOf } from '../../../kernel/caller.ts';
import { ValidationError } from '../../../kernel/errors.ts';
import { methodsOf } from '../../checkout/model.ts';
import { isPaused } from './model.ts';
import { CheckoutMethodEnum, TokenPauseRef } from './schema.ts';

const loads = addLoaders({
  listedToken: ({ access }, tenant, tokenIds) => access.findTokens(tenant, tokenIds),
  tokenPause: ({ checkoutTokens }, _, tokenIds) => checkoutTokens.pausesOf(tokenIds),
});

declare module '../../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

const TokenKind = builder.enumType('TokenKind', {
  description: 'The kind of a token that a merchant has minted.',
  values: {
    CHECKOUT: { value: 'checkout', description: 'A token of createCheckoutToken, which starts a payment.' },
    DASHBOARD: { value: 'dashboard', description: 'A token of createDashboardToken, which reads by scope.' },
  } as const,
});

const TokenStatus = builder.enumType('TokenStatus', {
  description: 'The state of a token.',
  values: {
    ACTIVE: { value: 'active', description: 'It is in force, and may be paused.' },
    EXPIRED: { value: 'expired', description: 'The token is refused, because its expiresAt is past.' },
    REVOKED: { value: 'revoked', description: 'It was revoked, or the API key that minted it.' },
  } as const,
});

const TokenAmount = builder
  .objectRef<Extract<ListedToken, { kind: 'checkout' }>['grant']['amount']>('TokenAmount')
  .implement({
    description:
      'The amount to which a checkout token is bound: fixedCents, a range, or the price of a product.',
    fields: (t) => ({
      fixedCents: t.field({
        type: 'Cents',
        nullable: true,
        description: 'The exact amount in cents; null for a range or a product.',
        resolve: (amount) => (amount.kind === 'fixed' ? amount.cents : null),
      }),
      minCents: t.field({
        type: 'Cents',
        nullable: true,
        description: 'The smallest amount of a range in cents; null if it is no range.',
        resolve: (amount) => (amount.kind === 'range' ? amount.minCents : null),
      }),
      maxCents: t.field({
        type: 'Cents',
        nullable: true,
        description: 'The largest amount of a range in cents; null if it is no range.',
        resolve: (amount) => (amount.kind === 'range' ? amount.maxCents : null),
      }),
      productId: t.string({
        nullable: true,
        description: 'The product whose price is paid; null if it is none.',
        resolve: (amount) => (amount.kind === 'product' ? amount.productId : null),
      }),
    }),
  });

const TokenRef = builder.objectRef<ListedToken>('Token').implement({
  description:
    'A checkout or dashboard token, as it was minted. Its text is stored nowhere: a token is ended by its tokenId, with revokeToken.',
  fields: (t) => ({
    tokenId: t.exposeString('tokenId', {
      description: 'The identifier of the token, tok_ and 24 hex digits; it grants nothing.',
    }),
    kind: t.field({
      type: TokenKind,
      description: 'The mutation that minted it: createCheckoutToken or createDashboardToken.',
      resolve: ({ kind }) => kind,
    }),
    status: t.field({
      type: TokenStatus,
      resolve: (token, _, { clock }) => tokenStatus(token, clock.now()),
    }),
    environment: t.field({
      type: EnvironmentEnum,
      description: 'The environment of the key that minted it.',
      resolve: (_, __, context) => callerOf(context).tenant.environment,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'The time at which it was minted.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time from which it is refused; null if it never expires.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which it, or the API key that minted it, was revoked; null if neither was.',
    }),
    pause: t.field({
      type: TokenPauseRef,
      nullable: true,
      description: 'The pause that is in force; null if there is none. Tokens of one order share theirs.',
      resolve: async ({ tokenId, kind, grant }, _, { loaders, clock }) => {
        if (kind !== 'checkout') return null;
        const pausedId = grant.orderTokenId ?? tokenId;
        const pause = await loaders.tokenPause.load(pausedId);
        return isPaused(pause, clock.now()) ? { tokenId: pausedId, ...pause! } : null;
      },
    }),
    mintedBy: t.exposeString('mintedBy', {
      nullable: true,
      description: 'The id of the API key that minted it, with which it ends; null if none did.',
    }),
    allowedOrigins: t.field({
      type: ['Url'],
      description: 'The origins of the pages that may use it; empty for any.',
      resolve: ({ allowedOrigins }) => [...allowedOrigins],
    }),
    trustedDocumentsOnly: t.exposeBoolean('trustedDocumentsOnly', {
      description: 'Whether it runs only trusted documents.',
    }),
    reusable: t.boolean({
      nullable: true,
      description: 'Whether a checkout token serves many payers; null for a dashboard token.',
      resolve: (token) => (token.kind === 'checkout' ? token.grant.reusable : null),
    }),
    amount: t.field({
      type: TokenAmount,
      nullable: true,
      description: 'The amount of a checkout token; null for a dashboard token.',
      resolve: (token) => (token.kind === 'checkout' ? token.grant.amount : null),
    }),
    methods: t.field({
      type: [CheckoutMethodEnum],
      nullable: true,
      description: 'The methods by which a checkout token lets its payer pay; null for a dashboard token.',
      resolve: (token) => (token.kind === 'checkout' ? [...methodsOf(token.grant)] : null),
    }),
    orderId: t.string({
      nullable: true,
      description: 'The number of the order to which a checkout token belongs; null if it belongs to none.',
      resolve: (token) => (token.kind === 'checkout' ? (token.grant.externalId ?? null) : null),
    }),
    description: t.string({
      nullable: true,
      description: 'The description that the payments of a checkout token have; null if there is none.',
      resolve: (token) => (token.kind === 'checkout' ? (token.grant.description ?? null) : null),
    }),
    scopes: t.field({
      type: [DashboardScopeEnum],
      nullable: true,
      description: 'The scopes of a dashboard token; null for a checkout token.',
      resolve: (token) => (token.kind === 'dashboard' ? [...token.grant.scopes] : null),
    }),
  }),
});

const TokenConnection = builder.connectionObject(
  { type: TokenRef, name: 'TokenConnection' },
  { name: 'TokenEdge' },
);

const TokenFilterInput = builder.inputType('TokenFilter', {
  description: 'Conditions of a list of tokens.',
  fields: (t) => ({
    kind: t.field({ type: [TokenKind], description: 'Selects tokens of these kinds.' }),
    reusable: t.boolean({
      description: 'Selects checkout tokens that serve many payers (true), or those that serve one (false).',
    }),
    ended: t.boolean({
      description: 'Whether tokens that have expired or were revoked are listed, too; false if left out.',
    }),
  }),
});

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

builder.queryFields((t) => ({
  token: t.field({
    type: TokenRef,
    nullable: true,
    args: { tokenId: t.arg.string({ required: true }) },
    description: 'The checkout or dashboard token with this tokenId, also after its end.',
    resolve: (_, { tokenId }, context) => {
      assertUnrestrictedKey(callerOf(context));
      if (!isTokenId(tokenId))
        throw new ValidationError([{ path: 'tokenId', message: 'must be tok_ and 24 hex digits' }]);
      return context.loaders.listedToken.load(tokenId);
    },
  }),
  tokens: t.field({
    type: TokenConnection,
    description: `A list of the checkout and dashboard tokens that are in force, newest first. It has no total: tokens expire by the clock. ${BOTH_WAYS}`,
    args: { ...connectionArguments(t.arg), filter: t.arg({ type: TokenFilterInput }) },
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertUnrestrictedKey(caller);
      const { kind, reusable, ended } = args.filter ?? {};
      const filter: TokenFilter = {
        kind: kind ?? undefined,
        reusable: reusable ?? undefined,
        ended: ended ?? undefined,
      };
      const cursors = context.listCursors('tokens');
      const range = rangeOf(cursors, args);
      const { items, more } = await context.services.access.listTokens(caller.tenant, {
        ...filter,
        ...range,
      });
      const nodes = items.map(({ position, token }) => ({ position, node: token }));
      return connectionOf(cursors, nodes, { ...pagesBeside(range, more), total: () => 0 });
    },
  }),
}));
