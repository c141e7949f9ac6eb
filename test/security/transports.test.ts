import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readFile } from '../../server/src/api/http/file-bodies.ts';
import { send } from '../../server/src/api/http/routes.ts';
import { createHttpServer } from '../../server/src/api/http/server.ts';
import { createGraphQLSockets } from '../../server/src/api/operations/websocket.ts';
import { LIVE_KEY, startApp, type TestApp } from '../support/app.ts';
import { deferred } from '../support/deferred.ts';
import { sendRaw } from '../support/raw-http.ts';
import { openRawSocket } from '../support/raw-socket.ts';

let app: TestApp;
const sockets: Socket[] = [];
beforeAll(async () => {
  app = await startApp();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

/** Opens a connection for raw bytes. The client keeps its side open after the server's end. */
function open(port: number, lines: readonly string[]): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

/** Reads the whole answer, until the server ends it. */
async function answer(port: number, lines: readonly string[]): Promise<string> {
  const socket = open(port, lines);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const UPGRADE = ['Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket'];
describe('an upgrade', () => {
  test.each(['//', 'http://[', '*', '/checkout/x'])(
    'An upgrade to %s is refused, and the server continues',
    async (target) => {
      expect(await answer(app.port, [`GET ${target} HTTP/1.1`, ...UPGRADE])).toMatch(/^HTTP\/1\.1 404 /);
      expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
    },
  );
});

describe('an upgrade to what is no WebSocket', () => {
  const query = JSON.stringify({ query: '{ __typename }' });
  const head = (upgrade: string[], length = query.length) =>
    [
      'POST /graphql HTTP/1.1',
      'Host: localhost',
      ...upgrade,
      `Authorization: Bearer ${LIVE_KEY}`,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
      '\r\n',
    ].join('\r\n');
  const H2C = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAEAAEAAAAIAAAAB'];
  const last = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
  // From Node 25 on an ignored upgrade ends its connection: the requests after it would be lost.
  const answeredOf = (statuses: string[], upgrade = 1) =>
    Number.parseInt(process.versions.node, 10) > 24 ? statuses.slice(0, upgrade) : statuses;
  const statusesOf = (said: string) => said.match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(-3));

  test.each([
    ['of Java and of curl', H2C],
    ['of Apache', ['Upgrade: TLS/1.2', 'Connection: Upgrade']],
    ['that keeps the connection', ['Connection: keep-alive, Upgrade', 'Upgrade: h2c']],
    ['to two', ['Connection: Upgrade', 'Upgrade: websocket, h2c']],
    ['to nothing', ['Connection: Upgrade', 'Upgrade: ']],
  ])('An upgrade %s is ignored, and the connection continues', async (_, upgrade) => {
    const said = await sendRaw(app.port, head(upgrade) + query + last);
    expect(statusesOf(said)).toEqual(answeredOf(['200', '200']));
    expect(said).toContain('{"data":{"__typename":"Query"}}');
  });

  test('An upgrade to another protocol is ignored where the request’s body arrives later', async () => {
    const socket = connect(app.port, '127.0.0.1');
    sockets.push(socket);
    let said = '';
    socket.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    socket.write(head(H2C));
    await new Promise((passed) => setImmediate(passed));
    for (const part of [query.slice(0, 5), query.slice(5), head(H2C), query, last]) socket.write(part);
    await once(socket, 'close');
    expect(statusesOf(said)).toEqual(answeredOf(['200', '200', '200']));
  });

  test('A request with an ignored upgrade waits for the request before it on the same connection', async () => {
    const slow = `{ payouts(first: 1) { nodes { id } } wallet { currency } }`;
    const body = JSON.stringify({ query: slow });
    const said = await sendRaw(app.port, head([], body.length) + body + head(H2C) + query + last);
    expect(statusesOf(said)).toEqual(answeredOf(['200', '200', '200'], 2));
    expect(said.indexOf('"currency"')).toBeLessThan(said.indexOf('"__typename":"Query"'));
  });

  test('Repeated upgrades on one connection are ignored and leave nothing behind on it', async () => {
    const warnings: string[] = [];
    const warn = ({ message }: Error) => warnings.push(message);
    process.on('warning', warn);
    onTestFinished(() => void process.off('warning', warn));
    const said = await sendRaw(app.port, (head(H2C) + query).repeat(30) + last);
    expect(statusesOf(said)).toEqual(answeredOf(Array(31).fill('200')));
    expect(warnings).toEqual([]);
  });

  test('A client that leaves during an ignored upgrade ends nothing else', async () => {
    for (let time = 0; time < 20; time += 1) {
      const socket = connect(app.port, '127.0.0.1');
      socket.write(head([]) + query + head(H2C));
      socket.destroy();
      await once(socket, 'close');
    }
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
  });

  test('A server without WebSockets ignores an upgrade to a WebSocket', async () => {
    const { server, serve, listen } = createHttpServer({
      onFault: (fault) => expect.unreachable(String(fault)),
    });
    onTestFinished(() => void server.close());
    serve([{ methods: ['GET'], path: /^\/x$/, handle: ({ response }) => send(response, 200, 'x', {}) }]);
    const port = await listen(0, '127.0.0.1');
    expect(
      statusesOf(await sendRaw(port, `GET /x HTTP/1.1\r\n${UPGRADE.join('\r\n')}\r\n\r\n`, /x$/)),
    ).toEqual(['200']);
  });
});

test('The server announces a longer keep-alive timeout than proxies have', async () => {
  const { headers } = await fetch(`${app.url}/healthz`);
  expect(headers.get('keep-alive')).toBe('timeout=72');
});

/** Starts a bare server for tests of its connections: no request here reaches an operation. */
async function startBare({
  stalledMs,
  headMs,
  requestMs,
  checkMs,
  ...timeouts
}: {
  stalledMs?: number;
  headMs?: number;
  requestMs?: number;
  checkMs?: number;
  initTimeoutMs?: number;
  closeTimeoutMs?: number;
} = {}) {
  const http = createHttpServer({
    onFault: (fault) => expect.fail(String(fault)),
    deadlines: {
      ...(stalledMs && { stalledMs }),
      ...(headMs && { headMs }),
      ...(requestMs && { requestMs }),
      ...(checkMs && { checkMs }),
    },
  });
  const gone = deferred();
  const accepted = deferred<Socket>();
  http.server.once('connection', (socket: Socket) => {
    socket.once('close', () => gone.resolve());
    accepted.resolve(socket);
  });
  const graphql = createGraphQLSockets({
    server: http.server,
    graphql: {} as never,
    contexts: {
      admit: () => undefined,
      identify: () => ({}),
      watch: async () => () => undefined,
    } as never,
    addressOf: () => '',
    documents: {} as never,
    onFault: (fault) => expect.fail(String(fault)),
    initTimeoutMs: 60_000,
    ...timeouts,
  });
  const port = await http.listen(0, '127.0.0.1');
  onTestFinished(async () => {
    await Promise.all([graphql.close(), http.close()]);
  });
  return { http, port, gone: gone.promise, accepted: accepted.promise };
}

describe('a connection that the server is done with', () => {
  test.each([
    ['an upgrade to nothing', ['GET /nothing HTTP/1.1', ...UPGRADE]],
    ['an upgrade to nothing WebSocket knows', ['GET /graphql HTTP/1.1', ...UPGRADE]],
    ['what is no request', ['NONSENSE']],
  ])('The server closes a connection after %s, although the client never closes it', async (_, lines) => {
    const { port, gone } = await startBare();
    open(port, lines).resume();
    await gone;
  });

  test('The server closes a connection whose client does not answer the close frame of its WebSocket', async () => {
    const { port, gone } = await startBare({ initTimeoutMs: 10, closeTimeoutMs: 10 });
    const handshake = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
    const spoken = 'Sec-WebSocket-Protocol: graphql-transport-ws';
    open(port, ['GET /graphql HTTP/1.1', ...UPGRADE, ...handshake, spoken]).resume();
    await gone;
  });

  test('The server closes a connection whose client reads nothing of the response', async () => {
    const { http, port, gone } = await startBare({ stalledMs: 50 });
    const body = Buffer.alloc(64_000_000);
    http.serve([{ methods: ['GET'], path: /./, handle: ({ response }) => send(response, 200, body) }]);
    open(port, ['GET / HTTP/1.1', 'Host: localhost']).pause();
    await gone;
  });
});

describe('a WebSocket', () => {
  test('The server stops reading a WebSocket whose client does not read, and loses no message', async () => {
    const { port, accepted } = await startBare();
    const { socket: client, init } = openRawSocket(`http://127.0.0.1:${port}`);
    await init('anybody');
    client.pause();
    const pings = 400;
    for (let sent = 0; sent < pings; sent += 1)
      client.send(JSON.stringify({ type: 'ping', payload: { nothing: 'x'.repeat(90_000) } }));
    const ours = await accepted;
    await vi.waitFor(() => expect(ours.isPaused()).toBe(true), 60_000);
    expect(ours.writableLength).toBeLessThan(3_000_000);

    const answered = deferred();
    let pongs = 0;
    client.on('message', () => {
      pongs += 1;
      if (pongs === pings) answered.resolve();
    });
    client.resume();
    await answered.promise;
    client.terminate();
  });

  test('A WebSocket that uses an id twice is closed with 4409, however long the id is', async () => {
    const { socket, init, send: say, closed } = openRawSocket(app.url);
    await init(LIVE_KEY);
    for (let times = 0; times < 2; times += 1)
      say({
        type: 'subscribe',
        id: 'ã'.repeat(10_000),
        payload: { query: 'subscription { allCardPaymentUpdates { cursor } }' },
      });
    expect(await closed).toMatchObject({ code: 4409 });
    socket.terminate();
  });
});

describe('a request', () => {
  /** A proxy that reads the length differently would forward this as another client's request. */
  const SMUGGLED = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
  test.each<[string, string[], string]>([
    ['both', ['Content-Length: 4', 'Transfer-Encoding: chunked'], `0\r\n\r\n${SMUGGLED}`],
    ['two lengths', ['Content-Length: 2', 'Content-Length: 60'], `{}${SMUGGLED}`],
    ['a list of lengths', ['Content-Length: 2, 60'], `{}${SMUGGLED}`],
    ['a signed length', ['Content-Length: +2'], `{}${SMUGGLED}`],
    ['a length in hexadecimal', ['Content-Length: 0x2'], `{}${SMUGGLED}`],
    ['a length with a space in its name', ['Content-Length : 2'], `{}${SMUGGLED}`],
    ['a folded header', ['X: y', ' Transfer-Encoding: chunked'], `0\r\n\r\n${SMUGGLED}`],
    ['an unknown coding', ['Transfer-Encoding: xchunked'], `0\r\n\r\n${SMUGGLED}`],
    ['chunked and more', ['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${SMUGGLED}`],
    ['chunked twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], `0\r\n\r\n${SMUGGLED}`],
    ['a chunk of a negative length', ['Transfer-Encoding: chunked'], `-1\r\n\r\n${SMUGGLED}`],
    ['a chunk whose length ends in LF', ['Transfer-Encoding: chunked'], `0\n\n${SMUGGLED}`],
  ])(
    'A request whose length is given by %s is refused, and nothing behind it is read',
    async (_, headers, rest) => {
      const head = ['POST /graphql HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...headers];
      const said = await sendRaw(app.port, `${head.join('\r\n')}\r\n\r\n${rest}`);
      expect(said.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
    },
  );

  test('A slow request is answered before the malformed request behind it', async () => {
    const requests = [deferred(), deferred()];
    const begun: string[] = [];
    const { port, http } = await startBare();
    http.serve([
      {
        methods: ['GET'],
        path: /^\/\d$/,
        handle({ url, response }) {
          begun.push(url.pathname);
          void requests[begun.length - 1]!.promise.then(() => response.end());
        },
      },
    ]);
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const broken = 'NO SUCH THING\r\n\r\n';
    const said = sendRaw(port, `${get('/1')}${get('/2')}${broken}${broken}${get('/3')}`);
    await expect.poll(() => begun).toEqual(['/1']);
    requests[1]!.resolve();
    requests[0]!.resolve();
    expect((await said).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(begun).toEqual(['/1', '/2']);
  });

  test('A request that arrives too slowly behind another one is cut off without a response, and is not executed', async () => {
    const slow = deferred();
    const begun: string[] = [];
    const { port, http, accepted, gone } = await startBare({ headMs: 100, checkMs: 20 });
    http.serve([
      {
        methods: ['GET'],
        path: /^\/\w+$/,
        handle({ url, response }) {
          begun.push(url.pathname);
          void slow.promise.then(() => response.end());
        },
      },
    ]);
    const said = sendRaw(port, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /act HTTP/1.1\r\n');
    await accepted;
    await gone;
    slow.resolve();
    expect(await said).toBe('');
    expect(begun).toEqual(['/slow']);
  });

  test('A file has time for its size after the time of every request, and no more', async () => {
    const { port, http } = await startBare({ headMs: 500, requestMs: 500, checkMs: 10 });
    const form = { mediaTypes: ['application/pdf'], maxBytes: 4_000_000 };
    http.serve([
      {
        methods: ['POST'],
        path: /^\/files$/,
        async handle({ request, response }) {
          const { bytes } = await readFile(request, form, null);
          send(response, 200, `${bytes.length} bytes`, {});
        },
      },
    ]);
    const late = vi.fn();
    http.server.on('clientError', late);
    const head = (bytes: number) => [
      'POST /files HTTP/1.1',
      'Host: x',
      'Connection: close',
      'Content-Type: application/pdf',
      `Content-Length: ${bytes}`,
    ];
    const slow = open(port, head(4_000_000));
    await expect.poll(() => late.mock.calls.length).toBe(1);
    slow.write(Buffer.alloc(4_000_000));
    const said: Buffer[] = [];
    for await (const chunk of slow) said.push(chunk as Buffer);
    expect(Buffer.concat(said).toString()).toMatch(/^HTTP\/1\.1 200 [\s\S]*4000000 bytes/);
    expect(await answer(port, head(320))).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('A request with a malformed chunk is refused at once', async () => {
    const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const said = await sendRaw(app.port, `${SMUGGLED}${head}2\r\n{"\r\nxyz\r\n`);
    expect(said.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  test('An upgrade request with a body opens no socket that would read the body as a frame', async () => {
    const key = ['Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${'A'.repeat(22)}==`];
    const head = [
      'GET /graphql HTTP/1.1',
      ...UPGRADE,
      ...key,
      'Sec-WebSocket-Protocol: graphql-transport-ws',
    ];
    const said = await sendRaw(
      app.port,
      `${head.join('\r\n')}\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    );
    expect(said).not.toContain('200 OK');
  });

  test('A request with two Host headers is refused', async () => {
    for (const second of ['x', 'y']) {
      const said = await sendRaw(
        app.port,
        `GET /healthz HTTP/1.1\r\nHost: x\r\nhost: ${second}\r\nConnection: close\r\n\r\n`,
      );
      expect(said).toMatch(/^HTTP\/1\.1 400 [\s\S]*Two Host headers/);
    }
  });

  test.each(['[', 'a b', 'x:99999'])(
    'A request to the host %j is refused, and the response shows no internals',
    async (host) => {
      const said = await answer(app.port, [
        'GET /graphql?query={__typename} HTTP/1.1',
        `Host: ${host}`,
        'Connection: close',
      ]);
      expect(said).toMatch(/^HTTP\/1\.1 400 /);
      expect(said).not.toMatch(/at new URL|node_modules/);
    },
  );
});
