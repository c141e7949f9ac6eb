/**
 * Every refusal that a caller can correct or must know. The domain throws it, which rolls its transaction
 * back; each transport maps it exhaustively to its own errors. An `OutageError` is answered with `OUTAGE`. Anything
 * else that is thrown is a fault: logged with its cause, shown as `Internal error`.
 */
export type ErrorCode =
  | 'VALIDATION'
  | 'NOT_FOUND'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'RATE_LIMITED'
  | 'INSUFFICIENT_FUNDS'
  | 'CARD_PAYMENTS_NOT_CONFIGURED'
  | 'NOT_IN_SANDBOX'
  | 'ONLY_IN_SANDBOX'
  | 'LIMIT_REACHED'
  | 'IDEMPOTENCY_CONFLICT'
  | 'CHECKOUT_TOKEN_USED'
  | 'CHECKOUT_TOKEN_PAUSED'
  | 'CURSOR_EXPIRED'
  | 'UPSTREAM_UNAVAILABLE';

export abstract class PaymentError extends Error {
  abstract readonly code: ErrorCode;
}

export interface FieldError {
  /** Where in the input, e.g. `input.valueCents`. */
  path: string;
  message: string;
}

export class ValidationError extends PaymentError {
  readonly code = 'VALIDATION';
  readonly fields: readonly FieldError[];
  constructor(fields: readonly FieldError[]) {
    super(fields.map((field) => `${field.path}: ${field.message}`).join('; '));
    this.fields = fields;
  }
}

export class NotFoundError extends PaymentError {
  readonly code = 'NOT_FOUND';
}

/** No credential, or one that is not valid (any more). */
export class UnauthenticatedError extends PaymentError {
  readonly code = 'UNAUTHENTICATED';
}

export class PermissionError extends PaymentError {
  readonly code = 'PERMISSION_DENIED';
  /** Permissions, any one of them sufficient; empty where only an unrestricted key may do it. */
  readonly requiresAnyOf: readonly string[];
  constructor(message: string, requiresAnyOf: readonly string[] = []) {
    super(message);
    this.requiresAnyOf = requiresAnyOf;
  }
}

export class RateLimitError extends PaymentError {
  readonly code = 'RATE_LIMITED';
  readonly retryAfterSeconds: number;
  /** The limit in words, e.g. `1200 root fields a minute`. */
  readonly limit: string;
  constructor(limit: string, retryAfterSeconds: number) {
    super(`Rate limit exceeded: ${limit}`);
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** More than can be withdrawn. The message is the detailed reason; the figures are those of the decision. */
export class InsufficientFundsError extends PaymentError {
  readonly code = 'INSUFFICIENT_FUNDS';
  readonly requestedCents: number;
  readonly withdrawableCents: number;
  /** This and the next two: null where they are not known (remote mode). */
  readonly balanceCents: number | null;
  readonly disputeBlockedCents: number | null;
  readonly subaccountsBalanceCents: number | null;
  /** The litoshi of a payout in LTC, which the LTC balance bounds; null for any other. */
  readonly cryptoBalanceLitoshi: number | null;
  constructor(
    message: string,
    figures: Pick<
      InsufficientFundsError,
      | 'requestedCents'
      | 'withdrawableCents'
      | 'balanceCents'
      | 'disputeBlockedCents'
      | 'subaccountsBalanceCents'
      | 'cryptoBalanceLitoshi'
    >,
  ) {
    super(message);
    this.requestedCents = figures.requestedCents;
    this.withdrawableCents = figures.withdrawableCents;
    this.balanceCents = figures.balanceCents;
    this.disputeBlockedCents = figures.disputeBlockedCents;
    this.subaccountsBalanceCents = figures.subaccountsBalanceCents;
    this.cryptoBalanceLitoshi = figures.cryptoBalanceLitoshi;
  }
}

/** The environment, the account's set-up or a limit stands in the way. */
export class UnavailableError extends PaymentError {
  readonly code:
    | 'CARD_PAYMENTS_NOT_CONFIGURED'
    | 'NOT_IN_SANDBOX'
    | 'ONLY_IN_SANDBOX'
    | 'LIMIT_REACHED'
    | 'CHECKOUT_TOKEN_USED'
    | 'CHECKOUT_TOKEN_PAUSED';
  constructor(code: UnavailableError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The same key was used before with another input. */
export class IdempotencyError extends PaymentError {
  readonly code = 'IDEMPOTENCY_CONFLICT';
}

/**
 * The service behind the facade did not answer. Where `moneyMayHaveMoved`, nothing may be repeated with a new key:
 * what became of it is looked up by `lookupReference`.
 */
export class UpstreamError extends PaymentError {
  readonly code = 'UPSTREAM_UNAVAILABLE';
  readonly retryable: boolean;
  readonly moneyMayHaveMoved: boolean;
  readonly lookupReference: string | null;
  constructor(
    message: string,
    {
      retryable,
      moneyMayHaveMoved,
      lookupReference = null,
    }: { retryable: boolean; moneyMayHaveMoved: boolean; lookupReference?: string | null },
  ) {
    super(message);
    this.retryable = retryable;
    this.moneyMayHaveMoved = moneyMayHaveMoved;
    this.lookupReference = lookupReference;
  }
}

/** The log no longer holds what comes after this cursor, or never held it. */
export class CursorExpiredError extends PaymentError {
  readonly code = 'CURSOR_EXPIRED';
}

/**
 * The database did not do its part: it is away or silent, has no time or no room, or takes no writes. No refusal and no
 * fault of the code: the same request may succeed a moment later. Its message and its cause are for the log.
 */
export abstract class OutageError extends Error {
  /** Whether what was requested may have been done all the same. */
  abstract readonly mayBeDone: boolean;
}

/** An outage behind a change that was made: of the request as a whole it cannot be said that nothing was done. */
class OutageBehindChange extends OutageError {
  override readonly name = 'OutageBehindChange';
  override readonly mayBeDone = true;
}

/** The error as it is behind a change that was made. */
export function behindChange(error: unknown): unknown {
  if (!(error instanceof OutageError) || error.mayBeDone) return error;
  return new OutageBehindChange(error.message, { cause: error });
}

/** The code that every transport says of an outage, and of nothing else. */
export const OUTAGE = 'UNAVAILABLE';

/**
 * Describes an outage to a caller. Where the outcome is unknown there is no `Retry-After`: a client that repeats by
 * itself, without a key, could do it twice.
 */
export function describeOutage({ mayBeDone }: OutageError): {
  message: string;
  status: 503 | 504;
  retryAfterSeconds: number | null;
} {
  return mayBeDone
    ? { message: OUTCOME_UNKNOWN, status: 504, retryAfterSeconds: null }
    : { message: UNAVAILABLE, status: 503, retryAfterSeconds: 1 };
}

const UNAVAILABLE =
  'The service is unavailable for the moment: repeat the request with the same idempotency key';
const OUTCOME_UNKNOWN =
  'The service is unavailable for the moment, and this request may have been done: repeat it with the same idempotency key';
