import { sql } from 'kysely';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import type { Database } from '../../server/src/state/db/database.ts';

/**
 * Sets a tenant's log back to a version, as on a promoted asynchronous standby that lacks the later ones. Other
 * tables keep the rows of the lost changes: such a test reads only the log.
 */
export function setBackLog({ sql: db }: Database, tenant: Tenant, version: number): Promise<void> {
  const { accountId, environment } = tenant;
  return db.transaction().execute(async (tx) => {
    // Locks the stream first, as every change does.
    await sql`
      update stream set version = ${version} where account_id = ${accountId} and environment = ${environment}
    `.execute(tx);
    await sql`alter table event disable trigger user`.execute(tx);
    await sql`
      delete from event where account_id = ${accountId} and environment = ${environment} and version > ${version}
    `.execute(tx);
    await sql`alter table event enable trigger user`.execute(tx);
  });
}
