import { setMaxListeners } from 'node:events';
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
import type { Caller } from '../access/model.ts';
import type { Opened } from '../events/credential.ts';
import { SlowConsumerError } from '../events/subscribe.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { endSocket, isWebSocket } from '../http/server.ts';
import { OutageError, PaymentError, RateLimitError, UnavailableError } from '../kernel/errors.ts';
import type { ContextFactory, PresentedCredential } from './caller-context.ts';
import { type Context, callerOf } from './context.ts';
import { messageOf } from './errors.ts';
import { createSocketWriter, type SocketWriter, sendResults } from './websocket-writer.ts';
import { type GraphQLServer, presentedCredential, type Yoga } from './yoga.ts';

/** What one connection keeps: ten thousand that only wait must cost little, so what few need is made when it is needed. */
interface Connection extends Opened {
  socket: WebSocket;
  outlet: SocketWriter;
  presented: PresentedCredential;
  /** It has not answered the last ping. */
  isSilent: boolean;
  caller: Caller | null;
  /** Ends every subscription of it: with the credential, and with the socket. Null before the first operation. */
  ends: AbortController | null;
  /** Why it has ended, or null: with its credential, or closed. */
  over: { reason?: PaymentError } | null;
  stopWatching: (() => void) | null;
  /** Its credential has come. */
  begun(): void;
}
type Connected = ConnectionContext<Record<string, unknown>, Connection>;

export interface GraphQLSockets {
  /** Tells every client to come back (1001) and resolves when they have gone and what they began has ended. */
  close(): Promise<void>;
}

const MAX_MESSAGE_BYTES = 100_000;
/** Until its credential is known it has nothing to say but that. */
const MAX_BYTES_BEFORE_INIT = 4_000;
/** Pieces of a message, and of a frame as the network brings them: each takes as much memory as a hundred bytes. */
const MAX_PIECES = 1_000;
const MAX_SUBSCRIPTIONS = 100;
/** With so much unsent, nothing more is read: whoever does not take its answers has nothing else to ask. */
const MAX_UNSENT_BYTES = 1_000_000;
const PING_MS = 25_000;
const PING_ROUNDS = 25;
/** A client that does not answer the closing handshake is cut off; a slow one has much to read before it sees it. */
const CLOSE_TIMEOUT_MS = 30_000;
/** The same where the server ends, which has no time, and of whoever sends too much. */
const LAST_CLOSE_TIMEOUT_MS = 1_000;
/** The client library comes back after these, with a fresh credential or with `after`. */
const TRY_AGAIN_LATER = 1013;
const GOING_AWAY = 1001;
const MESSAGE_TOO_BIG = 1009;

/**
 * GraphQL over `graphql-transport-ws`. The credential comes in `connection_init`, and the Origin seen at the upgrade
 * is held against it. What the library leaves open is closed here: sizes, counts, the end of a credential, a
 * client that does not read.
 */
export function createGraphQLSockets({
  server,
  graphql: { yoga, openSubscription },
  contexts,
  addressOf,
  onFault,
  initTimeoutMs = 5_000,
  closeTimeoutMs = CLOSE_TIMEOUT_MS,
}: {
  server: Server;
  graphql: Pick<GraphQLServer, 'yoga' | 'openSubscription'>;
  contexts: ContextFactory;
  addressOf: ClientAddress;
  onFault: (fault: unknown) => void;
  /** How long a client may take until `connection_init`. */
  initTimeoutMs?: number | undefined;
  /** How long a client may take to answer the closing handshake. */
  closeTimeoutMs?: number | undefined;
}): GraphQLSockets {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    maxFragments: MAX_PIECES,
    maxBufferedChunks: MAX_PIECES,
    // Its types do not know of it yet.
    ...{ closeTimeout: closeTimeoutMs },
    handleProtocols,
  });

  const protocol = makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: initTimeoutMs,
    onConnect: (connected) => connect(connected),
    onSubscribe: (connected, id, payload) => prepare(connected, id, payload),
    // Yoga's own, which mask what is not for the client.
    execute: (args) => whileUnderWay(answerOf(args)),
    subscribe: (args) => whileUnderWay(follow(args)),
    onNext: (_connected, _id, _payload, _args, result) =>
      result.errors &&
      ({
        ...result,
        errors: result.errors.map((error) => messageOf(error, onFault)),
      } as FormattedExecutionResult),
    onError(connected, _id, _payload, errors) {
      if (errors.some((error) => isSlow(error)))
        connected.extra.socket.close(TRY_AGAIN_LATER, 'Too slow; come back with after');
      return errors.map((error) => messageOf(error, onFault));
    },
  });

  async function answerOf(args: ExecutionArgs): Promise<ExecutionResult> {
    const result = await preparedOf(args).engine.execute(args);
    const said = (args.contextValue as Context).extensions();
    return said ? { ...result, extensions: { ...result.extensions, ...said } } : result;
  }

  /** What happens is written past the library, which would put each update into JSON for each subscriber. */
  async function follow(args: ExecutionArgs): Promise<ExecutionResult | AsyncGenerator<never>> {
    const { outlet, id } = preparedOf(args);
    const opened = await openSubscription(args);
    // The library keeps the arguments for as long as the subscription lasts, which needs none of this any more.
    Object.assign(args, { contextValue: null, rootValue: null });
    return 'updates' in opened ? sendResults(outlet, id, opened) : opened;
  }

  /** Operations that have begun: an answer is on its way, or a stream is being opened. */
  const underWay = new Set<Promise<unknown>>();
  function whileUnderWay<Result>(operation: Result | Promise<Result>): Result | Promise<Result> {
    if (!(operation instanceof Promise)) return operation;
    const ended: Promise<unknown> = operation
      .catch(() => undefined)
      .finally(() => {
        underWay.delete(ended);
      });
    underWay.add(ended);
    return operation;
  }

  async function connect({ connectionParams, extra }: Connected): Promise<boolean> {
    const authorization = connectionParams?.authorization;
    extra.presented = {
      ...extra.presented,
      authorization: typeof authorization === 'string' ? authorization : null,
    };
    try {
      await contexts.admit(extra.presented);
      extra.caller = await contexts.identify(extra.presented);
      callerOf(extra);
      extra.begun();
    } catch (error) {
      if (error instanceof RateLimitError) {
        extra.socket.close(TRY_AGAIN_LATER, error.message);
        return false;
      }
      if (error instanceof PaymentError) return forbid(extra, error);
      throw error;
    }
    const stop = await contexts.watch(extra.presented, callerOf(extra), extra);
    // It may have left meanwhile, and then nobody else stops this.
    if (extra.over) {
      stop();
      return false;
    }
    extra.stopWatching = stop;
    return true;
  }

  async function prepare(
    { extra, subscriptions }: Connected,
    id: string,
    { query, variables, operationName }: SubscribePayload,
  ) {
    if (Object.keys(subscriptions).length > MAX_SUBSCRIPTIONS)
      return [new GraphQLError('', { originalError: TOO_MANY })];
    const engine = yoga.getEnveloped({});
    const { schema } = engine;
    let document: DocumentNode;
    try {
      document = engine.parse(query);
    } catch (error) {
      if (error instanceof GraphQLError) return [error];
      throw error;
    }
    const errors = engine.validate(schema, document) as readonly GraphQLError[];
    if (errors.length > 0) return errors;
    const contextValue = contexts.create(extra.presented, extra.caller, {
      connection: () => endOf(extra),
    });
    const rootValue: Prepared = { engine, outlet: extra.outlet, id };
    return { schema, document, variableValues: variables, operationName, contextValue, rootValue };
  }

  sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const outlet = createSocketWriter(socket, request.socket, () => {
      if (socket.isPaused && socket.bufferedAmount < MAX_UNSENT_BYTES) socket.resume();
    });
    const connection: Connection = {
      socket,
      outlet,
      presented: { ...presentedCredential(request, addressOf, null), connection: undefined },
      isSilent: false,
      caller: null,
      ends: null,
      over: null,
      stopWatching: null,
      begun: boundBeginning(socket, request.socket),
      credentialEnded,
    };
    let onMessage: (data: string) => Promise<void> = async () => undefined;
    const opened = protocol.opened(
      {
        protocol: socket.protocol,
        send: outlet.send,
        close: (code, reason = '') => socket.close(code, closeReason(reason)),
        onMessage: (listener) => {
          onMessage = listener;
        },
      },
      connection,
    );

    socket.on('message', (data: RawData) => {
      if (socket.bufferedAmount >= MAX_UNSENT_BYTES) socket.pause();
      onMessage(data.toString()).catch((fault: unknown) => {
        if (socket.readyState !== socket.OPEN) return;
        // The library throws at a message that only a server sends.
        if (fault instanceof Error && fault.message.startsWith('Unexpected message of type'))
          return socket.close(CloseCode.BadRequest, 'Unexpected message');
        onFault(fault);
        // Of this one the client library comes back, and of an internal error it does not.
        if (fault instanceof OutageError) socket.close(TRY_AGAIN_LATER, 'Unavailable; come back');
        else socket.close(CloseCode.InternalServerError, 'Internal error');
      });
    });
    // A frame that is too large or malformed: `ws` closes with its own code.
    socket.on('error', () => undefined);

    const round = rounds[turn]!;
    round.add(connection);
    socket.on('pong', () => {
      connection.isSilent = false;
    });
    socket.once('close', (code, reason) => {
      round.delete(connection);
      connection.stopWatching?.();
      end(connection, {});
      opened(code, reason.toString()).catch(onFault);
    });
  });

  /** One timer for all of them, who are pinged in turns: ten thousand at once would hold up everything else. */
  const rounds = Array.from({ length: PING_ROUNDS }, () => new Set<Connection>());
  let turn = 0;
  const pings = setInterval(() => {
    turn = (turn + 1) % PING_ROUNDS;
    for (const connection of rounds[turn]!) {
      if (connection.isSilent) connection.socket.terminate();
      connection.isSilent = true;
      connection.socket.ping();
    }
  }, PING_MS / PING_ROUNDS);

  server.on('upgrade', (request, socket, head) => {
    if (!isWebSocket(request)) return;
    socket.on('error', destroy);
    if (pathOf(request) !== '/graphql') return endSocket(socket, '404 Not Found');
    sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request));
  });

  return {
    async close() {
      clearInterval(pings);
      const gone = [...sockets.clients].map(
        (socket) =>
          new Promise<void>((resolve) => {
            const cut = setTimeout(() => socket.terminate(), LAST_CLOSE_TIMEOUT_MS);
            socket.once('close', () => {
              clearTimeout(cut);
              resolve();
            });
            socket.close(GOING_AWAY, 'The server is restarting');
          }),
      );
      sockets.close();
      await Promise.all(gone);
      // What was begun still reads and writes, and the database is closed next.
      await Promise.all(underWay);
    },
  };
}

/** Ten thousand that nobody knows, each with the most that a message may have, would be a gigabyte. Returns what lifts it. */
function boundBeginning(socket: WebSocket, wire: IncomingMessage['socket']): () => void {
  const most = wire.bytesRead + MAX_BYTES_BEFORE_INIT;
  const count = () => {
    if (wire.bytesRead <= most) return;
    lift();
    // The library has words of its own for a message that is too large in itself.
    setImmediate(() => {
      if (socket.readyState === socket.CLOSED) return;
      // Of one that is closing already, be it by the library, what it still sends is held just as well.
      socket.close(MESSAGE_TOO_BIG, 'Too much before connection_init');
      // Nothing more is taken from it, and what was is not kept for long.
      wire.removeAllListeners('data').resume().end();
      const cut = setTimeout(() => wire.destroy(), LAST_CLOSE_TIMEOUT_MS);
      wire.once('close', () => clearTimeout(cut));
    });
  };
  const lift = () => void wire.off('data', count);
  wire.on('data', count);
  return lift;
}

/** The signal that its subscriptions end by. */
function endOf(connection: Connection): AbortSignal {
  if (!connection.ends) {
    connection.ends = new AbortController();
    // Each subscription listens to it, and Node takes more than ten listeners for a leak.
    setMaxListeners(MAX_SUBSCRIPTIONS + 10, connection.ends.signal);
    if (connection.over) connection.ends.abort(connection.over.reason);
  }
  return connection.ends.signal;
}

function end(connection: Connection, over: NonNullable<Connection['over']>): void {
  connection.over ??= over;
  connection.ends?.abort(over.reason);
}

function credentialEnded(this: Connection, reason: PaymentError): void {
  end(this, { reason });
  forbid(this, reason);
}

/** Closed by us with the reason; the library's own close, without one, then finds it closed. */
function forbid({ socket }: Connection, error: Error): false {
  socket.close(CloseCode.Forbidden, error.message);
  return false;
}

/** Apart from the request, which would stay in memory for as long as its socket does. */
function destroy(this: Duplex): void {
  this.destroy();
}

/** What an operation runs by. */
interface Prepared {
  engine: Pick<ReturnType<Yoga['getEnveloped']>, 'execute'>;
  outlet: SocketWriter;
  id: string;
}

/** As `prepare` put it there. */
function preparedOf({ rootValue }: ExecutionArgs): Prepared {
  return rootValue as Prepared;
}

/** Null for what is no URL: thrown out of an event of the server's, that would end the process. */
function pathOf({ url = '/' }: IncomingMessage): string | null {
  return URL.canParse(url, 'http://localhost') ? new URL(url, 'http://localhost').pathname : null;
}

/** The protocol allows 123 bytes, and the library's own reasons repeat what the client has sent. */
function closeReason(reason: string): string {
  return Buffer.byteLength(reason) <= 123 ? reason : `${reason.slice(0, 40)}…`;
}

const TOO_MANY = new UnavailableError(
  'LIMIT_REACHED',
  `A connection has at most ${MAX_SUBSCRIPTIONS} operations at once`,
);

function isSlow(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = (cause as GraphQLError).originalError)
    if (cause instanceof SlowConsumerError) return true;
  return false;
}
