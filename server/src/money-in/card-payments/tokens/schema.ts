import { type MintedToken, namedToken } from '../../../access/model.ts';
import { namedTokenArguments, TOKEN_ID, TRUSTED_DOCUMENTS_ONLY, Viewer } from '../../../access/schema.ts';
import { builder } from '../../../api/graphql/builder.ts';
import { authorized, successType } from '../../../api/graphql/mutations.ts';
import {
  BOTH_WAYS,
  connectionArguments,
  connectionOf,
  pagesBeside,
  rangeOf,
} from '../../../api/graphql/paging.ts';
import { defineUpdates } from '../../../api/graphql/updates.ts';
import { assertMay, assertUnrestrictedKey, callerOf } from '../../../kernel/caller.ts';
import { secondsLeft } from '../../../kernel/clock.ts';
import {
  IdempotencyError,
  NotFoundError,
  PreconditionError,
  RateLimitError,
  ValidationError,
} from '../../../kernel/errors.ts';
import { nullMessage } from '../../../kernel/text.ts';
import { methodsOf } from '../../checkout/model.ts';
import { orderInputs, paymentInputs } from '../../checkout/schema.ts';
import {
  type CheckoutTokenService,
  type CreateCheckoutTokenInput,
  createCheckoutTokenInput,
  type PausedToken,
} from './model.ts';

declare module '../../../api/graphql/services.ts' {
  interface PaymentsService {
    checkoutTokens: CheckoutTokenService;
  }
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

const CentsRangeInput = builder.inputType('CentsRangeInput', {
  fields: (t) => ({
    minCents: t.field({
      type: 'Cents',
      required: true,
      description: 'The smallest amount in cents that the payer may choose, itself included.',
    }),
    maxCents: t.field({
      type: 'Cents',
      required: true,
      description: 'The largest amount in cents that the payer may choose, itself included.',
    }),
  }),
});

const CheckoutAmountInput = builder.inputType('CheckoutAmountInput', {
  isOneOf: true,
  description:
    'The amount that a checkout token lets a browser pay: a fixed amount, a range in which the payer chooses, or a product’s price. Amounts are at least 80 cents, those of a token for PIX alone at least 1.',
  fields: (t) => ({
    fixedCents: t.field({ type: 'Cents', description: 'The exact amount in cents.' }),
    range: t.field({
      type: CentsRangeInput,
      description: 'The range in which the payer chooses, both bounds included.',
    }),
    productId: t.string({
      description: 'The price of this product as it is when the payer starts; 24 hex digits.',
    }),
  }),
});

export const CheckoutMethodEnum = builder.enumType('CheckoutMethod', {
  description: 'The method by which a checkout token lets a payer pay.',
  values: {
    CARD: { value: 'card', description: 'A card, on the hosted page: startCheckout.' },
    PIX: { value: 'pix', description: 'PIX, in the page itself: startPixCheckout.' },
  } as const,
});

const CreateCheckoutTokenInputRef = builder.inputType('CreateCheckoutTokenInput', {
  fields: (t) => ({
    amount: t.field({
      type: CheckoutAmountInput,
      description:
        'The amount that the payer pays, which no page can change. Required, or amountCents in its place.',
    }),
    amountCents: t.field({
      type: 'Cents',
      description: 'The exact amount in cents, as `amount: { fixedCents: … }`. Not allowed with amount.',
    }),
    ...paymentInputs(t),
    ...orderInputs(
      t,
      'Tokens of one number belong to one order, whose amount and customer are those of the first token: with others a token is refused (IDEMPOTENCY_CONFLICT). A further token gives the open payment of the order; one that it starts has the description, the URLs and the metadata of that token. Not allowed with reusable.',
    ),
    allowedOrigins: t.field({
      type: ['Url'],
      description:
        'The origins of the pages that may use the token, such as https://loja.example; at most 20, empty for any. Null is refused.',
    }),
    methods: t.field({
      type: [CheckoutMethodEnum],
      defaultValue: ['card'],
      description:
        'The methods by which the payer may pay, each once. A token that was made before there were methods pays by card. Cards need a live key, and PIX takes a test key as well.',
    }),
    reusable: t.boolean({
      defaultValue: false,
      description:
        'Whether the token serves many payers. A page that many people visit (a shop’s static page) needs a reusable one: each visitor gets a payment of their own.',
    }),
    expiresInSeconds: t.int({
      description:
        'The lifetime in seconds, from a minute (60) to a year (31536000). If omitted, a single-use token lives for one day; a reusable one does not expire by itself, it is revoked. Null is refused.',
    }),
    trustedDocumentsOnly: t.boolean({ defaultValue: false, description: TRUSTED_DOCUMENTS_ONLY }),
  }),
});

const CreateCheckoutTokenSuccess = successType<MintedToken & { expiresAt: Date | null }>(
  'CreateCheckoutTokenSuccess',
  (t) => ({
    token: t.exposeString('token', {
      description: 'The token, which is shown this once; it is stored as a hash.',
    }),
    tokenId: t.exposeString('tokenId', { description: TOKEN_ID }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time from which the token starts no payment; null if it never expires.',
    }),
    expiresInSeconds: t.int({
      nullable: true,
      description:
        'The seconds until expiresAt by the server’s clock, 0 when past: a device’s clock may be wrong.',
      resolve: ({ expiresAt }, _, { clock }) => expiresAt && secondsLeft(expiresAt, clock),
    }),
  }),
  { formerly: 'CheckoutTokenSuccess' },
);

const TokenPauseReason = builder.enumType('TokenPauseReason', {
  description:
    'The reason for which a checkout token starts no payment for a while, or slows its payers down.',
  values: {
    MERCHANT: {
      value: 'merchant',
      description:
        'The merchant paused the token, by pauseToken or the psa command: it starts no payment, and its payments take no card.',
    },
    DECLINES: {
      value: 'declines',
      description:
        'Many cards were declined, as when stolen ones are tried. The pause ends by itself; meanwhile every payer can pay, with longer waits after a declined card.',
    },
    RESTORED: {
      value: 'restored',
      description:
        'In front of another service: this server was restored, and the token, which was minted before, may have sold since. It starts no payment until the operator confirms the records (psa restored --confirm); resumeToken does not end this.',
    },
  } as const,
});

export const TokenPauseRef = builder.objectRef<PausedToken>('TokenPause').implement({
  description: 'A pause of a checkout token.',
  fields: (t) => ({
    tokenId: t.exposeString('tokenId', {
      description:
        'The identifier of the token, tok_…, for places where its text is not to be shown. Of an order’s tokens, which are paused together, it is that of the first.',
    }),
    reason: t.field({
      type: TokenPauseReason,
      description: 'The reason for the pause.',
      resolve: ({ reason }) => reason,
    }),
    pausedAt: t.expose('pausedAt', {
      type: 'DateTime',
      description: 'The time at which the pause began.',
    }),
    pausedUntil: t.expose('pausedUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the pause ends by itself; null if it lasts until the token is resumed.',
    }),
  }),
});

const PauseTokenSuccess = successType<{ pause: PausedToken }>('PauseTokenSuccess', (t) => ({
  pause: t.expose('pause', { type: TokenPauseRef }),
}));

const ResumeTokenSuccess = successType<{ tokenId: string }>('ResumeTokenSuccess', (t) => ({
  tokenId: t.exposeString('tokenId', { description: 'The token that starts payments again.' }),
}));

const updates = defineUpdates({
  type: 'CheckoutTokenUpdate',
  description: 'The pause or the resumption of a checkout token.',
  kind: 'CHECKOUT_TOKEN',
  covers: 'Pauses of checkout tokens',
  resource: 'checkout_token',
  title: 'Checkout token',
  fields: (t) => ({
    tokenId: t.string({
      description: 'The identifier of the token in lists and logs; it grants nothing.',
      resolve: ({ item }) => item.tokenId,
    }),
    pause: t.field({
      type: TokenPauseRef,
      nullable: true,
      description: 'The pause; null if the token was resumed.',
      resolve: ({ item: { tokenId, pause } }) => pause && { tokenId, ...pause },
    }),
  }),
  authorize: (context) => assertMay(callerOf(context), 'card_payments.read'),
});

builder.objectField(Viewer, 'checkoutMethods', (t) =>
  t.field({
    type: [CheckoutMethodEnum],
    nullable: true,
    description:
      'The methods by which the checkout token lets its payer pay; null to every other credential.',
    resolve: ({ credential }) =>
      credential.kind === 'checkout_token' ? [...methodsOf(credential.grant)] : null,
  }),
);

// ── Queries and subscriptions ───────────────────────────────────────────────────────────────────

const TokenPauseConnection = builder.connectionObject(
  { type: TokenPauseRef, name: 'TokenPauseConnection' },
  { name: 'TokenPauseEdge' },
);

builder.queryField('pausedTokens', (t) =>
  t.field({
    type: TokenPauseConnection,
    description: `A list of the pauses of checkout tokens that are in force, those of the newest tokens first. ${BOTH_WAYS}`,
    args: connectionArguments(t.arg),
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'card_payments.read');
      const cursors = context.listCursors('pausedTokens');
      const range = rangeOf(cursors, args);
      const { items, more } = await context.services.checkoutTokens.listPaused(caller.tenant, range);
      const nodes = items.map(({ position, pause }) => ({ position, node: pause }));
      return connectionOf(cursors, nodes, { ...pagesBeside(range, more), total: () => 0 });
    },
  }),
);

builder.subscriptionField('allCheckoutTokenUpdates', (t) =>
  t.field({
    type: updates.type,
    description:
      'Each pause and each resumption of a checkout token; no first state, only changes. A pause that ends by itself sends no update: its pausedUntil shows the end.',
    args: {
      after: t.arg.string(),
      tokenId: t.arg.string({ description: 'Selects changes of this token: tok_…' }),
    },
    subscribe: (_, { after, tokenId }, context) =>
      updates.followAll(
        context,
        after,
        () =>
          ({ snapshot }) =>
            tokenId == null || snapshot.tokenId === tokenId,
      ),
    resolve: (update) => update,
  }),
);

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

builder.mutationFields((t) => ({
  createCheckoutToken: t.field({
    type: CreateCheckoutTokenSuccess,
    description:
      'Creates a token that a page may show to everyone: it starts the payment that it describes, and nothing else.',
    args: {
      input: t.arg({
        type: CreateCheckoutTokenInputRef,
        required: true,
        validate: { schema: createCheckoutTokenInput as never },
      }),
    },
    errors: { types: [ValidationError, NotFoundError, RateLimitError, PreconditionError, IdempotencyError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }, keyId) =>
      services.checkoutTokens.create(tenant, keyId, input as CreateCheckoutTokenInput),
    ),
  }),
  pauseToken: t.field({
    type: PauseTokenSuccess,
    description:
      'Pauses a checkout token of the API key’s account: from now on it takes no payments, neither new ones nor, where the payer’s page is this server’s, those that it has started. Tokens of one orderId are paused together. A charge under way continues, and a PIX code that was issued can still be paid.',
    args: {
      ...namedTokenArguments(t.arg),
      seconds: t.arg.int({
        description:
          'The length of the pause in seconds, from 1 to a year (31536000). If omitted, the pause lasts until resumeToken. Null is refused.',
      }),
    },
    errors: { types: [ValidationError, NotFoundError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { seconds, ...named }, { services }) => {
      // A null may be a number that was lost, and would pause without an end.
      if (seconds === null)
        throw new ValidationError([{ path: 'seconds', message: nullMessage('a pause without an end') }]);
      return { pause: await services.checkoutTokens.pause(tenant, namedToken(named), seconds ?? null) };
    }),
  }),
  resumeToken: t.field({
    type: ResumeTokenSuccess,
    description:
      'Ends the pause of a checkout token of the API key’s account, whether it was paused by hand or for its declined cards.',
    args: namedTokenArguments(t.arg),
    errors: { types: [ValidationError, NotFoundError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, named, { services }) => ({
      tokenId: await services.checkoutTokens.resume(tenant, namedToken(named)),
    })),
  }),
}));
