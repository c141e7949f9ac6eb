import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The fault of a chunk: none, or the connection is cut or silenced, before or after the chunk is forwarded. */
export type Verdict = 'pass' | 'cut-before' | 'cut-after' | 'silence-before' | 'silence-after';

export interface FaultyNetwork {
  /** The database's address, through the network. */
  url: string;
  /** Decides the fault of each chunk of a client. */
  onRequest: (chunk: Buffer) => Verdict;
  /** Whether new connections are refused. */
  refuses: boolean;
  /** Whether new connections are accepted, and none of their bytes are forwarded. */
  swallows: boolean;
  /** Silences all open connections for good, like a firewall that has forgotten them. */
  silence(): void;
  cut(): void;
  close(): Promise<void>;
}

/** Starts a network between a client and PostgreSQL that fails when a test requires it. */
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
    /** Closes both sides, unless the connection is silenced: then neither side sees the other one's end. */
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
    // The server's answer shows that it has carried the request out; the client does not receive it.
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
