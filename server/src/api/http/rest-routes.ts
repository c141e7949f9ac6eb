import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { inGivenNames, takeNames } from '../../kernel/aliases.ts';
import {
  assertMay,
  assertUnrestrictedKey,
  bearer,
  type Caller,
  environmentOfKey,
} from '../../kernel/caller.ts';
import { type Clock, secondsUntil } from '../../kernel/clock.ts';
import {
  IdempotencyError,
  PaymentError,
  RateLimitError,
  UnauthenticatedError,
  ValidationError,
} from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Admission } from './admission.ts';
import type { ClientAddress } from './client-address.ts';
import { answerTo } from './error-answers.ts';
import { fileFormOf, holdsFile, readFile, sendFile } from './file-bodies.ts';
import { createIdCheck, type IdCheck } from './foreign-ids.ts';
import { keyInHeader, mistakenKeyHeader, mistakeOfKeyHeader, REPLAYED_HEADER } from './idempotency-key.ts';
import { parseInput, readNoObject, readObject } from './json-input.ts';
import { queryOf } from './list-query.ts';
import { sendMissingPage, wantsPage } from './missing-page.ts';
import { decodeParams } from './request-url.ts';
import { type RestOperation, takesKey } from './rest.ts';
import { HttpError, noRoute, type RequestContext, type Route, sendJson } from './routes.ts';

/** Counts one request of an account, in either environment; `resetAt` is when the whole `limit` is available again. */
export type TakeRequest = (
  accountId: string,
) => Promise<{ admitted: boolean; limit: number; remaining: number; resetAt: Date }>;

/** Begins to hold a file in memory. Returns the function that ends it, which is called once. @throws RateLimitError */
export type OpenFile = (tenant: Tenant) => () => void;

/**
 * The routes of all operations, as one route over `/v1`: a request for an unknown path, or with the wrong method, is
 * authenticated and counted as any other.
 */
export function createRestRoutes({
  operations,
  access,
  addressOf,
  takeRequest,
  openFile,
  clock,
  onFault,
}: {
  operations: readonly RestOperation[];
  access: Authentication & Admission;
  addressOf: ClientAddress;
  takeRequest: TakeRequest;
  openFile: OpenFile;
  clock: Clock;
  onFault: (fault: unknown) => void;
}): Route[] {
  assertValidDeclarations(operations);
  const table = operations.map((operation) => ({ operation, path: pathPattern(operation) }));
  const idCheck = createIdCheck(operations);
  const isPath = (pathname: string) => table.some(({ path }) => path.test(pathname));

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

  async function answer({ request, response, url, setTemplate }: RequestContext) {
    const caller = await admit(request, response);
    const { operation, params } = findOperation(table, request.method ?? '', url.pathname);
    setTemplate?.(operation.path);
    assertPermitted(caller, operation);
    const query = queryOf(operation.query, `${operation.method} ${operation.path}`, url);
    idCheck.ofPath(operation, params);
    idCheck.ofMembers(operation, query);
    const parsed = {
      params: operation.params ? parseInput(operation.params, params) : {},
      query: operation.query ? parseInput(operation.query, query) : {},
    };
    if (holdsFile(operation)) {
      // A response closes once: a file that was opened after that would count as open for ever.
      if (response.destroyed) throw new HttpError(400, 'The client has left');
      response.once('close', openFile(caller.tenant));
    }
    const { input: body, names } = takeNames(await bodyOf(operation, request, idCheck));
    const result = await operation.handle({ caller, ...parsed, body }).catch((error: unknown) => {
      throw inGivenNames(error, names);
    });
    if (result.replayed) response.setHeader(...REPLAYED_HEADER);
    return { operation, ...result };
  }

  return [
    {
      methods: METHODS,
      path: /^\/v1(?:\/|$)/,
      async handle(context) {
        context.response.setHeader('cache-control', 'no-store');
        // Java's own client accepts HTML, too; browsers alone accept XHTML.
        const { accept = '' } = context.request.headers;
        const isBrowser = wantsPage(context.request) && accept.includes('application/xhtml+xml');
        if (isBrowser && !isPath(context.url.pathname))
          return sendMissingPage(context.request, context.response);
        const { response } = context;
        try {
          const { operation, status, body } = await answer(context);
          const { schema } = operation.answers[status];
          if (fileFormOf(schema)) sendFile(response, status, body);
          else sendJson(response, status, z.encode(schema, body));
        } catch (error) {
          if (!(error instanceof HttpError || error instanceof PaymentError)) onFault(error);
          const { status, body, headers } = answerTo(error);
          sendJson(response, status, body, headers);
        }
      },
    },
  ];
}

/** The body of an operation that takes none. */
const noMembers = z.object({});

/** Reads and validates the body. An operation without one refuses a member, which would have no effect. */
async function bodyOf(
  operation: RestOperation,
  request: IncomingMessage,
  idCheck: IdCheck,
): Promise<unknown> {
  const form = fileFormOf(operation.body);
  if (form) return readFile(request, form, keyOf(operation, request));
  if (operation.body) {
    const given = withKey(operation, request, await readObject(request));
    idCheck.ofMembers(operation, given);
    return parseInput(operation.body, given);
  }
  if (operation.method !== 'GET') parseInput(noMembers, await readNoObject(request));
  return undefined;
}

/** Adds the key of the header to the body. @throws ValidationError, IdempotencyError if the body has another key */
function withKey(operation: RestOperation, request: IncomingMessage, body: object): object {
  const key = keyOf(operation, request);
  if (key === null) return body;
  const keyOfBody = (body as { idempotencyKey?: unknown }).idempotencyKey ?? key;
  if (keyOfBody !== key) throw new IdempotencyError('Idempotency-Key and idempotencyKey are different');
  return { ...body, idempotencyKey: key };
}

/** The key of the header; null if there is none. @throws ValidationError if it is not one key, of no use, or in another header */
function keyOf(operation: RestOperation, request: IncomingMessage): string | null {
  const mistaken = mistakenKeyHeader(request);
  if (mistaken) throw new ValidationError([{ path: mistaken.name, message: mistaken.message }]);
  const key = keyInHeader(request);
  if (key === null) return null;
  const mistake = mistakeOfKeyHeader(request);
  if (mistake) throw new ValidationError([{ path: 'Idempotency-Key', message: mistake }]);
  if (!takesKey(operation)) {
    const message = `is of no use to ${operation.method} ${operation.path}`;
    throw new ValidationError([{ path: 'Idempotency-Key', message }]);
  }
  return key;
}

/** Identifies the caller by an API key; refuses every other token. @throws UnauthenticatedError */
async function authenticate(
  access: Authentication,
  authorization: string | undefined,
  connection: object,
): Promise<Caller> {
  if (environmentOfKey(bearer(authorization)) === null) throw new UnauthenticatedError('Invalid API key');
  return access.authenticate(authorization, connection);
}

/** Throws, or rejects, as `AccessService.authenticate`; a promise only if the caller is not cached. */
interface Authentication {
  authenticate(authorization: string | null | undefined, connection?: object): Caller | Promise<Caller>;
}

/** @throws PermissionError */
function assertPermitted(caller: Caller, { right }: RestOperation): void {
  if (right) assertMay(caller, right);
  else assertUnrestrictedKey(caller);
}

interface Row {
  operation: RestOperation;
  path: RegExp;
}

/** Finds the operation of a path. @throws HttpError 404, 405 */
function findOperation(table: readonly Row[], method: string, pathname: string) {
  const rows = table.filter(({ path }) => path.test(pathname));
  if (rows.length === 0) throw noRoute();
  const declaredMethod = method === 'HEAD' ? 'GET' : method;
  const row = rows.find(({ operation }) => operation.method === declaredMethod);
  if (!row) {
    const allowed = rows.flatMap(({ operation }) =>
      operation.method === 'GET' ? ['GET', 'HEAD'] : [operation.method],
    );
    throw new HttpError(405, 'Method not allowed', { allow: allowed.join(', ') });
  }
  return { operation: row.operation, params: decodeParams(row.path.exec(pathname)?.groups) };
}

function pathPattern({ path }: RestOperation): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

/** Checks the declarations at the start of the server. @throws TypeError for duplicates and undescribed parameters */
function assertValidDeclarations(operations: readonly RestOperation[]): void {
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
