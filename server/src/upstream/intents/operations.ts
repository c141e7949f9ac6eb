import { OutageError, PaymentError, UpstreamError } from '../../kernel/errors.ts';
import type { ListRange } from '../../kernel/list-range.ts';
import { describeBehind } from '../../kernel/records.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Reader, State, Writes } from '../../state/commit/commit.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import type { Observation } from '../mirror.ts';
import { UpstreamFault } from '../upstream.ts';
import type { Done, Intent, NotFound } from './transitions.ts';

/** The background task that looks an intent up until its outcome is known. */
export const RESOLVE = 'upstream.resolve';

/** The resource that a lookup has found. */
export interface Found {
  found: Observation;
  /** Whether the answer to the request itself will say more of the resource. */
  provisional?: boolean;
}

/** The result of looking up an intent whose outcome is unknown. */
export type LookupResult = Found | NotFound;

/** A request that must not be made twice. */
export interface Operation<Input> {
  /** The scope of its keys; the part before a colon names its kind, for which a lookup is registered. */
  name: string;
  input: Input;
  /** The caller's idempotency key; null for a generated one. */
  key: string | null;
  /** Builds the intent's `summary`. */
  summary: (input: Input) => unknown;
  /**
   * The members that the hash of the input does not cover. A repeated key must have the same ones; the
   * summary contains them.
   */
  kept?: Readonly<Record<string, string | null>>;
  /** Runs in the transaction that opens the intent, before anything is sent: a throw refuses the request. */
  open?: { read: (reader: Reader) => Promise<unknown>; decide: (state: State, intent: Intent) => Writes };
  /**
   * Sends the one request, under the intent's key. If the service may have done it despite an error, that is
   * an UpstreamFault that may have reached it, or an UpstreamError with `moneyMayHaveMoved`.
   * @throws PaymentError for a refusal of the service (certainly not done), RateLimitError, UpstreamFault,
   * OutageError (before it is sent)
   */
  send: (intent: Intent) => Promise<Observation>;
  /**
   * Whether a resource whose answer was lost is useless and harmless. If so, a key whose outcome is unknown
   * is sent once more after another lookup has not found the resource.
   */
  safeToRepeat?: boolean;
  /**
   * The reference by which a caller can look up an unknown outcome; the error names it. Null if there is
   * none.
   */
  lookupReference: (intent: Intent) => string | null;
  /** The purpose of the request, as the log names it: `creating charges`. */
  inWords: string;
}

/**
 * Looks up the outcome of an intent at the service, without sending the request again. @throws
 * RateLimitError, UpstreamFault
 */
export type OutcomeLookup = (tenant: Tenant, intent: Intent) => Promise<LookupResult>;

/**
 * A kind of operation. Every instance knows all kinds, because one instance settles what another has sent.
 */
export interface RequestKind {
  lookUp: OutcomeLookup;
  /**
   * The kinds whose requests make resources with the same ids, this kind included: at most one of their
   * requests has made a resource. By default this kind alone; empty if its requests make none.
   */
  makes?: readonly string[];
  /** Whether the requests move money. If the outcome of one stays unknown, the operator is notified. */
  movesMoney?: boolean;
  /** The age at which `lookUp` gives up a request; a lookup is scheduled for it. */
  givenUpAfterMs?: number;
  /** The id under which the resource of an intent is shown. */
  idOf?: (intent: Intent) => string;
  /**
   * Records the resource of a request whose outcome is unknown, so that lists and subscribers show it.
   * `again`: the outcome has been unknown for long, and subscribers are notified once more.
   */
  inDoubt?: (intent: Intent, options: { again: boolean }) => Observation;
  /**
   * Records that a request whose outcome was unknown was never done. It is never sent again, for its caller
   * may have paid under another key: a replay of its key returns this record. `ifShown`: writes nothing if
   * the request was not shown in doubt.
   */
  absent?: (intent: Intent, options: { ifShown: boolean }) => Observation;
}

/** The error of a request whose outcome is unknown. */
export class InDoubtError extends UpstreamError {
  readonly intent: Intent;
  readonly replayed: boolean;
  constructor(intent: Intent, lookupReference: string | null, replayed: boolean) {
    super(
      'OUTCOME_UNKNOWN',
      intent.behindSince === null
        ? 'The payments service did not say whether it has done this. It may have: do not repeat it under another key'
        : `This may have been done before, and was not sent: ${describeBehind(intent.behindSince)}. Do not repeat it under another key: an operator settles it`,
      { moneyMayHaveMoved: true, lookupReference },
    );
    this.intent = intent;
    this.replayed = replayed;
  }
}

/** The requests that must not be made twice, and the lookups of those whose outcome is unknown. */
export interface Intents {
  /**
   * Executes an operation once for its key: opens the intent, sends the request, and records the answer and
   * the intent's end in one transaction. A key that was done before sends nothing: `replayed`. A key whose
   * outcome is unknown sends nothing either: it is looked up at once, and then in the background until the
   * service knows it. If another instance is sending the request, and the service does not show all of it,
   * this waits for 5 s at most. A refused key may be used again. So may, with the same input, a key that did
   * nothing, once another lookup confirms that, unless its kind records that.
   * While the records are behind, an unknown key of a request that moves money is looked for before it is
   * sent.
   * @throws errors of `open` and `send`; IdempotencyError; PreconditionError (RECORDS_BEHIND: money without a
   * key); UpstreamError if the outcome is not known: `moneyMayHaveMoved` (an InDoubtError), or `retryable`
   * if it is safe to repeat
   */
  run<Input>(tenant: Tenant, operation: Operation<Input>): Promise<Done>;
  /**
   * Finds the intent of a key; null if there is none, or it was refused.
   * @throws PreconditionError (RECORDS_BEHIND) if the records may lack it
   */
  find(tenant: Tenant, operation: string, key: string): Promise<Intent | null>;
  /** @throws PreconditionError (RECORDS_BEHIND) if the records may lack the request whose id a caller gives */
  assertNotMissing(): Promise<void>;
  /** Lists the intents of one kind whose outcome is not known yet. */
  open(tenant: Tenant, kind: string): Promise<Intent[]>;
  /** Selects the ids whose resource is known to have been made by a request of this kind. */
  claimed(tenant: Tenant, kind: string, resourceIds: readonly string[]): Promise<Set<string>>;
  /**
   * Looks up each request with this input whose outcome is unknown, without waiting for the scheduled lookup:
   * a webhook has shown a resource that it may have made.
   */
  lookUpSoon(tenant: Tenant, inputHash: string): Promise<void>;
  /** Lists the intents of these kinds, or of any, whose outcome is not known yet, the oldest first. */
  unresolved(
    tenant: Tenant,
    range: ListRange,
    kinds?: readonly string[],
  ): Promise<{ position: number; intent: Intent }[]>;
  /** Lists the intents of one kind that were done, but whose resource the service has not named. */
  unidentified(tenant: Tenant, kind: string): Promise<Intent[]>;
  readonly tasks: Record<typeof RESOLVE, TaskHandler>;
  /** Stops listening to other instances. */
  close(): void;
}

export function isFound(result: LookupResult): result is Found {
  return typeof result !== 'string' && 'found' in result;
}

/** Whether a failed request was certainly not done. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof UpstreamFault) return error.reached === 'no';
  // The budget is stored in the database too: without it the request was not sent.
  if (error instanceof OutageError) return !error.mayBeDone;
  return error instanceof PaymentError && !(error instanceof UpstreamError && error.moneyMayHaveMoved);
}

/** The error for the caller of a request with an unknown outcome. */
export function unknownOutcome(
  operation: Pick<Operation<never>, 'safeToRepeat' | 'lookupReference'>,
  intent: Intent,
  replayed: boolean,
): UpstreamError {
  if (operation.safeToRepeat)
    return new UpstreamError(
      'UPSTREAM_UNAVAILABLE',
      'The payments service did not say whether it has done this. No money has moved: repeat it with the same key',
    );
  return new InDoubtError(intent, operation.lookupReference(intent), replayed);
}
