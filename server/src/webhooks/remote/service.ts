import { PreconditionError } from '../../kernel/errors.ts';
import type { WebhookRedeliveryService } from '../bulk.ts';
import type { WebhookService } from '../model.ts';
import type { WebhookTestService } from '../tests.ts';

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

/** In remote mode no webhook is this server's own, so none is tried. */
export const remoteWebhookTests: WebhookTestService = {
  async send() {
    throw new PreconditionError(
      'NOT_OFFERED',
      'Tests of webhooks are not offered by the payments service behind this server: its dashboard has its webhooks (API and Developers, Webhooks)',
    );
  },
};

/** Redeliveries of remote mode, where this server has no URL of the account. */
export function createRemoteRedeliveries(service: WebhookRedeliveryService): WebhookRedeliveryService {
  return {
    ...service,
    async request(tenant, input) {
      if (input.toCurrentUrl)
        throw new PreconditionError(
          'NOT_OFFERED',
          'This server has no webhook URL of the account: the payments service behind it sends to that by itself',
        );
      return service.request(tenant, input);
    },
  };
}
