import type { CardPayment, CardPaymentStatus } from './operations.ts';

/** What the element shows. */
export type CheckoutPhase =
  | 'idle'
  | 'creating'
  | 'pending'
  | 'paid'
  | 'expired'
  | 'refunded'
  | 'failed'
  | 'error';

export type CheckoutErrorCode =
  | 'invalid_input'
  | 'not_configured'
  | 'unauthorized'
  | 'rate_limited'
  | 'conflict'
  | 'network'
  | 'timeout'
  | 'server'
  | 'unsafe_url'
  | 'protocol'
  | 'aborted'
  | 'unknown';

/** Why a checkout stands still. `message` is for the developer; what the payer reads is chosen by `code`. */
export interface CheckoutError {
  readonly code: CheckoutErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number | undefined;
}

/** How news reaches the element: `live` is a WebSocket or an event stream. */
export type CheckoutConnection = 'idle' | 'connecting' | 'live' | 'polling' | 'reconnecting' | 'offline';

export interface CheckoutState {
  readonly phase: CheckoutPhase;
  readonly payment?: CardPayment | undefined;
  readonly error?: CheckoutError | undefined;
  /** The browser refused to open the payment page; the payer gets a link. */
  readonly blocked?: boolean | undefined;
  /** The payer came back by the cancel link: a hint, for the payment is as payable as before. */
  readonly cancelled?: boolean | undefined;
}

export type CheckoutEvent =
  | { type: 'started' }
  | { type: 'answered'; payment: CardPayment }
  | { type: 'blocked' }
  | { type: 'opened' }
  | { type: 'cancelled' }
  | { type: 'refused'; error: CheckoutError }
  | { type: 'reset' };

export const INITIAL: CheckoutState = { phase: 'idle' };

/** The one place where the element's phase is decided. Returns the same object where nothing changed. */
export function reduce(state: CheckoutState, event: CheckoutEvent): CheckoutState {
  switch (event.type) {
    case 'started':
      // A new attempt forgets the old payment: its version would shadow the new one's.
      return { phase: 'creating' };
    case 'answered': {
      const payment = newer(state.payment, event.payment);
      if (payment === state.payment && state.phase === phaseOf(payment.status)) return state;
      const phase = phaseOf(payment.status);
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
      return state.blocked || state.cancelled ? { ...state, blocked: false, cancelled: false } : state;
    case 'cancelled':
      // The address says so for good, after a payment too.
      return settled(state.phase) ? state : { ...state, cancelled: true };
    case 'refused':
      return settled(state.phase) ? state : { phase: 'error', payment: state.payment, error: event.error };
    case 'reset':
      return INITIAL;
  }
}

/** No answer can lead back to the pay button from here; only `reset()` or `retry()` does. */
export function settled(phase: CheckoutPhase): boolean {
  return /paid|ed$/.test(phase);
}

/** Whether news of this payment can still come that the payer waits for. */
export function followable(payment: CardPayment): boolean {
  return rank(payment.status) < 2;
}

/**
 * Of two answers the one that holds. The larger version wins, and even a larger version does not lead back along
 * pending → expired → paid or failed → refunded: a bug upstream must not turn a receipt into a pay button.
 */
export function newer(held: CardPayment | undefined, answer: CardPayment): CardPayment {
  if (!held || held.orderCode !== answer.orderCode) return answer;
  if (answer.version < held.version || rank(answer.status) < rank(held.status)) return held;
  // The same version read again brings a fresh countdown, and must not bring another status.
  return answer.version === held.version && answer.status !== held.status ? held : answer;
}

/** The order of a payment's life. UNKNOWN, and whatever a newer server says, counts as not decided yet. */
const RANKS: Partial<Record<CardPaymentStatus, number>> = { EXPIRED: 1, FAILED: 2, PAID: 2, REFUNDED: 3 };

function rank(status: CardPaymentStatus): number {
  return RANKS[status] ?? 0;
}

function phaseOf(status: CardPaymentStatus): CheckoutPhase {
  return rank(status) ? (status.toLowerCase() as CheckoutPhase) : 'pending';
}
