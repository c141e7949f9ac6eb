import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { assetPath } from '../../kernel/assets.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import { knownLanguage, type Language } from '../../kernel/language.ts';
import { asTooMany, type PageLimits } from '../http/admission.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { answerTo } from '../http/error-answers.ts';
import { HttpError, type RequestContext, type Route, send, sendJson } from '../http/routes.ts';
import { type Brand, type Brands, brandUrls } from './brand.ts';
import { formatsOf } from './format.ts';
import { namedLanguage, preferredLanguage, TEXTS } from './language.ts';
import { pagePath, type Site } from './layout.ts';
import { problemPage } from './problem.ts';
import { cspSource } from './return-url.ts';

/** The parts of the hosted pages that every method of payment shares. Their routes have the parameter `id`. */
export interface CheckoutPages {
  /** The path of the checkout's pages, without a payment. */
  readonly basePath: string;
  /**
   * The site for the pages of one request: in the language of the address, else of the opened payment, else of the browser.
   */
  siteOf(context: RequestContext, brand?: Brand | null): Site;
  /**
   * Finds the payment of a page. @throws HttpError 404; RateLimitError for a network that requests too many payments that do
   * not exist
   */
  open<Found extends { accountId: string; payment: { language: Language | null } }>(
    context: RequestContext,
    find: (id: string) => Promise<Found | null>,
  ): Promise<Found & { brand: Brand | null }>;
  /** Answers every failure with a page, and rethrows a fault for the server to log. */
  asPage(handle: (context: RequestContext) => Promise<void>): Route['handle'];
  /** Answers the page's script with JSON. */
  asStatus(read: (context: RequestContext) => Promise<object>): Route['handle'];
}

/**
 * Creates the handlers that the payer's pages of all methods share.
 *
 * @param options.publicUrl the address of this server in the payer's browser; a path in it precedes every link
 * @param options.isTest whether no real money is moved
 * @param options.limits the limits of one network, on requests for payments that do not exist
 */
export function createCheckoutPages({
  publicUrl,
  isTest,
  addressOf,
  limits,
  brands,
}: {
  publicUrl: string;
  isTest: boolean;
  addressOf: ClientAddress;
  limits: PageLimits;
  brands: Brands;
}): CheckoutPages {
  const basePath = `${new URL(publicUrl).pathname.replace(/\/$/, '')}/checkout`;
  const shared = {
    styleUrl: `${basePath}/assets/page.css?v=${ASSETS['page.css'].hash}`,
    scriptUrl: `${basePath}/assets/page.js?v=${ASSETS['page.js'].hash}`,
    isTest,
  };

  /** The languages of the opened payments, by request: a later error page then has the payment's language too. */
  const opened = new WeakMap<RequestContext, Language>();

  function siteOf(context: RequestContext, brand: Brand | null = null): Site {
    const named = namedLanguage(context.url.searchParams);
    const language = named ?? opened.get(context) ?? preferredLanguage(context.request.headers);
    return {
      ...shared,
      language,
      texts: TEXTS[language],
      formats: formatsOf(language),
      isNamed: named !== null,
      ...brandUrls(basePath, brand),
    };
  }

  return {
    basePath,
    siteOf,

    async open(context, find) {
      const { id = '' } = context.params;
      const address = addressOf(context.request);
      await limits.take(address);
      const found = await find(id);
      if (!found) throw new HttpError(404, 'Not found');
      limits.putBack(address);
      const language = knownLanguage(found.payment.language);
      if (language) opened.set(context, language);
      return { ...found, brand: await brands.brandOf(found.accountId) };
    },

    asPage(handle) {
      return async (context) => {
        try {
          await handle(context);
        } catch (error) {
          if (context.response.headersSent) throw error;
          const known = error instanceof NotFoundError ? new HttpError(404, 'Not found') : asTooMany(error);
          const { status, headers } = answerTo(known);
          const site = siteOf(context);
          const paymentUrl =
            status === 404
              ? null
              : pagePath(site, `${basePath}/${encodeURIComponent(context.params.id ?? '')}`);
          const body = problemPage(site, status, paymentUrl);
          sendPage(context.response, status, body, { ...site, successUrl: null }, headers);
          if (known instanceof HttpError) return;
          // The server cuts off a response under way when its route throws.
          await finished(context.response).catch(() => undefined);
          throw error;
        }
      };
    },

    asStatus(read) {
      return async (context) => {
        const body = await read(context).catch((error: unknown) => {
          throw asTooMany(error);
        });
        sendJson(context.response, 200, body, { 'cache-control': 'no-store' });
      };
    },
  };
}

export function redirect(response: ServerResponse, location: string): void {
  send(response, 303, '', { location, ...PRIVACY });
}

export function sendPage(
  response: ServerResponse,
  status: number,
  body: string,
  { language, successUrl }: { language: Language; successUrl: string | null },
  headers: Record<string, string> = {},
): void {
  send(response, status, body, {
    'content-type': 'text/html; charset=utf-8',
    ...PRIVACY,
    ...ISOLATION,
    'content-security-policy': contentSecurityPolicy(successUrl),
    'content-language': language,
    vary: 'accept-language, accept-encoding',
    ...headers,
  });
}

const PRIVACY = {
  'cache-control': 'no-store',
  // The policy shows other sites nothing, like no-referrer. Under no-referrer browsers send `Origin: null` with the form of
  // this page, which could not be distinguished from a foreign form.
  'referrer-policy': 'same-origin',
  'x-robots-tag': 'noindex',
};

const ISOLATION = {
  // The header is set so that no proxy's default cuts off the widget's popup: `same-origin` would move the page to another
  // group of windows, in which the popup loses its name and the widget can no longer bring it to the front or close it. The
  // widget sets `opener` to null, and this page neither sends nor takes messages.
  'cross-origin-opener-policy': 'unsafe-none',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-frame-options': 'DENY',
};

/** The policy of a page. Chromium checks a form's redirects against `form-action` too, so it names the shop. */
function contentSecurityPolicy(successUrl: string | null): string {
  const shop = cspSource(successUrl);
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

// ── The files of all pages ──────────────────────────────────────────────────────────────────

const ASSETS = {
  'page.css': asset('page.css', 'text/css'),
  'page.js': asset('page.js', 'text/javascript', inlineCard),
};

function asset(name: string, type: string, edit = (text: string) => text) {
  const body = edit(read(name));
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12);
  return { body, hash, type: `${type}; charset=utf-8` };
}

function read(name: string): string {
  return readFileSync(assetPath(`api/checkout-page/${name}`), 'utf8');
}

/** Inlines the script's import: another instance, of an older version, might get the request for a second file. */
function inlineCard(script: string): string {
  const card = read('card.js').replaceAll(/^export /gm, '');
  return `${card}\n${script.replace(/^import .* from '\.\/card\.js';$/m, '')}`;
}

/** The route of the style and the script. */
export function checkoutAssetsRoute(): Route {
  return {
    methods: ['GET', 'HEAD'],
    path: /^\/checkout\/assets\/(?<file>page\.css|page\.js)$/,
    handle({ response, url, params }) {
      const { body, hash, type } = ASSETS[params.file as keyof typeof ASSETS];
      // An address with another hash belongs to an older or newer server, so the response must not be cached.
      const isCurrent = url.searchParams.get('v') === hash;
      send(response, 200, body, {
        'content-type': type,
        'cache-control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache',
        'cross-origin-resource-policy': 'same-origin',
      });
    },
  };
}
