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

/** Whatever looks like what may be in no line, in the text of an error: a library's words may repeat a value. */
const TEXTS: readonly [RegExp, string][] = [
  [/\b(ps_[a-z]+_|whsec_)[\w+/=-]+/g, '$1…'],
  [/\b(Bearer|Basic) +[\w.~+/=-]+/gi, '$1 …'],
  [/:\/\/[^\s/:@"]*:[^\s/@"]+@/g, '://…@'],
  // E-mail addresses; a version in a path of a stack ends in no name.
  [/[^\s"'()<>@]{1,64}@((?:[a-z0-9-]+\.)+[a-z]{2,}\b)/gi, '…@$1'],
  // Cards, CPF, CNPJ, telephones.
  [
    /(?<![\w.:+-])(?:\d{4}(?:[ -]?\d{4}){3}|3[47]\d{2}[ -]?\d{6}[ -]?\d{5}|\d{11}|\d{14}|\d{3}(?:\.\d{3}){2}-\d{2}|\+55\d{10,11})(?![\w:-])/g,
    '…',
  ],
  [/(?<![\w.])[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2}\b/g, '…'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '…'],
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
