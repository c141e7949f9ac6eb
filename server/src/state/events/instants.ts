import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../db/database.ts';
import { ofTenant } from '../db/of-tenant.ts';
import { readHead } from './log.ts';

/** The clocks of two servers differ: an event may be older than one before it, which is at most this many versions away. */
const NEAR = 1_000;

/**
 * Finds the version of the first event at an instant or after it; the version after the newest event if there is none. Events
 * have no index of their instants, which grow with the versions but for the difference of clocks.
 */
export async function firstVersionSince(sql: Sql, tenant: Tenant, instant: Date): Promise<number> {
  const events = () => ofTenant(sql, 'event', tenant);
  let [low, high] = [1, (await readHead(sql, tenant)) + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await events()
      .select(['version', 'occurred_at'])
      .where('version', '>=', middle)
      .orderBy('version')
      .limit(1)
      .executeTakeFirst();
    if (!found || found.occurred_at >= instant) high = middle;
    else low = found.version + 1;
  }
  const earlier = await events()
    .select('version')
    .where('version', '>=', low - NEAR)
    .where('version', '<', low)
    .where('occurred_at', '>=', instant)
    .orderBy('version')
    .limit(1)
    .executeTakeFirst();
  return earlier?.version ?? low;
}
