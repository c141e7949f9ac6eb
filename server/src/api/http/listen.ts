import { type AddressInfo, connect, createServer, type Server } from 'node:net';

/**
 * The connections that may wait to be accepted; Linux takes `net.core.somaxconn` of them at most. After a restart all clients come
 * back at once: with Node's default of 511, the others would repeat their first packet after 1, 2, 4, … seconds.
 */
const BACKLOG = 4_096;

/** Starts listening. Resolves with the port. */
export function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/**
 * Rejects as `listen` would, without listening, as far as that can be checked: clients are refused until the server
 * is ready. @throws if the host is not this machine, or another program listens on the port
 */
export async function assertAvailable(port: number, host: string): Promise<void> {
  const otherPort = createServer();
  await listen(otherPort, 0, host);
  await new Promise((resolve) => otherPort.close(resolve));
  const isTaken = await new Promise<boolean>((resolve) => {
    const probe = connect(port, host);
    const settle = (connected: boolean) => () => {
      probe.destroy();
      resolve(connected);
    };
    probe.once('connect', settle(true)).once('error', settle(false)).setTimeout(PROBE_MS, settle(false));
  });
  if (!isTaken) return;
  const inUse = new Error(`listen EADDRINUSE: address already in use ${host}:${port}`);
  throw Object.assign(inUse, { code: 'EADDRINUSE', syscall: 'listen', address: host, port });
}

const PROBE_MS = 1_000;
