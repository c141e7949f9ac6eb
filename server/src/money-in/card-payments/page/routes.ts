import type { IncomingMessage } from 'node:http';
import type { Brand, Brands } from '../../../api/checkout-page/brand.ts';
import { CLOSED_ORDER } from '../../../api/checkout-page/closed-order.ts';
import { DECLINED_PARAMETER, followPath, pagePath } from '../../../api/checkout-page/layout.ts';
import { createCheckoutPages, redirect, sendPage } from '../../../api/checkout-page/pages.ts';
import { returnUrl } from '../../../api/checkout-page/return-url.ts';
import type { PageLimits } from '../../../api/http/admission.ts';
import type { ClientAddress } from '../../../api/http/client-address.ts';
import { HttpError, type RequestContext, type Route, readBody } from '../../../api/http/routes.ts';
import { type Clock, secondsLeft, secondsUntil } from '../../../kernel/clock.ts';
import { behindChange } from '../../../kernel/errors.ts';
import type { HostedCheckout } from '../hosted-checkout.ts';
import type { StoredCardPayment } from '../model.ts';
import type { FormAnswer } from './card-form.ts';
import { parseCardForm } from './form.ts';
import type { CardSite, Order, TestCards } from './order.ts';
import { pageState } from './state.ts';
import { formPage, statusPage } from './view.ts';

const BODY_LIMIT_BYTES = 8 * 1024;

/** A payment with the look of its shop. */
type Opened = Order & { brand: Brand | null };

/**
 * The hosted checkout page. It works without a script; the script adds comfort alone.
 *
 * @param options.publicUrl the address of this server in the payer's browser; a path in it precedes every link
 * @param options.testCards the cards listed on the page; null if the acquirer takes real cards
 * @param options.limits the limits of one network, on requests for payments that do not exist, and on forms
 */
export function createCheckoutRoutes({
  checkout,
  clock,
  publicUrl,
  testCards,
  addressOf,
  limits,
  brands,
}: {
  checkout: HostedCheckout;
  clock: Clock;
  publicUrl: string;
  testCards: TestCards | null;
  addressOf: ClientAddress;
  limits: PageLimits;
  brands: Brands;
}): Route[] {
  const pages = createCheckoutPages({ publicUrl, isTest: testCards !== null, addressOf, limits, brands });
  const siteOf = (context: RequestContext, { brand }: Opened): CardSite => ({
    ...pages.siteOf(context, brand),
    testCards,
  });
  const ownOrigin = new URL(publicUrl).origin;

  const stateOf = ({ payment, orderStatus }: Opened) => pageState(payment, orderStatus, clock.now());

  /** @throws HttpError 404, RateLimitError */
  function open(context: RequestContext): Promise<Opened> {
    return pages.open(context, async (orderCode) => {
      // Checked here, because a text that cannot be an order code must not reach the database as one.
      const found = /^[A-Za-z0-9_-]{1,64}$/.test(orderCode) ? await checkout.open(orderCode) : null;
      return (
        found && {
          ...found,
          secondsLeft: secondsLeft(found.payment.expiresAt, clock),
          path: `${pages.basePath}/${found.payment.orderCode}`,
        }
      );
    });
  }

  async function show(context: RequestContext): Promise<void> {
    const { response, url } = context;
    const order = await open(context);
    const site = siteOf(context, order);
    const state = stateOf(order);
    // A payer who has bought content reads it first.
    if (state === 'paid' && order.delivered.length === 0 && url.searchParams.has('seguir')) {
      const next = returnUrl(order.payment.successUrl, { psa_order_code: order.payment.orderCode });
      if (next !== null) return redirect(response, next);
    }
    // A payer who comes from the page of an open charge has not paid: the charge has ended meanwhile.
    const answer = url.searchParams.has('seguir') ? unpaidAnswer(order.payment, url.searchParams) : null;
    const body = state === 'form' ? formPage(site, order, answer) : statusPage(site, order, state);
    sendPage(response, 200, body, { ...order.payment, language: site.language });
  }

  async function pay(context: RequestContext): Promise<void> {
    const { request, response } = context;
    refuseForeignForm(request, ownOrigin);
    const address = addressOf(request);
    await limits.takeForm(address);
    const form = new URLSearchParams(await readBody(request, BODY_LIMIT_BYTES));
    const order = await open(context);
    const { payment } = order;
    const site = siteOf(context, order);
    const path = pagePath(site, order.path);
    const answer = (
      status: number,
      body: string,
      { successUrl }: StoredCardPayment,
      headers?: Record<string, string>,
    ) => sendPage(response, status, body, { language: site.language, successUrl }, headers);
    const now = clock.now();
    if (pageState(payment, null, now) !== 'form')
      return redirect(response, followPath(site, order.path, payment.declinedCharges));

    const parsed = parseCardForm(form, { now, refusal: (number) => checkout.cardRefusal(number) });
    if (!parsed.ok) return answer(422, formPage(site, order, parsed), payment);
    // A card was declined since this form was shown. This submission may repeat that card, after a reload or
    // a lost answer, or come from a second window with another card. The server cannot distinguish these, so
    // the payer reads only that nothing was charged.
    const attempt = form.get('attempt');
    if (attempt !== null && attempt !== String(payment.declinedCharges)) {
      const body = order.orderStatus
        ? statusPage(site, order, CLOSED_ORDER[order.orderStatus])
        : formPage(site, order, { kept: parsed.kept, declined: 'outdated' });
      return answer(409, body, payment);
    }

    const result = await checkout.pay(payment.orderCode, parsed.card, address);
    const after: Order = { ...order, payment: result.payment };
    switch (result.kind) {
      case 'declined':
      case 'not_charged':
        // The response is no redirect, whose address would have to carry the result and the name.
        return answer(
          422,
          formPage(site, after, { kept: parsed.kept, declined: result.kind }),
          after.payment,
        );
      case 'held_back': {
        const waitSeconds = secondsUntil(result.retryAt, clock);
        const body = formPage(site, after, { kept: parsed.kept, waitSeconds });
        return answer(429, body, after.payment, { 'retry-after': String(waitSeconds) });
      }
      case 'paid_elsewhere':
        return answer(409, statusPage(site, after, 'paid_elsewhere'), after.payment);
      case 'paid':
        return redirect(response, (await shopUrlOf(after.payment)) ?? path);
      case 'processing':
      case 'in_progress':
        return redirect(response, followPath(site, order.path, after.payment.declinedCharges));
      case 'failed':
      case 'returned':
      case 'not_payable':
        return redirect(response, path);
    }
  }

  /** The shop's address for a payer who has paid; null if there is none, or content to read before. */
  async function shopUrlOf({ orderCode, productId, successUrl }: StoredCardPayment): Promise<string | null> {
    const opened =
      productId === null
        ? null
        : await checkout.open(orderCode).catch((error: unknown) => {
            // The card is charged: an outage must not say that nothing was done.
            throw behindChange(error);
          });
    return opened?.delivered.length ? null : returnUrl(successUrl, { psa_order_code: orderCode });
  }

  async function status(context: RequestContext): Promise<object> {
    const order = await open(context);
    return { status: order.payment.status, state: stateOf(order), secondsLeft: order.secondsLeft };
  }

  return [
    { methods: ['GET', 'HEAD'], path: /^\/checkout\/(?<id>[^/]+)\/status$/, handle: pages.asStatus(status) },
    { methods: ['GET', 'HEAD'], path: /^\/checkout\/(?<id>[^/]+)$/, handle: pages.asPage(show) },
    { methods: ['POST'], path: /^\/checkout\/(?<id>[^/]+)$/, handle: pages.asPage(pay) },
  ];
}

/**
 * The answer to a form whose charge was decided later, or was never made. The typed values are gone by then.
 * The query names the number of cards that were declined before that charge; without the parameter, as from a
 * page of an earlier version, it is zero.
 */
function unpaidAnswer({ declinedCharges }: StoredCardPayment, query: URLSearchParams): FormAnswer {
  const kept = { holder: '', expiry: '' };
  const declinedBefore = Number(query.get(DECLINED_PARAMETER));
  return { kept, declined: declinedCharges > declinedBefore ? 'declined' : 'not_charged' };
}

/**
 * Refuses a form of another site: no cookie identifies the payer, but no other site may try cards with its visitors'
 * browsers.
 */
function refuseForeignForm({ headers }: IncomingMessage, ownOrigin: string): void {
  const { origin, host } = headers;
  const isOwn =
    origin === undefined || origin === ownOrigin || (URL.canParse(origin) && new URL(origin).host === host);
  if (!isOwn || headers['sec-fetch-site'] === 'cross-site') throw new HttpError(403, 'Cross-site form');
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') throw new HttpError(415, 'The body must be a form');
}
