import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Cursors } from '../../kernel/cursor.ts';
import type { Language } from '../../kernel/language.ts';
import type { HeldBytes, OpenSubscription } from '../../kernel/open-subscription.ts';
import type { BudgetSubject } from '../../kernel/requester.ts';
import type { SubscribeTo } from '../../state/events/subscribe.ts';
import type { Loaders } from './loaders.ts';
import type { PaymentsService } from './services.ts';

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

/** Limits on open subscriptions, by number and by memory: for each credential, network and tenant, and in all. */
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

/** Called when a root field has its result, or its stream; `error` is null if it succeeded. */
export type OnRootField = (
  kind: 'query' | 'mutation' | 'subscription',
  field: string,
  error: unknown,
  ms: number,
) => void;

/** The context of one operation. */
export interface Context {
  /** Null if no credential was presented. */
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
   * Counts one root field, which may begin when this returns or resolves. The fields of one operation are admitted one after
   * the other, in the order of the calls. @throws RateLimitError, at once or later
   */
  takeRootField(): void | Promise<void>;
  readonly onRootField: OnRootField;
  /** The state of an operation that its root fields share: whether one may have changed something, and whether one has met an outage. */
  readonly mutationState: { mayHaveChanged: boolean; hasOutage: boolean };
  /**
   * Creates the context of one root field, which records how old its data is; omitted if all data is the server's own.
   * `operation` is this context, which transports copy.
   */
  fieldContext?(operation: Context, responseKey: string): Context;
  rateLimit(): RateLimitState;
  /**
   * The address of a payer's page. This server's own page knows the payment's language. Another service's page does not, so its
   * address names the language, except for a payer's token. Null if that service has not shown it.
   */
  checkoutUrl(
    id: string,
    payment: { checkoutUrl?: string | null; language?: Language | null },
  ): string | null;
  /** The `extensions` of the response; null for none. */
  extensions(): Record<string, unknown> | null;
}

/** Returns the context in which a root field and all below it are executed. */
export function contextOfField(context: unknown, responseKey: string): unknown {
  const operation = context as Context | undefined;
  return operation?.fieldContext?.(operation, responseKey) ?? context;
}
