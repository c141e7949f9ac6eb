import type { ReactiveControllerHost } from 'lit';
import { Polling } from './polling.ts';

/** Reads something for an element at intervals while the page is visible. Where that fails, what was read stays. */
export class Reading<Data> {
  data: Data | null = null;
  failed = false;
  readonly #polling: Polling;

  constructor(host: ReactiveControllerHost, everyMs: number, read: () => Promise<Data>) {
    this.#polling = new Polling(
      host,
      async () => {
        const data = await read().catch(() => null);
        this.failed = data === null;
        this.data = data ?? this.data;
        host.requestUpdate();
      },
      everyMs,
    );
  }

  /** Reads it at once: it has changed, or another one is asked for. */
  again(): void {
    void this.#polling.now();
  }
}
