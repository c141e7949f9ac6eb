import { type RawBuilder, sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';

/**
 * The version of the tenant's newest event (0 before the first), as a column of a statement that selects
 * something else. Both come from one snapshot, so a follower that begins there misses nothing.
 */
export function headOf({ accountId, environment }: Tenant): RawBuilder<number> {
  return raw<number>`coalesce((
    select stream.version from stream where stream.account_id = ${accountId} and stream.environment = ${environment}
  ), 0)`;
}
