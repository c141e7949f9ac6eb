import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HttpError, type Route, sendJson } from './routes.ts';

export interface HttpServer {
  readonly server: Server;
  /** From now on these answer; before, everything is answered with 503. */
  serve(routes: readonly Route[]): void;
  /** Resolves with the port once listening; rejects where the address cannot be had. */
  listen(port: number, host: string): Promise<number>;
  /** Takes no more connections, lets answers under way end, closes what is idle. */
  close(): Promise<void>;
}

/** Event streams never end by themselves, and an answer may hang: after this they are cut off. */
const GRACE_MS = 1_000;

/** What is no request is answered by the parser's complaint; anything else is a 400. */
const MALFORMED: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** One `node:http` server over all routes. What a route throws is answered here, and only here. */
export function createHttpServer({
  onFault,
}: {
  onFault: (error: unknown, request: IncomingMessage) => void;
}): HttpServer {
  let routes: readonly Route[] | null = null;
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!(error instanceof HttpError)) onFault(error, request);
      if (response.headersSent) return response.destroy();
      const { status, message, headers } =
        error instanceof HttpError ? error : { status: 500, message: 'Internal error', headers: {} };
      sendJson(response, status, { error: message }, headers);
    });
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    if (code === 'ECONNRESET' || !socket.writable) return socket.destroy();
    socket.end(`HTTP/1.1 ${MALFORMED[code ?? ''] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('x-content-type-options', 'nosniff');
    if (!routes) throw new HttpError(503, 'Starting', { 'retry-after': '1' });
    const url = requestUrl(request);
    const allowed = new Set<string>();
    for (const route of routes) {
      const match = route.path.exec(url.pathname);
      if (!match) continue;
      if (route.methods.includes(request.method ?? '')) {
        const params = decodeParams(match.groups);
        if (params) return route.handle({ request, response, url, params });
      }
      for (const method of route.methods) allowed.add(method);
    }
    if (allowed.size === 0) throw new HttpError(404, 'Not found');
    throw new HttpError(405, 'Method not allowed', { allow: [...allowed].join(', ') });
  }

  return {
    server,
    serve(all) {
      routes = all;
    },
    listen(port, host) {
      return new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve((server.address() as AddressInfo).port);
        });
      });
    },
    close() {
      return new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      });
    },
  };
}

function requestUrl(request: IncomingMessage): URL {
  try {
    return new URL(request.url ?? '/', 'http://localhost');
  } catch {
    throw new HttpError(400, 'Malformed URL');
  }
}

function decodeParams(groups: Record<string, string> | undefined): Record<string, string> | null {
  try {
    return Object.fromEntries(
      Object.entries(groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value ?? '')]),
    );
  } catch {
    return null;
  }
}
