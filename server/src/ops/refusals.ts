import { NoConnection } from '../db/database.ts';

/** No network, no such database, a wrong user or password; the server's own words may hold more than a log should. */
const NOT_REACHED = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT|28|3D000|57P03)/;

/** In one line, why a PostgreSQL cannot be used; null for anything else. */
export function databaseRefusal(
  error: unknown,
  { databaseUrl }: { databaseUrl: string | undefined },
): string | null {
  const { code } = (error instanceof NoConnection ? error.cause : error) as NodeJS.ErrnoException;
  if (databaseUrl === undefined || code === undefined || !NOT_REACHED.test(code)) return null;
  return `DATABASE_URL: the database did not let us in (${code})`;
}
