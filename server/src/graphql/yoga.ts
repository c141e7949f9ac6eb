import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ExecutionArgs, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { ClientAddress } from '../http/client-address.ts';
import {
  HttpError,
  NO_SNIFFING,
  type Route,
  readBody,
  retryHeaders,
  send,
  sendJson,
} from '../http/routes.ts';
import { describeOutage, OutageError } from '../kernel/errors.ts';
import type { ContextFactory, PresentedCredential } from './caller-context.ts';
import type { Context } from './context.ts';
import { documentsPlugin } from './documents.ts';
import { messageOf, toGraphQLError } from './errors.ts';
import { sendEvents } from './event-stream.ts';
import { EXAMPLE_TABS } from './examples.ts';
import { execute } from './execution.ts';
import { createFastPath, type FastPath } from './fast/fast-path.ts';
import { idempotencyHeaderPlugin } from './idempotency-header.ts';
import { introspectionGuard } from './introspection.ts';
import { tooManyListItems } from './list-items.ts';
import { behindChanges } from './root-fields.ts';
import { executeUpdates, openShared, type SharedSubscription } from './shared-execution.ts';

export type Yoga = YogaServerInstance<{ req: IncomingMessage; res: ServerResponse }, Context>;

export interface GraphQLServer {
  /** Counts a request whose credential is not known. @throws GraphQLError, at once or later */
  admit(request: IncomingMessage): void | Promise<void>;
  yoga: Yoga;
  /** Null where the configuration switches it off. */
  fastPath: FastPath | null;
  openSubscription: OpenSubscription;
  onFault: (fault: unknown) => void;
}

type OpenSubscription = (args: ExecutionArgs) => Promise<ExecutionResult | SharedSubscription>;

/** GraphiQL's tabs keep a stale transform of their sliding in, and jump away from under the first click. */
const STILL_TABS = '<style>.graphiql-tab{transform:none!important}</style>';

const BODY_LIMIT_BYTES = 100_000;

export function createGraphQLServer({
  schema,
  contexts,
  addressOf,
  graphiql,
  onFault,
  fastPath: isFast,
  compileAfter,
}: {
  schema: GraphQLSchema;
  contexts: ContextFactory;
  addressOf: ClientAddress;
  graphiql: boolean;
  onFault: (fault: unknown) => void;
  /** Whether repeated queries and the updates of subscriptions run compiled. */
  fastPath: boolean;
  /** How often a query is answered before it is compiled. */
  compileAfter?: number | undefined;
}): GraphQLServer {
  const presented = (request: IncomingMessage) =>
    presentedCredential(request, addressOf, request.headers.authorization ?? null);
  let graphiqlPolicy = "default-src 'none'";
  const fastPath = isFast
    ? createFastPath({
        ...{ schema, contexts, goneOf, compileAfter },
        presentedBy: presented,
        headers: HEADERS,
      })
    : null;
  const subscriptions = { onFault, executeUpdates: fastPath?.executeUpdates ?? executeUpdates };
  const openSubscription: OpenSubscription = (args) => openShared(args, subscriptions);
  const yoga = createYoga<{ req: IncomingMessage; res: ServerResponse }, Context>({
    schema,
    async context({ req, res }) {
      const by = presented(req);
      return contexts.create(by, await contexts.identify(by), { gone: () => goneOf(res) });
    },
    // It would repeat the page's origin in place of `*`; `graphqlRoute` says who may ask.
    cors: false,
    maskedErrors: { maskError: (error) => toGraphQLError(error, onFault) },
    graphiql: graphiql && { title: 'PSA', ...EXAMPLE_TABS },
    async renderGraphiQL(options) {
      // Its page is a string of 9 MB, which a server that nobody opens it on does not hold.
      const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
      const page = String(renderGraphiQL(options)).replace('</head>', `${STILL_TABS}</head>`);
      graphiqlPolicy = policyOf(page);
      return page;
    },
    landingPage: false,
    multipart: false,
    // Yoga's own cap rebuilds each request through a stream, which costs two thirds of its speed; `graphqlRoute` has one.
    maxRequestBodySize: false,
    // It keeps errors, and with the stack of each the request that it was made for.
    parserAndValidationCache: false,
    logging: false,
    plugins: [
      documentsPlugin(),
      orderedExecution,
      eventStreams(openSubscription, onFault),
      idempotencyHeaderPlugin(),
      introspectionGuard({ open: graphiql, onFault }),
      responsePlugin(onFault),
      ...(fastPath ? [fastPath.plugin] : []),
      {
        onResponse({ response }) {
          // The page is the only answer in HTML, and the same each time.
          if (response.headers.get('content-type')?.startsWith('text/html'))
            response.headers.set('content-security-policy', graphiqlPolicy);
        },
      },
    ],
  });
  const refuse = (error: unknown): never => {
    throw toGraphQLError(error, onFault);
  };
  return {
    yoga,
    fastPath,
    openSubscription,
    onFault,
    admit(request) {
      try {
        return contexts.admit(presented(request))?.catch(refuse);
      } catch (error) {
        return refuse(error);
      }
    },
  };
}

/**
 * Nothing runs on GraphiQL's page but its own script, by its hash, and the editor's workers, which that makes of blobs. The
 * editor writes styles into the page. What is typed goes to this server alone.
 */
function policyOf(page: string): string {
  const begin = page.indexOf('<script>', page.indexOf('<div id="root">')) + '<script>'.length;
  // As a browser reads it.
  const script = page
    .slice(begin, page.indexOf('</script>', begin))
    .replace(/\r\n?/g, '\n')
    .replaceAll('\u0000', '\ufffd');
  const hash = createHash('sha256').update(script).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "connect-src 'self' ws: wss:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The path itself, with what Yoga would let through: its body's size, and forms that another site could post. */
export function graphqlRoute({ yoga, fastPath, onFault, admit }: GraphQLServer): Route {
  return {
    methods: ['GET', 'POST', 'OPTIONS', 'HEAD'],
    path: /^\/graphql$/,
    writesHead: true,
    async handle({ request, response, url }) {
      try {
        if (request.method !== 'OPTIONS') {
          const admitted = admit(request);
          if (admitted) await admitted;
        }
        if (request.method === 'POST') {
          if (request.headers['content-type'] !== 'application/json') checkType(request);
          if (request.headers['content-encoding'] !== undefined) checkEncoding(request);
          const body = await readBody(request, BODY_LIMIT_BYTES);
          if (!/\S/.test(body)) throw new HttpError(400, 'The body is empty');
          if (url.search === '' && (await fastPath?.tryAnswer(request, response, body))) return;
          // Yoga takes this one spelling alone, and looks here for a body that was read before it.
          request.headers['content-type'] = 'application/json';
          Object.assign(request, { body: parseForYoga(body) });
        }
        setHeaders(response, request.method === 'OPTIONS' ? OPEN_HEADERS : HEADERS);
        if (request.method === 'OPTIONS') return send(response, 204, '', PREFLIGHT);
        if (request.method === 'GET') checkParams(url);
      } catch (error) {
        const isOurs =
          error instanceof HttpError || error instanceof OutageError || error instanceof GraphQLError;
        if (!isOurs) throw error;
        setHeaders(response, HEADERS);
        if (error instanceof OutageError) {
          const errors = [messageOf(error, onFault)];
          return sendJson(response, describeOutage(error).status, { errors }, retryHeaders(error));
        }
        if (error instanceof GraphQLError) {
          const { http, ...extensions } = error.extensions;
          const { status = 500, headers } = (http ?? {}) as {
            status?: number;
            headers?: Record<string, string>;
          };
          return sendJson(response, status, { errors: [{ message: error.message, extensions }] }, headers);
        }
        const errors = [{ message: error.message, extensions: { code: 'BAD_USER_INPUT' } }];
        return sendJson(response, error.status, { errors }, error.headers);
      }
      await yoga(request, response);
    },
  };
}

/**
 * A body in the form that Yoga takes cheaply. Of a text it lists every index first, which costs 100 times what parsing does;
 * so it gets the parsed object. It ignores an empty object and any other value: a short text of the same kind replaces those.
 */
function parseForYoga(body: string): object | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return NOT_JSON;
  }
  if (typeof parsed === 'object' && parsed !== null)
    return Object.keys(parsed).length > 0 ? parsed : Array.isArray(parsed) ? '[]' : '{}';
  return typeof parsed === 'string' ? '""' : String(parsed);
}

const NOT_JSON = '{';

function setHeaders(response: ServerResponse, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

const OPEN_HEADERS = {
  [NO_SNIFFING[0]]: NO_SNIFFING[1],
  // Any page may embed the widget; nothing is allowed by a cookie, so there is nothing to protect from a page.
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'retry-after, idempotent-replayed',
};

const HEADERS = {
  ...OPEN_HEADERS,
  // An answer is the caller's alone.
  'cache-control': 'no-store',
  // GraphiQL runs what an address brings along at a click, with a key that is typed beside it.
  'x-frame-options': 'DENY',
};

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': 'authorization, content-type, accept, idempotency-key',
  'access-control-max-age': '86400',
};

/** Yoga takes what is no JSON here for a fault of ours. @throws HttpError 400 */
function checkParams({ searchParams }: URL): void {
  for (const name of ['variables', 'extensions'])
    for (const text of searchParams.getAll(name))
      try {
        if (text !== '') JSON.parse(text);
      } catch {
        throw new HttpError(400, `${name} must be JSON`);
      }
}

/** @throws HttpError 415 */
function checkType(request: IncomingMessage): void {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim());
  if (type.toLowerCase() !== 'application/json')
    throw new HttpError(415, 'Send the operation as application/json');
  if (parameters.some((parameter) => /^charset=(?!"?utf-8"?$)/i.test(parameter)))
    throw new HttpError(415, 'Send the operation in UTF-8');
}

/** Nothing is unpacked here: a little can be made into any amount. @throws HttpError 415 */
function checkEncoding({ headers }: IncomingMessage): void {
  if (headers['content-encoding']?.toLowerCase() !== 'identity')
    throw new HttpError(415, 'Send the operation without Content-Encoding', {
      'accept-encoding': 'identity',
    });
}

/** Yoga does not end a stream whose client has left before its first bytes, or while it waits to be drained. */
function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone.signal;
}

/** The sender of an HTTP request. */
export function presentedCredential(
  request: IncomingMessage,
  addressOf: ClientAddress,
  authorization: string | null,
): PresentedCredential {
  return {
    authorization,
    origin: request.headers.origin ?? null,
    address: addressOf(request),
    connection: request.socket,
  };
}

/** Yoga's own executor puts a field that resolves later behind its siblings; ours keeps the order of the document. */
const orderedExecution: Plugin = {
  onExecute({ setExecuteFn }) {
    setExecuteFn((args) => {
      const refused = tooManyListItems(args);
      if (refused) return { errors: [refused] };
      const result = execute(args);
      return result instanceof Promise
        ? result.then((later) => behindChanges(later, args.contextValue))
        : behindChanges(result, args.contextValue);
    });
  },
};

/**
 * Subscriptions over HTTP. Yoga decides whether the client takes an event stream, and answers a refusal. It does not write the
 * events: it would pull, copy and frame each of them for each client.
 */
function eventStreams(
  openSubscription: OpenSubscription,
  onFault: (fault: unknown) => void,
): Plugin<object, HttpContext> {
  const openedFor = new WeakMap<ServerResponse, SharedSubscription>();
  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(async (args) => {
        const opened = await openSubscription(args);
        if (!('updates' in opened)) return opened;
        openedFor.set((args.contextValue as HttpContext).res, opened);
        return NEVER_PULLED;
      });
    },
    onResultProcess({ serverContext: { res }, resultProcessor, setResultProcessor }) {
      const opened = openedFor.get(res);
      if (!opened) return;
      // Yoga refuses with 406.
      if (!resultProcessor) return opened.updates.end();
      setResultProcessor(() => {
        sendEvents(res, opened, onFault);
        // Yoga has nothing to send. A promise that nobody holds is freed, and with it all that waits for it: the request,
        // its document and its context.
        return new Promise(() => undefined);
      }, 'text/event-stream');
    },
  };
}

interface HttpContext {
  req: IncomingMessage;
  res: ServerResponse;
}

/** Stands for the events of a subscription. In an object of its own properties, for plugins copy it. */
const NEVER_PULLED: AsyncGenerator<never> = {
  next: async () => ({ value: undefined, done: true }),
  return: async () => ({ value: undefined, done: true }),
  throw: async () => ({ value: undefined, done: true }),
  [Symbol.asyncIterator]: () => NEVER_PULLED,
};

/** Gives every error one of our codes, and an answer the status that it is due. */
function responsePlugin(onFault: (fault: unknown) => void): Plugin {
  return {
    onExecutionResult({ result, context, setResult }) {
      if (!result || Array.isArray(result)) return;
      const said = (context as Partial<Context>).extensions?.() ?? null;
      const extensions = said && {
        extensions: { ...('extensions' in result ? result.extensions : {}), ...said },
      };
      if (!('errors' in result) || !result.errors) {
        if (extensions) setResult({ ...result, ...extensions });
        return;
      }
      const errors = result.errors.map((error) => toGraphQLError(error, onFault));
      // What was answered in part is an answer: the status of a refused field would make clients throw it all away.
      if (result.data != null) for (const { extensions } of errors) delete extensions.http;
      setResult({ ...result, errors, ...extensions });
    },
  };
}
