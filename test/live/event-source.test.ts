import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { LIVE_KEY, startApp } from '../support/app.ts';

/** Prints each event with its id. An EventSource that waits for a reconnect does not keep its process alive. */
const PROGRAM = `
  setInterval(() => undefined, 60_000);
  const source = new EventSource(process.argv[1]);
  source.addEventListener('next', ({ lastEventId, data }) => console.log(JSON.stringify({ lastEventId, data })));
`;
const QUERY = 'subscription { allPaymentUpdates { cursor payment { paymentId } } }';
const CREATE = `mutation { createPayment(input: { valueCents: 1000 }) {
  ... on CreatePaymentSuccess { payment { paymentId } } } }`;

test('an EventSource comes back where it was, whatever ends its connection', async () => {
  const app = await startApp();
  const create = async () => (await app.live.request(CREATE)).createPayment.payment.paymentId as string;
  /** The ids that the client has presented. */
  const presented: unknown[] = [];
  const created: string[] = [];
  let endStream = () => undefined as unknown;
  const { updatesCursor } = await app.live.request('{ updatesCursor }');

  // An EventSource sends no credential: the page's own server in front adds it.
  const shop = createServer((incoming, outgoing) => {
    presented.push(incoming.headers['last-event-id']);
    const headers = {
      authorization: `Bearer ${LIVE_KEY}`,
      accept: 'text/event-stream',
      'last-event-id': incoming.headers['last-event-id'] ?? updatesCursor,
    };
    const path = `/graphql?query=${encodeURIComponent(QUERY)}`;
    const stream = request({ host: '127.0.0.1', port: app.port, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, { 'content-type': answer.headers['content-type'] });
      outgoing.write('retry: 1\n\n');
      answer.pipe(outgoing);
      // The stream ends regularly: Node's EventSource does not reconnect after a reset.
      endStream = () => outgoing.end();
    });
    outgoing.on('close', () => stream.destroy());
    stream.end();
  }).listen(0, '127.0.0.1');
  await once(shop, 'listening');

  const address = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/`;
  const client = spawn(process.execPath, ['--experimental-eventsource', '-e', PROGRAM, address]);
  const ended = once(client, 'close');
  const received: { lastEventId: string; data: string }[] = [];
  created.push(await create());
  for await (const line of createInterface({ input: client.stdout })) {
    received.push(JSON.parse(line));
    if (received.length === 8) break;
    // Every second payment waits for the connection, so that the others are created before it.
    if (created.length === received.length) {
      endStream();
      created.push(await create(), await create());
    }
  }
  client.kill();
  await ended;
  shop.closeAllConnections();
  shop.close();
  await app.close();

  const updates = received.map(({ data }) => JSON.parse(data).data.allPaymentUpdates);
  expect(updates.map(({ payment }) => payment.paymentId)).toEqual(created.slice(0, 8));
  expect(received.map(({ lastEventId }) => lastEventId)).toEqual(updates.map(({ cursor }) => cursor));
  expect(presented.length).toBeGreaterThan(3);
  expect(presented.slice(1).every((id) => received.some(({ lastEventId }) => lastEventId === id))).toBe(true);
  expect(app.faults).toEqual([]);
});
