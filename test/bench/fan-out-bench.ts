import { LIVE_KEY, UNLIMITED_KEY } from './environment.ts';
import { type Child, startChild } from './processes/child.ts';
import { median, percentile } from './report.ts';

/** The time within which every subscriber is notified; a busy machine takes a second. */
const WITHIN_MS = 20_000;

export const UPDATES = `subscription { allCardPaymentUpdates { cursor occurredAt previousStatus cardPayment {
  orderCode status version amountCents currency description createdAt expiresAt paidAt
} } }`;

/** A server and its subscribers, each on a socket of its own: over WebSocket, or by event stream. */
export interface FanOut {
  server: Child;
  listeners: Child;
  url: string;
  /** The parameters with which listeners subscribe. */
  spoken: { path: string; query?: string; key?: string; streams?: boolean };
  /** The text that the server sends; null if it makes its own. */
  text: string | null;
}

/** Fan-outs that are closed together. */
export interface FanOuts {
  openOurs(databaseUrl: string, how?: Transport): Promise<FanOut>;
  /** Starts the program of that name, which speaks GraphQL as ours does. */
  openPeer(program: string): Promise<FanOut>;
  /** Starts the program of that name, which sends its `text` unchanged to every connected client. */
  openBare(program: string, text: string, given?: unknown, how?: Transport): Promise<FanOut>;
  /** Stops every process. */
  close(): Promise<void>;
}

interface Transport {
  streams?: boolean;
}

export function createFanOuts(): FanOuts {
  const fanOuts: FanOut[] = [];
  async function open(program: string, given: unknown, spoken: FanOut['spoken'], text: string | null) {
    const server = startChild(program);
    const fanOut: FanOut = { server, listeners: startChild('listeners.mjs'), url: '', spoken, text };
    fanOuts.push(fanOut);
    fanOut.url = (await server.ask('start', given)).url;
    return fanOut;
  }
  const spoken = { path: '/graphql', query: UPDATES, key: LIVE_KEY };
  return {
    openOurs: (databaseUrl, how) =>
      open('server.mjs', { ...UNLIMITED_KEY, DATABASE_URL: databaseUrl }, { ...spoken, ...how }, null),
    openPeer: (program) => open(program, {}, spoken, null),
    openBare: (program, text, given = {}, how = {}) => open(program, given, { path: '/', ...how }, text),
    async close() {
      await Promise.all(fanOuts.flatMap(({ server, listeners }) => [listeners.stop(), server.stop()]));
    },
  };
}

/** Adds `more` subscribers. A change that reaches all of them proves that they follow. */
export async function subscribe(fanOut: FanOut, more: number): Promise<void> {
  const { open } = await connect(fanOut, more);
  // A new subscriber may not follow yet: the next change reaches it.
  for (let tries = 0; tries < 30; tries++) {
    const { count } = await notifyWithin(fanOut, 1_000);
    if (count === open) return;
  }
  throw new Error(`Of ${open} subscribers not all are notified`);
}

/** Connects subscribers without waiting for a change. */
export function connect({ listeners, url, spoken }: FanOut, more: number): Promise<{ open: number }> {
  return listeners.ask('open', { url, ...spoken, count: more });
}

export interface Reported {
  cpuUs: number;
  p50Ms: number;
  p99Ms: number;
}

/**
 * Makes changes, each delivered to all before the next. Returns the CPU time for each delivery, and the medians
 * of the delays.
 */
export async function notifyOften(
  fanOut: FanOut,
  { subscribers, changes }: { subscribers: number; changes: number },
): Promise<Reported> {
  const before = await fanOut.server.ask('cpu');
  const delays: number[][] = [];
  for (let change = 0; change < changes; change++) delays.push((await notify(fanOut, subscribers)).delays);
  const cpuUs = ((await fanOut.server.ask('cpu')) - before) / (changes * subscribers);
  const of = (percent: number) => median(delays.map((each) => percentile(each, percent)));
  return { cpuUs, p50Ms: of(50), p99Ms: of(99) };
}

/** Makes a change. Returns the bytes of the last subscriber, and the milliseconds from the COMMIT to each. */
export async function notify(
  fanOut: FanOut,
  subscribers: number,
): Promise<{ text: string; delays: number[] }> {
  const reported = await notifyWithin(fanOut, WITHIN_MS);
  if (reported.count !== subscribers) throw new Error(`${reported.count} of ${subscribers} were notified`);
  return reported;
}

async function notifyWithin({ server, listeners, text }: FanOut, withinMs: number) {
  await listeners.ask('expect');
  const { at } = await server.ask('tell', { text });
  return listeners.ask('reported', { at, withinMs });
}
