import type { Caller } from '../access/model.ts';
import { RateLimitError } from '../kernel/errors.ts';
import { tenantKey } from '../kernel/tenant.ts';

/** The divisors of a tenant's limit for one key and for one browser token: neither can use the limit up alone. */
const KEY_DIVISOR = 2;
const TOKEN_DIVISOR = 20;
/** An estimate: a client that leaves makes room at once, but its time is not known. */
const RETRY_AFTER_SECONDS = 30;

/** The limit on open subscriptions of this instance, over all transports. */
export interface OpenSubscriptions {
  /**
   * Counts a subscription until the returned function is called, once.
   * @throws RateLimitError
   */
  open(caller: Caller): () => void;
}

/** @param perTenant for each account and environment */
export function createOpenSubscriptions(perTenant: number): OpenSubscriptions {
  const counts = new Map<string, Count>();
  const divide = (divisor: number) => Math.max(1, Math.floor(perTenant / divisor));
  const perKey = divide(KEY_DIVISOR);
  const perToken = divide(TOKEN_DIVISOR);

  /** Finds a count with room for one more. @throws RateLimitError */
  function countWithRoom(key: string, limit: number, whose: string): Count {
    const count = counts.get(key) ?? { key, open: 0 };
    if (count.open < limit) return count;
    throw new RateLimitError(`${limit} open subscriptions of one ${whose}`, RETRY_AFTER_SECONDS);
  }

  function adjust(count: Count, by: 1 | -1): void {
    count.open += by;
    if (count.open === 0) counts.delete(count.key);
    else counts.set(count.key, count);
  }

  return {
    open({ tenant, credential }) {
      const tenantName = tenantKey(tenant);
      const name = `${tenantName} ${credential.id}`;
      const ofCredential =
        credential.kind === 'api_key'
          ? countWithRoom(name, perKey, 'API key')
          : countWithRoom(name, perToken, 'token');
      const ofTenant = countWithRoom(tenantName, perTenant, 'account and environment');
      adjust(ofTenant, 1);
      adjust(ofCredential, 1);
      return () => {
        adjust(ofTenant, -1);
        adjust(ofCredential, -1);
      };
    },
  };
}

/** A count, which is in the map while any of its subscriptions is open. Thousands of subscriptions share their two counts. */
interface Count {
  readonly key: string;
  open: number;
}
