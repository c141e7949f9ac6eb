import { isAscii } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../../kernel/error-codes.ts';
import { describeOutage, type OutageError } from '../../kernel/errors.ts';
import { compressResponse, encodingFor, isCompressible, MIN_COMPRESSED_BYTES } from './compression.ts';

/** A request and its response, as a route gets them. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** The named groups of the route's path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Sets the template of the operation's path for metrics and traces, if one route has several operations. */
  readonly setTemplate?: (template: string) => void;
}

/** Paths are anchored regular expressions with named groups; the first route that matches answers. */
export interface Route {
  readonly methods: readonly string[];
  readonly path: RegExp;
  /** Whether the route sends `NO_SNIFFING` itself: writing a head takes three times as long after a `setHeader`. */
  readonly writesHead?: boolean;
  handle(context: RequestContext): Promise<void> | void;
}

/** A header of every response. */
export const NO_SNIFFING = ['x-content-type-options', 'nosniff'] as const;

/** Whether a response, whose head is written, is an event stream, which may be open for hours. */
export function isEventStream(response: ServerResponse): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}

/** A refusal of HTTP itself, before any operation has run. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly code: ErrorCode;
  constructor(
    status: number,
    message: string,
    headers: Record<string, string> = {},
    code: ErrorCode = CODES[status] ?? 'BAD_USER_INPUT',
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.code = code;
  }
}

/** The code of a status; `BAD_USER_INPUT` for any other. */
const CODES: Partial<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  // The simulator alone answers 409, such as for a payment that has no code.
  409: 'NOT_PAYABLE',
  429: 'RATE_LIMITED',
  503: 'UNAVAILABLE',
};

/** The refusal of an address that no route has. */
export function noRoute(): HttpError {
  return new HttpError(404, 'Not found', {}, 'ROUTE_NOT_FOUND');
}

/** The headers of the response to an outage. */
export function retryHeaders(outage: OutageError): Record<string, string> {
  const { retryAfterSeconds } = describeOutage(outage);
  return retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) };
}

/**
 * Reads a whole body of at most `limitBytes` as text, chunked or not.
 * @throws HttpError 413, 400 (not UTF-8, or cut off)
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<string> {
  return read(request, limitBytes, textOf);
}

function textOf(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  try {
    return UTF_8.decode(bytes);
  } catch {
    throw new HttpError(400, 'The body is not UTF-8');
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a whole body of at most `limitBytes`, chunked or not.
 * @throws HttpError 413, 400 (cut off)
 */
export function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return read(request, limitBytes, (bytes) => bytes);
}

function read<Result>(
  request: IncomingMessage,
  limitBytes: number,
  resultOf: (bytes: Buffer) => Result,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const tooLarge = () =>
      reject(new HttpError(413, `The body must have at most ${limitBytes} bytes`, { connection: 'close' }));
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) return tooLarge();
    const cutOff = () => {
      // `close` follows each request, also one that was read whole, and creating an error is slow.
      if (!request.readableEnded) reject(new HttpError(400, 'The body was cut off'));
    };
    if (request.destroyed) return cutOff();
    let first: Buffer | null = null;
    let chunks: Buffer[] | null = null;
    let length = 0;
    // Listeners are faster than an async iteration over the chunks: that takes as long as the rest of a small request.
    request
      .on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > limitBytes) {
          request.pause();
          tooLarge();
        } else if (first === null) first = chunk;
        else {
          chunks ??= [first];
          chunks.push(chunk);
        }
      })
      .on('end', () => {
        try {
          resolve(resultOf(chunks ? Buffer.concat(chunks) : (first ?? Buffer.alloc(0))));
        } catch (error) {
          reject(error);
        }
      })
      .on('error', cutOff)
      .on('close', cutOff);
  });
}

/** Sends a whole response. A long text is compressed if the client accepts that, and is then sent a little later. */
export function send(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  const isLong = Buffer.byteLength(body) >= MIN_COMPRESSED_BYTES && isCompressible(headers['content-type']);
  if (!isLong || 'content-encoding' in headers) {
    sendWhole(response, status, body, headers);
    return;
  }
  const varying = { vary: 'accept-encoding', ...headers };
  const encoding = encodingFor(response.req);
  if (!encoding) {
    sendWhole(response, status, body, varying);
    return;
  }
  compressResponse(body, encoding).then(
    (compressed) => sendWhole(response, status, compressed, { ...varying, 'content-encoding': encoding }),
    () => sendWhole(response, status, body, varying),
  );
}

function sendWhole(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string>,
): void {
  response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
  response.end(body);
}

/**
 * Ends a response, whose head is written, together with all others that are ready in this turn of the event loop. A write
 * wakes the reader, which takes as long as the rest of a small response: a client with several requests in flight is woken
 * once, and reads the others while it is awake.
 */
export function endBatched(response: ServerResponse, { content, bytes }: Payload): void {
  if (batch.length === 0) setImmediate(flushBatch);
  // ASCII text has the same bytes in both encodings, and for UTF-8 Node allocates three times its length.
  batch.push({ response, content, encoding: bytes === content.length ? 'latin1' : 'utf8' });
}

/** The body of a response. A long one that is sent often is cheaper as bytes, a short one as text. */
export interface Payload {
  readonly content: string | Buffer;
  readonly bytes: number;
}

let batch: { response: ServerResponse; content: string | Buffer; encoding: 'latin1' | 'utf8' }[] = [];

function flushBatch(): void {
  const all = batch;
  batch = [];
  for (const { response, content, encoding } of all) response.end(content, encoding);
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
