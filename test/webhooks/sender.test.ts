import type { LookupAddress } from 'node:dns';
import { type AddressInfo, createServer, type LookupFunction, type Server, Socket } from 'node:net';
import tls from 'node:tls';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSender } from '../../server/src/webhooks/sender.ts';
import { createManualClock } from '../support/clock.ts';
import { deferred } from '../support/deferred.ts';
import { PRIVATE_HOSTS } from '../support/private-hosts.ts';
import { startReceiver } from '../support/receiver.ts';

const HEADERS = { 'x-webhook-id': 'whd_1' };
const BROKEN_OFF = 'the connection was closed before the answer was complete';
const NO_ANSWER = 'no complete answer within 5 seconds';
const NOT_PUBLIC = 'the URL does not lead to a public https address';

function sender(options: Partial<Parameters<typeof createSender>[0]> = {}) {
  const clock = createManualClock();
  const send = createSender({ clock, privateAddresses: true, ...options });
  const exchange = (url: string, body = '{"a":"é"}') => send({ url, headers: HEADERS, body });
  return {
    clock,
    exchange,
    send: async (url: string, body?: string) => {
      const { responseStatus, error } = await exchange(url, body);
      return { responseStatus, error };
    },
  };
}

/** A server that handles its raw sockets by `serve`. */
async function listen(serve: (socket: Socket) => void, host = '127.0.0.1') {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/`, connections: () => connections };
}

describe('a message', () => {
  test('A message is posted as JSON, unchanged and with its headers, to the path and query of the URL', async () => {
    const receiver = await startReceiver();
    const { send } = sender();
    expect(await send(`${receiver.url}?a=1#b`)).toEqual({ responseStatus: 200, error: null });
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]).toMatchObject({
      body: '{"a":"é"}',
      method: 'POST',
      path: '/hook?a=1',
      headers: { 'x-webhook-id': 'whd_1', 'content-type': 'application/json', 'content-length': '10' },
    });
  });

  test.each([200, 201, 202, 204, 299])('A message is delivered by an answer of %i', async (status) => {
    const receiver = await startReceiver((response) => response.writeHead(status).end());
    expect(await sender().send(receiver.url)).toEqual({ responseStatus: status, error: null });
  });

  test.each([400, 401, 404, 410, 429, 500, 503])(
    'A message is not delivered by an answer of %i',
    async (status) => {
      const receiver = await startReceiver((response) => response.writeHead(status).end('no'));
      expect(await sender().send(receiver.url)).toEqual({
        responseStatus: status,
        error: `the receiver answered ${status}`,
      });
    },
  );

  test.each([301, 302, 303, 307, 308])('A redirect (%i) is not followed', async (status) => {
    const elsewhere = await startReceiver();
    const receiver = await startReceiver((response) =>
      response.writeHead(status, { location: elsewhere.url }).end(),
    );
    expect(await sender().send(receiver.url)).toEqual({
      responseStatus: status,
      error: `the receiver answered ${status}, and a redirect is not followed`,
    });
    expect(elsewhere.received).toEqual([]);
  });

  test('A message is delivered by an answer whose beginning alone is read', async () => {
    const receiver = await startReceiver((response) => {
      response.writeHead(200);
      const pour = () => {
        while (response.write('x'.repeat(65_536)));
      };
      response.on('drain', pour);
      pour();
    });
    expect(await sender().send(receiver.url)).toEqual({ responseStatus: 200, error: null });
  });
});

describe('after five seconds, not before, an attempt is given up', () => {
  test('An attempt is given up after five seconds, not before, when nothing is answered', async () => {
    const receiver = await startReceiver(() => undefined);
    const { clock, send } = sender();
    const came = receiver.next();
    const sent = send(receiver.url);
    await came;
    clock.advance(4_999);
    expect(await Promise.race([sent, Promise.resolve('waiting')])).toBe('waiting');
    clock.advance(1);
    expect(await sent).toEqual({ responseStatus: null, error: NO_ANSWER });
  });

  test('An attempt is given up after five seconds when the answer begins and does not end', async () => {
    const begun = deferred();
    const receiver = await startReceiver((response) => {
      response.writeHead(200);
      response.write('{');
      begun.resolve();
    });
    const { clock, send } = sender();
    const sent = send(receiver.url);
    await begun.promise;
    clock.advance(5_000);
    expect(await sent).toMatchObject({ error: NO_ANSWER });
  });

  test('An attempt is given up after five seconds when the name is not resolved', async () => {
    const asked = deferred();
    const { clock, send } = sender({ lookup: () => asked.resolve() });
    const sent = send('http://slow.example/');
    await asked.promise;
    clock.advance(5_000);
    expect(await sent).toEqual({ responseStatus: null, error: NO_ANSWER });
  });
});

describe('an attempt fails, and says why,', () => {
  test('An attempt fails and reports the reason when the connection is refused', async () => {
    const receiver = await startReceiver();
    await receiver.shut();
    expect(await sender().send(receiver.url)).toEqual({
      responseStatus: null,
      error: 'the connection was refused',
    });
  });

  test('An attempt fails and reports the reason when the name of the host is unknown', async () => {
    const lookup: LookupFunction = (hostname, _options, callback) =>
      callback(Object.assign(new Error(hostname), { code: 'ENOTFOUND' }), '', 4);
    expect(await sender({ lookup }).send('http://nowhere.example/')).toEqual({
      responseStatus: null,
      error: 'the name of the host could not be resolved',
    });
  });

  test('An attempt fails and reports the reason when the connection is closed without an answer', async () => {
    const { url } = await listen((socket) => socket.once('data', () => socket.destroy()));
    expect(await sender().send(url)).toEqual({ responseStatus: null, error: BROKEN_OFF });
  });

  test('An attempt fails and reports the reason when the answer is cut off', async () => {
    const { url } = await listen((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc')),
    );
    expect(await sender().send(url)).toEqual({ responseStatus: 200, error: BROKEN_OFF });
  });

  test('An attempt fails and reports the reason when the answer is not HTTP', async () => {
    const { url } = await listen((socket) => socket.once('data', () => socket.end('SSH-2.0-hello\r\n\r\n')));
    expect(await sender().send(url)).toEqual({ responseStatus: null, error: 'the answer was not HTTP' });
  });

  test('An attempt fails and reports the reason when the receiver switches to another protocol', async () => {
    const { url } = await listen((socket) =>
      socket.once('data', () =>
        socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      ),
    );
    expect(await sender().send(url)).toMatchObject({ error: BROKEN_OFF });
  });

  test('An attempt fails and reports the reason when the headers do not end', async () => {
    const { url } = await listen((socket) => {
      socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`));
    });
    const error = 'the headers of the answer are too long';
    expect(await sender().send(url)).toEqual({ responseStatus: null, error });
  });

  test('An attempt fails and reports the reason when no secure connection can be made', async () => {
    const { url } = await listen((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 400 no\r\n\r\n')),
    );
    const { responseStatus, error } = await sender().send(url.replace('http:', 'https:'));
    expect(responseStatus).toBeNull();
    expect(error).toMatch(/^no secure connection could be made/);
  });
});

describe('in production', () => {
  test.each(PRIVATE_HOSTS)('%s is not called', async (host) => {
    const { port, connections } = await listen(() => undefined, host.startsWith('[') ? '::' : '0.0.0.0');
    const { send } = sender({ privateAddresses: false });
    for (const url of [`https://${host}:${port}/`, `http://${host}:${port}/`])
      expect(await send(url)).toEqual({ responseStatus: null, error: NOT_PUBLIC });
    expect(connections()).toBe(0);
  });

  const resolving = (...addresses: string[]): LookupFunction => {
    const answers: LookupAddress[] = addresses.map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
    return (_hostname, options, callback) =>
      options.all ? callback(null, answers) : callback(null, answers[0]!.address, answers[0]!.family);
  };

  test.each([
    ...['127.0.0.1', '0.0.0.0', '10.0.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '169.254.169.254'],
    ...['168.63.129.16', '192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::127.0.0.1', '::7f00:1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::'],
    ...['fe80::1', 'fd00:ec2::254', 'ff02::1', '2001:db8::1'],
    ...['127.255.255.254', '10.255.255.255', '172.16.0.1', '192.168.255.255', '100.127.255.255', '0.1.2.3'],
    ...['169.254.170.2', '100.100.100.200', '192.0.0.1', '192.0.0.192', '192.88.99.1', '198.19.255.255'],
    ...['198.51.100.1', '203.0.113.1', '239.255.255.255', '240.0.0.1', '255.255.255.254'],
    ...['::ffff:7f00:1', '::ffff:a9fe:a9fe', '::ffff:10.0.0.1', '0:0:0:0:0:ffff:7f00:1', '::ffff:0:7f00:1'],
    ...['64:ff9b::a9fe:a9fe', '64:ff9b::10.0.0.1', '64:ff9b:1::7f00:1', '2002:a9fe:a9fe::1', '2002:c0a8:1::'],
    ...[
      '2001::1',
      '2001:0:7f00:1::',
      '2001:2::1',
      '2001:10::1',
      '2001:20::1',
      '3fff::1',
      '100::1',
      '5f00::1',
    ],
    ...[
      'fec0::1',
      'feff::1',
      'fc00::1',
      'fd20:ce::254',
      'febf::1',
      'ff01::1',
      'ff05::1:3',
      '::2',
      '::a9fe:a9fe',
    ],
    ...['fe80::1%lo', '::ffff:0.0.0.0', '4000::1', '9000::1', '0:0:0:0:0:0:0:1'],
  ])('a public name that resolves to %s is not called', async (address) => {
    const { port, connections } = await listen(() => undefined, address.includes(':') ? '::' : '0.0.0.0');
    for (const addresses of [[address], ['203.0.114.7', address], [address, '203.0.114.7']]) {
      const { send } = sender({ privateAddresses: false, lookup: resolving(...addresses) });
      expect(await send(`https://padaria.example:${port}/`)).toEqual({
        responseStatus: null,
        error: NOT_PUBLIC,
      });
    }
    expect(connections()).toBe(0);
  });

  test('a public name that resolves to a public address is called', async () => {
    const resolved = deferred<unknown>();
    const connect = vi.spyOn(tls, 'connect').mockImplementation(((options: tls.ConnectionOptions) => {
      const socket = new Socket();
      options.lookup!('padaria.example', { all: true }, (error, addresses) => {
        resolved.resolve(error ?? addresses);
        setImmediate(() => socket.destroy());
      });
      return socket;
    }) as typeof tls.connect);
    onTestFinished(() => connect.mockRestore());
    const { send } = sender({ privateAddresses: false, lookup: resolving('203.0.114.7', '2600::7') });
    expect((await send('https://padaria.example/')).error).not.toBe(NOT_PUBLIC);
    expect(await resolved.promise).toEqual([
      { address: '203.0.114.7', family: 4 },
      { address: '2600::7', family: 6 },
    ]);
  });

  test('a name is resolved once, by the answer that is connected to', async () => {
    let asked = 0;
    const lookup: LookupFunction = (_hostname, _options, callback) => {
      asked += 1;
      // The name has a public address the first time, and this machine's from then on.
      callback(null, [{ address: asked === 1 ? '10.0.0.1' : '127.0.0.1', family: 4 }]);
    };
    const { send } = sender({ privateAddresses: false, lookup });
    expect(await send('https://padaria.example/')).toEqual({ responseStatus: null, error: NOT_PUBLIC });
    expect(asked).toBe(1);
  });

  test('nothing goes out without TLS', async () => {
    const { send } = sender({ privateAddresses: false, lookup: resolving('127.0.0.1') });
    expect(await send('http://padaria.example/')).toEqual({ responseStatus: null, error: NOT_PUBLIC });
  });
});
