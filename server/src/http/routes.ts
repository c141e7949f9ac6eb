import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request and its answer, as a route gets them. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** What the named groups of the route's path matched, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Says which of several operations of one route it is, as a template of its path, for figures and traces. */
  readonly named?: (template: string) => void;
}

/** Paths are anchored regular expressions with named groups; the first route that matches answers. */
export interface Route {
  readonly methods: readonly string[];
  readonly path: RegExp;
  handle(exchange: Exchange): Promise<void> | void;
}

/** A request that HTTP itself has an answer for. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/**
 * The whole body as text, if it has at most `limitBytes`, chunked or not.
 * @throws HttpError 413, 400 (not UTF-8, or cut off)
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<string> {
  const bytes = await readBytes(request, limitBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new HttpError(400, 'The body is not UTF-8');
  }
}

/**
 * The whole body as it came, if it has at most `limitBytes`, chunked or not.
 * @throws HttpError 413, 400 (cut off)
 */
export async function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const tooLarge = () =>
    new HttpError(413, `The body must have at most ${limitBytes} bytes`, { connection: 'close' });
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limitBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof HttpError ? error : new HttpError(400, 'The body was cut off');
  }
  return Buffer.concat(chunks);
}

export function send(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
  response.end(body);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  send(response, status, JSON.stringify(body), {
    'content-type': 'application/json; charset=utf-8',
    ...headers,
  });
}
