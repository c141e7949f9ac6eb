import type { CheckoutHost } from './checkout-host.ts';
import { isAmong } from './checkout-state.ts';
import type { CheckoutPayment } from './operations.ts';
import {
  findVisit,
  forgetVisit,
  keyOf,
  lastKey,
  loadVisit,
  methodOf,
  newVisit,
  type PaymentAccess,
  saveVisit,
  type Visit,
} from './storage.ts';

/** The visit of an element, and its place in this tab's storage. */
export class CurrentVisit {
  visit: Visit | undefined;
  /** Whether the payer came back by the cancel link of this visit's payment. */
  cancelled: boolean | undefined;
  /**
   * The order code in the address of a page without token and endpoint, if this browser has stored nothing of
   * it.
   */
  returned: string | undefined;
  /** The keys of renewed tokens: a token that replaces an expired one keeps its place in the storage. */
  readonly keys: Record<string, string> = {};
  key = '';

  /**
   * Finds the visit by the attributes, the page's address or this tab's storage. Returns whether it is
   * another visit.
   */
  restore({ orderCode: paymentKey, paymentToken, endpoint, resumeKey, token }: CheckoutHost): boolean {
    const ownKey = resumeKey || this.keys[String(token)] || (token && keyOf(token));
    const address = new URLSearchParams(location.search);
    const returnedKey = address.get('psa_order_code') ?? address.get('psa_payment_id');
    const previousKey = this.key;
    this.returned = undefined;
    // An element with an endpoint and no token gets its token later, so it must not take another product's
    // payment.
    this.key = ownKey || paymentKey || (endpoint ? '' : (lastKey() ?? ''));
    let visit = loadVisit(this.key);
    const namedKey = paymentKey || ((ownKey || !endpoint) && returnedKey);
    const found = namedKey ? findVisit(namedKey, paymentKey ? '' : ownKey) : undefined;
    // After a retry in this tab, or another method, the attribute and the address still name the previous payment.
    const isStoredNewer =
      (found && visit?.base === found.base && visit.attempt > found.attempt) ||
      (visit?.paymentKey && visit.earlier?.some((each) => each.paymentKey === namedKey));
    if (isStoredNewer) {
      // The stored visit counts.
    } else if (paymentKey) {
      if (visit?.paymentKey !== paymentKey) visit = found;
      if (paymentToken) visit = { ...(visit ?? newVisit()), paymentKey, paymentToken };
    } else if (found) {
      visit = found;
      this.key = found.key;
    } else if (namedKey && !ownKey && visit?.paymentKey !== namedKey) {
      // The address names a payment that is unknown here, and the receipt of another one would mislead.
      visit = undefined;
    }
    if (!visit && !ownKey && !endpoint && !address.has('psa_cancelled'))
      this.returned = /^[\w-]{1,64}$/.exec(returnedKey ?? '')?.[0];
    if (
      this.visit &&
      previousKey === this.key &&
      visit?.paymentKey === this.visit.paymentKey &&
      visit?.paymentToken === this.visit.paymentToken
    )
      return false;
    this.visit = visit;
    if (visit?.paymentKey) this.save(visit);
    this.cancelled = address.has('psa_cancelled') && returnedKey === visit?.paymentKey;
    return true;
  }

  /**
   * The endpoint as an absolute URL. The page at successUrl need not name it, because the visit stores it.
   */
  endpointOf(host: Pick<CheckoutHost, 'endpoint'>): string | undefined {
    const url = host.endpoint || this.visit?.endpoint;
    return url && URL.canParse(url, document.baseURI) ? new URL(url, document.baseURI).href : undefined;
  }

  /** Returns the visit for a click: another attempt after an outcome or with another amount, another payment by another method. */
  next(method: string, valueCents: number | undefined): Visit {
    const visit = this.visit ?? loadVisit(this.key) ?? newVisit();
    if (needsNewAttempt(visit.payment) || (visit.valueCents !== undefined && visit.valueCents !== valueCents))
      return nextPayment(visit);
    return visit.paymentKey && methodOf(visit.paymentKey) !== method ? nextPayment(visit, 0) : visit;
  }

  save(visit: Visit): void {
    this.visit = visit;
    if (this.key) saveVisit(this.key, visit);
  }

  /**
   * Changes the visit. If another element of the same token has stored another payment meanwhile, that one
   * stays stored.
   */
  update(changes: Partial<Visit>): void {
    const visit = { ...(this.visit as Visit), ...changes };
    if (loadVisit(this.key)?.paymentKey === visit.paymentKey) this.save(visit);
    this.visit = visit;
  }

  /** Drops an earlier payment of the visit, which can no longer be paid. */
  forgetEarlier(access: PaymentAccess): void {
    this.update({ earlier: without(this.visit as Visit, access) });
  }

  /** Drops the visit. If its payment is open, the next click finds it again by the same attempt. */
  forget(payment: CheckoutPayment | undefined): void {
    const { visit } = this;
    forgetVisit(this.key);
    this.visit = undefined;
    if (visit && !isAmong(payment?.status, 'PAID', 'REFUNDED')) {
      this.visit = nextPayment(visit, needsNewAttempt(visit.payment) ? 1 : 0);
      saveVisit(this.key, this.visit);
    }
  }
}

/** The earlier payments of a visit, except this one. */
export function without({ earlier = [] }: Visit, { paymentKey }: Partial<PaymentAccess>): PaymentAccess[] {
  return earlier.filter((each) => each.paymentKey !== paymentKey);
}

export function needsNewAttempt(payment: CheckoutPayment | undefined): boolean {
  return isAmong(payment?.status, 'EXPIRED', 'FAILED');
}

/**
 * The visit without its payment, for the next payment: of another attempt, or by another method of the same.
 * It keeps the base, by which the server recognizes the same purchase, and the last earlier payments, because
 * their codes and pages may still be paid.
 */
export function nextPayment(visit: Visit, attempts = 1): Visit {
  const { base, attempt, valueCents, endpoint, paymentKey, paymentToken, payment } = visit;
  const kept = without(visit, visit);
  if (paymentKey && paymentToken) kept.push({ paymentKey, paymentToken, status: payment?.status });
  return { base, attempt: attempt + attempts, valueCents, endpoint, earlier: kept.slice(-2) };
}
