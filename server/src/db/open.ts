import type { Clock } from '../kernel/clock.ts';
import type { Database, DatabaseMeter } from './database.ts';
import type { Log } from './log.ts';
import { openPglite } from './pglite.ts';
import { openPostgres } from './postgres.ts';

export interface DatabaseOptions {
  /** A PostgreSQL server. Without it PGlite keeps everything in `dataDir`. */
  databaseUrl?: string | undefined;
  /** PGlite's folder, or `memory` for none. */
  dataDir: string;
  clock: Clock;
  log: Log;
  /** The database cannot go on, and neither should the process. Called once. */
  onFatal: (error: Error) => void;
  meter?: DatabaseMeter;
  /** The number of the newest migration that this server knows. */
  knows?: number | undefined;
}

/** Throws `DataDirLockedError` when another process has the folder. */
export function openDatabase({ databaseUrl, knows, ...options }: DatabaseOptions): Promise<Database> {
  return databaseUrl ? openPostgres({ databaseUrl, knows, ...options }) : openPglite(options);
}
