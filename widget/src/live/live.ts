import { eventStreamClient } from './event-stream.ts';
import { iterate } from './iterate.ts';
import type { GetToken, LiveError, LiveRequest, LiveResult, LiveSink } from './protocol.ts';
import { type ResumeOptions, resumable } from './resume.ts';
import { tokens } from './tokens.ts';

export type { GetToken, LiveError, LiveRequest, LiveResult, LiveSink, LiveToken } from './protocol.ts';
// biome-ignore lint/performance/noBarrelFile: the entry @psa/checkout/live
export { UnfollowableError } from './protocol.ts';

export interface LiveClientOptions extends Omit<ResumeOptions, 'tokens'> {
  /** The address of `/graphql`. */
  endpoint: string | URL;
  getToken: GetToken;
  fetch?: typeof fetch | undefined;
}

/** A client of subscriptions without a library, over event streams. */
export interface PsaLiveClient {
  /** Follows a subscription; the returned function leaves it. */
  subscribe<Data = Record<string, unknown>>(
    request: LiveRequest,
    sink: LiveSink<LiveResult<Data>>,
  ): () => void;
  iterate<Data = Record<string, unknown>>(
    request: LiveRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<LiveResult<Data>, void, void>;
}

/**
 * Creates a client whose subscriptions come back where they were, as those of `resumable` do. Its `subscribe` and `iterate` are
 * those of graphql-ws' client.
 */
export function createLiveClient({
  endpoint,
  getToken,
  fetch,
  ...options
}: LiveClientOptions): PsaLiveClient {
  const shared = tokens(getToken);
  const client = resumable(eventStreamClient({ endpoint, tokens: shared, fetch }), {
    ...options,
    tokens: shared,
  });
  const subscribe = client.subscribe as PsaLiveClient['subscribe'];
  return {
    subscribe,
    iterate: (request, signal) => iterate(client.subscribe, request, signal),
  };
}

export interface LiveOptions extends LiveClientOptions {
  /** A subscription that declares `$after: String` and selects `cursor`. */
  query: string;
  variables?: Record<string, unknown> | undefined;
  /** The place to resume from: the cursor of an update, or an `updatesCursor`. */
  after?: string | null | undefined;
  /** Ends it. */
  signal?: AbortSignal | undefined;
}

/** The update of a subscription, with the fields that it selects. */
export interface LiveUpdate {
  cursor: string;
}

/**
 * Follows a subscription: `for await (const update of live({ … }))`. The next update is read when the loop asks for it.
 * Ends at the end of what it follows, at an abort, and with `PsaLiveError`.
 */
export async function* live<Update extends LiveUpdate = LiveUpdate>({
  query,
  variables,
  after,
  signal,
  ...options
}: LiveOptions): AsyncGenerator<Update, void, void> {
  const request = { query, variables: { ...variables, ...(after == null ? {} : { after }) } };
  try {
    const results = createLiveClient(options).iterate<Record<string, Update>>(request, signal);
    for await (const { data, errors } of results) {
      if (!data) throw new PsaLiveError(errors ?? []);
      yield Object.values(data)[0] as Update;
    }
  } catch (error) {
    throw Array.isArray(error) ? new PsaLiveError(error as LiveError[]) : error;
  }
}

/** The server has refused the subscription. `code` says why: such as `FORBIDDEN` or `CURSOR_EXPIRED`. */
export class PsaLiveError extends Error {
  override readonly name = 'PsaLiveError';
  readonly code: string;
  readonly errors: readonly LiveError[];

  constructor(errors: readonly LiveError[]) {
    super(errors[0]?.message ?? 'refused');
    this.code = errors[0]?.extensions?.code ?? '';
    this.errors = errors;
  }
}
