import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The paths of PostgreSQL's own folder below the data folder, and of the mark of a folder that is not filled
 * yet.
 */
export function pathsIn(dataDir: string): { pgdata: string; mark: string } {
  return { pgdata: join(dataDir, 'pgdata'), mark: join(dataDir, 'pgdata.unfinished') };
}

/** Whether an earlier start has filled the folder; a start that was interrupted has not. */
export function isFilled(dataDir: string): boolean {
  const { pgdata, mark } = pathsIn(dataDir);
  return existsSync(join(pgdata, 'PG_VERSION')) && !existsSync(mark);
}
