import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../db/log.ts';
import type { OnEnd } from '../http/server.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Metrics, outcomeOf } from './metrics.ts';

// What went well and fast is counted and not written down: a line costs more than many an answer, and nobody reads a
// million of them. What was refused is the caller's affair, who was told why, and it is counted too.

/** A proxy's name for a request, if it is one that can stand in a line. */
const REQUEST_ID = /^[\w.-]{1,64}$/;

/**
 * Told of each exchange: counts it, and writes a line of those that took `slowMs` or ended with a fault of ours. No URL
 * is in it, for its path and its query are the client's.
 */
export function createRequestLog({
  metrics,
  clock,
  log,
  slowMs,
}: {
  metrics: Pick<Metrics, 'onAnswer'>;
  clock: Pick<Clock, 'now'>;
  log: Log;
  slowMs: number;
}): (request: IncomingMessage, response: ServerResponse) => OnEnd {
  return (request, response) => {
    const begunAt = clock.now().getTime();
    return (route) => {
      const ms = clock.now().getTime() - begunAt;
      const status = response.writableFinished ? response.statusCode : null;
      // A stream is open for as long as somebody wants it.
      const isStream = String(response.getHeader('content-type')).startsWith('text/event-stream');
      metrics.onAnswer(route, status, isStream ? null : ms);
      // Without a route there was nobody yet to fail.
      const failed = route !== null && status !== null && status >= 500;
      if (!failed && (isStream || ms < slowMs)) return;
      const line = {
        method: request.method,
        route,
        status,
        durationMs: ms,
        ...requestIdOf(request),
      };
      if (failed) log.warn(line, 'a request failed');
      else log.info(line, 'a request was answered');
    };
  };
}

/** The same of each root field of a GraphQL operation, over whatever it came. */
export function createFieldLog({
  metrics,
  log,
  slowMs,
}: {
  metrics: Pick<Metrics, 'onRootField'>;
  log: Log;
  slowMs: number;
}): Metrics['onRootField'] {
  return (kind, field, error, ms) => {
    metrics.onRootField(kind, field, error, ms);
    const outcome = error === null ? 'ok' : outcomeOf(error);
    const failed = outcome === 'INTERNAL_SERVER_ERROR' || outcome === 'UPSTREAM_UNAVAILABLE';
    if (!failed && ms < slowMs) return;
    const line = { kind, field, outcome, durationMs: ms };
    if (failed) log.warn(line, 'an operation failed');
    else log.info(line, 'an operation was answered');
  };
}

function requestIdOf({ headers }: IncomingMessage): { requestId?: string } {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? { requestId: given } : {};
}
