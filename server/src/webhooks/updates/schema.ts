import { builder } from '../../api/graphql/builder.ts';
import { defineUpdates } from '../../api/graphql/updates.ts';
import { assertMay, callerOf } from '../../kernel/caller.ts';
import { WebhookDeliveryStatusEnum } from '../enums-schema.ts';
import { filterArguments, filterOf } from '../filter-schema.ts';
import { matchesFilter } from '../model.ts';
import { WebhookDeliveryRef } from '../schema.ts';

const updates = defineUpdates({
  type: 'WebhookDeliveryUpdate',
  description:
    'A change of a delivery’s status: PENDING where it was made or is sent again, then DELIVERED or EXHAUSTED; HELD while its endpoint is disabled by failures, CANCELED where that was deleted. An attempt that fails and is repeated is none.',
  kind: 'WEBHOOK_DELIVERY',
  covers: 'Deliveries of webhooks',
  resource: 'webhook_delivery',
  title: 'Webhook delivery',
  status: WebhookDeliveryStatusEnum,
  isDatedByReading: true,
  fields: (t) => ({
    delivery: t.field({
      type: WebhookDeliveryRef,
      description: 'The delivery right after this change; `attempts` are those made until now.',
      resolve: ({ item }) => item,
    }),
  }),
  authorize: (context) => assertMay(callerOf(context), 'webhooks.read'),
});

builder.subscriptionFields((t) => ({
  webhookDeliveryUpdates: t.field({
    type: updates.type,
    description:
      'The delivery, then each change of its status. The stream never completes: a delivery can be sent again.',
    args: { webhookId: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: (_, { webhookId, after }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'webhooks.read');
      return updates.follow(context, webhookId, after, async () => {
        const found = await context.services.webhooks.findWithVersion(caller.tenant, webhookId);
        return found && { version: found.version, item: found.resource, since: null };
      });
    },
    resolve: (update) => update,
  }),
  allWebhookDeliveryUpdates: t.field({
    type: updates.type,
    description: 'Every webhook delivery of the account; no first state, only changes of a status.',
    args: { after: t.arg.string(), ...filterArguments(t.arg) },
    subscribe: (_, { after, ...args }, context) =>
      updates.followAll(context, after, () => {
        const filter = filterOf(args);
        return ({ snapshot }) => matchesFilter(snapshot, filter);
      }),
    resolve: (update) => update,
  }),
}));
