import type { Caller } from '../access/model.ts';
import { RateLimitError } from '../kernel/errors.ts';
import { tenantKey } from '../kernel/tenant.ts';

/** A part of what a tenant may have open: no key takes all of it, and no browser's token takes it from the keys. */
const PART_OF_KEY = 2;
const PART_OF_TOKEN = 20;
/** A client that leaves makes room at once; when, nobody knows. */
const RETRY_AFTER_SECONDS = 30;

/** Subscriptions that are open at one time on this instance, over whichever transport. */
export interface OpenSubscriptions {
  /**
   * Counts one until the returned function is called, once.
   * @throws RateLimitError
   */
  open(caller: Caller): () => void;
}

/** @param perTenant for each account and environment */
export function createOpenSubscriptions(perTenant: number): OpenSubscriptions {
  const counts = new Map<string, Count>();
  const partOf = (part: number) => Math.max(1, Math.floor(perTenant / part));
  const perKey = partOf(PART_OF_KEY);
  const perToken = partOf(PART_OF_TOKEN);

  /** With room for one more. */
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

/** In the map while any is open: thousands of subscriptions share the two of theirs. */
interface Count {
  readonly key: string;
  open: number;
}
