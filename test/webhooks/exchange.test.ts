import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { keptBody, keptHeaders, withoutQueryValues } from '../../server/src/webhooks/exchange.ts';
import { createSender } from '../../server/src/webhooks/sender.ts';
import { createManualClock } from '../support/clock.ts';
import { deferred } from '../support/deferred.ts';
import { startReceiver } from '../support/receiver.ts';

const HEADERS = { 'x-webhook-id': 'whd_1', 'webhook-signature': 'v1,c2lnbmVk' };

function sender(options: Partial<Parameters<typeof createSender>[0]> = {}) {
  const clock = createManualClock();
  const send = createSender({ clock, privateAddresses: true, ...options });
  return { clock, send: (url: string) => send({ url, headers: HEADERS, body: '{}' }) };
}

/** Starts a server that answers each request by raw bytes. */
async function answering(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

describe('What an attempt keeps', () => {
  test('Both sides are kept, and no secret of either', async () => {
    const receiver = await startReceiver((response) =>
      response
        .writeHead(401, {
          'content-type': 'text/plain; charset=utf-8',
          'set-cookie': 'sid=planted',
          'x-api-key': 'planted',
          location: 'https://shop.example/login?session=planted#top',
        })
        .end('bad signature: whsec_planted0, Bearer planted1, ps_live_planted2, olá'),
    );
    const { exchange } = await sender().send(receiver.url);
    expect(Object.fromEntries(exchange!.requestHeaders)).toMatchObject({
      'x-webhook-id': 'whd_1',
      'webhook-signature': '***',
      'content-type': 'application/json',
      host: new URL(receiver.url).host,
    });
    expect(Object.fromEntries(exchange!.responseHeaders!)).toMatchObject({
      'set-cookie': '***',
      'x-api-key': '***',
      location: 'https://shop.example/login?session=***#top',
    });
    expect(exchange!.responseBody).toBe('bad signature: whsec_***, Bearer ***, ps_live_***, olá');
    expect(JSON.stringify(exchange)).not.toContain('planted');
  });

  const text = Buffer.from('{"erro":"não"}');
  test.each<[string, Buffer, string | undefined, string | undefined, string | null]>([
    ['JSON', text, 'application/json', undefined, '{"erro":"não"}'],
    ['JSON of a problem', text, 'application/problem+json; charset=utf-8', undefined, '{"erro":"não"}'],
    ['XML', text, 'application/xml', undefined, '{"erro":"não"}'],
    ['HTML', text, 'text/html', 'identity', '{"erro":"não"}'],
    ['no type', text, undefined, undefined, '{"erro":"não"}'],
    ['a picture', text, 'image/png', undefined, null],
    ['bytes', text, 'application/octet-stream', undefined, null],
    ['compressed text', gzipSync(Buffer.alloc(1_000_000)), 'text/html', 'gzip', null],
    ['invalid UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'text/plain', undefined, 'a\ufffdb'],
    ['U+0000', Buffer.from('a\u0000b'), 'text/plain', undefined, 'a\ufffdb'],
    ['nothing', Buffer.alloc(0), 'text/plain', undefined, null],
    [
      'a secret that is cut',
      Buffer.from(`${'x'.repeat(4_086)}whsec_planted`),
      'text/plain',
      undefined,
      `${'x'.repeat(4_086)}whsec_***`,
    ],
  ])('An answer of %s is kept as text, or not at all', (_, body, type, encoding, expected) => {
    expect(keptBody(body, { type, encoding }).responseBody).toBe(expected);
  });

  test('A character that the limit cuts in two is left out', () => {
    const body = Buffer.from(`${'x'.repeat(4_095)}éz`);
    expect(keptBody(body, {})).toEqual({ responseBody: 'x'.repeat(4_095), isBodyCut: true });
    expect(keptBody(Buffer.alloc(4_096, 'x'), {}).isBodyCut).toBe(false);
  });

  test('Headers are kept up to a limit, in their order', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => [`x-${index}`, 'y'.repeat(30)]).flat();
    const kept = keptHeaders(many);
    expect(kept.flat().join('').length).toBe(4_096);
    expect(kept[0]).toEqual(['x-0', 'y'.repeat(30)]);
    expect(keptHeaders(['Proxy-Authorization', 'a', 'X-CSRF-Token', 'b', 'Server', 'nginx'])).toEqual([
      ['proxy-authorization', '***'],
      ['x-csrf-token', '***'],
      ['server', 'nginx'],
    ]);
    expect(withoutQueryValues('https://a.example/h?loja=1&chave=b=c&x=#d')).toBe(
      'https://a.example/h?loja=***&chave=***&x=***#d',
    );
    expect(withoutQueryValues('https://a.example/h?segredo')).toBe('https://a.example/h?***');
    expect(withoutQueryValues('https://a.example/?')).toBe('https://a.example/?');
  });

  test.each<[string, (socket: Socket) => void, string | null]>([
    [
      'pours without end',
      (socket) => pour(socket, 'HTTP/1.1 500 No\r\ncontent-type: text/plain\r\n\r\n'),
      'the receiver answered 500',
    ],
    [
      'pours compressed bytes',
      (socket) =>
        pour(socket, 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip\r\n\r\n'),
      null,
    ],
    [
      'sends 10,000 headers',
      (socket) => pour(socket, `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(10_000)}\r\n`),
      'the headers of the answer are too long',
    ],
  ])('A receiver that %s is kept in bounds', async (_, answer, error) => {
    const sent = await sender().send(await answering(answer));
    expect(sent.error).toBe(error);
    expect(JSON.stringify(sent.exchange).length).toBeLessThan(10_000);
  });

  test('What came before the time limit is kept', async () => {
    const begun = deferred();
    const url = await answering((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nalmost', () => begun.resolve());
    });
    const { clock, send } = sender();
    const sent = send(url);
    await begun.promise;
    await turns();
    clock.advance(5_000);
    expect(await sent).toMatchObject({ responseStatus: 200, exchange: { responseBody: 'almost' } });
  });
});

/** Lets this process read what has been written to its own sockets. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function pour(socket: Socket, head: string): void {
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write('x'.repeat(65_536)));
  };
  socket.on('drain', more);
  more();
}

test('A server that hangs and one whose body comes too late differ by the headers of the answer', async () => {
  const shows = 'no complete answer within 5 seconds';
  for (const [head, answered] of [
    ['', null],
    ['HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n', [['content-length', '9']]],
  ] as const) {
    const arrived = deferred();
    const url = await answering((socket) => socket.write(head, () => arrived.resolve()));
    const { clock, send } = sender();
    const sent = send(url);
    await arrived.promise;
    await turns();
    clock.advance(5_000);
    const { error, exchange } = await sent;
    expect([error, exchange?.responseHeaders]).toEqual([shows, answered]);
  }
});
