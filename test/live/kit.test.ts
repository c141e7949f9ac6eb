import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { startCutter } from './cutter.ts';
import { conforms, type Findings, waitFor } from './kit.ts';

test('a server that routes by the header Host is found behind the relay that cuts', async () => {
  const hosts: unknown[] = [];
  let connections = 0;
  const server = createServer((incoming, response) => {
    hosts.push(incoming.headers.host);
    incoming.on('data', (body) => response.end(body));
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.on('upgrade', (incoming, socket) => {
    hosts.push(incoming.headers.host);
    socket.destroy();
  });
  server.listen(0);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const cutter = await startCutter(`http://localhost:${port}/graphql`);
  onTestFinished(() => cutter.close());

  const body = JSON.stringify({ query: '\r\nHost: é' });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  for (let times = 0; times < 2; times += 1) {
    const sent = request(cutter.endpoint, { method: 'POST', agent }).end(body);
    const [response] = await once(sent, 'response');
    expect(Buffer.concat(await response.toArray()).toString()).toBe(body);
  }
  expect(connections).toBe(1);
  await once(new WebSocket(cutter.endpoint.replace('http', 'ws')), 'error');
  expect(hosts).toEqual(Array(3).fill(`localhost:${port}`));
});

test('a follower waits for the relay, and as long as a server asks for', async () => {
  const waited: unknown[] = [];
  const wait = waitFor(
    async () => {
      waited.push('up');
    },
    async (ms) => {
      waited.push(ms);
      return undefined as never;
    },
  );
  const { signal } = new AbortController();
  await wait(900, signal);
  await wait(40_000, signal);
  expect(waited).toEqual(['up', 'up', 40_000]);
});

test('a run without a cut, or without a renewed token, conforms to nothing', () => {
  const dose = { endpoint: '', key: '', clients: ['graphql-ws'], payments: 8, followers: 1 };
  const found: Findings = {
    client: 'graphql-ws',
    updates: 8,
    renewals: 1,
    cuts: 4,
    missed: 0,
    doubled: 0,
    misplaced: 0,
    foreign: 0,
    errors: 0,
    silentGaps: 0,
  };
  expect(conforms([found], dose)).toBe(true);
  for (const less of [{ cuts: 0 }, { renewals: 0 }, { missed: 1 }, { updates: 7 }])
    expect(conforms([{ ...found, ...less }], dose)).toBe(false);
  expect(conforms([], dose)).toBe(false);
  const byKey = { ...found, client: 'follow', renewals: 0 };
  expect(conforms([byKey], { ...dose, clients: ['follow'] })).toBe(true);
});
