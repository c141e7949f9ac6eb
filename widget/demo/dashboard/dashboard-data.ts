// The data that the dashboard shows: read once, then updated by subscriptions.
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { showRealAccount } from '../shared/real-account.ts';
import { type Credentials, type DashboardApi, openApi, type PartialResult } from './api.ts';
import { startOfYesterday } from './chart-hours.ts';
import { type Disputed, disputedOf } from './disputed.ts';
import { createLists } from './lists.ts';
import { mergeRead, ReloadedList } from './loaded-list.ts';
import {
  CHARGES,
  type Charge,
  DISPUTES,
  type Dispute,
  type Page,
  PIX_PAYMENTS,
  type PixPayment,
  PRODUCT_CONTENTS,
  type ProductContent,
  REFUNDS,
  START,
  STORE_PRODUCTS,
  type StartData,
  type StoreProduct,
  SUBACCOUNT_NAMES,
  SUBSCRIPTIONS,
  type SubaccountNames,
  type SubaccountPayout,
  type Subscription,
  type Wallet,
  WEBHOOK_DELIVERIES,
  type WebhookDelivery,
} from './operations.ts';
import { type Part, readOffered } from './parts.ts';
import { followUpdates } from './updates.ts';

export type ConnectionState = 'connecting' | 'live' | 'reconnecting' | 'offline';

/** Webhook deliveries have no subscription: they are polled after an event that causes them, and at intervals. */
const DELIVERIES_AFTER_MS = 1_200;
const DELIVERIES_EVERY_MS = 20_000;
const DELIVERIES_PENDING_MS = 5_000;
/** The time between two readings of stocks and the store in front of another service. */
const CATALOGUE_EVERY_MS = 60_000;
const RESYNC_MS = 3_000;
/** After this time the parts that could not be read are read again. */
const MISSING_AFTER_MS = 10_000;

/** Loads the account, follows its updates, and loads it again where a stream cannot be resumed. */
export class DashboardData implements ReactiveController {
  phase: 'loading' | 'ready' | 'failed' = 'loading';
  connection: ConnectionState = 'connecting';
  /** Assumed until the server has answered. */
  simulated = true;
  wallet: Wallet | null = null;
  /** The parts that could not be read. The page shows the others. */
  readonly missing: Set<Part> = new Set();
  /** Passed to `<psa-payouts>`, which reads by itself. */
  credentials: Credentials | null = null;
  /** The lists whose older pages can be loaded. */
  readonly #lists = createLists((query, variables) => this.#request(query, variables));
  /** The payouts for the chart of the day. */
  readonly payouts = this.#lists.payouts;
  readonly cardPayments = this.#lists.cardPayments;
  readonly pixPayments = this.#lists.pixPayments;
  readonly disputes = this.#lists.disputes;
  readonly charges = this.#lists.charges;
  readonly subscriptions = this.#lists.subscriptions;
  /** Whether the service behind this server offers each of these. */
  offersPix = true;
  offersCharges = true;
  offersDisputes = true;
  offersSubaccounts = true;
  offersRefunds = true;
  offersSubscriptions = true;
  offersContents = true;
  offersStore = true;
  /** The reason of the last refund of a card payment, by its order code, where it failed while the page was open. */
  failedRefunds: Map<string, string> = new Map();
  subaccountPayouts: Map<string, SubaccountPayout> = new Map();
  subaccountNames: Map<string, string> = new Map();
  deliveries: WebhookDelivery[] = [];
  /** The content of products, and the products of the store. */
  readonly contents = this.#createReloaded<ProductContent>('deliveries', PRODUCT_CONTENTS);
  readonly storeProducts = this.#createReloaded<StoreProduct>('storeProducts', STORE_PRODUCTS);
  /** A change of the connection in words, for screen readers. */
  announcement = '';

  readonly #host: ReactiveControllerHost;
  #api: DashboardApi | null = null;
  #timers = new Set<ReturnType<typeof setTimeout>>();
  #deliveriesTimer: ReturnType<typeof setTimeout> | undefined;
  #catalogueAt = 0;
  /** A socket is open and acknowledged. */
  #socketOpen = false;
  #wasLive = false;

  constructor(host: ReactiveControllerHost) {
    this.#host = host;
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

  /** Renews the token of the table of payouts. */
  renewToken = (): Promise<string> => this.#api?.renewToken() ?? Promise.reject(new Error('closed'));

  /** The sums that are disputed of a payment, as far as its disputes are loaded. */
  disputed = (id: string): Disputed => disputedOf(id, this.disputes.items);

  /** Loads the next page of older items. Never rejects. */
  async loadMore(list: { loadMore(): Promise<void> }): Promise<void> {
    try {
      await list.loadMore();
    } catch {
      this.announcement = 'Não foi possível carregar mais agora.';
    }
    this.#host.requestUpdate();
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
    );
    this.#api = api;
    void this.#start(api);
  }

  #close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    clearTimeout(this.#deliveriesTimer);
    this.#deliveriesTimer = undefined;
    const api = this.#api;
    this.#api = null;
    api?.close();
  }

  async #start(api: DashboardApi): Promise<void> {
    try {
      this.simulated = await api.isSimulated();
      if (!this.simulated) showRealAccount();
      const updatesCursor = await this.#readParts(api);
      if (api !== this.#api) return;
      this.phase = 'ready';
      this.#host.requestUpdate();
      this.#subscribe(api, updatesCursor);
      await Promise.all([this.#loadDay(), this.#loadCatalogue()]);
      this.#scheduleNextDeliveries();
      this.#scheduleMissing(api);
    } catch {
      if (api !== this.#api) return;
      // Rows that were loaded stay on the screen; only an empty page shows the failure.
      if (this.phase === 'loading') this.phase = 'failed';
      this.#resync();
    }
    this.#host.requestUpdate();
  }

  /** Reads all parts, and returns the cursor before them. Rejects where there is none, or no answer. */
  async #readParts(api: DashboardApi): Promise<string> {
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
    this.#applyStart(start);
    this.offersPix = payments !== null;
    if (payments) this.pixPayments.addPage(payments);
    this.offersCharges = charges !== null;
    if (charges) this.charges.addPage(charges);
    this.offersDisputes = disputes !== null;
    if (disputes) this.disputes.addPage(disputes);
    this.offersRefunds = refunds !== null;
    this.offersSubscriptions = recurring !== null;
    if (recurring) this.subscriptions.addPage(recurring);
    return updatesCursor;
  }

  #applyStart({ parts: { updatesCursor: _, ...parts }, notOffered }: PartialResult<StartData>): void {
    for (const [part, value] of Object.entries(parts))
      if (value === null && !notOffered.has(part)) this.missing.add(part as Part);
      else this.missing.delete(part as Part);
    this.offersSubaccounts = !notOffered.has('subaccounts');
    const { wallet, payouts, cardPayments, subaccounts, webhookDeliveries } = parts;
    if (wallet) this.wallet = wallet;
    if (payouts) this.payouts.addPage(payouts);
    if (cardPayments) this.cardPayments.addPage(cardPayments);
    for (const { subaccountId, name, payouts: own } of subaccounts?.nodes ?? []) {
      this.subaccountNames.set(subaccountId, name ?? subaccountId);
      mergeRead(this.subaccountPayouts, own.nodes, (payout) => payout.id);
    }
    if (webhookDeliveries) this.deliveries = webhookDeliveries.nodes;
  }

  #scheduleMissing(api: DashboardApi): void {
    if (api !== this.#api || this.missing.size === 0) return;
    this.#schedule(MISSING_AFTER_MS, () => void this.#readMissing(api));
  }

  /** Reads all parts again where some are missing. Never rejects. */
  async #readMissing(api: DashboardApi): Promise<void> {
    try {
      await this.#readParts(api);
      await this.#loadCatalogue();
    } catch {
      // The next attempt may find the server again.
    }
    this.#host.requestUpdate();
    this.#scheduleMissing(api);
  }

  #subscribe(api: DashboardApi, cursor: string): void {
    followUpdates(this, api, cursor, {
      onUpdate: () => this.#host.requestUpdate(),
      onLost: () => {
        if (api === this.#api) this.#resync();
      },
      onWebhooks: () => this.#scheduleDeliveries(DELIVERIES_AFTER_MS),
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

  // ── The day, and older pages ──────────────────────────────────────────────────────────────────

  async #loadDay(): Promise<void> {
    // Yesterday too: a payout that was requested before midnight may have completed after it.
    const since = startOfYesterday(this.now());
    for (const list of [this.payouts, this.cardPayments, this.pixPayments, this.charges])
      await list.loadUntil(since);
  }

  #createReloaded<Item>(part: Part, query: string): ReloadedList<Item> {
    return new ReloadedList(async (after) => {
      if (!this.#api) throw new Error('closed');
      return readOffered<Page<Item>>(this.#api, this.missing, { part, query, variables: { after } });
    });
  }

  /** Reads stocks and the store again, which have no subscription. */
  async #loadCatalogue(): Promise<void> {
    this.#catalogueAt = Date.now();
    [this.offersContents, this.offersStore] = await Promise.all([
      this.contents.reload(),
      this.storeProducts.reload(),
    ]);
  }

  /** Whether it is time to read them again. In front of another service that takes from the requests that it allows. */
  #isCatalogueDue(): boolean {
    return this.simulated || Date.now() - this.#catalogueAt >= CATALOGUE_EVERY_MS;
  }

  async #loadSubaccountNames(): Promise<void> {
    try {
      const { subaccounts } = await this.#request<SubaccountNames>(SUBACCOUNT_NAMES);
      for (const { subaccountId, name } of subaccounts.nodes)
        this.subaccountNames.set(subaccountId, name ?? subaccountId);
      this.#host.requestUpdate();
    } catch {
      // The table shows the id instead.
    }
  }

  // ── Webhooks ──────────────────────────────────────────────────────────────────────────────────

  #scheduleDeliveries(afterMs: number): void {
    clearTimeout(this.#deliveriesTimer);
    this.#deliveriesTimer = setTimeout(() => {
      this.#deliveriesTimer = undefined;
      void this.#loadDeliveries();
    }, afterMs);
  }

  async #loadDeliveries(): Promise<void> {
    try {
      if (!document.hidden) {
        const { webhookDeliveries } = await this.#request<{
          webhookDeliveries: { nodes: WebhookDelivery[] };
        }>(WEBHOOK_DELIVERIES);
        this.deliveries = webhookDeliveries.nodes;
        this.missing.delete('webhookDeliveries');
        this.#host.requestUpdate();
        if (this.#isCatalogueDue()) await this.#loadCatalogue();
        this.#host.requestUpdate();
      }
    } catch {
      // The next poll tries again.
    }
    this.#scheduleNextDeliveries();
  }

  /** Schedules the next poll, unless an update that came meanwhile has scheduled an earlier one. */
  #scheduleNextDeliveries(): void {
    if (!this.#api || this.#deliveriesTimer !== undefined) return;
    const waiting = this.deliveries.some(({ status }) => status === 'PENDING');
    this.#scheduleDeliveries(waiting ? DELIVERIES_PENDING_MS : DELIVERIES_EVERY_MS);
  }

  // ── The connection ────────────────────────────────────────────────────────────────────────────

  #onConnected(api: DashboardApi): void {
    if (api !== this.#api) return;
    if (this.#wasLive && this.connection !== 'live') this.announcement = 'Conexão restabelecida.';
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
    if (this.phase === 'ready') this.#scheduleDeliveries(0);
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
