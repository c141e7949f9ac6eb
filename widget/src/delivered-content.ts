import type { Chunks } from './chunks.ts';
import type { DeliveredContent } from './operations.ts';
import { methodOf, type Visit } from './storage.ts';

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
  { orderCode, paymentToken: token }: Partial<Visit>,
  endpoint: string | undefined,
  known: Delivered | undefined,
): Promise<Delivered | undefined> {
  const isComplete = () => !known!.items.some(({ status }) => status === 'PENDING');
  if (!orderCode || !token || !endpoint || (known?.orderCode === orderCode && isComplete())) return known;
  try {
    const method = methodOf(orderCode);
    const chunk = await chunks.load(method);
    const items = await chunk.readDelivered({ endpoint, token, method, orderCode });
    if (items[0]) await chunks.loadDelivered(chunk);
    return { orderCode, items };
  } catch {
    return known;
  }
}
