import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { ValidationError } from '../kernel/errors.ts';
import { HttpError, readBody } from './routes.ts';

const BODY_LIMIT_BYTES = 64 * 1024;
/** A body may have thousands of mistakes; the refusal names the first ones. */
const MAX_ISSUES = 10;

/** Reads a body, which must be a JSON object. @throws HttpError 400, 413 */
export async function readObject(request: IncomingMessage): Promise<object> {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') throw new HttpError(400, 'The body must be sent as application/json');
  if (parameters.some((parameter) => /^charset=(?!"?utf-8"?$)/.test(parameter)))
    throw new HttpError(400, 'The body must be in UTF-8');
  const encoding = request.headers['content-encoding']?.toLowerCase() || 'identity';
  if (encoding !== 'identity') throw new HttpError(400, 'The body must be sent without Content-Encoding');
  const text = await readBody(request, BODY_LIMIT_BYTES);
  if (text.trim() === '') throw new HttpError(400, 'The body is empty');
  const body = parseJson(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new HttpError(400, 'The body must be a JSON object');
  return body;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, 'The body is not JSON');
  }
}

/** Validates an input. @throws ValidationError naming each field that is wrong, ten at most */
export function parse(schema: z.ZodType, input: unknown): unknown {
  const { success, data, error } = schema.safeParse(input, { error: messageFor });
  if (success) return data;
  throw new ValidationError(
    error.issues
      .slice(0, MAX_ISSUES)
      .map(({ path, message }) => ({ path: path.join('.') || 'body', message })),
  );
}

/** The message of an issue for which a schema has none. */
export function messageFor({ code, input, expected, keys, values }: z.core.$ZodRawIssue): string | undefined {
  if (input === undefined) return 'is required';
  if (code === 'unrecognized_keys') return `has no ${(keys as string[]).join(', ')}`;
  if (code === 'invalid_value') return `must be ${(values as unknown[]).join(' or ')}`;
  if (code !== 'invalid_type') return undefined;
  const kind = expected === 'int' ? 'integer' : String(expected);
  return `must be ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
}
