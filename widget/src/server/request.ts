/** A server and the secret key of your account. For your own server alone: a key never enters a page. */
export interface PsaServerOptions {
  /** The address of `/graphql`. */
  endpoint: string | URL;
  /** `ps_live_…` or `ps_test_…`. */
  key: string;
  fetch?: typeof fetch | undefined;
}

/** The server has refused a request, or has not answered it. */
export class PsaError extends Error {
  override readonly name = 'PsaError';
  /** The server's code, such as `BAD_USER_INPUT`; `NETWORK` if it has given none. */
  readonly code: string;
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;
  /** The members of the input that are wrong. */
  readonly fields: readonly { path: string; message: string }[];

  constructor({ code = 'NETWORK', message = code, fields }: Refusal, isRetryable: boolean, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.isRetryable = isRetryable;
    this.fields = fields ?? [];
  }
}

interface Refusal {
  code?: string | undefined;
  message?: string | undefined;
  fields?: readonly { path: string; message: string }[] | undefined;
}

interface Answer {
  data?: Record<string, unknown> | null;
  errors?: { message: string; extensions?: Refusal }[];
}

const TIMEOUT_MS = 15_000;
/** The codes after which the same request may succeed. A token that was minted in vain does no harm. */
const LATER = ['RATE_LIMITED', 'UNAVAILABLE', 'UPSTREAM_UNAVAILABLE', 'OUTCOME_UNKNOWN'];

/**
 * Sends an operation, and returns the value of its root field.
 * @throws PsaError
 */
export async function request<Value>(
  { endpoint, key, fetch: send = fetch }: PsaServerOptions,
  query: string,
  variables: object = {},
): Promise<Value> {
  let response: Response;
  let answer: Answer;
  try {
    response = await send(endpoint, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
      },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    answer = (await response.json()) as Answer;
  } catch (error) {
    throw new PsaError({ message: 'The server has not answered' }, true, error);
  }
  const [error] = answer.errors ?? [];
  if (error) {
    const code = error.extensions?.code;
    throw new PsaError({ ...error.extensions, message: error.message }, !code || LATER.includes(code));
  }
  const value = Object.values(answer.data ?? {})[0];
  if (value == null)
    throw new PsaError({ message: 'The server has given no answer' }, response.status >= 500);
  const { code } = value as Refusal;
  if (code) throw new PsaError(value as Refusal, LATER.includes(code));
  return value as Value;
}

/** The members of each refusal, for a selection. */
export const REFUSAL = '... on UserError { code message } ... on ValidationError { fields { path message } }';
