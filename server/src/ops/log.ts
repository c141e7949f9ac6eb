import { type DestinationStream, pino } from 'pino';
import type { Log } from '../db/log.ts';

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

/** JSON lines on stderr: stdout is for the person who starts the server. */
export function createLog(destination: DestinationStream = pino.destination(2)): Log {
  return pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`]),
    },
    destination,
  );
}
