import type { CheckoutError } from '../checkout-state.ts';
import { explain, hasSecret } from '../mistakes.ts';

interface TokenHost extends Element {
  token?: string | undefined;
  renewToken?: (() => Promise<string> | string) | undefined;
}

/** Replaces a token that the server has refused, once for all requests that it was refused to. */
export class TokenRenewal {
  readonly #host: TokenHost;
  readonly #onExpired: () => void;
  #renewal: { token: string | undefined; done: Promise<void> } | undefined;
  /** A renewed token that has not been accepted yet: if it is refused, another renewal would not help. */
  #untested: string | undefined;

  constructor(host: TokenHost, onExpired: () => void) {
    this.#host = host;
    this.#onExpired = onExpired;
  }

  /** The server has accepted the present token, or a user wants it to be tried again. */
  reset(): void {
    this.#untested = undefined;
  }

  /** Asks the page for the first token; returns whether the element has one now. Throws a CheckoutError. */
  async obtain(): Promise<boolean> {
    const host = this.#host;
    const { renewToken } = host;
    const token = await this.#ask();
    // The page may have set a token meanwhile. Where it has another `renewToken`, or none, its user may have signed out.
    if (host.renewToken === renewToken) host.token ||= token;
    return Boolean(host.token);
  }

  /** Renews a refused token; returns whether the element has another one now. Throws a CheckoutError. */
  async renew(refused: string | undefined): Promise<boolean> {
    const host = this.#host;
    if (host.token === refused && refused !== this.#untested) {
      if (this.#renewal?.token !== refused) {
        const done = this.#renewOnce().finally(() => {
          if (this.#renewal?.done === done) this.#renewal = undefined;
        });
        this.#renewal = { token: refused, done };
      }
      await this.#renewal?.done;
    }
    if (host.token === refused || hasSecret(host)) return false;
    this.#untested = host.token;
    return true;
  }

  async #renewOnce(): Promise<void> {
    const host = this.#host;
    const { token } = host;
    this.#onExpired();
    if (host.token !== token || !host.renewToken) return;
    const renewed = await this.#ask();
    // The page may have set another account's token meanwhile, or removed it.
    if (host.token === token) host.token = renewed;
  }

  /** Asks the page for a token. Throws a CheckoutError: of `renewToken`, or because of a secret key, which is sent nowhere. */
  async #ask(): Promise<string | undefined> {
    let message = 'a secret key';
    try {
      const token = await this.#host.renewToken?.();
      if (!hasSecret({ token })) return token;
      explain(this.#host, 'secret');
    } catch (thrown) {
      message = String(thrown);
    }
    throw { code: 'network', message, retryable: true } satisfies CheckoutError;
  }
}
