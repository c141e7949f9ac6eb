import { OutageError } from '../kernel/errors.ts';

/** No network, no such database, a wrong user or password; the server's own words may hold more than a log should. */
const NOT_REACHED = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT|28|3D000|57P03)/;

/** In one line, why a PostgreSQL cannot be used; null for anything else. */
export function databaseRefusal(
  error: unknown,
  { databaseUrl }: { databaseUrl: string | undefined },
): string | null {
  if (databaseUrl === undefined) return null;
  const isOutage = error instanceof OutageError;
  const { code } = ((isOutage && error.cause) || error) as NodeJS.ErrnoException;
  if (code !== undefined && NOT_REACHED.test(code))
    return `DATABASE_URL: the database did not let us in (${code})`;
  return isOutage ? `DATABASE_URL: the database does not do its part: ${error.message}` : null;
}
