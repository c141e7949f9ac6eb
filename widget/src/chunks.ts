import type { CheckoutModel } from './checkout-model.ts';
import type { DeliveredView } from './delivered.ts';
import { importAgain } from './import-again.ts';
import type { CheckoutMethod } from './methods.ts';
import type { PixView } from './views.ts';

export type PaymentChunk = typeof import('./payment.ts');

/** The parts of the element that are loaded when a payment needs them. */
export class Chunks {
  /** The chunk that the first payment loads; see payment.ts. */
  payment: PaymentChunk | undefined;
  /** The view of a payment by PIX, from a chunk of its own. */
  pix: PixView | undefined;
  /** The view of delivered content, from a chunk that the first payment with content loads. */
  delivered: DeliveredView | undefined;

  readonly #model: CheckoutModel;

  constructor(model: CheckoutModel) {
    this.#model = model;
  }

  /** Loads the chunks that the payments of a method need. */
  async load(method?: CheckoutMethod): Promise<PaymentChunk> {
    const { host } = this.#model;
    const needsPix = method === 'pix' && !this.pix;
    if (!this.payment || needsPix) {
      const [chunk, pix] = await Promise.all([
        importAgain('checkout.payment', () => import('./payment.ts')),
        needsPix && importAgain('checkout.pix', () => import('./pix.ts')),
      ]);
      if (!this.payment) chunk.adoptStyles(host);
      this.payment = chunk;
      if (pix)
        this.pix ??= pix.createPix(host, chunk, () =>
          this.#model.emit('psa-pix-copied', { payment: this.#model.state.payment }),
        );
      host.requestUpdate();
    }
    return this.payment;
  }

  /** Loads what delivered content needs. */
  async loadDelivered(chunk: PaymentChunk): Promise<void> {
    const { createDelivered } = await importAgain('checkout.delivered', () => import('./delivered.ts'));
    this.delivered ??= createDelivered(this.#model.host, chunk);
  }
}
