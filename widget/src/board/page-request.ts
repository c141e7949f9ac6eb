import type { ReactiveControllerHost } from 'lit';

/** A page's answer to a request: nothing once it is done, or the words for the user if it is refused. */
export type PageAnswer = { message: string } | undefined;

/** The member of a request's detail by which the page answers. */
export interface Answerable {
  /** Takes the answer, once and in the turn of the event. A promise that rejects reads as a failure that can be tried again. */
  respondWith(answer: PageAnswer | PromiseLike<PageAnswer> | PromiseLike<void>): void;
}

/** A request of an element to its page, for what takes a credential that writes: an element holds none. */
export class PageRequest {
  state: '' | 'sending' | 'done' | 'refused' | 'failed' = '';
  /** The page's words for a refusal. */
  message = '';

  readonly #host: HTMLElement & ReactiveControllerHost;

  constructor(host: HTMLElement & ReactiveControllerHost) {
    this.#host = host;
  }

  /** Dispatches the event, and waits for the page's answer. A page that gives none has taken the request over. */
  async send(name: string, detail: object): Promise<void> {
    if (this.state === 'sending') return;
    let isOpen = true;
    let answer: Promise<PageAnswer> | undefined;
    const respondWith: Answerable['respondWith'] = (given) => {
      if (!isOpen) throw new DOMException('takes one answer, in the turn of the event', 'InvalidStateError');
      isOpen = false;
      answer = Promise.resolve(given as PageAnswer);
    };
    this.#host.dispatchEvent(
      new CustomEvent(name, { detail: { ...detail, respondWith }, bubbles: true, composed: true }),
    );
    isOpen = false;
    this.#set(answer ? 'sending' : '');
    if (!answer) return;
    try {
      const refusal: { message?: unknown } | null | undefined = await answer;
      const message = refusal?.message;
      if (typeof message === 'string' && message) return this.#set('refused', message);
      // Such as a Response of fetch, which may be of a success or of a failure.
      if (refusal != null) console.error(`${name}: the answer is neither nothing nor { message }`, refusal);
      this.#set(refusal == null ? 'done' : 'failed');
    } catch {
      this.#set('failed');
    }
  }

  #set(state: PageRequest['state'], message = ''): void {
    this.state = state;
    this.message = message;
    this.#host.requestUpdate();
  }
}

/** Creates the key of a request. It is random, and no UUID, which pages without https cannot make. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((number) => number.toString(36)).join('-');
}
