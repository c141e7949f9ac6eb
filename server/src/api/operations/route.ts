import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError } from 'graphql';
import { describeOutage, OutageError } from '../../kernel/errors.ts';
import { describeCode, messageOf } from '../graphql/errors.ts';
import { repeatedMember } from '../http/json-input.ts';
import { shownName } from '../http/names.ts';
import { HttpError, type Route, readBody, retryHeaders, send, sendJson } from '../http/routes.ts';
import { misspelledParam, REQUEST_PARAMS } from './request-params.ts';
import { PUBLIC_HEADERS, RESPONSE_HEADERS } from './response-headers.ts';
import type { GraphQLServer } from './yoga.ts';

/** The limit on a body. Yoga's own limit rebuilds each request through a stream, which takes two thirds of its speed. */
const BODY_LIMIT_BYTES = 100_000;

const ADDRESS = { methods: ['GET', 'POST', 'OPTIONS', 'HEAD'], path: /^\/graphql$/, writesHead: true };

/** The route of `/graphql` until the server has started: a browser shows a page only responses with these headers. */
export function startingRoute(): Route {
  return {
    ...ADDRESS,
    handle({ request, response }) {
      setHeaders(response, request.method === 'OPTIONS' ? PUBLIC_HEADERS : RESPONSE_HEADERS);
      if (request.method === 'OPTIONS') return send(response, 204, '', preflight(request));
      const errors = [{ message: 'Starting', extensions: describeCode('UNAVAILABLE', 1) }];
      sendJson(response, 503, { errors }, { 'retry-after': '1', 'x-error-code': 'UNAVAILABLE' });
    },
  };
}

/** The route of `/graphql`. It refuses what Yoga would allow: a body that is too long, and forms that another site could post. */
export function graphqlRoute({ yoga, fastPath, onFault, admit }: GraphQLServer): Route {
  return {
    ...ADDRESS,
    async handle({ request, response, url }) {
      try {
        if (request.method !== 'OPTIONS') {
          const admitted = admit(request);
          if (admitted) await admitted;
          const { accept } = request.headers;
          if (accept && /q=0/i.test(accept)) request.headers.accept = withoutRefused(accept);
        }
        if (request.method === 'POST') {
          if (url.search !== '') assertParamsInBody(url);
          if (request.headers['content-type'] !== 'application/json') assertJson(request);
          if (request.headers['content-encoding'] !== undefined) assertNotEncoded(request);
          if (request.headers.accept) assertAcceptable(request.headers.accept);
          const body = await readBody(request, BODY_LIMIT_BYTES);
          if (!/\S/.test(body)) throw new HttpError(400, 'The body is empty');
          if (url.search === '' && (await fastPath?.tryAnswer(request, response, body))) return;
          // Yoga accepts only this spelling, and reads a parsed body from `request.body`.
          request.headers['content-type'] = 'application/json';
          Object.assign(request, { body: parseForYoga(body) });
        }
        setHeaders(response, request.method === 'OPTIONS' ? PUBLIC_HEADERS : RESPONSE_HEADERS);
        if (request.method === 'OPTIONS') return send(response, 204, '', preflight(request));
        if (request.method !== 'POST') assertJsonParams(url);
      } catch (error) {
        const isRefusal =
          error instanceof HttpError || error instanceof OutageError || error instanceof GraphQLError;
        if (!isRefusal) throw error;
        setHeaders(response, RESPONSE_HEADERS);
        return sendRefusal(response, error, onFault);
      }
      if (request.method === 'HEAD') await answerHead(request, () => yoga(request, response));
      else await yoga(request, response);
    },
  };
}

/**
 * Answers HEAD as GET: Yoga refuses it, and Node leaves the body out. An event stream, which has no end, is not acceptable
 * to it.
 */
async function answerHead(request: IncomingMessage, asGet: () => unknown): Promise<void> {
  const { accept } = request.headers;
  request.method = 'GET';
  request.headers.accept = withoutEventStreams(accept);
  try {
    await asGet();
  } finally {
    request.method = 'HEAD';
    if (accept === undefined) delete request.headers.accept;
    else request.headers.accept = accept;
  }
}

/** The media types of an `Accept` other than event streams. A wildcard, and no header, would accept those too. */
function withoutEventStreams(accept = '*/*'): string {
  const types = accept.split(',').map((type) => type.trim().replace(/^\*\/\*/, 'application/json'));
  return types.filter((type) => !/^text\/(event-stream|\*)/i.test(type)).join(', ') || 'application/json';
}

function sendRefusal(
  response: ServerResponse,
  error: HttpError | OutageError | GraphQLError,
  onFault: (fault: unknown) => void,
): void {
  if (error instanceof OutageError) {
    const errors = [messageOf(error, onFault)];
    const { code, status } = describeOutage(error);
    sendJson(response, status, { errors }, { 'x-error-code': code, ...retryHeaders(error) });
  } else if (error instanceof GraphQLError) {
    const { http, ...extensions } = error.extensions;
    const { status = 500, headers } = (http ?? {}) as { status?: number; headers?: Record<string, string> };
    sendJson(response, status, { errors: [{ message: error.message, extensions }] }, headers);
  } else {
    const errors = [{ message: error.message, extensions: describeCode(error.code) }];
    sendJson(response, error.status, { errors }, { 'x-error-code': error.code, ...error.headers });
  }
}

/**
 * Converts the body to the form that is cheap for Yoga: the parsed object. Yoga lists every index of a text, which takes 100
 * times as long as parsing. It ignores an empty object and every other value: those are replaced by a short text of the
 * same kind. @throws HttpError 400 for a member that is given twice
 */
function parseForYoga(body: string): object | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return NOT_JSON;
  }
  assertNoRepeated(body);
  if (typeof parsed === 'object' && parsed !== null)
    return Object.keys(parsed).length > 0 ? parsed : Array.isArray(parsed) ? '[]' : '{}';
  return typeof parsed === 'string' ? '""' : String(parsed);
}

const NOT_JSON = '{';

/** Refuses a JSON text with a repeated member, whose value would be unclear. @throws HttpError 400 */
function assertNoRepeated(json: string): void {
  const repeated = repeatedMember(json);
  if (repeated !== null) throw new HttpError(400, `${repeated} is given twice`);
}

function setHeaders(response: ServerResponse, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

/**
 * The headers of a preflight's response. A client may send any header: Apollo's options alone add four names, and no cookie
 * or header but `Authorization` grants anything. The names are echoed, for `*` does not stand for `Authorization`.
 */
function preflight({ headers }: IncomingMessage): Record<string, string> {
  const requested = headers['access-control-request-headers'];
  return {
    'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
    'access-control-allow-headers':
      requested !== undefined && HEADER_NAMES.test(requested) ? requested : USUAL_HEADERS,
    'access-control-max-age': '86400',
    vary: 'Access-Control-Request-Headers',
  };
}

const USUAL_HEADERS = 'authorization, content-type, accept, idempotency-key';
/** Names of headers, separated by commas, and not more of them than a client sends. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, \t-]{1,1000}$/;

/**
 * Refuses a parameter in the address of a POST, which reads its body alone: without its variables a mutation would not be limited as
 * intended. `operationName` may be there, as clients put it into an address for those who read logs. @throws HttpError 400
 */
function assertParamsInBody({ searchParams }: URL): void {
  for (const name of searchParams.keys()) {
    const meant = misspelledParam(name) ?? name;
    if (meant !== 'operationName' && REQUEST_PARAMS.has(meant))
      throw new HttpError(400, `${meant} must be in the body of a POST, not in its address`);
  }
}

/**
 * Refuses a parameter that is misspelled or given twice, and one that is not JSON, which Yoga would report as an internal fault, or has
 * a member twice. @throws HttpError 400
 */
function assertJsonParams({ searchParams }: URL): void {
  for (const name of searchParams.keys()) {
    const meant = misspelledParam(name);
    if (meant !== null) throw new HttpError(400, `${shownName(name)} is unknown; ${meant} may be meant`);
    if (REQUEST_PARAMS.has(name) && searchParams.getAll(name).length > 1)
      throw new HttpError(400, `${name} is given twice`);
  }
  for (const name of ['variables', 'extensions'])
    for (const text of searchParams.getAll(name)) {
      try {
        if (text !== '') JSON.parse(text);
      } catch {
        throw new HttpError(400, `${name} must be JSON`);
      }
      assertNoRepeated(text);
    }
}

/** Refuses a body that is not JSON in UTF-8. @throws HttpError 415 */
function assertJson(request: IncomingMessage): void {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim());
  if (type.toLowerCase() !== 'application/json')
    throw new HttpError(415, 'Send the operation as application/json');
  if (parameters.some((parameter) => /^charset=(?!"?utf-8"?$)/i.test(parameter)))
    throw new HttpError(415, 'Send the operation in UTF-8');
}

/**
 * Removes the types with a weight of 0 from an `Accept`, also from its wildcards: Yoga reads no weights, and would
 * open a stream for `text/event-stream;q=0`. @throws HttpError 406 if nothing is left
 */
function withoutRefused(accept: string): string {
  const ranges = accept.split(',').filter((range) => range.trim() !== '');
  const refused = new Set(ranges.filter((range) => REFUSAL.test(range)).map(typeOf));
  if (refused.size === 0) return accept;
  const left = ranges
    .filter((range) => !REFUSAL.test(range))
    .flatMap((range) => (range.includes('*') ? servedTypesIn(typeOf(range)) : range))
    .filter((range) => !refused.has(typeOf(range)));
  if (left.length === 0) throw notAcceptable();
  return left.join();
}

const REFUSAL = /;\s*q=0(?:\.0*)?\s*(?:;|$)/i;

/** The media type of a range of `Accept`, without its parameters. */
function typeOf(range: string): string {
  return range.split(';')[0]!.trim().toLowerCase();
}

function notAcceptable(): HttpError {
  return new HttpError(406, 'Accept application/json or application/graphql-response+json, in UTF-8');
}

/**
 * Refuses a client that accepts no form of the response. Yoga reads the header in the same way, without its weights, but only
 * after the operation has run: a mutation that is answered with 406 must not have run. @throws HttpError 406
 */
function assertAcceptable(accept: string): void {
  if (accept === 'application/json') return;
  const isAcceptable = accept
    .replace(/\s/g, '')
    .toLowerCase()
    .split(',')
    .some((range) => {
      const [type, ...parameters] = range.split(';');
      const charset = parameters.find((parameter) => parameter.includes('charset='));
      return isServed(type!) && (charset === undefined || charset === 'charset=utf-8');
    });
  if (!isAcceptable) throw notAcceptable();
}

/** Whether a range of `Accept`, such as `text/event-stream` or `text/*`, includes a media type of responses. */
function isServed(range: string): boolean {
  return servedTypesIn(range).length > 0;
}

function servedTypesIn(range: string): string[] {
  const [type, subtype] = range.split('/');
  return MEDIA_TYPES.filter(
    ([servedType, servedSubtype]) =>
      (type === '*' || type === servedType) && (subtype === '*' || subtype === servedSubtype),
  ).map((served) => served.join('/'));
}

const MEDIA_TYPES = [
  ['application', 'json'],
  ['application', 'graphql-response+json'],
  ['text', 'event-stream'],
  ['multipart', 'mixed'],
] as const;

/** Refuses a compressed body: a few bytes could decompress to any amount. @throws HttpError 415 */
function assertNotEncoded({ headers }: IncomingMessage): void {
  if (headers['content-encoding']?.toLowerCase() !== 'identity')
    throw new HttpError(415, 'Send the operation without Content-Encoding', {
      'accept-encoding': 'identity',
    });
}
