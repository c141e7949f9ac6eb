import type { CheckoutMethod } from './methods.ts';
import type { CardPaymentStatus, CheckoutPayment } from './operations.ts';

/** The key of a payment, and the token that reads it. */
export interface PaymentAccess {
  /** The order code of a card payment, or the paymentId of any other. */
  paymentKey: string;
  paymentToken: string;
  /** The last known status of an earlier payment of a visit. An entry of an earlier version omits it. */
  status?: CardPaymentStatus | undefined;
}

/** The stored state of one checkout, by which a reload or the return from the hosted page finds it again. */
export interface Visit extends Partial<PaymentAccess> {
  /** At least 128 random bits; ids that share them belong to one purchase. */
  base: string;
  /** The number of the attempt, from 1; from 2 on it is the suffix `.2`, `.3` … of the attempt id. */
  attempt: number;
  /** The amount of this attempt, if the page chose it: a new amount is a new attempt. */
  valueCents?: number | undefined;
  endpoint?: string | undefined;
  /** The key of the checkout token that started the payment: another token would start another payment. */
  startedBy?: string | undefined;
  payment?: CheckoutPayment | undefined;
  /** Earlier payments of this visit that may still be paid: another method's, or a PIX code that has expired. */
  earlier?: PaymentAccess[] | undefined;
}

/** A visit stored by its payment's key, for the tab or popup in which the payer comes back. */
export interface Handoff extends Visit {
  key: string;
  savedAt: number;
}

const PREFIX = 'psa-checkout:';
const LAST = `${PREFIX}last`;
const ORDERS = `${PREFIX}orders`;
const HANDOFF_MS = 24 * 3_600_000;

// The fallback where storage is denied (a sandboxed frame, a private window) or full: it lasts as long as the page.
const memory: Record<string, unknown> = {};

export function newVisit(): Visit {
  const numbers = crypto.getRandomValues(new Uint32Array(5));
  return { base: [...numbers].map((number) => number.toString(36)).join(''), attempt: 1 };
}

export function attemptId(visit: Visit): string {
  return visit.attempt > 1 ? `${visit.base}.${visit.attempt}` : visit.base;
}

/** The method of a payment by its key: only the key of a payment by PIX begins like this. */
export function methodOf(paymentKey: string): CheckoutMethod {
  return paymentKey.startsWith('psa_') ? 'pix' : 'card';
}

/** Loads the visit of a resume key. */
export function loadVisit(key: string): Visit | undefined {
  return read(session, PREFIX + key);
}

/** Returns the key of the visit saved last in this tab, for the page at successUrl, which has no token. */
export function lastKey(): string | undefined {
  return read(session, LAST);
}

export function saveVisit(key: string, visit: Visit): void {
  write(session, PREFIX + key, visit);
  write(session, LAST, key);
  // The payment page may return in another tab or in the popup, which have their own sessionStorage. Its address contains
  // the payment's key, so localStorage keeps the visit by that key for a day.
  if (visit.paymentKey)
    write(local, ORDERS, [{ ...visit, key, savedAt: Date.now() }, ...otherOrders(visit.paymentKey)]);
}

/** Finds the visit of a payment, if it belongs to the resume key `key`; without a key any visit matches. */
export function findVisit(paymentKey: string, key?: string): Handoff | undefined {
  return otherOrders().find((order) => order.paymentKey === paymentKey && (!key || order.key === key));
}

export function forgetVisit(key: string): void {
  write(local, ORDERS, otherOrders(loadVisit(key)?.paymentKey));
  write(session, PREFIX + key, null);
  if (lastKey() === key) write(session, LAST, null);
}

/** Derives a resume key from a token: its last 12 characters distinguish products and are too few to pay with. */
export function keyOf(token: string): string {
  return token.slice(-12);
}

function otherOrders(paymentKey?: string): Handoff[] {
  const orders = read<Handoff[]>(local, ORDERS) ?? [];
  return orders.filter((order) => order.paymentKey !== paymentKey && Date.now() - order.savedAt < HANDOFF_MS);
}

// If storage is denied, even its name throws, so it is named only inside a try.
const session = () => sessionStorage;
const local = () => localStorage;

/** Leaves out the `toJSON` that old libraries give arrays: see to-json.ts, which another chunk has. */
function own(this: Record<string, unknown>, key: string): unknown {
  return this[key];
}

/** Reads the payment's key where version 0.1.0 stored it, under the name `orderCode`. */
function renamed(_: string, value: null | (Partial<PaymentAccess> & { orderCode?: string })): unknown {
  return value?.paymentToken ? { paymentKey: value.orderCode, ...value } : value;
}

function read<T>(store: () => Storage, name: string): T | undefined {
  try {
    return (memory[name] ?? JSON.parse(store().getItem(name) as string, renamed) ?? undefined) as
      | T
      | undefined;
  } catch {
    return;
  }
}

function write(store: () => Storage, name: string, value: unknown): void {
  delete memory[name];
  try {
    if (value === null) store().removeItem(name);
    else store().setItem(name, JSON.stringify(value, own));
  } catch {
    memory[name] = value;
  }
}
