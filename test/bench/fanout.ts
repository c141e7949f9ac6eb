import { createBenchDatabase } from './databases.ts';
import { LIVE_KEY, UNLIMITED_KEY } from './environment.ts';
import { ensurePeer } from './peers/install.ts';
import { type Child, startChild } from './processes/child.ts';
import { inTurns, median, percentile, progress, QUICK, type Row, size } from './report.ts';

const SUBSCRIBERS = size(5_000, 50);
const ROUNDS = size(9, 1);
const EVENTS_A_ROUND = 3;
/** The first ones, before everything is compiled. */
const WARM_UP_EVENTS = size(6, 1);
/** Until everybody has been told; a busy machine takes a second. */
const WITHIN_MS = 20_000;

const UPDATES = `subscription { allCardPaymentUpdates { cursor occurredAt previousStatus cardPayment {
  orderCode status version amountCents currency description createdAt expiresAt paidAt
} } }`;

/** A server, and those who follow what it tells. */
export interface Hall {
  server: Child;
  listeners: Child;
  /** What the server is asked to tell, where it has to be given. */
  text?: string;
}

/** One event to so many subscribers, each on a socket of its own, told to all of them before the next. */
export async function measureFanout(postgresUrl: string): Promise<Row[]> {
  const peer = QUICK ? null : await ensurePeer('yoga');
  const halls: Hall[] = [];
  try {
    const called = `fan-out to ${SUBSCRIBERS.toLocaleString('en')}`;
    progress(`${called}: opening sockets`);
    const ours = await openOurs(await createBenchDatabase(postgresUrl), halls);
    await subscribe(ours, SUBSCRIBERS);
    const bare = await openBare(halls, await tell(ours, SUBSCRIBERS).then(({ text }) => text));
    await subscribe(bare, SUBSCRIBERS);
    const yoga = peer && (await openHall('yoga.mjs', halls));
    if (yoga) await subscribe(yoga, SUBSCRIBERS);

    const parties = { ours, bare, ...(yoga && { yoga }) };
    for (const hall of Object.values(parties))
      for (let event = 0; event < WARM_UP_EVENTS; event++) await tell(hall, SUBSCRIBERS);
    const rounds = await inTurns<Told, 'ours' | 'bare' | 'yoga'>(
      { rounds: ROUNDS, called },
      Object.fromEntries(
        Object.entries(parties).map(([name, hall]) => [name, () => tellOften(hall, SUBSCRIBERS)]),
      ) as Record<'ours' | 'bare' | 'yoga', () => Promise<Told>>,
    );
    await ours.server.ask('close');

    const against = (
      other: 'bare' | 'yoga',
      who: string,
      measured: 'cpuUs' | 'p99Ms',
      atMost: number | null,
    ): Row => ({
      name: `one event to ${SUBSCRIBERS.toLocaleString('en')}, ${measured === 'cpuUs' ? 'CPU a delivery' : 'p99 delay'}`,
      against: who,
      unit: measured === 'cpuUs' ? 'µs CPU' : 'ms',
      ours: median(rounds.map((round) => round.ours[measured])),
      floor: median(rounds.map((round) => round[other][measured])),
      ratio: median(rounds.map((round) => round.ours[measured] / round[other][measured])),
      ...(atMost !== null && { target: { atMost } }),
      beside:
        measured === 'cpuUs'
          ? ''
          : `p50 ${['ours', other].map((whose) => median(rounds.map((round) => round[whose as 'ours'].p50Ms)).toFixed(0)).join(' against ')} ms`,
      explanation: EXPLANATION,
    });
    return [
      against('bare', 'a bare ws broadcast of one string', 'cpuUs', 1.3),
      against('bare', 'a bare ws broadcast of one string', 'p99Ms', 1.5),
      ...(peer
        ? [against('yoga', peer, 'cpuUs', 0.33), against('yoga', peer, 'p99Ms', null)]
        : []),
    ];
  } finally {
    await closeAll(halls);
  }
}

const EXPLANATION =
  'a card payment is created on PostgreSQL, and every subscriber of allCardPaymentUpdates, each on a WebSocket and with an operation id of its own, is told of it; CPU of the server’s process, that of the change included; delay from the change’s answer in the server to the bytes at the subscriber';

/** `options` of the server's process. */
export async function openOurs(databaseUrl: string, halls: Hall[]): Promise<Hall> {
  return openHall('server.mjs', halls, { ...UNLIMITED_KEY, DATABASE_URL: databaseUrl });
}

export async function openBare(halls: Hall[], text: string): Promise<Hall> {
  return Object.assign(await openHall('bare-ws.mjs', halls), { text });
}

const addresses = new WeakMap<Hall, { url: string; path: string; query?: string; key: string }>();

async function openHall(program: string, halls: Hall[], given: unknown = {}): Promise<Hall> {
  const hall: Hall = { server: startChild(program), listeners: startChild('listeners.mjs') };
  halls.push(hall);
  const { url } = await hall.server.ask('start', given);
  const spoken = program === 'bare-ws.mjs' ? { path: '/' } : { path: '/graphql', query: UPDATES };
  addresses.set(hall, { url, key: LIVE_KEY, ...spoken });
  return hall;
}

/** So many more follow, which an event that reaches all of them proves. */
export async function subscribe(hall: Hall, more: number): Promise<void> {
  const { open } = await hall.listeners.ask('open', { ...addresses.get(hall), count: more });
  // Who has just subscribed may not be heard yet, and then the next event is for it.
  for (let tries = 0; tries < 30; tries++) {
    const { count } = await tellOnce(hall, 1_000);
    if (count === open) return;
  }
  throw new Error(`Of ${open} subscribers not all are told`);
}

/** Stops both processes of each. */
export async function closeAll(halls: readonly Hall[]): Promise<void> {
  await Promise.all(halls.flatMap(({ server, listeners }) => [listeners.stop(), server.stop()]));
}

export interface Told {
  cpuUs: number;
  p50Ms: number;
  p99Ms: number;
}

/** Some events, each told to all before the next: CPU a delivery, and the medians of the events' delays. */
export async function tellOften(hall: Hall, subscribers: number, events = EVENTS_A_ROUND): Promise<Told> {
  const before = await hall.server.ask('cpu');
  const delays: number[][] = [];
  for (let event = 0; event < events; event++) delays.push((await tell(hall, subscribers)).delays);
  const cpuUs = ((await hall.server.ask('cpu')) - before) / (events * subscribers);
  const of = (percent: number) => median(delays.map((each) => percentile(each, percent)));
  return { cpuUs, p50Ms: of(50), p99Ms: of(99) };
}

async function tell(hall: Hall, subscribers: number): Promise<{ text: string; delays: number[] }> {
  const told = await tellOnce(hall, WITHIN_MS);
  if (told.count !== subscribers) throw new Error(`${told.count} of ${subscribers} were told`);
  return told;
}

async function tellOnce({ server, listeners, text }: Hall, withinMs: number) {
  await listeners.ask('expect');
  const { at } = await server.ask('tell', { text });
  return listeners.ask('told', { at, withinMs });
}
