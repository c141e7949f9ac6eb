import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { filesRoute } from '../../api/http/files.ts';
import { type Route, send, sendJson } from '../../api/http/routes.ts';
import { createSameOrigin, PAGE_CSP } from '../../api/http/same-origin.ts';
import { widgetPath } from '../../kernel/assets.ts';
import { type Clock, DAY_MS, plusMs } from '../../kernel/clock.ts';
import { PreconditionError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type {
  CheckoutTokenService,
  CreateCheckoutTokenInput,
} from '../../money-in/card-payments/tokens/model.ts';
import { type CheckoutMethod, cardAmount, checkoutDetails } from '../../money-in/checkout/model.ts';

/**
 * The life of the demo's tokens. A shop mints a token when it needs one; these last for as long as a person tries the
 * demo.
 */
const TOKEN_SECONDS = 30 * 86_400;
const MINT_AGAIN_MS = DAY_MS;

const galleryTokenInput = z.object({
  amountCents: cardAmount,
  description: checkoutDetails.shape.description,
});

interface Product {
  sku: string;
  name: string;
  priceCents: number;
}

/** The shop at `/demo`, a merchant's site that embeds the widget, of the first account. */
export function createDemoRoutes({
  tenant,
  checkoutTokens,
  methods,
  isSimulated,
  hasConsole,
  clock,
  publicUrl,
}: {
  tenant: Tenant;
  checkoutTokens: CheckoutTokenService;
  /** The methods that the shop sells with, as far as its account takes them. */
  methods: readonly CheckoutMethod[];
  /** Whether bank and acquirer are simulated; money is real otherwise. */
  isSimulated: boolean;
  /** Whether this server has the merchant's console, to which the pages lead. */
  hasConsole: boolean;
  clock: Clock;
  publicUrl: string;
}): Route[] {
  const { guard, action } = createSameOrigin(publicUrl);
  const loadProducts = cachedForDay(clock, async (origin) => {
    const products = JSON.parse(await readFile(widgetPath('demo/products.json'), 'utf8')) as Product[];
    return Promise.all(
      products.map(async (product) => ({ ...product, tokens: await mintTokens(product, origin) })),
    );
  });

  /** Mints a reusable token with all methods that the account takes. @throws PreconditionError (it takes none) */
  async function mint(input: CreateCheckoutTokenInput): Promise<string> {
    let refusal: PreconditionError | null = null;
    // An account that does not take all of them may take one.
    const single = methods.length > 1 ? methods.map((method) => [method]) : [];
    for (const tried of [[...methods], ...single])
      try {
        const created = await checkoutTokens.create(tenant, null, {
          ...input,
          reusable: true,
          methods: tried,
        });
        return created.token;
      } catch (error) {
        if (!(error instanceof PreconditionError)) throw error;
        refusal = error;
      }
    throw refusal!;
  }

  async function mintTokens({ name, priceCents }: Product, origin: string) {
    const input = {
      amount: { fixedCents: priceCents },
      description: name,
      expiresInSeconds: TOKEN_SECONDS,
    };
    return {
      popup: await mint(input),
      redirect: await mint({
        ...input,
        successUrl: `${origin}/demo/thank-you`,
        cancelUrl: `${origin}/demo/`,
      }),
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
  const account = { simulated: isSimulated, console: hasConsole };
  // For the pages that sell nothing: a shop's configuration has tokens minted.
  const accountConfig: Route = {
    methods: ['GET'],
    path: /^\/demo\/account\.json$/,
    handle: ({ response }) => sendJson(response, 200, account, { 'cache-control': 'no-store' }),
  };
  const config: Route = {
    methods: ['GET'],
    path: /^\/demo\/config\.json$/,
    async handle({ request, response }) {
      const products = await loadProducts(originOf(request, publicUrl)).catch((error: unknown) => {
        // An account that takes no payments sells nothing, until it takes some.
        if (error instanceof PreconditionError) return [];
        throw error;
      });
      // A path: the page may be open by another name of this machine, and its policy allows its own origin alone.
      sendJson(
        response,
        200,
        { endpoint: '/graphql', ...account, products },
        { 'cache-control': 'no-store' },
      );
    },
  };
  // A token is a row: only a page of this server has one minted, and of a simulated account alone.
  const galleryToken = action(/^\/demo\/gallery\/token$/, galleryTokenInput, async (input) => {
    const { amountCents: fixedCents, description } = input;
    const expiresInSeconds = DAY_MS / 1_000;
    return {
      status: 201,
      body: { token: await mint({ amount: { fixedCents }, description, expiresInSeconds }) },
    };
  });
  // Earlier versions wrote this address into payments and checkout tokens, which outlive an update.
  const formerThankYou: Route = {
    methods: ['GET', 'HEAD'],
    path: /^\/demo\/obrigado$/,
    handle: ({ url, response }) => send(response, 308, '', { location: `/demo/thank-you${url.search}` }),
  };
  // Earlier versions had a page of the account here.
  const formerDashboard: Route = {
    methods: ['GET', 'HEAD'],
    path: /^\/demo\/dashboard\/?$/,
    handle: ({ response }) => send(response, 307, '', { location: '/console' }),
  };
  const homeRedirect: Route = {
    methods: ['GET', 'HEAD'],
    path: /^\/$/,
    handle: ({ url, response }) => send(response, 307, '', { location: `/demo/${url.search}` }),
  };
  return [
    homeRedirect,
    config,
    accountConfig,
    ...(isSimulated ? [galleryToken] : []),
    formerThankYou,
    ...(hasConsole ? [formerDashboard] : []),
    shop,
  ].map(guard);
}

/**
 * Returns the origin to which the payer comes back: that of the open shop, because a browser separates storage by origin.
 * Other names of this machine count only with the port that listens, since each origin has its own tokens, and only if the
 * public address is local, since a proxy may send its own address of the server as `Host`.
 */
function originOf({ headers: { host = '' }, socket }: IncomingMessage, publicUrl: string): string {
  if (!NAMES_OF_THIS_MACHINE.includes(new URL(publicUrl).hostname)) return publicUrl;
  const hosts = NAMES_OF_THIS_MACHINE.map((name) => `${name}:${socket.localPort}`);
  return hosts.includes(host) ? `http://${host}` : publicUrl;
}

const NAMES_OF_THIS_MACHINE = ['localhost', '127.0.0.1', '[::1]'];

/** Caches the result of the first call of each origin for a day; a failed one is retried. */
function cachedForDay<Value>(
  clock: Clock,
  make: (origin: string) => Promise<Value>,
): (origin: string) => Promise<Value> {
  const values = new Map<string, { value: Promise<Value>; until: Date }>();
  return (origin) => {
    const known = values.get(origin);
    if (known && clock.now() < known.until) return known.value;
    const value = make(origin);
    values.set(origin, { value, until: plusMs(clock.now(), MINT_AGAIN_MS) });
    value.catch(() => {
      if (values.get(origin)?.value === value) values.delete(origin);
    });
    return value;
  };
}
