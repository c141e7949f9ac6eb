import { createSystemClock } from '../../server/src/kernel/clock.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { openPostgres } from '../../server/src/state/db/postgres.ts';
import { createPostgresDatabase, openFreshPglite } from '../support/database.ts';
import { silent } from '../support/templates.ts';
import { prepareForAudit } from './laws.ts';

/** Opens a database in which histories are played and audited. */
export async function openPrepared(engine: 'PGlite' | 'PostgreSQL'): Promise<Database> {
  const database =
    engine === 'PGlite'
      ? await openFreshPglite()
      : await openPostgres({
          databaseUrl: await createPostgresDatabase(),
          clock: createSystemClock(),
          log: silent,
        });
  await prepareForAudit(database);
  return database;
}
