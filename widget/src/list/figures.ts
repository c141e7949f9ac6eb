import type { CheckoutError } from '../checkout-state.ts';

/** The shortest time between two readings of the figures of one filter. */
const READ_EVERY_MS = 5_000;

/** Figures of a whole list that the server adds up: read at once for another filter, and again while rows change. */
export class Figures<Answer> {
  value: Answer | undefined;
  /** Whether the value is that of another filter, until the server answers, or could not be read again. */
  isOld = false;
  /** The filter of the figures; empty if there are none. */
  key = '';

  readonly #read: () => Promise<Answer>;
  readonly #onRead: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the value is that of another filter. */
  #isOfAnother = false;
  /** The reading in progress; one of another filter does not count. */
  #reading: object | undefined;
  /** Whether a row has changed during it. */
  #isExpired = false;
  /** The time of the filter's last reading, in milliseconds; 0 before the first. */
  #readAt = 0;

  constructor(read: () => Promise<Answer>, onRead: () => void) {
    this.#read = read;
    this.#onRead = onRead;
  }

  /** Reads the figures of a filter. Those of the previous filter stay until then, so that nothing moves twice. */
  follow(key: string): void {
    if (key === this.key) return;
    clearTimeout(this.#timer);
    this.#timer = this.#reading = undefined;
    this.#readAt = 0;
    this.key = key;
    if (!key) this.value = undefined;
    this.isOld = this.#isOfAnother = Boolean(this.value);
    this.expire();
  }

  /** Reads the figures again, because a row has changed. */
  expire(): void {
    this.#isExpired = true;
    if (!this.key || this.#reading) return;
    // The device's date may be set back meanwhile.
    const waitMs = Math.min(READ_EVERY_MS, Math.max(0, this.#readAt + READ_EVERY_MS - Date.now()));
    this.#timer ??= setTimeout(() => void this.#load(), waitMs);
  }

  async #load(): Promise<void> {
    const reading = {};
    this.#reading = reading;
    this.#timer = undefined;
    this.#isExpired = false;
    this.#readAt = Date.now();
    try {
      const value = await this.#read();
      if (reading !== this.#reading) return;
      this.value = value;
      this.isOld = false;
    } catch (error) {
      if (reading !== this.#reading) return;
      if (this.#isOfAnother) this.value = undefined;
      this.isOld = Boolean(this.value);
      this.#isExpired ||= (error as CheckoutError).retryable;
    }
    this.#reading = undefined;
    this.#isOfAnother = false;
    if (this.#isExpired) this.expire();
    this.#onRead();
  }
}
