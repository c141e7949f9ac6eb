import type { Chunks } from './chunks.ts';
import type { DeliveredContent } from './operations.ts';
import type { PaymentOptions } from './request.ts';

/** The content that a payment has delivered. */
export interface Delivered {
  orderCode: string;
  items: DeliveredContent[];
}

/**
 * Asks for what the paid payment has delivered, until nothing is out of stock. Where the server does not report it, or cannot,
 * the payer sees the receipt alone, and the next answer about the payment asks again.
 */
export async function readDelivered(
  chunks: Chunks,
  options: PaymentOptions,
  known: Delivered | undefined,
): Promise<Delivered | undefined> {
  const { orderCode, method } = options;
  if (known?.orderCode === orderCode && !known.items.some(({ status }) => status === 'PENDING')) return known;
  try {
    const chunk = await chunks.load(method);
    const items = await chunk.readDelivered(options);
    if (items[0]) await chunks.loadDelivered(chunk);
    return { orderCode, items };
  } catch {
    return known;
  }
}
