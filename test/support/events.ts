import type { Tenant } from '../../server/src/kernel/tenant.ts';
import { snapshots } from '../../server/src/programs/modes/parts.ts';
import type { Sql } from '../../server/src/state/db/database.ts';
import { readAfter as readLog } from '../../server/src/state/events/log.ts';

/** Reads a page of the log, with the snapshots as the server parses them. */
export function readAfter(
  sql: Sql,
  tenant: Tenant,
  options: Omit<Parameters<typeof readLog>[2], 'snapshots'>,
): ReturnType<typeof readLog> {
  return readLog(sql, tenant, { snapshots, ...options });
}
