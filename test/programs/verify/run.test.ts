import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Law } from '../../../server/src/programs/verify/laws/law.ts';
import { createPace } from '../../../server/src/programs/verify/pace.ts';
import { createPatience } from '../../../server/src/programs/verify/patience.ts';
import { type Piece, pieceOfIds, pieceOfOne } from '../../../server/src/programs/verify/pieces.ts';
import { createRun } from '../../../server/src/programs/verify/run.ts';
import { type Database, NoConnection, StatementInterrupted } from '../../../server/src/state/db/database.ts';
import { createManualClock } from '../../support/clock.ts';

const LAW: Law = { name: 'law', scope: ['payment', 'account'], explain: 'a law', sql: 'select 1' };

/** A looker at a database without rows. `answer` gets the parameters of each statement. */
function lookerAt(answer: (parameters: readonly unknown[]) => Promise<void>, { isStopped = false } = {}) {
  const clock = createManualClock();
  const pause = async (ms: number) => clock.advance(ms);
  const connection = {
    transaction: (work: (sql: unknown) => unknown) =>
      work({
        async executeQuery({ parameters }: { parameters: readonly unknown[] }) {
          if (parameters.length > 0) await answer(parameters);
          return { rows: [] };
        },
      }),
  };
  const database = {
    ...{ engine: 'pglite', ...connection },
    maintenance: (work: (own: typeof connection) => unknown) => work(connection),
  } as unknown as Database;
  const pace = createPace({ countTransactions: async () => 0, clock, pause });
  const patiently = createPatience({ clock, pause, isStopped: () => isStopped });
  const run = createRun({
    ...{ database, clock, pace, pause, patiently, laws: [LAW], isStopped: () => false },
  });
  return { clock, looker: run.lookerOf({ accountId: 'acc_1', environment: 'live' }) };
}

test('A slice with many statements that take too long is decided by their halves', async () => {
  const { looker } = lookerAt(async ([, , ids]) => {
    if ((ids as string[]).length > 1) throw new StatementInterrupted('it took too long');
  });
  const pieces = Array.from({ length: 40 }, (_, n) =>
    pieceOfIds('payment', [`a${n}`, `b${n}`], () => undefined),
  );
  expect(await looker.lookThrough(pieces)).toBe(true);
  expect(looker.isBroken()).toBe(false);
});

test('An outage of half a minute is waited for by what cannot be divided, and a longer one is not', async () => {
  const during = (ms: number) => {
    const { clock, looker } = lookerAt(async () => {
      if (clock.ms() < until) throw new NoConnection('the database is restarted');
    });
    const until = clock.ms() + ms;
    return { clock, looker };
  };
  const short = during(25_000);
  expect(await short.looker.lookThrough([pieceOfOne('account')])).toBe(true);
  expect(short.looker.isBroken()).toBe(false);

  const long = during(600_000);
  const begun = long.clock.ms();
  expect(await long.looker.lookThrough([pieceOfOne('account')])).toBe(false);
  expect(await long.looker.lookThrough([pieceOfIds('payment', ['a', 'b'], () => undefined)])).toBe(false);
  expect(long.looker.isBroken()).toBeNull();
  expect(long.clock.ms() - begun).toBeLessThan(40_000);

  const stopped = lookerAt(() => Promise.reject(new NoConnection('closed')), { isStopped: true });
  const from = stopped.clock.ms();
  expect(await stopped.looker.lookThrough([pieceOfOne('account')])).toBe(false);
  expect(stopped.clock.ms() - from).toBeLessThan(2_000);
});

test('Statements that run are awaited when the next piece cannot be read', async () => {
  let isDone = false;
  const { looker } = lookerAt(async () => {
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    isDone = true;
  });
  async function* pieces(): AsyncGenerator<Piece> {
    yield pieceOfOne('account');
    // One lane is taken: the error comes while its statement runs.
    throw new NoConnection('away');
  }
  await expect(looker.lookThrough(pieces())).rejects.toThrow('away');
  expect(isDone).toBe(true);
});

test("Transactions of others make it gentle, the run's own do not, and an outage of their count ends nothing", async () => {
  const clock = createManualClock();
  let all = 1_000;
  let isAway = false;
  const pace = createPace({
    async countTransactions() {
      if (isAway) throw new NoConnection('away');
      all += 1;
      return all;
    },
    clock,
    pause: async () => undefined,
  });
  const lanesAfter = async ({ own, others }: { own: number; others: number }) => {
    for (let n = 0; n < own; n += 1) pace.count();
    all += own + others;
    clock.advance(1_000);
    await pace.rest();
    return pace.lanes();
  };
  expect(await lanesAfter({ own: 0, others: 0 })).toBe(1);
  expect(await lanesAfter({ own: 500, others: 15 })).toBe(2);
  expect(await lanesAfter({ own: 500, others: 40 })).toBe(1);
  isAway = true;
  expect(await lanesAfter({ own: 0, others: 0 })).toBe(1);
  isAway = false;
  await lanesAfter({ own: 0, others: 0 });
  expect(await lanesAfter({ own: 10, others: 0 })).toBe(2);
});
