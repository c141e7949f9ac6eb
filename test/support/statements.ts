import {
  type CompiledQuery,
  Kysely,
  type KyselyPlugin,
  PostgresQueryCompiler,
  type QueryExecutor,
  type RootOperationNode,
  sql,
} from 'kysely';
import type { Database, Sql } from '../../server/src/state/db/database.ts';

/** Creates a plugin that calls `onStatement` with the text of each statement before it is sent. */
function createObserver(onStatement: (statement: string) => void): KyselyPlugin {
  const compiler = new PostgresQueryCompiler();
  return {
    transformQuery({ node, queryId }) {
      onStatement(compiler.compileQuery(node as RootOperationNode, queryId).sql);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

/** Wraps a database so that every statement is recorded before it is sent. */
export function recordStatements(database: Database): { database: Database; statements: string[] } {
  const statements: string[] = [];
  const recorder = createObserver((statement) => statements.push(statement));
  return {
    statements,
    database: {
      ...database,
      sql: database.sql.withPlugin(recorder),
      transaction: (work) => database.transaction((sql) => work(sql.withPlugin(recorder) as typeof sql)),
    },
  };
}

/** Wraps a database so that statements for which `fails` returns true are not sent, and their caller gets an error. */
export function failStatements(database: Database, fails: (statement: string) => boolean): Database {
  const breaker = createObserver((statement) => {
    if (fails(statement)) throw new Error('canceling statement due to statement timeout');
  });
  return { ...database, sql: database.sql.withPlugin(breaker) };
}

/** Wraps a database so that each single statement awaits `before` and `after`, while no connection is held. */
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

/** Wraps a database so that `around` decides when, and whether, each single statement runs. */
export function wrapStatements(
  database: Database,
  around: <Result>(run: () => Promise<Result>) => Promise<Result>,
): Database {
  return replaceExecution(database, (execute, query) => around(() => execute(query)));
}

type Execute = QueryExecutor['executeQuery'];

/** Wraps a database so that `run` executes each single statement. */
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

/** The statements and transactions in progress on a database. */
export interface Statements {
  /** Whether none is in progress. */
  isIdle(): boolean;
  /** Resolves when no statement or transaction is in progress. */
  idle(): Promise<void>;
  /** The number of statements and transactions that have begun. */
  begun(): number;
}

/** Wraps a database so that its statements and transactions are counted, also those of the original from now on. */
export function watchStatements(database: Database): { database: Database; statements: Statements } {
  let begun = 0;
  let inProgress = 0;
  const waiting: (() => void)[] = [];
  async function count<T>(work: () => Promise<T>): Promise<T> {
    begun += 1;
    inProgress += 1;
    try {
      return await work();
    } finally {
      inProgress -= 1;
      if (inProgress === 0) for (const resolve of waiting.splice(0)) resolve();
    }
  }
  const executor = database.sql.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  executor.executeQuery = (...query) => count(() => execute(...query));
  return {
    statements: {
      isIdle: () => inProgress === 0,
      idle: () =>
        inProgress === 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)),
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
  /** The rows read from tables and indexes, including those that a filter removed. */
  readonly rowsRead: number;
  /** The accesses to pages of tables and indexes. */
  readonly pages: number;
  /** The names of the tables that were scanned sequentially. */
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

/** Wraps a database so that each single query without writes is explained before it runs. */
export function explainQueries(database: Database): { database: Database; plans: ReadPlan[] } {
  const plans: ReadPlan[] = [];
  const explained = replaceExecution(database, async (execute, query) => {
    if (!/^\s*(?:select|with)\b/i.test(query.sql)) return execute(query);
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
 * Counts the sequential scans of each of these tables during `work`, without zeros. PostgreSQL's counts of a
 * transaction include earlier ones that its session has not reported yet, so the difference is taken.
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
