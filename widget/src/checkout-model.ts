import type { CheckoutHost } from './checkout-host.ts';
import {
  type CheckoutConnection,
  type CheckoutError,
  type CheckoutEvent,
  INITIAL,
  idOf,
  reduce,
} from './checkout-state.ts';
import type { Transport } from './follow/transport.ts';
import type { CheckoutMethod } from './methods.ts';
import { explain } from './mistakes.ts';
import type { CheckoutPayment } from './operations.ts';
import { methodOf } from './storage.ts';

/** The detail of an event; the detail of a payment event also gets the payment's method. */
interface Detail {
  payment?: CheckoutPayment | undefined;
  [member: string]: unknown;
}

/** The state of a checkout; each change of it renders the element and is dispatched as an event. */
export class CheckoutModel {
  state = INITIAL;
  connection: CheckoutConnection = 'idle';
  /** Whether a payment was found, but the server has not sent its state yet. */
  resuming = false;
  /** The method of the payment, or of the payment that is being created. */
  method: CheckoutMethod | undefined;
  readonly host: CheckoutHost;

  constructor(host: CheckoutHost) {
    this.host = host;
  }

  apply(event: CheckoutEvent): void {
    const previous = this.state.phase;
    this.state = reduce(this.state, event);
    this.host.requestUpdate();
    const { phase } = this.state;
    if (phase !== previous) this.emit('psa-phase-change', { phase, previous });
  }

  connect = (connection: CheckoutConnection, transport?: Transport): void => {
    if (this.connection === connection) return;
    this.connection = connection;
    this.host.requestUpdate();
    this.emit('psa-connection-change', { connection, transport });
  };

  fail(error: CheckoutError): void {
    this.resuming = false;
    const before = this.state;
    this.apply({ type: 'refused', error });
    if (this.state === before) return;
    if (!error.mayReload && /^([inp]|unau)/.test(error.code)) explain(this.host, error);
    this.report(error);
  }

  report({ code, reason, message, retryable }: CheckoutError): void {
    this.emit('psa-error', { code, reason, message, retryable });
  }

  /** Dispatches an event. Returns false if the page has prevented the announced action. */
  emit(name: string, detail: Detail, cancelable = false): boolean {
    const { payment } = detail;
    if (payment) Object.assign(detail, { method: methodOf(idOf(payment)) });
    return this.host.dispatchEvent(
      new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable }),
    );
  }
}
