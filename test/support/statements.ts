import { Kysely, type QueryExecutor } from 'kysely';
import type { Database, Sql } from '../../server/src/db/database.ts';

/** The same database; `around` is awaited before and after each single statement, when no connection is held. */
export function interceptStatements(database: Database, around: () => unknown): Database {
  const executor = database.sql.getExecutor();
  const intercepted = new Proxy(executor, {
    get(target, name) {
      if (name === 'executeQuery')
        return async (...query: Parameters<QueryExecutor['executeQuery']>) => {
          await around();
          const result = await target.executeQuery(...query);
          await around();
          return result;
        };
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const nothing = {};
  const sql = new Kysely({
    executor: intercepted,
    config: nothing,
    driver: nothing,
    dialect: nothing,
  } as never) as Sql;
  return { ...database, sql };
}
