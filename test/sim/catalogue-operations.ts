import type { StoredCardPayment } from '../../server/src/money-in/card-payments/model.ts';
import type { createPixOperations, Tools } from './pix-operations.ts';
import type { World } from './world.ts';

/** The price of every product. */
export const PRICE = 1_990;

/** The products that any method sells. */
export interface Sales {
  /**
   * The id of one of the last two products, deleted ones too, so that many payers take from one stock. Null without
   * products.
   */
  product(): string | null;
  /** A unique text, which distinguishes a sale from all others. */
  metadata(): string;
}

/** Steps of merchants who sell products with content, and of their payers. */
export function createCatalogueOperations(
  { slices, live, tokens }: World,
  { requests, random, chance, key, make, attempt, request }: Tools,
  {
    freshName,
    push,
    pix,
    onCardPayment,
  }: {
    freshName(kind: string): string;
    push<T>(into: T[], made: T | null): void;
    pix: Pick<ReturnType<typeof createPixOperations>, 'created' | 'payNow'>;
    onCardPayment(payment: StoredCardPayment): void;
  },
) {
  const productIds: string[] = [];
  const deliveryIds: string[] = [];
  const sold: string[] = [];
  const token = tokens.find(({ reusable }) => reusable)!;
  const sales: Sales = {
    product: () => (productIds.length === 0 ? null : random.pick(productIds.slice(-2))),
    metadata: () => JSON.stringify(freshName('venda')),
  };

  async function createProduct(): Promise<string | null> {
    const name = freshName('Pão');
    const made = await make(
      request('createProduct', live, name, null, async () => {
        const { id } = await slices.products.create(live, { name, priceCents: PRICE });
        return { id };
      }),
    );
    push(productIds, made);
    return made;
  }

  return {
    sales,
    isSold: (id: string) => sold.includes(id),

    operations: {
      createProduct: { weight: 1, act: createProduct },
      deleteProduct: {
        weight: 1,
        async act() {
          if (productIds.length === 0) return;
          const id = random.pick(productIds);
          requests.mayGo('createProduct', 'live', id);
          await attempt('deleteProduct', async () => {
            await slices.products.delete(live, id);
            requests.mustGo('createProduct', 'live', id);
            return 'done';
          });
        },
      },
      /** Mostly there are fewer codes than payers: later codes go to those who wait. */
      addContent: {
        weight: 2,
        async act() {
          const productId = sales.product() ?? (await createProduct());
          if (productId === null) return;
          const codes = Array.from({ length: 1 + random.below(2) }, () => freshName('código'));
          const content = chance(5) ? { text: freshName('texto') } : { codes };
          const idempotencyKey = key();
          await attempt('addContent', async () => {
            const { delivery } = await slices.deliveries.create(live, { productId, content, idempotencyKey });
            push(deliveryIds, delivery.deliveryId);
            return 'done';
          });
        },
      },
      deleteDelivery: {
        weight: 1,
        async act() {
          if (deliveryIds.length === 0) return;
          const deliveryId = random.pick(deliveryIds);
          await attempt('deleteDelivery', async () => {
            await slices.deliveries.delete(live, deliveryId);
            return 'done';
          });
        },
      },
      /** Most payers pay at once, so that many take from one stock. */
      sellByPix: {
        weight: 5,
        async act() {
          const productId = sales.product() ?? (await createProduct());
          if (productId === null) return;
          const metadata = sales.metadata();
          const paysNow = !chance(4);
          const id = await make(
            request('createPayment', live, productId + metadata, null, () =>
              pix.created(
                { tenant: live, type: 'payment', amountCents: PRICE },
                slices.payments.create(live, { productId, metadata }).then(({ payment, replayed }) => ({
                  made: { id: payment.paymentId, expiresAt: payment.expiresAt },
                  replayed,
                })),
              ),
            ),
          );
          if (id === null || !paysNow) return;
          sold.push(id);
          await pix.payNow(id);
          await attempt('buy', async () => {
            const [contents] = await slices.deliveries.deliveredTo(live, 'payment', [id]);
            return contents?.[0]?.status ?? 'nothing';
          });
        },
      },
      sellByCard: {
        weight: 2,
        async act() {
          const productId = sales.product() ?? (await createProduct());
          if (productId === null) return;
          const metadata = sales.metadata();
          const attemptId = `tentativa-de-compra-${freshName('').trim().padStart(20, '0')}`;
          // Some orders have other payments: the second paid one is returned, and gets no content.
          const externalId = chance(3) ? `pedido-${random.below(4)}` : null;
          const amount = { kind: 'product' as const, productId };
          const grant = { amount, reusable: true, metadata, externalId };
          await make(
            request('startCheckout', live, productId + metadata, `${token.id} ${attemptId}`, async () => {
              const input = { attemptId };
              const payment = (await slices.cardPayments.startCheckout(live, { id: token.id, grant }, input))
                .payment;
              onCardPayment(payment);
              return { id: payment.orderCode };
            }),
          );
        },
      },
    },
  };
}
