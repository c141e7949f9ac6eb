import { isAscii } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeOutage, type OutageError } from '../kernel/errors.ts';

/** One request and its answer, as a route gets them. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** What the named groups of the route's path matched, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Says which of several operations of one route it is, as a template of its path, for figures and traces. */
  readonly setTemplate?: (template: string) => void;
}

/** Paths are anchored regular expressions with named groups; the first route that matches answers. */
export interface Route {
  readonly methods: readonly string[];
  readonly path: RegExp;
  /** It sends `NO_SNIFFING` itself: what is set before a head is written makes that take three times as long. */
  readonly writesHead?: boolean;
  handle(exchange: RequestContext): Promise<void> | void;
}

/** With every answer. */
export const NO_SNIFFING = ['x-content-type-options', 'nosniff'] as const;

/** Of an answer whose head is written: it may be open for hours. */
export function isEventStream(response: ServerResponse): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
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

/** The headers of the answer to an outage. */
export function retryHeaders(outage: OutageError): Record<string, string> {
  const { retryAfterSeconds } = describeOutage(outage);
  return retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) };
}

/**
 * The whole body as text, if it has at most `limitBytes`, chunked or not.
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
 * The whole body as it came, if it has at most `limitBytes`, chunked or not.
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
      // It closes in any case, and an error takes long to make.
      if (!request.readableEnded) reject(new HttpError(400, 'The body was cut off'));
    };
    if (request.destroyed) return cutOff();
    let only: Buffer | null = null;
    let chunks: Buffer[] | null = null;
    let length = 0;
    // An iteration over its chunks takes as long as all else that is done for a small request.
    request
      .on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > limitBytes) {
          request.pause();
          tooLarge();
        } else if (only === null) only = chunk;
        else {
          chunks ??= [only];
          chunks.push(chunk);
        }
      })
      .on('end', () => {
        try {
          resolve(resultOf(chunks ? Buffer.concat(chunks) : (only ?? Buffer.alloc(0))));
        } catch (error) {
          reject(error);
        }
      })
      .on('error', cutOff)
      .on('close', cutOff);
  });
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

/**
 * Ends the answer, whose head is written, together with all that are ready in this turn of the event loop, behind the last
 * of them. A write wakes who waits for it, which costs as much as the rest of a small answer: a client with several
 * requests under way is woken once, and finds what comes behind it while it is awake.
 */
export function endBatched(response: ServerResponse, { content, bytes }: Payload): void {
  if (batch.length === 0) setImmediate(flushBatch);
  // As bytes of ASCII the two are the same, and of UTF-8 Node makes room for three times as many before it looks.
  batch.push({ response, content, encoding: bytes === content.length ? 'latin1' : 'utf8' });
}

/** What is sent, and how many bytes that are. A long one that is sent often costs less as bytes, a short one as text. */
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
