import { once } from 'node:events';
import { createServer } from 'node:net';

/** Finds a free port for a program whose address must be known before its start, or must not change. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return (address as { port: number }).port;
}
