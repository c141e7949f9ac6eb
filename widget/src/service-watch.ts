import type { CheckoutHost } from './checkout-host.ts';
import type { CheckoutPayment } from './operations.ts';

/** The time without an answer after which an open payment is read. */
const EVERY_MS = 60_000;

/**
 * The times at which an open payment is read besides its stream: if the server asks another service, a stream does
 * not show that the service is down.
 */
export class ServiceWatch {
  /** Whether the server asks another service; undefined until it has answered a request. */
  #isBehind: boolean | undefined;
  /** The time of the last answer or update, or of the last read. */
  #heardAt = 0;
  readonly #owner: { host: CheckoutHost; refresh(): unknown };

  constructor(owner: { host: CheckoutHost; refresh(): unknown }) {
    this.#owner = owner;
  }

  /** Takes the answer to a request, and returns it. */
  note(payment: CheckoutPayment): CheckoutPayment {
    this.#isBehind = payment.stale !== undefined;
    return payment;
  }

  hear(): void {
    this.#heardAt = Date.now();
  }

  /** Draws the remaining time of an open payment, and reads the payment when it is due. */
  tick = (): void => {
    this.#owner.host.requestUpdate();
    if (this.#isBehind === false || document.hidden || Date.now() < this.#heardAt + EVERY_MS) return;
    this.hear();
    this.#owner.refresh();
  };
}
