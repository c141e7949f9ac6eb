import { builder } from '../api/graphql/builder.ts';
import { addEntity } from '../api/graphql/federation.ts';
import { addLoaders, type LoadersOf } from '../api/graphql/loaders.ts';
import { authorized, replayableSuccessType, successType } from '../api/graphql/mutations.ts';
import { assertMay, assertUnrestrictedKey, callerOf } from '../kernel/caller.ts';
import {
  IdempotencyError,
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import { nullMessage } from '../kernel/text.ts';
import {
  DEFAULT_MOST,
  MAX_MOST,
  statusOf,
  type WebhookRedelivery,
  type WebhookRedeliveryService,
} from './bulk.ts';
import { readDeliveryFilter, WebhookDeliveryFilterInput } from './filter-schema.ts';
import type { WebhookDeliveryFilter } from './model.ts';

const loads = addLoaders({
  webhookRedelivery: ({ webhookRedeliveries }, tenant, redeliveryIds) =>
    webhookRedeliveries.findMany(tenant, redeliveryIds),
});

declare module '../api/graphql/services.ts' {
  interface PaymentsService {
    webhookRedeliveries: WebhookRedeliveryService;
  }
}

declare module '../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

const WebhookRedeliveryStatusEnum = builder.enumType('WebhookRedeliveryStatus', {
  description: 'The state of a redelivery of many webhooks.',
  values: {
    RUNNING: { value: 'running', description: 'Deliveries are still to be sent again.' },
    FINISHED: { value: 'finished', description: 'All were sent again or passed over.' },
    CANCELED: { value: 'canceled', description: 'It was canceled; what was sent again by then goes on.' },
  } as const,
});

const WebhookRedeliveryRef = builder.objectRef<WebhookRedelivery>('WebhookRedelivery');

addEntity(WebhookRedeliveryRef, 'redeliveryId');
builder.node(WebhookRedeliveryRef, {
  id: { resolve: ({ redeliveryId }) => redeliveryId },
  loadOne: (redeliveryId, context) => {
    assertMay(callerOf(context), 'webhooks.read');
    return context.loaders.webhookRedelivery.load(redeliveryId);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'redeliveryId' in value,
  description: 'Many webhook deliveries that are sent again in the background, oldest first, ten a second.',
  fields: (t) => ({
    redeliveryId: t.exposeString('redeliveryId', { description: 'The identifier of the redelivery.' }),
    status: t.field({ type: WebhookRedeliveryStatusEnum, resolve: statusOf }),
    total: t.exposeInt('total', {
      description: 'The number of deliveries that matched when it was requested.',
    }),
    done: t.exposeInt('done', {
      description:
        'The number of those that were sent again until now. One that no longer matches when its turn comes is passed over.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the last delivery was sent again; null before that.',
    }),
    canceledAt: t.expose('canceledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which it was canceled; null if it was not.',
    }),
  }),
});

builder.queryField('webhookRedelivery', (t) =>
  t.field({
    type: WebhookRedeliveryRef,
    nullable: true,
    description: 'The progress of redeliverWebhooks; null if there is none of this identifier.',
    args: { redeliveryId: t.arg.string({ required: true }) },
    resolve: (_, { redeliveryId }, context) => {
      assertMay(callerOf(context), 'webhooks.read');
      return context.loaders.webhookRedelivery.load(redeliveryId);
    },
  }),
);

const RedeliverWebhooksInput = builder.inputType('RedeliverWebhooksInput', {
  fields: (t) => ({
    filter: t.field({
      type: WebhookDeliveryFilterInput,
      required: true,
      description: 'Selects the deliveries. Those that are made later are not sent again.',
    }),
    most: t.int({
      defaultValue: DEFAULT_MOST,
      description: `The number of deliveries from which on the request is refused and nothing is sent, at most ${MAX_MOST}.`,
    }),
    toCurrentUrl: t.boolean({
      defaultValue: false,
      description:
        'Whether deliveries to an endpoint go to the URL that it has when their turn comes; they are passed over if that is switched off. Those to the callbackUrl of a payment stay with it.',
    }),
    idempotencyKey: t.string({
      required: true,
      description: 'Names the request. With the same key and input it has one effect.',
    }),
  }),
});

/**
 * Reads the filter of an input. Null is refused, which may be a condition that was lost: without it more would be sent again.
 * @throws ValidationError naming its member
 */
function filterIn({ filter }: { filter: Parameters<typeof readDeliveryFilter>[0] }): WebhookDeliveryFilter {
  const nulls = Object.entries(filter ?? {})
    .filter(([, value]) => value === null)
    .map(([member]) => ({ path: `input.filter.${member}`, message: nullMessage('deliveries of any kind') }));
  if (nulls.length > 0) throw new ValidationError(nulls);
  try {
    return readDeliveryFilter(filter);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new ValidationError(error.fields.map(({ path, message }) => ({ path: `input.${path}`, message })));
  }
}

const RedeliverWebhooksSuccess = replayableSuccessType<{ redelivery: WebhookRedelivery }>(
  'RedeliverWebhooksSuccess',
  (t) => ({ redelivery: t.expose('redelivery', { type: WebhookRedeliveryRef }) }),
);

const CancelWebhookRedeliverySuccess = successType<{ redelivery: WebhookRedelivery }>(
  'CancelWebhookRedeliverySuccess',
  (t) => ({ redelivery: t.expose('redelivery', { type: WebhookRedeliveryRef }) }),
);

builder.mutationFields((t) => ({
  redeliverWebhooks: t.field({
    type: RedeliverWebhooksSuccess,
    description:
      'Sends every webhook that matches a filter again, in the background, oldest first, ten a second, each as redeliverWebhook does.',
    args: { input: t.arg({ type: RedeliverWebhooksInput, required: true }) },
    errors: {
      types: [ValidationError, RateLimitError, PreconditionError, IdempotencyError, UpstreamError],
    },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.webhookRedeliveries.request(tenant, { ...input, filter: filterIn(input) }),
    ),
  }),
  cancelWebhookRedelivery: t.field({
    type: CancelWebhookRedeliverySuccess,
    description:
      'Ends a redelivery: it sends nothing more. What it has sent again goes on. One that has ended stays as it is.',
    args: { redeliveryId: t.arg.string({ required: true }) },
    errors: { types: [NotFoundError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { redeliveryId }, { services }) => ({
      redelivery: await services.webhookRedeliveries.cancel(tenant, redeliveryId),
    })),
  }),
}));
