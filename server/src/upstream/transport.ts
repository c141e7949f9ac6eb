import { Pool } from 'undici';
import type { Clock } from '../kernel/clock.ts';
import { UpstreamFault, type UpstreamFaultKind } from './upstream.ts';

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** By then the whole answer is there, or there is none. */
  readonly deadline: Date;
  /** Nothing of it is written later. */
  readonly sendBy: Date;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** HTTP to one origin. */
export interface Transport {
  /** One request, written at most once. Whatever comes back whole is an answer, with any status. @throws UpstreamFault */
  exchange(request: WireRequest): Promise<WireAnswer>;
  /** Rejects nothing: once what is under way has ended. */
  close(): Promise<void>;
}

/** More at once wait for a connection, within their deadline. */
const CONNECTIONS = 64;
const ANSWER_MAX_BYTES = 4 * 1024 * 1024;
/**
 * Shorter than the 5 seconds of a server on Node: who closes an idle connection first is us. Where the server says how
 * long it keeps one, the library goes by that. Before it writes to a connection that was idle, it reads what has come
 * over it, so that one which is known to be closed is not written to; what is written counts as sent.
 */
const KEEP_ALIVE_MS = 4_000;

export function createTransport({
  origin,
  clock,
  connectMs,
}: {
  origin: string;
  clock: Clock;
  /** For a connection, TLS included. The library's own timer: nothing has been sent by then. */
  connectMs: number;
}): Transport {
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: connectMs },
    // The deadline is ours, over all of it: a byte now and then would put theirs off for ever.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  function exchange({ method, path, headers, body, deadline, sendBy }: WireRequest): Promise<WireAnswer> {
    return new Promise((resolve, reject) => {
      let abort: ((reason: Error) => void) | null = null;
      let ended = false;
      let status = 0;
      let answerHeaders: Record<string, string> = {};
      const chunks: Buffer[] = [];
      let length = 0;

      const cancelDeadline = clock.schedule(deadline, () => fail('timeout'));

      function fail(kind: UpstreamFaultKind, detail: string | null = null): void {
        if (ended) return;
        ended = true;
        cancelDeadline();
        // The library says when it begins to write; a request of which it has not said so was never sent.
        reject(new UpstreamFault(kind, abort ? 'maybe' : 'no', detail));
        abort?.(new Error('broken off'));
      }

      pool.dispatch(
        { method: method as 'GET', path, headers, body },
        {
          onRequestStart(controller) {
            // Given up while it waited for a connection, or a second time: not a byte of it is written.
            if (!ended && !abort && clock.now() <= sendBy) {
              abort = (reason) => controller.abort(reason);
              return;
            }
            fail(abort ? 'reset' : 'timeout');
            controller.abort(new Error('not to be sent'));
          },
          onResponseStart(_, statusCode, received) {
            status = statusCode;
            answerHeaders = Object.fromEntries(
              Object.entries(received).map(([name, value]) => [
                name.toLowerCase(),
                Array.isArray(value) ? value.join(', ') : String(value ?? ''),
              ]),
            );
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
            resolve({ status, headers: answerHeaders, body: Buffer.concat(chunks) });
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

  return { exchange, close: () => pool.close() };
}

/** Of an error nothing else is kept: its message names the address. */
function codeOf(error: Error & { code?: unknown }): string | null {
  return typeof error.code === 'string' ? error.code : null;
}
