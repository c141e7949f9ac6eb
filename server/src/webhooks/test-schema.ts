import { builder } from '../api/graphql/builder.ts';
import { authorized, successType } from '../api/graphql/mutations.ts';
import { assertUnrestrictedKey } from '../kernel/caller.ts';
import {
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import { WebhookAttemptRef } from './attempt-schema.ts';
import type { SentTest, WebhookTestService } from './tests.ts';

declare module '../api/graphql/services.ts' {
  interface PaymentsService {
    webhookTests: WebhookTestService;
  }
}

const SendTestWebhookInput = builder.inputType('SendTestWebhookInput', {
  fields: (t) => ({
    event: t.string({
      required: true,
      description: 'The name of an event of webhookEvents, also of one that the account has not opted into.',
    }),
    endpointId: t.string({ description: 'The endpoint to try; the URL of the account if it is left out.' }),
  }),
});

const SendTestWebhookSuccess = successType<SentTest>('SendTestWebhookSuccess', (t) => ({
  webhookId: t.exposeString('webhookId', { description: 'The X-Webhook-Id that it was sent with.' }),
  event: t.exposeString('event', { description: 'The name of the event, in sandbox that of sandbox.' }),
  url: t.expose('url', { type: 'Url', description: 'The URL to which it was sent.' }),
  payload: t.exposeString('payload', { description: 'The body, exactly as it was signed and sent.' }),
  attempt: t.expose('attempt', {
    type: WebhookAttemptRef,
    description: 'The request and its answer, which are not kept.',
  }),
}));

builder.mutationField('sendTestWebhook', (t) =>
  t.field({
    type: SendTestWebhookSuccess,
    description:
      'Sends an event to an endpoint at once, to try the receiver: signed as any other, with the header X-Webhook-Test: true and the member test: true, and with identifiers that nothing has. It is sent once, is in no list, and is not repeated; at most ten a minute.',
    args: { input: t.arg({ type: SendTestWebhookInput, required: true }) },
    errors: { types: [ValidationError, NotFoundError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.webhookTests.send(tenant, input),
    ),
  }),
);
