import {
  type CompiledQuery,
  Kysely,
  type KyselyPlugin,
  PostgresQueryCompiler,
  type QueryExecutor,
  type RootOperationNode,
  sql,
} from 'kysely';
import type { Database, Sql } from '../../server/src/db/database.ts';

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

/** The same database; while `fails` holds for a statement, it is never sent and its caller gets an error. */
export function failStatements(database: Database, fails: (statement: string) => boolean): Database {
  const compiler = new PostgresQueryCompiler();
  const breaker: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      const statement = compiler.compileQuery(node as RootOperationNode, queryId).sql;
      if (fails(statement)) throw new Error('canceling statement due to statement timeout');
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return { ...database, sql: database.sql.withPlugin(breaker) };
}

/** The same database; `before` and `after` each single statement are awaited, when no connection is held. */
export function interceptStatements(
  database: Database,
  before: () => unknown,
  after: () => unknown = before,
): Database {
  return wrapStatements(database, async (run) => {
    await before();
    const result = await run();
    await after();
    return result;
  });
}

/** The same database; each single statement runs when, and if, `around` runs it. */
export function wrapStatements(
  database: Database,
  around: <Result>(run: () => Promise<Result>) => Promise<Result>,
): Database {
  return replaceExecution(database, (execute, query) => around(() => execute(query)));
}

type Execute = QueryExecutor['executeQuery'];

/** The same database; each single statement is what `run` makes of it. */
function replaceExecution(
  database: Database,
  run: (execute: Execute, query: CompiledQuery) => ReturnType<Execute>,
): Database {
  const executor = database.sql.getExecutor();
  const replaced = new Proxy(executor, {
    get(target, name) {
      if (name === 'executeQuery')
        return (query: CompiledQuery) => run(target.executeQuery.bind(target), query);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const nothing = {};
  const sql = new Kysely({
    executor: replaced,
    config: nothing,
    driver: nothing,
    dialect: nothing,
  } as never) as Sql;
  return { ...database, sql };
}

/** The statements of a database. */
export interface Statements {
  /** Whether nothing is under way. */
  isIdle(): boolean;
  /** Resolves when nothing is. */
  idle(): Promise<void>;
  /** How many have begun. */
  begun(): number;
}

/** The same database, and what goes on in it. From now on its own statements are counted too. */
export function watchStatements(database: Database): { database: Database; statements: Statements } {
  let begun = 0;
  let underWay = 0;
  const waiting: (() => void)[] = [];
  async function count<T>(work: () => Promise<T>): Promise<T> {
    begun += 1;
    underWay += 1;
    try {
      return await work();
    } finally {
      underWay -= 1;
      if (underWay === 0) for (const resolve of waiting.splice(0)) resolve();
    }
  }
  const executor = database.sql.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  executor.executeQuery = (...query) => count(() => execute(...query));
  return {
    statements: {
      isIdle: () => underWay === 0,
      idle: () =>
        underWay === 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)),
      begun: () => begun,
    },
    database: {
      ...database,
      transaction: (work) => count(() => database.transaction(work)),
      notify: (channel, ...payloads) => count(() => database.notify(channel, ...payloads)),
    },
  };
}

/** The rows that a query has read, as PostgreSQL reports them with its plan. */
export interface ReadPlan {
  readonly statement: string;
  /** Rows that a table or an index has given, those that a filter threw away among them. */
  readonly rowsRead: number;
  /** Pages of tables and indexes, each time one is looked at. */
  readonly pages: number;
  /** The names of the tables that were read from one end to the other. */
  readonly scanned: readonly string[];
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

/** The same database; each single query is explained before it runs. */
export function explainQueries(database: Database): { database: Database; plans: ReadPlan[] } {
  const plans: ReadPlan[] = [];
  const explained = replaceExecution(database, async (execute, query) => {
    const { rows } = await execute({
      ...query,
      sql: `explain (analyze, buffers, timing off, format json) ${query.sql}`,
    });
    const [{ Plan }] = (rows[0] as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'];
    const pages = Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
    plans.push({ statement: query.sql, pages, ...readsOf(Plan) });
    return execute(query);
  });
  return { database: explained, plans };
}

function readsOf(node: PlanNode): Pick<ReadPlan, 'rowsRead' | 'scanned'> {
  const inner = (node.Plans ?? []).map(readsOf);
  const rows =
    node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0);
  const isRead = /\b(?:Seq|Index|Index Only|Bitmap Heap) Scan\b/.test(node['Node Type']);
  return {
    rowsRead: inner.reduce((sum, each) => sum + each.rowsRead, isRead ? rows * node['Actual Loops'] : 0),
    scanned: [
      ...inner.flatMap(({ scanned }) => scanned),
      ...(node['Node Type'] === 'Seq Scan' ? [node['Relation Name']!] : []),
    ],
  };
}

/**
 * How often each of these tables is scanned by `work`, where it is. What PostgreSQL counts for a transaction begins with
 * what its session did before and has not reported yet, such as emptying the tables: the difference counts.
 */
export async function scansBy(
  transaction: Sql,
  tables: readonly string[],
  work: () => Promise<void>,
): Promise<Record<string, number>> {
  const count = async () => {
    const { rows } = await sql<{ relname: string; scans: number }>`
      select relname, seq_scan::int as scans from pg_stat_xact_user_tables
      where relname = any(${tables})`.execute(transaction);
    return new Map(rows.map(({ relname, scans }) => [relname, scans]));
  };
  const before = await count();
  await work();
  const scans = [...(await count())].map(([name, after]) => [name, after - (before.get(name) ?? 0)] as const);
  return Object.fromEntries(scans.filter(([, times]) => times > 0));
}
