import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { ValidationError } from '../../kernel/errors.ts';
import { unknownMembers } from './known-members.ts';
import { shownName } from './names.ts';
import { HttpError, readBody } from './routes.ts';

const BODY_LIMIT_BYTES = 64 * 1024;
/** The most mistakes that a refusal names: a body may have thousands. */
const MAX_ISSUES = 10;

/**
 * Reads a body, which must be a JSON object, each of its members once.
 * @throws HttpError 400, 413, ValidationError (a member is given twice)
 */
export async function readObject(request: IncomingMessage, limitBytes = BODY_LIMIT_BYTES): Promise<object> {
  assertPlainJson(request);
  const text = await readBody(request, limitBytes);
  if (text.trim() === '') throw new HttpError(400, 'The body is empty');
  return objectIn(text);
}

/** Reads the body of an operation that takes none: nothing, or an object for `parseInput` to refuse. @throws as `readObject` */
export async function readNoObject(request: IncomingMessage): Promise<object> {
  const text = await readBody(request, BODY_LIMIT_BYTES);
  if (text.trim() === '') return {};
  assertPlainJson(request);
  return objectIn(text);
}

/**
 * Finds the first member that is given twice in an object of a valid JSON text, by the names on the way to it: JSON.parse
 * silently uses the last of the two. `"\u0061mount"` is `amount`. It takes less time than JSON.parse.
 */
function assertPlainJson(request: IncomingMessage): void {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') throw new HttpError(400, 'The body must be sent as application/json');
  if (parameters.some((parameter) => /^charset=(?!"?utf-8"?$)/.test(parameter)))
    throw new HttpError(400, 'The body must be in UTF-8');
  const encoding = request.headers['content-encoding']?.toLowerCase() || 'identity';
  if (encoding !== 'identity') throw new HttpError(400, 'The body must be sent without Content-Encoding');
}

function objectIn(text: string): object {
  const body = parseJson(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new HttpError(400, 'The body must be a JSON object');
  const repeated = repeatedMember(text);
  if (repeated !== null) throw new ValidationError([{ path: repeated, message: 'is given twice' }]);
  return body;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, 'The body is not JSON');
  }
}

/**
 * Finds the first member that occurs twice in an object of a valid JSON text; the path of names leads to it.
 * JSON.parse silently keeps the last of two. `"\u0061mount"` is `amount`. It takes less time than JSON.parse.
 */
export function repeatedMember(json: string): string | null {
  const open: { names: Set<string>; name: string }[] = [];
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (sign === '{') open.push({ names: new Set(), name: '' });
    else if (sign === '}') open.pop();
    else if (sign === '"') {
      const start = at;
      at = endOfString(json, start);
      if (!isBeforeColon(json, at)) continue;
      const text = json.slice(start + 1, at);
      const object = open.at(-1)!;
      object.name = text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
      if (object.names.has(object.name)) return open.map(({ name }) => shownName(name)).join('.');
      object.names.add(object.name);
    }
  }
  return null;
}

/**
 * The position of the quotation mark that ends the string from `start`: the next one without a backslash that escapes
 * it.
 */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end;
  }
}

function isBeforeColon(json: string, at: number): boolean {
  let next = at + 1;
  while (' \n\r\t'.includes(json[next] ?? ':')) next += 1;
  return json[next] === ':';
}

/**
 * Validates an input.
 * @throws ValidationError naming each field that is wrong and each that its schema does not have, ten at most
 */
export function parseInput(schema: z.ZodType, input: unknown): unknown {
  const unknown = unknownMembers(schema, input, MAX_ISSUES);
  const { success, data, error } = schema.safeParse(input, { error: messageFor });
  if (success && unknown.length === 0) return data;
  const issues =
    error?.issues.map(({ path, message }) => ({ path: path.join('.') || 'body', message })) ?? [];
  throw new ValidationError([...unknown, ...issues].slice(0, MAX_ISSUES));
}

/** The default message of an issue, if the schema defines no message. */
export function messageFor({ code, input, expected, keys, values }: z.core.$ZodRawIssue): string | undefined {
  if (input === undefined) return 'is required';
  if (code === 'unrecognized_keys') return `has no ${(keys as string[]).join(', ')}`;
  if (code === 'invalid_value') return `must be ${(values as unknown[]).join(' or ')}`;
  if (code !== 'invalid_type') return undefined;
  const kind = expected === 'int' ? 'integer' : String(expected);
  return `must be ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
}
