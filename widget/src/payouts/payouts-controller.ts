import type { ReactiveController } from 'lit';
import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import { follow } from '../follow/follow.ts';
import { pause } from '../follow/pause.ts';
import type { Transport } from '../follow/transport.ts';
import { explain, explainIfIdle, hasSecret } from '../mistakes.ts';
import { request } from '../request.ts';
import { onceAFrame } from './once-a-frame.ts';
import {
  PAYOUT_UPDATES,
  PAYOUTS,
  type Payout,
  type PayoutPage,
  type PayoutStatus,
  type PayoutUpdate,
  POLL,
  type Polled,
  START,
} from './operations.ts';
import { createPayoutList, type PayoutView, pageOf } from './payout-list.ts';
import { endpointOf, MAX_PAGE_SIZE, type PayoutsHost, pageSizeOf } from './payouts-host.ts';
import { ServiceAge } from './service-age.ts';
import { TokenRenewal } from './token-renewal.ts';

type Update = Pick<PayoutUpdate, 'payout' | 'previousStatus'> | { payouts: Payout[]; others: Payout[] };

/** The largest number of rows that are loaded for sorting: without a click, and by a click. */
const AUTO_LOAD_ROWS = 1_000;
export const MAX_ROWS = 10_000;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/** Loads the account's payouts page by page, and follows all of them. */
export class PayoutsController implements ReactiveController {
  list = createPayoutList();
  phase: PayoutsHost['phase'] = 'idle';
  connection: CheckoutConnection = 'idle';
  error: CheckoutError | undefined;
  /** The request in progress besides the stream: another view, the next page, or all remaining pages. */
  busy: '' | 'view' | 'more' | 'all' = '';
  /** The error of the next page. */
  moreError: CheckoutError | undefined;
  readonly age = new ServiceAge();
  readonly #host: PayoutsHost;
  #connected: AbortController | undefined;
  #running: AbortController | undefined;
  #loading: AbortController | undefined;
  /** The cursor of the stream; without it the list is loaded again. */
  #cursor: string | undefined;
  /** Whether the list was not polled since its first page. */
  #isFirstPoll = true;
  readonly #tokens: TokenRenewal;
  /** The filter of the list and its stream, as text. */
  #filter: string | undefined;
  readonly #arrangeInFrame = onceAFrame(() => this.arrange());

  constructor(host: PayoutsHost) {
    this.#host = host;
    this.#tokens = new TokenRenewal(host, () => this.emit('psa-token-expired', {}));
    host.addController(this);
  }

  hostConnected(): void {
    this.#connected = new AbortController();
    const { signal } = this.#connected;
    for (const type of ['visibilitychange', 'pageshow', 'online', 'offline'])
      addEventListener(type, this.#wake, { signal });
    // Settings that the page made while the element was in no document apply now.
    if (this.#host.hasUpdated) this.resume();
    // The element may have been moved to a place with another language.
    this.#host.requestUpdate();
  }

  hostDisconnected(): void {
    this.#connected?.abort();
    this.#running?.abort();
    // A view that was being loaded is loaded again when the element is inserted again.
    if (this.busy === 'view') this.#cursor = undefined;
    this.#loading?.abort();
    this.#setConnection('idle');
  }

  /** Loads everything again and forgets all known payouts, for example of another account. */
  reload(): void {
    this.list = createPayoutList();
    this.phase = 'idle';
    this.restart();
  }

  /** Loads the first page again; the shown rows stay until its answer. */
  restart(): void {
    this.#cursor = undefined;
    this.#loading?.abort();
    this.#loading = undefined;
    this.resume();
  }

  /** Resumes the stream at its cursor, with the current token. */
  resume(): void {
    this.#running?.abort();
    const { isConnected, token, renewToken } = this.#host;
    if (!endpointOf(this.#host) || !(token || renewToken) || hasSecret(this.#host)) {
      // The rows must not stay visible after the token was removed.
      this.#loading?.abort();
      this.#cursor = undefined;
      this.list = createPayoutList();
      this.#setConnection('idle');
      this.#setPhase('idle');
      explainIfIdle(this.#host);
    } else if (isConnected) {
      this.#running = new AbortController();
      if (this.phase !== 'ready') this.#setPhase('loading');
      void this.#run(this.#running.signal);
    }
  }

  /** Resumes on a user's request: a token that was refused may be valid by now. */
  retry(): void {
    this.#tokens.reset();
    this.resume();
  }

  /** Shows another filter or another order. */
  setView(view: PayoutView): void {
    // Another filter has another stream.
    if (this.phase !== 'ready' || JSON.stringify(view.filter) !== this.#filter) {
      if (this.phase !== 'idle') this.restart();
      return;
    }
    this.#loading?.abort();
    if (this.list.sort(view)) {
      this.arrange(false);
      this.#loadAllIfFew();
      return;
    }
    void this.#load('view', async (fetchPage) => {
      this.list.start(view, await fetchPage(pageOf(view, pageSizeOf(this.#host))));
      this.arrange(false);
    }).then(() => this.#loadAllIfFew());
  }

  /** Loads the next page. */
  loadMore(): void {
    if (this.busy || this.moreError || this.list.complete || this.phase !== 'ready') return;
    void this.#load('more', async (fetchPage) => {
      this.list.append(await fetchPage(this.list.nextPage(pageSizeOf(this.#host))));
      this.arrange();
    });
  }

  /** Loads pages until `maxRows` rows are loaded, or all, and then sorts them at once. */
  loadAll(maxRows = MAX_ROWS): void {
    void this.#load('all', async (fetchPage) => {
      while (!this.list.complete && this.list.loaded < maxRows) {
        this.list.append(
          await fetchPage(this.list.nextPage(Math.min(MAX_PAGE_SIZE, maxRows - this.list.loaded))),
        );
        this.#host.requestUpdate();
      }
    }).then(() => this.arrange(false));
  }

  /** Retries the page that failed. */
  retryPage(): void {
    this.moreError = undefined;
    if (this.list.sortedLocally) this.loadAll();
    else this.loadMore();
  }

  /** Updates the rows on the screen; a frozen order is kept. */
  arrange(freeze: boolean = this.#host.freezeOrder): void {
    this.list.arrange(freeze);
    this.#host.requestUpdate();
  }

  // ── The loop of first page and stream ─────────────────────────────────────────────────────────

  /** Loads and follows until `signal` is aborted; a new token starts a new run. */
  async #run(signal: AbortSignal): Promise<void> {
    for (let misses = 0; !signal.aborted; misses++) {
      let error: CheckoutError | undefined;
      try {
        if (!this.#host.token && (await this.#tokens.renew(this.#host.token))) return;
        if (!this.#cursor) await this.#loadFirstPage(signal);
        this.#setPhase('ready');
        misses = 0;
        error = await this.#follow(signal);
        // A gap in the stream: the list is loaded again.
        if (!error) continue;
      } catch (thrown) {
        error = thrown as CheckoutError;
      }
      if (signal.aborted) return;
      if (error.code === 'unauthorized') {
        try {
          if (await this.#tokens.renew(this.#host.token)) return;
        } catch (thrown) {
          error = thrown as CheckoutError;
        }
        if (signal.aborted) return;
      }
      this.#setConnection('idle');
      this.#setPhase('error', error);
      if (!error.retryable) return;
      const waitMs = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** misses) * (0.75 + Math.random() / 2);
      await pause((error.retryAfterSeconds ?? 0) * 1000 || waitMs, signal);
    }
  }

  async #loadFirstPage(signal: AbortSignal): Promise<void> {
    const { view } = this.#host;
    const filter = JSON.stringify(view.filter);
    if (filter !== this.#filter) this.busy = 'view';
    this.#filter = filter;
    const { updatesCursor, payouts } = await this.#request<{ updatesCursor: string; payouts: PayoutPage }>(
      START,
      pageOf(view, pageSizeOf(this.#host)),
      signal,
    );
    signal.throwIfAborted();
    this.#cursor = updatesCursor;
    this.#isFirstPoll = true;
    this.#loading?.abort();
    this.list.restart(view, payouts);
    // The rows of another filter do not stay, even if the pointer is in the table.
    this.arrange(this.busy !== 'view' && this.#host.freezeOrder);
    this.busy = '';
    // The view has changed during the request.
    if (view !== this.#host.view) this.setView(this.#host.view);
    else this.#loadAllIfFew();
  }

  #follow(run: AbortSignal): Promise<CheckoutError | undefined> {
    const { token = '', transport } = this.#host;
    const variables = { after: this.#cursor, filter: this.#host.view.filter };
    const stream = new AbortController();
    const signal = AbortSignal.any([run, stream.signal]);
    const endStream = () => {
      this.#cursor = undefined;
      stream.abort();
    };
    const poll = (page: object) => this.#request<Polled>(POLL, { filter: variables.filter, ...page }, signal);
    this.age.watch(
      () => poll({ first: 1, ids: [] }),
      () => this.#host.requestUpdate(),
      signal,
    );
    return follow<Update>({
      endpoint: endpointOf(this.#host) ?? '',
      token,
      transport,
      query: PAYOUT_UPDATES,
      variables,
      signal,
      read: async () => {
        const { payouts, nodes } = await poll({ first: pageSizeOf(this.#host), ids: this.list.openIds() });
        return { payouts: payouts.nodes, others: nodes.filter((node) => node !== null) };
      },
      onUpdate: (update) => {
        if ('payout' in update) {
          this.#cursor = update.cursor;
          this.#apply(update.payout, update.previousStatus);
        } else {
          const { payouts, others } = update;
          const { statuses, sort } = this.#host.view;
          // At the first poll, an unlisted payout is not new under a filter, or if an oldest-first list is
          // incomplete.
          const isSilent =
            this.#isFirstPoll && (statuses[0] || (sort === 'requested' && !this.list.complete));
          // There are more than a page of new payouts since the last poll, so some in between may be missing.
          if (
            !isSilent &&
            payouts.length === pageSizeOf(this.#host) &&
            !payouts.some(({ id }) => this.list.get(id))
          )
            queueMicrotask(endStream);
          for (const payout of [...others, ...payouts].reverse())
            if (isSilent && !this.list.get(payout.id)) this.list.apply(payout, payout.status);
            else this.#apply(payout, undefined);
          this.#isFirstPoll = false;
        }
        this.#arrangeInFrame();
      },
      onConnection: (connection, usedTransport) => {
        // The cursor has expired, and a stream without one lacks the updates in between: the list is loaded again.
        if (variables.after === undefined) return endStream();
        if (connection === 'live') this.#tokens.reset();
        this.#setConnection(connection, usedTransport);
      },
    });
  }

  #apply(payout: Payout, previousStatus: PayoutStatus | null | undefined): void {
    const previous = this.list.get(payout.id)?.status ?? previousStatus ?? undefined;
    const kind = this.list.apply(payout, previousStatus);
    if (!kind) return;
    this.emit('psa-payout-update', { payout, previous });
    this.#host.onPayoutChange(kind, payout, previous !== payout.status);
  }

  // ── Requests and their token ──────────────────────────────────────────────────────────────────

  /** Loads all payouts of a view that is sorted here, if they are few: only all of them can be sorted. */
  #loadAllIfFew(): void {
    const { sortedLocally, complete, total } = this.list;
    if (sortedLocally && !complete && total <= AUTO_LOAD_ROWS && this.phase !== 'error')
      this.loadAll(AUTO_LOAD_ROWS);
  }

  async #load(
    busy: 'view' | 'more' | 'all',
    work: (fetchPage: (variables: object) => Promise<PayoutPage>) => Promise<void>,
  ): Promise<void> {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    const { signal } = loading;
    this.busy = busy;
    this.moreError = undefined;
    this.#host.requestUpdate();
    try {
      await work(async (variables) => {
        const { payouts } = await this.#request<{ payouts: PayoutPage }>(PAYOUTS, variables, signal);
        // A later request has replaced this one.
        if (signal.aborted) throw signal.reason;
        return payouts;
      });
    } catch (thrown) {
      if (signal.aborted) return;
      // A next page can be retried; without its first page a view has nothing to show.
      if (busy === 'view') this.restart();
      else this.moreError = thrown as CheckoutError;
    } finally {
      if (this.#loading === loading) this.busy = '';
      this.#host.requestUpdate();
    }
  }

  async #request<Answer>(query: string, variables: object, signal: AbortSignal): Promise<Answer> {
    for (;;) {
      const { token = '' } = this.#host;
      try {
        const answer = await request<Answer>({
          endpoint: endpointOf(this.#host) ?? '',
          token,
          query,
          variables,
          signal,
        });
        this.#tokens.reset();
        this.age.note(answer);
        return answer;
      } catch (thrown) {
        const { code, retryAfterSeconds = 0 } = thrown as CheckoutError;
        if (signal.aborted) throw thrown;
        if (code === 'rate_limited' && this.phase === 'ready')
          await pause(retryAfterSeconds * 1000 || RETRY_MS, signal);
        else if (code !== 'unauthorized' || !(await this.#tokens.renew(token))) throw thrown;
      }
    }
  }

  // ── State and events ──────────────────────────────────────────────────────────────────────────

  #setPhase(phase: PayoutsHost['phase'], error?: CheckoutError): void {
    const { phase: previous } = this;
    this.phase = phase;
    this.error = error;
    this.#host.requestUpdate();
    if (phase !== previous) this.emit('psa-phase-change', { phase, previous });
    if (error) {
      const { code, reason, message, retryable } = error;
      this.emit('psa-error', { code, reason, message, retryable });
      // A series of failures is explained once, because the explanation may call the server.
      if (phase !== previous) explain(this.#host, error);
    }
  }

  #setConnection(connection: CheckoutConnection, transport?: Transport): void {
    // A connection that is replaced, such as for a new token, opens again at once: the page shows no
    // interruption.
    if (this.connection === connection || (this.connection === 'live' && connection === 'connecting')) return;
    this.connection = this.age.connect(connection);
    this.#host.requestUpdate();
    this.emit('psa-connection-change', { connection, transport });
  }

  /** Resumes when the page is visible or online again: sockets and timers may have died unnoticed. */
  #wake = ({ type }: Event): void => {
    if (this.phase === 'idle') return;
    if (type === 'offline') this.#setConnection(type);
    else if (!document.hidden && (type !== 'visibilitychange' || this.connection !== 'live')) this.resume();
  };

  emit(name: string, detail: object): void {
    this.#host.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}
