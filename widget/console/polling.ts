import type { ReactiveController, ReactiveControllerHost } from 'lit';

/** Reads at intervals while an element is in the page and the page is visible. */
export class Polling implements ReactiveController {
  readonly #read: () => Promise<void>;
  readonly #everyMs: number;
  #isConnected = false;
  #isReading = false;
  /** Whether another reading follows the one in progress. */
  #isDue = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `read` never rejects. */
  constructor(host: ReactiveControllerHost, read: () => Promise<void>, everyMs: number) {
    this.#read = read;
    this.#everyMs = everyMs;
    host.addController(this);
  }

  hostConnected(): void {
    this.#isConnected = true;
    document.addEventListener('visibilitychange', this.now);
    void this.now();
  }

  hostDisconnected(): void {
    this.#isConnected = false;
    document.removeEventListener('visibilitychange', this.now);
    clearTimeout(this.#timer);
  }

  /** Reads now, or once more after the reading in progress, which may have missed a change. */
  readonly now = async (): Promise<void> => {
    if (document.hidden || !this.#isConnected) return;
    this.#isDue = true;
    if (this.#isReading) return;
    clearTimeout(this.#timer);
    this.#isReading = true;
    while (this.#isDue && this.#isConnected) {
      this.#isDue = false;
      await this.#read();
    }
    this.#isReading = false;
    if (this.#isConnected) this.#timer = setTimeout(this.now, this.#everyMs);
  };
}
