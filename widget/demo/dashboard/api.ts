// The dashboard's GraphQL client over HTTP and WebSocket, with a token that is renewed before it expires.
import { type Client, createClient } from 'graphql-ws';
import type { UpstreamAges } from './service-contact.ts';

interface Config {
  endpoint: string;
  token: string;
  expiresAt: string;
  /** The server's clock; this machine's may differ. */
  now: string;
  /** Whether bank and acquirer are simulated. A real account's dashboard is read-only. */
  simulated: boolean;
  /** Whether the server has the merchant's console. */
  console: boolean;
}

/** The endpoint, and the short-lived token that reads the account there. */
export interface Credentials {
  endpoint: string;
  token: string;
}

export interface DashboardApi {
  /** Estimates the server's time. */
  now(): Date;
  /** Tells whether the account is simulated: only then can the page request payouts. */
  isSimulated(): Promise<boolean>;
  hasConsole(): Promise<boolean>;
  /** Mints a new token after the current one has expired. */
  renewToken(): Promise<string>;
  /** Corrects the estimate of the server's clock by an instant that the server has reported: it is not behind that. */
  observeServerTime(instant: string): void;
  /** Runs a query. Rejects with a `RefusedError` where the server refuses it, or a part of it. */
  request<Data>(query: string, variables?: Record<string, unknown>): Promise<Data>;
  /** Runs a query of several parts. Rejects with a `RefusedError` where all of them failed. */
  requestParts<Data extends object>(
    query: string,
    variables?: Record<string, unknown>,
  ): Promise<PartialResult<Data>>;
  /**
   * Follows a stream from a cursor on and, after every interruption, from the last cursor seen.
   * @param onLost called once when the stream has ended and cannot be resumed
   */
  subscribe<Update extends { cursor: string }>(
    query: string,
    after: string | null,
    onUpdate: (update: Update) => void,
    onLost: () => void,
  ): void;
  /** Skips the pause before the next reconnect: the network is back, or the page is visible again. */
  reconnectNow(): void;
  /** Drops the open socket, which may be dead; the client opens another one. */
  disconnect(): void;
  close(): void;
}

/** The root fields of a result: each may have failed alone, and is null then. */
export type Parts<Data> = { [Name in keyof Data]: Data[Name] | null };

export interface PartialResult<Data> {
  parts: Parts<Data>;
  /** The parts that the service behind this server does not offer. */
  notOffered: ReadonlySet<unknown>;
}

/** The code of an error where the service behind this server does not offer what was asked for. */
export const NOT_OFFERED = 'NOT_OFFERED';

interface ResponseError {
  message: string;
  path?: readonly (string | number)[];
  extensions?: { code?: string };
}

/** A refused operation, with the code of its error. */
export class RefusedError extends Error {
  readonly code: string | null;

  constructor(message: string, code: string | null) {
    super(message);
    this.code = code;
  }
}

function toRefusedError([error]: readonly ResponseError[], status: number): RefusedError {
  return new RefusedError(error?.message ?? `GraphQL: ${status}`, error?.extensions?.code ?? null);
}

/** The root fields that failed, and may be read at another time. */
function failedIn(errors: readonly ResponseError[]): string[] {
  return errors
    .filter(({ path, extensions }) => path?.length === 1 && extensions?.code !== NOT_OFFERED)
    .map(({ path }) => String(path?.[0]));
}

async function load(path: string, request?: RequestInit): Promise<object> {
  const response = await fetch(path, request);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

/** The share of a token's lifetime after which it is renewed. */
const RENEW_AT = 0.8;
/** The time after which a server that does not answer is asked again. */
const TIMEOUT_MS = 30_000;
const PAUSES_MS = [500, 1_000, 2_000, 5_000, 10_000];

export function openApi(
  onConnected: () => void,
  onClosed: () => void,
  /** Called with each new token, before the previous one expires. */
  onCredentials: (credentials: Credentials) => void,
  /** Called with the ages of each answer of a facade, and the root fields that failed in it. */
  onAges: (ages: UpstreamAges, failed: readonly string[]) => void,
): DashboardApi {
  let config: Promise<Config> | null = null;
  /** The endpoint of the newest configuration. */
  let endpoint = '';
  let renewAt = 0;
  let renewal: ReturnType<typeof setTimeout> | undefined;
  let aheadMs = 0;
  let wake: (() => void) | null = null;
  const now = () => new Date(Date.now() + aheadMs);

  async function loadConfig(): Promise<Config> {
    const [settings, minted] = await Promise.all([
      load('/demo/dashboard/config.json'),
      load('/demo/dashboard/token', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      }),
    ]);
    const loaded = { ...settings, ...minted } as Config;
    endpoint = loaded.endpoint;
    aheadMs = Date.parse(loaded.now) - Date.now();
    const lifetimeMs = Date.parse(loaded.expiresAt) - Date.parse(loaded.now);
    renewAt = Date.now() + lifetimeMs * RENEW_AT;
    clearTimeout(renewal);
    // The server closes a socket when its token expires, so the socket is replaced by one with a new token before that.
    renewal = setTimeout(() => client.terminate(), lifetimeMs * RENEW_AT);
    onCredentials(loaded);
    return loaded;
  }

  function currentConfig(): Promise<Config> {
    if (config && Date.now() < renewAt) return config;
    renewAt = Number.POSITIVE_INFINITY;
    const loading = loadConfig();
    config = loading;
    loading.catch(() => {
      if (config === loading) config = null;
    });
    return loading;
  }

  const client: Client = createClient({
    // The client never ends a connection whose `url` rejects; where `connectionParams` rejects, it tries again.
    url: () => new URL(endpoint, location.href).href.replace(/^http/, 'ws'),
    connectionParams: async () => ({ authorization: `Bearer ${(await currentConfig()).token}` }),
    keepAlive: 12_000,
    connectionAckWaitTimeout: 5_000,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: (retries) =>
      new Promise((resolve) => {
        const pauseMs = PAUSES_MS[Math.min(retries, PAUSES_MS.length - 1)] ?? 10_000;
        const go = () => {
          clearTimeout(timer);
          wake = null;
          resolve();
        };
        const timer = setTimeout(go, pauseMs * (0.75 + Math.random() / 2));
        wake = go;
      }),
    on: {
      connected: onConnected,
      closed(event) {
        // 4403: the token has expired or was revoked.
        if ((event as CloseEvent).code === 4403) config = null;
        onClosed();
      },
      error: onClosed,
    },
  });

  async function post(query: string, variables?: Record<string, unknown>) {
    const { endpoint, token } = await currentConfig();
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json',
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = (await response.json()) as {
      data?: object | null;
      errors?: ResponseError[];
      extensions?: { upstream?: UpstreamAges };
    };
    const { data, errors = [], extensions } = answer;
    if (extensions?.upstream) onAges(extensions.upstream, failedIn(errors));
    if (errors.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED')) config = null;
    return { data, errors, status: response.status };
  }

  return {
    now,
    isSimulated: async () => (await currentConfig()).simulated,
    hasConsole: async () => (await currentConfig()).console,
    async renewToken() {
      config = null;
      return (await currentConfig()).token;
    },
    observeServerTime(instant) {
      aheadMs = Math.max(aheadMs, Date.parse(instant) - Date.now());
    },
    async request<Data>(query: string, variables?: Record<string, unknown>) {
      const { data, errors, status } = await post(query, variables);
      if (!data || errors.length > 0) throw toRefusedError(errors, status);
      return data as Data;
    },
    async requestParts<Data extends object>(query: string, variables?: Record<string, unknown>) {
      const { data, errors, status } = await post(query, variables);
      if (!data || Object.values(data).every((part) => part === null)) throw toRefusedError(errors, status);
      const notOffered = errors.filter(({ extensions }) => extensions?.code === NOT_OFFERED);
      return { parts: data as Parts<Data>, notOffered: new Set(notOffered.map(({ path }) => path?.[0])) };
    },
    subscribe(query, after, onUpdate, onLost) {
      // After a reconnect the client sends the same payload object again: updating it in place resumes the stream.
      const payload = { query, variables: { after } };
      let lost = false;
      const lose = () => {
        if (lost) return;
        lost = true;
        onLost();
      };
      client.subscribe<Record<string, unknown>>(payload, {
        next({ data, errors }) {
          const update = Object.values(data ?? {})[0] as Parameters<typeof onUpdate>[0] | undefined;
          if (errors || !update) return lose();
          payload.variables.after = update.cursor;
          onUpdate(update);
        },
        error: lose,
        complete: lose,
      });
    },
    reconnectNow() {
      wake?.();
    },
    disconnect() {
      client.terminate();
    },
    close() {
      clearTimeout(renewal);
      void client.dispose();
    },
  };
}
