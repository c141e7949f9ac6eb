import { type CodeOf, ERROR_CODES, type ErrorCode, isErrorCode } from '../kernel/error-codes.ts';
import {
  IdempotencyError,
  NotFoundError,
  type PaymentError,
  PermissionError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import { readRecord, readText } from '../kernel/lenient-json.ts';
import { createRedaction } from './secrets.ts';
import { NOT_JSON, type UpstreamAnswer, UpstreamFault } from './upstream.ts';

// The meaning of the service's answers, and the errors for callers if there is no answer: the same in every
// slice.

type Refusal = Pick<UpstreamAnswer, 'status' | 'body'> & Partial<Pick<UpstreamAnswer, 'headers'>>;

export function isSuccess({ status }: Pick<UpstreamAnswer, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/**
 * The message of the service's refusal (the document's section 7), bounded in length. Callers read it, payers
 * among them, so it leaves out the secret that was sent, and any text that may be a key or an address of the
 * service. Null if the service gives none.
 */
export function messageOf(body: unknown, { secret = '' }: { secret?: string } = {}): string | null {
  const message = readRecord(body)?.error;
  if (typeof message !== 'string') return null;
  const redacted = createRedaction([secret]).text(message);
  return readText(redacted.replace(/(?:ps_(?:live|test)_|whsec_)\S*|https?:\/\/\S*/gi, '…'));
}

/**
 * Whether the service says that there is no such resource. Its answer has a message (the document's section
 * 7); the page of a proxy has none.
 */
export function saysNotFound({ status, body }: Refusal): boolean {
  return status === 404 && messageOf(body) !== null;
}

/**
 * The statuses after which certainly nothing was done. 408, a 3xx and unregistered statuses (a proxy's 499)
 * do not say so.
 */
const CERTAIN_REFUSALS: ReadonlySet<number> = new Set([
  ...[400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418],
  ...[421, 422, 423, 424, 425, 426, 428, 429, 431, 451],
]);

const NO_CONTENT = 204;

/**
 * Asserts that an answer settles a request which must not be made twice: it is a certain refusal, or a
 * success without an error message and without `success: false`. A success may be empty only if its status
 * says so.
 * @throws UpstreamFault
 */
export function assertConclusive({ status, body }: Refusal): void {
  const isDenied = messageOf(body) !== null || readRecord(body)?.success === false;
  const isCut = body === null && status !== NO_CONTENT;
  const isCertain = isSuccess({ status }) ? !isDenied && !isCut : CERTAIN_REFUSALS.has(status);
  if (!isCertain) throw unreadable(String(status));
}

// ── Refusals: certainly nothing was done ────────────────────────────────────────────────────────

/** The error for a refusal in general. `permissions`: any one of them would have sufficed. */
export function refusalOf(
  { status, body, headers = {} }: Refusal,
  { permissions = [], secret = '' }: { permissions?: readonly string[]; secret?: string } = {},
): PaymentError {
  if (status === 401)
    return new UpstreamError(
      'UPSTREAM_REFUSED',
      'The payments service does not accept the key of this server',
    );
  const message = messageOf(body, { secret });
  // A page without the service's message comes from a proxy.
  if (status === 403)
    return message === null ? toUpstreamError(notReached(status)) : new PermissionError(message, permissions);
  const named = status === 409 ? namedRefusal({ headers, body }) : null;
  if (named) return named;
  return new UpstreamError(
    'UPSTREAM_REFUSED',
    `The payments service refused with status ${status}${message ? `: ${message}` : ''}`,
  );
}

/** The refusal that a service of this project's own names by its code; null if it names none that a caller is shown as such. */
export function namedRefusal({
  headers,
  body,
}: Pick<UpstreamAnswer, 'headers' | 'body'>): PaymentError | null {
  const [code, message] = [errorCodeOf({ headers }), messageOf(body)];
  if (code === undefined || message === null || !isErrorCode(code)) return null;
  if (code === 'BANK_REFUSED') return new UpstreamError(code, message);
  return isPrecondition(code) ? new PreconditionError(code, message) : null;
}

function isPrecondition(code: ErrorCode): code is CodeOf<'PreconditionError'> {
  return ERROR_CODES[code].type === 'PreconditionError';
}

/**
 * The error for a refused input, with the service's message. If the message begins with the name of a field,
 * or of a member inside it, the error names that field. `renamed`: the service's names of fields that have
 * another name in the request.
 */
export function invalidInput(
  text: string | null,
  {
    path = 'input',
    fields = [],
    renamed = {},
  }: { path?: string; fields?: readonly string[]; renamed?: Readonly<Record<string, string>> } = {},
): ValidationError {
  const message = text ?? 'the payments service does not accept it';
  const [, name = '', inside, fieldMessage] =
    /^(?:input\.|body\.)?(\w+)((?:\.\w+)*): (.+)$/s.exec(message) ?? [];
  const field = Object.hasOwn(renamed, name) ? renamed[name]! : name;
  return new ValidationError([
    fieldMessage && fields.includes(field)
      ? { path: `${path}.${field}${inside}`, message: fieldMessage }
      : { path, message },
  ]);
}

export function keyUsed(message: string | null): IdempotencyError {
  return new IdempotencyError(message ?? 'This idempotency key was used before with another input');
}

/**
 * Whether a 409 is about the key. If the service gives no code, the message decides: only a refusal about the
 * key mentions one.
 */
export function isKeyConflict(answer: Pick<UpstreamAnswer, 'body' | 'headers'>): boolean {
  const code = errorCodeOf(answer);
  return code === undefined
    ? /idempoten/i.test(messageOf(answer.body) ?? '')
    : code === 'IDEMPOTENCY_CONFLICT';
}

/**
 * The error for a refused creation. `fields` are the members of the input, `missing` is the resource that a
 * 404 is about, and `conflict` is the meaning of a 409 that is not about the key.
 */
export function refusalOfCreation(
  answer: UpstreamAnswer,
  {
    fields,
    missing = null,
    conflict,
  }: {
    fields: readonly string[];
    missing?: string | null;
    conflict: (message: string | null) => PaymentError;
  },
): PaymentError {
  const message = messageOf(answer.body);
  if (answer.status === 404 && missing !== null) return new NotFoundError(`${missing} not found`);
  if (answer.status === 400 || answer.status === 422) return invalidInput(message, { fields });
  if (answer.status !== 409) return refusalOf(answer);
  if (isKeyConflict(answer)) return keyUsed(message);
  return namedRefusal(answer) ?? conflict(message);
}

/**
 * The code of a refusal, `X-Error-Code`, which this project's own service sends; undefined if there is none.
 */
export function errorCodeOf({ headers }: Pick<UpstreamAnswer, 'headers'>): string | undefined {
  return headers['x-error-code'];
}

/** The service has shown that it lacks this endpoint. */
export class MissingEndpointError extends UpstreamError {}

/** The error for an endpoint that the service lacks; `what` is its purpose: `deleting products`. */
export function noEndpoint(what: string): UpstreamError {
  return new MissingEndpointError('UPSTREAM_REFUSED', `The payments service has no endpoint for ${what}`);
}

/**
 * The refusal of an action for which the service has no known operation; `what` begins a sentence:
 * `Refunding`.
 */
export function notOffered(what: string): PreconditionError {
  return new PreconditionError(
    'NOT_OFFERED',
    `${what} is not offered by the payments service behind this server`,
  );
}

/**
 * Waits for a read, and refuses its subject as not offered if the endpoint is missing. @throws
 * PreconditionError, errors of `read`
 */
export async function withNotOffered<Value>(what: string, read: Promise<Value>): Promise<Value> {
  return read.catch((error: unknown) => {
    throw error instanceof MissingEndpointError ? notOffered(what) : error;
  });
}

// ── No answer ───────────────────────────────────────────────────────────────────────────────────

export function isNotImplemented(error: unknown): boolean {
  return error instanceof UpstreamFault && error.kind === 'server_error' && error.detail === '501';
}

/** The fault of an answer that a proxy has given instead of the service, which certainly has done nothing. */
export function notReached(status: number): UpstreamFault {
  return new UpstreamFault('unreachable', 'no', String(status));
}

export function isPageFault(error: unknown): boolean {
  return error instanceof UpstreamFault && error.kind === 'unreachable' && error.detail === '404';
}

/** The fault of an answer that shows neither success nor refusal; `detail` is for the log. */
export function unreadable(detail: string | null = null): UpstreamFault {
  return new UpstreamFault('unreadable', 'maybe', detail);
}

/**
 * Whether an error says nothing of the resource because the service is unavailable for the moment: it was not
 * asked, it did not answer, it failed, or a proxy's page came instead. JSON in another form is the service's
 * own answer.
 */
export function isOutage(error: unknown): error is Error {
  if (error instanceof UpstreamFault) return error.kind !== 'unreadable' || error.detail === NOT_JSON;
  return isRetryable(error);
}

/**
 * Whether the service was not asked or did not answer: the last known answer may stand in, and a retry may
 * succeed.
 */
export function isRetryable(error: unknown): error is Error {
  return (
    error instanceof RateLimitError ||
    error instanceof UpstreamFault ||
    (error instanceof UpstreamError && error.retryable)
  );
}

/**
 * Whether an error says nothing about the resource: it is retryable, a refusal (also for lack of a
 * permission), or a missing endpoint.
 */
export function isInconclusive(error: unknown): error is Error {
  return isRetryable(error) || error instanceof UpstreamError || error instanceof PermissionError;
}

/** The error of a request that was certainly not done, and may be retried. */
export function toUpstreamError(fault: UpstreamFault): UpstreamError {
  return new UpstreamError('UPSTREAM_UNAVAILABLE', fault.message);
}

/** The error for a caller if the service cannot be reached and an older answer does not suffice. */
export function cannotAsk(): UpstreamError {
  return new UpstreamError('UPSTREAM_UNAVAILABLE', 'The payments service cannot be asked now');
}

/** Maps the faults of a read to errors of its caller: a read without an answer has changed nothing. */
export function withUpstreamErrors<Value>(read: Promise<Value>): Promise<Value> {
  return read.catch((error: unknown) => {
    throw error instanceof UpstreamFault ? toUpstreamError(error) : error;
  });
}

/** Refuses a filter of a list that the service alone divides into pages. @throws PreconditionError (NOT_OFFERED) */
export function assertUnfiltered(filter: object, list: string): void {
  if (Object.values(filter).some((asked) => asked !== undefined))
    throw notOffered(`Listing ${list} by these conditions`);
}
