import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../db/log.ts';
import { isEventStream } from '../http/routes.ts';
import type { OnEnd } from '../http/server.ts';
import type { Clock } from '../kernel/clock.ts';
import { FAULT, type Metrics, outcomeOf } from './metrics.ts';

// What went well and fast is counted and not written down: a line costs more than many an answer, and nobody reads a
// million of them. A refusal is the caller's affair, who has read the reason, and it is counted too. An internal fault
// has its line where it is caught.

/** A proxy's name for a request, if it is one that can stand in a line. */
const REQUEST_ID = /^[\w.-]{1,64}$/;

/**
 * Counts each exchange, and logs those that took `slowMs`. The line has no URL, for its path and its query are the
 * client's.
 */
export function createRequestLog({
  metrics,
  clock,
  log,
  slowMs,
}: {
  metrics: Pick<Metrics, 'onAnswer'>;
  clock: Pick<Clock, 'ms'>;
  log: Log;
  slowMs: number;
}): (request: IncomingMessage, response: ServerResponse) => OnEnd {
  return (request, response) => {
    const begunAt = clock.ms();
    return (route) => {
      const ms = clock.ms() - begunAt;
      const status = response.writableFinished ? response.statusCode : null;
      const isStream = isEventStream(response);
      metrics.onAnswer(route, status, isStream ? null : ms);
      if (isStream || ms < slowMs) return;
      const line = { method: request.method, route, status, durationMs: ms, ...requestIdOf(request) };
      log.info(line, 'a request was answered');
    };
  };
}

export interface FieldLog {
  readonly onRootField: Metrics['onRootField'];
  /** In which operation a fault has come up, for its line. */
  operationOf(fault: unknown): { operation?: string };
}

/**
 * The same of each root field of a GraphQL operation, over whatever it came, and of each change that the service
 * behind has not answered. */
export function createFieldLog({
  metrics,
  log,
  slowMs,
}: {
  metrics: Pick<Metrics, 'onRootField'>;
  log: Log;
  slowMs: number;
}): FieldLog {
  const operations = new WeakMap<Error, string>();
  return {
    onRootField(kind, field, error, ms) {
      metrics.onRootField(kind, field, error, ms);
      if (error === null && ms < slowMs) return;
      const operation = `${kind} ${field}`;
      const outcome = outcomeOf(error);
      if (outcome === FAULT && error instanceof Error) operations.set(error, operation);
      // Of what only reads there may be thousands while the service is away; the figures say so.
      if (outcome === 'UPSTREAM_UNAVAILABLE' && kind === 'mutation')
        log.warn({ operation, outcome, durationMs: ms }, 'the payments service did not answer');
      else if (ms >= slowMs) log.info({ operation, outcome, durationMs: ms }, 'an operation was answered');
    },
    operationOf(fault) {
      const operation = fault instanceof Error ? operations.get(fault) : undefined;
      return operation === undefined ? {} : { operation };
    },
  };
}

function requestIdOf({ headers }: IncomingMessage): { requestId?: string } {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? { requestId: given } : {};
}
