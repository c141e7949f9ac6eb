import { builder } from '../api/graphql/builder.ts';
import { addEntity } from '../api/graphql/federation.ts';
import { addLoaders, type LoadersOf } from '../api/graphql/loaders.ts';
import { authorized, successType } from '../api/graphql/mutations.ts';
import { BOTH_WAYS, connectionArguments, readConnection, totalOf } from '../api/graphql/paging.ts';
import { resolveResource } from '../api/graphql/resources.ts';
import { assertMay, assertUnrestrictedKey, callerOf } from '../kernel/caller.ts';
import { NotFoundError, PreconditionError, RateLimitError, UpstreamError } from '../kernel/errors.ts';
import { seesPayloads, urlFor, WebhookAttemptRef } from './attempt-schema.ts';
import { WebhookEndpointRef } from './endpoint-schema.ts';
import { WebhookDeliveryStatusEnum } from './enums-schema.ts';
import { filterArguments, filterOf } from './filter-schema.ts';
import { subjectOf, type WebhookDelivery, type WebhookService } from './model.ts';
import { listEvents, OPTIONAL_WEBHOOK_EVENTS, WEBHOOK_EVENTS } from './sent-events.ts';

const loads = addLoaders({
  webhookDelivery: ({ webhooks }, tenant, webhookIds) => webhooks.findMany(tenant, webhookIds),
  webhookAttempts: ({ webhooks }, tenant, webhookIds) => webhooks.attemptsOf(tenant, webhookIds),
  webhookPayload: ({ webhooks }, tenant, webhookIds) => webhooks.payloadsOf(tenant, webhookIds),
});

declare module '../api/graphql/services.ts' {
  interface PaymentsService {
    webhooks: WebhookService;
  }
}

declare module '../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

export const WebhookDeliveryRef = builder.objectRef<WebhookDelivery>('WebhookDelivery');

addEntity(WebhookDeliveryRef, 'webhookId');
builder.node(WebhookDeliveryRef, {
  id: { resolve: (delivery) => delivery.webhookId },
  loadOne: (webhookId, context) => {
    assertMay(callerOf(context), 'webhooks.read');
    return context.loaders.webhookDelivery.load(webhookId);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'webhookId' in value,
  description: 'One event on its way to one URL.',
  fields: (t) => ({
    webhookId: t.exposeString('webhookId', {
      description: 'The X-Webhook-Id header: the same on every attempt.',
    }),
    event: t.exposeString('event', {
      description: `${listEvents(WEBHOOK_EVENTS)}. Where the account has opted into them: ${listEvents(OPTIONAL_WEBHOOK_EVENTS)}. subaccount.payout is sent at each change of status. In sandbox some have .test. behind the resource, as withdrawal.test.completed.`,
    }),
    url: t.field({
      type: 'Url',
      description:
        'The URL as it was when the event happened. The values in its query are *** without the permission `webhooks.payloads` or the scope WEBHOOK_PAYLOADS.',
      resolve: ({ url }, _, context) => urlFor(context, url),
    }),
    endpoint: t.field({
      type: WebhookEndpointRef,
      nullable: true,
      description:
        'The endpoint to which it goes. Null for the callbackUrl of a payment, for an endpoint that was deleted, and for deliveries of before version 0.3.',
      resolve: ({ endpointId }, _, context) =>
        endpointId === null ? null : context.loaders.webhookEndpoint.load(endpointId),
    }),
    resource: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      description:
        'The resource whose state it reports. Null for a token and for returned money, which have no id, and for a credential that may not read it.',
      resolve: (delivery, _, context, info) => resolveResource(subjectOf(delivery), context, info) as never,
    }),
    payload: t.string({
      nullable: true,
      description:
        'The body, exactly as it is signed and sent. Null without the permission `webhooks.payloads` or the scope WEBHOOK_PAYLOADS.',
      resolve: ({ webhookId }, _, context) =>
        seesPayloads(callerOf(context)) ? context.loaders.webhookPayload.load(webhookId) : null,
    }),
    status: t.field({ type: WebhookDeliveryStatusEnum, resolve: ({ status }) => status }),
    attempts: t.field({
      type: [WebhookAttemptRef],
      description: 'The attempts, oldest first; of many the last 50.',
      resolve: ({ webhookId }, _, context) => context.loaders.webhookAttempts.load(webhookId),
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of the next attempt; null unless PENDING.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

const WebhookDeliveryConnection = builder.connectionObject(
  {
    type: WebhookDeliveryRef,
    name: 'WebhookDeliveryConnection',
    fields: (t) => ({
      totalCount: t.int({ resolve: totalOf }),
    }),
  },
  { name: 'WebhookDeliveryEdge' },
);

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

builder.queryField('webhookDelivery', (t) =>
  t.field({
    type: WebhookDeliveryRef,
    nullable: true,
    description: 'A webhook delivery by its X-Webhook-Id; null if there is none.',
    args: { webhookId: t.arg.string({ required: true }) },
    resolve: (_, { webhookId }, context) => {
      assertMay(callerOf(context), 'webhooks.read');
      return context.loaders.webhookDelivery.load(webhookId);
    },
  }),
);

builder.queryField('webhookDeliveries', (t) =>
  t.field({
    type: WebhookDeliveryConnection,
    description: `A list of webhook deliveries, newest first. ${BOTH_WAYS}`,
    args: { ...connectionArguments(t.arg), ...filterArguments(t.arg) },
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'webhooks.read');
      const filter = filterOf(args);
      const { webhooks } = context.services;
      return readConnection(context.listCursors('webhookDeliveries'), args, {
        list: (range) => webhooks.list(caller.tenant, { ...range, ...filter }),
        node: ({ delivery }) => delivery,
        total: () => webhooks.count(caller.tenant, filter),
      });
    },
  }),
);

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const RedeliverWebhookSuccess = successType<{ delivery: WebhookDelivery }>(
  'RedeliverWebhookSuccess',
  (t) => ({ delivery: t.expose('delivery', { type: WebhookDeliveryRef }) }),
  { formerly: 'WebhookDeliverySuccess' },
);

builder.mutationFields((t) => ({
  redeliverWebhook: t.field({
    type: RedeliverWebhookSuccess,
    description:
      'Sends a webhook again, to the same URL and under the same webhookId, with up to seven attempts. A delivery that waits for its next attempt is due now. One to an endpoint that was deleted is NOT_FOUND.',
    args: { webhookId: t.arg.string({ required: true }) },
    errors: { types: [NotFoundError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { webhookId }, { services }) => ({
      delivery: await services.webhooks.redeliver(tenant, webhookId),
    })),
  }),
}));
