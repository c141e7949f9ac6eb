import { LitElement, type PropertyValues } from 'lit';
import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import type { Transport } from '../follow/transport.ts';
import { resolveLocale } from '../locale.ts';
import { explain, hasSecret } from '../mistakes.ts';
import type { BoardController } from './board-controller.ts';
import type { BoardHost, BoardPhase } from './board-host.ts';
import type { BoardTexts } from './board-texts.ts';
import type { SharedTexts } from './locales/texts.ts';

/** The properties that all elements of a merchant's board have, with their attributes, and what they do with them. */
export abstract class BoardElement<T extends SharedTexts> extends LitElement implements BoardHost {
  // A getter, for a static field becomes a static block, which Babel's settings of React Native refuse.
  static override get properties(): typeof LitElement.properties {
    return {
      endpoint: {},
      token: {},
      transport: {},
      locale: {},
      labels: { attribute: false },
      renewToken: { attribute: false },
    };
  }

  declare endpoint: string | undefined;
  declare token: string | undefined;
  declare transport: 'auto' | Transport;
  declare locale: string | undefined;
  /** Texts that replace those of the locale, by name. */
  declare labels: Partial<T> | undefined;
  /** Returns a new token when the old one has expired. */
  declare renewToken: (() => Promise<string> | string) | undefined;

  protected abstract readonly data: BoardController;
  protected abstract readonly texts: BoardTexts<T>;
  #internals = this.attachInternals?.();

  constructor() {
    super();
    this.transport = 'auto';
  }

  get phase(): BoardPhase {
    return this.data.phase;
  }

  get connection(): CheckoutConnection {
    return this.data.connection;
  }

  get error(): CheckoutError | undefined {
    return this.data.error;
  }

  /** Forgets what is shown and reads it again, for example after another account's token was set. */
  refresh(): void {
    this.data.reload();
  }

  /** Retries, as the button of an error does. */
  retry(): void {
    this.data.retry();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (hasSecret(this)) {
      this.token = undefined;
      explain(this, 'secret');
    }
    if (!this.hasUpdated || changed.has('endpoint')) this.data.reload();
    else if (changed.has('token') || changed.has('transport') || (changed.has('renewToken') && !this.token))
      this.data.resume();
    this.texts.use(resolveLocale(this, this.locale), this.labels, () => this.requestUpdate());
  }

  protected override updated(): void {
    const states = this.#internals?.states;
    states?.clear();
    states?.add(this.phase);
    if (this.phase === 'ready' && this.isEmpty) states?.add('empty');
    if (this.error?.reason === 'FORBIDDEN') states?.add('forbidden');
  }

  /** Whether there is nothing to show. */
  protected abstract readonly isEmpty: boolean;
}
