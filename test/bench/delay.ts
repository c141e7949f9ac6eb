import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { createBenchDatabase } from './databases.ts';
import { LIVE_KEY } from './environment.ts';
import { createFanOuts, type FanOut, notify, subscribe, UPDATES } from './fan-out-bench.ts';
import { figure, inTurns, median, percentile, progress, QUICK, type Row, size } from './report.ts';

/** Many short rounds, because the time of a flush changes from one moment to the next. */
const ROUNDS = size(45, 1);
const CHANGES_A_ROUND = size(8, 3);
const WARM_UP_CHANGES = size(150, 3);
/** The deadline of a delivery, which no delivery on one machine reaches. */
const WITHIN_MS = 20_000;
/** The pause between two changes, so that the notification of one does not delay the next. */
const APART_MS = 5;

type Name = 'ours' | 'elsewhere' | 'sse' | 'bare';

/**
 * One measured change: the milliseconds from the sending of the COMMIT, and from its answer, to the subscriber's
 * bytes.
 */
interface Delay {
  sentMs: number;
  answeredMs: number;
}

/**
 * Measures the delay from a COMMIT to the socket of the one subscriber: on the same instance, on another one,
 * over an event stream.
 */
export async function measureDelay(postgresUrl: string): Promise<Row[]> {
  const fanOuts = createFanOuts();
  const called = 'commit to socket';
  try {
    progress(`${called}: warming up`);
    // Each fan-out has a database of its own, so that none receives another's notifications.
    const ours = await fanOuts.openOurs(await createBenchDatabase(postgresUrl));
    await subscribe(ours, 1);
    const shared = await createBenchDatabase(postgresUrl);
    const reader = await fanOuts.openOurs(shared);
    const { server: writer } = await fanOuts.openOurs(shared);
    const elsewhere: FanOut = { ...reader, server: writer };
    await subscribe(elsewhere, 1);
    const streaming = QUICK ? ours : await fanOuts.openOurs(await createBenchDatabase(postgresUrl));
    const stream = await openStream(streaming);
    const { text } = await notify(ours, 1);
    const databaseUrl = await createBenchDatabase(postgresUrl);
    const bare = await fanOuts.openBare('bare-notify.mjs', text, { databaseUrl });
    await subscribe(bare, 1);

    const measure = (changes: number): Record<Name, () => Promise<Delay[]>> => ({
      ours: () => repeat(changes, () => overWebSocket(ours)),
      elsewhere: () => repeat(changes, () => overWebSocket(elsewhere)),
      sse: () => repeat(changes, () => overStream(streaming, stream)),
      bare: () => repeat(changes, () => overWebSocket(bare)),
    });
    for (const warmUp of Object.values(measure(WARM_UP_CHANGES))) await warmUp();
    const rounds = await inTurns(ROUNDS, measure(CHANGES_A_ROUND), called);
    stream.destroy();
    for (const server of new Set([ours.server, streaming.server, reader.server, writer]))
      await server.ask('close');

    const row = (name: string, whose: Name): Row => {
      const all = (who: Name, from: keyof Delay) =>
        rounds.flatMap((round) => round[who].map((each) => each[from]));
      const both = (percent: number, from: keyof Delay) =>
        [whose, 'bare' as const].map((who) => figure(percentile(all(who, from), percent))).join(' against ');
      return {
        name,
        against: 'LISTEN/NOTIFY and ws.send',
        unit: 'ms',
        ours: median(all(whose, 'sentMs')),
        floor: median(all('bare', 'sentMs')),
        ratio: median(rounds.map((round) => medianOf(round[whose]) / medianOf(round.bare))),
        beside: `p99 ${both(99, 'sentMs')}; from the COMMIT’s answer ${both(50, 'answeredMs')} ms`,
        explanation: EXPLANATION,
      };
    };
    return [
      { ...row(called, 'ours'), target: { atMost: 1.5 } },
      row(`${called}, another instance`, 'elsewhere'),
      row(`${called}, SSE`, 'sse'),
    ];
  } finally {
    await fanOuts.close();
  }
}

const EXPLANATION =
  'one subscriber, from the sending of the COMMIT to PostgreSQL to the update’s bytes at the subscriber, median of all changes; the floor is a process that writes one row and notifies in one transaction, and sends what it is notified of';

function medianOf(delays: readonly Delay[]): number {
  return median(delays.map(({ sentMs }) => sentMs));
}

async function repeat(times: number, measure: () => Promise<Delay>): Promise<Delay[]> {
  const delays: Delay[] = [];
  while (delays.length < times) {
    await wait(APART_MS);
    delays.push(await measure());
  }
  return delays;
}

async function overWebSocket({ server, listeners, text }: FanOut): Promise<Delay> {
  await listeners.ask('expect');
  const commit = await server.ask('tell', { text });
  const { delays } = await listeners.ask('reported', { at: commit.sentAt, withinMs: WITHIN_MS });
  if (delays.length !== 1) throw new Error('The subscriber was not notified');
  return delayOf(commit, delays[0]);
}

async function overStream({ server }: FanOut, stream: IncomingMessage): Promise<Delay> {
  const arrival = once(stream, 'data', { signal: AbortSignal.timeout(WITHIN_MS) }).then(() =>
    process.hrtime.bigint(),
  );
  const commit = await server.ask('tell', {});
  return delayOf(commit, Number((await arrival) - BigInt(commit.sentAt)) / 1e6);
}

function delayOf({ sentAt, answeredAt }: { sentAt: string; answeredAt: string }, sentMs: number): Delay {
  return { sentMs, answeredMs: sentMs - Number(BigInt(answeredAt) - BigInt(sentAt)) / 1e6 };
}

/** An event stream that has already sent one change, so that it stands at the live end. */
async function openStream({ url, server }: FanOut): Promise<IncomingMessage> {
  const request = get(`${url}/graphql?query=${encodeURIComponent(UPDATES)}`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${LIVE_KEY}` },
  });
  const [stream] = (await once(request, 'response')) as [IncomingMessage];
  if (stream.statusCode !== 200) throw new Error(`The event stream was refused: ${stream.statusCode}`);
  for (let tries = 0; tries < 30; tries++) {
    const arrival = once(stream, 'data', { signal: AbortSignal.timeout(1_000) }).then(
      ([bytes]) => String(bytes).includes('event: next'),
      () => false,
    );
    await server.ask('tell', {});
    if (await arrival) return stream;
  }
  throw new Error('The event stream tells nothing');
}
