import type { IncomingMessage, ServerResponse } from 'node:http';
import { isEventStream } from '../../api/http/routes.ts';
import type { OnEnd } from '../../api/http/server.ts';
import type { Clock } from '../../kernel/clock.ts';
import { UpstreamError } from '../../kernel/errors.ts';
import type { Log } from '../../state/db/log.ts';
import { FAULT, type Metrics, outcomeOf } from './metrics.ts';

// Fast successful requests are counted and not logged: a line costs more than many responses, and nobody reads a million
// lines. A refusal is counted too, and not logged: the caller has read the reason. An internal fault is logged where it is
// caught.

/** A proxy's id of a request that is safe to log. */
const REQUEST_ID = /^[\w.-]{1,64}$/;

/**
 * Counts each request, and logs those that took `slowMs`. The line has no URL, because its path and its query are the
 * client's text.
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
    const startedAt = clock.ms();
    return (route) => {
      const ms = clock.ms() - startedAt;
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
  /** Finds the operation that a fault occurred in, for its line in the log. */
  operationOf(fault: unknown): { operation?: string };
}

/**
 * Counts each root field of a GraphQL operation, over any transport. Logs those that took `slowMs`, and each mutation that
 * the service behind the facade has not answered.
 */
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
      // Queries are not logged: thousands may fail while the service is away, and the metrics count them.
      if (kind === 'mutation' && error instanceof UpstreamError && error.code !== 'BANK_REFUSED') {
        const has = error.code === 'UPSTREAM_REFUSED' ? 'has refused' : 'did not answer';
        log.warn({ operation, outcome, durationMs: ms }, `the payments service ${has}`);
      } else if (ms >= slowMs) log.info({ operation, outcome, durationMs: ms }, 'an operation was answered');
    },
    operationOf(fault) {
      const operation = fault instanceof Error ? operations.get(fault) : undefined;
      return operation === undefined ? {} : { operation };
    },
  };
}

function requestIdOf({ headers }: IncomingMessage): { requestId?: string } {
  const requestId = headers['x-request-id'];
  return typeof requestId === 'string' && REQUEST_ID.test(requestId) ? { requestId } : {};
}
