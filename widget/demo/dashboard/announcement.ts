import type { ReactiveControllerHost } from 'lit';

/** The text of a live region. */
export class Announcement {
  text = '';
  readonly #host: ReactiveControllerHost;

  constructor(host: ReactiveControllerHost) {
    this.#host = host;
  }

  /** Says a text. The region is emptied first: a screen reader does not say one again that is unchanged. */
  say(text: string): void {
    this.text = '';
    this.#host.requestUpdate();
    void this.#host.updateComplete.then(() => {
      this.text = text;
      this.#host.requestUpdate();
    });
  }
}
