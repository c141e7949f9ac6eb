/** The shortest time between two readings of the figures of one filter. */
const READ_EVERY_MS = 5_000;

/** Figures of a whole list that the server adds up: read at once for another filter, and again while rows change. */
export class Figures<Answer> {
  value: Answer | undefined;
  /** The filter of the figures; empty if there are none. */
  key = '';

  readonly #read: () => Promise<Answer>;
  readonly #onRead: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(read: () => Promise<Answer>, onRead: () => void) {
    this.#read = read;
    this.#onRead = onRead;
  }

  /** Shows the figures of a filter; those of another one do not stay. */
  follow(key: string): void {
    if (key === this.key) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.key = key;
    this.value = undefined;
    this.expire();
  }

  /** Reads the figures again, because a row has changed. */
  expire(): void {
    if (this.key) this.#timer ??= setTimeout(() => void this.#load(), this.value ? READ_EVERY_MS : 0);
  }

  async #load(): Promise<void> {
    this.#timer = undefined;
    const { key } = this;
    try {
      const value = await this.#read();
      if (key === this.key) this.value = value;
    } catch {
      // The next change of a row reads them.
    }
    this.#onRead();
  }
}
