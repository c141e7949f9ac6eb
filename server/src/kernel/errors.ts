import type { CodeOf, ErrorCode } from './error-codes.ts';

/**
 * An error that a caller can correct or must know. The domain throws one, which rolls its transaction back; each transport
 * shows its code. An `OutageError` is shown as `UNAVAILABLE` or `OUTCOME_UNKNOWN`. Any other error is a fault: logged with its
 * cause, shown as `Internal error`.
 */
export abstract class PaymentError extends Error {
  abstract readonly code: ErrorCode;
}

export interface FieldError {
  /** The path in the input, e.g. `input.valueCents`. */
  path: string;
  message: string;
}

export class ValidationError extends PaymentError {
  readonly code = 'BAD_USER_INPUT';
  readonly fields: readonly FieldError[];
  constructor(fields: readonly FieldError[]) {
    super(fields.map((field) => `${field.path}: ${field.message}`).join('; '));
    this.fields = fields;
  }
}

export class NotFoundError extends PaymentError {
  readonly code = 'NOT_FOUND';
}

/** A request without a credential, or with an invalid one. */
export class UnauthenticatedError extends PaymentError {
  readonly code = 'UNAUTHENTICATED';
}

export class PermissionError extends PaymentError {
  readonly code = 'FORBIDDEN';
  /** The permissions that each suffice; empty if only an unrestricted key may do it. */
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
  /** Whether the service behind a facade has the limit: its counts concern the merchant, and no payer. */
  readonly isOfService: boolean;
  constructor(limit: string, retryAfterSeconds: number, { isOfService = false } = {}) {
    super(`Rate limit exceeded: ${limit}`);
    this.limit = limit;
    this.retryAfterSeconds = retryAfterSeconds;
    this.isOfService = isOfService;
  }
}

export class InsufficientFundsError extends PaymentError {
  readonly code = 'INSUFFICIENT_FUNDS';
  readonly requestedCents: number;
  readonly withdrawableCents: number;
  /** The balance. It is null if it is not known (remote mode), and so are the next two. */
  readonly balanceCents: number | null;
  readonly disputeBlockedCents: number | null;
  readonly subaccountsBalanceCents: number | null;
  /** The litoshi of a payout in LTC, which must be within the LTC balance; null for any other payout. */
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

/** A request that the environment, the account's set-up, the state of the resource or a limit does not allow. */
export class PreconditionError extends PaymentError {
  readonly code: CodeOf<'PreconditionError'>;
  constructor(code: PreconditionError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** A key that was used before with another input. */
export class IdempotencyError extends PaymentError {
  readonly code = 'IDEMPOTENCY_CONFLICT';
}

/**
 * A request that the service behind the facade, a bank or a network did not answer, or refused. With `OUTCOME_UNKNOWN` it may
 * have been done, and must not be repeated with a new key: its outcome is looked up by `lookupReference`.
 */
export class UpstreamError extends PaymentError {
  readonly code: CodeOf<'UpstreamError'>;
  readonly moneyMayHaveMoved: boolean;
  readonly lookupReference: string | null;
  constructor(
    code: UpstreamError['code'],
    message: string,
    {
      moneyMayHaveMoved = false,
      lookupReference = null,
    }: { moneyMayHaveMoved?: boolean; lookupReference?: string | null } = {},
  ) {
    super(message);
    this.code = code;
    this.moneyMayHaveMoved = moneyMayHaveMoved;
    this.lookupReference = lookupReference;
  }

  /** Whether the same request may succeed a moment later. */
  get retryable(): boolean {
    return this.code === 'UPSTREAM_UNAVAILABLE';
  }
}

/** A cursor whose next events are no longer in the log, or never were. */
export class CursorExpiredError extends PaymentError {
  readonly code = 'CURSOR_EXPIRED';
}

/**
 * A failure of the database: it does not respond, has no time or space left, or takes no writes. It is
 * neither a refusal nor a fault of the code: the same request may succeed a moment later. Its message and its
 * cause are for the log.
 */
export abstract class OutageError extends Error {
  /** Whether the request may have been done nevertheless. */
  abstract readonly mayBeDone: boolean;
}

/** An outage after a part of the request was committed. The answer must not say that nothing was done. */
class OutageBehindChange extends OutageError {
  override readonly name = 'OutageBehindChange';
  override readonly mayBeDone = true;
}

/** A problem that the operator can correct. It is no fault of the code, so it is logged without a stack. */
export class OperatorNotice extends Error {}

/** A part of a request that was not begun, because an outage has ended the one before it. */
export class NotBegun extends OutageError {
  override readonly name = 'NotBegun';
  override readonly mayBeDone = false;
}

/** Whether an error proves that nothing was done: a refusal, or an outage before the change. */
export function hasDoneNothing(error: unknown): boolean {
  if (error instanceof OutageError) return !error.mayBeDone;
  if (error instanceof UpstreamError) return error.code !== 'OUTCOME_UNKNOWN';
  return error instanceof PaymentError;
}

/** Marks an outage as one after a committed change; returns any other error unchanged. */
export function behindChange(error: unknown): unknown {
  if (!(error instanceof OutageError) || error.mayBeDone) return error;
  return new OutageBehindChange(error.message, { cause: error });
}

/**
 * Describes an outage to a caller. If the outcome is unknown there is no `Retry-After`: a client that repeats by
 * itself, without a key, could do it twice.
 */
export function describeOutage({ mayBeDone }: OutageError): {
  code: ErrorCode;
  message: string;
  status: 503 | 504;
  retryAfterSeconds: number | null;
} {
  return mayBeDone
    ? { code: 'OUTCOME_UNKNOWN', message: OUTCOME_UNKNOWN, status: 504, retryAfterSeconds: null }
    : { code: 'UNAVAILABLE', message: UNAVAILABLE, status: 503, retryAfterSeconds: 1 };
}

const UNAVAILABLE =
  'The service is unavailable for the moment: repeat the request with the same idempotency key';
const OUTCOME_UNKNOWN =
  'The service is unavailable for the moment, and this request may have been done: repeat it with the same idempotency key';
