import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createNetServer, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { describeOutage, OutageError } from '../kernel/errors.ts';
import { createLRUCache } from '../kernel/lru-cache.ts';
import { bindContext, isTracing, startSpan } from '../kernel/traces.ts';
import {
  HttpError,
  isEventStream,
  NO_SNIFFING,
  type RequestContext,
  type Route,
  retryHeaders,
  sendJson,
} from './routes.ts';

export interface HttpServer {
  readonly server: Server;
  /** From now on these answer; before, everything is answered with 503. */
  serve(routes: readonly Route[]): void;
  /** Resolves with the port once listening; rejects where the address cannot be had. */
  listen(port: number, host: string): Promise<number>;
  /**
   * Takes no more connections, and ends each that there is with its next answer. One that rests is left: a proxy may be
   * sending a request on it at this moment. `close` follows when the proxies have let go of those.
   */
  stopListening(): Promise<void>;
  /** Takes no more connections, lets answers under way end, closes what is idle. */
  close(): Promise<void>;
}

/** After this a stream that was just being opened is ended too, and one whose client does not take its end is cut off. */
const STREAM_GRACE_MS = 1_000;

/** How long a client may take, in milliseconds. */
export interface Deadlines {
  /** To send the head of a request, from its first byte or from the connection on. */
  headMs: number;
  /** To send all of it. */
  requestMs: number;
  /** How often these two are looked at. */
  checkMs: number;
  /** To take anything of an answer; event streams have a comment every 12 seconds. */
  stalledMs: number;
}

const DEADLINES: Deadlines = { headMs: 10_000, requestMs: 30_000, checkMs: 2_000, stalledMs: 120_000 };

/** So long a connection may rest. Proxies keep theirs for a minute: who closes later never resets a request on its way. */
const KEEP_ALIVE_MS = 72_000;

/** What is no request is answered by the parser's complaint; anything else is a 400. */
const MALFORMED: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** The route's path as a template: `/checkout/{orderCode}`; null where there is none. */
export type OnEnd = (route: string | null) => void;

/** One `node:http` server over all routes. What a route throws is answered here, and only here. */
export function createHttpServer({
  onFault,
  onRequest,
  deadlines = {},
}: {
  onFault: (error: unknown, request: IncomingMessage) => void;
  /** What it returns is told when the exchange is over, and by which route, if any. Must not throw. */
  onRequest?: ((request: IncomingMessage, response: ServerResponse) => OnEnd) | undefined;
  /** In place of the usual ones. */
  deadlines?: Partial<Deadlines> | undefined;
}): HttpServer {
  let routes: readonly { route: Route; template: string }[] | null = null;
  const inFlight = createSlots<InFlight>();
  let closing = false;
  const { headMs, requestMs, checkMs, stalledMs } = { ...DEADLINES, ...deadlines };
  const timeouts = {
    headersTimeout: headMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server = createServer(timeouts, (request, response) => {
    const own: InFlight = { response, template: null, inTrace: null };
    const leave = inFlight.take(own);
    const onEnd = onRequest?.(request, response);
    response.once('close', () => {
      leave();
      // Its head may have gone out before the stop, and promised the client to keep the connection.
      if (closing && !isBusy(request.socket)) request.socket.end();
      if (own.inTrace) own.inTrace(() => onEnd?.(own.template));
      else onEnd?.(own.template);
    });
    if (closing) response.setHeader('connection', 'close');
    const refuse = (error: unknown) => {
      if (!(error instanceof HttpError)) onFault(error, request);
      if (response.headersSent) return response.destroy();
      response.setHeader(...NO_SNIFFING);
      const { status, message, headers } = error instanceof HttpError ? error : errorResponse(error);
      sendJson(response, status, { error: message }, headers);
    };
    try {
      dispatch(request, own)?.catch(refuse);
    } catch (error) {
      refuse(error);
    }
  });
  server.setTimeout(stalledMs);
  /** Whatever comes on them behind what is no request is none either. */
  const malformed = new WeakSet<Duplex>();
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    if (code === 'ECONNRESET' || !socket.writable) return socket.destroy();
    if (malformed.has(socket)) return;
    // Requests before it have their answers first: whoever sent them takes the first answer for that to the first.
    const before = inFlight.all().filter(({ response: { req } }) => req.socket === socket && req.complete);
    // What was slow may still come, and be done: then nothing is said of it, which is the truth.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && before.length > 0) return socket.destroy();
    malformed.add(socket);
    afterResponses(before, () => {
      if (socket.writable) endSocket(socket, MALFORMED[code ?? ''] ?? '400 Bad Request');
    });
  });

  // HTTP allows a server to ignore an upgrade: the request is answered as if it had not asked.
  server.on('upgrade', (request, socket, head) => {
    // While the server starts nobody else listens.
    if (isWebSocket(request) && server.listenerCount('upgrade') > 1) return;
    const destroy = () => socket.destroy();
    socket.on('error', destroy);
    const before = inFlight.all().filter(({ response: { req } }) => req.socket === socket);
    afterResponses(before, () => {
      if (socket.destroyed) return;
      // From here on HTTP listens to it, as to any connection.
      socket.off('error', destroy);
      socket.unshift(Buffer.concat([headWithoutUpgrade(request), head]));
      server.emit('connection', socket);
    });
  });

  const isBusy = (socket: Duplex) => inFlight.all().some(({ response: { req } }) => req.socket === socket);

  function dispatch(request: IncomingMessage, own: InFlight): Promise<void> | void {
    const { response } = own;
    if (!routes) throw new HttpError(503, 'Starting', { 'retry-after': '1' });
    const url = requestUrl(request);
    const allowed: string[] = [];
    for (const { route, template } of routes) {
      const match = route.path.exec(url.pathname);
      if (!match) continue;
      if (route.methods.includes(request.method ?? '')) {
        if (!route.writesHead) response.setHeader(...NO_SNIFFING);
        const params = decodeParams(match.groups);
        if (params) {
          const setTemplate = (name: string) => {
            own.template = name;
          };
          setTemplate(template);
          const context: RequestContext = { request, response, url, params, setTemplate };
          if (!isTracing() || wantsStream(request)) return route.handle(context);
          return traceRequest(context, template, (traced) => {
            own.inTrace = bindContext();
            return route.handle(traced);
          });
        }
      }
      allowed.push(...route.methods);
    }
    if (allowed.length === 0) throw new HttpError(404, 'Not found');
    throw new HttpError(405, 'Method not allowed', { allow: [...new Set(allowed)].join(', ') });
  }

  /** A client that keeps its connection would send the next request on it, until it is cut off in the middle of one. */
  function startClosing(): void {
    closing = true;
    for (const { response } of inFlight.all())
      if (!response.headersSent) response.setHeader('connection', 'close');
  }

  return {
    server,
    serve(all) {
      routes = all.map((route) => ({ route, template: templateOf(route.path) }));
    },
    listen: (port, host) => listening(server, port, host),
    async stopListening() {
      startClosing();
      // What the system has taken until now is taken first: the loop has just looked, and has looked at all of it.
      await new Promise(setImmediate);
      // HTTP's own `close` would end the connections that rest.
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
      });
    },
  };
}

/** The answer to an outage or to a fault. */
function errorResponse(error: unknown) {
  if (!(error instanceof OutageError)) return { status: 500, message: 'Internal error', headers: {} };
  return { ...describeOutage(error), headers: retryHeaders(error) };
}

/** Resolves with the port. */
function listening(server: NetServer, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/**
 * Rejects as `listen` would, as far as that can be known without listening there: who connects is not answered yet.
 * @throws where the host is not this machine, or somebody listens on the port
 */
export async function assertAvailable(port: number, host: string): Promise<void> {
  const elsewhere = createNetServer();
  await listening(elsewhere, 0, host);
  await new Promise((resolve) => elsewhere.close(resolve));
  const isTaken = await new Promise<boolean>((resolve) => {
    const probe = connect(port, host);
    const answer = (is: boolean) => () => {
      probe.destroy();
      resolve(is);
    };
    probe.once('connect', answer(true)).once('error', answer(false)).setTimeout(PROBE_MS, answer(false));
  });
  if (!isTaken) return;
  const inUse = new Error(`listen EADDRINUSE: address already in use ${host}:${port}`);
  throw Object.assign(inUse, { code: 'EADDRINUSE', syscall: 'listen', address: host, port });
}

const PROBE_MS = 1_000;

interface InFlight {
  response: ServerResponse;
  /** Of the route that answers, once that is known. */
  template: string | null;
  /** Of one that is traced. */
  inTrace: ReturnType<typeof bindContext> | null;
}

/**
 * Of a Set that something is added to and deleted from at each request V8 makes a new table every few requests, and each
 * old one keeps the next and what was in it: once one of them is old, nothing behind it is freed until all the memory
 * is looked through, and a server spends half of its time on that.
 */
function createSlots<Item>() {
  const places: (Item | null)[] = [];
  const free: number[] = [];
  return {
    /** Returns what gives the place up. */
    take(item: Item): () => void {
      const place = free.pop() ?? places.length;
      places[place] = item;
      return () => {
        places[place] = null;
        free.push(place);
      };
    },
    all: () => places.filter((item) => item !== null),
  };
}

/** Calls it when all of these are over; at once where there is none. */
function afterResponses(exchanges: readonly InFlight[], then: () => void): void {
  let left = exchanges.length;
  for (const { response } of exchanges)
    response.once('close', () => {
      left -= 1;
      if (left === 0) then();
    });
  if (left === 0) then();
}

/** Whether a request asks for the one protocol that is spoken here beside HTTP. */
export function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** The request's head as it came, but for what asks for another protocol. */
function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (UPGRADE_HEADERS.test(name)) continue;
    const rest = /^connection$/i.test(name)
      ? value
          .split(',')
          .filter((option) => !UPGRADE_HEADERS.test(option.trim()))
          .join(',')
      : value;
    head += `${name}: ${rest}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, 'latin1');
}

const UPGRADE_HEADERS = /^(?:upgrade|http2-settings)$/i;

/** `/checkout/{orderCode}/status`, of a route's path: what it is called where its values must not be. */
function templateOf(path: RegExp): string {
  return path.source
    .replace(/^\^|\$$/g, '')
    .replace(/\(\?<(\w+)>(?:[^()]|\([^()]*\))*\)/g, '{$1}')
    .replace(/\(\?:[^()]*\)/g, '')
    .replaceAll('\\', '');
}

/** It may be open for hours, which is no step of anything: what is begun in it is a trace of its own, as over a WebSocket. */
function wantsStream({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes('text/event-stream') === true;
}

/** Ended without `complete`, which tells a client to come back; broken off, it would be a fault to some. */
function endStream(response: ServerResponse): void {
  const { socket } = response;
  // What is still written to it comes again behind the client's cursor.
  response.on('error', () => undefined);
  response.end(() => socket?.end());
}

/** The path and the query may hold anything; the headers hold keys. */
function traceRequest(
  exchange: RequestContext,
  template: string,
  handle: (exchange: RequestContext) => Promise<void> | void,
): Promise<void> {
  const { method = '', headers } = exchange.request;
  const parent = typeof headers.traceparent === 'string' ? headers.traceparent : undefined;
  const attributes = { 'http.request.method': method, 'http.route': template };
  return startSpan({ name: `${method} ${template}`, kind: 'server', attributes, parent }, async (step) => {
    await handle({
      ...exchange,
      setTemplate(name) {
        exchange.setTemplate?.(name);
        step.rename(`${method} ${name}`);
        step.set({ 'http.route': name });
      },
    });
    step.set({ 'http.response.status_code': exchange.response.statusCode });
  });
}

/** The last word on a connection that HTTP has let go of. A client that never closes its side does not keep it. */
export function endSocket(socket: Duplex, status: string): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
}

/** What was begun is to be answered, for it may have been done already; but it may hang. */
const ANSWER_GRACE_MS = 5_000;

/**
 * Nobody may change it: the next request of the same path gets the same.
 * @throws HttpError for a path or a host that is none: whoever makes a URL of the two behind here may rely on it
 */
function requestUrl({ url = '/', headers: { host = '' }, rawHeaders }: IncomingMessage): URL {
  // Node reads the first, and a proxy in front of it may have read the second.
  if (countHosts(rawHeaders) > 1) throw new HttpError(400, 'Two Host headers');
  const known = urls.get(url) ?? parseUrl(url);
  if (host !== '' && !hosts.get(host)) {
    if (!URL.canParse(`http://${host}`)) throw new HttpError(400, 'Malformed Host');
    hosts.set(host, true);
  }
  return known;
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === 'host') count += 1;
  return count;
}

function parseUrl(url: string): URL {
  if (!URL.canParse(url, 'http://localhost')) throw new HttpError(400, 'Malformed URL');
  const parsed = new URL(url, 'http://localhost');
  if (url.length <= MAX_CACHED_LENGTH) urls.set(url, parsed);
  return parsed;
}

const MAX_CACHED_LENGTH = 100;
const URL_BYTES = 2_000;
const urls = createLRUCache<URL>(200_000, () => URL_BYTES);
const hosts = createLRUCache<true>(50_000);

const NO_PARAMS = {};

function decodeParams(groups: Record<string, string> | undefined): Record<string, string> | null {
  if (!groups) return NO_PARAMS;
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value ?? '')]),
    );
  } catch {
    return null;
  }
}
