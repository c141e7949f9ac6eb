import { readFile } from 'node:fs/promises';
import type { AccessService } from '../access/model.ts';
import type { CheckoutMethod } from '../card-payments/model.ts';
import type { CheckoutTokenService } from '../card-payments/tokens/model.ts';
import { filesRoute } from '../http/files.ts';
import { type Route, send, sendJson } from '../http/routes.ts';
import { createSameOrigin, PAGE_CSP } from '../http/same-origin.ts';
import { widgetPath } from '../kernel/assets.ts';
import { type Clock, DAY_MS, plusMs } from '../kernel/clock.ts';
import { UnavailableError } from '../kernel/errors.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { createDashboardRoutes, type DashboardOperations } from './dashboard.ts';

/**
 * The life of the demo's tokens. A shop mints a token when it needs one; these live while somebody tries the demo.
 */
const TOKEN_SECONDS = 30 * 86_400;
const MINT_AGAIN_MS = DAY_MS;

interface Product {
  sku: string;
  name: string;
  priceCents: number;
}

/** The widget's bundle for a script tag, on any site. */
export function widgetRoute(): Route {
  return filesRoute({
    prefix: '/widget',
    folder: widgetPath('dist/standalone/'),
    headers: () => ({
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=300',
    }),
  });
}

/** The shop at `/demo`, a merchant's site that embeds the widget, and its dashboard, both of the first account. */
export function createDemoRoutes({
  tenant,
  access,
  checkoutTokens,
  methods,
  operations,
  clock,
  publicUrl,
}: {
  tenant: Tenant;
  access: AccessService;
  checkoutTokens: CheckoutTokenService;
  /** The methods that the shop sells with, as far as its account takes them. */
  methods: readonly CheckoutMethod[];
  /** Null where money would be real: then the dashboard only reads. */
  operations: DashboardOperations | null;
  clock: Clock;
  publicUrl: string;
}): Route[] {
  const { guard } = createSameOrigin(publicUrl);
  const loadConfig = cachedForDay(clock, async () => {
    const products = JSON.parse(await readFile(widgetPath('demo/products.json'), 'utf8')) as Product[];
    return {
      // A path: the page may be open by another name of this machine, and its policy allows its own origin alone.
      endpoint: '/graphql',
      simulated: operations !== null,
      products: await Promise.all(
        products.map(async (product) => ({ ...product, tokens: await mintTokens(product) })),
      ),
    };
  });

  async function mintTokens({ name, priceCents }: Product) {
    const mint = async (urls: { successUrl?: string; cancelUrl?: string }) => {
      const input = {
        amount: { fixedCents: priceCents },
        description: name,
        reusable: true,
        expiresInSeconds: TOKEN_SECONDS,
        ...urls,
      };
      const { token } = await checkoutTokens
        .create(tenant, null, { ...input, methods: [...methods] })
        .catch((error: unknown) => {
          if (!(error instanceof UnavailableError)) throw error;
          // The account takes no PIX.
          return checkoutTokens.create(tenant, null, input);
        });
      return token;
    };
    return {
      popup: await mint({}),
      redirect: await mint({ successUrl: `${publicUrl}/demo/thank-you`, cancelUrl: `${publicUrl}/demo/` }),
    };
  }

  const shop = filesRoute({
    prefix: '/demo',
    folder: widgetPath('dist/demo/'),
    headers: (file) => ({
      'cache-control': file.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      ...(file.endsWith('.html')
        ? { 'content-security-policy': PAGE_CSP, 'referrer-policy': 'same-origin' }
        : {}),
    }),
  });
  const config: Route = {
    methods: ['GET'],
    path: /^\/demo\/config\.json$/,
    async handle({ response }) {
      sendJson(response, 200, await loadConfig(), { 'cache-control': 'no-store' });
    },
  };
  // Earlier versions wrote this address into payments and checkout tokens, which outlive an update.
  const formerThankYou: Route = {
    methods: ['GET', 'HEAD'],
    path: /^\/demo\/obrigado$/,
    handle: ({ url, response }) => send(response, 308, '', { location: `/demo/thank-you${url.search}` }),
  };
  const homeRedirect: Route = {
    methods: ['GET', 'HEAD'],
    path: /^\/$/,
    handle: ({ response }) => send(response, 307, '', { location: '/demo/' }),
  };
  return [
    homeRedirect,
    config,
    formerThankYou,
    ...createDashboardRoutes({ tenant, access, operations, clock, publicUrl }),
    shop,
  ].map(guard);
}

/** Caches the result of the first call for a day; a failed one is retried. */
function cachedForDay<Value>(clock: Clock, make: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | null = null;
  let until = new Date(0);
  return () => {
    if (value && clock.now() < until) return value;
    until = plusMs(clock.now(), MINT_AGAIN_MS);
    const making = make();
    value = making;
    making.catch(() => {
      if (value === making) value = null;
    });
    return making;
  };
}
