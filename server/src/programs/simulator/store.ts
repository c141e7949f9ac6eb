import type { Sql } from '../../state/db/database.ts';

/** Lists every account by its name, oldest first. */
export function selectAccountNames(sql: Sql): Promise<{ id: string; name: string }[]> {
  return sql.selectFrom('account').select(['id', 'name']).orderBy('created_at').execute();
}
