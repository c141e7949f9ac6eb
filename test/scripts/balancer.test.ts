import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { startBalancer } from '../../server/scripts/balancer.mjs';
import { freePort } from '../support/program.ts';

test('sends each request to the next instance, says from where it came, and believes nobody who says so', async () => {
  const [one, two] = [await startInstance(), await startInstance()];
  const { url } = await balance(one.port, two.port);
  const answers = [];
  for (const body of ['a', 'b', 'c', 'd'])
    answers.push(await post(url, body, { 'x-forwarded-for': '203.0.113.9' }));
  expect(new Set(answers.slice(0, 2).map(({ port }) => port))).toEqual(new Set([one.port, two.port]));
  expect(answers.map(({ port }) => port).slice(2)).toEqual(answers.map(({ port }) => port).slice(0, 2));
  expect(answers.map(({ body, from }) => `${body} ${from}`)).toEqual(
    ['a', 'b', 'c', 'd'].map((body) => `${body} 127.0.0.1`),
  );
});

test('sends nothing new to one that is down, held, or not ready', async () => {
  const [up, held, notReady] = [await startInstance(), await startInstance(), await startInstance()];
  notReady.ready = false;
  const down = await freePort();
  const { url, hold, release } = await balance(up.port, held.port, down, notReady.port);
  // As if it had gone down a moment ago.
  release(down);
  hold(held.port);
  for (const body of ['a', 'b', 'c', 'd', 'e'])
    expect(await post(url, body)).toMatchObject({ port: up.port, body, status: 200 });
  release(held.port);
  const ports = [await post(url, 'f'), await post(url, 'g')].map(({ port }) => port);
  expect(new Set(ports)).toEqual(new Set([up.port, held.port]));
  hold(up.port);
  hold(held.port);
  expect(await post(url, 'h')).toMatchObject({ status: 503 });
});

test('sends what was taken and not answered to nobody else', async () => {
  let taken = 0;
  const instance = await startInstance((request) => {
    taken += 1;
    request.socket.destroy();
  });
  const { url } = await balance(instance.port);
  expect(await post(url, 'money')).toMatchObject({ status: 502 });
  expect(taken).toBe(1);
});

test('passes WebSockets on, past an instance that is down', async () => {
  const instance = await startInstance();
  const down = await freePort();
  const { url, release } = await balance(down, instance.port);
  for (const _ of [1, 2]) {
    release(down);
    const socket = new WebSocket(url.replace('http', 'ws'));
    onTestFinished(() => socket.terminate());
    const greeting = once(socket, 'message');
    await once(socket, 'open');
    socket.send('who am I?');
    const [text] = await greeting;
    expect(String(text)).toBe('who am I? 127.0.0.1');
  }
});

async function balance(...ports: number[]) {
  const balancer = await startBalancer({ port: 0, ports });
  onTestFinished(() => balancer.close());
  // It has looked before it is asked.
  await balancer.look();
  return { ...balancer, url: `http://127.0.0.1:${balancer.port}/` };
}

/** Says who it is and what it was sent. */
async function startInstance(answer?: RequestListener) {
  const instance = { port: 0, ready: true };
  const server = createServer((request, response) => {
    if (request.url === '/readyz') return response.writeHead(instance.ready ? 200 : 503).end();
    if (answer) return answer(request, response);
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const from = request.headers['x-forwarded-for'];
      response.end(JSON.stringify({ port: instance.port, body, from }));
    });
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, { headers }) =>
    socket.on('message', (text) => socket.send(`${text} ${headers['x-forwarded-for']}`)),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  instance.port = (server.address() as AddressInfo).port;
  onTestFinished(async () => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return instance;
}

async function post(url: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { method: 'POST', body, headers });
  return { status: response.status, ...JSON.parse(await response.text()) };
}
