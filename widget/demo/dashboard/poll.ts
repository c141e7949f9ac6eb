// What the page asks for again and again, because no stream brings it.
import type { DashboardApi } from './api.ts';
import { EarliestTimer } from './earliest-timer.ts';
import {
  WALLET_AND_DELIVERIES,
  type Wallet,
  WEBHOOK_DELIVERIES,
  type WebhookDelivery,
} from './operations.ts';
import type { Part } from './parts.ts';
import type { ServiceContact } from './service-contact.ts';

/** Webhook deliveries have no subscription: they are polled after an event that causes them, and at intervals. */
const AFTER_EVENT_MS = 1_200;
const EVERY_MS = 20_000;
const PENDING_MS = 5_000;
/** The interval of the wallet: behind a facade each read of it is one of the 120 requests a minute. */
const WALLET_EVERY_MS = 15_000;

interface Polled {
  wallet?: Wallet;
  webhookDeliveries: { nodes: WebhookDelivery[] };
}

/** The data that the polls are written into. */
interface PolledData {
  wallet: Wallet | null;
  deliveries: WebhookDelivery[];
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
    const isPending = this.#data.deliveries.some(({ status }) => status === 'PENDING');
    this.#timer.set(isPending ? PENDING_MS : EVERY_MS);
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
    const asksWallet = data.contact.isFacade && performance.now() - this.#walletAskedAt >= WALLET_EVERY_MS;
    if (asksWallet) {
      this.#walletAskedAt = performance.now();
      data.contact.askWallet(api.now());
    }
    const walletBefore = data.wallet;
    const { parts } = await api
      .requestParts<Polled>(asksWallet ? WALLET_AND_DELIVERIES : WEBHOOK_DELIVERIES)
      .catch((error: unknown) => {
        if (asksWallet) data.contact.fail('wallet');
        throw error;
      });
    if (parts.wallet) {
      // The stream may have brought a newer one meanwhile.
      if (data.wallet === walletBefore) data.wallet = parts.wallet;
      data.missing.delete('wallet');
    }
    if (!parts.webhookDeliveries) return;
    data.deliveries = parts.webhookDeliveries.nodes;
    data.missing.delete('webhookDeliveries');
    data.moreFailed = false;
  }
}
