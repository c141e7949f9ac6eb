import type { z } from 'zod';
import { InsufficientFundsError, PaymentError, RateLimitError, ValidationError } from '../kernel/errors.ts';
import { parse, readObject } from './json-input.ts';
import { STATUS } from './rest.ts';
import { HttpError, type RequestContext, type Route, sendJson } from './routes.ts';

/** Routes that need no credential because our own pages alone reach them: the demo's and the simulator's. */
export interface SameOrigin {
  /** The same route, closed to every host and page that is not ours. */
  guard(route: Route): Route;
  /**
   * Answers a JSON POST of our own pages with what `handle` returns. The body is an object that `schema` checks. A refusal is
   * `{ error, code, fields }`: a sentence, the closed code, and each field that is wrong by its path.
   */
  action<Schema extends z.ZodType>(
    path: RegExp,
    schema: Schema,
    handle: (input: z.output<Schema>, exchange: RequestContext) => Promise<Answer>,
  ): Route;
  /** Answers a GET as `action` does a POST; `schema` checks the query. */
  read<Schema extends z.ZodType>(
    path: RegExp,
    schema: Schema,
    handle: (input: z.output<Schema>) => Promise<Answer>,
  ): Route;
}

interface Answer {
  status?: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** What a strict shop would send with a page: nothing from elsewhere, no inline script or style, no frame around it. */
export const PAGE_CSP = [
  "default-src 'self'",
  "connect-src 'self' ws: wss:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types lit-html',
].join('; ');

/** A program that is no page sends it in place of an Origin. No page of another site can, without our leave. */
const ACTION_HEADER = 'x-psa-action';

export function createSameOrigin(publicUrl: string): SameOrigin {
  const guard = (route: Route): Route => ({
    ...route,
    handle(exchange) {
      assertOwnHost(exchange, publicUrl);
      return route.handle(exchange);
    },
  });
  return {
    guard,
    action: (path, schema, handle) =>
      guard({
        methods: ['POST'],
        path,
        async handle(exchange) {
          assertOwnAction(exchange);
          await respond(exchange, async () =>
            handle(validate(schema, await readObject(exchange.request)), exchange),
          );
        },
      }),
    read: (path, schema, handle) =>
      guard({
        methods: ['GET'],
        path,
        handle: (exchange) =>
          respond(exchange, async () =>
            handle(validate(schema, Object.fromEntries(exchange.url.searchParams))),
          ),
      }),
  };
}

/** @throws ValidationError */
function validate<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  return parse(schema, input) as z.output<Schema>;
}

async function respond({ response }: RequestContext, handle: () => Promise<Answer>): Promise<void> {
  const { status = 200, body, headers } = await handle().catch(errorResponse);
  sendJson(response, status, body, { 'cache-control': 'no-store', ...headers });
}

/** What a page is told of a refusal. A fault is thrown on. */
function errorResponse(error: unknown): Answer {
  if (!(error instanceof PaymentError)) throw error;
  return {
    status: STATUS[error.code],
    body: {
      error: error.message,
      code: error.code,
      fields: error instanceof ValidationError ? error.fields.map(toFieldError) : [],
      ...(error instanceof InsufficientFundsError ? { withdrawableCents: error.withdrawableCents } : {}),
    },
    ...(error instanceof RateLimitError
      ? { headers: { 'retry-after': String(error.retryAfterSeconds) } }
      : {}),
  };
}

/** The domain speaks of `input.amountCents`; here nothing is called `input`. */
function toFieldError({ path, message }: { path: string; message: string }) {
  return { path: path.replace(/^input\./, ''), message };
}

/** A foreign name that resolves to this machine, or another site's page, gets nothing. @throws HttpError 403 */
function assertOwnHost({ request }: RequestContext, publicUrl: string): void {
  const own = new Set(['localhost', '127.0.0.1', '[::1]', new URL(publicUrl).hostname]);
  const { host = '', origin } = request.headers;
  const isOwn = (url: string) => URL.canParse(url) && own.has(new URL(url).hostname);
  if (!isOwn(`http://${host}`) || (origin !== undefined && !isOwn(origin)))
    throw new HttpError(403, 'The demo answers to its own pages alone');
}

/**
 * What does something asks for more: a page of the very same host and port, for another program's page on this
 * machine is foreign too; or, without an Origin, the header. @throws HttpError 403
 */
function assertOwnAction({ request: { headers } }: RequestContext): void {
  const { origin, host = '' } = headers;
  const own =
    origin === undefined
      ? headers[ACTION_HEADER] !== undefined
      : URL.canParse(origin) && new URL(origin).host === new URL(`http://${host}`).host;
  if (!own) throw new HttpError(403, `Only our own pages may do this; a program sends ${ACTION_HEADER}: 1`);
}
