import { UpstreamError } from '../../kernel/errors.ts';
import type { WebhookService } from '../model.ts';

/**
 * The webhook service in front of another service: it delivers that service's card events, relayed to a payment's own
 * callbackUrl. The URL of its other events is set in its dashboard (the document's section 6): it has no endpoint for it.
 */
export function createRemoteWebhooks(service: WebhookService): WebhookService {
  return {
    ...service,
    async configure() {
      throw new UpstreamError(
        'The service has no endpoint for this: set the URL in its dashboard (API and Developers, Webhooks)',
        { retryable: false, moneyMayHaveMoved: false },
      );
    },
  };
}
