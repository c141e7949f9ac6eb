import { PreconditionError } from '../../kernel/errors.ts';
import type { WebhookService } from '../model.ts';

/**
 * The webhook service of remote mode. It relays the upstream service's payment events to a payment's own
 * callbackUrl. The URL of all other events is set in the upstream service's dashboard (the document's section
 * 6), which has no endpoint for it.
 */
export function createRemoteWebhooks(service: WebhookService): WebhookService {
  return {
    ...service,
    async configure() {
      throw new PreconditionError(
        'NOT_OFFERED',
        'Configuring webhooks is not offered by the payments service behind this server: set the URL in its dashboard (API and Developers, Webhooks)',
      );
    },
    async settings() {
      throw new PreconditionError(
        'NOT_OFFERED',
        'The webhook URL is not shown by the payments service behind this server: its dashboard has it (API and Developers, Webhooks)',
      );
    },
  };
}
