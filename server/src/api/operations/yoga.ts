import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionArgs, ExecutionResult, GraphQLSchema } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { Caller } from '../../kernel/caller.ts';
import type { Context } from '../graphql/context.ts';
import { deprecationHeaders } from '../graphql/deprecations.ts';
import { refusalOf, toGraphQLError } from '../graphql/errors.ts';
import { execute } from '../graphql/execution.ts';
import { isRefusal } from '../graphql/failures.ts';
import { idempotencyHeaderPlugin } from '../graphql/idempotency-header.ts';
import { introspectionGuard } from '../graphql/introspection.ts';
import { behindChanges } from '../graphql/root-fields.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { compressResponse, encodingFor, isCompressible, MIN_COMPRESSED_BYTES } from '../http/compression.ts';
import type { ContextFactory, PresentedCredential } from './caller-context.ts';
import { documentsPlugin } from './documents.ts';
import { sendEvents } from './event-stream.ts';
import { EXAMPLE_TABS } from './examples.ts';
import { createFastPath, type FastPath } from './fast/fast-path.ts';
import { createCompiledPlan } from './fast/updates.ts';
import { renderGraphiQL } from './graphiql.ts';
import { tooManyListItems } from './list-items.ts';
import type { PersistedDocuments } from './persisted-documents.ts';
import { RESPONSE_HEADERS } from './response-headers.ts';
import { type OpenOptions, openShared, type SharedSubscription } from './shared-execution.ts';
import { createPlan, createPlans, textOf } from './update-plans.ts';

export type Yoga = YogaServerInstance<{ req: IncomingMessage; res: ServerResponse }, Context>;

export interface GraphQLServer {
  /** Counts a request without a known credential. @throws GraphQLError, at once or later */
  admit(request: IncomingMessage): void | Promise<void>;
  yoga: Yoga;
  /** Null if the configuration switches it off. */
  fastPath: FastPath | null;
  openSubscription: OpenSubscription;
  onFault: (fault: unknown) => void;
}

type OpenSubscription = (args: ExecutionArgs) => Promise<ExecutionResult | SharedSubscription>;

export function createGraphQLServer({
  schema,
  contexts,
  addressOf,
  documents,
  graphiql,
  onFault,
  fastPath: isFast,
  compileAfter,
}: {
  schema: GraphQLSchema;
  contexts: ContextFactory;
  addressOf: ClientAddress;
  documents: PersistedDocuments;
  graphiql: boolean;
  onFault: (fault: unknown) => void;
  /** Whether repeated queries and the updates of subscriptions run compiled. */
  fastPath: boolean;
  /** The number of answers to a query before it is compiled. */
  compileAfter?: number | undefined;
}): GraphQLServer {
  const presentedBy = (request: IncomingMessage) =>
    presentedCredential(request, addressOf, request.headers.authorization ?? null);
  let graphiqlPolicy = "default-src 'none'";
  const fastPath = isFast
    ? createFastPath({
        schema,
        contexts,
        documents,
        goneOf,
        compileAfter,
        presentedBy,
        headers: RESPONSE_HEADERS,
      })
    : null;
  const subscriptions: OpenOptions = {
    onFault,
    findPlan: createPlans(isFast ? createCompiledPlan : createPlan),
    isTrusted: (document) => documents.trustOf(textOf(document)) !== 'nobody',
  };
  const openSubscription: OpenSubscription = (args) => openShared(args, subscriptions);
  const yoga = createYoga<{ req: IncomingMessage; res: ServerResponse }, Context>({
    schema,
    async context({ req, res }) {
      const presented = presentedBy(req);
      return contexts.create(presented, await contexts.identify(presented), {
        gone: () => goneOf(res),
        lastEventId: lastEventIdOf(req),
      });
    },
    // Yoga would repeat the page's origin in place of `*`; `graphqlRoute` sends these headers.
    cors: false,
    maskedErrors: { maskError: (error) => toGraphQLError(error, onFault) },
    graphiql: graphiql && { title: 'PSA', ...EXAMPLE_TABS },
    async renderGraphiQL(options) {
      const { page, policy } = await renderGraphiQL(options);
      graphiqlPolicy = policy;
      return page;
    },
    landingPage: false,
    multipart: false,
    // `graphqlRoute` has a limit of its own.
    maxRequestBodySize: false,
    // Yoga's cache keeps errors, whose stacks keep whole requests.
    parserAndValidationCache: false,
    logging: false,
    extraParamNames: ['documentId'],
    plugins: [
      emptyNames,
      persistedDocuments(documents, async (request) => contexts.identify(presentedBy(request))),
      documentsPlugin(),
      deprecationPlugin,
      orderedExecution,
      eventStreams(openSubscription, onFault),
      idempotencyHeaderPlugin(),
      introspectionGuard({ open: graphiql, onFault }),
      responsePlugin(onFault),
      ...(fastPath ? [fastPath.plugin] : []),
      {
        onResponse({ response }) {
          // GraphiQL's page is the only response in HTML.
          if (response.headers.get('content-type')?.startsWith('text/html'))
            response.headers.set('content-security-policy', graphiqlPolicy);
        },
      },
      compressionPlugin(),
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
        return contexts.admit(presentedBy(request))?.catch(refuse);
      } catch (error) {
        return refuse(error);
      }
    },
  };
}

/** A signal that aborts when the client has left, which Yoga does not notice before the first bytes or during a drain. */
function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone.signal;
}

/** The cursor that a client of event streams presents when it reconnects. */
function lastEventIdOf({ headers }: IncomingMessage): string | null {
  const given = headers['last-event-id'];
  return typeof given === 'string' && given !== '' ? given : null;
}

/** The credential of an HTTP request, or of the request that opened a WebSocket. */
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

/**
 * Replaces a document's identifier by the document, and refuses a document that the caller may not run, before it is parsed.
 * A valid document that came with its hash is registered.
 */
function persistedDocuments(
  documents: PersistedDocuments,
  identify: (request: IncomingMessage) => Promise<Caller | null>,
): Plugin<object, HttpContext> {
  const valid = new WeakMap<IncomingMessage, () => void>();
  return {
    async onParams({ request, params, setParams, context }) {
      // Yoga refuses any other value that a client may send.
      if (typeof params !== 'object' || params === null) return;
      // Yoga reads only its own parameters from an address.
      const inAddress = request.method === 'GET' ? new URL(request.url).searchParams.get('documentId') : null;
      const named = inAddress === null ? params : { ...params, documentId: inAddress };
      const { req } = context as unknown as HttpContext;
      if (!documents.concerns(named, req.headers.authorization)) return;
      const caller = await identify(req);
      const query = documents.read(named, caller);
      setParams({ ...params, query: query as string });
      valid.set(req, () => documents.register(named, caller));
    },
    onValidate({ context }) {
      // An operation of a WebSocket has no request.
      const register = valid.get((context as Partial<HttpContext>).req!);
      return register && (({ valid: isValid }) => void (isValid && register()));
    },
  };
}

/**
 * Treats an empty operation name as none, because some clients send it: graphql would look for an operation with that name.
 */
const emptyNames: Plugin = {
  onParams({ params, setParams }) {
    if (params?.operationName !== '') return;
    const { operationName: _, ...unnamed } = params;
    setParams(unnamed);
  },
};

/** Announces the deprecation of the members that an operation over HTTP uses. */
const deprecationPlugin: Plugin<object, HttpContext> = {
  onExecute: ({ args }) => announceDeprecation(args),
  onSubscribe: ({ args }) => announceDeprecation(args),
};

function announceDeprecation({ schema, document, contextValue }: ExecutionArgs): void {
  // An operation of a WebSocket has no response.
  const { res } = contextValue as Partial<HttpContext>;
  if (!res) return;
  for (const [name, value] of Object.entries(deprecationHeaders(schema, document)))
    res.setHeader(name, value);
}

/** Replaces Yoga's executor, which writes a field that resolves later after its siblings. */
const orderedExecution: Plugin = {
  onExecute({ setExecuteFn }) {
    setExecuteFn((args) => {
      const refused = tooManyListItems(args);
      if (refused) return { errors: [refused] };
      const result = execute(args);
      return result instanceof Promise
        ? result.then((later) => behindChanges(later, args.contextValue as Context))
        : behindChanges(result, args.contextValue as Context);
    });
  },
};

/** Whether a client names event streams: one that accepts whatever comes would wait for the end of a response without one. */
function acceptsEvents({ headers: { accept = '' } }: IncomingMessage): boolean {
  return /(?:^|,)\s*text\/(?:event-stream|\*)/i.test(accept);
}

/**
 * Serves subscriptions over HTTP, as event streams. Yoga answers refusals. It does not write the events: it would pull, copy
 * and frame each of them for each client.
 */
function eventStreams(
  openSubscription: OpenSubscription,
  onFault: (fault: unknown) => void,
): Plugin<object, HttpContext> {
  const subscriptions = new WeakMap<ServerResponse, SharedSubscription>();
  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(async (args) => {
        const { req, res } = args.contextValue as HttpContext;
        if (!acceptsEvents(req)) return { errors: [refusalOf('BAD_USER_INPUT', NO_EVENTS, 406, false)] };
        const subscription = await openSubscription(args);
        if (!('updates' in subscription)) return subscription;
        subscriptions.set(res, subscription);
        return NEVER_PULLED;
      });
    },
    onResultProcess({ serverContext: { res }, resultProcessor, setResultProcessor }) {
      const subscription = subscriptions.get(res);
      if (!subscription) return;
      // Yoga refuses an event stream in another charset with 406.
      if (!resultProcessor) return subscription.updates.end();
      setResultProcessor(() => {
        sendEvents(res, subscription, onFault);
        // Yoga has nothing to send. A promise without a reference is freed, and with it the request, its document and its
        // context, which wait for it.
        return new Promise(() => undefined);
      }, 'text/event-stream');
    },
  };
}

const NO_EVENTS = 'A subscription is sent as an event stream: Accept text/event-stream, or use a WebSocket';

interface HttpContext {
  req: IncomingMessage;
  res: ServerResponse;
}

/** Stands for the events of a subscription. Its members are own properties, because plugins copy it. */
const NEVER_PULLED: AsyncGenerator<never> = {
  next: async () => ({ value: undefined, done: true }),
  return: async () => ({ value: undefined, done: true }),
  throw: async () => ({ value: undefined, done: true }),
  [Symbol.asyncIterator]: () => NEVER_PULLED,
};

/** Compresses long responses for clients that accept it; an event stream is sent event by event. */
function compressionPlugin(): Plugin<object, { req: IncomingMessage }> {
  return {
    async onResponse({ response, setResponse, fetchAPI, serverContext }) {
      const encoding = encodingFor(serverContext.req);
      if (!encoding || !isCompressible(response.headers.get('content-type'))) return;
      const text = await response.text();
      const { status, headers } = response;
      const isLong = Buffer.byteLength(text) >= MIN_COMPRESSED_BYTES;
      if (isLong) {
        headers.delete('content-length');
        headers.set('content-encoding', encoding);
        headers.append('vary', 'accept-encoding');
      }
      const body = isLong ? new Uint8Array(await compressResponse(text, encoding)) : text;
      setResponse(new fetchAPI.Response(body, { status, headers }));
    },
  };
}

/** Translates the errors of a result, and adds the extensions of the context. */
function responsePlugin(onFault: (fault: unknown) => void): Plugin {
  return {
    onExecutionResult({ result, context, setResult }) {
      if (!result || Array.isArray(result)) return;
      const added = (context as Partial<Context>).extensions?.() ?? null;
      const extensions = added && {
        extensions: { ...('extensions' in result ? result.extensions : {}), ...added },
      };
      if (!('errors' in result) || !result.errors) {
        if (extensions) setResult({ ...result, ...extensions });
        return;
      }
      const errors = result.errors.map((error) => toGraphQLError(error, onFault));
      // A partial result is sent with 200: at the status of a refused field clients would drop the rest.
      if (!isRefusal(result)) for (const { extensions } of errors) delete extensions.http;
      setResult({ ...result, errors, ...extensions });
    },
  };
}
