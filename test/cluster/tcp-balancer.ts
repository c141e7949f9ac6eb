import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

/**
 * Connects each client to the next port that accepts a connection. Tests use it in place of a proxy, which a machine may not
 * have. It knows no HTTP: a request whose connection ends is lost.
 */
export async function startTcpBalancer({ port, ports }: { port: number; ports: number[] }) {
  const clients = new Set<Socket>();
  let turn = 0;

  function forward(client: Socket, attempts: number): void {
    if (attempts === 0) return void client.destroy();
    const upstream = connect({ port: ports[turn++ % ports.length]!, host: '127.0.0.1', noDelay: true });
    const tryNext = () => forward(client, attempts - 1);
    upstream.once('error', tryNext).once('connect', () => {
      upstream.off('error', tryNext);
      pipeline(client, upstream, client, () => clients.delete(client));
    });
  }

  const server = createServer({ noDelay: true }, (client) => {
    clients.add(client);
    forward(client, ports.length);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    noticeMs: 0,
    async close() {
      const closed = once(server.close(), 'close');
      for (const client of clients) client.destroy();
      await closed;
    },
  };
}
