import type { CheckoutError, CheckoutErrorCode } from './checkout-state.ts';
import type { CheckoutMethod } from './methods.ts';
import {
  CARD_PAYMENT,
  CARD_PAYMENT_DELIVERED,
  CARD_PAYMENT_UPDATES,
  type CheckoutPayment,
  type DeliveredContent,
  type ExecutionResult,
  type GraphqlError,
  PAYMENT,
  PAYMENT_DELIVERED,
  PAYMENT_UPDATES,
  type Refusal,
  START_CHECKOUT,
  START_PIX_CHECKOUT,
  type StartCheckoutInput,
  type UpstreamAge,
} from './operations.ts';
import { toJson } from './to-json.ts';

const TIMEOUT_MS = 15_000;

export interface RequestOptions {
  endpoint: string;
  token: string;
  signal?: AbortSignal | undefined;
}

export interface DocumentOptions extends RequestOptions {
  query: string;
  variables: object;
}

/** The operations of a method, and the variable that names its payment. */
export const OPERATIONS = {
  card: {
    start: START_CHECKOUT,
    read: CARD_PAYMENT,
    delivered: CARD_PAYMENT_DELIVERED,
    updates: CARD_PAYMENT_UPDATES,
    id: 'orderCode',
  },
  pix: {
    start: START_PIX_CHECKOUT,
    read: PAYMENT,
    delivered: PAYMENT_DELIVERED,
    updates: PAYMENT_UPDATES,
    id: 'paymentId',
  },
} as const;

/** The payment in an answer, under the name that its method gives it; undefined in a refusal. */
export interface PaymentAnswer {
  cardPayment?: CheckoutPayment;
  payment?: CheckoutPayment;
  stale?: boolean | undefined;
  ageSeconds?: number | null | undefined;
}

/** A payment to read. */
export interface PaymentOptions extends RequestOptions {
  method: CheckoutMethod;
  /** The order code of a card payment, or the paymentId of any other. */
  paymentKey: string;
}

/** Creates a payment. Throws a CheckoutError: the server's refusal, or a failure of the request. */
export async function startCheckout(
  options: RequestOptions & { method: CheckoutMethod; input: StartCheckoutInput },
): Promise<{ payment: CheckoutPayment; paymentToken: string }> {
  const data: Record<string, PaymentAnswer & { paymentToken: string } & Refusal> = await request({
    ...options,
    query: OPERATIONS[options.method].start,
    variables: { input: options.input },
  });
  const result = Object.values(data)[0]!;
  const { message, code, paymentToken } = result;
  if (paymentToken)
    return { payment: assertPayment({ ...(data as PaymentAnswer), ...result }), paymentToken };
  // Here alone, because no other request has these codes, and the payouts share the table of the others.
  if (/^ORDER/.test(code)) throw { code: code.toLowerCase(), reason: code, message, retryable: false };
  throw toCheckoutError({ message, extensions: result });
}

/** Reads the payment. Throws a CheckoutError. */
export async function readPayment(options: PaymentOptions): Promise<CheckoutPayment> {
  return assertPayment(await readAnswer(options));
}

/** Reads the payment, which may be malformed. Throws a CheckoutError. */
export async function readAnswer({ method, paymentKey, ...options }: PaymentOptions): Promise<PaymentAnswer> {
  const { read: query, id } = OPERATIONS[method];
  const answer = await request<PaymentAnswer>({ ...options, query, variables: { [id]: paymentKey } });
  if (answer.cardPayment ?? answer.payment) return answer;
  throw toCheckoutError({ message: 'no payment', extensions: { code: 'FORBIDDEN' } });
}

/**
 * Reads the content that the payer was given and may see now; empty if there is none. It is a query of its own, because
 * an older server refuses the field. Throws a CheckoutError.
 */
export async function readDelivered({
  method,
  paymentKey,
  ...options
}: PaymentOptions): Promise<DeliveredContent[]> {
  const { delivered: query, id } = OPERATIONS[method];
  const data: Record<string, { delivered: DeliveredContent[] | null } | null> = await request({
    ...options,
    query,
    variables: { [id]: paymentKey },
  });
  return (Object.values(data)[0]?.delivered ?? []).filter(
    ({ status, content }) => status === 'PENDING' || (status === 'DELIVERED' && typeof content === 'string'),
  );
}

/** The error for an answer that the element could not draw: from another server, or from a later version. */
export const MALFORMED: CheckoutError = {
  code: 'protocol',
  message: 'no payment',
  retryable: true,
};

/**
 * Returns the payment of an answer. Throws MALFORMED if there is none, or a member that the element counts, compares or formats
 * is not what it has to be.
 */
export function assertPayment({
  cardPayment,
  payment = cardPayment,
  stale,
  ageSeconds,
}: PaymentAnswer): CheckoutPayment {
  const staleSince = stale ? Date.now() - (ageSeconds ?? 0) * 1000 : undefined;
  const given = { ...payment, stale, staleSince } as CheckoutPayment;
  const {
    orderCode,
    paymentId,
    status,
    currency,
    pix,
    paidAt,
    refundedAt,
    returnedCredits,
    amountCents,
    expiresInSeconds,
    version,
  } = given;
  if (
    [orderCode ?? paymentId, status, pix ? pix.copyPaste : ''].some((text) => typeof text !== 'string') ||
    ![amountCents, expiresInSeconds, version].every(Number.isFinite) ||
    !/^[A-Z]{3}$/.test(currency) ||
    [paidAt, refundedAt].some((at) => at && Number.isNaN(Date.parse(at))) ||
    !Array.isArray(returnedCredits ?? [])
  )
    throw MALFORMED;
  return given;
}

/** Posts one GraphQL request. The token travels in a header, never in a cookie or an address. */
export function post(options: DocumentOptions, accept: string): Promise<Response> {
  const { endpoint, token, query, variables, signal } = options;
  return fetch(endpoint, {
    method: 'POST',
    headers: { accept, 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: toJson({ query, variables }),
    credentials: 'omit',
    signal: signal as AbortSignal,
  });
}

/** Converts an error of the server, top-level or a mutation's refusal, to the element's error. */
export function toCheckoutError({ message, extensions }: GraphqlError): CheckoutError {
  const { code, retryAfterSeconds } = extensions ?? {};
  const checkoutCode = CODES.find(([codes]) => codes.test(code as string))?.[1] ?? 'unknown';
  return {
    code: checkoutCode,
    // The status of an answer without a code is a number.
    reason: code ? `${code}` : undefined,
    message,
    retryable: !FINAL.test(checkoutCode),
    // Two and a half hours at most: a timer of 25 days or more fires at once.
    retryAfterSeconds: Math.min(9_000, Number(retryAfterSeconds)) || undefined,
  };
}

/** Runs one GraphQL operation. Throws a CheckoutError. */
export async function request<T>(options: DocumentOptions): Promise<T & Partial<UpstreamAge>> {
  try {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const signal = AbortSignal.any([timeout, options.signal ?? timeout]);
    const response = await post({ ...options, signal }, 'application/json');
    // A proxy's HTML page is converted by its status below.
    const result = (await response.json().catch((error) => {
      if (!(error instanceof SyntaxError)) throw error;
    })) as ExecutionResult<T> | undefined;
    if (result?.data && !result.errors) return { ...result.data, ...result.extensions?.upstream };
    const { status } = response;
    // The server sends GraphQL errors with a 401 or 403. Without them a proxy has refused, and what is read is read again.
    const isOfProxy = [401, 403].includes(status) && options.query.startsWith('query');
    throw toCheckoutError(
      result?.errors?.[0] ?? {
        message: `HTTP ${status}`,
        extensions: {
          code: isOfProxy ? 400 : status,
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

/** Codes that a retry cannot resolve. Without `protocol`: an unreadable answer may be a proxy's page, gone at the next try. */
const FINAL = /^(inv|not_|una)/;

/** The element's codes by the server's error code, HTTP status or close code of a socket; the first that matches holds. */
const CODES: readonly [RegExp, CheckoutErrorCode][] = [
  [/^(UNAUTH|FORBIDDEN|PERMISSION|4?40[13]$)/, 'unauthorized'],
  [/^(RATE_|4?429$)/, 'rate_limited'],
  [/^(BAD_USER|VALID)/, 'invalid_input'],
  [/^(IDEMPOTENCY|CHECKOUT_TOKEN_USED)/, 'conflict'],
  [/^(NOT_(F|O|IN)|\w+_NOT_CONF|ONLY_IN|LIMIT)/, 'not_configured'],
  [/^(5|INTERNAL|UPSTREAM|UNAVAIL|OUTCOME|BANK)/, 'server'],
  // A status of success has no result here: it is a proxy's page.
  [/^(2|4|GRAPHQL)/, 'protocol'],
];
