import { expect } from 'vitest';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { audit } from './audit.ts';
import { type ChildServer, ServerDied, spawnServer } from './child.ts';
import { CARDS, createCustomers } from './customers.ts';
import { CONFIGURE, OPTED_INTO } from './documents.ts';
import { complaintsOfPosted } from './ledger-check.ts';
import type { RequestSequence } from './load.ts';
import { createLtcPayers, LTC_PAYERS } from './ltc-payers.ts';
import { createWithdrawers, DESTINATIONS, PIX_KEYS } from './payout-clients.ts';
import { createPixPayers, PAYERS } from './pix-payers.ts';
import type { Random } from './random.ts';
import { createRecurringPayers, DAYS_OF_TWO_CYCLES, RECURRING_PAYERS } from './recurring-payers.ts';
import { type As, clientOf, createShoppers } from './shoppers.ts';
import { createSubscriber } from './subscriber.ts';
import { ASKED } from './watch.mjs';

const KEYS = { live: 'ps_live_bounded0123456789', sandbox: 'ps_test_bounded0123456789' };
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The time between two processes: leases have ended, and open work is looked up. */
const BETWEEN_LIVES_MS = 45 * SECOND_MS;
/** The limit of turbo payouts, among ten payouts an hour. */
const ANOTHER_PAYOUT_MS = 12 * MINUTE_MS;
/** The final instants: late enough for everything to be decided, confirmed, returned, expired, released and reported. */
const LATER_MS = [
  ...[MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS],
  ...Array<number>(DAYS_OF_TWO_CYCLES).fill(DAY_MS),
  ...[20 * DAY_MS, MINUTE_MS, HOUR_MS],
];
/** A time longer than any work takes. */
const REST_MS = 25 * DAY_MS;
/** The money that can be paid out. */
const OPENING = { name: 'opening', cents: 1_000_000_000, litoshi: 100_000_000_000 };

/** A sequence of requests that is played from its beginning to its end, alone. */
export interface Story {
  readonly newSequence: (as: As) => RequestSequence;
  /** The pause before it, and the pauses between its answers and its end. */
  readonly beforeMs?: number;
  readonly thenMs?: readonly number[];
  /** Set if its webhooks are refused the first time. */
  readonly refused?: boolean;
}

export type Stand = Awaited<ReturnType<typeof openStand>>;

/** One database, its clients' memory, and its server's processes, one after the other. */
export async function openStand({
  environment,
  random,
  seed,
  spares,
}: {
  environment: Record<string, string>;
  random: Random;
  seed: number;
  spares: Spares;
}) {
  const customers = createCustomers(random);
  const withdrawers = createWithdrawers(random);
  const pixPayers = createPixPayers(random);
  const ltcPayers = createLtcPayers(random);
  const recurringPayers = createRecurringPayers(random);
  const shoppers = createShoppers(KEYS);
  const subscribers = [createSubscriber('ws'), createSubscriber('sse')];
  const stories = storiesOf({ customers, pixPayers, ltcPayers, recurringPayers, withdrawers, shoppers });
  const seen = new Set<string>();
  let refusing = false;
  const receiver: Receiver = await startReceiver((response, { headers }) => {
    const id = String(headers['x-webhook-id']);
    response.writeHead(refusing && !seen.has(id) ? 500 : 200).end();
    seen.add(id);
  });
  let aheadMs = 0;
  let open: RequestSequence[] = [];
  let server: ChildServer;
  /** The client of the current server. */
  let speak: As;
  const as: As = (credential) => speak(credential);
  const isAlive = () => server !== undefined && !server.dead;

  async function run(sequence: RequestSequence): Promise<void> {
    while (sequence.isOpen(server)) {
      await sequence.step(server, as(KEYS.live) as never);
      await server.ask('settle', null);
    }
  }

  async function pass(ms: number): Promise<void> {
    aheadMs += ms;
    await server.ask('pass', { ms });
  }

  async function look({ final = false } = {}): Promise<void> {
    const books = await audit(server, new Date(Date.now() + aheadMs));
    const complaints = [
      ...customers.complaints(books.payments, { final }),
      ...pixPayers.complaints(books, { final }),
      ...ltcPayers.complaints(books, { final }),
      ...recurringPayers.complaints(books, { final }),
      ...withdrawers.complaints(books, { final }),
      ...(await shoppers.complaints(server)),
    ];
    const { violations } = books;
    const { faults } = server;
    expect({ violations, complaints, faults }, `PSA_FAULTS_SEED=${seed}`).toEqual({
      violations: [],
      complaints: [],
      faults: [],
    });
  }

  const stand = {
    stories,

    /** Starts a process, and waits until all earlier requests are answered. Returns the time until it was ready. */
    async begin({ isMeasured = false, dieAt = null as string | null } = {}): Promise<number> {
      aheadMs += BETWEEN_LIVES_MS;
      const begunAt = performance.now();
      server = isMeasured ? spares.fresh() : spares.take();
      const watched = { dieAt };
      const { url } = await server.ask('start', {
        environment: {
          PSA_BOOTSTRAP_LIVE_KEY: KEYS.live,
          PSA_BOOTSTRAP_TEST_KEY: KEYS.sandbox,
          PSA_GRAPHQL_LIMIT: '1000000',
          // The lives are months apart, and what was answered in the first is looked for in the last.
          PSA_KEEP: 'forever',
          ...environment,
        },
        clockAheadMs: aheadMs,
        watched,
        brief: !isMeasured,
      });
      // The server answers within a second; on a busy machine its first answer may be that the database is not there.
      await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
      const readyMs = performance.now() - begunAt;
      const endpoint = `${url}/graphql`;
      speak = clientOf(endpoint, ASKED);
      for (const key of Object.values(KEYS))
        await as(key).request(CONFIGURE, { input: { url: receiver.url, optionalEvents: OPTED_INTO } });
      await server.ask('credit', OPENING);
      for (const subscriber of subscribers) await subscriber.attach(endpoint, KEYS.live);
      await server.ask('settle', null);
      await look();
      for (const sequence of open) await run(sequence);
      open = open.filter((sequence) => sequence.isOpen(server));
      return readyMs;
    },

    /** Plays a story once more. */
    async tell({ newSequence, beforeMs = 0, thenMs = [], refused = false }: Story): Promise<void> {
      if (beforeMs > 0) await pass(beforeMs);
      refusing = refused;
      const sequence = newSequence(as);
      open.push(sequence);
      await run(sequence);
      for (const ms of thenMs) await pass(ms);
      sequence.becomeLate?.();
      await run(sequence);
      refusing = false;
      open = open.filter((each) => each !== sequence);
    },

    /** The boundaries that the server has reached since the last call. */
    passed: () => server.ask('passed', null),

    /** Waits until all work of earlier stories is done. */
    rest: () => pass(REST_MS),

    /** Whether the server dies at this boundary during `work`; it goes on if it does not reach it. */
    async diesAt(boundary: string, work: () => Promise<unknown>): Promise<boolean> {
      if (isAlive()) await server.ask('dieAtBoundary', boundary);
      try {
        await work();
        await server.ask('dieAtBoundary', null);
        return false;
      } catch (error) {
        if (!isDeath(error)) throw error;
      }
      refusing = false;
      expect(await server.death, `PSA_FAULTS_SEED=${seed}`).toEqual({
        signal: 'SIGKILL',
        statement: boundary,
      });
      return true;
    },

    async end(): Promise<void> {
      server.kill();
      await server.death;
      await Promise.all(subscribers.map((subscriber) => subscriber.leave()));
    },

    /** Advances the clock until all work is done and reported, and audits the ledgers. Returns the number of webhooks. */
    async finish(): Promise<number> {
      for (const ms of LATER_MS) await pass(ms);
      await look({ final: true });
      const { complaints, sent } = await complaintsOfPosted(server, receiver.received);
      const missed = await Promise.all(subscribers.map((subscriber) => subscriber.missed(server)));
      expect([...complaints, ...missed.flat()], `PSA_FAULTS_SEED=${seed}`).toEqual([]);
      await stand.end();
      return sent;
    },
  };
  return stand;
}

/** A connection breaks a moment before the exit is known. */
function isDeath(error: unknown): boolean {
  return (
    error instanceof ServerDied ||
    (error instanceof TypeError && ['fetch failed', 'terminated'].includes(error.message))
  );
}

export interface Spares {
  take(): ChildServer;
  /** Returns a process that has not been started yet. */
  fresh(): ChildServer;
  end(): void;
}

/** Processes that wait for their use: loading takes longer than most of them live. */
export function createSpares(): Spares {
  const all: ChildServer[] = [];
  const fresh = () => {
    const server = spawnServer();
    all.push(server);
    return server;
  };
  let next = fresh();
  return {
    fresh,
    take() {
      const taken = next;
      next = fresh();
      return taken;
    },
    end() {
      for (const server of all) server.kill();
    },
  };
}

const cardLeadingTo = (status: string, after = 0) =>
  CARDS.filter((card) => card?.leadsTo === status)[after] ?? null;

/** All acts of merchants and payers, with all outcomes. */
function storiesOf({
  customers,
  pixPayers,
  ltcPayers,
  recurringPayers,
  withdrawers,
  shoppers,
}: {
  customers: ReturnType<typeof createCustomers>;
  pixPayers: ReturnType<typeof createPixPayers>;
  ltcPayers: ReturnType<typeof createLtcPayers>;
  recurringPayers: ReturnType<typeof createRecurringPayers>;
  withdrawers: ReturnType<typeof createWithdrawers>;
  shoppers: ReturnType<typeof createShoppers>;
}): Story[] {
  const order = (given: Parameters<typeof customers.newOrder>[0]) => () => customers.newOrder(given);
  const paid = { card: CARDS[0], refundIt: false };
  const later = { card: CARDS.find((card) => card?.number === '4000000000003220') ?? null, refundIt: false };
  return [
    { newSequence: order({ ...paid, refundIt: true }) },
    { newSequence: order(paid), thenMs: [20 * DAY_MS] },
    { newSequence: order(later), thenMs: [6 * SECOND_MS, 15 * SECOND_MS] },
    { newSequence: order({ card: cardLeadingTo('expired'), refundIt: false }), thenMs: [HOUR_MS] },
    { newSequence: order({ card: cardLeadingTo('failed'), refundIt: false }) },
    { newSequence: order({ card: null, refundIt: false }), refused: true, thenMs: [HOUR_MS] },
    { newSequence: order(paid), refused: true, thenMs: [6 * SECOND_MS] },
    { newSequence: order({ card: null, refundIt: false, cancelIt: true }) },
    // The pauses cover credits of payers, a late code, an expiry, what follows it, and a claim.
    ...PAYERS.map((payer) => ({
      newSequence: () => pixPayers.newSale(payer),
      thenMs: [
        ...[5 * SECOND_MS, 15 * SECOND_MS, 32 * MINUTE_MS],
        // A payment answered with evidence waits for its decision until `finish`: eight days here would end its time.
        ...(payer.email?.startsWith('contesta') && !payer.answersDispute ? [8 * DAY_MS] : []),
      ],
    })),
    // A payment that was seen in time may be confirmed during the last day.
    ...LTC_PAYERS.map((payer) => ({
      newSequence: () => ltcPayers.newDeal(payer),
      thenMs: [15 * SECOND_MS, 32 * MINUTE_MS, DAY_MS],
    })),
    // In these days the second cycle is instructed, debited, and debited again.
    ...RECURRING_PAYERS.map((payer) => ({
      newSequence: () => recurringPayers.newContract(payer),
      thenMs: [
        15 * SECOND_MS,
        ...Array<number>(payer.does.includes('pay') ? DAYS_OF_TWO_CYCLES : 2).fill(DAY_MS),
      ],
    })),
    ...DESTINATIONS.map((to) => ({
      newSequence: () => withdrawers.newWithdrawal(to),
      beforeMs: ANOTHER_PAYOUT_MS,
      thenMs: [3 * SECOND_MS, MINUTE_MS, 10 * MINUTE_MS],
    })),
    ...PIX_KEYS.map((pixKey) => ({
      newSequence: () => withdrawers.newClient([pixKey]),
      thenMs: [3 * SECOND_MS, MINUTE_MS, 10 * MINUTE_MS],
    })),
    { newSequence: (as) => shoppers.newCheckout()(as), thenMs: [HOUR_MS] },
    { newSequence: (as) => shoppers.newPixCheckout()(as), thenMs: [HOUR_MS] },
    { newSequence: (as) => shoppers.newDashboard()(as) },
    { newSequence: (as) => shoppers.newProduct()(as) },
    { newSequence: (as) => shoppers.newContent()(as) },
    { newSequence: (as) => shoppers.newStore()(as) },
    { newSequence: (as) => shoppers.newTestPayment()(as) },
    { newSequence: (as) => shoppers.newSandboxSale()(as) },
    { newSequence: (as) => shoppers.newRedelivery()(as) },
  ];
}
