import { AccountUpdate, addAccountUpdates } from '../../api/graphql/account-updates.ts';
import { builder } from '../../api/graphql/builder.ts';
import { assertMay, callerOf } from '../../kernel/caller.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import { isOneOf } from '../../kernel/list-filter.ts';
import type { StoredEvent } from '../../state/events/event.ts';
import type { WebhookDelivery } from '../model.ts';
import { WebhookDeliveryRef, WebhookDeliveryStatusEnum } from '../schema.ts';

interface Update {
  cursor: string;
  occurredAt: Date;
  previousStatus: WebhookDelivery['status'] | null;
  delivery: WebhookDelivery;
}

const WebhookDeliveryUpdate = builder.objectRef<Update>('WebhookDeliveryUpdate').implement({
  interfaces: [AccountUpdate],
  description:
    'A change of a delivery’s status: PENDING where it was made or is sent again, then DELIVERED or EXHAUSTED. An attempt that fails and is repeated is none.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The cursor to pass as `after` in order to continue behind this update.',
    }),
    occurredAt: t.expose('occurredAt', {
      type: 'DateTime',
      description: 'The time of the change; in the first state, the time at which it was read.',
    }),
    previousStatus: t.field({
      type: WebhookDeliveryStatusEnum,
      nullable: true,
      resolve: (update) => update.previousStatus,
    }),
    delivery: t.field({
      type: WebhookDeliveryRef,
      description: 'The delivery right after this change; `attempts` are those made until now.',
      resolve: (update) => update.delivery,
    }),
  }),
});

addAccountUpdates('WEBHOOK_DELIVERY', {
  typename: 'WebhookDeliveryUpdate',
  resource: 'webhook_delivery',
  follow(context) {
    assertMay(callerOf(context), 'webhooks.read');
    return { toItem: eventUpdate };
  },
});

builder.subscriptionFields((t) => ({
  webhookDeliveryUpdates: t.field({
    type: WebhookDeliveryUpdate,
    description:
      'The delivery, then each change of its status. The stream never completes: a delivery can be sent again.',
    args: { webhookId: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: (_, { webhookId, after }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'webhooks.read');
      return context.subscribe<Update>({
        topic: { resource: 'webhook_delivery', resourceId: webhookId },
        after,
        async begin() {
          const found = await context.services.webhooks.findWithVersion(caller.tenant, webhookId);
          if (!found) throw new NotFoundError('Webhook delivery not found');
          const { version, delivery } = found;
          const occurredAt = context.clock.now();
          return {
            version,
            first: (cursor) => ({ cursor, occurredAt, previousStatus: null, delivery }),
            isOver: false,
          };
        },
        toItem: eventUpdate,
        isLast: () => false,
      });
    },
    resolve: (update) => update,
  }),
  allWebhookDeliveryUpdates: t.field({
    type: WebhookDeliveryUpdate,
    description: 'Every webhook delivery of the account; no first state, only changes of a status.',
    args: { after: t.arg.string(), status: t.arg({ type: [WebhookDeliveryStatusEnum] }) },
    subscribe: (_, { after, ...args }, context) => {
      assertMay(callerOf(context), 'webhooks.read');
      const status = args.status ?? undefined;
      return context.subscribe({
        topic: { resource: 'webhook_delivery' },
        matches: (event) => event.resource === 'webhook_delivery' && isOneOf(event.snapshot.status, status),
        after,
        toItem: eventUpdate,
        isLast: () => false,
      });
    },
    resolve: (update) => update,
  }),
}));

/** An update with the state at the time of the change. */
function eventUpdate(event: StoredEvent, cursor: string): Update {
  if (event.resource !== 'webhook_delivery')
    throw new TypeError(`${event.kind} is not a webhook delivery's event`);
  const { occurredAt, previousStatus, snapshot } = event;
  return { cursor, occurredAt, previousStatus, delivery: snapshot };
}
