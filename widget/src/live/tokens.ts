import type { GetToken, LiveToken } from './protocol.ts';

/** A token is renewed when this share of its life is over. */
const RENEW_AT = 0.8;

/** A token, which may still be requested. */
export type PresentToken = Promise<string> | null;

/** The one token that all connections of a page or a process share. */
export interface Tokens {
  /** The value of `Authorization`. Requests a token if there is none, or if the last one is about to expire. */
  authorization(): Promise<string>;
  /** The token that a new connection would use; null if there is none yet, or the next one is due. */
  present(): PresentToken;
  /**
   * Forgets the token of a connection, which the server has refused: the next connection gets another. A newer token
   * stays. Null forgets the present token, whichever it is.
   */
  drop(refused: PresentToken): void;
}

/** Keeps the token of `getToken`, and renews it. However many connections wait for a token, one request asks for it. */
export function tokens(getToken: GetToken): Tokens {
  let asked: PresentToken = null;
  let renewAt = Number.POSITIVE_INFINITY;

  async function ask(): Promise<string> {
    const given = await inTime(getToken());
    const token: LiveToken = typeof given === 'string' ? { token: given } : given;
    renewAt = Date.now() + lifeMsOf(token) * RENEW_AT;
    return `Bearer ${token.token}`;
  }

  return {
    authorization() {
      if (Date.now() >= renewAt) asked = null;
      if (asked) return asked;
      const asking = ask().catch((error: unknown) => {
        // The next connection requests a token again.
        if (asked === asking) asked = null;
        throw error;
      });
      renewAt = Number.POSITIVE_INFINITY;
      asked = asking;
      return asking;
    },
    present: () => (Date.now() >= renewAt ? null : asked),
    drop(refused) {
      if (!refused || refused === asked) asked = null;
    },
  };
}

/**
 * Rejects if a token does not arrive in time: all connections wait for it, and the next one requests another.
 */
function inTime<T>(token: T | Promise<T>): Promise<T> {
  let limit: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(() => reject(new Error('getToken has given no token in time')), TOKEN_TIMEOUT_MS);
  });
  return Promise.race([token, late]).finally(() => clearTimeout(limit));
}

/**
 * The time of the server's last answer to a connection of these tokens or of this client: it
 * acknowledged a socket, or began a stream.
 */
const answers = new WeakMap<object, number>();

export function noteAnswer(of: object): void {
  answers.set(of, Date.now());
}

export function lastAnswerOf(of: object): number | undefined {
  return answers.get(of);
}

function lifeMsOf({ expiresAt, expiresInSeconds }: LiveToken): number {
  if (expiresInSeconds != null) return expiresInSeconds * 1_000;
  return expiresAt ? new Date(expiresAt).getTime() - Date.now() : Number.POSITIVE_INFINITY;
}

/** The limit of the time in which `getToken` gives a token. */
const TOKEN_TIMEOUT_MS = 15_000;
/**
 * The limit of the time in which a socket opens, or a stream is answered. Without one, a connection whose bytes get lost waits for
 * minutes, or for ever.
 */
const OPEN_TIMEOUT_MS = 15_000;
/** The limit of the time in which the server acknowledges an open socket. */
const ACK_TIMEOUT_MS = 10_000;
/** The time that `ws` waits for the other side when a socket is closed. */
const CLOSE_TIMEOUT_MS = 30_000;
/** The longest time of an attempt without an answer. */
export const ATTEMPT_MS = TOKEN_TIMEOUT_MS + OPEN_TIMEOUT_MS + ACK_TIMEOUT_MS + CLOSE_TIMEOUT_MS;

type SocketClass = new (url: string | URL, protocols?: string | string[]) => WebSocket;

/**
 * Options for graphql-ws: `createClient({ url, ...socketOptions(token) })`. `resumable` connects again in the library's place.
 *
 * @param Socket the class of sockets, in place of `webSocketImpl`: platforms without one, such as Node before version 22, need it
 */
export function socketOptions(
  token: Tokens,
  Socket: SocketClass | undefined = (globalThis as { WebSocket?: SocketClass }).WebSocket,
) {
  return {
    connectionParams: async () => ({ authorization: await token.authorization() }),
    connectionAckWaitTimeout: ACK_TIMEOUT_MS,
    ...(Socket && { webSocketImpl: withOpenTimeout(Socket) }),
    // `resumable` ends a connection that does not answer a ping.
    keepAlive: 12_000,
    retryAttempts: 0,
  };
}

/** Returns a subclass whose sockets close if they have not opened in time. */
function withOpenTimeout(Socket: SocketClass): SocketClass {
  return class extends Socket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      const limit = setTimeout(() => this.close(), OPEN_TIMEOUT_MS);
      // `ws` would throw the error of a socket that is ended before it opens, and nobody listens for it.
      this.addEventListener('error', () => undefined);
      for (const event of ['open', 'close']) this.addEventListener(event, () => clearTimeout(limit));
    }
  };
}

/** Options for graphql-sse: `createClient({ url, ...streamOptions(token) })`. `resumable` connects again in the library's place. */
export function streamOptions(token: Tokens) {
  return {
    headers: async () => ({ authorization: await token.authorization() }),
    fetchFn: (input: string | URL | Request, init?: RequestInit) => fetchWhole(input, init, token),
    retryAttempts: 0,
  };
}

/** The time without a byte after which a stream counts as lost: the server writes a comment every 12 s. */
const SILENCE_MS = 45_000;

/** Fetches, and fails if the server does not answer in time. */
async function fetchInTime(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const late = new AbortController();
  const limit = setTimeout(() => late.abort(new Error('The server has not answered')), OPEN_TIMEOUT_MS);
  const signal = init?.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
  return fetch(input, { ...init, signal }).finally(() => clearTimeout(limit));
}

/**
 * Fetches, with a body that fails if it ends: a stream of events ends with `complete`, but a server that
 * stops ends it without. The library would wait for ever for a stream that has ended so while the library was
 * busy, or that was lost in silence.
 */
async function fetchWhole(
  input: string | URL | Request,
  init: RequestInit | undefined,
  tokens: Tokens,
): Promise<Response> {
  const response = await fetchInTime(input, init);
  const reader = response.ok && response.body?.getReader();
  if (!reader) return response;
  noteAnswer(tokens);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const silence = setTimeout(() => reader.cancel(), SILENCE_MS);
        try {
          const { done, value } = await reader.read();
          if (done) controller.error(new Error('The stream of events has ended'));
          else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
        } finally {
          clearTimeout(silence);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // A chunk is read only when it is requested: none waits here, where the failure at the end would drop it.
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
