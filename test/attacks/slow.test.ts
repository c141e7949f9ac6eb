import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { scale } from '../support/scale.ts';
import { LIVE_KEY, report, startLoad, startTargetServer, type TargetServer } from './target-server.ts';

// A client that sends a request byte by byte, or reads no answer, takes one place and no more: others are
// answered as without it, and at its deadline it is cut off. In the full size the deadlines are the usual ones,
// and the waiting times of others are measured.

const MANY = scale('HALF_OPEN');
const BESIDE = scale('BESIDE');
const isFull = MANY >= 1_000;
const WITHIN_MS = 100_000;
const QUERY = '{ wallet { currency } cardPayments(first: 20) { nodes { orderCode status } } }';
const HEAD = `POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${LIVE_KEY}\r\ncontent-type: application/json\r\n`;

let target: TargetServer;
beforeAll(async () => {
  target = await startTargetServer({
    testing: {
      deadlines: isFull
        ? { stalledMs: 20_000 }
        : { headMs: 400, requestMs: 800, checkMs: 50, stalledMs: 3_000 },
    },
  });
  await target.happen(100, JSON.stringify('x'.repeat(2_000)));
});
afterAll(async () => {
  expect(await target.faults()).toEqual([]);
  await target.stop();
});

/** A well-behaved client. Returns the milliseconds within which 99 of 100 of its requests are answered. */
async function beside(): Promise<number> {
  const waited: number[] = [];
  for (let count = 0; count < BESIDE; count += 1) {
    const before = performance.now();
    const { wallet } = await target.live.request(QUERY);
    waited.push(performance.now() - before);
    expect(wallet.currency).toBe('BRL');
  }
  return waited.sort((left, right) => left - right)[Math.floor(waited.length * 0.99)]!;
}

/**
 * Others wait no longer than without the slow clients. Both sides are measured alike, with the chance delays of a
 * busy machine.
 */
async function undisturbed(attack: string, begin: () => Promise<unknown>): Promise<void> {
  // The queries are compiled after this run.
  if (isFull) await beside();
  const without = await beside();
  await begin();
  const among = await beside();
  report(attack, { 'p99 in ms': among, 'without them': without });
  if (isFull) expect(among).toBeLessThan(2 * without);
}

function gather() {
  const load = startLoad();
  onTestFinished(() => load.stop());
  const { port } = target;
  return {
    drip: (text: string) => load.ask('drip', { port, count: MANY, text }),
    ignore: (text: string, count = MANY) => load.ask('ignore', { port, count, text }),
    ended: (): Promise<Record<string, number>> => load.ask('ended', { count: MANY, withinMs: WITHIN_MS }),
  };
}

describe(`${MANY} at once`, () => {
  test.each([
    ['a head', `${HEAD}x-long: `],
    ['a line', 'GET /'],
    ['a body', `${HEAD}content-length: 5000\r\n\r\n{"query":"`],
    ['a body in chunks', `${HEAD}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n"\r\n`],
  ])(
    'Clients that send %s byte by byte delay nobody, and get 408 at their deadline',
    async (what, text) => {
      const { drip, ended } = gather();
      await undisturbed(`${MANY} send ${what} byte by byte`, () => drip(text));
      expect(await ended()).toEqual({ 408: MANY });
    },
    2 * WITHIN_MS,
  );

  test(
    'Clients that send nothing at all delay nobody, and are all cut off in the same way',
    async () => {
      const { ignore, ended } = gather();
      await undisturbed(`${MANY} say nothing`, () => ignore(''));
      expect(Object.values(await ended())).toEqual([MANY]);
    },
    2 * WITHIN_MS,
  );
});

// test/security/transports.test.ts shows, from the server's side, that these clients are cut off; they do not
// look themselves. Until the server sees that nobody reads, their answers cost no more than those of a client
// that reads.
const READERS = Math.min(Math.ceil(MANY / 3), 100);
test(
  `${READERS} clients that read nothing of their responses delay nobody`,
  async () => {
    const { ignore } = gather();
    const fields = Array.from({ length: 9 }, (_, index) => `m${index}: metadata`).join(' ');
    const list = JSON.stringify({ query: `{ cardPayments(first: 100) { nodes { ${fields} } } }` });
    const one = `${HEAD}content-length: ${list.length}\r\n\r\n${list}`;
    await undisturbed(`${READERS} take nothing of 4 answers of 2 MB`, async () => {
      await ignore(one.repeat(4), READERS);
      await target.rest();
    });
  },
  2 * WITHIN_MS,
);
