import type { CheckoutError, CheckoutErrorCode } from './checkout-state.ts';
import {
  CARD_PAYMENT,
  type CardPayment,
  type ExecutionResult,
  type GraphqlError,
  START_CHECKOUT,
  type StartCheckoutInput,
  type StartCheckoutResult,
  type StartCheckoutSuccess,
} from './operations.ts';

const TIMEOUT_MS = 15_000;

export interface RequestOptions {
  endpoint: string;
  token: string;
  signal: AbortSignal;
}

export interface DocumentOptions extends RequestOptions {
  query: string;
  variables: object;
}

/** Throws a CheckoutError: the server's refusal, or what went wrong on the way. */
export async function startCheckout(
  options: RequestOptions & { input: StartCheckoutInput },
): Promise<StartCheckoutSuccess> {
  const { startCheckout: result } = await request<{ startCheckout: StartCheckoutResult }>({
    ...options,
    query: START_CHECKOUT,
    variables: { input: options.input },
  });
  if ('cardPayment' in result) {
    assertPayment(result.cardPayment);
    return result;
  }
  throw errorOf({ message: result.message, extensions: { ...result } });
}

/** What the server says now. Throws a CheckoutError. */
export async function readPayment(
  options: RequestOptions & { orderCode: string },
): Promise<{ cardPayment: CardPayment }> {
  const data = await request<{ cardPayment: CardPayment }>({
    ...options,
    query: CARD_PAYMENT,
    variables: { orderCode: options.orderCode },
  });
  if (data.cardPayment) {
    assertPayment(data.cardPayment);
    return data;
  }
  throw errorOf({ message: 'no such payment', extensions: { code: 'FORBIDDEN' } });
}

/** An answer that the element would fail to draw: of another server, or of a version that is yet to come. */
export const MALFORMED: CheckoutError = {
  code: 'protocol',
  message: 'the server’s answer is no payment',
  retryable: true,
};

/** Throws MALFORMED where a member that the element counts, compares or formats is not what it has to be. */
export function assertPayment(payment: CardPayment): void {
  const { orderCode, status, currency, amountCents, expiresInSeconds, version, paidAt, refundedAt } =
    payment ?? {};
  if (
    [orderCode, status].some((text) => typeof text !== 'string') ||
    ![amountCents, expiresInSeconds, version].every(Number.isFinite) ||
    !/^[A-Z]{3}$/.test(currency) ||
    [paidAt, refundedAt].some((at) => at && Number.isNaN(Date.parse(at)))
  )
    throw MALFORMED;
}

/** One GraphQL request by POST. The token travels in a header, never with cookies or in an address. */
export function post(options: DocumentOptions, accept: string): Promise<Response> {
  const { endpoint, token, query, variables, signal } = options;
  return fetch(endpoint, {
    method: 'POST',
    headers: { accept, 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
    credentials: 'omit',
    signal,
  });
}

/** An error of the server's, top-level or a refusal of a mutation, in the element's words. */
export function errorOf({ message, extensions }: GraphqlError): CheckoutError {
  const { code, retryAfterSeconds } = extensions ?? {};
  const known = toCheckoutErrorCode(String(code));
  return {
    code: known,
    message,
    retryable: !FINAL.includes(known),
    retryAfterSeconds: Number(retryAfterSeconds) || undefined,
  };
}

/** One question by POST. Throws a CheckoutError. */
export async function request<T>(options: DocumentOptions): Promise<T> {
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), options.signal]);
    const response = await post({ ...options, signal }, 'application/json');
    // A proxy's HTML page is told by its status.
    const result = (await response.json().catch((error) => {
      if (!(error instanceof SyntaxError)) throw error;
    })) as ExecutionResult<T> | undefined;
    if (result?.data && !result.errors) return result.data;
    throw errorOf(
      result?.errors?.[0] ?? {
        message: `HTTP ${response.status}`,
        extensions: {
          code: response.ok ? 'GRAPHQL' : response.status,
          retryAfterSeconds: response.headers.get('retry-after'),
        },
      },
    );
  } catch (error) {
    if ((error as CheckoutError).retryable !== undefined) throw error;
    const code = (error as Error).name === 'TimeoutError' ? 'timeout' : 'network';
    throw { code, message: String(error), retryable: true } satisfies CheckoutError;
  }
}

/** Not `protocol`: what could not be understood may be a proxy's own page, which is gone at the next try. */
const FINAL: readonly CheckoutErrorCode[] = ['invalid_input', 'not_configured', 'unauthorized'];

/** An error code of the server, an HTTP status or a socket's close code, to the element's code. */
const CODES: Record<string, CheckoutErrorCode> = {
  UNAUTHENTICATED: 'unauthorized',
  FORBIDDEN: 'unauthorized',
  PERMISSION_DENIED: 'unauthorized',
  401: 'unauthorized',
  403: 'unauthorized',
  4401: 'unauthorized',
  4403: 'unauthorized',
  RATE_LIMITED: 'rate_limited',
  429: 'rate_limited',
  4429: 'rate_limited',
  BAD_USER_INPUT: 'invalid_input',
  VALIDATION: 'invalid_input',
  IDEMPOTENCY_CONFLICT: 'conflict',
  CHECKOUT_TOKEN_USED: 'conflict',
  NOT_FOUND: 'not_configured',
  CARD_PAYMENTS_NOT_CONFIGURED: 'not_configured',
  NOT_IN_SANDBOX: 'not_configured',
  ONLY_IN_SANDBOX: 'not_configured',
  LIMIT_REACHED: 'not_configured',
  INTERNAL_SERVER_ERROR: 'server',
  UNAVAILABLE: 'server',
  UPSTREAM_UNAVAILABLE: 'server',
};

/** @param code as in CODES; other statuses and close codes by their first digit */
function toCheckoutErrorCode(code: string): CheckoutErrorCode {
  if (CODES[code]) return CODES[code];
  if (code.startsWith('5')) return 'server';
  return code.startsWith('4') || code.startsWith('GRAPHQL') ? 'protocol' : 'unknown';
}
