import { createBenchDatabase } from './databases.ts';
import { createFanOuts, notify, notifyOften, type Reported, subscribe } from './fan-out-bench.ts';
import { ensurePeer } from './peers/install.ts';
import { figure, inTurns, median, progress, QUICK, type Row, size } from './report.ts';

const SUBSCRIBERS = size(5_000, 50);
const ROUNDS = size(9, 1);
const CHANGES_A_ROUND = 3;
/** The number of changes before V8 has compiled everything. */
const WARM_UP_CHANGES = size(6, 1);
const BARE = 'a bare ws broadcast of one string';

type Name = 'ours' | 'bare' | 'yoga';

/** Measures one event to all subscribers, each on a socket of its own; the next follows once all have it. */
export async function measureFanout(postgresUrl: string): Promise<Row[]> {
  const peer = QUICK ? null : await ensurePeer('yoga');
  const fanOuts = createFanOuts();
  const called = `one event to ${SUBSCRIBERS.toLocaleString('en')}`;
  try {
    progress(`${called}: opening sockets`);
    const ours = await fanOuts.openOurs(await createBenchDatabase(postgresUrl));
    await subscribe(ours, SUBSCRIBERS);
    const { text } = await notify(ours, SUBSCRIBERS);
    const bare = await fanOuts.openBare('bare-ws.mjs', text);
    await subscribe(bare, SUBSCRIBERS);
    const yoga = peer && (await fanOuts.openPeer('yoga.mjs'));
    if (yoga) await subscribe(yoga, SUBSCRIBERS);

    const parties = { ours, bare, ...(yoga && { yoga }) };
    const measure = (changes: number) =>
      Object.fromEntries(
        Object.entries(parties).map(([name, fanOut]) => [
          name,
          () => notifyOften(fanOut, { subscribers: SUBSCRIBERS, changes }),
        ]),
      ) as Record<Name, () => Promise<Reported>>;
    progress(`${called}: warming up`);
    for (const warmUp of Object.values(measure(WARM_UP_CHANGES))) await warmUp();
    const rounds = await inTurns(ROUNDS, measure(CHANGES_A_ROUND), called);
    await ours.server.ask('close');

    const of = (whose: Name, what: keyof Reported) => median(rounds.map((round) => round[whose][what]));
    const against = (other: Name, what: 'cpuUs' | 'p99Ms') => ({
      ours: of('ours', what),
      floor: of(other, what),
      ratio: median(rounds.map((round) => round.ours[what] / round[other][what])),
      explanation: EXPLANATION,
    });
    const cpu = { name: `${called}, CPU a delivery`, unit: 'µs CPU', beside: '' };
    const p99 = (other: Name) => ({
      name: `${called}, p99 delay`,
      unit: 'ms',
      beside: `p50 ${figure(of('ours', 'p50Ms'))} against ${figure(of(other, 'p50Ms'))} ms`,
    });
    return [
      { ...cpu, against: BARE, ...against('bare', 'cpuUs'), target: { atMost: 1.3 } },
      { ...p99('bare'), against: BARE, ...against('bare', 'p99Ms'), target: { atMost: 1.5 } },
      ...(peer
        ? [
            { ...cpu, against: peer, ...against('yoga', 'cpuUs'), target: { atMost: 0.33 } },
            { ...p99('yoga'), against: peer, ...against('yoga', 'p99Ms') },
          ]
        : []),
    ];
  } finally {
    await fanOuts.close();
  }
}

const EXPLANATION =
  'a card payment is created on PostgreSQL, and every subscriber of allCardPaymentUpdates, each on a WebSocket and with an operation id of its own, receives it; CPU of the server’s process, that of the change included; delay from the answer to its COMMIT to the bytes at the subscriber';
