import type { Sql } from '../db/database.ts';

/** Every account by its name, the oldest first. */
export function selectAccountNames(sql: Sql): Promise<{ id: string; name: string }[]> {
  return sql.selectFrom('account').select(['id', 'name']).orderBy('created_at').limit(100).execute();
}
