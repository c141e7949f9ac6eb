import { AHEAD_MS, plusMs } from '../kernel/clock.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Sql } from '../state/db/database.ts';

/** The age at which a poll is deleted: longer than any interval between two. */
const POLL_RETENTION_MS = 24 * 60 * 60_000;

/**
 * Claims a poll under a name: true if the last poll, on any instance, is `intervalMs` ago or longer. A claim
 * counts as a poll, and deletes old ones.
 */
export async function claimPoll(
  sql: Sql,
  tenant: Tenant,
  { name, now, intervalMs }: { name: string; now: Date; intervalMs: number },
): Promise<boolean> {
  const claimed = await sql
    .insertInto('upstream_poll')
    .values({ account_id: tenant.accountId, environment: tenant.environment, name, polled_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'environment', 'name'])
        .doUpdateSet({ polled_at: now })
        .where((poll) =>
          poll.or([
            poll('upstream_poll.polled_at', '<=', plusMs(now, -intervalMs)),
            poll('upstream_poll.polled_at', '>', plusMs(now, AHEAD_MS)),
          ]),
        ),
    )
    .returning('name')
    .executeTakeFirst();
  if (claimed)
    await sql
      .deleteFrom('upstream_poll')
      .where('account_id', '=', tenant.accountId)
      .where('environment', '=', tenant.environment)
      .where('polled_at', '<', plusMs(now, -POLL_RETENTION_MS))
      .execute();
  return claimed !== undefined;
}
