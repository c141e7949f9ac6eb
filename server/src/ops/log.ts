import { type DestinationStream, pino } from 'pino';
import type { Log } from '../db/log.ts';
import { traceId } from '../kernel/traces.ts';

/** Members that carry a secret, wherever they stand. Their values never reach a line. */
const SECRETS = [
  'authorization',
  'token',
  'secret',
  'apiKey',
  'card',
  'number',
  'securityCode',
  'pixKey',
  'destination',
  'walletAddress',
  // Of a PostgreSQL error: the row that broke a constraint, with all that is in it.
  'detail',
];

/** Whatever begins like a key of ours or a webhook's secret, in the text of an error. */
const KEYS = /\b(ps_[a-z]+_|whsec_)[\w+/=-]+/g;

/** JSON lines on stderr: stdout is for the person who starts the server. */
export function createLog(destination: DestinationStream = pino.destination(2)): Log {
  return pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // What is done for a request says which one, where traces are written.
      mixin() {
        const id = traceId();
        return id === null ? {} : { traceId: id };
      },
      serializers: { err: (error) => withoutKeys(pino.stdSerializers.err(error)) },
      redact: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`]),
    },
    destination,
  );
}

/** Of an error as it will be written. What is no error, or has no text, stays as it is. */
function withoutKeys(error: unknown): unknown {
  if (typeof error === 'string') return error.replace(KEYS, '$1…');
  if (typeof error !== 'object' || error === null) return error;
  const { message, stack } = error as { message?: unknown; stack?: unknown };
  return {
    ...error,
    ...(typeof message === 'string' && { message: message.replace(KEYS, '$1…') }),
    ...(typeof stack === 'string' && { stack: stack.replace(KEYS, '$1…') }),
  };
}
