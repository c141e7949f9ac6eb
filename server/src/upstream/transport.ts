import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { Pool } from 'undici';
import type { Clock } from '../kernel/clock.ts';
import { UpstreamFault, type UpstreamFaultKind } from './upstream.ts';

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The time by which the whole answer has to arrive. */
  readonly deadline: Date;
  /** The time after which no part of the request is written. */
  readonly sendBy: Date;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A pool of HTTP connections to one origin. */
export interface Transport {
  /**
   * Sends one request, which is written at most once. An answer with any status resolves. @throws
   * UpstreamFault
   */
  exchange(request: WireRequest): Promise<WireAnswer>;
  /** Closes the connections, once the requests under way have ended. It rejects none of them. */
  close(): Promise<void>;
}

/** The number of connections; further requests wait for one, within their deadline. */
const CONNECTIONS = 64;
const ANSWER_MAX_BYTES = 4 * 1024 * 1024;
/** The codings that an answer may have. Without the request header a proxy may use any. */
const DECODERS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};
/** The codings that are undone one after the other: a service has one, and a proxy adds one. Each costs as much as the largest answer. */
const MAX_CODINGS = 2;
export const ACCEPT_ENCODING = 'gzip, br';
/**
 * The time for which an idle connection is kept open: shorter than the 5 seconds of a server on Node, so that
 * this side closes first. If the server names its time, the library uses that. Before the library writes to
 * an idle connection, it reads from it, so that nothing is written to a closed one. A request counts as sent
 * once anything was written.
 */
const KEEP_ALIVE_MS = 4_000;

export function createTransport({
  origin,
  clock,
  connectMs,
}: {
  origin: string;
  clock: Clock;
  /** The longest time to connect, TLS included, by the library's own timer: before that nothing is sent. */
  connectMs: number;
}): Transport {
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: connectMs },
    // One deadline covers the exchange: with the library's own timer, an occasional byte would restart it for
    // ever.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  function exchange({ method, path, headers, body, deadline, sendBy }: WireRequest): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      let abort: ((reason: Error) => void) | null = null;
      let ended = false;
      let status = 0;
      const answerHeaders: Record<string, string> = {};
      const chunks: Buffer[] = [];
      let length = 0;

      const cancelDeadline = clock.schedule(deadline, () => fail('timeout'));

      function fail(kind: UpstreamFaultKind, detail: string | null = null): void {
        if (ended) return;
        ended = true;
        cancelDeadline();
        // The library reports when it begins to write; a request that fails before that was never sent.
        reject(new UpstreamFault(kind, abort ? 'maybe' : 'no', detail));
        abort?.(new Error('broken off'));
      }

      pool.dispatch(
        { method: method as 'GET', path, headers, body },
        {
          onRequestStart(controller) {
            // A request that was given up while it waited for a connection, or comes a second time, is not
            // written at all.
            if (!ended && !abort && clock.now() <= sendBy) {
              abort = (reason) => controller.abort(reason);
              return;
            }
            fail(abort ? 'reset' : 'timeout');
            controller.abort(new Error('not to be sent'));
          },
          onResponseStart(_, statusCode, rawHeaders) {
            status = statusCode;
            // The library gives the names in lower case.
            for (const name in rawHeaders) {
              const value = rawHeaders[name];
              answerHeaders[name] = Array.isArray(value) ? value.join(', ') : (value ?? '');
            }
          },
          onResponseData(_, chunk) {
            length += chunk.length;
            if (length > ANSWER_MAX_BYTES) fail('unreadable', 'too large');
            else chunks.push(chunk);
          },
          onResponseEnd() {
            if (ended) return;
            ended = true;
            cancelDeadline();
            const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
            const answer = { status, headers: answerHeaders, body };
            resolve(answerHeaders['content-encoding'] ? decode(answer) : answer);
          },
          onResponseError(_, error) {
            const code = codeOf(error);
            if (!abort) fail('unreachable', code);
            else if (status >= 500) fail('server_error', String(status));
            else fail(error.name === 'HTTPParserError' ? 'unreadable' : 'reset', code);
          },
        },
      );
    });
  }

  return {
    exchange,
    close: () => pool.close(),
  };
}

/**
 * Decodes the body of an answer; a refusal may stay undecoded. @throws UpstreamFault if a success cannot
 * be read
 */
async function decode(answer: WireAnswer): Promise<WireAnswer> {
  // Codings are undone in the reverse order of their application.
  const codings = (answer.headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(/\s*,\s*/)
    .reverse();
  let { body } = answer;
  try {
    if (codings.length > MAX_CODINGS) throw new Error('too many codings');
    for (const coding of codings) {
      if (coding === '' || coding === 'identity' || body.length === 0) continue;
      if (!Object.hasOwn(DECODERS, coding)) throw new Error(`no decoder for ${coding}`);
      const decoder = DECODERS[coding as keyof typeof DECODERS];
      body = await decoder(body, { maxOutputLength: ANSWER_MAX_BYTES });
    }
    return { ...answer, body };
  } catch {
    if (answer.status >= 300) return answer;
    throw new UpstreamFault('unreadable', 'maybe', 'not decodable');
  }
}

/** The code of an error, for the log; its message would name the address. */
function codeOf(error: Error & { code?: unknown }): string | null {
  return typeof error.code === 'string' ? error.code : null;
}
