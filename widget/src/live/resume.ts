import { iterate } from './iterate.ts';
import { isSubscription } from './operation.ts';
import {
  assertResumable,
  CURSOR_DOCUMENT,
  type End,
  hasNoFirstState,
  judge,
  judgeErrors,
  type LiveClient,
  type LiveRequest,
  type LiveResult,
  type LiveSink,
  pause,
  type Subscribe,
  UnfollowableError,
  updateIn,
  waitBefore,
} from './protocol.ts';
import { ATTEMPT_MS, lastAnswerOf, noteAnswer, type PresentToken, type Tokens } from './tokens.ts';

export type {
  GetToken,
  LiveClient,
  LiveError,
  LiveRequest,
  LiveResult,
  LiveSink,
  LiveToken,
} from './protocol.ts';
// biome-ignore lint/performance/noBarrelFile: the entry @psa/checkout/resume
export { UnfollowableError } from './protocol.ts';
export { socketOptions, streamOptions, type Tokens, tokens } from './tokens.ts';

export interface ResumeOptions {
  /** The functions of the client's options: a token that the server refuses is forgotten. */
  tokens?: Tokens | undefined;
  /**
   * Called at `CURSOR_EXPIRED`: changes may have been missed. Read your lists again, and return the `updatesCursor` of that
   * query: the subscription goes on from there; from null it begins again. Without this function the subscription ends with
   * the error.
   */
  onGap?: ((request: LiveRequest) => string | null | Promise<string | null>) | undefined;
  /** Called before each further attempt, with what has ended the last one. */
  onRetry?: ((cause: unknown) => void) | undefined;
  /** Waits between attempts, in place of a timer; the wait is left when the signal aborts. */
  wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/**
 * Returns the client with subscriptions that come back where they were after whatever ends a connection: no update is
 * missed, and none comes twice. Queries and mutations pass through.
 *
 * Each subscription declares `$after: String`, passes it on as `after`, and selects `cursor`.
 */
export function resumable<Client extends LiveClient>(client: Client, options: ResumeOptions = {}): Client {
  const open = client.subscribe.bind(client) as Subscribe;
  const answered = options.tokens ?? client;
  noticeSilence(client, answered);
  const subscribe: Subscribe = ({ operationKind, ...request }, sink) =>
    isSubscription({ ...request, operationKind })
      ? follow(open, request, sink, { ...options, answered })
      : open(request, sink);
  return { ...client, subscribe, iterate: (request: LiveRequest) => iterate(subscribe, request) };
}

const PONG_MS = 5_000;

/**
 * Ends a socket of graphql-ws that does not answer a ping, for which the library itself waits for ever. Only
 * an acknowledged socket is ended: before that, version 5 keeps a promise that nobody handles and that
 * rejects later. `socketOptions` limits the time until then.
 */
function noticeSilence(client: LiveClient, answered: object): void {
  const { on, terminate } = client as Partial<{
    on(event: string, listener: (argument: unknown) => void): unknown;
    terminate(): void;
  }>;
  if (!on || !terminate) return;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let isAcknowledged = false;
  on('connected', (socket) => {
    isAcknowledged = true;
    // The acknowledgement of a socket that was given up meanwhile is no answer to the next attempt.
    if ((socket as WebSocket).readyState === 1) noteAnswer(answered);
  });
  on('ping', (isReceived) => {
    if (!isReceived && isAcknowledged) silence = setTimeout(terminate, PONG_MS);
  });
  on('pong', () => clearTimeout(silence));
  on('closed', () => {
    isAcknowledged = false;
    clearTimeout(silence);
  });
}

/** The third refusal of the credential in a row is final. */
const MAX_REFUSALS = 3;
/**
 * The time after the server's answer from which an operation counts as accepted, even without a result. It is
 * longer than an attempt to open a stream, because the answer may belong to another stream with the same
 * tokens.
 */
const ACCEPTED_MS = 20_000;

/**
 * Whether an operation was accepted. An attempt without an answer may last longer than some accepted ones: if
 * it counted, it would reset the wait, and all clients of a busy server would reconnect at once.
 */
function isAccepted(begunAt: number, answeredAt: number | undefined): boolean {
  const isAnswered = answeredAt !== undefined && answeredAt >= begunAt;
  return Date.now() - (isAnswered ? answeredAt : begunAt + ATTEMPT_MS) > ACCEPTED_MS;
}

const CURSOR: LiveRequest = { query: CURSOR_DOCUMENT };

/** Follows one subscription over any number of operations of the client. */
function follow(
  open: Subscribe,
  request: LiveRequest,
  sink: LiveSink,
  { tokens, answered, onGap, onRetry, wait = pause }: ResumeOptions & { answered: object },
): () => void {
  // Clients that reconnect by themselves send this object again, with its cursor at that time.
  const resent = { ...request, variables: { ...request.variables } };
  const { variables } = resent;
  const left = new AbortController();
  let dispose: () => void = () => undefined;
  let attempts = 0;
  let refusals = 0;

  function finish(end: () => void): void {
    if (left.signal.aborted) return;
    left.abort();
    dispose();
    end();
  }
  const fail = (error: unknown) => finish(() => sink.error(error));

  /** Begins an operation. Its results count until one of them, or its end, is `over`. */
  function begin(operation: LiveRequest, onResult: (result: LiveResult) => unknown, onComplete: () => void) {
    let isOver = false;
    let stop: (() => void) | null = null;
    let token: PresentToken = null;
    const begunAt = Date.now();
    const isLive = () => !isOver && !left.signal.aborted;
    const end = (next: () => void) => {
      if (!isLive()) return;
      isOver = true;
      stop?.();
      next();
    };
    const over = (cause: unknown, judged: End) =>
      end(() => {
        if (isAccepted(begunAt, lastAnswerOf(answered))) attempts = refusals = 0;
        void recover(cause, judged, token);
      });
    stop = open(operation, {
      next(result) {
        if (!isLive()) return;
        const { data, errors } = result;
        // An error beside data belongs to one field, and an error that does not end the subscription is for
        // the caller.
        const judged = !data && errors?.length ? judgeErrors(errors) : null;
        if (judged && judged.verdict !== 'final') return over(errors, judged);
        try {
          return onResult(result);
        } catch (error) {
          if (!(error instanceof UnfollowableError)) throw error;
          end(() => fail(error));
        }
      },
      error: (cause) => over(cause, judge(cause)),
      complete: () => end(onComplete),
    });
    // An event stream has just requested this token; an open socket requested it when it connected.
    token = tokens?.present() ?? null;
    if (isOver) stop();
    else dispose = stop;
  }

  function start(): void {
    if (left.signal.aborted) return;
    if (variables.after != null || !hasNoFirstState(request)) {
      begin(resent, receive, () => finish(() => sink.complete()));
      return;
    }
    // Without a cursor, changes between the first attempt and the second would be missed.
    let cursor: unknown;
    begin(
      CURSOR,
      ({ data, errors }) => {
        if (!data) fail(errors);
        cursor = data?.updatesCursor;
      },
      () => {
        variables.after = cursor;
        if (typeof cursor === 'string') start();
        else fail(new UnfollowableError('The server has given no cursor to begin with'));
      },
    );
  }

  function receive(result: LiveResult): unknown {
    const update = updateIn(result);
    if (!update) return sink.next(result);
    attempts = 0;
    refusals = 0;
    if (update.cursor === variables.after) return;
    variables.after = update.cursor;
    return sink.next(result);
  }

  async function recover(cause: unknown, { verdict, retryAfterMs }: End, token: PresentToken): Promise<void> {
    if (verdict === 'refused') {
      refusals += 1;
      tokens?.drop(token);
    }
    if (verdict === 'final' || refusals >= MAX_REFUSALS || (verdict === 'gap' && !onGap)) return fail(cause);
    try {
      if (verdict === 'gap') variables.after = await onGap?.(request);
      else onRetry?.(cause);
    } catch (error) {
      return fail(error);
    }
    const ms = waitBefore(attempts, retryAfterMs);
    attempts += 1;
    // After a gap the first attempt is made at once.
    if (verdict !== 'gap' || attempts > 1) await wait(ms, left.signal);
    start();
  }

  try {
    assertResumable(request);
    start();
  } catch (error) {
    // Like any other end, it is reported after `subscribe` has returned.
    void Promise.resolve().then(() => fail(error));
  }
  return () => finish(() => sink.complete());
}

/** A source of results for Relay and urql, in the shape of an Observable. */
export interface LiveSource<Result> {
  subscribe(sink: { next(result: Result): void; error(error: never): void; complete(): void }): {
    unsubscribe(): void;
  };
}

/**
 * Adapts a client to Relay, with its `Observable`: `Network.create(fetchQuery, relaySubscribe(client, Observable))`. A persisted
 * `all…Updates` needs a first `after` of yours: its text, which shows that it has no first state, is not here.
 */
export function relaySubscribe<Observed>(
  client: LiveClient,
  Observable: { from(source: LiveSource<never>): Observed },
) {
  return (
    operation: {
      text?: string | null;
      name: string;
      id?: string | null;
      /** `query`, `mutation` or `subscription`. */
      operationKind?: string;
    },
    variables: Record<string, unknown>,
  ): Observed =>
    Observable.from(
      source(client, {
        query: operation.text ?? '',
        operationName: operation.name,
        operationKind: operation.operationKind,
        variables,
        ...(operation.text == null && operation.id ? { extensions: persisted(operation.id) } : {}),
      }),
    );
}

/** Names a persisted document, in place of its text. */
function persisted(sha256Hash: string) {
  return { persistedQuery: { version: 1, sha256Hash } };
}

/** Adapts a client to urql: `subscriptionExchange({ forwardSubscription: urqlForward(client) })`. */
export function urqlForward(client: LiveClient) {
  return (
    request: { query?: string | undefined; variables?: unknown; extensions?: unknown },
    operation?: { kind: string },
  ): LiveSource<never> =>
    source(client, {
      ...request,
      query: request.query ?? '',
      operationKind: operation?.kind,
    } as LiveRequest);
}

function source(client: LiveClient, request: LiveRequest): LiveSource<never> {
  const subscribe = client.subscribe.bind(client) as Subscribe;
  return {
    subscribe: (sink) => ({ unsubscribe: subscribe(request, sink as unknown as LiveSink) }),
  };
}
