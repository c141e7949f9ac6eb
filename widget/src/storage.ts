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
const ORDER = `${PREFIX}order:`;
const HANDOFF_MS = 24 * 3_600_000;

// Where storage is denied (a sandboxed frame, a private window) the visit lasts as long as the page.
const memory = new Map<string, unknown>();

export function newVisit(): Visit {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return { base: Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''), attempt: 1 };
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
  if (visit.orderCode) {
    prune();
    write(local, ORDER + visit.orderCode, { ...visit, key, savedAt: Date.now() } satisfies Handoff);
  }
}

/** The visit of an order code, as long as it belongs to `key` (any key where none is given). */
export function findVisit(orderCode: string, key?: string): Handoff | undefined {
  const found = read<Handoff>(local, ORDER + orderCode);
  return found && (key === undefined || found.key === key) ? found : undefined;
}

export function forgetVisit(key: string): void {
  const visit = loadVisit(key);
  drop(session, PREFIX + key);
  if (lastKey() === key) drop(session, LAST);
  if (visit?.orderCode) drop(local, ORDER + visit.orderCode);
}

/** A resume key from a token: enough of it to tell three products apart, too little to pay with. */
export function keyOf(token: string): string {
  return token.slice(-12);
}

function prune(): void {
  try {
    for (const name of Object.keys(localStorage)) {
      const savedAt = name.startsWith(ORDER) ? (read<Handoff>(local, name)?.savedAt ?? 0) : Infinity;
      if (Date.now() - savedAt > HANDOFF_MS) drop(local, name);
    }
  } catch {
    // Denied: nothing was kept.
  }
}

// Even naming the storage throws where it is denied, so it is named inside a try alone.
const session = () => sessionStorage;
const local = () => localStorage;

function read<T>(store: () => Storage, name: string): T | undefined {
  try {
    return JSON.parse(store().getItem(name) ?? 'null') ?? undefined;
  } catch {
    return memory.get(name) as T | undefined;
  }
}

function write(store: () => Storage, name: string, value: unknown): void {
  memory.set(name, value);
  try {
    store().setItem(name, JSON.stringify(value));
  } catch {
    // Denied or full: what was set in memory holds.
  }
}

function drop(store: () => Storage, name: string): void {
  memory.delete(name);
  try {
    store().removeItem(name);
  } catch {
    // Nothing was kept there either.
  }
}
