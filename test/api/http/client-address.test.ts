import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClientAddress } from '../../../server/src/api/http/client-address.ts';
import { addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { openRawSocket } from '../../support/raw-socket.ts';

const TRUSTED = ['10.0.0.0/8', '2001:db8:ffff::/48'];

function addressOf(peer: string | undefined, forwarded?: string, trusted = TRUSTED): string {
  return createClientAddress(trusted)({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  } as IncomingMessage);
}

describe('the client’s address', () => {
  test('the client’s address is the peer’s where no proxy is trusted, whatever the header says', () => {
    expect(addressOf('10.0.0.1', '192.0.2.1', [])).toBe('10.0.0.1');
    expect(addressOf('::ffff:10.0.0.1', '192.0.2.1', [])).toBe('10.0.0.1');
    expect(addressOf(undefined, '192.0.2.1')).toBe('');
  });

  test('the client’s address is the peer’s where the peer is not a trusted proxy', () => {
    expect(addressOf('203.0.113.9', '192.0.2.1')).toBe('203.0.113.9');
    expect(addressOf('203.0.113.9', '10.0.0.1')).toBe('203.0.113.9');
    expect(addressOf('2001:db8:fffe::1', '192.0.2.1')).toBe('2001:db8:fffe::1');
  });

  test.each([
    ['what the proxy saw', '10.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['what the proxy saw, in IPv6', '2001:db8:ffff::1', '2001:db8::7', '2001:db8::7'],
    ['what a mapped proxy saw', '::ffff:10.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['the rightmost that is not a proxy’s', '10.0.0.1', '198.51.100.1, 192.0.2.1, 10.0.0.2', '192.0.2.1'],
    ['not what the client wrote before it', '10.0.0.1', '10.9.9.9, 198.51.100.1,192.0.2.1', '192.0.2.1'],
    ['the outermost proxy, where all are', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['the address without its port', '10.0.0.1', '192.0.2.1:4711', '192.0.2.1'],
    ['the address without its brackets', '10.0.0.1', '[2001:db8::7]:443', '2001:db8::7'],
    ['the proxy’s own without the header', '10.0.0.1', undefined, '10.0.0.1'],
    ['the proxy’s own where the last is not an address', '10.0.0.1', '192.0.2.1, unknown', '10.0.0.1'],
    ['the proxy’s own where the last is empty', '10.0.0.1', '192.0.2.1,', '10.0.0.1'],
    ['the proxy’s own where the header is empty', '10.0.0.1', '', '10.0.0.1'],
    ['never an IPv4 address in another notation', '10.0.0.1', '0x7f.1', '10.0.0.1'],
  ])('the client’s address behind a trusted proxy is %s', (_, peer, forwarded, address) => {
    expect(addressOf(peer, forwarded)).toBe(address);
  });
});

describe('a visitor’s limit', () => {
  const FIELDS = (count: number) =>
    `{ ${Array.from({ length: count }, (_, index) => `a${index}: viewer { credential }`).join(' ')} }`;
  const LEFT = '{ viewer { rateLimit { remaining } } }';
  let behind: TestApp;
  let bare: TestApp;
  beforeAll(async () => {
    behind = await startApp({ environment: { PSA_TRUSTED_PROXIES: '127.0.0.0/8' } });
    bare = await startApp();
  });
  afterAll(async () => {
    for (const app of [behind, bare]) {
      expect(app.faults).toEqual([]);
      await app.close();
    }
  });
  const mint = (app: TestApp) => addToken(app, { kind: 'payment', grant: { orderCode: 'PSC-1' } });
  const left = async (app: TestApp, token: string, forwarded: string) =>
    (await app.client(token, { 'x-forwarded-for': forwarded }).request(LEFT)).viewer.rateLimit.remaining;

  test('a visitor’s limit is counted by the address that a trusted proxy reports, over HTTP and WebSocket', async () => {
    const token = await mint(behind);
    await behind.client(token, { 'x-forwarded-for': '192.0.2.1' }).request(FIELDS(40));
    expect(await left(behind, token, '192.0.2.1')).toBe(79);
    expect(await left(behind, token, '192.0.2.2')).toBe(119);
    // The visitor wrote the first address; the proxy appended the second.
    expect(await left(behind, token, '192.0.2.77, 192.0.2.1')).toBe(78);

    const socket = openRawSocket(behind.url, { headers: { 'x-forwarded-for': '192.0.2.1' } });
    await socket.init(token);
    socket.send({ id: 'a', type: 'subscribe', payload: { query: LEFT } });
    expect((await socket.next()).payload.data.viewer.rateLimit.remaining).toBe(77);
    socket.socket.close();
  });

  test('a visitor’s limit cannot be multiplied by a header where no proxy is trusted', async () => {
    const token = await mint(bare);
    for (let index = 0; index < 3; index += 1)
      expect(await left(bare, token, `192.0.2.${index}`)).toBe(119 - index);
    const socket = openRawSocket(bare.url, { headers: { 'x-forwarded-for': '192.0.2.9' } });
    await socket.init(token);
    socket.send({ id: 'a', type: 'subscribe', payload: { query: LEFT } });
    expect((await socket.next()).payload.data.viewer.rateLimit.remaining).toBe(116);
    socket.socket.close();
  });
});
