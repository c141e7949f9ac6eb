import type { ReactiveController } from 'lit';
import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import { pause } from '../follow/pause.ts';
import type { Transport } from '../follow/transport.ts';
import { explain, explainIfIdle, hasSecret } from '../mistakes.ts';
import { request } from '../request.ts';
import { type BoardHost, type BoardPhase, endpointOf } from './board-host.ts';
import { type Hub, hubOf, type Member } from './hub.ts';
import { ServiceAge } from './service-age.ts';
import type { Topic } from './updates.ts';

const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/** Reads what an element shows, and follows it in the stream of its hub. */
export abstract class BoardController<Host extends BoardHost = BoardHost>
  implements ReactiveController, Member
{
  phase: BoardPhase = 'idle';
  connection: CheckoutConnection = 'idle';
  error: CheckoutError | undefined;
  cursor: string | undefined;
  readonly age = new ServiceAge();
  readonly host: Host;
  abstract readonly topic: Topic;
  #hub: Hub | undefined;
  #connected: AbortController | undefined;
  #running: AbortController | undefined;
  #gap: AbortController | undefined;

  constructor(host: Host) {
    this.host = host;
    host.addController(this);
  }

  /** Reads the state, and returns the `updatesCursor` that was read before it. Throws a CheckoutError. */
  protected abstract load(signal: AbortSignal): Promise<string>;
  /** Removes what is shown. */
  protected abstract forget(): void;
  /** Reads as little as shows whether the server still answers. */
  protected abstract probe(signal: AbortSignal): Promise<unknown>;
  abstract onUpdate(update: object): void;
  abstract poll(signal: AbortSignal): Promise<() => void>;

  hostConnected(): void {
    this.#connected = new AbortController();
    const { signal } = this.#connected;
    for (const type of ['visibilitychange', 'pageshow', 'online', 'offline'])
      addEventListener(type, this.#wake, { signal });
    // Settings that the page made while the element was in no document apply now.
    if (this.host.hasUpdated) this.resume();
    // The element may have been moved to a place with another language.
    this.host.requestUpdate();
  }

  hostDisconnected(): void {
    this.#connected?.abort();
    this.#stop();
    this.onConnection('idle');
  }

  /** Reads everything again and forgets what is known, for example of another account. */
  reload(): void {
    this.forget();
    this.phase = 'idle';
    this.restart();
  }

  /** Reads the state again; what is shown stays until the answer. */
  restart(): void {
    this.#running?.abort();
    this.cursor = undefined;
    this.resume();
  }

  /** Resumes the stream at its cursor, with the current token. */
  resume(): void {
    this.#running?.abort();
    const { isConnected, token, renewToken } = this.host;
    if (!endpointOf(this.host) || !(token || renewToken) || hasSecret(this.host)) {
      // Nothing must stay visible after the token was removed.
      this.#stop();
      this.cursor = undefined;
      this.forget();
      this.onConnection('idle');
      this.#setPhase('idle');
      explainIfIdle(this.host);
    } else if (isConnected) {
      const hub = hubOf(this.host, this.#hub);
      if (hub !== this.#hub) this.#hub?.leave(this);
      hub.join(this);
      this.#hub = hub;
      this.#running = new AbortController();
      if (this.phase !== 'ready') this.#setPhase('loading');
      void this.#run(hub, this.#running.signal);
    }
  }

  /** Resumes on a user's request: a token that was refused may be valid by now. */
  retry(): void {
    this.#hub?.acceptToken();
    this.resume();
  }

  /** Is aborted when the element leaves the document. */
  get connectedSignal(): AbortSignal {
    return this.#connected?.signal ?? AbortSignal.abort();
  }

  /** Ends the following, so that the state is read again. */
  protected endStream(): void {
    this.#gap?.abort();
    this.cursor = undefined;
  }

  #stop(): void {
    this.#running?.abort();
    this.#hub?.leave(this);
    this.#hub = undefined;
  }

  /** Reads and follows until `signal` is aborted; a new token starts a new run. */
  async #run(hub: Hub, signal: AbortSignal): Promise<void> {
    let gaps = 0;
    for (let misses = 0; !signal.aborted; misses++) {
      let error: CheckoutError | undefined;
      try {
        if (!this.host.token && (await hub.renew(this.host.token))) return;
        hub.cursor ??= this.cursor;
        // A stream of other elements may be further than this element.
        if (!this.cursor || this.cursor !== hub.cursor) await hub.read(() => this.load(signal));
        signal.throwIfAborted();
        this.#setPhase('ready');
        misses = 0;
        const followedAt = Date.now();
        error = await this.#follow(hub, signal);
        // A gap in the stream: the state is read again. A server that refuses each new cursor is not asked at once.
        if (!error) {
          const isSudden = !this.#gap?.signal.aborted && Date.now() < followedAt + MAX_RETRY_MS;
          gaps = isSudden ? gaps + 1 : 0;
          if (gaps < 2 || signal.aborted) continue;
          this.onConnection('reconnecting');
          await pause(waitMsAfter(gaps - 2), signal);
          continue;
        }
      } catch (thrown) {
        error = thrown as CheckoutError;
      }
      if (signal.aborted) return;
      if (isOfToken(error)) {
        try {
          if (await hub.renew(this.host.token)) return;
        } catch (thrown) {
          error = thrown as CheckoutError;
        }
        if (signal.aborted) return;
      }
      this.onConnection('idle');
      this.#setPhase('error', error);
      if (!error.retryable) return;
      await pause((error.retryAfterSeconds ?? 0) * 1000 || waitMsAfter(misses), signal);
    }
  }

  #follow(hub: Hub, run: AbortSignal): Promise<CheckoutError | undefined> {
    this.#gap = new AbortController();
    const signal = AbortSignal.any([run, this.#gap.signal]);
    this.age.watch(
      () => this.probe(signal),
      () => this.host.requestUpdate(),
      signal,
    );
    return hub.follow(this, signal);
  }

  // ── Requests and their token ──────────────────────────────────────────────────────────────────

  async request<Answer>(query: string, variables: object, signal: AbortSignal): Promise<Answer> {
    const endpoint = endpointOf(this.host) ?? '';
    for (;;) {
      try {
        const answer = await this.authorized(signal, (token) =>
          request<Answer>({ endpoint, token, query, variables, signal }),
        );
        this.age.note(answer);
        return answer;
      } catch (thrown) {
        const { code, retryAfterSeconds = 0 } = thrown as CheckoutError;
        if (signal.aborted || code !== 'rate_limited' || this.phase !== 'ready') throw thrown;
        await pause(retryAfterSeconds * 1000 || RETRY_MS, signal);
      }
    }
  }

  /** Sends a request with the token, and again with the next one where the server refuses it. Throws a CheckoutError. */
  async authorized<Answer>(signal: AbortSignal, send: (token: string) => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const { token = '' } = this.host;
      try {
        const answer = await send(token);
        this.#hub?.acceptToken();
        return answer;
      } catch (thrown) {
        if (signal.aborted || !isOfToken(thrown as CheckoutError) || !(await this.#hub?.renew(token)))
          throw thrown;
      }
    }
  }

  // ── State and events ──────────────────────────────────────────────────────────────────────────

  #setPhase(phase: BoardPhase, error?: CheckoutError): void {
    const { phase: previous } = this;
    this.phase = phase;
    this.error = error;
    this.host.requestUpdate();
    if (phase !== previous) this.emit('psa-phase-change', { phase, previous });
    if (error) {
      const { code, reason, message, retryable } = error;
      this.emit('psa-error', { code, reason, message, retryable });
      // A series of failures is explained once, because the explanation may call the server.
      if (phase !== previous) explain(this.host, error);
    }
  }

  onConnection(connection: CheckoutConnection, transport?: Transport): void {
    // A connection that is replaced, such as for a new token, opens again at once: the page shows no
    // interruption.
    if (this.connection === connection || (this.connection === 'live' && connection === 'connecting')) return;
    this.connection = this.age.connect(connection);
    this.host.requestUpdate();
    this.emit('psa-connection-change', { connection, transport });
  }

  onTokenExpired(): void {
    this.emit('psa-token-expired', {});
  }

  /** Resumes when the page is visible or online again: sockets and timers may have died unnoticed. */
  #wake = ({ type }: Event): void => {
    if (this.phase === 'idle') return;
    if (type === 'offline') this.onConnection(type);
    else if (!document.hidden && (type !== 'visibilitychange' || this.connection !== 'live')) this.resume();
  };

  emit(name: string, detail: object): void {
    this.host.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}

/** The pause before the next try. */
function waitMsAfter(misses: number): number {
  return Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** misses) * (0.75 + Math.random() / 2);
}

/** Whether another token may help. One that lacks a scope is valid, and would be replaced by one like it. */
function isOfToken({ code, reason }: CheckoutError): boolean {
  return code === 'unauthorized' && reason !== 'FORBIDDEN';
}
