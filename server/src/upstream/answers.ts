import { type PaymentError, PermissionError, UpstreamError } from '../kernel/errors.ts';
import { recordTold, textTold } from '../kernel/told.ts';
import { type UpstreamAnswer, UpstreamFault } from './upstream.ts';

export function isSuccess({ status }: Pick<UpstreamAnswer, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/**
 * What the service says of a refusal (the document's section 7), of bounded length; null where it says nothing. Callers
 * are shown it, payers among them, so what may be a key or an address of the service's is left out.
 */
export function messageOf(body: unknown): string | null {
  return textTold(recordTold(body)?.error)?.replace(/\bps_(?:live|test)_\S*|https?:\/\/\S*/gi, '…') ?? null;
}

/** With these nothing was done. 408, a 3xx and what nobody has registered (a proxy's 499) do not say so. */
const CERTAIN_REFUSALS: ReadonlySet<number> = new Set([
  ...[400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418],
  ...[421, 422, 423, 424, 425, 426, 428, 429, 431, 451],
]);

/**
 * That the answer to a request which must not be made twice says what became of it: a success without the words of an
 * error, or a certain refusal. @throws UpstreamFault
 */
export function assertCertain({ status, body }: Pick<UpstreamAnswer, 'status' | 'body'>): void {
  const isCertain = isSuccess({ status }) ? messageOf(body) === null : CERTAIN_REFUSALS.has(status);
  if (!isCertain) throw new UpstreamFault('unreadable', 'maybe', String(status));
}

/** Nothing answers under this path, or not to this method; 501 comes as a fault. */
export function hasNoEndpoint({ status }: Pick<UpstreamAnswer, 'status'>): boolean {
  return status === 404 || status === 405;
}

export function isNotImplemented(error: unknown): boolean {
  return error instanceof UpstreamFault && error.kind === 'server_error' && error.detail === '501';
}

/** Of a refusal that has no words of its own in the program: certainly nothing was done. */
export function refusalOf({ status, body }: Pick<UpstreamAnswer, 'status' | 'body'>): PaymentError {
  if (status === 401)
    return new UpstreamError('The payments service does not accept the key of this server', REFUSED);
  if (status === 403)
    return new PermissionError(messageOf(body) ?? 'The payments service does not permit this');
  const said = messageOf(body);
  return new UpstreamError(
    `The payments service refused with status ${status}${said ? `: ${said}` : ''}`,
    REFUSED,
  );
}

export function noEndpoint(what: string): UpstreamError {
  return new UpstreamError(`The payments service has no endpoint for ${what}`, REFUSED);
}

const REFUSED = { retryable: false, moneyMayHaveMoved: false };
