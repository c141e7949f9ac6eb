import { createServer, type Server, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import { addAccount } from '../support/accounts.ts';
import { advanceClock } from '../support/advance-clock.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { approved } from '../support/cards.ts';
import { startReceiver } from '../support/receiver.ts';
import { scale } from '../support/scale.ts';

// Merchants' servers that misbehave, each in its own way, all at once: no other merchant waits for them, and in
// the end each has received every event. The outcomes of one exchange are tested in test/webhooks/sender.test.ts,
// the series of attempts in test/webhooks/contract.test.ts.

const MINUTE = 60_000;
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';

/** A receiver's behaviour until it is repaired. Some hold a request until the sender gives it up. */
type Misbehaviour = (socket: Socket) => void;
const hang: Misbehaviour = () => undefined;
const pour =
  (head: string): Misbehaviour =>
  (socket) => {
    socket.write(head);
    const more = () => {
      while (!socket.destroyed && socket.write('x'.repeat(65_536)));
    };
    socket.on('drain', more);
    more();
  };
const HOLDING: Record<string, Misbehaviour> = {
  'answers after 4.9 s': hang,
  'answers after 5.1 s': hang,
  'never answers': hang,
  'answers one byte, and then none': (socket) => socket.write('H'),
  'begins an answer and never ends it': (socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n1'),
  'waits for more before it answers': (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
};
const LETTING_GO: Record<string, Misbehaviour> = {
  'redirects for good': (socket) => socket.end(`HTTP/1.1 301 Moved\r\nlocation: ${elsewhere}\r\n\r\n`),
  'redirects for now': (socket) => socket.end(`HTTP/1.1 307 Temporary\r\nlocation: ${elsewhere}\r\n\r\n`),
  'is gone': (socket) => socket.end('HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'),
  fails: (socket) => socket.end('HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n'),
  'closes without a word': (socket) => socket.destroy(),
  'breaks off its answer': (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'),
  'speaks no HTTP': (socket) => socket.end('SSH-2.0-hello\r\n'),
  'sends headers without end': pour('HTTP/1.1 200 OK\r\nx: '),
  'fails with a body without end': pour('HTTP/1.1 500 No\r\ncontent-type: text/plain\r\n\r\n'),
};
let elsewhere = '';

interface Misbehaving {
  readonly name: string;
  readonly url: string;
  /** Ids of the webhooks that were sent to it, in order, attempt by attempt. */
  readonly came: string[];
  /** The ids of the webhooks that it has accepted. */
  readonly taken: Set<string>;
  readonly bodies: Map<string, Set<string>>;
  /** The most bytes that it could send back over one connection. */
  most: number;
  readonly open: Set<Socket>;
  repaired: boolean;
}

/** Starts a receiver, which stops with the test. */
async function listen(name: string, misbehave: Misbehaviour): Promise<Misbehaving> {
  const server: Server = createServer((socket) => {
    receiver.open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      receiver.open.delete(socket);
      receiver.most = Math.max(receiver.most, socket.bytesWritten);
    });
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const [head = '', body] = text.split('\r\n\r\n');
      if (body === undefined || body.length < Number(/content-length: (\d+)/i.exec(head)?.[1])) return;
      text = '';
      const id = /x-webhook-id: (\S+)/i.exec(head)![1]!;
      receiver.came.push(id);
      receiver.bodies.set(id, (receiver.bodies.get(id) ?? new Set()).add(body));
      if (!receiver.repaired) return misbehave(socket);
      receiver.taken.add(id);
      socket.end(OK);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const receiver: Misbehaving = {
    name,
    url: `http://127.0.0.1:${port}/`,
    came: [],
    taken: new Set(),
    bodies: new Map(),
    most: 0,
    open: new Set<Socket>(),
    repaired: false,
  };
  onTestFinished(() => {
    for (const socket of receiver.open) socket.destroy();
    server.close();
  });
  return receiver;
}

/** A merchant with a URL and money; each of its payouts is two events, the second two seconds later. */
async function merchant(
  app: TestApp,
  url: string,
): Promise<{ tenant: Tenant; pay(times: number): Promise<void> }> {
  const { webhooks, payouts } = app.servicesFor({
    priority: 'merchant',
    subject: null,
    onRead: () => undefined,
  });
  const tenant: Tenant = { accountId: await addAccount(app), environment: 'live' };
  await app.controls.credit(tenant, 1_000_000);
  await webhooks.configure(tenant, { url });
  return {
    tenant,
    async pay(times) {
      for (let index = 0; index < times; index += 1)
        await payouts.request(tenant, {
          method: 'pix',
          amountCents: 5_000,
          destination: 'maria@example.com',
        });
    },
  };
}

const deliveriesOf = (app: TestApp, { accountId }: Tenant) =>
  app.database.sql
    .selectFrom('webhook_delivery')
    .select(['webhook_id', 'status', 'attempts'])
    .where('account_id', '=', accountId)
    .execute();

const WAIT = { timeout: 60_000, interval: 10 };

test('receivers that misbehave in every way at once keep nobody else waiting, and lose nothing themselves', async () => {
  const app = await startApp();
  const redirected = await startReceiver();
  elsewhere = redirected.url;
  const receivers = await Promise.all(
    Object.entries({ ...HOLDING, ...LETTING_GO }).map(([name, misbehave]) => listen(name, misbehave)),
  );
  const merchants = await Promise.all(receivers.map(({ url }) => merchant(app, url)));
  const well = await startReceiver();
  const good = await merchant(app, well.url);
  const PAYOUTS = 4;

  for (const { pay } of merchants) await pay(PAYOUTS);
  await vi.waitFor(() => {
    for (const { name, came } of receivers) expect(new Set(came).size, name).toBe(PAYOUTS);
  }, WAIT);
  // All attempts that hang are waited for while the clock stands still, and the healthy receiver has every event.
  await good.pay(PAYOUTS);
  await vi.waitFor(() => expect(well.received).toHaveLength(PAYOUTS), WAIT);

  const named = (name: string) => receivers.find((receiver) => receiver.name === name)!;
  const [soon, late] = [named('answers after 4.9 s'), named('answers after 5.1 s')];
  const begun = new Set(late.open);
  app.clock.advance(4_900);
  soon.repaired = true;
  for (const socket of soon.open) socket.end(OK);
  const soonOnes = merchants[receivers.indexOf(soon)]!;
  await vi.waitFor(async () => {
    const first = (await deliveriesOf(app, soonOnes.tenant)).filter(({ webhook_id }) =>
      soon.came.slice(0, PAYOUTS).includes(webhook_id),
    );
    expect(first.map(({ status, attempts }) => [status, attempts])).toEqual(
      first.map(() => ['delivered', 1]),
    );
  }, WAIT);
  for (const id of soon.came.slice(0, PAYOUTS)) soon.taken.add(id);
  app.clock.advance(100);
  await vi.waitFor(() => expect([...begun].filter((socket) => !socket.destroyed)).toEqual([]), WAIT);
  app.clock.advance(100);
  for (const socket of begun) expect(socket.writable).toBe(false);

  // The receivers are repaired: failed events are sent again until they have arrived.
  for (const receiver of receivers) receiver.repaired = true;
  await vi.waitFor(() => {
    for (const { name, open } of receivers) expect(open.size, name).toBe(0);
  }, WAIT);
  await advanceClock(app, 5 * MINUTE);
  for (const [index, { tenant }] of [...merchants.entries()]) {
    const receiver = receivers[index]!;
    const deliveries = await deliveriesOf(app, tenant);
    expect(deliveries, receiver.name).toHaveLength(2 * PAYOUTS);
    expect(
      deliveries.map(({ status }) => status),
      receiver.name,
    ).toEqual(deliveries.map(() => 'delivered'));
    expect([...receiver.taken].sort(), receiver.name).toEqual(
      deliveries.map(({ webhook_id }) => webhook_id).sort(),
    );
    for (const bodies of receiver.bodies.values()) expect(bodies.size).toBe(1);
    // The sender reads no more than the connection's own buffers hold.
    expect(receiver.most, receiver.name).toBeLessThan(8_000_000);
  }
  expect(well.received).toHaveLength(2 * PAYOUTS);
  expect(redirected.received).toEqual([]);
  expect(app.faults).toEqual([]);
  await app.close();
});

test('Sixty callbackUrls that hang, at one host or at sixty, delay no other webhook of their account', async () => {
  const app = await startApp();
  const one = await listen('one', hang);
  const sixty = await Promise.all(Array.from({ length: 60 }, (_, index) => listen(`${index}`, hang)));
  for (const hosts of [[one], sixty]) {
    const well = await startReceiver();
    const { tenant, pay } = await merchant(app, well.url);
    for (let index = 0; index < 60; index += 1) {
      const callbackUrl = `${hosts[index % hosts.length]!.url}orders/${index}`;
      const { payment } = await app.cardPayments.create(tenant, { valueCents: 4_990, callbackUrl });
      await app.cardPayments.pay(payment.orderCode, approved());
    }
    await vi.waitFor(() => expect(hosts.every(({ came }) => came.length > 0)).toBe(true), WAIT);
    // The clock stands still: no attempt is given up.
    await pay(4);
    await vi.waitFor(() => expect(well.received).toHaveLength(4), WAIT);
  }
  // What begins as these attempts end is answered: the server waits for it before it stops.
  for (const receiver of [one, ...sixty]) {
    receiver.repaired = true;
    for (const socket of receiver.open) socket.destroy();
  }
  await app.close();
});

/** The number of attempts that an instance makes at once. */
const PLACES = 200;
const HANGING = scale('HANGING_RECEIVERS');
test(`${HANGING} merchants whose receivers all hang delay the others by seconds, and everybody has everything in the end`, async () => {
  const app = await startApp();
  const receivers = await Promise.all(
    Array.from({ length: HANGING }, (_, index) => listen(`${index}`, hang)),
  );
  const merchants: Awaited<ReturnType<typeof merchant>>[] = [];
  for (const { url } of receivers) merchants.push(await merchant(app, url));
  const well = await startReceiver();
  const good = await merchant(app, well.url);
  const before = process.memoryUsage().rss;
  for (const { pay } of merchants) await pay(8);
  await good.pay(1);
  // Hanging attempts hold all places. Five seconds pass, as often as it takes until each receiver had a turn.
  const attempts = () => receivers.reduce((sum, { came }) => sum + came.length, 0);
  for (let round = 1; ; round += 1) {
    await vi.waitFor(() => expect(well.received.length > 0 || attempts() >= round * PLACES).toBe(true), WAIT);
    if (well.received.length > 0) break;
    expect(round).toBeLessThanOrEqual(Math.floor((HANGING * 8) / PLACES));
    app.clock.advance(5_000);
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(256_000_000);

  for (const receiver of receivers) receiver.repaired = true;
  for (const { open } of receivers) for (const socket of open) socket.destroy();
  await advanceClock(app, 5 * MINUTE);
  const { rows } = await app.database.sql
    .selectFrom('webhook_delivery')
    .select(({ fn }) => ['status', fn.countAll<number>().as('count')])
    .groupBy('status')
    .execute()
    .then((counted) => ({ rows: counted.map(({ status, count }) => [status, Number(count)]) }));
  expect(rows).toEqual([['delivered', (HANGING * 8 + 1) * 2]]);
  for (const { taken } of receivers) expect(taken.size).toBe(16);
  expect(app.faults).toEqual([]);
  await app.close();
}, 480_000);
