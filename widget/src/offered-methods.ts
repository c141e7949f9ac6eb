import type { CheckoutHost } from './checkout-host.ts';
import { type CheckoutMethod, readMethods } from './methods.ts';
import { explain } from './mistakes.ts';

const methodsIn = (words: unknown) =>
  [
    ...new Set(
      String(words)
        .toLowerCase()
        .match(/\b(pix|card)\b/g),
    ),
  ] as CheckoutMethod[];

/** The methods that an element offers. */
export class OfferedMethods {
  /**
   * The methods that the token takes; empty if the server does not report them, undefined until it has
   * accepted the token.
   */
  taken: CheckoutMethod[] | undefined;

  readonly #host: CheckoutHost;

  constructor(host: CheckoutHost) {
    this.#host = host;
  }

  /**
   * The methods of the attribute that the token takes, in that order. If it takes none of them, the methods
   * that it takes.
   */
  get list(): CheckoutMethod[] {
    const { taken = [] } = this;
    const named = methodsIn(this.#host.methods || 'card');
    const both = named.filter((method) => taken.includes(method));
    return [both, taken, named].find(([first]) => first) ?? ['card'];
  }

  /** Reads the methods that the token takes, and explains a mistake of the page about them in the console. */
  async read(endpoint: string | undefined): Promise<void> {
    const host = this.#host;
    const { token, methods } = host;
    this.taken = undefined;
    if (!token || !endpoint) return;
    const { data, errors } = await readMethods(endpoint, token).catch(
      (): Partial<Awaited<ReturnType<typeof readMethods>>> => ({}),
    );
    // A pressed button stays until the press is over: if it disappeared under the mouse, there would be no
    // click.
    if (host.matches(':active')) await new Promise((resolve) => setTimeout(resolve, 2_000));
    if (token !== host.token) return;
    const { message = '' } = errors?.[0] ?? {};
    if (data) this.taken = methodsIn(data.viewer?.checkoutMethods);
    const [first] = this.taken ?? [];
    // A page without the attribute says nothing about methods.
    const isNamed = host.hasAttribute('methods') || !/^(card)?$/.test(methods ?? '');
    if (/revoked|this page/.test(message)) explain(host, { code: 'unauthorized', message, retryable: false });
    else if (first && isNamed && !methodsIn(methods).some((method) => this.taken?.includes(method)))
      explain(host, { code: 'methods', message: this.taken?.join(' ') as string });
    host.requestUpdate();
  }
}
