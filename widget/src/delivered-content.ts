import type { Chunks } from './chunks.ts';
import type { DeliveredContent } from './operations.ts';
import type { PaymentOptions } from './request.ts';

/** The content that a payment has delivered. */
export interface Delivered {
  paymentKey: string;
  items: DeliveredContent[];
}

/**
 * Reads the delivered content of the paid payment, until nothing is out of stock. If the server does not or
 * cannot report it, the payer sees only the receipt, and the next answer about the payment triggers another
 * read.
 */
export async function readDelivered(
  chunks: Chunks,
  options: PaymentOptions,
  known: Delivered | undefined,
): Promise<Delivered | undefined> {
  const { paymentKey, method } = options;
  if (known?.paymentKey === paymentKey && !known.items.some(({ status }) => status === 'PENDING'))
    return known;
  try {
    const chunk = await chunks.load(method);
    const items = await chunk.readDelivered(options);
    if (items[0]) await chunks.loadDelivered(chunk);
    return { paymentKey, items };
  } catch {
    return known;
  }
}
