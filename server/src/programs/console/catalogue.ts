import { z } from 'zod';
import type { Route } from '../../api/http/routes.ts';
import type { SameOrigin } from '../../api/http/same-origin.ts';
import {
  assertFound,
  contentOf,
  createDeliveryInput,
  type DeliveryService,
  deliveryIdText,
} from '../../catalogue/deliveries/model.ts';
import { createProductInput, type ProductService } from '../../catalogue/products/model.ts';
import { UpstreamError } from '../../kernel/errors.ts';
import { productIdText } from '../../money-in/checkout/model.ts';
import { type Actions, confirmed } from './actions.ts';

/** The operations of the console on what an account sells, and on the content that its payers get. */
export interface CatalogueOperations {
  products: Pick<ProductService, 'create' | 'delete'>;
  deliveries: Pick<DeliveryService, 'create' | 'delete' | 'findMany'>;
}

const deleteProductInput = z.object({ ...confirmed, productId: productIdText });
const deleteDeliveryInput = z.object({ ...confirmed, deliveryId: deliveryIdText });
const contentInput = z.object({ deliveryId: deliveryIdText });

/**
 * The routes of products and their content. A dashboard token sees no content, so that a text or a link is shown by a route
 * of its own. Deletions, which cannot be undone, ask for the key of the session again. No line of the audit has content.
 */
export function createCatalogueRoutes({
  operations,
  sameOrigin: { action },
  actions: { admit, admitWithKey, recorded },
}: {
  /** Creates the operations of one request. */
  operations: () => CatalogueOperations;
  sameOrigin: SameOrigin;
  actions: Actions;
}): Route[] {
  return [
    action(/^\/console\/products$/, createProductInput, async (input, context) => {
      const actor = await admit(context);
      const { priceCents } = input;
      const body = await recorded(actor, 'product', { priceCents }, async () => {
        const { id } = await operations().products.create(actor.tenant, input);
        return { productId: id };
      });
      return { status: 201, body };
    }),
    action(/^\/console\/products\/delete$/, deleteProductInput, async ({ key, productId }, context) => {
      const actor = await admitWithKey(context, key);
      const body = await recorded(actor, 'product deletion', { productId }, async () => {
        await operations().products.delete(actor.tenant, productId);
        return { productId, deleted: true };
      });
      return { body };
    }),
    action(/^\/console\/deliveries$/, createDeliveryInput, async (input, context) => {
      const actor = await admit(context);
      const { productId, content, idempotencyKey } = input;
      const { kind } = contentOf(content);
      const details = { productId, kind, codes: content.codes?.length, idempotencyKey };
      const body = await recorded(actor, 'content', details, async () => {
        const { delivery, replayed } = await operations().deliveries.create(actor.tenant, input);
        const { deliveryId, remainingCount } = delivery;
        return { deliveryId, remainingCount, replayed };
      });
      return { status: 201, body };
    }),
    action(/^\/console\/deliveries\/delete$/, deleteDeliveryInput, async ({ key, deliveryId }, context) => {
      const actor = await admitWithKey(context, key);
      const body = await recorded(actor, 'content deletion', { deliveryId }, async () => {
        await operations().deliveries.delete(actor.tenant, deliveryId);
        return { deliveryId, deleted: true };
      });
      return { body };
    }),
    action(/^\/console\/deliveries\/content$/, contentInput, async ({ deliveryId }, context) => {
      const actor = await admit(context);
      let content: string | null = null;
      await recorded(actor, 'content shown', { deliveryId }, async () => {
        const [found = null] = await operations().deliveries.findMany(actor.tenant, [deliveryId]);
        if (found instanceof UpstreamError) throw found;
        const delivery = assertFound(found);
        content = delivery.content;
        return { kind: delivery.kind };
      });
      return { body: { content } };
    }),
  ];
}
