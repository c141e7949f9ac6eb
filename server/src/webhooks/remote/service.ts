import { UpstreamError } from '../../kernel/errors.ts';
import type { WebhookService } from '../model.ts';

/**
 * In front of another service: what is delivered here are that service's card events, passed on to a payment's own
 * callbackUrl. Where its other events go is set in its dashboard (the document's section 6), for which it has no endpoint.
 */
export function createRemoteWebhooks(passedOn: WebhookService): WebhookService {
  return {
    ...passedOn,
    async configure() {
      throw new UpstreamError(
        'The service has no endpoint for this: set the URL in its dashboard (API and Developers, Webhooks)',
        { retryable: false, moneyMayHaveMoved: false },
      );
    },
  };
}
