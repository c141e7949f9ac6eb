import { BoardController } from '../board/board-controller.ts';
import type { BoardHost } from '../board/board-host.ts';
import { onceAFrame } from '../board/once-a-frame.ts';
import { boardUpdates, walletUpdates } from '../board/updates.ts';
import { WALLET, WALLET_START, type Wallet, type WalletBucket, type WalletStart } from './operations.ts';

const DAY_MS = 86_400_000;
/** The longest history that is drawn by the hour. */
const HOURLY_DAYS = 3;
/** More updates than come while an element reads. */
const MAX_KNOWN = 1_000;

export interface WalletHost extends BoardHost {
  /** The days of the drawn history; 0 for none. */
  readonly historyDays: number;
}

/** Reads the wallet with its history, and follows it. */
export class WalletController extends BoardController<WalletHost> {
  readonly topic = { kinds: ['WALLET'], alone: walletUpdates, among: boardUpdates };
  wallet: Wallet | undefined;
  history: readonly WalletBucket[] = [];
  /** The cursors of the latest updates: the stream goes back when another element joins, and shows them again. */
  readonly #known = new Set<string>();
  /** The time of the newest entry when the wallet was read: the stream may be at an earlier one, as after polls. */
  #readTo = '';
  readonly #drawInFrame = onceAFrame(() => this.host.requestUpdate());

  /** Whether the history is so short that it is drawn by the hour. */
  get isByTheHour(): boolean {
    return this.host.historyDays <= HOURLY_DAYS;
  }

  protected forget(): void {
    this.wallet = undefined;
    this.history = [];
  }

  protected async load(signal: AbortSignal): Promise<string> {
    const { historyDays } = this.host;
    const now = Date.now();
    const { updatesCursor, wallet } = await this.request<WalletStart>(
      WALLET_START,
      {
        startsAt: new Date(now - Math.max(1, historyDays) * DAY_MS).toISOString(),
        endsAt: new Date(now).toISOString(),
        interval: this.isByTheHour ? 'HOUR' : 'DAY',
        withHistory: historyDays > 0,
      },
      signal,
    );
    signal.throwIfAborted();
    this.history = wallet.history ?? [];
    this.#showRead(wallet);
    return updatesCursor;
  }

  protected probe(signal: AbortSignal): Promise<unknown> {
    return this.request(WALLET, {}, signal);
  }

  async poll(signal: AbortSignal): Promise<() => void> {
    const { wallet } = await this.request<Pick<WalletStart, 'wallet'>>(WALLET, {}, signal);
    return () => this.#showRead(wallet);
  }

  onUpdate(update: object): void {
    const { cursor, occurredAt, wallet } = update as { cursor: string; occurredAt: string; wallet?: Wallet };
    if (!wallet || occurredAt < this.#readTo || this.#known.has(cursor)) return;
    if (this.#known.add(cursor).size > MAX_KNOWN) this.#known.delete(this.#known.values().next().value!);
    this.#show(wallet);
  }

  #showRead({ statement, history, ...figures }: WalletStart['wallet']): void {
    this.#readTo = statement.nodes[0]?.createdAt ?? '';
    this.#show(figures);
  }

  #show(wallet: Wallet): void {
    const previous = this.wallet;
    if (JSON.stringify(previous) === JSON.stringify(wallet)) return;
    this.wallet = wallet;
    if (previous) this.emit('psa-wallet-update', { wallet, previous });
    this.#drawInFrame();
  }
}
