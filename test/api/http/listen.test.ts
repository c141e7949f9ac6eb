import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../../server/src/api/http/listen.ts';

/** Opens this many connections, and ends when all of them are open. */
const CONNECT = `
const [port, count] = process.argv.slice(1).map(Number);
let open = 0;
for (let each = 0; each < count; each += 1)
  require('node:net').connect(port, '127.0.0.1').on('connect', () => ++open === count && process.exit(0));
`;
/** Node's own limit is 511. */
const AT_ONCE = 700;

/** The limit of the operating system, which is below Node's on some machines. */
function limitOfSystem(): number {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  } catch {
    return 100;
  }
}

test('The connections of all clients wait while the server is too busy to accept one', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined));
  onTestFinished(() => void server.close());
  const port = await listen(server, 0, '127.0.0.1');
  const count = Math.min(AT_ONCE, limitOfSystem());
  // `spawnSync` blocks this process meanwhile, so it accepts no connection.
  const { status, signal } = spawnSync(process.execPath, ['-e', CONNECT, String(port), String(count)], {
    timeout: 60_000,
  });
  expect([status, signal]).toEqual([0, null]);
});
