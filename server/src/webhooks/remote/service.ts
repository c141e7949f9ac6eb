import { PreconditionError, ValidationError } from '../../kernel/errors.ts';
import type { WebhookRedeliveryService } from '../bulk.ts';
import { isFurther, type WebhookEndpointService } from '../endpoints.ts';
import { isSameEndpoint, type WebhookService } from '../model.ts';
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

/**
 * The further endpoints of remote mode, to which this server copies the webhooks of the service. The URL of the account is the
 * service's.
 */
export function createRemoteEndpoints(
  service: WebhookEndpointService,
  { receivesAt }: { receivesAt: string },
): WebhookEndpointService {
  const own = new URL(receivesAt);
  /** @throws ValidationError if each copy would come back, and would be copied again */
  function assertOther(url: string | null | undefined): void {
    if (url != null && isSameEndpoint(own, url))
      throw new ValidationError([{ path: 'input.url', message: 'leads back to this server' }]);
  }
  return {
    ...service,
    async create(tenant, input) {
      assertOther(input.url);
      return service.create(tenant, input);
    },
    async update(tenant, input) {
      assertOther(input.url);
      return service.update(tenant, input);
    },
  };
}

/** Tests of remote mode, where this server has no URL of the account. */
export function createRemoteTests(service: WebhookTestService): WebhookTestService {
  return {
    async send(tenant, input) {
      if (!isFurther(input.endpointId ?? null))
        throw new PreconditionError(
          'NOT_OFFERED',
          'Tests of the account’s webhook URL are not offered by the payments service behind this server: its dashboard has its webhooks (API and Developers, Webhooks)',
        );
      return service.send(tenant, input);
    },
  };
}

/** Redeliveries of remote mode, where this server has no URL of the account. */
export function createRemoteRedeliveries(service: WebhookRedeliveryService): WebhookRedeliveryService {
  return {
    ...service,
    async request(tenant, input) {
      if (input.toCurrentUrl && !isFurther(input.filter.endpointId ?? null))
        throw new PreconditionError(
          'NOT_OFFERED',
          'This server has no webhook URL of the account: the payments service behind it sends to that by itself',
        );
      return service.request(tenant, input);
    },
  };
}
