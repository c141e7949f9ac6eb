import type { CardPayment } from './operations.ts';

/** What a page remembers of one checkout, so that a reload or the way back from the hosted page finds it again. */
export interface Visit {
  /** At least 128 random bits; the server takes the ids that share them as one checkout attempt. */
  base: string;
  /** 1 for the first attempt; `.2`, `.3` … follow it in the attempt id. */
  attempt: number;
  /** The amount of this attempt, where the page chose it: another amount is another attempt. */
  valueCents?: number | undefined;
  endpoint?: string | undefined;
  /** Of the checkout token that started it: another token would start another payment. */
  startedBy?: string | undefined;
  orderCode?: string | undefined;
  paymentToken?: string | undefined;
  payment?: CardPayment | undefined;
}

/** A visit as it lies beside its order code, for the tab or popup in which the payer comes back. */
export interface Handoff extends Visit {
  key: string;
  savedAt: number;
}

const PREFIX = 'psa-checkout:';
const LAST = `${PREFIX}last`;
const ORDERS = `${PREFIX}orders`;
const HANDOFF_MS = 24 * 3_600_000;

// Where storage is denied (a sandboxed frame, a private window) or full the visit lasts as long as the page.
const memory: Record<string, unknown> = {};

export function newVisit(): Visit {
  const numbers = crypto.getRandomValues(new Uint32Array(5));
  return { base: Array.from(numbers, (number) => number.toString(36)).join(''), attempt: 1 };
}

export function attemptId(visit: Visit): string {
  return visit.attempt > 1 ? `${visit.base}.${visit.attempt}` : visit.base;
}

/** The visit under a resume key. */
export function loadVisit(key: string): Visit | undefined {
  return read(session, PREFIX + key);
}

/** The key of the visit saved last in this tab, for the page at successUrl, which knows no token. */
export function lastKey(): string | undefined {
  return read(session, LAST);
}

export function saveVisit(key: string, visit: Visit): void {
  write(session, PREFIX + key, visit);
  write(session, LAST, key);
  // The payment page may return to another tab or to the popup, whose sessionStorage is not this one's. It
  // brings the order code in its address, so the way from there to the payment lies in localStorage for a day.
  if (visit.orderCode)
    write(local, ORDERS, [{ ...visit, key, savedAt: Date.now() }, ...otherOrders(visit.orderCode)]);
}

/** The visit of an order code, as long as it belongs to `key` (any key where none is given). */
export function findVisit(orderCode: string, key?: string): Handoff | undefined {
  return otherOrders().find((order) => order.orderCode === orderCode && (!key || order.key === key));
}

export function forgetVisit(key: string): void {
  write(local, ORDERS, otherOrders(loadVisit(key)?.orderCode));
  write(session, PREFIX + key, null);
  if (lastKey() === key) write(session, LAST, null);
}

/** A resume key from a token: enough of it to tell three products apart, too little to pay with. */
export function keyOf(token: string): string {
  return token.slice(-12);
}

function otherOrders(orderCode?: string): Handoff[] {
  const orders = read<Handoff[]>(local, ORDERS) ?? [];
  return orders.filter((order) => order.orderCode !== orderCode && Date.now() - order.savedAt < HANDOFF_MS);
}

// Even naming the storage throws where it is denied, so it is named inside a try alone.
const session = () => sessionStorage;
const local = () => localStorage;

function read<T>(store: () => Storage, name: string): T | undefined {
  try {
    return (memory[name] ?? JSON.parse(store().getItem(name) as string) ?? undefined) as T | undefined;
  } catch {
    return;
  }
}

function write(store: () => Storage, name: string, value: unknown): void {
  delete memory[name];
  try {
    if (value === null) store().removeItem(name);
    else store().setItem(name, JSON.stringify(value));
  } catch {
    memory[name] = value;
  }
}
