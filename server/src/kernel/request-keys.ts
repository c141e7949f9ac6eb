import type { Tenant } from './tenant.ts';

/** The operations whose resources are looked up by the idempotency key of their request. */
export type KeyedOperation =
  | 'createCardPayment'
  | 'createCharge'
  | 'createDelivery'
  | 'createPayment'
  | 'createSubscription'
  | 'transferToSubaccount';

/** The record of the requests that had an idempotency key. */
export interface RequestKeys {
  /**
   * Finds the id of the resource that the request with a key has made; null if no request of the operation had the key, or
   * the one that had it made nothing. In front of another service: of the requests that this server has sent.
   * @throws UpstreamError (the outcome of the request is not known), PreconditionError (RECORDS_BEHIND)
   */
  resourceOf(tenant: Tenant, operation: KeyedOperation, key: string): Promise<string | null>;
}
