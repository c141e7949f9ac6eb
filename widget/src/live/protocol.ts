/** The token that a connection presents. Its life lets the next connection renew it before the server refuses it. */
export interface LiveToken {
  token: string;
  /** An instant, as `createDashboardToken` gives it. */
  expiresAt?: string | Date | null;
  /** The seconds until then, as it gives them too: they count before `expiresAt`, for a device whose clock is wrong. */
  expiresInSeconds?: number | null;
}

/** Gives a token: from your server, which mints it. Called again when the last one has expired or was refused. */
export type GetToken = () => string | LiveToken | Promise<string | LiveToken>;

/** Asks for a cursor to begin at. */
export const CURSOR_DOCUMENT = '{updatesCursor}';

/** An operation, as graphql-ws, graphql-sse, Apollo Client, urql and Relay pass it on. */
export interface LiveRequest {
  query: string;
  variables?: Record<string, unknown> | null | undefined;
  operationName?: string | null | undefined;
  extensions?: Record<string, unknown> | null | undefined;
  /** The kind of an operation whose text is not sent: `query`, `mutation` or `subscription`. It is not sent to the server. */
  operationKind?: string | undefined;
}

/** An error of GraphQL, of an operation or of one result. */
export interface LiveError {
  message: string;
  extensions?:
    | { code?: string; retryPolicy?: string; retryAfterSeconds?: number; [name: string]: unknown }
    | undefined;
}

export interface LiveResult<Data = Record<string, unknown>> {
  data?: Data | null | undefined;
  errors?: readonly LiveError[] | undefined;
  extensions?: Record<string, unknown> | undefined;
}

export interface LiveSink<Result = LiveResult> {
  next(result: Result): unknown;
  error(error: unknown): void;
  complete(): void;
}

/** The part of a client that is wrapped: both graphql-ws and graphql-sse have it. */
export interface LiveClient {
  subscribe(request: never, sink: never): () => void;
}

export type Subscribe = (request: LiveRequest, sink: LiveSink) => () => void;

/** The answer to an end of a subscription. `gap`: the cursor has expired. `final`: to come back would not help. */
export type Verdict = 'gap' | 'refused' | 'retry' | 'final';

/** The end of a subscription, as far as it says when and whether to come back. */
export interface End {
  verdict: Verdict;
  retryAfterMs: number;
}

/** The close codes that say that the same connection or operation would be refused again. */
const FINAL_CLOSE = [1002, 1003, 1007, 1008, 1009, 1010, 4400, 4406, 4409, 4429, 4500];
const REFUSED_CLOSE = [4401, 4403];

/** Judges the errors with which the server has ended a subscription. */
export function judgeErrors(errors: readonly LiveError[]): End {
  const { code = '', retryPolicy, retryAfterSeconds = 0 } = errors[0]?.extensions ?? {};
  const retryAfterMs = Number(retryAfterSeconds) * 1_000 || 0;
  if (code === 'CURSOR_EXPIRED') return { verdict: 'gap', retryAfterMs };
  if (code === 'UNAUTHENTICATED') return { verdict: 'refused', retryAfterMs };
  return { verdict: retryPolicy === 'SAME_KEY' ? 'retry' : 'final', retryAfterMs };
}

/**
 * Judges a cause that a client passes to `error`: the server's errors, the close event of a socket, a
 * response with another status, or a failure of the network.
 */
export function judge(cause: unknown): End {
  if (Array.isArray(cause)) return judgeErrors(cause as LiveError[]);
  const { code, extensions, response } = Object(cause) as {
    code?: unknown;
    extensions?: LiveError['extensions'];
    response?: { status: number; headers?: { get(name: string): string | null } };
  };
  if (extensions) return judgeErrors([cause as LiveError]);
  if (cause instanceof UnfollowableError) return { verdict: 'final', retryAfterMs: 0 };
  if (typeof code === 'number') return { verdict: closeVerdict(code), retryAfterMs: 0 };
  if (!response) return { verdict: 'retry', retryAfterMs: 0 };
  return {
    verdict: statusVerdict(response.status),
    retryAfterMs: Number(response.headers?.get('retry-after')) * 1_000 || 0,
  };
}

function closeVerdict(code: number): Verdict {
  if (REFUSED_CLOSE.includes(code)) return 'refused';
  return FINAL_CLOSE.includes(code) ? 'final' : 'retry';
}

function statusVerdict(status: number): Verdict {
  if (status === 401 || status === 403) return 'refused';
  return status === 429 || status >= 500 ? 'retry' : 'final';
}

/** The document cannot be resumed: a mistake to correct in the program. */
export class UnfollowableError extends Error {
  override readonly name = 'UnfollowableError';
}

/**
 * The update in a result: the value of its root field, whatever its name; null in a result without data.
 * @throws UnfollowableError
 */
export function updateIn({ data }: LiveResult): { cursor: string } | null {
  const update = data && (Object.values(data)[0] as { cursor?: unknown } | null);
  if (!update) return null;
  if (typeof update.cursor !== 'string')
    throw new UnfollowableError('The subscription has to select `cursor` of its updates, to be resumed');
  return update as { cursor: string };
}

/**
 * Checks that a subscription takes a cursor.
 * @throws UnfollowableError
 */
export function assertResumable({ query }: Partial<LiveRequest>): void {
  if (query && !/\$after\s*:/.test(query))
    throw new UnfollowableError('The subscription has to declare `$after: String` and pass it on as `after`');
}

/** Whether a subscription begins with later changes only: one of all resources, which has no first state. */
export function hasNoFirstState({ query }: Partial<LiveRequest>): boolean {
  return /\b(?:all\w+|account)Updates\b/.test(query ?? '');
}

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 30_000;

/**
 * The longest wait that a server can demand. Timers take 24 days at most, and fire at once if they get more.
 */
const LONGEST_ASKED_MS = 3_600_000;

/** The time before another attempt, after `attempt` attempts in a row without a result. */
export function waitBefore(attempt: number, retryAfterMs: number): number {
  const growing = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt) * (0.5 + Math.random());
  // The wait is never shorter than the server demands.
  return Math.max(growing, Math.min(LONGEST_ASKED_MS, retryAfterMs) * (1 + Math.random() / 4));
}

/** Waits, but not beyond an abort of the signal. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
