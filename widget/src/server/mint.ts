import { type PsaServerOptions, REFUSAL, request } from './request.ts';

/** A token's input: `CreateCheckoutTokenInput` of the schema, where each member is described. */
export interface CheckoutInput {
  /** One of the three; or `amountCents` for a fixed one. */
  amount?: { fixedCents: number } | { productId: string } | { range: { minCents: number; maxCents: number } };
  /** The exact amount, in place of `amount`. */
  amountCents?: number;
  methods?: readonly ('CARD' | 'PIX')[];
  /** The number of your order: of its payments at most one is kept. */
  orderId?: string;
  /** @deprecated Use `orderId`, which is the same. */
  externalId?: string;
  description?: string;
  customer?: { name?: string; email?: string; externalId?: string; taxId?: string };
  allowedOrigins?: readonly string[];
  callbackUrl?: string;
  successUrl?: string;
  cancelUrl?: string;
  /** The language of the hosted page. One in its address has precedence; `<psa-checkout>` appends one. */
  language?: 'PT_BR' | 'EN' | 'ES';
  /** Serialized JSON, which webhooks give back. */
  metadata?: string;
  reusable?: boolean;
  expiresInSeconds?: number;
  /** The token runs only the documents of the server's manifest, and those of the widget. */
  trustedDocumentsOnly?: boolean;
}

/** A token for a page. */
export interface MintedToken {
  token: string;
  /** Null for a token that does not expire by itself. */
  expiresAt: string | null;
  /** The seconds until then by the server's clock, for a page on a device whose clock is wrong. */
  expiresInSeconds: number | null;
}

export const MINT_CHECKOUT = `mutation($input:CreateCheckoutTokenInput!){createCheckoutToken(input:$input){... on CreateCheckoutTokenSuccess{token expiresAt expiresInSeconds}${REFUSAL}}}`;
export const MINT_DASHBOARD = `mutation($input:CreateDashboardTokenInput!){createDashboardToken(input:$input){... on CreateDashboardTokenSuccess{token expiresAt expiresInSeconds}${REFUSAL}}}`;

/**
 * Mints the token of `<psa-checkout>`.
 * @throws PsaError
 */
export function mintCheckout(options: PsaServerOptions, input: CheckoutInput): Promise<MintedToken> {
  return request(options, MINT_CHECKOUT, { input });
}

export type DashboardScope =
  | 'CARD_PAYMENTS'
  | 'DISPUTES'
  | 'PAYMENTS'
  | 'PAYOUTS'
  | 'PRODUCTS'
  | 'SUBACCOUNTS'
  | 'SUBSCRIPTIONS'
  | 'WALLET'
  | 'WEBHOOKS';

export interface TokenHandlerOptions<Incoming> extends PsaServerOptions {
  scopes: readonly DashboardScope[];
  /** The lifetime in seconds, from 60 to 86,400; an hour where omitted. */
  expiresInSeconds?: number;
  allowedOrigins?: readonly string[];
  /** The token runs only the documents of the server's manifest, and those of the widget. */
  trustedDocumentsOnly?: boolean;
  /** Whether the sender of this request is let in, by your own session. */
  authorize(request: Incoming): boolean | Promise<boolean>;
}

/** The part of a response of Node's that is written. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: string): unknown;
}

/** A handler of a server that passes a `Request` and sends a `Response`, or passes both objects of Node's. */
export interface TokenHandler<Incoming> {
  (request: Incoming): Promise<Response>;
  (request: Incoming, response: NodeResponse): Promise<void>;
}

const NO_TOKEN: [status: number, body: object] = [502, { error: 'no token' }];
const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/**
 * Creates the route from which a page renews its dashboard token: a POST that answers with `{ token, expiresAt, expiresInSeconds }`.
 * A visitor whom `authorize` does not let in gets 403.
 */
export function tokenHandler<Incoming extends { method?: string | undefined }>({
  scopes,
  expiresInSeconds,
  allowedOrigins,
  trustedDocumentsOnly,
  authorize,
  ...options
}: TokenHandlerOptions<Incoming>): TokenHandler<Incoming> {
  const input = { scopes, expiresInSeconds, allowedOrigins, trustedDocumentsOnly };

  async function answer(request: Incoming): Promise<[status: number, body: object]> {
    if (request.method !== 'POST') return [405, { error: 'POST only' }];
    if (!(await authorize(request))) return [403, { error: 'forbidden' }];
    try {
      return [200, await ask<MintedToken>(options, input)];
    } catch {
      // The reason is the account's, and not the visitor's.
      return NO_TOKEN;
    }
  }

  async function handle(request: Incoming, response?: NodeResponse): Promise<Response | undefined> {
    // Some frameworks give a Request and a second argument of their own. They also handle what `authorize` throws, such as a
    // redirect; Node would end the process.
    const isNodes = typeof response?.writeHead === 'function';
    const answering = answer(request);
    const [status, body] = await (isNodes ? answering.catch(() => NO_TOKEN) : answering);
    const text = JSON.stringify(body);
    const headers = status === 405 ? { ...HEADERS, allow: 'POST' } : HEADERS;
    if (!isNodes) return new Response(text, { status, headers });
    response.writeHead(status, headers);
    response.end(text);
    return undefined;
  }
  return handle as TokenHandler<Incoming>;
}

function ask<Value>(options: PsaServerOptions, input: object): Promise<Value> {
  return request(options, MINT_DASHBOARD, { input });
}
