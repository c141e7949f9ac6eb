// A fake server inside the page, so that the element itself draws each state: no network, no window, no storage, and a
// clock that stands still.
import type { CardPayment, CheckoutPayment, Payment } from '../../src/psa-checkout.ts';
import { answerRequests, jsonResponse, neverRespond, stopClocks, streamResponse } from './answers.ts';
import code from './pix-code.json' with { type: 'json' };

/** A refusal of a payment's start, as the server's unions have it. */
export interface Refusal {
  __typename: string;
  code: string;
  message?: string;
  retryAfterSeconds?: number;
}

/** The fake server's behaviour towards one element. */
export interface Script {
  /** Overrides of the gallery's default payment. */
  payment?: Partial<CardPayment>;
  /** The same of a payment by PIX, which makes it one. */
  pix?: Partial<Payment>;
  /** The content that a paid payment has delivered. */
  delivered?: { kind: string; status: string; content: string | null }[];
  /** The answer to a click in place of the payment: none, a network error, or a refusal. */
  start?: 'hang' | 'network-error' | Refusal;
  /** The age of what is read from a service behind the server, which gives nothing newer. */
  staleSeconds?: number;
  /** `hang` never answers, `drop` ends after the first update, `silent` stays open and sends nothing more. */
  stream?: 'hang' | 'drop' | 'silent';
}

export const ENDPOINT = '/demo/gallery/graphql';

const assigned = new Map<string, { script: Script; payment: CheckoutPayment; connections: number }>();
const FINAL_STATUSES = ['PAID', 'FAILED', 'REFUNDED'];

/**
 * Assigns a script to an element's token. `place` is the element's own number.
 * @returns the order code under which the payment can be followed; it ends with the number
 */
export function assignScript(token: string, script: Script, place: number): string {
  const number = 1001 + place;
  const orderCode = script.pix
    ? `psa_3f9c0b7e52d84a16b0e7c1d94f8a${number}`
    : `PSC-TKDQ8J76ZGXA6VWCSTP6${number}`;
  const shared = {
    status: 'PENDING',
    amountCents: 18_900,
    currency: 'BRL',
    expiresAt: '2031-01-01T12:00:00.000Z',
    expiresInSeconds: 1694,
    description: null,
    paidAt: null,
    paidLate: false,
    orderPaid: false,
    orderRefunded: false,
    returned: false,
    canceledAt: null,
    refundedAt: null,
    version: 1,
  } as const;
  const payment: CheckoutPayment = script.pix
    ? {
        __typename: 'Payment',
        paymentId: orderCode,
        ...shared,
        pix: code,
        returnedCredits: [],
        ...script.pix,
      }
    : {
        __typename: 'CardPayment',
        orderCode,
        ...shared,
        checkoutUrl: new URL('/demo/gallery', location.href).href,
        failureReason: null,
        ...script.payment,
      };
  assigned.set(token, { script, payment, connections: 0 });
  return orderCode;
}

answerRequests(
  (address) => address.endsWith(ENDPOINT),
  (_, init) => respond(init),
);
stopClocks();
globalThis.open = () => null;
// What goes away by itself stays: the word that the code was copied.
const realSetTimeout = globalThis.setTimeout;
globalThis.setTimeout = ((run: () => void, ms?: number) =>
  ms === 4_000 ? 1 : realSetTimeout(run, ms)) as typeof setTimeout;

/** The device of the elements that are placed now. Whether it is a phone they ask once. */
export const device = { isPhone: false, hasClipboard: true };

const realMatchMedia = globalThis.matchMedia;
globalThis.matchMedia = (query) =>
  query.includes('coarse') ? ({ matches: device.isPhone } as MediaQueryList) : realMatchMedia(query);
/** The clipboard outside of the elements; undefined if the page is not secure. */
export const pageClipboard = navigator.clipboard as Clipboard | undefined;
Object.defineProperty(navigator, 'clipboard', {
  value: {
    writeText: async () => {
      if (!device.hasClipboard) throw new DOMException('no clipboard', 'NotAllowedError');
    },
  },
});
function respond({ headers, body, signal, mode }: RequestInit): Promise<Response> {
  // An element that explains a mistake in the console asks whether the server can be reached.
  if (mode === 'no-cors') return Promise.resolve(new Response());
  const token = (headers as Record<string, string>).authorization?.replace('Bearer ', '') ?? '';
  const entry = assigned.get(token);
  const { query } = JSON.parse(String(body)) as { query: string };
  if (query.includes('viewer'))
    return jsonResponse({ data: { viewer: { checkoutMethods: ['PIX', 'CARD'] } } });
  const { script, payment } = entry ?? {};
  if (!entry || !script || !payment)
    return jsonResponse({ errors: [{ message: 'no', extensions: { code: 'UNAUTHENTICATED' } }] });
  const member = payment.__typename === 'Payment' ? 'payment' : 'cardPayment';
  if (query.startsWith('mutation')) {
    if (script.start === 'hang') return neverRespond();
    if (script.start === 'network-error') return Promise.reject(new TypeError('Failed to fetch'));
    return jsonResponse({
      data: {
        startCheckout: script.start
          ? { message: 'no', ...script.start }
          : { __typename: 'StartCheckoutSuccess', [member]: payment, paymentToken: token },
      },
    });
  }
  if (script.stream === 'hang') return neverRespond();
  if (query.includes('delivered'))
    return jsonResponse({ data: { [member]: { delivered: script.delivered ?? null } } });
  if (query.startsWith('query')) {
    const ageSeconds = script.staleSeconds;
    return jsonResponse({
      data: { [member]: payment },
      ...(ageSeconds !== undefined && { extensions: { upstream: { ageSeconds, stale: true } } }),
    });
  }
  if (script.stream === 'drop' && entry.connections++ > 0) return neverRespond();
  const isOver = FINAL_STATUSES.includes(payment.status);
  return streamResponse({ cursor: 'c1', [member]: payment }, isOver ? 'drop' : script.stream, signal);
}
