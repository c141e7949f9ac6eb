// GraphQL over HTTP and WebSocket, with a token that is renewed before it ends.
import { type Client, createClient } from 'graphql-ws';

interface Config {
  endpoint: string;
  token: string;
  expiresAt: string;
  /** The server's clock, which this machine's may not agree with. */
  now: string;
  /** Bank and acquirer are; else this is a real account, and the page only shows. */
  simulated: boolean;
}

/** What reads the account, for as long as it lasts. */
export interface Acesso {
  endpoint: string;
  token: string;
}

export interface Servidor {
  /** The server's time, as far as we know. */
  agora(): Date;
  /** Whether payouts can be requested here: of a simulated account alone. */
  simulado(): Promise<boolean>;
  /** Another token, where the one that there was has ended. */
  renovar(): Promise<string>;
  /** An instant of the server's was seen: its clock is not behind it. */
  viu(instant: string): void;
  ler<Data>(query: string, variables?: Record<string, unknown>): Promise<Data>;
  /** Follows from a cursor on and, after every interruption, from the last one seen. `perdeu`: no more can be had. */
  seguir<Update extends { cursor: string }>(
    query: string,
    after: string | null,
    recebeu: (update: Update) => void,
    perdeu: () => void,
  ): void;
  /** The network is back, or the page is looked at again: now rather than after the pause. */
  acordar(): void;
  /** What is open cannot be trusted any more; it is opened again. */
  soltar(): void;
  fechar(): void;
}

async function load(path: string, request?: RequestInit): Promise<object> {
  const response = await fetch(path, request);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

/** A new token when so much of the old one's life has passed. */
const RENEW_AT = 0.8;
const PAUSES_MS = [500, 1_000, 2_000, 5_000, 10_000];

export function abrirServidor(
  ligou: () => void,
  caiu: () => void,
  /** A token has come, in time before the last one ends. */
  deuAcesso: (acesso: Acesso) => void,
): Servidor {
  let config: Promise<Config> | null = null;
  let renewAt = 0;
  let renewal: ReturnType<typeof setTimeout> | undefined;
  let aheadMs = 0;
  let wake: (() => void) | null = null;
  const agora = () => new Date(Date.now() + aheadMs);

  async function carregar(): Promise<Config> {
    const [settings, minted] = await Promise.all([
      load('/demo/dashboard/config.json'),
      load('/demo/dashboard/token', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      }),
    ]);
    const loaded = { ...settings, ...minted } as Config;
    aheadMs = Date.parse(loaded.now) - Date.now();
    const livesMs = Date.parse(loaded.expiresAt) - Date.parse(loaded.now);
    renewAt = Date.now() + livesMs * RENEW_AT;
    clearTimeout(renewal);
    // A socket lives as long as the token it came with: it is changed for one with a new token before that.
    renewal = setTimeout(() => client.terminate(), livesMs * RENEW_AT);
    deuAcesso(loaded);
    return loaded;
  }

  function pegar(): Promise<Config> {
    if (config && Date.now() < renewAt) return config;
    renewAt = Number.POSITIVE_INFINITY;
    const loading = carregar();
    config = loading;
    loading.catch(() => {
      if (config === loading) config = null;
    });
    return loading;
  }

  const client: Client = createClient({
    url: async () => {
      const { endpoint } = await pegar();
      return new URL(endpoint, location.href).href.replace(/^http/, 'ws');
    },
    connectionParams: async () => ({ authorization: `Bearer ${(await pegar()).token}` }),
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
      connected: ligou,
      closed(event) {
        // 4403: the token has ended, by the clock or by revocation.
        if ((event as CloseEvent).code === 4403) config = null;
        caiu();
      },
      error: caiu,
    },
  });

  return {
    agora,
    simulado: async () => (await pegar()).simulated,
    async renovar() {
      config = null;
      return (await pegar()).token;
    },
    viu(instant) {
      aheadMs = Math.max(aheadMs, Date.parse(instant) - Date.now());
    },
    async ler(query, variables) {
      const { endpoint, token } = await pegar();
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json, application/json',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({ query, variables }),
      });
      const { data, errors } = await response.json();
      if (
        errors?.some(
          (error: { extensions?: { code?: string } }) => error.extensions?.code === 'UNAUTHENTICATED',
        )
      )
        config = null;
      if (!data || errors) throw new Error(errors?.[0]?.message ?? `GraphQL: ${response.status}`);
      return data;
    },
    seguir(query, after, recebeu, perdeu) {
      // The client sends the same payload again after a reconnect: changing it in place is what resumes.
      const payload = { query, variables: { after } };
      let lost = false;
      const lose = () => {
        if (lost) return;
        lost = true;
        perdeu();
      };
      client.subscribe<Record<string, unknown>>(payload, {
        next({ data, errors }) {
          const update = Object.values(data ?? {})[0] as Parameters<typeof recebeu>[0] | undefined;
          if (errors || !update) return lose();
          payload.variables.after = update.cursor;
          recebeu(update);
        },
        error: lose,
        complete: lose,
      });
    },
    acordar() {
      wake?.();
    },
    soltar() {
      client.terminate();
    },
    fechar() {
      clearTimeout(renewal);
      void client.dispose();
    },
  };
}
