import type { z } from 'zod';
import { InsufficientFundsError, PaymentError, ValidationError } from '../../kernel/errors.ts';
import { answerTo } from './error-answers.ts';
import { keyInHeader, mistakenKeyHeader } from './idempotency-key.ts';
import { parseInput, readObject } from './json-input.ts';
import { queryOf } from './list-query.ts';
import { HttpError, type RequestContext, type Route, sendJson } from './routes.ts';

/** Makes routes for our own pages alone: the demo's and the simulator's, which need no credential, and the console's. */
export interface SameOrigin {
  /** Closes a route to every other host and page. */
  guard(route: Route): Route;
  /**
   * Answers a POST of our own pages with the result of `handle`, which reads the body. `query`: the parameters that its address may
   * have; without it, none. A refusal is that of an action.
   */
  post(path: RegExp, handle: (context: RequestContext) => Promise<Answer>, query?: z.ZodObject): Route;
  /**
   * Answers a JSON POST of our own pages with the result of `handle`. The body is an object that `schema` checks; unknown
   * members are refused. A refusal has the body of any other, and `fields`: each wrong field by its path.
   */
  action<Schema extends z.ZodType>(
    path: RegExp,
    schema: Schema,
    handle: (input: z.output<Schema>, context: RequestContext) => Promise<Answer>,
  ): Route;
  /** Answers a GET of our own pages with the result of `handle`. `schema` checks the query. */
  read<Schema extends z.ZodObject>(
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

/**
 * The policy of a strict shop: nothing from elsewhere, no inline script or style, no frame around the page. `sockets` are the
 * sources of its WebSockets.
 */
export const pagePolicy = (sockets: string) =>
  [
    "default-src 'self'",
    `connect-src 'self' ${sockets}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types lit-html',
  ].join('; ');

/** The policy of the demo's and the simulator's pages. */
export const PAGE_CSP = pagePolicy('ws: wss:');

/** The header that a program sends in place of an Origin. A page of another site cannot send it without a preflight. */
const ACTION_HEADER = 'x-psa-action';

export function createSameOrigin(publicUrl: string): SameOrigin {
  const guard = (route: Route): Route => ({
    ...route,
    handle(context) {
      assertOwnHost(context, publicUrl);
      return route.handle(context);
    },
  });
  const post: SameOrigin['post'] = (path, handle, query) =>
    guard({
      methods: ['POST'],
      path,
      async handle(context) {
        assertOwnAction(context);
        await respond(context, async () => {
          assertNothingIgnored(context, query);
          return handle(context);
        });
      },
    });
  return {
    guard,
    post,
    action: (path, schema, handle) =>
      post(path, async (context) => handle(validate(schema, await readObject(context.request)), context)),
    read: (path, schema, handle) =>
      guard({
        methods: ['GET'],
        path,
        handle: (context) =>
          respond(context, async () =>
            handle(validate(schema, queryOf(schema, 'this address', context.url))),
          ),
      }),
  };
}

/**
 * Refuses what would have no effect, and so might not limit one: a parameter of the address, and an idempotency key in a header, where
 * the body has it. @throws ValidationError
 */
function assertNothingIgnored({ request, url }: RequestContext, query: z.ZodObject | undefined): void {
  queryOf(query, 'this action', url);
  const name = mistakenKeyHeader(request)?.name ?? (keyInHeader(request) === null ? null : 'Idempotency-Key');
  if (name === null) return;
  const message = 'is of no use here: an action that takes a key has it in its body, as idempotencyKey';
  throw new ValidationError([{ path: name, message }]);
}

/** Validates an input. @throws ValidationError */
function validate<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  return parseInput(schema, input) as z.output<Schema>;
}

async function respond({ response }: RequestContext, handle: () => Promise<Answer>): Promise<void> {
  const { status = 200, body, headers } = await handle().catch(errorResponse);
  sendJson(response, status, body, { 'cache-control': 'no-store', ...headers });
}

/** The response to a refusal. @throws any other error unchanged */
function errorResponse(error: unknown): Answer {
  if (!(error instanceof PaymentError)) throw error;
  const { body, ...answer } = answerTo(error);
  return {
    ...answer,
    body: {
      ...body,
      error: error.message,
      fields: error instanceof ValidationError ? error.fields.map(toFieldError) : [],
      ...(error instanceof InsufficientFundsError ? { withdrawableCents: error.withdrawableCents } : {}),
    },
  };
}

/** Removes `input` from the domain's name of a field, as in `input.amountCents`: these bodies have none. */
function toFieldError({ path, message }: { path: string; message: string }) {
  return { path: path.replace(/^input\./, ''), message };
}

/** Refuses a foreign name that resolves to this machine, and a page of another site. @throws HttpError 403 */
function assertOwnHost({ request }: RequestContext, publicUrl: string): void {
  const ownHosts = new Set(['localhost', '127.0.0.1', '[::1]', new URL(publicUrl).hostname]);
  const { host = '', origin } = request.headers;
  const isOwn = (url: string) => URL.canParse(url) && ownHosts.has(new URL(url).hostname);
  if (!isOwn(`http://${host}`) || (origin !== undefined && !isOwn(origin)))
    throw new HttpError(403, 'These pages are open at the host of PUBLIC_URL alone');
}

/**
 * Checks a request that changes something: it must come from a page of the same host and port, because other programs
 * serve pages on this machine too; or, without an Origin, it must have the header. A browser that tells the site of the page
 * must name this one. @throws HttpError 403
 */
function assertOwnAction({ request: { headers } }: RequestContext): void {
  const { origin, host = '', 'sec-fetch-site': site = 'same-origin' } = headers;
  const isOwn =
    origin === undefined
      ? headers[ACTION_HEADER] !== undefined
      : URL.canParse(origin) && new URL(origin).host === new URL(`http://${host}`).host;
  if (!isOwn || site !== 'same-origin')
    throw new HttpError(403, `Only our own pages may do this; a program sends ${ACTION_HEADER}: 1`);
}
