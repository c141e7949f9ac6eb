import { createDeliveryInput } from '../../../server/src/catalogue/deliveries/model.ts';
import type { CheckoutGrant } from '../../../server/src/kernel/caller.ts';
import { objectId } from '../../../server/src/kernel/ids.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { approved } from '../../support/cards.ts';
import type { Core } from '../../support/core.ts';

const PRICE = 4_990;

type Content = { text: string } | { link: string } | { codes: string[] };

/** Adds content to a product. */
export async function deliver(core: Core, productId: string, content: Content, idempotencyKey?: string) {
  const input = createDeliveryInput.parse({ productId, content, idempotencyKey });
  return (await core.deliveries.create(core.tenant, input)).delivery;
}

/** Creates a product with content. */
export async function stock(core: Core, ...contents: Content[]) {
  const { id: productId } = await core.products.create(core.tenant, { name: 'Curso', priceCents: PRICE });
  let deliveryId = '';
  for (const content of contents) ({ deliveryId } = await deliver(core, productId, content));
  return { productId, deliveryId };
}

/** Creates a PIX payment of a product, and pays it. Returns its id. */
export async function buyByPix(
  core: Core,
  productId: string,
  { callbackUrl, amountCents }: { callbackUrl?: string | undefined; amountCents?: number } = {},
): Promise<string> {
  const { payment } = await core.payments.create(core.tenant, { productId, callbackUrl });
  await payByPix(core, payment.paymentId, amountCents);
  return payment.paymentId;
}

export async function payByPix(core: Core, paymentId: string, amountCents?: number): Promise<void> {
  await core.pix.pay({ txid: txidOf(paymentId), amountCents });
  await core.payments.receive(core.tenant, paymentId);
}

/** Creates a payment of a product by LTC, which is paid and confirmed. Returns its id. */
export async function buyByLtc(core: Core, productId: string): Promise<string> {
  const { payment } = await core.payments.create(core.tenant, { productId, method: 'ltc' });
  const { address, litoshi } = payment.ltc!;
  await core.litecoin.send(address!, { litoshi, confirmations: 2 });
  await core.ltc.receive(core.tenant, payment.paymentId);
  return payment.paymentId;
}

/** A checkout token that sells a product, as the service of tokens returns it. */
export function tokenFor(productId: string, grant: Partial<CheckoutGrant> = {}) {
  return {
    id: `tok_${objectId()}`,
    grant: { amount: { kind: 'product' as const, productId }, reusable: true, ...grant },
  };
}

/** Starts a card payment with a checkout token of a product. Returns its order code. */
export async function startByCard(core: Core, productId: string, token = tokenFor(productId)) {
  const attemptId = `tentativa-${objectId()}`;
  return (await core.cardPayments.startCheckout(core.tenant, token, { attemptId })).payment.orderCode;
}

export async function buyByCard(core: Core, productId: string): Promise<string> {
  const orderCode = await startByCard(core, productId);
  await core.cardPayments.pay(orderCode, approved());
  return orderCode;
}

/** Reads what a payment was given. */
export async function givenTo(core: Core, id: string) {
  const type = id.startsWith('psa_') ? 'payment' : 'card_payment';
  return (await core.deliveries.deliveredTo(core.tenant, type, [id]))[0];
}
