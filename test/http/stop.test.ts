import { get } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import type { Exchange } from '../../server/src/http/routes.ts';
import { createHttpServer } from '../../server/src/http/server.ts';
import { deferred } from '../support/deferred.ts';

/** Asks for either kind of answer, and stops the server once the answer has begun. Returns what arrived. */
async function stoppedWhile(begin: (exchange: Exchange) => void, goOn: (exchange: Exchange) => void) {
  const faults: unknown[] = [];
  const server = createHttpServer({ onFault: (fault) => void faults.push(fault) });
  const exchange = deferred<Exchange>();
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

it('ends event streams when it stops, so that their clients come back', async () => {
  const arrived = await stoppedWhile(
    ({ response }) => {
      response.setHeader('content-type', 'text/event-stream');
      response.write(':\n\n');
    },
    () => undefined,
  );
  expect(arrived).toBe(':\n\n');
});

it('lets any other answer be written to its end, though its client would have taken a stream', async () => {
  const arrived = await stoppedWhile(
    ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 8 });
      response.write('{"a":');
    },
    ({ response }) => void response.end(' 1}'),
  );
  expect(arrived).toBe('{"a": 1}');
});
