import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../support/app.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { freePort } from '../../support/free-port.ts';

function ask(port: number, path: string, agent?: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, ...(agent && { agent }) }, (answer) => {
      answer.resume().once('end', () => resolve(answer));
    }).once('error', reject);
  });
}

function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (is: boolean) => () => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', answer(false)).once('error', answer(true));
  });
}

test('A stopping server reports it, serves on, then refuses new connections, and answers once more on each open one.', async () => {
  const { port, clock, drain, close } = await startServer({ config: { drainMs: 3_000 } });
  const agents = [1, 2, 3].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  onTestFinished(() => {
    for (const agent of agents) agent.destroy();
  });
  const [one, other, another] = agents as [Agent, Agent, Agent];
  for (const agent of agents) expect((await ask(port, '/readyz', agent)).statusCode).toBe(200);

  const drained = drain();
  expect((await ask(port, '/readyz')).statusCode).toBe(503);
  // A late proxy, as on a busy machine, has no connection left that was idle before the end.
  const served = await ask(port, '/healthz', one);
  expect([served.statusCode, served.headers.connection]).toEqual([200, 'close']);
  expect(await isRefused(port)).toBe(false);

  clock.advance(3_000);
  await expect.poll(() => isRefused(port)).toBe(true);
  const last = await ask(port, '/healthz', other);
  expect([last.statusCode, last.headers.connection]).toEqual([200, 'close']);
  // An idle connection is closed by the proxy after its own timeout, or by the stop that follows.
  clock.advance(2_499);
  expect((await ask(port, '/healthz', another)).statusCode).toBe(200);
  clock.advance(1);
  await drained;
  await close();
});

test('A stop without a drain time does not wait for proxies.', async () => {
  const { port, drain, close } = await startServer({ config: { drainMs: 0 } });
  await drain();
  expect((await ask(port, '/readyz')).statusCode).toBe(200);
  await close();
});

test('A server with a fixed port listens once it can answer, and not before.', async () => {
  const database = await openFreshDatabase();
  const [asked, held] = [deferred(), deferred()];
  const port = await freePort();
  const starting = startServer({
    database: {
      ...database,
      async listen(...given) {
        asked.resolve();
        await held.promise;
        return database.listen(...given);
      },
    },
    config: { port },
  });
  await asked.promise;
  expect(await isRefused(port)).toBe(true);
  held.resolve();
  const { close } = await starting;
  expect((await ask(port, '/readyz')).statusCode).toBe(200);
  await close();
});
