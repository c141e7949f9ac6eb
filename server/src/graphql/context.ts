import DataLoader from 'dataloader';
import type { AccessService, Caller } from '../access/model.ts';
import type { CardPayment, CardPaymentService } from '../card-payments/model.ts';
import type { SubscribeTo } from '../events/subscribe.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Cursors } from '../kernel/cursor.ts';
import { UnauthenticatedError } from '../kernel/errors.ts';
import type { Requester } from '../kernel/requester.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Payout, PayoutService } from '../payouts/model.ts';
import type { Product, ProductService } from '../products/model.ts';
import type { UnresolvedRequestService } from '../requests/model.ts';
import type { SandboxService } from '../sandbox/model.ts';
import type {
  Subaccount,
  SubaccountPayout,
  SubaccountPayoutService,
  SubaccountService,
} from '../subaccounts/model.ts';
import type { WalletService } from '../wallet/model.ts';
import type { WebhookAttempt, WebhookDelivery, WebhookService } from '../webhooks/model.ts';

/** The one port that the GraphQL layer knows, whichever implementation is behind it. */
export interface PaymentsService {
  access: AccessService;
  cardPayments: CardPaymentService;
  payouts: PayoutService;
  products: ProductService;
  requests: UnresolvedRequestService;
  sandbox: SandboxService;
  subaccounts: SubaccountService & SubaccountPayoutService;
  wallet: WalletService;
  webhooks: WebhookService;
}

/** The port as one operation uses it. In front of another service it matters who asks. */
export type ServicesFor = (requester: Requester) => PaymentsService;

export interface RateLimitState {
  limit: number;
  remaining: number;
  resetAt: Date;
}

/** Limits on `/graphql`, counted by root field: an API key has its own, each visitor of a browser token others. */
export interface RootFieldLimits {
  /** @throws RateLimitError, at once or later */
  take(caller: Caller, address: string): void | Promise<void>;
  look(caller: Caller, address: string): RateLimitState;
}

/** Subscriptions that are open at one time, by credential and by tenant. */
export interface SubscriptionLimits {
  /** Counts one until the returned function is called. @throws RateLimitError */
  open(caller: Caller): () => void;
}

/** Told when a root field has its result, or its stream: `error` is what it was refused with, null where it was not. */
export type OnRootField = (
  kind: 'query' | 'mutation' | 'subscription',
  field: string,
  error: unknown,
  ms: number,
) => void;

/** What an operation stands in, made anew for each. */
export interface Context {
  /** Null where no credential was presented. */
  readonly caller: Caller | null;
  /** The client's network address. */
  readonly address: string;
  readonly services: PaymentsService;
  readonly clock: Clock;
  readonly loaders: Loaders;
  /** Follows a topic until the client leaves or the credential ends. */
  readonly subscribe: SubscribeTo;
  /**
   * What it subscribes to is shared with whoever asks for the same operation, by this name, with the same rights: they are
   * all given the same items. Returns the name of the two together.
   */
  shareAs(operation: string): string;
  /** The same for one update of a subscription: of what was looked up before, nothing is known any more. */
  renewed(): Context;
  /** Where the account's log stands. */
  updatesCursor(): Promise<string>;
  /** The cursors of one of the account's lists. */
  listCursors(list: string): Cursors;
  /**
   * Counts one root field; it may begin when this is done. Those of one operation are let in in the order in which
   * they ask, each behind the one before. @throws RateLimitError, at once or later
   */
  takeRootField(): void | Promise<void>;
  readonly onRootField: OnRootField;
  rateLimit(): RateLimitState;
  checkoutUrl(orderCode: string): string;
  /** What an answer says beside its data; null where there is nothing to say. */
  extensions(): Record<string, unknown> | null;
}

/** Removes duplicates within one operation; never outlives it, so nothing stale is answered. */
export interface Loaders {
  cardPayment: Loader<CardPayment | null>;
  /** By withdrawal id or code. */
  payout: Loader<Payout | null>;
  webhookDelivery: Loader<WebhookDelivery | null>;
  webhookAttempts: Loader<WebhookAttempt[]>;
  product: Loader<Product | null>;
  subaccount: Loader<Subaccount | null>;
  subaccountPayout: Loader<SubaccountPayout | null>;
}

interface Loader<Value> {
  load(key: string): Promise<Value>;
  clearAll(): void;
}

export function createLoaders(caller: Caller | null, services: PaymentsService): Loaders {
  return { __proto__: LOADERS, caller, services, made: null } as unknown as Loaders;
}

const READ: { [Name in keyof Loaders]: ReadFor<Loaders[Name]> } = {
  cardPayment: ({ cardPayments }, tenant, orderCodes) => cardPayments.findMany(tenant, orderCodes),
  payout: ({ payouts }, tenant, references) => payouts.findMany(tenant, references),
  webhookDelivery: ({ webhooks }, tenant, webhookIds) => webhooks.findMany(tenant, webhookIds),
  webhookAttempts: ({ webhooks }, tenant, webhookIds) => webhooks.attemptsOf(tenant, webhookIds),
  product: ({ products }, tenant, ids) => products.findMany(tenant, ids),
  subaccount: ({ subaccounts }, tenant, ids) => subaccounts.findMany(tenant, ids),
  subaccountPayout: ({ subaccounts }, tenant, ids) => subaccounts.findPayouts(tenant, ids),
};

type ReadFor<Loads> =
  Loads extends Loader<infer Value>
    ? (services: PaymentsService, tenant: Tenant, keys: readonly string[]) => Promise<Value[]>
    : never;

/** Each is made at its first use: most operations use none, and all have them. */
const LOADERS = Object.create(null);
for (const [name, read] of Object.entries(READ) as [string, ReadFor<Loader<unknown>>][])
  Object.defineProperty(LOADERS, name, {
    get(this: {
      caller: Caller | null;
      services: PaymentsService;
      made: Record<string, DataLoader<string, unknown>> | null;
    }) {
      this.made ??= {};
      this.made[name] ??= new DataLoader(async (keys) => read(this.services, callerOf(this).tenant, keys));
      return this.made[name];
    },
  });

/** @throws UnauthenticatedError where no credential was presented */
export function callerOf({ caller }: Pick<Context, 'caller'>): Caller {
  if (!caller) throw new UnauthenticatedError('Invalid API key');
  return caller;
}
