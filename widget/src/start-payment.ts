import type { CheckoutError } from './checkout-state.ts';
import { pause } from './follow/pause.ts';
import type { CheckoutPayment } from './operations.ts';
import { startCheckout } from './request.ts';
import type { Visit } from './storage.ts';

/** The time in which the page must give a fresh token. */
const RENEWAL_MS = 15_000;

/** The element, as far as its token can be replaced. */
interface TokenHost {
  token?: string | undefined;
  renewToken?: (() => Promise<string> | string) | undefined;
  readonly updateComplete: Promise<boolean>;
}

type StartOptions = Parameters<typeof startCheckout>[0] & {
  /** The host of the token; an entry of an earlier version omits it. */
  host?: TokenHost;
  visit?: Visit;
  /** The visits of the element: under the fresh token what the tab has stored keeps its place. */
  visits?: { readonly key: string; readonly keys: Record<string, string> };
};

interface Started {
  payment: CheckoutPayment;
  paymentToken: string;
  /** The token that has started the payment; left out by a chunk of an earlier version. */
  token?: string;
}

/**
 * Creates a payment. If the token is refused, the page is asked for a fresh one, once; not while a payment of the
 * visit is open: a fresh token would start a second one. Throws a CheckoutError, and the error of `renewToken`.
 */
export async function startPayment({ host, visit, visits, ...options }: StartOptions): Promise<Started> {
  try {
    return await startCheckout(options);
  } catch (refusal) {
    // An expired payment may be paid late, and is followed; the payer has asked for a second one.
    const isOpen =
      visit?.paymentKey || visit?.earlier?.some(({ status }) => status !== 'EXPIRED' && status !== 'FAILED');
    if ((refusal as CheckoutError).code === 'unauthorized' && !isOpen) {
      const late = pause(RENEWAL_MS, {} as AbortSignal) as Promise<undefined>;
      const fresh = await Promise.race([host?.renewToken?.(), late]);
      // The page may have set another token meanwhile, or this one.
      if (host && fresh && (host.token === options.token || host.token === fresh)) {
        host.token = fresh;
        // The element takes a secret key out again.
        await host.updateComplete;
        const { token } = host;
        if (visits) visits.keys[String(token)] = visits.key;
        if (token && !options.signal?.aborted)
          return { ...(await startCheckout({ ...options, token })), token };
      }
    }
    throw refusal;
  }
}
