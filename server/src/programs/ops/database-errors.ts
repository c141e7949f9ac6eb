import { DatabaseUrlError } from '../../kernel/database-url.ts';
import { OutageError } from '../../kernel/errors.ts';
import { PoolerError } from '../../state/db/sessions.ts';

/**
 * Codes of a missing network or database, and of a wrong user or password. The message shows only the code: the server's
 * own text may hold secrets.
 */
const CONNECTION_CODES = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT|28|3D000|57P03)/;

const LACKS_A_RIGHT = '42501';

/** Matches the messages of Node, its workers and the PostgreSQL inside PGlite if no more files can be opened. */
const NO_DESCRIPTORS = /\b(?:EMFILE|ENFILE)\b|No file descriptors available/;

/**
 * Explains in one line that the process may open too few files, whichever part of it has failed; null for any other error.
 */
export function describeMissingDescriptors(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (NO_DESCRIPTORS.test(cause.message))
      return 'This process may not open enough files: raise its limit to 1024 (`ulimit -n 1024`, or LimitNOFILE=1024 in the unit of systemd)';
  return null;
}

/** Explains in one line why the PostgreSQL of DATABASE_URL cannot be used; null for any other error. */
export function describeDatabaseError(
  error: unknown,
  { databaseUrl }: { databaseUrl: string | undefined },
): string | null {
  if (databaseUrl === undefined) return null;
  if (error instanceof DatabaseUrlError) return `DATABASE_URL ${error.message}`;
  if (error instanceof PoolerError) return `DATABASE_URL: ${error.message}`;
  const isOutage = error instanceof OutageError;
  const { code } = ((isOutage && error.cause) || error) as NodeJS.ErrnoException;
  if (code !== undefined && CONNECTION_CODES.test(code))
    return `DATABASE_URL: the database did not let us in (${code})`;
  if (code === LACKS_A_RIGHT)
    return `DATABASE_URL: the user has to own the database and its tables, or to have every right in them (${code}: ${(error as Error).message})`;
  return isOutage ? `DATABASE_URL: the database is not available: ${error.message}` : null;
}
