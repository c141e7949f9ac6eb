import { setImmediate as turn } from 'node:timers/promises';
import {
  CommitOutcomeUnknown,
  type Database,
  NoConnection,
  type Sql,
} from '../../server/src/state/db/database.ts';
import type { Random } from '../faults/random.ts';
import { wrapStatements } from '../support/statements.ts';

/**
 * All input and output of a history, one at a time and in an order that its seed decides: several callers run at
 * once, and the same seed gives the same history, however fast anything answers.
 */
export interface Gate {
  /** Runs `work` when its turn comes; with `isLate`, not before `release`. */
  pass<Result>(work: () => Promise<Result>, isLate?: boolean): Promise<Result>;
  /** Runs the waiting work in any order until only late work is left, or at most this number. */
  run(most?: number): Promise<void>;
  /** Makes late work wait as any other: one piece, or all. */
  release(all?: boolean): void;
  late(): number;
}

/** The number of turns of the event loop within which everything that follows from an answer is done. */
const TURNS = 3;

export function createGate(random: Random): Gate {
  const waiting: (() => Promise<void>)[] = [];
  const late: (() => Promise<void>)[] = [];

  return {
    pass: (work, isLate = false) =>
      new Promise((resolve, reject) => {
        (isLate ? late : waiting).push(async () => {
          try {
            resolve(await work());
          } catch (error) {
            reject(error);
          }
        });
      }),
    async run(most = Number.POSITIVE_INFINITY) {
      for (let done = 0; done < most; done += 1) {
        for (let n = 0; n < TURNS; n += 1) await turn();
        if (waiting.length === 0) return;
        const [next] = waiting.splice(random.below(waiting.length), 1);
        await next!();
      }
    },
    release(all = false) {
      if (all) waiting.push(...late.splice(0));
      else if (late.length > 0) waiting.push(...late.splice(random.below(late.length), 1));
    },
    late: () => late.length,
  };
}

/** Faults of the database or of a rail: they are counted, and are no internal faults. */
export class Injected extends Error {
  override readonly name = 'Injected';
}

export interface Faults {
  /** Whether the fault happens here, with a probability of one in `oneIn`. Never after the end of all faults. */
  strikes(name: string, oneIn: number): boolean;
}

/** The number of statements in a transaction, one of them failing. */
const STATEMENTS = 9;

/** Wraps a database: it is used through the gate, and fails in each way in which a database can fail. */
export function faultyDatabase(
  database: Database,
  { gate, faults, random }: { gate: Gate; faults: Faults; random: Random },
): Database {
  const gated = wrapStatements(database, (run) =>
    gate.pass(() => {
      if (faults.strikes('statement: refused', 150)) throw new Injected('a statement was refused');
      if (faults.strikes('statement: no connection', 300)) throw new NoConnection('the pool is empty');
      return run();
    }),
  );

  async function transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    if (faults.strikes('transaction: no connection', 80)) throw new NoConnection('the pool is empty');
    if (faults.strikes('transaction: a statement refused', 80))
      return database.transaction((sql) => work(refusing(sql, random.below(STATEMENTS))));
    if (faults.strikes('transaction: serialization failure', 80))
      return rolledBack(work, () => new Injected('could not serialize access (40001)'));
    if (faults.strikes('transaction: lost before COMMIT', 80))
      return rolledBack(work, () => new Injected('the connection was lost'));
    if (faults.strikes('transaction: lost at COMMIT, not done', 80))
      return rolledBack(work, () => new CommitOutcomeUnknown('the connection was lost during COMMIT'));
    const result = await database.transaction(work);
    if (faults.strikes('transaction: lost at COMMIT, done', 80))
      throw new CommitOutcomeUnknown('the connection was lost during COMMIT');
    return result;
  }

  function rolledBack<Result>(work: (sql: Sql) => Promise<Result>, fault: () => Error): Promise<Result> {
    return database.transaction(async (sql) => {
      await work(sql);
      throw fault();
    });
  }

  // With one lane the groups do not depend on the random ids of the accounts, and both environments share them.
  return { ...gated, lanes: 1, transaction: (work) => gate.pass(() => transaction(work)) };
}

function refusing(sql: Sql, which: number): Sql {
  let n = 0;
  return sql.withPlugin({
    transformQuery({ node }) {
      n += 1;
      if (n > which) throw new Injected('a statement was refused');
      return node;
    },
    transformResult: async ({ result }) => result,
  }) as Sql;
}
