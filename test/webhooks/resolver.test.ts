import { createSocket } from 'node:dgram';
import type { LookupOptions } from 'node:dns';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createPublicLookup } from '../../server/src/webhooks/resolver.ts';
import { deferred } from '../support/deferred.ts';

const A = 1;
const AAAA = 28;
type Records = (name: string, type: number) => readonly (readonly number[])[] | 'no such name' | 'silence';

/** Starts a name server on this machine that answers with the bytes of addresses. */
async function startNameServer(records: Records) {
  const server = createSocket('udp4');
  const asked = deferred();
  server.on('message', (query, { port }) => {
    asked.resolve();
    const end = query.indexOf(0, 12);
    const labels: string[] = [];
    for (let at = 12; at < end; at += 1 + query[at]!)
      labels.push(query.subarray(at + 1, at + 1 + query[at]!).toString());
    const found = records(labels.join('.'), query.readUInt16BE(end + 1));
    if (found === 'silence') return;
    const addresses = found === 'no such name' ? [] : found;
    const header = Buffer.from(query.subarray(0, 12));
    // The response of a recursive server: its code, one question, and the answers alone.
    header.writeUInt16BE(found === 'no such name' ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.fill(0, 8);
    const answers = addresses.map((bytes) =>
      Buffer.from([0xc0, 12, 0, bytes.length === 4 ? A : AAAA, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
    );
    server.send(Buffer.concat([header, query.subarray(12, end + 5), ...answers]), port, '127.0.0.1');
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { server: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked: asked.promise };
}

const IPV4 = [203, 0, 114, 7];
const IPV6 = [0x26, 0, ...Array<number>(13).fill(0), 7];

async function resolve(records: Records, options: LookupOptions = { all: true }) {
  const { server } = await startNameServer(records);
  const lookup = createPublicLookup({ servers: [server] });
  return new Promise((done) =>
    lookup('padaria.example', options, (error, address, family) =>
      done(error ? error.code : family === undefined ? address : [address, family]),
    ),
  );
}

test('A name has the addresses of both families', async () => {
  const both: Records = (name, type) => (name === 'padaria.example' ? [type === A ? IPV4 : IPV6] : []);
  expect(await resolve(both)).toEqual([
    { address: '203.0.114.7', family: 4 },
    { address: '2600::7', family: 6 },
  ]);
  expect(await resolve(both, { all: true, family: 6 })).toEqual([{ address: '2600::7', family: 6 }]);
  expect(await resolve(both, {})).toEqual(['203.0.114.7', 4]);
});

test('A name without addresses of one family has those of the other one', async () => {
  expect(await resolve((_, type) => (type === A ? [] : [IPV6]))).toEqual([{ address: '2600::7', family: 6 }]);
});

test('A name that nobody has is not found', async () => {
  expect(await resolve(() => 'no such name')).toBe('ENOTFOUND');
  expect(await resolve(() => [])).toBe('ENODATA');
});

test('Names whose servers are silent keep no other name from being found', async () => {
  const silent = await startNameServer(() => 'silence');
  const lookUpSilent = createPublicLookup({ servers: [silent.server] });
  const failed = Array.from(
    { length: 20 },
    (_, index) =>
      new Promise((done) =>
        lookUpSilent(`shop-${index}.example`, { all: true }, (error) => done(error?.code)),
      ),
  );
  await silent.asked;
  let isOver = false;
  const all = Promise.all(failed).then((codes) => {
    isOver = true;
    return codes;
  });
  expect(await resolve(() => [IPV4], { all: true, family: 4 })).toEqual([
    { address: '203.0.114.7', family: 4 },
  ]);
  expect(isOver).toBe(false);
  expect(new Set(await all)).toEqual(new Set(['ETIMEOUT']));
});
