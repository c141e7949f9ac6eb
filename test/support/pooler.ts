import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A pooler in front of PostgreSQL, like PgBouncer in transaction mode. */
export interface Pooler {
  /** The database's address, through the pooler. */
  url: string;
  close(): Promise<void>;
}

/** A connection to PostgreSQL, which has one client at a time. */
interface Session {
  socket: Socket;
  /** The bytes that PostgreSQL sent before the first statement, for each client. */
  greeting: Buffer;
  client: Socket | null;
  /** The responses that its client still waits for. */
  pending: number;
}

/** The types of messages after which PostgreSQL sends ReadyForQuery: Query and Sync. */
const ANSWERED = 'QS';
const READY = 'Z';
const OUTSIDE_TRANSACTION = 'I';

/** Starts a pooler that lends the last used session for each transaction. */
export async function startTransactionPooler(databaseUrl: string): Promise<Pooler> {
  const target = new URL(databaseUrl);
  const { hostname, port } = target;
  const free: Session[] = [];
  const lent = new Map<Socket, Session>();
  const sockets = new Set<Socket>();

  async function openSession(startup: Buffer): Promise<Session> {
    const socket = connect(Number(port), hostname);
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.write(startup);
    const session: Session = { socket, greeting: Buffer.alloc(0), client: null, pending: 1 };
    await new Promise<void>((resolve) => {
      onMessages(socket, (type, message) => {
        if (!session.client) session.greeting = Buffer.concat([session.greeting, message]);
        else session.client.write(message);
        if (type !== READY) return;
        session.pending -= 1;
        if (session.pending > 0 || message.toString('latin1', 5) !== OUTSIDE_TRANSACTION) return;
        if (session.client) lent.delete(session.client);
        session.client = null;
        free.push(session);
        resolve();
      });
    });
    return session;
  }

  const server = createServer((client) => {
    sockets.add(client);
    let startup: Buffer | undefined;
    client.on('error', () => client.destroy());
    client.once('data', async (chunk) => {
      startup = chunk;
      onMessages(client, forward);
      if (free.length === 0) await openSession(startup);
      client.write(free.at(-1)!.greeting);
    });
    // Messages are forwarded in their order, though the first may wait for a session.
    let forwarded: Promise<void> = Promise.resolve();
    function forward(type: string, message: Buffer): void {
      forwarded = forwarded.then(async () => {
        const session = lent.get(client) ?? (await lend());
        if (ANSWERED.includes(type)) session.pending += 1;
        session.socket.write(message);
      });
    }
    async function lend(): Promise<Session> {
      if (free.length === 0) await openSession(startup!);
      const session = free.pop()!;
      session.client = client;
      lent.set(client, session);
      return session;
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Calls `onMessage` for each whole message of the protocol, with its type. */
function onMessages(socket: Socket, onMessage: (type: string, message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const length = 1 + rest.readInt32BE(1);
      onMessage(String.fromCharCode(rest[0]!), rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  });
}
