// The data that the dashboard shows: read once, then updated by subscriptions.
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { showConsole, showRealAccount } from '../shared/real-account.ts';
import { Announcement } from './announcement.ts';
import { type Credentials, type DashboardApi, openApi, type PartialResult } from './api.ts';
import { Catalogue, reloadedList } from './catalogue.ts';
import { DayTotals } from './day-totals.ts';
import { type Disputed, disputedOf } from './disputed.ts';
import type { FilteredList, PagedList } from './filtered-list.ts';
import { clearLists, createLists, rereadFiltered } from './lists.ts';
import {
  CHARGES,
  type Charge,
  DISPUTES,
  type Dispute,
  type Page,
  PIX_PAYMENTS,
  type PixPayment,
  REFUNDS,
  START,
  type StartData,
  SUBACCOUNT_NAMES,
  SUBSCRIPTIONS,
  type SubaccountNames,
  type Subscription,
  type Wallet,
  WEBHOOK_DELIVERIES,
  type WebhookDelivery,
} from './operations.ts';
import { type Part, partReader, readOffered } from './parts.ts';
import { Poll } from './poll.ts';
import { ServiceContact } from './service-contact.ts';
import { followUpdates } from './updates.ts';

export type ConnectionState = 'connecting' | 'live' | 'reconnecting' | 'offline';

const RESYNC_MS = 3_000;
/** After this time the parts that could not be read are read again. */
const MISSING_AFTER_MS = 10_000;

/** The interval at which lists that are stale are read again, behind a facade of whose requests they take. */
const LISTS_EVERY_MS = 60_000;

export const MORE_FAILED = 'Não foi possível carregar mais agora.';

/** Loads the account, follows its updates, and loads it again where a stream cannot be resumed. */
export class DashboardData implements ReactiveController {
  phase: 'loading' | 'ready' | 'failed' = 'loading';
  connection: ConnectionState = 'connecting';
  /** Assumed until the server has answered. */
  simulated = true;
  wallet: Wallet | null = null;
  /** The parts that could not be read. The page shows the others. */
  readonly missing: Set<Part> = new Set();
  /** The ages of the data in front of another service. */
  readonly contact = new ServiceContact();
  /** Passed to `<psa-payouts>` and `<psa-statement>`, which read by themselves. */
  credentials: Credentials | null = null;
  /** The lists whose older pages can be loaded. */
  readonly #lists = createLists((query, variables) => this.#request(query, variables));
  readonly cardPayments = this.#lists.cardPayments;
  readonly pixPayments = this.#lists.pixPayments;
  readonly disputes = this.#lists.disputes;
  readonly charges = this.#lists.charges;
  readonly subscriptions = this.#lists.subscriptions;
  readonly subaccountPayouts = this.#lists.subaccountPayouts;
  readonly subaccountNames = this.#lists.subaccountNames;
  /** Whether the service behind this server offers each of these. */
  offersPix = true;
  offersCharges = true;
  offersDisputes = true;
  offersSubaccounts = true;
  offersRefunds = true;
  offersSubscriptions = true;
  /** The reason of the last refund of a card payment, by its order code, where it failed while the page was open. */
  failedRefunds: Map<string, string> = new Map();
  readonly #readPart = partReader(() => this.#api, this.missing);
  readonly deliveries = reloadedList<WebhookDelivery>(this.#readPart, {
    ...{ part: 'webhookDeliveries', query: WEBHOOK_DELIVERIES, argument: 'status' },
    filterOf: ({ status }) => status,
  });
  readonly catalogue = new Catalogue(this.#readPart);
  /** A change of the connection, or the outcome of an operation, in words for screen readers. */
  readonly announcement: Announcement;
  /** Whether the older items that were asked for last could not be read. */
  moreFailed = false;

  readonly #host: ReactiveControllerHost;
  #api: DashboardApi | null = null;
  #timers = new Set<ReturnType<typeof setTimeout>>();
  /** The sums of the day. */
  readonly day = new DayTotals(
    () => this.#api,
    () => this.#host.requestUpdate(),
  );
  readonly #poll = new Poll(
    this,
    () => this.#api,
    () => this.#afterPoll(),
  );
  /** A socket is open and acknowledged. */
  #socketOpen = false;
  #wasLive = false;
  /** The last reading of lists that were stale. */
  #listsReadAt = Number.NEGATIVE_INFINITY;

  constructor(host: ReactiveControllerHost) {
    this.#host = host;
    this.announcement = new Announcement(host);
    host.addController(this);
  }

  hostConnected(): void {
    addEventListener('online', this.#onOnline);
    addEventListener('offline', this.#onOffline);
    document.addEventListener('visibilitychange', this.#onVisible);
    this.#open();
  }

  hostDisconnected(): void {
    removeEventListener('online', this.#onOnline);
    removeEventListener('offline', this.#onOffline);
    document.removeEventListener('visibilitychange', this.#onVisible);
    this.#close();
  }

  now(): Date {
    return this.#api?.now() ?? new Date();
  }

  /** Renews the token of the elements. */
  renewToken = (): Promise<string> => this.#api?.renewToken() ?? Promise.reject(new Error('closed'));

  /** The sums that are disputed of a payment, as far as its disputes are loaded. */
  disputed = (id: string): Disputed => ({
    ...disputedOf(id, this.disputes.whole.items),
    areAllKnown: !this.disputes.whole.hasMore && !this.missing.has('disputes'),
  });

  /** Loads the next page of older items. Never rejects. */
  async loadMore(list: { loadMore(): Promise<void> }): Promise<void> {
    this.moreFailed = await list.loadMore().then(
      () => false,
      () => true,
    );
    if (this.moreFailed) this.announcement.say(MORE_FAILED);
    this.#host.requestUpdate();
  }

  /** Shows what a filter selects of a list. Never rejects. */
  async choose<Item>(list: FilteredList<Item, PagedList<Item>>, filter: string): Promise<void> {
    const chosen = list.choose(filter);
    this.#host.requestUpdate();
    await chosen;
    this.#host.requestUpdate();
    // Lists without updates are read only while they are shown.
    if (filter === '') this.#poll.now();
  }

  retry(): void {
    this.#close();
    this.phase = 'loading';
    this.#host.requestUpdate();
    this.#open();
  }

  // ── From the start to the streams ─────────────────────────────────────────────────────────────

  #open(): void {
    const api = openApi(
      () => this.#onConnected(api),
      () => this.#onClosed(api),
      (credentials) => {
        this.credentials = credentials;
        this.#host.requestUpdate();
      },
      (ages, failed) => {
        if (api === this.#api) this.contact.note(ages, failed, this.now());
      },
    );
    this.#api = api;
    void this.#start(api);
  }

  #close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#poll.stop();
    this.day.stop();
    const api = this.#api;
    this.#api = null;
    api?.close();
  }

  async #start(api: DashboardApi): Promise<void> {
    try {
      this.simulated = await api.isSimulated();
      if (!this.simulated) showRealAccount();
      if (await api.hasConsole()) showConsole();
      const updatesCursor = await this.#readParts(api, { afresh: true });
      if (api !== this.#api) return;
      this.phase = 'ready';
      this.#host.requestUpdate();
      this.#subscribe(api, updatesCursor);
      await Promise.all([this.day.read(), this.catalogue.load()]);
      this.#poll.scheduleNext();
      this.#scheduleMissing(api);
    } catch {
      if (api !== this.#api) return;
      // Rows that were loaded stay on the screen; only an empty page shows the failure.
      if (this.phase === 'loading') this.phase = 'failed';
      this.#resync();
    }
    this.#host.requestUpdate();
  }

  /** Reads all parts, and returns the cursor before them. Rejects if there is none, or no answer. */
  async #readParts(api: DashboardApi, { afresh }: { afresh: boolean }): Promise<string> {
    const read = <Value>(part: Part, query: string) => readOffered<Value>(api, this.missing, { part, query });
    const start = await api.requestParts<StartData>(START);
    // Behind the cursor of the start, so that no update falls between them.
    const payments = await read<Page<PixPayment>>('payments', PIX_PAYMENTS);
    const charges = await read<Page<Charge>>('charges', CHARGES);
    const disputes = await read<Page<Dispute>>('disputes', DISPUTES);
    const refunds = await read<object>('refunds', REFUNDS);
    const recurring = await read<Page<Subscription>>('subscriptions', SUBSCRIPTIONS);
    const { updatesCursor } = start.parts;
    if (updatesCursor === null) throw new Error('no cursor to follow from');
    if (api !== this.#api) return updatesCursor;
    // What was loaded under another cursor was not followed in between.
    if (afresh) clearLists(this.#lists);
    this.moreFailed = false;
    this.#applyStart(start);
    this.offersPix = payments !== null;
    if (payments) this.pixPayments.whole.addFirst(payments);
    this.offersCharges = charges !== null;
    if (charges) this.charges.whole.addFirst(charges);
    this.offersDisputes = disputes !== null;
    if (disputes) this.disputes.whole.addFirst(disputes);
    this.offersRefunds = refunds !== null;
    this.offersSubscriptions = recurring !== null;
    if (recurring) this.subscriptions.whole.addFirst(recurring);
    const { deliveries } = this;
    await Promise.all([deliveries.whole.reload(), deliveries.reread(), rereadFiltered(this.#lists)]);
    return updatesCursor;
  }

  #applyStart({ parts: { updatesCursor: _, ...parts }, notOffered }: PartialResult<StartData>): void {
    for (const [part, value] of Object.entries(parts))
      if (value === null && !notOffered.has(part)) this.missing.add(part as Part);
      else this.missing.delete(part as Part);
    this.offersSubaccounts = !notOffered.has('subaccounts');
    const { wallet, cardPayments, subaccounts } = parts;
    if (wallet) this.wallet = wallet;
    if (cardPayments) this.cardPayments.whole.addFirst(cardPayments);
    if (!subaccounts) return;
    this.subaccountPayouts.whole.addFirst(subaccounts);
    this.#lists.noteNames(subaccounts.nodes);
  }

  #scheduleMissing(api: DashboardApi): void {
    if (api !== this.#api || this.missing.size === 0) return;
    this.#schedule(MISSING_AFTER_MS, () => void this.#readMissing(api));
  }

  /** Reads all parts again where some are missing. Never rejects. */
  async #readMissing(api: DashboardApi): Promise<void> {
    try {
      await this.#readParts(api, { afresh: false });
      await this.catalogue.load();
    } catch {
      // The next attempt may find the server again.
    }
    this.#host.requestUpdate();
    this.#scheduleMissing(api);
  }

  #subscribe(api: DashboardApi, cursor: string): void {
    followUpdates(this, api, cursor, {
      onUpdate: () => {
        this.day.touch();
        this.#host.requestUpdate();
      },
      onLost: () => {
        if (api === this.#api) this.#resync();
      },
      onWebhooks: () => this.#poll.afterEvent(),
      onNewSubaccount: () => void this.#loadSubaccountNames(),
    });
  }

  /** Reads the lists again and follows from there, after a stream that cannot be resumed has ended. */
  #resync(): void {
    this.connection = navigator.onLine ? 'reconnecting' : 'offline';
    this.#close();
    this.#schedule(RESYNC_MS, () => this.#open());
    this.#host.requestUpdate();
  }

  async #loadSubaccountNames(): Promise<void> {
    try {
      const { subaccounts } = await this.#request<SubaccountNames>(SUBACCOUNT_NAMES);
      this.#lists.noteNames(subaccounts.nodes);
      this.#host.requestUpdate();
    } catch {
      // The table shows the id instead.
    }
  }

  /** Reads what is due beside each poll, and what was stale once the service answers again. */
  async #afterPoll(): Promise<void> {
    this.#host.requestUpdate();
    const api = this.#api;
    const isDue = performance.now() - this.#listsReadAt >= LISTS_EVERY_MS;
    if (api && isDue && this.contact.isReached && this.contact.hasStaleLists) {
      this.#listsReadAt = performance.now();
      await this.#readParts(api, { afresh: false });
    }
    if (this.catalogue.isDue(this)) await this.catalogue.load();
    // The day may have ended, and what was seen of another service may have changed without an update.
    await this.day.readIfDue();
    this.#host.requestUpdate();
  }

  // ── The connection ────────────────────────────────────────────────────────────────────────────

  #onConnected(api: DashboardApi): void {
    if (api !== this.#api) return;
    if (this.#wasLive && this.connection !== 'live') this.announcement.say('Conexão restabelecida.');
    this.#wasLive = true;
    this.#socketOpen = true;
    this.connection = 'live';
    this.#host.requestUpdate();
  }

  #onClosed(api: DashboardApi): void {
    if (api !== this.#api) return;
    this.#socketOpen = false;
    const offline = !navigator.onLine;
    const next: ConnectionState = offline ? 'offline' : this.#wasLive ? 'reconnecting' : 'connecting';
    // A socket that is replaced for its token is back within the 800 ms, and the page shows no loss.
    this.#schedule(offline ? 0 : 800, () => {
      if (api !== this.#api || this.#socketOpen) return;
      this.connection = next;
      this.#host.requestUpdate();
    });
  }

  readonly #onOnline = () => {
    if (this.connection === 'offline') this.connection = 'reconnecting';
    this.#api?.reconnectNow();
    this.#host.requestUpdate();
  };
  readonly #onOffline = () => {
    this.connection = 'offline';
    this.#socketOpen = false;
    this.#api?.disconnect();
    this.#host.requestUpdate();
  };
  readonly #onVisible = () => {
    if (document.hidden) return;
    this.#api?.reconnectNow();
    if (this.phase === 'ready') this.#poll.now();
  };

  #request<Data>(query: string, variables?: Record<string, unknown>): Promise<Data> {
    return this.#api?.request<Data>(query, variables) ?? Promise.reject(new Error('closed'));
  }

  #schedule(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
  }
}
