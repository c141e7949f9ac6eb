import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Route } from '../../../server/src/api/http/routes.ts';
import { createHttpServer } from '../../../server/src/api/http/server.ts';
import { deferred } from '../../support/deferred.ts';
import { sendRaw } from '../../support/raw-http.ts';

/** A server with one route, `/N`; the test decides the responses. */
async function start(answer: (name: string) => Promise<string>) {
  const http = createHttpServer({ onFault: (error) => expect.fail(String(error)) });
  const begun: string[] = [];
  const route: Route = {
    methods: ['GET'],
    path: /^\/(?<name>\w+)$/,
    async handle({ response, params }) {
      begun.push(params.name!);
      response.end(await answer(params.name!));
    },
  };
  http.serve([route]);
  const port = await http.listen(0, '127.0.0.1');
  onTestFinished(() => http.close());
  return { port, begun, http };
}

const get = (name: string) => `GET /${name} HTTP/1.1\r\nhost: x\r\n\r\n`;

test('Requests that are sent before a response was read are answered in order, and handled one at a time', async () => {
  const first = deferred<string>();
  const { port, begun } = await start((name) =>
    name === 'a' ? first.promise : Promise.resolve(`<${name}>`),
  );
  const answered = sendRaw(port, get('a') + get('b') + get('c'), /<c>$/);
  // A request on another connection is answered meanwhile, so the three have been received.
  expect(await sendRaw(port, get('d'), /<d>$/)).toContain('<d>');
  await expect.poll(() => begun).toContain('a');
  expect(begun).not.toContain('b');
  first.resolve('<a>');
  expect([...(await answered).matchAll(/<(\w)>/g)].map(([, name]) => name)).toEqual(['a', 'b', 'c']);
  expect(begun.filter((name) => name !== 'd')).toEqual(['a', 'b', 'c']);
});

test('A connection with more requests in line than a client sends is closed', async () => {
  const { port, begun } = await start((name) =>
    name === 'a' ? deferred<string>().promise : Promise.resolve(name),
  );
  expect(await sendRaw(port, get('a') + get('b').repeat(2_000))).toBe('');
  expect(begun).toEqual(['a']);
});

test('Of a client that has gone, nothing more is handled', async () => {
  const first = deferred<string>();
  const { port, begun } = await start((name) =>
    name === 'a' ? first.promise : Promise.resolve(`<${name}>`),
  );
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(get('a') + get('b'));
  await expect.poll(() => begun).toEqual(['a']);
  socket.resetAndDestroy();
  first.resolve('<a>');
  for (let request = 0; request < 3; request += 1) await sendRaw(port, get('d'), /<d>$/);
  expect(begun).not.toContain('b');
});
