import { z } from 'zod';
import { type RestOperation, restOperation } from '../api/http/rest.ts';
import { NotFoundError } from '../kernel/errors.ts';
import { instant } from '../kernel/instant.ts';
import type { WebhookSettings } from './endpoints.ts';
import type { WebhookService } from './model.ts';

const TAG = 'Webhook endpoint';
const PATH = '/v1/webhook-endpoint';

/** An endpoint in an answer. Its secret is in the answer to a change alone. */
const endpointWire = z
  .object({
    url: z.string().meta({ format: 'uri', description: 'The URL that receives events' }),
    enabled: z.boolean().meta({ description: 'Whether events are sent to it' }),
    // A newer server may have stored an event that this one does not know.
    optionalEvents: z
      .array(z.string())
      .meta({ description: 'The optional events that are sent', examples: [['payment.refunded']] }),
    previousSecretValidUntil: instant
      .nullable()
      .meta({ description: 'When the last earlier secret stops signing; null where none signs' }),
  })
  .meta({ id: 'WebhookEndpoint' });

const configuredWire = endpointWire
  .extend({
    secret: z.string().nullable().meta({
      description:
        'The signing secret, shown once: with the first URL and with each rotateSecret. Null otherwise; it is then unchanged',
    }),
  })
  .meta({ id: 'ConfiguredWebhookEndpoint' });

const configureBody = z.object({
  url: z.string().optional().meta({
    description: 'The public https URL that receives events from now on; required the first time',
    maxLength: 500,
  }),
  enabled: z
    .boolean()
    .optional()
    .meta({ description: 'Whether events are sent to it from now on; true at first' }),
  rotateSecret: z.boolean().nullish().meta({ description: 'Whether to replace the secret' }),
  previousSecretHours: z.number().optional().meta({
    type: 'integer',
    minimum: 0,
    maximum: 168,
    description:
      'The hours from now after which no earlier secret signs any more; 24 for one that is replaced now',
  }),
  optionalEvents: z.array(z.string()).optional().meta({
    description: 'The optional events to send, as `webhooks` below names them; an empty list selects none',
  }),
});

const toWire = ({ url, enabled, optionalEvents, previousSecretValidUntil }: WebhookSettings) => ({
  ...{ url, enabled, optionalEvents: [...optionalEvents], previousSecretValidUntil },
});

/** The endpoint of webhooks in the REST interface, which the document does not have. */
export function createWebhookRoutes({
  webhooks,
}: {
  webhooks: Pick<WebhookService, 'configure' | 'settings'>;
}): RestOperation[] {
  return [
    restOperation({
      method: 'GET',
      path: PATH,
      operationId: 'getWebhookEndpoint',
      summary: 'Read the address to which events are sent',
      tag: TAG,
      section: '4.5',
      answers: { 200: { description: 'The endpoint, without its secret', schema: endpointWire } },
      errors: { 404: 'No URL was set in this environment' },
      async handle({ caller }) {
        const settings = await webhooks.settings(caller.tenant);
        if (!settings) throw new NotFoundError('No webhook URL is set');
        return { status: 200, body: toWire(settings) };
      },
    }),
    restOperation({
      method: 'POST',
      path: PATH,
      operationId: 'configureWebhookEndpoint',
      summary: 'Set the address, change a part of it, or switch it off',
      description: 'What is left out stays as it is; null is refused.',
      tag: TAG,
      section: '4.5',
      body: configureBody,
      example: { url: 'https://loja.example/psa', optionalEvents: ['payment.refunded'] },
      answers: { 200: { description: 'The endpoint after the change', schema: configuredWire } },
      async handle({ caller, body }) {
        const configured = await webhooks.configure(caller.tenant, body);
        return { status: 200, body: { ...toWire(configured), secret: configured.secret } };
      },
    }),
  ];
}
