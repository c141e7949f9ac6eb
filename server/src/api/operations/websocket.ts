import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
} from 'graphql';
import {
  CloseCode,
  type Context as ConnectionContext,
  handleProtocols,
  makeServer,
  type SubscribePayload,
} from 'graphql-ws';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { callerOf } from '../../kernel/caller.ts';
import {
  OutageError,
  PaymentError,
  PreconditionError,
  RateLimitError,
  UnauthenticatedError,
} from '../../kernel/errors.ts';
import { SlowConsumerError } from '../../state/events/subscription.ts';
import type { Context } from '../graphql/context.ts';
import { messageOf } from '../graphql/errors.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { endSocket, isWebSocket } from '../http/upgrade.ts';
import type { ContextFactory } from './caller-context.ts';
import type { PersistedDocuments } from './persisted-documents.ts';
import { limitUnauthenticatedBytes } from './unauthenticated-bytes.ts';
import {
  type Connection,
  closeForbidden,
  credentialEnded,
  end,
  endSignalOf,
  MAX_SUBSCRIPTIONS,
} from './websocket-connection.ts';
import { createOperationIds } from './websocket-ids.ts';
import { parseMessage, shortReason, unknownInPayload } from './websocket-messages.ts';
import { createSocketWriter, type SocketWriter, sendResults } from './websocket-writer.ts';
import { type GraphQLServer, presentedCredential, type Yoga } from './yoga.ts';

type ConnectionAck = { psa: { expiresAt: string } };
type Connected = ConnectionContext<Record<string, unknown>, Connection>;

export interface GraphQLSockets {
  /**
   * Closes every connection with 1001, after which clients reconnect. Resolves when all are closed and their
   * operations have ended.
   */
  close(): Promise<void>;
}

const MAX_MESSAGE_BYTES = 100_000;
/** The longest id of an operation, which is held as long as that; libraries send a UUID. */
const MAX_ID_LENGTH = 1_000;
/** Fragments of a message, and chunks of a frame: each takes as much memory as a hundred bytes. */
const MAX_PIECES = 1_000;
/** The limit on unsent bytes, above which a socket is not read: the client first has to read its results. */
const MAX_UNSENT_BYTES = 1_000_000;
const PING_MS = 25_000;
const PING_BUCKETS = 25;
/** The time to answer the closing handshake. It is long, because a slow client has much to read before it. */
const CLOSE_TIMEOUT_MS = 30_000;
/** The time to answer the closing handshake when the server stops. */
const SHORT_CLOSE_TIMEOUT_MS = 1_000;
/** After these codes the client library reconnects, with a fresh credential or with `after`. */
const TRY_AGAIN_LATER = 1013;
const GOING_AWAY = 1001;

/**
 * Serves GraphQL over `graphql-transport-ws`. The credential comes in `connection_init` and is checked against the Origin
 * of the upgrade. The library leaves to its caller: limits on sizes and counts, the end of a credential, a client that does
 * not read.
 */
export function createGraphQLSockets({
  server,
  graphql: { yoga, openSubscription },
  contexts,
  addressOf,
  documents,
  onFault,
  initTimeoutMs = 5_000,
  closeTimeoutMs = CLOSE_TIMEOUT_MS,
}: {
  server: Server;
  graphql: Pick<GraphQLServer, 'yoga' | 'openSubscription'>;
  contexts: ContextFactory;
  addressOf: ClientAddress;
  documents: PersistedDocuments;
  onFault: (fault: unknown) => void;
  /** The time that a client has for `connection_init`. */
  initTimeoutMs?: number | undefined;
  /** The time that a client has to answer the closing handshake. */
  closeTimeoutMs?: number | undefined;
}): GraphQLSockets {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    maxFragments: MAX_PIECES,
    maxBufferedChunks: MAX_PIECES,
    // An option that the library's types do not have yet.
    ...{ closeTimeout: closeTimeoutMs },
    handleProtocols,
  });

  const ids = createOperationIds();
  const protocol = makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: initTimeoutMs,
    onConnect: (connected) => connect(connected),
    onSubscribe: (connected, id, payload) => prepare(connected, id, payload),
    // Yoga's functions, which mask internal errors.
    execute: (args) => track(executeOperation(args)),
    subscribe: (args) => track(subscribe(args)),
    onOperation: ids.onOperation,
    onNext: (connected, id, payload, _args, result) =>
      ids.unlessReplaced([connected, id, payload], () => {
        if (!result.errors) return;
        const errors = result.errors.map((error) => messageOf(error, onFault));
        return { ...result, errors } as FormattedExecutionResult;
      }),
    async onError(connected, id, payload, errors) {
      await ids.end(connected, id, payload);
      if (errors.some((error) => isSlow(error)))
        connected.extra.socket.close(TRY_AGAIN_LATER, 'Too slow; come back with after');
      return errors.map((error) => messageOf(error, onFault));
    },
    onComplete: ids.end,
  });

  async function executeOperation(args: ExecutionArgs): Promise<ExecutionResult> {
    const result = await preparedOf(args).engine.execute(args);
    const extensions = (args.contextValue as Context).extensions();
    return extensions ? { ...result, extensions: { ...result.extensions, ...extensions } } : result;
  }

  /** Opens a subscription. Its results bypass the library, which would serialize each update for each subscriber. */
  async function subscribe(args: ExecutionArgs): Promise<ExecutionResult | AsyncGenerator<never>> {
    const { writer, id } = preparedOf(args);
    const subscription = await openSubscription(args);
    // The library holds the arguments while the subscription lasts, which needs none of these.
    Object.assign(args, { contextValue: null, rootValue: null, document: null, variableValues: null });
    return 'updates' in subscription ? sendResults(writer, id, subscription) : subscription;
  }

  /** Operations that are being executed, and subscriptions that are being opened. */
  const inFlight = new Set<Promise<unknown>>();
  function track<Result>(operation: Result | Promise<Result>): Result | Promise<Result> {
    if (!(operation instanceof Promise)) return operation;
    const ended: Promise<unknown> = operation
      .catch(() => undefined)
      .finally(() => {
        inFlight.delete(ended);
      });
    inFlight.add(ended);
    return operation;
  }

  /** Returns whether the connection is accepted; for a credential that expires, the payload of `connection_ack`. */
  async function connect({ connectionParams, extra }: Connected): Promise<boolean | ConnectionAck> {
    const [inPayload = null, another] = credentialsIn(connectionParams);
    const authorization = inPayload ?? extra.presented.authorization;
    extra.presented = { ...extra.presented, authorization };
    try {
      await contexts.admit(extra.presented);
      if (another !== undefined) throw new UnauthenticatedError(TWO_CREDENTIALS);
      if (authorization === null) throw new UnauthenticatedError(NO_CREDENTIAL);
      extra.caller = await contexts.identify(extra.presented);
      callerOf(extra);
      extra.authenticated();
    } catch (error) {
      if (error instanceof RateLimitError) {
        extra.socket.close(TRY_AGAIN_LATER, error.message);
        return false;
      }
      if (error instanceof PaymentError) return closeForbidden(extra, error);
      throw error;
    }
    const stop = await contexts.watch(extra.presented, callerOf(extra), extra);
    // The socket may have closed meanwhile: nothing else would stop the watch.
    if (extra.closeReason) {
      stop();
      return false;
    }
    extra.stopWatching = stop;
    const { expiresAt } = callerOf(extra);
    return !expiresAt || { psa: { expiresAt: expiresAt.toISOString() } };
  }

  async function prepare(connected: Connected, id: string, payload: SubscribePayload) {
    if (id.length > MAX_ID_LENGTH) return [new GraphQLError(`An id has at most ${MAX_ID_LENGTH} characters`)];
    ids.begin(connected, id, payload);
    const { extra, subscriptions } = connected;
    const { variables, operationName, ...named } = payload;
    const unknown = unknownInPayload(payload);
    // The library holds the message as long as the operation.
    for (const name of Object.keys(payload)) Reflect.deleteProperty(payload, name);
    if (Object.keys(subscriptions).length > MAX_SUBSCRIPTIONS)
      return [new GraphQLError('', { originalError: TOO_MANY })];
    if (unknown !== null) return [new GraphQLError(unknown)];
    const engine = yoga.getEnveloped({});
    const { schema } = engine;
    let document: DocumentNode;
    try {
      document = engine.parse(documents.read(named, extra.caller) as string);
    } catch (error) {
      if (error instanceof GraphQLError) return [error];
      if (error instanceof PaymentError) return [new GraphQLError('', { originalError: error })];
      throw error;
    }
    const errors = engine.validate(schema, document) as readonly GraphQLError[];
    if (errors.length > 0) return errors;
    documents.register(named, extra.caller);
    const contextValue = contexts.create(extra.presented, extra.caller, {
      connection: () => endSignalOf(extra),
    });
    const rootValue: PreparedOperation = { engine, writer: extra.writer, id };
    return {
      schema,
      document,
      variableValues: variables,
      operationName: operationName || undefined,
      contextValue,
      rootValue,
    };
  }

  sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const writer = createSocketWriter(socket, request.socket, () => {
      if (socket.isPaused && socket.bufferedAmount < MAX_UNSENT_BYTES) socket.resume();
    });
    const connection: Connection = {
      socket,
      writer,
      presented: {
        ...presentedCredential(request, addressOf, request.headers.authorization ?? null),
        connection: undefined,
      },
      awaitsPong: false,
      caller: null,
      endController: null,
      closeReason: null,
      stopWatching: null,
      authenticated: limitUnauthenticatedBytes(socket, request.socket),
      credentialEnded,
    };
    let onMessage: (message: unknown) => Promise<void> = async () => undefined;
    const onClosed = protocol.opened(
      {
        protocol: socket.protocol,
        send: writer.send,
        close: (code, reason = '') => socket.close(code, shortReason(reason)),
        onMessage: (listener) => {
          // The handler accepts parsed messages, too, which its type does not say.
          onMessage = listener as typeof onMessage;
        },
      },
      connection,
    );

    socket.on('message', (data: RawData) => {
      // Messages still arrive until the client answers the close: one of an ended credential must change nothing.
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount >= MAX_UNSENT_BYTES) socket.pause();
      const text = data.toString();
      const { message, mistake } = parseMessage(text);
      if (mistake !== null) return socket.close(CloseCode.BadRequest, shortReason(mistake));
      onMessage(message).catch((fault: unknown) => {
        if (socket.readyState !== socket.OPEN) return;
        // The library throws at a message that only a server sends.
        if (fault instanceof Error && fault.message.startsWith('Unexpected message of type'))
          return socket.close(CloseCode.BadRequest, 'Unexpected message');
        onFault(fault);
        // The client library reconnects after this code, and does not after an internal error.
        if (fault instanceof OutageError) socket.close(TRY_AGAIN_LATER, 'Unavailable; come back');
        else socket.close(CloseCode.InternalServerError, 'Internal error');
      });
    });
    // On a frame that is too large or malformed, `ws` closes the socket itself.
    socket.on('error', () => undefined);

    const bucket = pingBuckets[currentBucket]!;
    bucket.add(connection);
    socket.on('pong', () => {
      connection.awaitsPong = false;
    });
    socket.once('close', (code, reason) => {
      bucket.delete(connection);
      connection.stopWatching?.();
      end(connection, {});
      onClosed(code, reason.toString()).catch(onFault);
    });
  });

  /** One timer pings one bucket at a time: ten thousand connections at once would hold up everything else. */
  const pingBuckets = Array.from({ length: PING_BUCKETS }, () => new Set<Connection>());
  let currentBucket = 0;
  const pings = setInterval(() => {
    currentBucket = (currentBucket + 1) % PING_BUCKETS;
    for (const connection of pingBuckets[currentBucket]!) {
      if (connection.awaitsPong) connection.socket.terminate();
      connection.awaitsPong = true;
      connection.socket.ping();
    }
  }, PING_MS / PING_BUCKETS);

  server.on('upgrade', (request, socket, head) => {
    if (!isWebSocket(request)) return;
    socket.on('error', destroy);
    if (pathOf(request) !== '/graphql') return endSocket(socket, '404 Not Found', 'ROUTE_NOT_FOUND');
    sockets.handleUpgrade(request, socket, head, (upgraded) => sockets.emit('connection', upgraded, request));
  });

  return {
    async close() {
      clearInterval(pings);
      const closed = [...sockets.clients].map(
        (socket) =>
          new Promise<void>((resolve) => {
            const timeout = setTimeout(() => socket.terminate(), SHORT_CLOSE_TIMEOUT_MS);
            socket.once('close', () => {
              clearTimeout(timeout);
              resolve();
            });
            socket.close(GOING_AWAY, 'The server is restarting');
          }),
      );
      sockets.close();
      await Promise.all(closed);
      // Operations in flight still read and write, and the database is closed next.
      await Promise.all(inFlight);
    },
  };
}

const NO_CREDENTIAL = 'No credential: send { "authorization": "Bearer …" } as the payload of connection_init';

const TWO_CREDENTIALS =
  'Two different credentials in the payload of connection_init: send one, as { "authorization": "Bearer …" }';

/**
 * Finds the different credentials in the places where clients put one: as a member of the payload, or of `headers` in it. An
 * empty text is one: the client meant to send it.
 */
function credentialsIn(payload: Readonly<Record<string, unknown>> | null | undefined): string[] {
  const places = [payload, payload?.headers] as (Readonly<Record<string, unknown>> | null | undefined)[];
  const values = places
    .filter((place) => typeof place === 'object')
    .flatMap((place) => [place?.authorization, place?.Authorization]);
  return [...new Set(values.filter((value) => typeof value === 'string'))];
}

/** Destroys a socket. A function of the module, because a closure would hold the request while its socket is open. */
function destroy(this: Duplex): void {
  this.destroy();
}

/** The values that an operation needs to run, which `prepare` passes as the root value. */
interface PreparedOperation {
  engine: Pick<ReturnType<Yoga['getEnveloped']>, 'execute'>;
  writer: SocketWriter;
  id: string;
}

/** Reads the values that `prepare` has passed as the root value. */
function preparedOf({ rootValue }: ExecutionArgs): PreparedOperation {
  return rootValue as PreparedOperation;
}

/** The path of the request; null for a malformed URL, whose error would end the process as an uncaught exception. */
function pathOf({ url = '/' }: IncomingMessage): string | null {
  return URL.canParse(url, 'http://localhost') ? new URL(url, 'http://localhost').pathname : null;
}

const TOO_MANY = new PreconditionError(
  'LIMIT_REACHED',
  `A connection has at most ${MAX_SUBSCRIPTIONS} operations at once`,
);

function isSlow(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = (cause as GraphQLError).originalError)
    if (cause instanceof SlowConsumerError) return true;
  return false;
}
