/** The shortest time between two readings of the figures of one filter. */
const READ_EVERY_MS = 5_000;

/** Figures of a whole list that the server adds up: read at once for another filter, and again while rows change. */
export class Figures<Answer> {
  value: Answer | undefined;
  /** Whether the value is that of another filter, until the server answers. */
  isOld = false;
  /** The filter of the figures; empty if there are none. */
  key = '';

  readonly #read: () => Promise<Answer>;
  readonly #onRead: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(read: () => Promise<Answer>, onRead: () => void) {
    this.#read = read;
    this.#onRead = onRead;
  }

  /** Reads the figures of a filter; those of the one before stay until then, so that nothing moves twice. */
  follow(key: string): void {
    if (key === this.key) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.key = key;
    if (!key) this.value = undefined;
    this.isOld = Boolean(this.value);
    this.expire();
  }

  /** Reads the figures again, because a row has changed. */
  expire(): void {
    if (this.key)
      this.#timer ??= setTimeout(() => void this.#load(), this.value && !this.isOld ? READ_EVERY_MS : 0);
  }

  async #load(): Promise<void> {
    this.#timer = undefined;
    const { key } = this;
    try {
      const value = await this.#read();
      if (key !== this.key) return;
      this.value = value;
    } catch {
      if (key !== this.key) return;
      // The next change of a row reads them.
      if (this.isOld) this.value = undefined;
    }
    this.isOld = false;
    this.#onRead();
  }
}
