import { createBenchDatabase } from './databases.ts';
import { createFanOuts, notify, notifyOften, type Reported, subscribe } from './fan-out-bench.ts';
import { figure, inTurns, median, progress, type Row, size } from './report.ts';

const STREAMS = size(2_000, 50);
const ROUNDS = size(9, 1);
const CHANGES_A_ROUND = 3;
/** The number of changes before V8 has compiled everything. */
const WARM_UP_CHANGES = size(6, 1);
const BARE = 'a bare node:http broadcast of one string';

/** Measures one event to this number of event streams, each on a socket of its own; the next follows once all have it. */
export async function measureStreams(postgresUrl: string): Promise<Row[]> {
  const fanOuts = createFanOuts();
  const called = `one event to ${STREAMS.toLocaleString('en')} event streams`;
  try {
    progress(`${called}: opening them`);
    const ours = await fanOuts.openOurs(await createBenchDatabase(postgresUrl), { streams: true });
    await subscribe(ours, STREAMS);
    const { text } = await notify(ours, STREAMS);
    const bare = await fanOuts.openBare('bare-sse.mjs', text, {}, { streams: true });
    await subscribe(bare, STREAMS);

    const measure = (changes: number) => ({
      ours: () => notifyOften(ours, { subscribers: STREAMS, changes }),
      bare: () => notifyOften(bare, { subscribers: STREAMS, changes }),
    });
    progress(`${called}: warming up`);
    for (const warmUp of Object.values(measure(WARM_UP_CHANGES))) await warmUp();
    const rounds = await inTurns(ROUNDS, measure(CHANGES_A_ROUND), called);
    await ours.server.ask('close');

    const of = (whose: 'ours' | 'bare', what: keyof Reported) =>
      median(rounds.map((round) => round[whose][what]));
    const against = (what: 'cpuUs' | 'p99Ms') => ({
      against: BARE,
      ours: of('ours', what),
      floor: of('bare', what),
      ratio: median(rounds.map((round) => round.ours[what] / round.bare[what])),
      explanation: EXPLANATION,
    });
    return [
      {
        name: `${called}, CPU a delivery`,
        unit: 'µs CPU',
        beside: '',
        ...against('cpuUs'),
        target: { atMost: 1.5 },
      },
      {
        name: `${called}, p99 delay`,
        unit: 'ms',
        beside: `p50 ${figure(of('ours', 'p50Ms'))} against ${figure(of('bare', 'p50Ms'))} ms`,
        ...against('p99Ms'),
        target: { atMost: 1.5 },
      },
    ];
  } finally {
    await fanOuts.close();
  }
}

const EXPLANATION =
  'the same by event stream (SSE), all of one key: a card payment is created on PostgreSQL, and goes to every subscriber of allCardPaymentUpdates; CPU of the server’s process, that of the change included; delay from the answer to its COMMIT to the bytes at the subscriber';
