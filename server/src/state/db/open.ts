import type { Clock } from '../../kernel/clock.ts';
import type { Database, DatabaseMeter } from './database.ts';
import type { Log } from './log.ts';
import { openPglite } from './pglite.ts';
import type { StartingPglite } from './pglite-backend.ts';
import { openPostgres } from './postgres.ts';

export interface DatabaseOptions {
  /** The address of a PostgreSQL server. Without it PGlite stores everything in `dataDir`. */
  databaseUrl?: string | undefined;
  /** The folder of PGlite, or `memory` for none. */
  dataDir: string;
  /** The most connections to a PostgreSQL server for requests and due work. */
  poolSize?: number | undefined;
  clock: Clock;
  log: Log;
  /** Called once, when the database cannot continue: the process has to end. */
  onFatal: (error: Error) => void;
  /** A PGlite that is already starting; without it a new one is started. */
  pglite?: StartingPglite | undefined;
  meter?: DatabaseMeter;
  /** The number of the newest migration that this server knows. */
  knownMigration?: number | undefined;
  /** The deadline of PostgreSQL's responses in a test. */
  waitMs?: number | undefined;
}

/** Opens the database. Throws `DataDirLockedError` when another process uses the folder. */
export function openDatabase({
  databaseUrl,
  poolSize,
  knownMigration,
  pglite,
  waitMs,
  ...options
}: DatabaseOptions): Promise<Database> {
  return databaseUrl
    ? openPostgres({ databaseUrl, poolSize, knownMigration, waitMs, ...options })
    : openPglite({ ...options, pglite });
}
