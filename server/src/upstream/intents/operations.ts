import type { Reader, State, Writes } from '../../commit/commit.ts';
import { UpstreamError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { TaskHandler } from '../../work/queue.ts';
import type { Observation } from '../mirror.ts';
import type { Done, Intent, NotFound } from './transitions.ts';

/** The background task that looks an intent up until its outcome is known. */
export const RESOLVE = 'upstream.resolve';

/** The resource that a lookup has found. */
export interface Found {
  found: Observation;
  /**
   * The id of the resource, where the service has no key for it and it was recognised by its traits: no other request of
   * its kind may have made it.
   */
  claims?: string;
  /** The service is about to say more of it, in its answer to the request itself. */
  provisional?: boolean;
}

/** The result of asking the service for an intent whose outcome is unknown. */
export type LookupResult = Found | NotFound;

/** A request that must not be made twice. */
export interface Operation<Input> {
  /** Scopes its keys; the part before a colon names its kind, for which a lookup is registered. */
  name: string;
  input: Input;
  /** The caller's idempotency key; null for a generated one. */
  key: string | null;
  summary: (input: Input) => unknown;
  /** Runs in the transaction that opens the intent, before anything is sent: a throw refuses. */
  open?: { read: (reader: Reader) => Promise<unknown>; decide: (state: State, intent: Intent) => Writes };
  /**
   * Makes the one request, under the intent's key. An error after which the service may have done it is an UpstreamFault
   * that may have reached it, or an UpstreamError with `moneyMayHaveMoved`.
   * @throws PaymentError for a refusal of the service (certainly not done), RateLimitError, UpstreamFault, OutageError
   *   (before it is sent)
   */
  send: (intent: Intent) => Promise<Observation>;
  /**
   * A resource whose answer was lost is of no use to anybody, and does no harm. So a key whose outcome is unknown is sent
   * once more where another lookup has not found it.
   */
  safeToRepeat?: boolean;
  /** The reference in the error of a caller whose outcome is unknown, under which it can be looked up. */
  lookupReference: (intent: Intent) => string | null;
}

/** Asks the service for the outcome of an intent; sends nothing again. @throws RateLimitError, UpstreamFault */
export type OutcomeLookup = (tenant: Tenant, intent: Intent) => Promise<LookupResult>;

/** A kind of operation, as every instance knows it: one instance settles what another has sent. */
export interface RequestKind {
  lookUp: OutcomeLookup;
  /** The id of the resource as which it is shown. */
  idOf?: (intent: Intent) => string;
  /**
   * Records the resource of a request whose outcome is unknown, so that lists and subscribers show it. `again`: it has
   * been unknown for long, and subscribers are notified once more.
   */
  inDoubt?: (intent: Intent, options: { again: boolean }) => Observation;
  /**
   * Records that a request whose outcome was unknown was never done. From then on it is never sent again, for its caller
   * may have paid under another key: its key gives what is recorded here. `ifShown`: writes nothing where it was not shown
   * in doubt.
   */
  absent?: (intent: Intent, options: { ifShown: boolean }) => Observation;
}

/** The outcome of a request is unknown. */
export class InDoubtError extends UpstreamError {
  readonly intent: Intent;
  readonly replayed: boolean;
  constructor(intent: Intent, lookupReference: string | null, replayed: boolean) {
    super(
      'The payments service did not say whether it has done this. It may have: do not repeat it under another key',
      { retryable: false, moneyMayHaveMoved: true, lookupReference },
    );
    this.intent = intent;
    this.replayed = replayed;
  }
}

export interface Intents {
  /**
   * Does it once for a key: opens the intent, sends it, and records the answer and the intent's end in one transaction. A
   * key that was done before does nothing: `replayed`. With an unknown outcome nothing is sent again; the service is
   * asked at once, and then in the background until it knows. A request that another instance is sending, and that the
   * service does not show whole, is waited for a little. A key that was refused may be used again; so may one that was
   * found to have done nothing, with the same input, once the service has said so again, unless its kind records that.
   * @throws what `open` and `send` throw; IdempotencyError; UpstreamError where the outcome is not known:
   *   `moneyMayHaveMoved` (an InDoubtError), or `retryable` where it is safe to repeat
   */
  run<Input>(tenant: Tenant, operation: Operation<Input>): Promise<Done>;
  /** Lists the intents of one kind whose outcome is not known yet. */
  open(tenant: Tenant, kind: string): Promise<Intent[]>;
  /** Gives the ids of these resources that a request of this kind is known to have made. */
  claimed(tenant: Tenant, kind: string, resourceIds: readonly string[]): Promise<Set<string>>;
  /**
   * Looks up each request with this input whose outcome is unknown now rather than when it was due: something new is
   * known of it.
   */
  lookUpSoon(tenant: Tenant, inputHash: string): Promise<void>;
  /** The intents of any kind whose outcome is not known yet, the oldest first. */
  unresolved(tenant: Tenant, limit: number): Promise<Intent[]>;
  /** The intents of one kind that were done, and for which the service has given no name of what they made. */
  unidentified(tenant: Tenant, kind: string): Promise<Intent[]>;
  readonly tasks: Record<typeof RESOLVE, TaskHandler>;
  /** Stops listening to other instances. */
  close(): void;
}

export function isFound(result: LookupResult): result is Found {
  return typeof result !== 'string' && 'found' in result;
}
