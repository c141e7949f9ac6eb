import { type DestinationStream, pino } from 'pino';
import { METHODS } from '../../kernel/payout-methods/registry.ts';
import type { TextPattern } from '../../kernel/text.ts';
import { traceId } from '../../kernel/traces.ts';
import type { Log } from '../../state/db/log.ts';

/** The names of members that hold a secret, down to the fourth level. Their values are never logged. */
const SECRET_MEMBERS = [
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
  'taxId',
  // Holds, in a PostgreSQL error, the whole row that violated a constraint.
  'detail',
];

/** Patterns of payout destinations, from the records of the payout methods: a library's error may repeat one. */
const DESTINATION_PATTERNS = [
  ...new Set(Object.values(METHODS).flatMap(({ destination }) => destination.inText)),
];

/** Patterns of secrets in the text of an error, and their masks: a library's message may repeat a value. */
const SECRET_PATTERNS: readonly TextPattern[] = [
  [/(ps_[a-z]+_|whsec_)[\w+/=-]+/g, '$1…'],
  [/\b(Bearer|Basic) +[\w.~+/=-]+/gi, '$1 …'],
  [/:\/\/[^\s/:@"]*:[^\s/@"]+@/g, '://…@'],
  ...DESTINATION_PATTERNS,
  // Cards.
  [/(?<![\w.:+-])(?:\d{4}(?:[ -]?\d{4}){3}|3[47]\d{2}[ -]?\d{6}[ -]?\d{5})(?![\w:-])/g, '…'],
];

/** Creates the log: JSON lines on stderr, because stdout is for the user who starts the server. */
export function createLog(destination: DestinationStream = stderr()): Log {
  return pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Adds the trace of the request to each line, where traces are written.
      mixin() {
        const id = traceId();
        return id === null ? {} : { traceId: id };
      },
      serializers: { err: (error) => withoutSecrets(pino.stdSerializers.err(error)) },
      redact: SECRET_MEMBERS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`]),
    },
    destination,
  );
}

/** The most bytes of lines that wait for a log that cannot be written. */
const MAX_WAITING_BYTES = 1_000_000;
/** The number of attempts for a slow reader, 100 ms apart; the server waits meanwhile. */
const PATIENCE = 3;
const RETRY_MS = 1_000;

/**
 * Opens stderr. A log that cannot be written, such as on a full disk, neither ends the server nor prevents
 * its end, as a flush at the exit would. The lines wait for an attempt each second, and are dropped beyond a
 * limit.
 */
function stderr(): DestinationStream {
  let patience = PATIENCE;
  let retry: NodeJS.Timeout | undefined;
  const out = pino.destination({
    dest: 2,
    // Without a flush at the exit.
    sync: true,
    maxLength: MAX_WAITING_BYTES,
    retryEAGAIN: () => patience-- > 0,
  });
  out.on('write', () => {
    patience = PATIENCE;
  });
  out.on('error', () => {
    clearTimeout(retry);
    retry = setTimeout(() => out.write(''), RETRY_MS).unref();
  });
  return out;
}

/** Masks the secrets in a serialized error: in every text of it and of its causes. */
function withoutSecrets(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value))
    return depth < MAX_DEPTH ? value.map((each) => withoutSecrets(each, depth + 1)) : '…';
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth === MAX_DEPTH || ArrayBuffer.isView(value)) return '…';
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withoutSecrets(each, depth + 1)]),
  );
}

const MAX_DEPTH = 5;
/** The limit on the characters of one text. */
const MAX_LENGTH = 8_000;

function maskText(text: string): string {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return SECRET_PATTERNS.reduce((rest, [pattern, mask]) => rest.replace(pattern, mask), cut);
}
