import { type KyselyPlugin, PostgresQueryCompiler, type RootOperationNode } from 'kysely';
import type { Database } from '../../server/src/db/database.ts';

/** The same database; every statement that goes to it is written down first. */
export function recordStatements(database: Database): { database: Database; statements: string[] } {
  const statements: string[] = [];
  const compiler = new PostgresQueryCompiler();
  const recorder: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      statements.push(compiler.compileQuery(node as RootOperationNode, queryId).sql);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return {
    statements,
    database: {
      ...database,
      sql: database.sql.withPlugin(recorder),
      transaction: (work) => database.transaction((sql) => work(sql.withPlugin(recorder) as typeof sql)),
    },
  };
}
