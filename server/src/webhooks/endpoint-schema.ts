import { builder, UNKNOWN } from '../api/graphql/builder.ts';
import { deprecatedSince } from '../api/graphql/deprecations.ts';
import { addEntity } from '../api/graphql/federation.ts';
import { addLoaders, type LoadersOf } from '../api/graphql/loaders.ts';
import { authorized, successType } from '../api/graphql/mutations.ts';
import { assertMay, assertUnrestrictedKey, callerOf } from '../kernel/caller.ts';
import {
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import { urlFor } from './attempt-schema.ts';
import {
  type ConfiguredWebhook,
  EVERY_EVENT,
  endpointStatusOf,
  type WebhookEndpointService,
  type WebhookSettings,
} from './endpoints.ts';
import { DESCRIBED_WEBHOOKS, EVENTS, OPTIONAL_WEBHOOK_EVENTS, WEBHOOK_EVENTS } from './sent-events.ts';

const loads = addLoaders({
  webhookEndpoint: ({ webhookEndpoints }, tenant, endpointIds) =>
    webhookEndpoints.findMany(tenant, endpointIds),
});

declare module '../api/graphql/services.ts' {
  interface PaymentsService {
    webhookEndpoints: WebhookEndpointService;
  }
}

declare module '../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

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

const WebhookEndpointStatusEnum = builder.enumType('WebhookEndpointStatus', {
  description: 'The state of a webhook endpoint.',
  values: {
    ENABLED: { value: 'enabled', description: 'Events are sent to it.' },
    DISABLED: { value: 'disabled', description: 'The merchant has switched it off.' },
    DISABLED_BY_FAILURES: {
      value: 'disabled_by_failures',
      description:
        'None of at least twenty attempts in five days has succeeded. Its deliveries are HELD, and one of them is tried once a day: a success enables it again, and the held ones are sent, oldest first. So does updateWebhookEndpoint with another URL or with enabled: true.',
    },
  } as const,
});

export const WebhookEndpointRef = builder.objectRef<WebhookSettings>('WebhookEndpoint');

addEntity(WebhookEndpointRef, 'endpointId');
builder.node(WebhookEndpointRef, {
  id: { resolve: ({ endpointId }) => endpointId },
  loadOne: (endpointId, context) => {
    assertMay(callerOf(context), 'webhooks.read');
    return context.loaders.webhookEndpoint.load(endpointId);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'isOfAccount' in value,
  description:
    'An address to which the events of an environment are sent, and how: the URL of the account, or one of at most nine others. It shows no secret.',
  fields: (t) => ({
    endpointId: t.exposeString('endpointId', { description: 'The identifier of the endpoint.' }),
    ofAccount: t.exposeBoolean('isOfAccount', {
      description:
        'Whether it is the URL of the account, which configureWebhook sets. The callbackUrl of a payment replaces that one alone.',
    }),
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
    events: t.stringList({
      description:
        'The events that are sent, by the names of webhookEvents; `*` alone for all, those of later versions too. The URL of the account is sent the documented ones and its optionalEvents.',
      resolve: ({ isOfAccount, events, optionalEvents }) =>
        isOfAccount ? [...WEBHOOK_EVENTS, ...optionalEvents] : [...events],
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
    status: t.field({ type: WebhookEndpointStatusEnum, resolve: endpointStatusOf }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'The first failed attempt after the last success; null if none has failed since.',
    }),
    disabledAt: t.expose('disabledAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which it was disabled because it failed for days; null if it is not. The URL of the account never is.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which it was created; null for the URL of the account.',
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
      'An endpoint of the key’s environment by its endpointId; without one the address that configureWebhook has set. Null if there is none. In front of another service that address is NOT_OFFERED: the dashboard of that service has it.',
    args: { endpointId: t.arg.string({ description: 'The URL of the account if it is left out.' }) },
    resolve: (_, { endpointId }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'webhooks.read');
      if (endpointId == null) return context.services.webhooks.settings(caller.tenant);
      return context.loaders.webhookEndpoint.load(endpointId);
    },
  }),
  webhookEndpoints: t.field({
    type: [WebhookEndpointRef],
    description:
      'The endpoints of the key’s environment, at most ten: the URL of the account if one is set, then the others, oldest first.',
    resolve: (_, __, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'webhooks.read');
      return context.services.webhookEndpoints.list(caller.tenant);
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

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

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

const EVENTS_DESCRIPTION =
  'The names of the events to send, as webhookEvents has them, also optional ones; `*` selects all of them, those of later versions too. An empty list is refused: `enabled: false` sends none.';

const CreateWebhookEndpointInput = builder.inputType('CreateWebhookEndpointInput', {
  fields: (t) => ({
    url: t.field({
      type: 'Url',
      required: true,
      description:
        'The public https URL, at most 500 characters, that receives events from now on. No other endpoint of the environment has it.',
    }),
    events: t.stringList({ defaultValue: [EVERY_EVENT], description: EVENTS_DESCRIPTION }),
  }),
});

const UpdateWebhookEndpointInput = builder.inputType('UpdateWebhookEndpointInput', {
  description: 'The changes of an endpoint: what is left out stays as it is, and null is refused.',
  fields: (t) => ({
    endpointId: t.string({
      required: true,
      description: 'The endpoint to change, other than the URL of the account.',
    }),
    url: t.field({
      type: 'Url',
      description:
        'The public https URL that receives events from now on. Earlier events stay with the URL for which they were written, those that are held excepted.',
    }),
    events: t.stringList({ description: EVENTS_DESCRIPTION }),
    enabled: t.boolean({
      description:
        'Whether events are sent to it from now on. Those in between are not sent afterwards; deliveries that have begun continue.',
    }),
    rotateSecret: t.boolean({
      defaultValue: false,
      description: 'Whether to replace the secret, as configureWebhook does; null is false.',
    }),
    previousSecretHours: t.int({
      description:
        'The hours from now, 0 to 168, after which no earlier secret signs webhook-signature any more, as in configureWebhook.',
    }),
  }),
});

const CreateWebhookEndpointSuccess = successType<ConfiguredWebhook & { secret: string }>(
  'CreateWebhookEndpointSuccess',
  (t) => ({
    endpoint: t.field({ type: WebhookEndpointRef, resolve: (created) => created }),
    secret: t.exposeString('secret', {
      description: 'The secret that signs what is sent to this endpoint. It is shown once.',
    }),
  }),
);

const UpdateWebhookEndpointSuccess = successType<ConfiguredWebhook>('UpdateWebhookEndpointSuccess', (t) => ({
  endpoint: t.field({
    type: WebhookEndpointRef,
    description: 'The endpoint after the change.',
    resolve: (updated) => updated,
  }),
  secret: t.exposeString('secret', {
    nullable: true,
    description: 'The new secret, with rotateSecret, shown once. Null otherwise; it is then unchanged.',
  }),
}));

const DeleteWebhookEndpointSuccess = successType<{ endpointId: string }>(
  'DeleteWebhookEndpointSuccess',
  (t) => ({
    deleted: t.boolean({ resolve: () => true }),
    deletedId: t.globalID({
      description: 'The `id` that the deleted endpoint had.',
      resolve: ({ endpointId }) => ({ type: 'WebhookEndpoint', id: endpointId }),
    }),
    endpointId: t.exposeString('endpointId', {
      description: 'The endpointId that the deleted endpoint had.',
    }),
  }),
);

builder.mutationFields((t) => ({
  configureWebhook: t.field({
    type: ConfigureWebhookSuccess,
    description:
      'Changes the webhook URL of the key’s environment, its optional events, or whether it is sent to, and rotates its secret if requested. Each environment has one such URL, with a secret of its own; createWebhookEndpoint adds others.',
    args: { input: t.arg({ type: ConfigureWebhookInput, required: true }) },
    errors: { types: [ValidationError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.webhooks.configure(tenant, input),
    ),
  }),
  createWebhookEndpoint: t.field({
    type: CreateWebhookEndpointSuccess,
    description:
      'Adds an endpoint, which gets each event that it selects from now on, beside the URL of the account. An account has at most ten in each environment, that URL included.',
    args: { input: t.arg({ type: CreateWebhookEndpointInput, required: true }) },
    errors: { types: [ValidationError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.webhookEndpoints.create(tenant, input),
    ),
  }),
  updateWebhookEndpoint: t.field({
    type: UpdateWebhookEndpointSuccess,
    description:
      'Changes an endpoint that createWebhookEndpoint has added, for events from now on, and rotates its secret if requested.',
    args: { input: t.arg({ type: UpdateWebhookEndpointInput, required: true }) },
    errors: { types: [ValidationError, NotFoundError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.webhookEndpoints.update(tenant, input),
    ),
  }),
  deleteWebhookEndpoint: t.field({
    type: DeleteWebhookEndpointSuccess,
    description:
      'Deletes an endpoint that createWebhookEndpoint has added. Its deliveries that were not delivered yet are CANCELED, and none of its deliveries can be sent again.',
    args: {
      endpointId: t.arg.string({
        required: true,
        description: 'The endpoint to delete, other than the URL of the account, which is switched off.',
      }),
    },
    errors: { types: [ValidationError, NotFoundError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { endpointId }, { services }) => {
      await services.webhookEndpoints.delete(tenant, endpointId);
      return { endpointId };
    }),
  }),
}));
