import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import { z } from 'zod';
import {
  assertUnrestrictedKey,
  bearer,
  type Caller,
  environmentOfKey,
  type Permission,
} from '../access/model.ts';
import { type Clock, secondsUntil } from '../kernel/clock.ts';
import {
  describeOutage,
  type ErrorCode,
  IdempotencyError,
  OutageError,
  PaymentError,
  PermissionError,
  RateLimitError,
  UnauthenticatedError,
  ValidationError,
} from '../kernel/errors.ts';
import type { Admission } from './admission.ts';
import type { ClientAddress } from './client-address.ts';
import { keyInHeader, REPLAYED_HEADER } from './idempotency-key.ts';
import { HttpError, type RequestContext, type Route, readBody, retryHeaders, sendJson } from './routes.ts';

// ── Declaring an operation ──────────────────────────────────────────────────────────────────────

/** What an operation answers under one status; the status with which it refuses are in `errors`. */
export interface RestAnswer {
  readonly description: string;
  /** Encodes the body (`z.encode`): codecs turn cents and Dates into the document's JSON, other members are left out. */
  readonly schema: z.ZodType;
}

type NoFields = z.ZodObject<Record<never, never>>;

interface Definition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answers extends Readonly<Record<number, RestAnswer>>,
  Status extends keyof Answers & number,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Parameters in braces: `/v1/subaccounts/{id}`. */
  readonly path: `/v1/${string}`;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** The group that it stands in on the page. */
  readonly tag: string;
  /** Of the document. */
  readonly section?: string;
  /** One of them lets a restricted key in. Left out, it needs an unrestricted key. */
  readonly permissions?: readonly Permission[];
  /** Fields of the path, decoded from text. Each refusal is a 400 that names its field; so below. */
  readonly params?: Params;
  readonly query?: Query;
  /** An object. Members that the schema does not name are ignored, so that clients may be ahead of us. */
  readonly body?: Body;
  /** A body that works as it is: the page offers it to whoever tries the operation. */
  readonly example?: NoInfer<z.input<Body>>;
  readonly answers: Answers;
  /** The meaning of each refusal of its own, by status. 400, 401, 403, 429, 500, 503 and 504 are described without it. */
  readonly errors?: Readonly<Record<number, string>>;
  /** @throws PaymentError, which is answered with its status */
  handle(request: {
    readonly caller: Caller;
    readonly params: z.output<Params>;
    readonly query: z.output<Query>;
    readonly body: z.output<Body>;
  }): Promise<{ status: Status; replayed?: boolean } & Answered<Answers, Status>>;
}

/** Each status with the body of its own. */
type Answered<Answers, Status extends keyof Answers> = {
  [Each in Status]: Answers[Each] extends RestAnswer
    ? { status: Each; body: z.output<Answers[Each]['schema']> }
    : never;
}[Status];

/** An operation whose types have been checked where it was declared. */
// biome-ignore lint/suspicious/noExplicitAny: the only way to say "of some types"
export type RestOperation = Definition<any, any, any, any, any>;

/**
 * One operation of the REST interface, said once: its validation, its route and its description follow.
 * What it answers with is checked by the compiler against `answers`, and encoded by their schemas.
 */
export function restOperation<
  Answers extends Readonly<Record<number, RestAnswer>>,
  Status extends keyof Answers & number,
  Params extends z.ZodObject = NoFields,
  Query extends z.ZodObject = NoFields,
  Body extends z.ZodType = z.ZodUndefined,
>(definition: Definition<Params, Query, Body, Answers, Status>): RestOperation {
  return definition;
}

// ── Pages (the document's 2.1.6) ────────────────────────────────────────────────────────────────

/** A whole number in a query string. */
function wholeNumber({ min, max, initial }: { min: number; max: number; initial: number }) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .refine((text) => /^[0-9]{1,16}$/.test(text), { message, abort: true })
    .transform(Number)
    .refine((number) => number >= min && number <= max, message)
    .default(initial)
    .meta({ type: 'integer', minimum: min, maximum: max, default: initial });
}

/** `limit` and `offset` of a list. */
export const pageQuery = z.object({
  limit: wholeNumber({ min: 1, max: 100, initial: 50 }),
  offset: wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, initial: 0 }),
});

/** A page as it is answered: the items under the name of the list, with `total`, `limit` and `offset` beside them. */
export function pageOf<const Name extends string, Item extends z.ZodType>(name: Name, item: Item) {
  const items = { [name]: z.array(item) } as { [Key in Name]: z.ZodArray<Item> };
  return z.object({
    ...items,
    total: z.int().meta({ description: 'How many there are in all' }),
    limit: z.int(),
    offset: z.int(),
  });
}

// ── Answering ───────────────────────────────────────────────────────────────────────────────────

/** One more request of an account, in either environment; `resetAt` is when all of `limit` are there again. */
export type TakeRequest = (
  accountId: string,
) => Promise<{ admitted: boolean; limit: number; remaining: number; resetAt: Date }>;

const BODY_LIMIT_BYTES = 64 * 1024;
/** Of a body with thousands of mistakes, so many are told. */
const MAX_ISSUES = 10;

/** Exhaustive: a new code that is not named here does not compile. */
export const STATUS: Record<ErrorCode, number> = {
  VALIDATION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RATE_LIMITED: 429,
  INSUFFICIENT_FUNDS: 400,
  CARD_PAYMENTS_NOT_CONFIGURED: 409,
  NOT_IN_SANDBOX: 403,
  ONLY_IN_SANDBOX: 403,
  LIMIT_REACHED: 409,
  IDEMPOTENCY_CONFLICT: 409,
  CHECKOUT_TOKEN_USED: 409,
  CHECKOUT_TOKEN_PAUSED: 409,
  CURSOR_EXPIRED: 400,
  UPSTREAM_UNAVAILABLE: 502,
};

/**
 * Everything under `/v1`, which is one route: whoever asks for a path that is not there, or in the wrong method, is let
 * in and counted like everybody else.
 */
export function createRestRoutes({
  operations,
  access,
  addressOf,
  takeRequest,
  clock,
  onFault,
}: {
  operations: readonly RestOperation[];
  access: Authentication & Admission;
  addressOf: ClientAddress;
  takeRequest: TakeRequest;
  clock: Clock;
  onFault: (fault: unknown) => void;
}): Route[] {
  assertDistinct(operations);
  const table = operations.map((operation) => ({ operation, path: pathPattern(operation) }));

  async function admit(request: IncomingMessage, response: ServerResponse): Promise<Caller> {
    const { authorization } = request.headers;
    await access.admit(authorization, addressOf(request), request.socket);
    const caller = await authenticate(access, authorization, request.socket);
    const { admitted, limit, remaining, resetAt } = await takeRequest(caller.tenant.accountId);
    const seconds = secondsUntil(resetAt, clock);
    response.setHeader('ratelimit-limit', limit);
    response.setHeader('ratelimit-remaining', remaining);
    response.setHeader('ratelimit-reset', seconds);
    if (!admitted) throw new RateLimitError(`${limit} requests a minute`, seconds);
    return caller;
  }

  async function answer({ request, response, url, setTemplate: named }: RequestContext) {
    const caller = await admit(request, response);
    const { operation, params } = findOperation(table, request.method ?? '', url.pathname);
    named?.(operation.path);
    assertPermitted(caller, operation);
    const answered = await operation.handle({
      caller,
      params: operation.params ? parse(operation.params, params) : {},
      query: operation.query ? parse(operation.query, queryOf(url)) : {},
      body: operation.body && parse(operation.body, withKey(operation, request, await readObject(request))),
    });
    const status = Number(answered.status);
    if (answered.replayed) response.setHeader(...REPLAYED_HEADER);
    return { status, body: z.encode(operation.answers[status].schema, answered.body) };
  }

  return [
    {
      methods: METHODS,
      path: /^\/v1(?:\/|$)/,
      async handle(exchange) {
        exchange.response.setHeader('cache-control', 'no-store');
        const { status, body, headers } = await answer(exchange).then(
          (answered) => ({ ...answered, headers: {} }),
          (error: unknown) => errorResponse(error, onFault),
        );
        sendJson(exchange.response, status, body, headers);
      },
    },
  ];
}

/** @throws ValidationError for a parameter that is given twice: of two nobody could say which is meant */
function queryOf({ searchParams }: URL): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of searchParams) {
    if (Object.hasOwn(query, name)) throw new ValidationError([{ path: name, message: 'is given twice' }]);
    query[name] = value;
  }
  return query;
}

/** The body with the header's key. @throws ValidationError, IdempotencyError where both differ */
function withKey(operation: RestOperation, request: IncomingMessage, body: object): object {
  const key = keyInHeader(request);
  if (key === null) return body;
  if (!takesKey(operation)) {
    const message = `is of no use to ${operation.method} ${operation.path}`;
    throw new ValidationError([{ path: 'Idempotency-Key', message }]);
  }
  const own = (body as { idempotencyKey?: unknown }).idempotencyKey ?? key;
  if (own !== key) throw new IdempotencyError('Idempotency-Key and idempotencyKey are different');
  return { ...body, idempotencyKey: key };
}

/** Whether what it does is done once for a key. */
export function takesKey({ body }: Pick<RestOperation, 'body'>): boolean {
  if (!body) return false;
  let takes = keyTakers.get(body);
  if (takes === undefined) {
    takes =
      'idempotencyKey' in (z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }).properties ?? {});
    keyTakers.set(body, takes);
  }
  return takes;
}

const keyTakers = new WeakMap<z.ZodType, boolean>();

/** A browser's token is no key, whatever it grants elsewhere. @throws UnauthenticatedError */
async function authenticate(
  access: Authentication,
  authorization: string | undefined,
  connection: object,
): Promise<Caller> {
  if (environmentOfKey(bearer(authorization)) === null) throw new UnauthenticatedError('Invalid API key');
  return access.authenticate(authorization, connection);
}

/** At once where the caller is known. Throws, or rejects, as `AccessService.authenticate`. */
interface Authentication {
  authenticate(authorization: string | null | undefined, connection?: object): Caller | Promise<Caller>;
}

/** @throws PermissionError */
function assertPermitted(caller: Caller, { permissions }: RestOperation): void {
  if (!permissions) {
    assertUnrestrictedKey(caller);
    return;
  }
  const { credential } = caller;
  const held = credential.kind === 'api_key' ? credential.permissions : null;
  if (held?.length === 0 || held?.some((permission) => permissions.includes(permission))) return;
  throw new PermissionError(`This API key needs one of: ${permissions.join(', ')}`, permissions);
}

interface Row {
  operation: RestOperation;
  path: RegExp;
}

/** @throws HttpError 404, 405, 400 (a path that is no UTF-8) */
function findOperation(table: readonly Row[], method: string, pathname: string) {
  const rows = table.filter(({ path }) => path.test(pathname));
  if (rows.length === 0) throw new HttpError(404, 'Not found');
  const wanted = method === 'HEAD' ? 'GET' : method;
  const row = rows.find(({ operation }) => operation.method === wanted);
  if (!row) {
    const allowed = rows.flatMap(({ operation }) =>
      operation.method === 'GET' ? ['GET', 'HEAD'] : [operation.method],
    );
    throw new HttpError(405, 'Method not allowed', { allow: allowed.join(', ') });
  }
  try {
    const params = Object.entries(row.path.exec(pathname)?.groups ?? {});
    return {
      operation: row.operation,
      params: Object.fromEntries(params.map(([name, text]) => [name, decodeURIComponent(text)])),
    };
  } catch {
    throw new HttpError(400, 'Malformed URL');
  }
}

function pathPattern({ path }: RestOperation): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

/** The body, which is to be JSON and an object. @throws HttpError 400, 413 */
export async function readObject(request: IncomingMessage): Promise<object> {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') throw new HttpError(400, 'The body must be sent as application/json');
  if (parameters.some((parameter) => /^charset=(?!"?utf-8"?$)/.test(parameter)))
    throw new HttpError(400, 'The body must be in UTF-8');
  const text = await readBody(request, BODY_LIMIT_BYTES);
  if (text.trim() === '') throw new HttpError(400, 'The body is empty');
  const body = parseJson(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new HttpError(400, 'The body must be a JSON object');
  return body;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, 'The body is not JSON');
  }
}

/** @throws ValidationError naming each field that is wrong, ten at most */
export function parse(schema: z.ZodType, input: unknown): unknown {
  const { success, data, error } = schema.safeParse(input, { error: messageFor });
  if (success) return data;
  throw new ValidationError(
    error.issues
      .slice(0, MAX_ISSUES)
      .map(({ path, message }) => ({ path: path.join('.') || 'body', message })),
  );
}

/** What a schema has no words of its own for. */
function messageFor({ code, input, expected, values }: z.core.$ZodRawIssue): string | undefined {
  if (input === undefined) return 'is required';
  if (code === 'invalid_value') return `must be ${(values as unknown[]).join(' or ')}`;
  if (code !== 'invalid_type') return undefined;
  const kind = expected === 'int' ? 'integer' : String(expected);
  return `must be ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

/** The answer to an error: a refusal in its words, an outage in the same words for all, a fault in none. */
function errorResponse(
  error: unknown,
  onFault: (fault: unknown) => void,
): { status: number; body: { error: string }; headers: Record<string, string> } {
  if (error instanceof HttpError)
    return { status: error.status, body: { error: error.message }, headers: error.headers };
  if (!(error instanceof PaymentError)) {
    onFault(error);
    if (!(error instanceof OutageError))
      return { status: 500, body: { error: 'Internal error' }, headers: {} };
    const { status, message } = describeOutage(error);
    return { status, body: { error: message }, headers: retryHeaders(error) };
  }
  const status = STATUS[error.code];
  return {
    status,
    body: { error: error instanceof ValidationError ? fieldsOf(error) : error.message },
    headers: {
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(error instanceof RateLimitError ? { 'retry-after': String(error.retryAfterSeconds) } : {}),
    },
  };
}

/** The domain speaks of `input.valueCents`; here nothing is called `input`. */
function fieldsOf({ fields }: ValidationError): string {
  return fields.map(({ path, message }) => `${path.replace(/^input\./, '')}: ${message}`).join('; ');
}

/** A slip in a declaration is known at the start, not at the first request. */
function assertDistinct(operations: readonly RestOperation[]): void {
  const seen = new Set<string>();
  for (const { method, path, operationId, params } of operations) {
    for (const name of [operationId, `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`]) {
      if (seen.has(name)) throw new TypeError(`two REST operations are ${name}`);
      seen.add(name);
    }
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const described = Object.keys(params?.shape ?? {});
    if (named.length !== described.length || named.some((name) => !described.includes(name!)))
      throw new TypeError(`${operationId} does not describe the parameters of ${path}`);
  }
}
