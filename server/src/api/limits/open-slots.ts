import { RateLimitError } from '../../kernel/errors.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';

/** An estimate: the end of one makes room at once, but its time is not known. */
const RETRY_AFTER_SECONDS = 10;

/**
 * Counts what is open at once on this instance, of each account and environment, and of all. Returns the function that
 * opens one, which returns the function that closes it, once.
 */
export function createOpenSlots(most: {
  tenant: number;
  all: number;
  /** The plural of what is open. */
  noun: string;
}): (tenant: Tenant) => () => void {
  const open = new Map<string, number>();
  let all = 0;

  /** @throws RateLimitError */
  return (tenant) => {
    const key = tenantKey(tenant);
    const ofTenant = open.get(key) ?? 0;
    if (ofTenant >= most.tenant)
      throw new RateLimitError(
        `${most.tenant} open ${most.noun} of one account and environment`,
        RETRY_AFTER_SECONDS,
      );
    if (all >= most.all)
      throw new RateLimitError(`${most.all} open ${most.noun} of one server`, RETRY_AFTER_SECONDS);
    open.set(key, ofTenant + 1);
    all += 1;
    return () => {
      const left = open.get(key)! - 1;
      if (left > 0) open.set(key, left);
      else open.delete(key);
      all -= 1;
    };
  };
}

/** The files that are uploaded or downloaded at once: each is in memory whole. A dispute has three. */
export const createFileSlots = () => createOpenSlots({ tenant: 3, all: 16, noun: 'files' });
