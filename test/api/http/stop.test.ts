import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { RequestContext } from '../../../server/src/api/http/routes.ts';
import { createHttpServer } from '../../../server/src/api/http/server.ts';
import { deferred } from '../../support/deferred.ts';

/** Requests an answer of this kind, and stops the server once the answer has begun. Returns the received bytes. */
async function stoppedWhile(
  begin: (exchange: RequestContext) => void,
  goOn: (exchange: RequestContext) => void,
) {
  const faults: unknown[] = [];
  const server = createHttpServer({ onFault: (fault) => void faults.push(fault) });
  const exchange = deferred<RequestContext>();
  server.serve([
    {
      methods: ['GET'],
      path: /^\/$/,
      handle(its) {
        begin(its);
        exchange.resolve(its);
      },
    },
  ]);
  const port = await server.listen(0, '127.0.0.1');
  onTestFinished(() => server.close());
  const headers = { accept: 'application/json, text/event-stream' };
  const text = new Promise<string>((resolve, reject) => {
    get({ port, host: '127.0.0.1', headers }, (response) => {
      let all = '';
      response.setEncoding('utf8').on('data', (part) => {
        all += part;
      });
      response.on('end', () => resolve(all)).on('error', reject);
    }).on('error', reject);
  });
  const own = await exchange.promise;
  const stopped = server.close();
  goOn(own);
  const arrived = await text;
  await stopped;
  expect(faults).toEqual([]);
  return arrived;
}

it('the end of one response does not break off another in flight', async () => {
  const LARGE = 8_000_000;
  const server = createHttpServer({ onFault: (fault) => expect.fail(String(fault)) });
  const answers = new Map<string, RequestContext>();
  const both = deferred();
  server.serve([
    {
      methods: ['GET'],
      path: /^\/\w+$/,
      handle(exchange) {
        answers.set(exchange.url.pathname, exchange);
        exchange.response.writeHead(200);
        exchange.response.write('x');
        if (answers.size === 2) both.resolve();
      },
    },
  ]);
  const port = await server.listen(0, '127.0.0.1');
  onTestFinished(() => server.close());
  const begin = (path: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      get({ port, host: '127.0.0.1', path }, resolve).on('error', reject);
    });
  const [large, small] = await Promise.all([begin('/large'), begin('/small')]);
  await both.promise;
  const stopped = server.close();
  answers.get('/large')!.response.end('x'.repeat(LARGE - 1));
  answers.get('/small')!.response.end();
  await small.resume().toArray();
  await once(answers.get('/small')!.request.socket, 'close');
  let length = 0;
  for await (const part of large) length += (part as Buffer).length;
  expect(length).toBe(LARGE);
  await stopped;
});

it('a stopping server ends event streams, so that their clients reconnect', async () => {
  const arrived = await stoppedWhile(
    ({ response }) => {
      response.setHeader('content-type', 'text/event-stream');
      response.write(':\n\n');
    },
    () => undefined,
  );
  expect(arrived).toBe(':\n\n');
});

it('a stopping server lets other responses end, also to a client that would have taken a stream', async () => {
  const arrived = await stoppedWhile(
    ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 8 });
      response.write('{"a":');
    },
    ({ response }) => void response.end(' 1}'),
  );
  expect(arrived).toBe('{"a": 1}');
});

it('a connection that has sent nothing does not hold up the stop', async () => {
  const server = createHttpServer({ onFault: (fault) => expect.fail(String(fault)) });
  server.serve([]);
  const port = await server.listen(0, '127.0.0.1');
  const taken = once(server.server, 'connection');
  const socket = connect(port, '127.0.0.1');
  await taken;
  // Timers do not run, so no deadline passes.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = once(socket, 'close');
  socket.resume();
  await server.close();
  await closed;
});
