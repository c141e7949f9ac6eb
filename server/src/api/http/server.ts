import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { bindContext, isTracing, startSpan } from '../../kernel/traces.ts';
import { takeFileTime } from './body-time.ts';
import { answerTo } from './error-answers.ts';
import { listen } from './listen.ts';
import { sendMissingPage, wantsPage } from './missing-page.ts';
import { decodeParams, requestUrl, templateOf } from './request-url.ts';
import {
  HttpError,
  isEventStream,
  NO_SNIFFING,
  noRoute,
  type RequestContext,
  type Route,
  sendJson,
} from './routes.ts';
import { endSocket, headWithoutUpgrade, isWebSocket } from './upgrade.ts';

export interface HttpServer {
  readonly server: Server;
  /** Replaces the routes of the start. */
  serve(routes: readonly Route[]): void;
  /** Resolves with the port once listening; rejects if the address is not available. */
  listen(port: number, host: string): Promise<number>;
  /** Ends each connection with its next response from now on, and still accepts new ones. */
  endKeepAlive(): void;
  /**
   * Accepts no more connections, and ends each open one with its next response. An idle connection stays open: a
   * proxy may be sending a request on it. `close` follows when the proxies have closed theirs.
   */
  stopListening(): Promise<void>;
  /** Accepts no more connections, lets responses in flight end, closes idle connections. */
  close(): Promise<void>;
}

/**
 * The time after which streams that were opening at the stop are ended, and clients that do not read the end are
 * disconnected.
 */
const STREAM_GRACE_MS = 1_000;
/** The time for responses in flight: a request may have been performed already, and its handler may hang. */
const ANSWER_GRACE_MS = 5_000;
/** The requests of a connection that wait for the response before them; one more ends the connection. */
const MAX_WAITING = 16;
/** The turns of the event loop that a busy server waits for a short one before it stops listening. */
const MAX_TURNS = 200;
/** The longest turn that counts as short, after as many turns; an idle one takes three microseconds. */
const shortTurnMs = (turns: number): number => (0.5 * (turns + 1)) / MAX_TURNS;

/** The times that a client has, in milliseconds. */
export interface Deadlines {
  /** The time to send the head of a request, from its first byte or from the connection on. */
  headMs: number;
  /** The time to send a whole request. */
  requestMs: number;
  /** The interval at which these two are checked. */
  checkMs: number;
  /** The time to read any part of a response; an event stream has a comment every 12 seconds. */
  stalledMs: number;
}

const DEADLINES: Deadlines = { headMs: 10_000, requestMs: 30_000, checkMs: 2_000, stalledMs: 120_000 };

/** The time that a connection may be idle. Proxies keep theirs a minute: a side that closes later resets no request. */
const KEEP_ALIVE_MS = 72_000;

/** The status of bytes that are not a request, by the parser's error code; 400 for any other code. */
const MALFORMED: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Whether this version of Node has read the body of a request before it offers the upgrade, so that the request cannot be put
 * back. It can ignore the upgrade, but loses the bytes that the client has sent after such a request: its connection ends
 * with the response.
 */
const PARSES_BODIES_OF_UPGRADES = Number.parseInt(process.versions.node, 10) > 24;

/** Called with the template of the route's path, such as `/checkout/{orderCode}`; null if no route matched. */
export type OnEnd = (route: string | null) => void;

/** Creates one `node:http` server for all routes. Every error that a route throws is answered here. */
export function createHttpServer({
  onFault,
  onRequest,
  starting = [],
  deadlines = {},
}: {
  onFault: (error: unknown, request: IncomingMessage) => void;
  /** Returns a function that is called when the response has closed. Must not throw. */
  onRequest?: ((request: IncomingMessage, response: ServerResponse) => OnEnd) | undefined;
  /** The routes until `serve` is called; any other request is answered with 503. */
  starting?: readonly Route[] | undefined;
  /** Replaces some of the default deadlines. */
  deadlines?: Partial<Deadlines> | undefined;
}): HttpServer {
  const withTemplates = (all: readonly Route[]) =>
    all.map((route) => ({ route, template: templateOf(route.path) }));
  let routes = withTemplates(starting);
  let isStarting = true;
  const inFlight = createSlots<InFlight>();
  let keepsAlive = true;
  let closing = false;
  const { headMs, requestMs, checkMs, stalledMs } = { ...DEADLINES, ...deadlines };
  const options = {
    headersTimeout: headMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    ...(PARSES_BODIES_OF_UPGRADES && { shouldUpgradeCallback: isUpgraded }),
  };
  /** The last response of each connection, and its requests in line. */
  const lastOf = new WeakMap<Duplex, ServerResponse>();
  const waiting = new WeakMap<Duplex, number>();
  const server = createServer(options, (request, response) => {
    const { socket } = request;
    opened.delete(socket);
    const earlier = lastOf.get(socket);
    lastOf.set(socket, response);
    const own: InFlight = { response, template: null, inTrace: null };
    const releaseSlot = inFlight.take(own);
    if (!earlier || earlier.closed) return handle(request, own, releaseSlot);
    // Requests that a client sends before it has read a response are handled one after the other: their responses would
    // be held in memory until the client reads, however large they are.
    const inLine = (waiting.get(socket) ?? 0) + 1;
    if (inLine > MAX_WAITING) {
      releaseSlot();
      socket.destroy();
      return;
    }
    waiting.set(socket, inLine);
    earlier.once('close', () => {
      waiting.set(socket, waiting.get(socket)! - 1);
      if (!socket.destroyed) return handle(request, own, releaseSlot);
      // Node closes only the response that had the socket; each of the others in line is closed by the one before it.
      releaseSlot();
      response.emit('close');
    });
  });
  function handle(request: IncomingMessage, own: InFlight, releaseSlot: () => void): void {
    const { response } = own;
    const onEnd = onRequest?.(request, response);
    response.once('close', () => {
      releaseSlot();
      // The head may have been sent before the stop, with the promise to keep the connection.
      if (closing && !isBusy(request.socket)) request.socket.end();
      if (own.inTrace) own.inTrace(() => onEnd?.(own.template));
      else onEnd?.(own.template);
    });
    const isIgnoredUpgrade = PARSES_BODIES_OF_UPGRADES && request.headers.upgrade !== undefined;
    if (!keepsAlive || isIgnoredUpgrade) response.setHeader('connection', 'close');
    const refuse = (error: unknown) => {
      if (!(error instanceof HttpError)) onFault(error, request);
      if (response.headersSent) return response.destroy();
      response.setHeader(...NO_SNIFFING);
      const { status, body, headers } = answerTo(error);
      if (status === 404 && wantsPage(request)) return sendMissingPage(request, response, body.code);
      sendJson(response, status, body, headers);
    };
    try {
      dispatch(request, own)?.catch(refuse);
    } catch (error) {
      refuse(error);
    }
  }
  server.setTimeout(stalledMs);
  /** Connections that may not have sent a byte: browsers open some ahead of a request, and others in place of an aborted one. */
  const opened = new Set<Socket>();
  server.on('connection', (socket) => {
    // A socket that returns from an upgrade has sent something.
    if (socket.bytesRead > 0) return;
    opened.add(socket);
    socket.once('close', () => opened.delete(socket));
  });
  /** Sockets that have sent a malformed request: all their later bytes are malformed, too. */
  const malformed = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { code } = error;
    if (code === 'ECONNRESET' || !socket.writable) return socket.destroy();
    if (malformed.has(socket)) return;
    const own = inFlight.all().filter(({ response: { req } }) => req.socket === socket);
    const late = own.find(({ response: { req } }) => !req.complete)?.response.req;
    const moreMs = code === 'ERR_HTTP_REQUEST_TIMEOUT' && late ? takeFileTime(late) : 0;
    // Node checks the time of a request once.
    if (late && moreMs > 0) return whenLate(late, moreMs, () => server.emit('clientError', error, socket));
    // Earlier requests are answered first: a client takes the first response for that to its first request.
    const earlier = own.filter(({ response: { req } }) => req.complete);
    // The late request may have arrived and been done: no response says that its outcome is unknown.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && earlier.length > 0) return socket.destroy();
    malformed.add(socket);
    afterResponses(earlier, () => {
      if (socket.writable) endSocket(socket, MALFORMED[code ?? ''] ?? '400 Bad Request', 'BAD_USER_INPUT');
    });
  });

  /** The WebSocket server adds its listener once the server has started. */
  function isUpgraded(request: IncomingMessage): boolean {
    return isWebSocket(request) && server.listenerCount('upgrade') > 1;
  }

  // HTTP allows a server to ignore an upgrade: the request is answered as one without it.
  server.on('upgrade', (request, socket, head) => {
    if (isUpgraded(request)) return;
    const destroy = () => socket.destroy();
    socket.on('error', destroy);
    const earlier = inFlight.all().filter(({ response: { req } }) => req.socket === socket);
    afterResponses(earlier, () => {
      if (socket.destroyed) return;
      // HTTP takes the socket back, and with it its errors.
      socket.off('error', destroy);
      socket.unshift(Buffer.concat([headWithoutUpgrade(request), head]));
      server.emit('connection', socket);
    });
  });

  const isBusy = (socket: Duplex) => inFlight.all().some(({ response: { req } }) => req.socket === socket);

  function dispatch(request: IncomingMessage, own: InFlight): Promise<void> | void {
    const { response } = own;
    const url = requestUrl(request);
    const allowed: string[] = [];
    for (const { route, template } of routes) {
      const match = route.path.exec(url.pathname);
      if (!match) continue;
      if (route.methods.includes(request.method ?? '')) {
        if (!route.writesHead) response.setHeader(...NO_SNIFFING);
        const setTemplate = (name: string) => {
          own.template = name;
        };
        setTemplate(template);
        const params = decodeParams(match.groups);
        const context: RequestContext = { request, response, url, params, setTemplate };
        if (!isTracing() || wantsStream(request)) return route.handle(context);
        return traceRequest(context, template, (traced) => {
          own.inTrace = bindContext();
          return route.handle(traced);
        });
      }
      allowed.push(...route.methods);
    }
    if (isStarting && allowed.length === 0) throw new HttpError(503, 'Starting', { 'retry-after': '1' });
    if (allowed.length === 0) throw noRoute();
    throw new HttpError(405, 'Method not allowed', { allow: [...new Set(allowed)].join(', ') });
  }

  /** Makes every response close its connection: the client's next request on an open one would be cut off. */
  function endKeepAlive(): void {
    keepsAlive = false;
    for (const { response } of inFlight.all())
      if (!response.headersSent) response.setHeader('connection', 'close');
  }

  function startClosing(): void {
    closing = true;
    endKeepAlive();
  }

  return {
    server,
    serve(all) {
      routes = withTemplates(all);
      isStarting = false;
    },
    listen: (port, host) => listen(server, port, host),
    endKeepAlive,
    async stopListening() {
      startClosing();
      // The system resets the connections that it has accepted and this process has not. A turn of the event loop
      // accepts them first and handles requests after that, so the socket is closed after the shortest turn that comes.
      for (let turn = 0; turn < MAX_TURNS; turn += 1) {
        const started = performance.now();
        await new Promise(setImmediate);
        if (performance.now() - started < shortTurnMs(turn)) break;
      }
      // `close` of `node:http` would end the idle connections.
      NetServer.prototype.close.call(server);
    },
    close() {
      startClosing();
      for (const { response } of inFlight.all())
        if (response.headersSent && isEventStream(response)) endStream(response);
      return new Promise((resolve) => {
        const cutStreams = setTimeout(() => {
          for (const { response } of inFlight.all()) {
            if (!response.headersSent) continue;
            if (isEventStream(response) && !response.writableEnded) endStream(response);
            else response.destroy();
          }
        }, STREAM_GRACE_MS);
        const cutAll = setTimeout(() => server.closeAllConnections(), ANSWER_GRACE_MS);
        server.close(() => {
          clearTimeout(cutStreams);
          clearTimeout(cutAll);
          resolve();
        });
        server.closeIdleConnections();
        // Node takes a connection without a request for a busy one.
        for (const socket of opened) if (socket.bytesRead === 0) socket.destroy();
      });
    },
  };
}

/** A request whose response has not closed. */
interface InFlight {
  response: ServerResponse;
  /** The template of the route that answers, once it is known. */
  template: string | null;
  /** Runs a function in the trace of the request; null if the request is not traced. */
  inTrace: ReturnType<typeof bindContext> | null;
}

/**
 * A list of slots instead of a Set. V8 makes a new table for a Set every few additions and deletions, and each old table
 * holds the next one and its items: once one is in the old generation, none of the later ones is freed before a full
 * collection, and a server would spend half of its time on those.
 */
function createSlots<Item>() {
  const slots: (Item | null)[] = [];
  const free: number[] = [];
  return {
    /** Returns a function that releases the slot. */
    take(item: Item): () => void {
      const index = free.pop() ?? slots.length;
      slots[index] = item;
      return () => {
        slots[index] = null;
        free.push(index);
      };
    },
    all: () => slots.filter((item) => item !== null),
  };
}

/** Calls `then` after a time, unless the request has come whole or its connection is gone by then. */
function whenLate(request: IncomingMessage, ms: number, then: () => void): void {
  const timer = setTimeout(then, ms);
  request.once('close', () => clearTimeout(timer));
}

/** Calls `then` when all these responses have closed; at once if there are none. */
function afterResponses(inFlight: readonly InFlight[], then: () => void): void {
  let open = inFlight.length;
  for (const { response } of inFlight)
    response.once('close', () => {
      open -= 1;
      if (open === 0) then();
    });
  if (open === 0) then();
}

/**
 * Whether a request asks for a stream before all else, which may be open for hours: each step in it has its own trace, as over
 * a WebSocket. Some clients name streams behind JSON with each query.
 */
function wantsStream({ headers }: IncomingMessage): boolean {
  return /^\s*text\/event-stream/i.test(headers.accept ?? '');
}

/** Ends a stream without `complete`, so that the client reconnects. Some clients treat a reset as an error. */
function endStream(response: ServerResponse): void {
  const { socket } = response;
  // Events that are lost here are sent again after the client's cursor.
  response.on('error', () => undefined);
  response.end(() => socket?.end());
}

/** Resolves when an event stream has closed: the handler of a stream that `Accept` did not name may never end. */
function endOfStream(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', () => {
      if (isEventStream(response)) resolve();
    });
  });
}

/** Traces a request by its template: path and query may contain anything, and headers contain keys. */
function traceRequest(
  context: RequestContext,
  template: string,
  handle: (context: RequestContext) => Promise<void> | void,
): Promise<void> {
  const { method = '', headers } = context.request;
  const parent = typeof headers.traceparent === 'string' ? headers.traceparent : undefined;
  const attributes = { 'http.request.method': method, 'http.route': template };
  return startSpan({ name: `${method} ${template}`, kind: 'server', attributes, parent }, async (span) => {
    const handled = handle({
      ...context,
      setTemplate(name) {
        context.setTemplate?.(name);
        span.rename(`${method} ${name}`);
        span.set({ 'http.route': name });
      },
    });
    await Promise.race([handled, endOfStream(context.response)]);
    span.set({ 'http.response.status_code': context.response.statusCode });
  });
}
