import { createBenchDatabase } from './databases.ts';
import { startChild } from './processes/child.ts';
import { AT_LEAST_HALF_OF_FLOOR, inTurns, median, progress, type Row, size } from './report.ts';

/** The number of subscriptions whose cycles fall due at one instant. */
const COUNT = size(1_000, 20);
const ACCOUNTS = size(64, 4);
/** The number of weeks, each with a cycle. */
const ROUNDS = size(3, 1);

interface Burst {
  perSecond: number;
  /** The statements of ours; absent for the floor. */
  statements?: number;
}
type Week = Record<keyof typeof BURSTS, Burst>;

/**
 * Recurring PIX: every cycle that is due on a day is due at 00:00 of São Paulo. The queue finds all of them at that instant, and
 * works on fifty at once.
 */
export async function measureCycles(postgresUrl: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const accounts of [1, ACCOUNTS]) {
    const called = accounts === 1 ? 'one account' : `${accounts} accounts`;
    progress(`${COUNT} subscriptions, ${called}: authorising them`);
    const child = startChild('cycles.mjs');
    const databaseUrl = await createBenchDatabase(postgresUrl);
    const ours = { DATABASE_URL: databaseUrl };
    await child.ask('prepare', { environment: ours, accounts, count: COUNT });
    await child.ask('start', {
      ours,
      floor: { DATABASE_URL: await createBenchDatabase(postgresUrl, databaseUrl) },
    });
    progress(`${COUNT} cycles due at once, ${called}: warming up`);
    await child.ask('ours');
    const weeks = await inTurns<Week>(
      ROUNDS,
      { ours: () => child.ask('ours'), floor: () => child.ask('floor') },
      `${COUNT} cycles due at once, ${called}`,
    );
    const { paid } = await child.ask('finish');
    await child.ask('close');
    await child.stop();
    for (const [burst, { name, explanation }] of Object.entries(BURSTS)) {
      const found = weeks.map((week) => ({
        ours: week.ours[burst as keyof Week],
        floor: week.floor[burst as keyof Week],
      }));
      const perSecond = median(found.map(({ ours }) => ours.perSecond));
      rows.push({
        name: `${COUNT.toLocaleString('en')} ${name}, ${called}, PostgreSQL`,
        against: 'the same statements, without a queue',
        unit: '/s',
        ours: perSecond,
        floor: median(found.map(({ floor }) => floor.perSecond)),
        ratio: median(found.map(({ ours, floor }) => ours.perSecond / floor.perSecond)),
        target: AT_LEAST_HALF_OF_FLOOR,
        beside: `all in ${(COUNT / perSecond).toFixed(1)} s, ${median(found.map(({ ours }) => ours.statements!)).toFixed(1)} statements each`,
        explanation: `${explanation}; ${FLOOR}; after ${paid.toLocaleString('en')} cycles both have every cent in its place`,
      });
    }
  }
  return rows;
}

const BURSTS = {
  instructions: {
    name: 'instructions due at once',
    explanation:
      'cycles of recurring PIX whose instructions are due at 00:00: the queue claims each, what the simulated bank has to say is read, the bank books the instruction, and that is recorded',
  },
  debits: {
    name: 'debits reported at once',
    explanation:
      'the same cycles when the simulated bank reports every debit at one instant: each is read there, and its payment, its credit, its posting, its events and the next cycle are recorded in one commit',
  },
};

const FLOOR =
  'the floor sends the same statements but those of the queue, prepared, to a copy of the database, over as many connections as the server has: the transactions of an account one at a time, all else at once';
