import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The fate of a chunk: it goes on its way, or the connection is cut, or silent, before or after it has. */
export type Verdict = 'pass' | 'cut-before' | 'cut-after' | 'silence-before' | 'silence-after';

export interface FaultyNetwork {
  /** The database's address, through the network. */
  url: string;
  /** Looks at what a client says. */
  onRequest: (chunk: Buffer) => Verdict;
  /** Whether new connections are turned away. */
  refuses: boolean;
  /** Whether connections that are opened from now on stand, and nothing that is said on them arrives. */
  swallows: boolean;
  /** The same of all that are open now, for good: as where a firewall has forgotten them. */
  silence(): void;
  cut(): void;
  close(): Promise<void>;
}

/** A network between a client and PostgreSQL that fails when a test wants it to. */
export async function startFaultyNetwork(databaseUrl: string): Promise<FaultyNetwork> {
  const target = new URL(databaseUrl);
  const { hostname, port } = target;
  const sockets = new Set<Socket>();
  const silenced = new WeakSet<Socket>();
  const server = createServer((client) => {
    if (network.refuses) return client.destroy();
    const upstream = connect(Number(port), hostname);
    let isCut = false;
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    /** Neither side hears of the other's end where nothing arrives. */
    const onEnd = () => {
      if (!silenced.has(client)) cut();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', onEnd);
      socket.on('close', onEnd);
    }
    if (network.swallows) silenced.add(client);
    client.on('data', (chunk) => {
      if (silenced.has(client)) return;
      const verdict = network.onRequest(chunk);
      if (verdict === 'cut-before') return cut();
      if (verdict.startsWith('silence')) silenced.add(client);
      if (verdict === 'silence-before') return;
      isCut = verdict === 'cut-after';
      upstream.write(chunk);
    });
    // By its answer the server has done what it was asked; the client does not get to see that.
    upstream.on('data', (chunk) => {
      if (silenced.has(client)) return;
      if (isCut) cut();
      else client.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  target.port = String((server.address() as AddressInfo).port);

  const network: FaultyNetwork = {
    url: target.href,
    onRequest: () => 'pass',
    refuses: false,
    swallows: false,
    silence() {
      for (const socket of sockets) silenced.add(socket);
    },
    cut() {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    async close() {
      network.cut();
      server.close();
      await once(server, 'close');
    },
  };
  return network;
}
