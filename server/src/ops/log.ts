import { type DestinationStream, pino } from 'pino';
import type { Log } from '../db/log.ts';
import type { TextPattern } from '../kernel/text.ts';
import { traceId } from '../kernel/traces.ts';
import { METHODS } from '../payouts/methods/registry.ts';

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

/** Destinations of payouts as a library's error may repeat them, by the records of the payout methods. */
const DESTINATIONS = [...new Set(Object.values(METHODS).flatMap(({ destination }) => destination.inText))];

/** Whatever looks like what may be in no line, in the text of an error: a library's words may repeat a value. */
const TEXTS: readonly TextPattern[] = [
  [/\b(ps_[a-z]+_|whsec_)[\w+/=-]+/g, '$1…'],
  [/\b(Bearer|Basic) +[\w.~+/=-]+/gi, '$1 …'],
  [/:\/\/[^\s/:@"]*:[^\s/@"]+@/g, '://…@'],
  ...DESTINATIONS,
  // Cards.
  [/(?<![\w.:+-])(?:\d{4}(?:[ -]?\d{4}){3}|3[47]\d{2}[ -]?\d{6}[ -]?\d{5})(?![\w:-])/g, '…'],
];

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
      serializers: { err: (error) => withoutSecrets(pino.stdSerializers.err(error)) },
      redact: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`]),
    },
    destination,
  );
}

/** Masks an error as it will be written: every text in it and in its causes. */
function withoutSecrets(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return plain(value);
  if (Array.isArray(value))
    return depth < DEEPEST ? value.map((each) => withoutSecrets(each, depth + 1)) : '…';
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth === DEEPEST || ArrayBuffer.isView(value)) return '…';
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withoutSecrets(each, depth + 1)]),
  );
}

const DEEPEST = 5;
/** Characters of one text. */
const LONGEST = 8_000;

function plain(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return TEXTS.reduce((rest, [form, instead]) => rest.replace(form, instead), cut);
}
