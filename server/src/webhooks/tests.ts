import type { Tenant } from '../kernel/tenant.ts';
import type { WebhookAttempt } from './model.ts';

/** A webhook that was sent once to try the receiver, and that no list has. */
export interface SentTest {
  webhookId: string;
  event: string;
  url: string;
  payload: string;
  attempt: WebhookAttempt;
}

export interface WebhookTestService {
  /**
   * Sends an event with the data of nothing to an endpoint, by default the account's URL, once and at once, signed as any
   * other. `event` is a name on the wire.
   * @throws ValidationError (no such event), NotFoundError (no such endpoint, or no URL is set), RateLimitError (over ten a minute);
   * PreconditionError in front of another service
   */
  send(tenant: Tenant, input: { event: string; endpointId?: string | null | undefined }): Promise<SentTest>;
}
