import { setTimeout as wait } from 'node:timers/promises';
import { createBenchDatabase } from './databases.ts';
import { facadeEnvironment, LIVE_KEY, UNLIMITED } from './environment.ts';
import { type Child, startChild } from './processes/child.ts';
import { progress, type Row, size } from './report.ts';

const FOLLOWERS = size(5_000, 100);
const EACH_KIND = size(100, 5);
const ON_EACH_SOCKET = 50;
const WATCHED_MS = size(60_000, 1_000);

const ORDER_CODES = Array.from(
  { length: EACH_KIND },
  (_, index) => `PSC-F0LL0WED00000000${String(index).padStart(8, '0')}`,
);
const WITHDRAWAL_IDS = Array.from({ length: EACH_KIND }, (_, index) => index.toString(16).padStart(24, '0'));

/** The subscriptions, one for each resource. */
const SUBSCRIPTIONS = [
  ...ORDER_CODES.map((orderCode) => ({
    query:
      'subscription ($orderCode: String!) { cardPaymentUpdates(orderCode: $orderCode) { cursor cardPayment { orderCode status version } } }',
    variables: { orderCode },
  })),
  ...WITHDRAWAL_IDS.map((withdrawalId) => ({
    query:
      'subscription ($withdrawalId: String!) { payoutUpdates(withdrawalId: $withdrawalId) { cursor payout { withdrawalId status version } } }',
    variables: { withdrawalId },
  })),
];

/**
 * Measures what many subscribers to payments that never end cost the service: it sends no webhook, so the facade
 * polls.
 */
export async function measureFollowers(postgresUrl: string): Promise<Row[]> {
  const children: Child[] = [];
  const start = (program: string) => {
    const child = startChild(program);
    children.push(child);
    return child;
  };

  /** A service, and the database of a facade in front of it. */
  async function prepare() {
    const upstream = start('slow-upstream.mjs');
    const { url } = await upstream.ask('start', { withdrawalIds: WITHDRAWAL_IDS });
    const databaseUrl = await createBenchDatabase(postgresUrl);
    return { upstream, environment: { ...facadeEnvironment(url), DATABASE_URL: databaseUrl } };
  }

  /** Subscribes a number of followers. Once all have a first state, counts the calls of one minute. */
  async function watch(
    { upstream, environment }: Awaited<ReturnType<typeof prepare>>,
    followers: number,
    options: object,
  ) {
    const server = start('server.mjs');
    const { url } = await server.ask('start', { ...environment, options });
    const subscribers = start('subscribers.mjs');
    const { sockets } = await subscribers.ask('start', {
      url,
      key: LIVE_KEY,
      subscriptions: Array.from(
        { length: followers },
        (_, index) => SUBSCRIPTIONS[index % SUBSCRIPTIONS.length],
      ),
      onEachSocket: ON_EACH_SOCKET,
    });
    await upstream.ask('calls');
    const started = performance.now();
    await wait(WATCHED_MS);
    const calls: Record<string, number> = await upstream.ask('calls');
    const minutes = (performance.now() - started) / 60_000;
    const { faults } = await subscribers.ask('reported');
    if (faults.length > 0) throw new Error(faults.join('\n'));
    await subscribers.stop();
    await server.ask('close');
    await server.stop();
    const ofKind = (kind: string) => (calls[kind] ?? 0) / minutes;
    return {
      sockets: sockets as number,
      perMinute: Object.values(calls).reduce((sum, count) => sum + count, 0) / minutes,
      kinds: `${ofKind('card-payments').toFixed(0)} for card payments, ${ofKind('payouts').toFixed(0)} for payouts`,
    };
  }

  try {
    const [many, one] = await Promise.all([prepare(), prepare()]);
    const resources = SUBSCRIPTIONS.length;
    const name = `${FOLLOWERS.toLocaleString('en')} followers of ${resources}`;
    const seconds = WATCHED_MS / 1_000;
    progress(`${name}: ${seconds} s without a budget`);
    const [ours, floor] = await Promise.all([
      watch(many, FOLLOWERS, UNLIMITED),
      watch(one, resources, UNLIMITED),
    ]);
    progress(`${name}: ${seconds} s with the budget`);
    const { upstream: _, ...limits } = UNLIMITED;
    const bounded = await watch(many, FOLLOWERS, limits);
    const who = `${FOLLOWERS.toLocaleString('en')} subscribers on ${ours.sockets} sockets follow ${EACH_KIND} card payments and ${EACH_KIND} payouts that neither end nor come by webhook`;
    return [
      {
        name: `${name}, no budget`,
        against: 'one follower of each',
        unit: '/min',
        ours: ours.perMinute,
        floor: floor.perMinute,
        ratio: ours.perMinute / floor.perMinute,
        beside: ours.kinds,
        explanation: `upstream calls a minute while ${who}, with the budget switched off; with one follower of each`,
      },
      {
        name: `${name}, budget of 120`,
        unit: '/min',
        ours: bounded.perMinute,
        floor: null,
        ratio: null,
        beside: bounded.kinds,
        explanation: `upstream calls a minute while ${who}, with the budget as it comes: 120 a minute, and polling has a part`,
      },
    ];
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}
