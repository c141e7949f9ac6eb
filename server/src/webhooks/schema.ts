import { builder, UNKNOWN } from '../api/graphql/builder.ts';
import { deprecatedSince } from '../api/graphql/deprecations.ts';
import { addEntity } from '../api/graphql/federation.ts';
import { addLoaders, type LoadersOf } from '../api/graphql/loaders.ts';
import { authorized, successType } from '../api/graphql/mutations.ts';
import { BOTH_WAYS, connectionArguments, readConnection, totalOf } from '../api/graphql/paging.ts';
import { resolveResource } from '../api/graphql/resources.ts';
import { assertMay, assertUnrestrictedKey, callerOf } from '../kernel/caller.ts';
import {
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import { seesPayloads, urlFor, WebhookAttemptRef } from './attempt-schema.ts';
import { WebhookDeliveryStatusEnum } from './enums-schema.ts';
import { filterArguments, filterOf } from './filter-schema.ts';
import {
  type ConfiguredWebhook,
  subjectOf,
  type WebhookDelivery,
  type WebhookService,
  type WebhookSettings,
} from './model.ts';
import {
  DESCRIBED_WEBHOOKS,
  EVENTS,
  listEvents,
  OPTIONAL_WEBHOOK_EVENTS,
  WEBHOOK_EVENTS,
} from './sent-events.ts';

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

const OptionalWebhookEventEnum = builder.enumType('OptionalWebhookEvent', {
  description:
    'An event that the payments service does not document. It is sent to accounts that have opted into it.',
  values: {
    ...Object.fromEntries(
      OPTIONAL_WEBHOOK_EVENTS.map((event) => [
        event.replace('.', '_').toUpperCase(),
        { value: event, description: `${event}${EVENTS[event].optional}` },
      ]),
    ),
    UNKNOWN,
  } as Record<string, { value: string; description: string }>,
});

const WebhookEndpointRef = builder.objectRef<WebhookSettings>('WebhookEndpoint').implement({
  description: 'The address to which the events of an environment are sent, and how. It shows no secret.',
  fields: (t) => ({
    url: t.field({
      type: 'Url',
      description:
        'The URL that receives events. The values in its query are *** without the permission `webhooks.payloads` or the scope WEBHOOK_PAYLOADS.',
      resolve: ({ url }, _, context) => urlFor(context, url),
    }),
    enabled: t.exposeBoolean('enabled', {
      description:
        'Whether events are sent to the URL. Those of a payment with a callbackUrl of its own go there in either case.',
    }),
    optionalEvents: t.field({
      type: [OptionalWebhookEventEnum],
      description: 'The optional events that are sent.',
      resolve: ({ optionalEvents }) => optionalEvents,
    }),
    previousSecretValidUntil: t.expose('previousSecretValidUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the last earlier secret stops signing; null if none signs.',
    }),
  }),
});

const WebhookEventTypeRef = builder
  .objectRef<(typeof DESCRIBED_WEBHOOKS)[number]>('WebhookEventType')
  .implement({
    description: 'An event that this server sends by webhook.',
    fields: (t) => ({
      name: t.exposeString('event', { description: 'The name of the event, as payment.paid.' }),
      sandboxName: t.exposeString('nameInSandbox', {
        nullable: true,
        description:
          'The name of the event with a test key, as payment.test.paid; null if it has one name for both. The member `sandbox` of the body says the same of each event.',
      }),
      summary: t.exposeString('summary', { description: 'The reason for which it is sent.' }),
      resourceType: t.exposeString('resource', {
        description: 'The type of the resource whose state it reports: resource.type of its body.',
      }),
      optional: t.boolean({
        description: 'Whether it is sent only to accounts that have opted into it.',
        resolve: ({ optional }) => optional !== null,
      }),
      optIn: t.field({
        type: OptionalWebhookEventEnum,
        nullable: true,
        description: 'The value of optionalEvents that opts into it; null unless it is optional.',
        resolve: ({ event, optional }) => (optional === null ? null : event),
      }),
    }),
  });

builder.queryFields((t) => ({
  webhookEndpoint: t.field({
    type: WebhookEndpointRef,
    nullable: true,
    description:
      'The address that configureWebhook has set for the key’s environment; null before the first. In front of another service it is NOT_OFFERED: the dashboard of that service has it.',
    resolve: (_, __, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'webhooks.read');
      return context.services.webhooks.settings(caller.tenant);
    },
  }),
  webhookEvents: t.field({
    type: [WebhookEventTypeRef],
    description:
      'Each event that this server sends, first those that every account gets. Those that a server in front of another service passes on are that service’s.',
    resolve: (_, __, context) => {
      assertMay(callerOf(context), 'webhooks.read');
      return DESCRIBED_WEBHOOKS;
    },
  }),
}));

const ConfigureWebhookInput = builder.inputType('ConfigureWebhookInput', {
  description: 'The changes of an endpoint: what is left out stays as it is, and null is refused.',
  fields: (t) => ({
    url: t.field({
      type: 'Url',
      description:
        'The public https URL, at most 500 characters, that receives events from now on. Earlier events stay with the URL for which they were written. It must be given the first time.',
    }),
    enabled: t.boolean({
      description:
        'Whether events are sent to the URL from now on: true at first. False sends none that happen until it is true again, and they are not sent afterwards; deliveries that have begun continue. URL, secret and optionalEvents stay.',
    }),
    rotateSecret: t.boolean({
      defaultValue: false,
      description:
        'Whether to replace the secret; null is false. A new secret signs from now on, retries of older deliveries included. The previous one signs beside it for previousSecretHours.',
    }),
    previousSecretHours: t.int({
      description:
        'The hours from now, 0 to 168, after which no earlier secret signs webhook-signature any more. If left out: 24 for the secret that is replaced now, and no change for those before it. 0 ends them at once, also without rotateSecret. X-Webhook-Signature is made with the new secret alone.',
    }),
    optionalEvents: t.field({
      type: [OptionalWebhookEventEnum],
      description:
        'The undocumented events to send, in addition to the documented ones; none at first. An empty list selects none. Those of a card payment go to its own callbackUrl if it has one.',
    }),
  }),
});

const ConfigureWebhookSuccess = successType<ConfiguredWebhook>(
  'ConfigureWebhookSuccess',
  (t) => ({
    endpoint: t.field({
      type: WebhookEndpointRef,
      description: 'The configuration after the change.',
      resolve: (configured) => configured,
    }),
    secret: t.exposeString('secret', {
      nullable: true,
      description:
        'The signing secret, shown once: with the first URL and with each rotateSecret. Null otherwise; it is then unchanged.',
    }),
    url: t.expose('url', {
      type: 'Url',
      deprecationReason: deprecatedSince('0.2.0', 'Use endpoint.url.'),
      description: 'The URL that receives events from now on.',
    }),
  }),
  { description: 'The configuration that applies to events from now on.' },
);

const RedeliverWebhookSuccess = successType<{ delivery: WebhookDelivery }>(
  'RedeliverWebhookSuccess',
  (t) => ({ delivery: t.expose('delivery', { type: WebhookDeliveryRef }) }),
  { formerly: 'WebhookDeliverySuccess' },
);

builder.mutationFields((t) => ({
  configureWebhook: t.field({
    type: ConfigureWebhookSuccess,
    description:
      'Changes the webhook URL of the key’s environment, its optional events, or whether it is sent to, and rotates its secret if requested. Each environment has one URL and one secret.',
    args: { input: t.arg({ type: ConfigureWebhookInput, required: true }) },
    errors: { types: [ValidationError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.webhooks.configure(tenant, input),
    ),
  }),
  redeliverWebhook: t.field({
    type: RedeliverWebhookSuccess,
    description:
      'Sends a webhook again, to the same URL and under the same webhookId, with up to seven attempts. A delivery that waits for its next attempt is due now.',
    args: { webhookId: t.arg.string({ required: true }) },
    errors: { types: [NotFoundError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { webhookId }, { services }) => ({
      delivery: await services.webhooks.redeliver(tenant, webhookId),
    })),
  }),
}));
