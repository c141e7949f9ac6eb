import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Stream } from '../support/graphql.ts';
import { openRawSocket, type RawSocket } from '../support/raw-socket.ts';
import { scale } from '../support/scale.ts';
import {
  LIVE_KEY,
  type Memory,
  report,
  startLoad,
  startTargetServer,
  type TargetServer,
} from './target-server.ts';

// One client misuses its sockets: the server goes on, its memory stays, the client is closed with the right code,
// and a subscriber beside it receives every event in order.

/** A time that is longer than it takes to open all sockets. */
const INIT_TIMEOUT_MS = 3_000 + scale('SOCKETS');
const LARGEST_GROWTH_MB = 64;
const WITHIN_MS = 60_000;
const ALL = `subscription ($after: String) {
  allCardPaymentUpdates(after: $after) { cursor cardPayment { orderCode } } }`;
const METADATA = JSON.stringify('中'.repeat(2_000));
/** An event of 60 kB: more than the buffers on the way hold. */
const LARGE = `subscription { allCardPaymentUpdates { cursor cardPayment { orderCode
  ${Array.from({ length: 10 }, (_, index) => `m${index}: metadata`).join(' ')} } } }`;

let target: TargetServer;
let bystander: Stream;
let before: Memory;
/** The most by which the memory grew since the last measurement. */
let grown: Memory;

beforeAll(async () => {
  target = await startTargetServer({ testing: { initTimeoutMs: INIT_TIMEOUT_MS, closeTimeoutMs: 300_000 } });
  // Memory that is taken once, at the first socket, is not counted for the many.
  const { load } = await gather({ count: Math.min(2 * scale('SOCKETS'), 100), key: LIVE_KEY, query: LARGE });
  await target.happen(5, METADATA);
  await load.stop();
  const { updatesCursor: after } = await target.live.request('{ updatesCursor }');
  bystander = target.live.ws(ALL, { after });
  await undisturbed();
  before = await target.memory();
});
afterAll(async () => {
  await bystander.close();
  expect(await target.faults()).toEqual([]);
  await target.stop();
});

/** Asserts that every other client receives all events in order, and is answered. */
async function undisturbed(): Promise<void> {
  const created: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    const { createCardPayment } = await target.live.request(
      'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
    );
    created.push(createCardPayment.cardPayment.orderCode);
  }
  expect(await reported(created.length)).toEqual(created);
}

/** The next events of the bystander. */
async function reported(count: number): Promise<string[]> {
  const codes: string[] = [];
  while (codes.length < count)
    codes.push((await bystander.data()).allCardPaymentUpdates.cardPayment.orderCode);
  return codes;
}

/** Asserts that the memory that is left after garbage collection is bounded. */
async function bounded(attack: string): Promise<void> {
  const now = await target.memory();
  grown = { rssMb: now.rssMb - before.rssMb, heldMb: now.heldMb - before.heldMb };
  report(attack, { 'MB held': grown.heldMb, 'MB of the process': grown.rssMb });
  // V8 keeps some memory of the process for itself, so only the held memory is compared.
  expect(grown.heldMb).toBeLessThan(LARGEST_GROWTH_MB);
}

type Entry = { count: number; key?: string; query?: string; origin?: string };

/** Opens sockets and event streams in a process of their own. */
async function gather(sockets: Entry, streams?: Entry) {
  const load = startLoad();
  onTestFinishedOrNot(() => load.stop());
  const { url } = target;
  const open: number = await load.ask('open', { url, ...sockets });
  if (streams) await load.ask('stream', { url, ...streams });
  return {
    load,
    open,
    ended: (count: number): Promise<Record<string, number>> =>
      load.ask('ended', { count, withinMs: WITHIN_MS }),
  };
}

function onTestFinishedOrNot(stop: () => Promise<void>): void {
  try {
    onTestFinished(stop);
  } catch {
    // Outside a test the caller stops the process.
  }
}

/** A socket without a client library, authenticated with the live key unless `key` is null. */
async function raw(key: string | null = LIVE_KEY): Promise<RawSocket> {
  const socket = openRawSocket(target.url);
  onTestFinished(() => socket.socket.terminate());
  if (key) await socket.init(key);
  else await once(socket.socket, 'open');
  return socket;
}

async function dashboardToken(more = 'expiresInSeconds: 60'): Promise<string> {
  const { createDashboardToken } = await target.live.request(
    `mutation { createDashboardToken(input: { scopes: [CARD_PAYMENTS], ${more} }) { ... on CreateDashboardTokenSuccess { token } } }`,
  );
  return createDashboardToken.token;
}

describe('sockets', () => {
  const many = scale('SOCKETS');

  test(`${many} open sockets of one key take little memory and disturb nobody`, async () => {
    const { open } = await gather({ count: many, key: LIVE_KEY });
    expect(open).toBe(many);
    await undisturbed();
    await bounded(`${many} open sockets`);
  });

  test(`${many} sockets that send no credential take little memory and are closed with 4408`, async () => {
    const { ended } = await gather({ count: many });
    await undisturbed();
    await bounded(`${many} sockets that say nothing`);
    expect(await ended(many)).toEqual({ 4408: many });
  });

  test(`${many} sockets from a page that the token is not for are closed with 4403`, async () => {
    const key = await dashboardToken('allowedOrigins: ["https://shop.example"]');
    const { ended } = await gather({ count: many, key, origin: 'https://evil.example', query: ALL });
    expect(await ended(many)).toEqual({ 4403: many });
    await undisturbed();
    await bounded(`${many} sockets from a foreign page`);
  });
});

describe('a first message', () => {
  const megabytes = scale('INIT_MB');
  const large = JSON.stringify({
    type: 'connection_init',
    payload: { padding: 'x'.repeat(megabytes * 1_000_000) },
  });

  test(`A first message of ${megabytes} MB, in one frame or in many, closes its socket with 1009`, async () => {
    const whole = await raw(null);
    whole.send(large);
    expect((await whole.closed).code).toBe(1009);
    const pieces = await raw(null);
    for (let at = 0; at < large.length; at += 50_000)
      pieces.socket.send(large.slice(at, at + 50_000), { fin: at + 50_000 >= large.length });
    expect((await pieces.closed).code).toBe(1009);
    await undisturbed();
    await bounded(`a first message of ${megabytes} MB`);
  });

  test('An unfinished first message closes its socket with 1009 once it is larger than a credential needs', async () => {
    const held = await raw(null);
    held.socket.send('{"type":"connection_init",'.padEnd(5_000), { fin: false });
    expect((await held.closed).code).toBe(1009);
    const short = await raw(null);
    short.socket.send('{"type":"connection_init","payload":'.padEnd(3_000), { fin: false });
    short.socket.send(`{"authorization":"Bearer ${LIVE_KEY}"}}`);
    expect(await short.next()).toEqual({ type: 'connection_ack' });
  });

  test('A message in 1,100 fragments closes its socket with 1008', async () => {
    const pieces = await raw();
    for (let count = 0; count < 1_100; count += 1) pieces.socket.send('', { fin: false });
    expect((await pieces.closed).code).toBe(1008);
    await undisturbed();
  });
});

describe('one socket', () => {
  const many = scale('SUBSCRIPTIONS');

  test(`A socket that begins ${many} subscriptions gets 100 of them, and the others are refused`, async () => {
    const socket = await raw();
    const { updatesCursor: after } = await target.live.request('{ updatesCursor }');
    for (let id = 0; id < many; id += 1)
      socket.send({ id: String(id), type: 'subscribe', payload: { query: ALL, variables: { after } } });
    for (let id = 100; id < many; id += 1)
      expect(await socket.next()).toMatchObject({
        id: String(id),
        type: 'error',
        payload: [{ extensions: { code: 'LIMIT_REACHED', retryPolicy: 'AFTER_CHANGE' } }],
      });
    await undisturbed();
    await bounded(`${many} subscriptions on one socket`);
    const received: string[] = [];
    for (let count = 0; count < 500; count += 1) {
      const message = await socket.next();
      expect(message).toMatchObject({ type: 'next', payload: { data: { allCardPaymentUpdates: {} } } });
      received.push(message.id);
    }
    expect(new Set(received).size).toBe(100);
  });
});

describe('followers that read nothing', () => {
  const count = scale('PAUSED');
  const events = scale('PAUSED_EVENTS');
  /** More events than its queue and all buffers on the way hold. */
  const ENOUGH = 450;

  test(`${count} sockets and ${count} streams that read nothing of ${events} events are ended, and after gives them all again`, async () => {
    const { updatesCursor } = await target.live.request('{ updatesCursor }');
    const followers = { count, key: LIVE_KEY, query: LARGE };
    const { load, ended } = await gather(followers, followers);
    // Each subscription stands at the live end once it has received something.
    await undisturbed();
    await load.ask('pause');
    const first = reported(ENOUGH);
    let most = 0;
    const happen = async (from: number, upTo: number) => {
      for (let at = from; at < upTo; at += 50) {
        await target.happen(Math.min(50, upTo - at), METADATA);
        most = Math.max(most, (await target.memory()).heldMb - before.heldMb);
      }
    };
    await happen(0, ENOUGH);
    const codes = await first;
    await target.rest();
    // The clients resume before the time after which an unanswered ping closes their connection.
    await load.ask('resume');
    expect(await ended(2 * count)).toEqual({ 1013: count, SLOW_CONSUMER: count });
    const rest = reported(events - ENOUGH);
    await happen(ENOUGH, events);
    codes.push(...(await rest));
    expect(new Set(codes).size).toBe(events);
    report(`${2 * count} followers that read nothing`, { 'MB held at most': most });
    expect(most).toBeLessThan(LARGEST_GROWTH_MB);
    await undisturbed();
    await bounded('the same when they are gone');

    const again = target.live.sse(ALL, { after: updatesCursor });
    const since: string[] = [];
    while (since.length < events + 5)
      since.push((await again.data()).allCardPaymentUpdates.cardPayment.orderCode);
    await again.close();
    expect(since.slice(5)).toEqual(codes);
  }, 300_000);
});

const UNREAD_STREAMS = scale('UNREAD_STREAMS');
if (UNREAD_STREAMS > 0)
  describe('event streams of one key', () => {
    const count = UNREAD_STREAMS;
    /** More events than a queue and the buffers of a machine behind it hold. */
    const EVENTS = 450;

    test(`${count} event streams that read nothing share the text of each event, and are ended`, async () => {
      const { load, ended } = await gather({ count: 0 }, { count, key: LIVE_KEY, query: LARGE });
      await undisturbed();
      await load.ask('pause');
      const received = reported(EVENTS);
      let most = 0;
      for (let at = 0; at < EVENTS; at += 50) {
        await target.happen(50, METADATA);
        most = Math.max(most, (await target.memory()).heldMb - before.heldMb);
      }
      await received;
      report(`${count} event streams that read nothing`, { 'MB held at most': most });
      expect(most).toBeLessThan(LARGEST_GROWTH_MB);
      await load.ask('resume');
      expect(await ended(count)).toEqual({ SLOW_CONSUMER: count });
      await undisturbed();
      await bounded('the same when they are gone');
    }, 300_000);
  });

describe('a credential that expires', () => {
  const count = scale('EXPIRING');

  /** A browser's token may ask for 120 root fields a minute. */
  const streams = Math.min(count, 100);

  test(`An expired credential ends ${count} sockets with 4403 and ${streams} streams with UNAUTHENTICATED, and no other`, async () => {
    const key = await dashboardToken();
    const query = 'subscription { allCardPaymentUpdates { cursor } }';
    const { ended } = await gather({ count, key }, { count: streams, key, query });
    await undisturbed();
    await target.pass(60_000);
    expect(await ended(count + streams)).toEqual({ 4403: count, UNAUTHENTICATED: streams });
    await undisturbed();
    await bounded(`${count + streams} followers whose credential has expired`);
  });
});
