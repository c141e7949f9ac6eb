import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import { follow } from '../follow/follow.ts';
import { pause } from '../follow/pause.ts';
import type { Transport } from '../follow/transport.ts';
import { request } from '../request.ts';
import {
  PAYOUT_UPDATES,
  PAYOUTS,
  type Payout,
  type PayoutPage,
  type PayoutStatus,
  type PayoutUpdate,
  POLL,
  START,
} from './operations.ts';
import { createPayoutList, firstPage, type PayoutView } from './payout-list.ts';

export type PayoutsPhase = 'idle' | 'loading' | 'ready' | 'error';

export interface PayoutsHost extends ReactiveControllerHost, HTMLElement {
  endpoint?: string | undefined;
  token?: string | undefined;
  transport: 'auto' | Transport;
  pageSize: number;
  readonly view: PayoutView;
  /** Gives a new token when the old one has ended. */
  renewToken?: (() => Promise<string> | string) | undefined;
  /** Whether the rows must stay where they stand. */
  readonly still: boolean;
  /** What has come; news is a new status. */
  told(kind: 'new' | 'changed', payout: Payout, isNews: boolean): void;
}

type Update = Pick<PayoutUpdate, 'payout' | 'previousStatus'> | { payouts: Payout[]; others: Payout[] };

const DEFAULT_PAGE = 50;
const LARGEST_PAGE = 100;
/** So many rows are loaded unasked to be sorted, and so many at most. */
const FEW = 1_000;
export const MOST_ROWS = 10_000;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** Reads the account's payouts page by page, and follows all of them. */
export class PayoutsController implements ReactiveController {
  list = createPayoutList();
  phase: PayoutsPhase = 'idle';
  connection: CheckoutConnection = 'idle';
  error: CheckoutError | undefined;
  /** What is on its way besides the stream: another view, the next page, or all that is left. */
  busy: '' | 'view' | 'more' | 'all' = '';
  /** Why the next page did not come. */
  moreError: CheckoutError | undefined;

  readonly #host: PayoutsHost;
  #connected: AbortController | undefined;
  #running: AbortController | undefined;
  #reading: AbortController | undefined;
  /** Where the stream stands; without it all is read anew. */
  #after: string | undefined;
  #renewing: { token: string | undefined; done: Promise<void> } | undefined;
  /** Came by renewal and has not read anything yet: if it does not, another one would not either. */
  #untried: string | undefined;

  constructor(host: PayoutsHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#connected = new AbortController();
    const { signal } = this.#connected;
    for (const type of ['visibilitychange', 'pageshow', 'online', 'offline'])
      addEventListener(type, this.#wake, { signal });
    if (this.phase !== 'idle') this.resume();
  }

  hostDisconnected(): void {
    this.#connected?.abort();
    this.#running?.abort();
    // What was asked for by another filter is still wanted when the element is back.
    if (this.busy === 'view') this.#after = undefined;
    this.#reading?.abort();
    this.#connect('idle');
  }

  /** Everything anew, of another account for one: what was known is forgotten. */
  begin(): void {
    this.list = createPayoutList();
    this.phase = 'idle';
    this.restart();
  }

  /** From the first page; what is shown stays until the answer is there. */
  restart(): void {
    this.#after = undefined;
    this.#reading?.abort();
    this.resume();
  }

  /** Goes on where the stream stood, with the token that there is now. */
  resume(): void {
    this.#running?.abort();
    const { isConnected, token } = this.#host;
    if (!this.#endpoint || !token) {
      // Nobody is left to see what was there.
      this.#reading?.abort();
      this.#after = undefined;
      this.list = createPayoutList();
      this.#connect('idle');
      this.#enter('idle');
    } else if (isConnected) {
      this.#running = new AbortController();
      if (this.phase !== 'ready') this.#enter('loading');
      void this.#run(this.#running.signal);
    }
  }

  /** As `resume`, by a person's wish: a token that was refused may be good by now. */
  retry(): void {
    this.#untried = undefined;
    this.resume();
  }

  /** Shows the rows by another filter or in another order. */
  show(view: PayoutView): void {
    if (this.phase !== 'ready') {
      if (this.phase !== 'idle') this.restart();
      return;
    }
    this.#reading?.abort();
    if (this.list.sort(view)) {
      this.#arrange(false);
      this.#fill();
      return;
    }
    void this.#read('view', async (ask) => {
      this.list.start(view, await ask(firstPage(view, this.#pageSize)));
      this.#arrange(false);
    }).then(() => this.#fill());
  }

  /** The next page. */
  more(): void {
    if (this.busy || this.moreError || this.list.complete || this.phase !== 'ready') return;
    void this.#read('more', async (ask) => {
      this.list.append(await ask(this.list.next(this.#pageSize)));
      this.arrange();
    });
  }

  /** Pages until `most` rows are loaded, or all; only then they find their new places, at once. */
  all(most = MOST_ROWS): void {
    void this.#read('all', async (ask) => {
      while (!this.list.complete && this.list.loaded < most) {
        this.list.append(await ask(this.list.next(Math.min(LARGEST_PAGE, most - this.list.loaded))));
        this.#host.requestUpdate();
      }
    }).then(() => this.#arrange(false));
  }

  /** What did not come, once more. */
  again(): void {
    this.moreError = undefined;
    if (this.list.sortedHere) this.all();
    else this.more();
  }

  /** Brings the screen up to date with what is known; rows that have to stand still do. */
  arrange(): void {
    this.#arrange(this.#host.still);
  }

  // ── From the first page to the stream, again and again ────────────────────────────────────────

  async #run(signal: AbortSignal): Promise<void> {
    for (let misses = 0; !signal.aborted; misses++) {
      let error: CheckoutError | undefined;
      try {
        if (!this.#after) await this.#start(signal);
        this.#enter('ready');
        misses = 0;
        error = await this.#follow(signal);
        // A gap in the stream: what fell into it is in the lists.
        if (!error) continue;
      } catch (thrown) {
        error = thrown as CheckoutError;
      }
      if (signal.aborted) return;
      if (error.code === 'unauthorized') {
        try {
          // A new token starts a new run.
          if (await this.#renew(this.#host.token)) return;
        } catch (thrown) {
          error = { code: 'network', message: String(thrown), retryable: true };
        }
        if (signal.aborted) return;
      }
      this.#connect('idle');
      this.#enter('error', error);
      if (!error.retryable) return;
      const waitMs = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** misses) * (0.75 + Math.random() / 2);
      await pause((error.retryAfterSeconds ?? 0) * 1000 || waitMs, signal);
    }
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { view } = this.#host;
    const { updatesCursor, payouts } = await this.#ask<{ updatesCursor: string; payouts: PayoutPage }>(
      START,
      firstPage(view, this.#pageSize),
      signal,
    );
    signal.throwIfAborted();
    this.#after = updatesCursor;
    this.#reading?.abort();
    this.list.restart(view, payouts);
    this.arrange();
    // Asked for something else meanwhile.
    if (view !== this.#host.view) this.show(this.#host.view);
    else this.#fill();
  }

  #follow(run: AbortSignal): Promise<CheckoutError | undefined> {
    const { token = '', transport } = this.#host;
    const variables = { after: this.#after };
    const stream = new AbortController();
    const signal = AbortSignal.any([run, stream.signal]);
    const lose = () => {
      this.#after = undefined;
      stream.abort();
    };
    let polled = false;
    return follow<Update>({
      endpoint: this.#endpoint ?? '',
      token,
      transport,
      query: PAYOUT_UPDATES,
      variables,
      signal,
      read: async () => {
        const { payouts, nodes } = await this.#ask<{ payouts: PayoutPage; nodes: (Payout | null)[] }>(
          POLL,
          { first: this.#pageSize, ids: this.list.open() },
          signal,
        );
        return { payouts: payouts.nodes, others: nodes.filter((node) => node !== null) };
      },
      onUpdate: (update) => {
        if ('payout' in update) {
          this.#after = update.cursor;
          this.#apply(update.payout, update.previousStatus);
        } else {
          const { payouts, others } = update;
          // The first time, under a filter, what is not on the list is not new for that.
          const silent = !polled && this.#host.view.statuses.length > 0;
          // More than a page since the last time: nobody knows what is in between.
          if (polled && payouts.length === this.#pageSize && !payouts.some(({ id }) => this.list.get(id)))
            queueMicrotask(lose);
          for (const payout of [...others, ...payouts].reverse())
            if (silent && !this.list.get(payout.id)) this.list.apply(payout, payout.status);
            else this.#apply(payout, undefined);
          polled = true;
        }
        this.arrange();
      },
      onConnection: (connection, by) => {
        // What came in between is no longer kept, and the stream goes on from now: all is read anew.
        if (variables.after === undefined) return lose();
        if (connection === 'live') this.#untried = undefined;
        this.#connect(connection, by);
      },
    });
  }

  #apply(payout: Payout, previousStatus: PayoutStatus | null | undefined): void {
    const previous = this.list.get(payout.id)?.status ?? previousStatus ?? undefined;
    const kind = this.list.apply(payout, previousStatus);
    if (!kind) return;
    this.emit('psa-payout-update', { payout, previous });
    this.#host.told(kind, payout, previous !== payout.status);
  }

  // ── Questions, and the token that they are asked with ─────────────────────────────────────────

  /** Few enough to have them all, where only all of them can be sorted. */
  #fill(): void {
    const { sortedHere, complete, total } = this.list;
    if (sortedHere && !complete && total <= FEW && this.phase !== 'error') this.all(FEW);
  }

  async #read(
    busy: 'view' | 'more' | 'all',
    work: (ask: (variables: object) => Promise<PayoutPage>) => Promise<void>,
  ): Promise<void> {
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    const { signal } = reading;
    this.busy = busy;
    this.moreError = undefined;
    this.#host.requestUpdate();
    try {
      await work(async (variables) => {
        const { payouts } = await this.#ask<{ payouts: PayoutPage }>(PAYOUTS, variables, signal);
        // An answer to what nobody asks any more.
        if (signal.aborted) throw signal.reason;
        return payouts;
      });
    } catch (thrown) {
      if (signal.aborted) return;
      // The next page can be asked for again; without the first one of a view there is nothing to show.
      if (busy === 'view') this.restart();
      else this.moreError = thrown as CheckoutError;
    } finally {
      if (this.#reading === reading) this.busy = '';
      this.#host.requestUpdate();
    }
  }

  async #ask<Answer>(query: string, variables: object, signal: AbortSignal): Promise<Answer> {
    for (;;) {
      const { token = '' } = this.#host;
      try {
        const answer = await request<Answer>({
          endpoint: this.#endpoint ?? '',
          token,
          query,
          variables,
          signal,
        });
        this.#untried = undefined;
        return answer;
      } catch (thrown) {
        const { code, retryAfterSeconds = 0 } = thrown as CheckoutError;
        if (signal.aborted) throw thrown;
        if (code === 'rate_limited' && this.phase === 'ready')
          await pause(retryAfterSeconds * 1000 || RETRY_MS, signal);
        else if (code !== 'unauthorized' || !(await this.#renew(token))) throw thrown;
      }
    }
  }

  /** Whether there is another token now. Throws what `renewToken` throws. */
  async #renew(used: string | undefined): Promise<boolean> {
    const host = this.#host;
    if (host.token === used && used !== this.#untried) {
      if (this.#renewing?.token !== used) {
        const done = this.#renewOnce().finally(() => {
          if (this.#renewing?.done === done) this.#renewing = undefined;
        });
        this.#renewing = { token: used, done };
      }
      await this.#renewing?.done;
    }
    if (host.token === used) return false;
    this.#untried = host.token;
    return true;
  }

  async #renewOnce(): Promise<void> {
    const host = this.#host;
    const { token } = host;
    this.emit('psa-token-expired', {});
    if (host.token !== token || !host.renewToken) return;
    const renewed = await host.renewToken();
    // The page may have given another account's meanwhile, or taken it away.
    if (host.token === token) host.token = renewed;
  }

  // ── What the page is told ─────────────────────────────────────────────────────────────────────

  #arrange(still: boolean): void {
    this.list.arrange(still);
    this.#host.requestUpdate();
  }

  #enter(phase: PayoutsPhase, error?: CheckoutError): void {
    const { phase: previous } = this;
    this.phase = phase;
    this.error = error;
    this.#host.requestUpdate();
    if (phase !== previous) this.emit('psa-phase-change', { phase, previous });
    if (error) {
      const { code, message, retryable } = error;
      this.emit('psa-error', { code, message, retryable });
    }
  }

  #connect(connection: CheckoutConnection, transport?: Transport): void {
    // A connection that is changed for another, with a new token for one, is back in a moment: nothing to alarm with.
    if (this.connection === connection || (this.connection === 'live' && connection === 'connecting')) return;
    this.connection = connection;
    this.#host.requestUpdate();
    this.emit('psa-connection-change', { connection, transport });
  }

  get #pageSize(): number {
    return Math.min(LARGEST_PAGE, Math.max(1, Math.floor(this.#host.pageSize) || DEFAULT_PAGE));
  }

  get #endpoint(): string | undefined {
    const { endpoint } = this.#host;
    return endpoint && URL.canParse(endpoint, document.baseURI)
      ? new URL(endpoint, document.baseURI).href
      : undefined;
  }

  /** Back in sight or back online: sockets and timers may have died in the meantime without a word. */
  #wake = ({ type }: Event): void => {
    if (this.phase === 'idle') return;
    if (type === 'offline') this.#connect(type);
    else if (!document.hidden && (type !== 'visibilitychange' || this.connection !== 'live')) this.resume();
  };

  emit(name: string, detail: object): void {
    this.#host.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}
