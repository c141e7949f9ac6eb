import {
  type CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { Sql } from './database.ts';

/**
 * Statements that are sent once `ready` allows it: a promise is awaited before each of them, and undefined
 * costs nothing. They run as those of `sql` do, on its connections.
 */
export function sqlAfter(sql: Sql, ready: (query: CompiledQuery) => Promise<unknown> | undefined): Sql {
  const connection: DatabaseConnection = {
    async executeQuery<Row>(query: CompiledQuery) {
      await ready(query);
      return sql.executeQuery<Row>(query as CompiledQuery<Row>);
    },
    streamQuery: () => {
      throw new Error('No statement of this program is read with a cursor');
    },
  };
  const none = async () => undefined;
  return new Kysely({
    plugins: [...sql.getExecutor().plugins],
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createDriver: () => ({
        init: none,
        acquireConnection: async () => connection,
        beginTransaction: none,
        commitTransaction: none,
        rollbackTransaction: none,
        releaseConnection: none,
        destroy: none,
      }),
    },
  });
}
