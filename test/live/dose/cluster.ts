import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { startCluster } from '../../../server/scripts/cluster.mjs';
import type { Memory } from './oracle.ts';

/** The deadline for the answer of a busy instance. */
const PROBE_MS = 60_000;

/** Starts instances of the built server on one database, whose memory can be read. */
export async function startInstances({ count, databaseUrl }: { count: number; databaseUrl: string }) {
  let ports: readonly number[] = [];
  /** The error output of the instances. */
  const errors: string[] = [];
  const cluster = await startCluster({
    count,
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      PSA_GRAPHQL_LIMIT: '1000000',
      PSA_DRAIN_SECONDS: '1',
      PSA_DEMO: 'off',
      NODE_OPTIONS: `--import=${new URL('./probe.mjs', import.meta.url).href}`,
    },
    // The followers' relays are proxies: the instances trust them, and drain before they end.
    async startProxy(proxied) {
      ports = proxied.ports;
      return { noticeMs: 0, close: async () => undefined };
    },
    onLine: (line, { number, isError }) => isError && errors.push(`[${number}] ${line}`),
  });
  let probes = 0;

  function probe({ process: child }: { process: ChildProcess }): Promise<Memory & { cpuMs: number }> {
    const id = probes++;
    return new Promise((resolve, reject) => {
      const patience = setTimeout(() => reject(new Error('An instance does not answer')), PROBE_MS);
      const onMessage = (answer: Memory & { cpuMs: number; probe: number }) => {
        if (answer.probe !== id) return;
        clearTimeout(patience);
        child.off('message', onMessage);
        resolve(answer);
      };
      child.on('message', onMessage).send({ probe: id });
    });
  }

  return {
    ports,
    errors,
    endpoints: ports.map((port) => `http://127.0.0.1:${port}/graphql`),
    /** The memory of all instances together. */
    async memory(): Promise<Memory> {
      const all = await Promise.all(cluster.instances.map(probe));
      const sum = (of: keyof Memory) =>
        Math.round(all.reduce((total, each) => total + each[of], 0) * 10) / 10;
      return { heldMb: sum('heldMb'), rssMb: sum('rssMb') };
    },
    restart: () => cluster.restart(),
    /** Kills an instance, and starts it again. */
    async kill(index: number): Promise<void> {
      const { process: child } = cluster.instances[index]!;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await cluster.revive();
    },
    close: () => cluster.close(),
  };
}
