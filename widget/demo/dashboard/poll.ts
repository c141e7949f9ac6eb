// What the page asks for again and again, because no stream brings it.
import type { DashboardApi } from './api.ts';
import { EarliestTimer } from './earliest-timer.ts';
import type { FilteredList } from './filtered-list.ts';
import type { ReloadedList } from './loaded-list.ts';
import { WALLET_ALONE, type Wallet, type WebhookDelivery } from './operations.ts';
import type { Part } from './parts.ts';
import type { ServiceContact } from './service-contact.ts';

/** Webhook deliveries have no subscription: they are polled after an event that causes them, and at intervals. */
const AFTER_EVENT_MS = 1_200;
const EVERY_MS = 20_000;
const PENDING_MS = 5_000;
/** The interval of the wallet: behind a facade each read of it is one of the 120 requests a minute. */
const WALLET_EVERY_MS = 15_000;

/** The data that the polls are written into. */
interface PolledData {
  wallet: Wallet | null;
  readonly deliveries: FilteredList<WebhookDelivery, ReloadedList<WebhookDelivery>>;
  moreFailed: boolean;
  readonly missing: Set<Part>;
  readonly contact: ServiceContact;
}

/** Polls the deliveries of webhooks; and in front of a service the wallet, whose age shows whether that still answers. */
export class Poll {
  readonly #data: PolledData;
  readonly #api: () => DashboardApi | null;
  readonly #onPolled: () => Promise<void>;
  readonly #timer = new EarliestTimer(() => void this.#poll());
  #walletAskedAt = Number.NEGATIVE_INFINITY;

  /** @param onPolled is awaited before the next poll */
  constructor(data: PolledData, api: () => DashboardApi | null, onPolled: () => Promise<void>) {
    this.#data = data;
    this.#api = api;
    this.#onPolled = onPolled;
  }

  scheduleNext(): void {
    if (!this.#api()) return;
    const { items, shown } = this.#data.deliveries;
    const isPending = items.some(({ status }) => status === 'PENDING');
    // Each page that is shown is read again, and takes from the token's requests.
    this.#timer.set((isPending ? PENDING_MS : EVERY_MS) * Math.max(1, shown.pages));
  }

  afterEvent(): void {
    this.#timer.set(AFTER_EVENT_MS);
  }

  now(): void {
    this.#timer.set(0);
  }

  stop(): void {
    this.#timer.clear();
  }

  async #poll(): Promise<void> {
    const api = this.#api();
    try {
      if (api && !document.hidden) {
        await this.#read(api);
        await this.#onPolled();
      }
    } catch {
      // The next poll tries again.
    }
    this.scheduleNext();
  }

  async #read(api: DashboardApi): Promise<void> {
    const data = this.#data;
    if (data.contact.isFacade && performance.now() - this.#walletAskedAt >= WALLET_EVERY_MS)
      await this.#readWallet(api);
    await data.deliveries.shown.reload();
    data.moreFailed = false;
  }

  async #readWallet(api: DashboardApi): Promise<void> {
    const data = this.#data;
    this.#walletAskedAt = performance.now();
    data.contact.askWallet(api.now());
    const walletBefore = data.wallet;
    const { wallet } = await api.request<{ wallet: Wallet }>(WALLET_ALONE).catch((error: unknown) => {
      data.contact.fail('wallet');
      throw error;
    });
    // The stream may have brought a newer one meanwhile.
    if (data.wallet === walletBefore) data.wallet = wallet;
    data.missing.delete('wallet');
  }
}
