import type { CardPaymentStatus, CheckoutPayment, Payment } from './operations.ts';

/** The phase of a checkout, which decides what the element shows. */
export type CheckoutPhase =
  | 'idle'
  | 'creating'
  | 'pending'
  | 'paid'
  | 'expired'
  | 'refunded'
  | 'failed'
  | 'order_paid'
  | 'order_refunded'
  | 'error';

export type CheckoutErrorCode =
  | 'invalid_input'
  | 'not_configured'
  | 'unauthorized'
  | 'rate_limited'
  | 'conflict'
  | 'order_paid'
  | 'order_refunded'
  | 'network'
  | 'timeout'
  | 'server'
  | 'unsafe_url'
  | 'protocol'
  | 'aborted'
  | 'unknown';

/** The reason why a checkout cannot continue. `message` is for the developer; the payer's text is chosen by `code`. */
export interface CheckoutError {
  readonly code: CheckoutErrorCode;
  /** The server's own code, as GraphQL and REST have it, or the status of an answer without one. Absent if nothing has answered. */
  readonly reason?: string | undefined;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number | undefined;
  /** Whether the token has ended on an open page, so that a reload of the page helps. */
  readonly mayReload?: boolean | undefined;
}

/** The state of the connection that brings updates: `live` is a WebSocket or an event stream. */
export type CheckoutConnection = 'idle' | 'connecting' | 'live' | 'polling' | 'reconnecting' | 'offline';

export interface CheckoutState {
  readonly phase: CheckoutPhase;
  readonly payment?: CheckoutPayment | undefined;
  readonly error?: CheckoutError | undefined;
  /** The browser blocked the window of the payment page; the payer gets a link. */
  readonly blocked?: boolean | undefined;
  /** Whether the payer came back by the cancel link. It is only a hint: the payment can still be paid. */
  readonly cancelled?: boolean | undefined;
}

export type CheckoutEvent =
  | { type: 'started' }
  | { type: 'answered'; payment: CheckoutPayment }
  | { type: 'blocked' }
  | { type: 'opened' }
  | { type: 'cancelled' }
  | { type: 'refused'; error: CheckoutError }
  | { type: 'reset' };

/** Whether a state is one of several. */
export function isAmong<State extends string>(state: State | undefined, ...some: State[]): boolean {
  return some.includes(state as State);
}

export const INITIAL: CheckoutState = { phase: 'idle' };

/** Computes the next state; nothing else decides the phase. Returns the same object if nothing changed. */
export function reduce(state: CheckoutState, event: CheckoutEvent): CheckoutState {
  switch (event.type) {
    case 'started':
      // A new attempt drops the old payment, whose version would hide the new one's.
      return { phase: 'creating' };
    case 'answered': {
      const payment = pickNewer(state.payment, event.payment);
      const phase = toPhase(payment);
      if (payment === state.payment && state.phase === phase) return state;
      return {
        phase,
        payment,
        blocked: phase === 'pending' && state.blocked,
        cancelled: phase === 'pending' && state.cancelled,
      };
    }
    case 'blocked':
      return { ...state, blocked: true };
    case 'opened':
      return { ...state, blocked: false, cancelled: false };
    case 'cancelled':
      // After a later payment the page's address still contains `psa_cancelled`.
      return isDecided(state.phase) ? state : { ...state, cancelled: true };
    case 'refused':
      if (isDecided(state.phase)) return state;
      return event.error.code === 'order_paid' || event.error.code === 'order_refunded'
        ? { phase: event.error.code, payment: state.payment }
        : { phase: 'error', payment: state.payment, error: event.error };
    case 'reset':
      return INITIAL;
  }
}

/**
 * Whether the payment has an outcome, from which only `reset()` or `retry()` leads back to the pay button.
 */
export function isDecided(phase: CheckoutPhase): boolean {
  return !isAmong(phase, 'idle', 'creating', 'pending', 'error');
}

/** Whether a payment exists or is being created, so that a click creates none. */
export function isStarted(phase: CheckoutPhase): boolean {
  return !isAmong(phase, 'idle', 'expired', 'failed', 'error');
}

/** Whether the outcome is the payment's own, which has an event. */
export function isOutcome(phase: CheckoutPhase): phase is 'paid' | 'expired' | 'refunded' | 'failed' {
  return isAmong(phase, 'paid', 'expired', 'refunded', 'failed');
}

/** Whether the payment may still receive an update for which the payer waits. */
export function isFollowable(payment: CheckoutPayment): boolean {
  return rank(payment.status) < 2;
}

/**
 * Picks the newer of two answers. The larger version wins, but not even a larger version moves a status back
 * along pending → expired → paid or failed → refunded: a bug upstream must not turn a receipt into a pay
 * button.
 */
export function pickNewer(known: CheckoutPayment | undefined, answer: CheckoutPayment): CheckoutPayment {
  if (!known || idOf(known) !== idOf(answer)) return answer;
  if (answer.version < known.version || rank(answer.status) < rank(known.status)) return known;
  // An answer with the same version updates the countdown, but must not change the status.
  return answer.version === known.version && answer.status !== known.status ? known : answer;
}

/** The identifier of a payment by any method. An answer that an earlier version has stored has no `__typename`. */
export function idOf(payment: CheckoutPayment): string {
  return payment.orderCode ?? (payment as Payment).paymentId;
}

/** Ranks of statuses in a payment's life. UNKNOWN, and any status of a newer server, counts as pending. */
const RANKS: Partial<Record<CardPaymentStatus, number>> = { EXPIRED: 1, FAILED: 2, PAID: 2, REFUNDED: 3 };

function rank(status: CardPaymentStatus): number {
  return RANKS[status] ?? 0;
}

function toPhase({ status, orderPaid, orderRefunded, returned }: CheckoutPayment): CheckoutPhase {
  if (orderPaid && (returned || rank(status) < 2)) return orderRefunded ? 'order_refunded' : 'order_paid';
  return rank(status) ? (status.toLowerCase() as CheckoutPhase) : 'pending';
}
