import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { asTooMany, type PageLimits } from '../../http/admission.ts';
import type { ClientAddress } from '../../http/client-address.ts';
import { HttpError, type RequestContext, type Route, readBody, send, sendJson } from '../../http/routes.ts';
import { assetPath } from '../../kernel/assets.ts';
import { type Clock, secondsUntil } from '../../kernel/clock.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import type { HostedCheckout, StoredCardPayment } from '../model.ts';
import { parseCardForm } from './form.ts';
import { followPath, type Order, type Site, type TestCards } from './layout.ts';
import { cspSource, returnUrl } from './return-url.ts';
import { pageState, secondsLeft } from './state.ts';
import { formPage, problemPage, statusPage } from './view.ts';

const BODY_LIMIT_BYTES = 8 * 1024;

/**
 * The hosted checkout page. It works without a script; the script adds comfort alone.
 *
 * @param options.publicUrl what the payer's browser calls this server; a path in it goes before every link
 * @param options.testCards listed on the page; null where the acquirer takes real cards
 * @param options.limits of a network, on order codes that are none and on forms
 */
export function createCheckoutRoutes({
  checkout,
  clock,
  publicUrl,
  testCards,
  addressOf,
  limits,
}: {
  checkout: HostedCheckout;
  clock: Clock;
  publicUrl: string;
  testCards: TestCards | null;
  addressOf: ClientAddress;
  limits: PageLimits;
}): Route[] {
  const { origin: ownOrigin, pathname } = new URL(publicUrl);
  const basePath = `${pathname.replace(/\/$/, '')}/checkout`;
  const site: Site = {
    basePath,
    styleUrl: `${basePath}/assets/page.css?v=${ASSETS['page.css'].hash}`,
    scriptUrl: `${basePath}/assets/page.js?v=${ASSETS['page.js'].hash}`,
    testCards,
  };
  const pathOf = (payment: StoredCardPayment) => `${basePath}/${payment.orderCode}`;

  /** @throws HttpError 404; RateLimitError for a network that asks for too many that are not there */
  async function open({ request, params: { orderCode = '' } }: RequestContext): Promise<Order> {
    const address = addressOf(request);
    await limits.take(address);
    // Checked here, because a text that cannot be an order code must not reach the database as one.
    const found = /^[A-Za-z0-9_-]{1,64}$/.test(orderCode) ? await checkout.open(orderCode) : null;
    if (!found) throw new HttpError(404, 'Not found');
    limits.putBack(address);
    return { ...found, secondsLeft: secondsLeft(found.payment, clock.now()) };
  }

  async function show(exchange: RequestContext): Promise<void> {
    const { response, url } = exchange;
    const order = await open(exchange);
    const state = pageState(order.payment, clock.now());
    if (state === 'paid' && url.searchParams.has('seguir')) {
      const next = returnUrl(order.payment.successUrl, { psa_order_code: order.payment.orderCode });
      if (next !== null) return redirect(response, next);
    }
    const shown = state === 'form' && order.paidElsewhere ? 'paid_elsewhere' : state;
    const body = shown === 'form' ? formPage(site, order, null) : statusPage(site, order, shown);
    sendPage(response, 200, body, order.payment);
  }

  async function pay(exchange: RequestContext): Promise<void> {
    const { request, response } = exchange;
    refuseForeignForm(request, ownOrigin);
    const address = addressOf(request);
    await limits.takeForm(address);
    const form = new URLSearchParams(await readBody(request, BODY_LIMIT_BYTES));
    const order = await open(exchange);
    const { payment } = order;
    const now = clock.now();
    if (pageState(payment, now) !== 'form') return redirect(response, followPath(site, payment));
    // The same form again, by reload or from an old page: its card has been answered already.
    const attempt = form.get('attempt');
    if (attempt !== null && attempt !== String(payment.declinedCharges))
      return redirect(response, pathOf(payment));

    const parsed = parseCardForm(form, { now, refusal: (number) => checkout.cardRefusal(number) });
    if (!parsed.ok) return sendPage(response, 422, formPage(site, order, parsed), payment);

    const result = await checkout.pay(payment.orderCode, parsed.card, address);
    const after: Order = { ...order, payment: result.payment };
    switch (result.kind) {
      case 'declined':
      case 'not_charged':
        // Not a redirect: its address would have to carry the result and the name.
        return sendPage(
          response,
          422,
          formPage(site, after, { kept: parsed.kept, declined: result.kind }),
          after.payment,
        );
      case 'held_back': {
        const waitSeconds = secondsUntil(result.retryAt, clock);
        const body = formPage(site, after, { kept: parsed.kept, waitSeconds });
        return sendPage(response, 429, body, after.payment, { 'retry-after': String(waitSeconds) });
      }
      case 'paid_elsewhere':
        return sendPage(response, 409, statusPage(site, after, 'paid_elsewhere'), after.payment);
      case 'paid':
        return redirect(
          response,
          returnUrl(after.payment.successUrl, { psa_order_code: payment.orderCode }) ?? pathOf(payment),
        );
      case 'processing':
      case 'in_progress':
        return redirect(response, followPath(site, payment));
      case 'failed':
      case 'returned':
      case 'not_payable':
        return redirect(response, pathOf(payment));
    }
  }

  async function status(exchange: RequestContext): Promise<void> {
    const { response } = exchange;
    const { payment, secondsLeft } = await open(exchange).catch((error: unknown) => {
      throw asTooMany(error);
    });
    const state = pageState(payment, clock.now());
    sendJson(response, 200, { status: payment.status, state, secondsLeft }, { 'cache-control': 'no-store' });
  }

  /** Answers every failure with a page, and rethrows a fault for the server to log. */
  function asPage(handle: (exchange: RequestContext) => Promise<void>): Route['handle'] {
    return async (exchange) => {
      try {
        await handle(exchange);
      } catch (error) {
        if (exchange.response.headersSent) throw error;
        const known = error instanceof NotFoundError ? new HttpError(404, 'Not found') : asTooMany(error);
        const { status, headers } = known instanceof HttpError ? known : { status: 500, headers: {} };
        const orderUrl =
          status === 404 ? null : `${basePath}/${encodeURIComponent(exchange.params.orderCode ?? '')}`;
        sendPage(exchange.response, status, problemPage(site, status, orderUrl), null, headers);
        if (known instanceof HttpError) return;
        // The server cuts off a response under way when its route throws.
        await finished(exchange.response).catch(() => undefined);
        throw error;
      }
    };
  }

  return [
    { methods: ['GET', 'HEAD'], path: /^\/checkout\/assets\/(?<file>page\.(?:css|js))$/, handle: sendAsset },
    { methods: ['GET', 'HEAD'], path: /^\/checkout\/(?<orderCode>[^/]+)\/status$/, handle: status },
    { methods: ['GET', 'HEAD'], path: /^\/checkout\/(?<orderCode>[^/]+)$/, handle: asPage(show) },
    { methods: ['POST'], path: /^\/checkout\/(?<orderCode>[^/]+)$/, handle: asPage(pay) },
  ];
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

function redirect(response: ServerResponse, location: string): void {
  send(response, 303, '', { location, ...PRIVACY });
}

function sendPage(
  response: ServerResponse,
  status: number,
  body: string,
  payment: StoredCardPayment | null,
  headers: Record<string, string> = {},
): void {
  send(response, status, body, {
    'content-type': 'text/html; charset=utf-8',
    ...PRIVACY,
    ...ISOLATION,
    'content-security-policy': contentSecurityPolicy(payment),
    ...headers,
  });
}

const PRIVACY = {
  'cache-control': 'no-store',
  // Other sites learn nothing, as with no-referrer; but under that one, browsers send `Origin: null` with the form of
  // this page, and nobody could tell it from a foreign one's.
  'referrer-policy': 'same-origin',
  'x-robots-tag': 'noindex',
};

const ISOLATION = {
  // Set so that no proxy's default cuts off the widget's popup: `same-origin` would move the page to another group of
  // windows, in which the popup loses its name and the widget can no longer bring it to the front or close it. The
  // widget sets `opener` to null, and this page neither sends nor takes messages.
  'cross-origin-opener-policy': 'unsafe-none',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-frame-options': 'DENY',
};

/** The policy of a page. Chromium checks a form's redirects against `form-action` too, so it names the shop. */
function contentSecurityPolicy(payment: StoredCardPayment | null): string {
  const shop = cspSource(payment?.successUrl ?? null);
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    `form-action 'self'${shop === null ? '' : ` ${shop}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

// ── The page's two files ────────────────────────────────────────────────────────────────────────

const ASSETS = { 'page.css': asset('page.css', 'text/css'), 'page.js': asset('page.js', 'text/javascript') };

function asset(name: string, type: string) {
  const body = readFileSync(assetPath(`card-payments/page/${name}`));
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12);
  return { body, hash, type: `${type}; charset=utf-8` };
}

function sendAsset({ response, url, params }: RequestContext): void {
  const { body, hash, type } = ASSETS[params.file === 'page.css' ? 'page.css' : 'page.js'];
  // An address with another hash is that of an older or newer server, and the response may not stay in a cache.
  const isCurrent = url.searchParams.get('v') === hash;
  send(response, 200, body, {
    'content-type': type,
    'cache-control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache',
    'cross-origin-resource-policy': 'same-origin',
  });
}
