import DataLoader from 'dataloader';
import type { AccessService } from '../access/model.ts';
import type { Caller } from '../kernel/caller.ts';
import type { CardPayment, CardPaymentService } from '../card-payments/model.ts';
import type { CheckoutTokenService } from '../card-payments/tokens/model.ts';
import type { Charge, ChargeService } from '../charges/model.ts';
import type { Delivery, DeliveryService } from '../deliveries/model.ts';
import type { Dispute, DisputeService } from '../disputes/model.ts';
import type { SubscribeTo } from '../events/subscribe.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Cursors } from '../kernel/cursor.ts';
import { UnauthenticatedError } from '../kernel/errors.ts';
import type { Language } from '../kernel/language.ts';
import type { HeldBytes, OpenSubscription } from '../kernel/open-subscription.ts';
import type { BudgetSubject, Requester } from '../kernel/requester.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Payment, PaymentService } from '../payments/model.ts';
import type { Payout, PayoutService } from '../payouts/model.ts';
import type { Product, ProductService } from '../products/model.ts';
import type { DeliveredContent } from '../receiving/model.ts';
import type { Refund, RefundService } from '../refunds/model.ts';
import type { UnresolvedRequestService } from '../requests/model.ts';
import type { ReturnService } from '../returns/model.ts';
import type { SandboxService } from '../sandbox/model.ts';
import type { StoreProduct, StoreService } from '../store/model.ts';
import type {
  Subaccount,
  SubaccountPayout,
  SubaccountPayoutService,
  SubaccountService,
} from '../subaccounts/model.ts';
import type { Subscription, SubscriptionService } from '../subscriptions/model.ts';
import type { WalletService } from '../wallet/model.ts';
import type { WebhookAttempt, WebhookDelivery, WebhookService } from '../webhooks/model.ts';
import { withWordsFor } from './payer-errors.ts';

/** The port that the GraphQL layer calls; the embedded services and the facade implement it. */
export interface PaymentsService {
  access: AccessService;
  cardPayments: CardPaymentService;
  charges: ChargeService;
  checkoutTokens: CheckoutTokenService;
  deliveries: DeliveryService;
  disputes: DisputeService;
  payments: PaymentService;
  payouts: PayoutService;
  products: ProductService;
  refunds: RefundService;
  requests: UnresolvedRequestService;
  returns: ReturnService;
  sandbox: SandboxService;
  store: StoreService;
  subaccounts: SubaccountService & SubaccountPayoutService;
  subscriptions: SubscriptionService;
  wallet: WalletService;
  webhooks: WebhookService;
}

/** Creates the port of one operation: a facade sends the requests of a payer and of a merchant with different priority. */
export type ServicesFor = (requester: Requester) => PaymentsService;

export interface RateLimitState {
  limit: number;
  remaining: number;
  resetAt: Date;
}

/** Limits on `/graphql`, counted by root field: one for an API key, two for each visitor of a browser token. */
export interface RootFieldLimits {
  /** @throws RateLimitError, at once or later */
  take(caller: Caller, address: string): void | Promise<void>;
  peek(caller: Caller, address: string): RateLimitState;
}

/** Limits on open subscriptions, on their number and on what they hold: by credential, network and tenant, and in all. */
export interface SubscriptionLimits {
  /** Counts a subscription until it is released. @throws RateLimitError */
  open(caller: Caller, address: string, held: HeldBytes): OpenSubscription;
}

/** The subscription of a context, which shares its updates with others of the same operation and the same rights. */
export interface Sharing {
  /** The key of the operation and the rights. */
  readonly dedupeKey: string;
  /** Null until it is opened. */
  opened: OpenSubscription | null;
}

/** Called when a root field has its result, or its stream; `error` is null where it succeeded. */
export type OnRootField = (
  kind: 'query' | 'mutation' | 'subscription',
  field: string,
  error: unknown,
  ms: number,
) => void;

/** The context of one operation. */
export interface Context {
  /** Null where no credential was presented. */
  readonly caller: Caller | null;
  /** The client's network address. */
  readonly address: string;
  /** In front of another service, the payers whose share of its budget the operation uses; null for a merchant. */
  readonly payers: BudgetSubject | null;
  readonly services: PaymentsService;
  readonly clock: Clock;
  readonly loaders: Loaders;
  /** Subscribes to a topic until the client leaves or the credential ends. */
  readonly subscribe: SubscribeTo;
  /**
   * Shares the subscription of this context, which is opened later, with others of the same operation and the same rights:
   * they receive the same items.
   */
  share(operation: string, held: HeldBytes): Sharing;
  /** Creates a context for one update of a subscription, with empty loaders. */
  freshContext(): Context;
  /** The cursor of the account's newest event. */
  updatesCursor(): Promise<string>;
  /** The cursors of one of the account's lists. */
  listCursors(list: string): Cursors;
  /**
   * Counts one root field, which may begin when this returns or resolves. The fields of one operation are admitted one
   * after the other, in the order of the calls. @throws RateLimitError, at once or later
   */
  takeRootField(): void | Promise<void>;
  readonly onRootField: OnRootField;
  /** The state of an operation that its root fields share: whether one may have changed something, and whether one has met an outage. */
  readonly mutationState: { mayHaveChanged: boolean; hasOutage: boolean };
  /**
   * Creates the context of one root field, so that the response says how old its data is; left out where all data is the
   * server's own. `operation` is this context, which transports copy.
   */
  fieldContext?(operation: Context, responseKey: string): Context;
  rateLimit(): RateLimitState;
  /**
   * The address of a payer's page: this server's own, which knows the payment's language, or that of another service, which
   * does not: except to a payer's token it names the language. Null where that service has not shown it.
   */
  checkoutUrl(
    id: string,
    payment: { checkoutUrl?: string | null; language?: Language | null },
  ): string | null;
  /** The `extensions` of the response; null for none. */
  extensions(): Record<string, unknown> | null;
}

/**
 * The batched and deduped reads of one operation, up to its next mutation. They never outlive it, so no response is stale.
 */
export interface Loaders {
  cardPayment: Loader<CardPayment | null>;
  charge: Loader<Charge | null>;
  payment: Loader<Payment | null>;
  /** Finds payouts by withdrawal id or code. */
  payout: Loader<Payout | null>;
  webhookDelivery: Loader<WebhookDelivery | null>;
  webhookAttempts: Loader<WebhookAttempt[]>;
  product: Loader<Product | null>;
  delivery: Loader<Delivery | null>;
  /** Finds the content that card payments were given, by order code. */
  deliveredToCardPayment: Loader<readonly DeliveredContent[] | null>;
  /** Finds the content that payments were given, by their id. */
  deliveredToPayment: Loader<readonly DeliveredContent[] | null>;
  storeProduct: Loader<StoreProduct | null>;
  refund: Loader<Refund | null>;
  /** Finds the refunds of card payments by order code. */
  refundsOfCardPayment: Loader<Refund[] | null>;
  /** Finds the refunds of charges by their id. */
  refundsOfCharge: Loader<Refund[] | null>;
  /** Finds the refunds of payments by their id. */
  refundsOfPayment: Loader<Refund[] | null>;
  dispute: Loader<Dispute | null>;
  /** Finds the disputes of card payments by order code. */
  disputesOfCardPayment: Loader<Dispute[] | null>;
  /** Finds the disputes of charges by their id. */
  disputesOfCharge: Loader<Dispute[] | null>;
  /** Finds the disputes of payments by their id. */
  disputesOfPayment: Loader<Dispute[] | null>;
  subaccount: Loader<Subaccount | null>;
  subaccountPayout: Loader<SubaccountPayout | null>;
  subscription: Loader<Subscription | null>;
}

interface Loader<Value> {
  load(key: string): Promise<Value>;
  clearAll(): void;
}

/** Returns the context in which a root field and all below it are executed. */
export function contextOfField(context: unknown, responseKey: string): unknown {
  const operation = context as Context | undefined;
  return operation?.fieldContext?.(operation, responseKey) ?? context;
}

type ServicesOfBatch = (loader: string, keys: readonly string[]) => PaymentsService;

/** @param servicesOfBatch returns the services that read one batch of a loader */
export function createLoaders(caller: Caller | null, servicesOfBatch: ServicesOfBatch): Loaders {
  return { __proto__: LOADERS, caller, servicesOfBatch, created: null } as unknown as Loaders;
}

/** Wraps loaders: `onLoad` is called with the loader and the key of each call. */
export function observeLoaders(loaders: Loaders, onLoad: OnLoad): Loaders {
  return { __proto__: OBSERVED_LOADERS, shared: loaders, onLoad } as unknown as Loaders;
}

interface ObservedLoaders {
  shared: Loaders;
  onLoad: OnLoad;
}

type OnLoad = (loader: string, key: string) => void;

/** Forgets what was read: a mutation of the operation has changed something, and its answer shows the state after it. */
export function clearLoaders(loaders: Loaders): void {
  const { shared = loaders } = loaders as Partial<ObservedLoaders>;
  (shared as unknown as { created: null }).created = null;
}

const READ: { [Name in keyof Loaders]: ReadFor<Loaders[Name]> } = {
  cardPayment: ({ cardPayments }, tenant, orderCodes) => cardPayments.findMany(tenant, orderCodes),
  charge: ({ charges }, tenant, chargeIds) => charges.findMany(tenant, chargeIds),
  payment: ({ payments }, tenant, paymentIds) => payments.findMany(tenant, paymentIds),
  payout: ({ payouts }, tenant, references) => payouts.findMany(tenant, references),
  webhookDelivery: ({ webhooks }, tenant, webhookIds) => webhooks.findMany(tenant, webhookIds),
  webhookAttempts: ({ webhooks }, tenant, webhookIds) => webhooks.attemptsOf(tenant, webhookIds),
  product: ({ products }, tenant, ids) => products.findMany(tenant, ids),
  delivery: ({ deliveries }, tenant, ids) => deliveries.findMany(tenant, ids),
  deliveredToCardPayment: ({ deliveries }, tenant, orderCodes) =>
    deliveries.deliveredTo(tenant, 'card_payment', orderCodes),
  deliveredToPayment: ({ deliveries }, tenant, paymentIds) =>
    deliveries.deliveredTo(tenant, 'payment', paymentIds),
  storeProduct: ({ store }, tenant, ids) => store.findMany(tenant, ids),
  refund: ({ refunds }, tenant, refundIds) => refunds.findMany(tenant, refundIds),
  refundsOfCardPayment: ({ refunds }, tenant, orderCodes) =>
    refunds.ofResources(tenant, 'card_payment', orderCodes),
  refundsOfCharge: ({ refunds }, tenant, chargeIds) => refunds.ofResources(tenant, 'charge', chargeIds),
  refundsOfPayment: ({ refunds }, tenant, paymentIds) => refunds.ofResources(tenant, 'payment', paymentIds),
  dispute: ({ disputes }, tenant, disputeIds) => disputes.findMany(tenant, disputeIds),
  disputesOfCardPayment: ({ disputes }, tenant, orderCodes) =>
    disputes.ofResources(tenant, 'card_payment', orderCodes),
  disputesOfCharge: ({ disputes }, tenant, chargeIds) => disputes.ofResources(tenant, 'charge', chargeIds),
  disputesOfPayment: ({ disputes }, tenant, paymentIds) =>
    disputes.ofResources(tenant, 'payment', paymentIds),
  subaccount: ({ subaccounts }, tenant, ids) => subaccounts.findMany(tenant, ids),
  subaccountPayout: ({ subaccounts }, tenant, ids) => subaccounts.findPayouts(tenant, ids),
  subscription: ({ subscriptions }, tenant, ids) => subscriptions.findMany(tenant, ids),
};

type ReadFor<Loads> =
  Loads extends Loader<infer Value>
    ? (services: PaymentsService, tenant: Tenant, keys: readonly string[]) => Promise<(Value | Error)[]>
    : never;

/** Creates each loader at its first use: all operations have loaders, and most use none. */
const LOADERS = Object.create(null);
for (const [name, read] of Object.entries(READ) as [string, ReadFor<Loader<unknown>>][])
  Object.defineProperty(LOADERS, name, {
    get(this: {
      caller: Caller | null;
      servicesOfBatch: ServicesOfBatch;
      created: Record<string, DataLoader<string, unknown>> | null;
    }) {
      this.created ??= {};
      this.created[name] ??= new DataLoader(async (keys) =>
        withWordsFor(this.caller, () => read(this.servicesOfBatch(name, keys), callerOf(this).tenant, keys)),
      );
      return this.created[name];
    },
  });

const OBSERVED_LOADERS = Object.create(null);
for (const name of Object.keys(READ) as (keyof Loaders)[])
  Object.defineProperty(OBSERVED_LOADERS, name, {
    get(this: ObservedLoaders): Loader<unknown> {
      const { onLoad } = this;
      const loader: Loader<unknown> = this.shared[name];
      return {
        load(key) {
          onLoad(name, key);
          return loader.load(key);
        },
        clearAll: () => loader.clearAll(),
      };
    },
  });

/** The message for a request without a credential; one with a wrong credential says that it is invalid. */
export const NO_KEY = 'No API key: send one in the header Authorization, as Bearer …';

/** @throws UnauthenticatedError where no credential was presented */
export function callerOf({ caller }: Pick<Context, 'caller'>): Caller {
  if (!caller) throw new UnauthenticatedError(NO_KEY);
  return caller;
}
