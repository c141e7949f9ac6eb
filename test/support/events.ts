import type { Sql } from '../../server/src/db/database.ts';
import { readAfter as readLog } from '../../server/src/events/log.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import { snapshots } from '../../server/src/modes/snapshots.ts';

/** Reads a page of the log, with the snapshots as the server parses them. */
export function readAfter(
  sql: Sql,
  tenant: Tenant,
  options: Omit<Parameters<typeof readLog>[2], 'snapshots'>,
): ReturnType<typeof readLog> {
  return readLog(sql, tenant, { snapshots, ...options });
}
