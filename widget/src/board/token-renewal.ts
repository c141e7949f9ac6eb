import type { CheckoutError } from '../checkout-state.ts';
import { explain, hasSecret } from '../mistakes.ts';

/** The elements of a hub, which share a token. */
interface TokenHost {
  token: string | undefined;
  readonly renewToken: (() => Promise<string> | string) | undefined;
  /** One of the elements, to which an explanation belongs. */
  readonly element: Element | undefined;
  onTokenExpired(): void;
}

/**
 * The reason for requesting a token: the refused token, or, before the first one, the function that returns
 * it.
 */
type Need = string | TokenHost['renewToken'];

/** Requests tokens from the page: the first one, and one for each that the server has refused. */
export class TokenRenewal {
  readonly #host: TokenHost;
  /** The request in progress, which all callers with the same need share. */
  #pending: { need: Need; done: Promise<void> } | undefined;
  /** A renewed token that was not accepted yet: if it is refused, another renewal would not help. */
  #untested: string | undefined;

  constructor(host: TokenHost) {
    this.#host = host;
  }

  /** Called when the server has accepted the token, or a user wants it to be tried again. */
  reset(): void {
    this.#untested = undefined;
  }

  /**
   * Replaces the refused token, or gets the first one; returns whether the elements have another one now.
   * Throws a CheckoutError.
   */
  async renew(refused: string | undefined): Promise<boolean> {
    const host = this.#host;
    const need = refused || host.renewToken;
    if (need === this.#need && need !== this.#untested) {
      if (this.#pending?.need !== need) {
        const done = this.#ask(refused).finally(() => {
          if (this.#pending?.done === done) this.#pending = undefined;
        });
        this.#pending = { need, done };
      }
      await this.#pending?.done;
    }
    if (!host.token || host.token === refused || hasSecret(host)) return false;
    if (refused) this.#untested = host.token;
    return true;
  }

  get #need(): Need {
    return this.#host.token || this.#host.renewToken;
  }

  /**
   * Requests a token from the page. Throws a CheckoutError: that of `renewToken`, or one about a secret key,
   * which is never sent.
   */
  async #ask(refused: string | undefined): Promise<void> {
    const host = this.#host;
    const need = this.#need;
    if (refused) host.onTokenExpired();
    if (this.#need !== need) return;
    let message = 'a secret key';
    try {
      const token = await host.renewToken?.();
      if (!hasSecret({ token })) {
        // The page may have set another account's token meanwhile, or removed it. If it has set another
        // `renewToken` for the first one, or none, its user may have signed out.
        if (token && this.#need === need) host.token = token;
        return;
      }
      if (host.element) explain(host.element, 'secret');
    } catch (thrown) {
      message = String(thrown);
    }
    throw { code: 'network', message, retryable: true } satisfies CheckoutError;
  }
}
