import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { type ChildServer, type Requests, spawnServer } from './child.ts';

/** One process of a facade. */
export interface Life {
  readonly url: string;
  readonly live: GraphQLClient;
  readonly sandbox: GraphQLClient;
  readonly server: ChildServer;
  /** Whether the process was killed: it will answer nothing more. */
  isOver(): boolean;
}

/** A facade that may be killed, and is then started again at another address. */
export interface Facade {
  readonly name: string;
  /** The current process, or the next one once it has started. */
  now(): Promise<Life>;
  /** Kills the process by SIGKILL, and starts a new one over the same database. */
  killAndStartAgain(): Promise<void>;
  end(): void;
  /** The faults in the logs of all its processes. */
  faults(): string[];
}

export function createFacade(
  name: string,
  /** The `start` request of each process. */
  requestOf: (life: number) => Parameters<Requests['start']>[0],
  keys: { live: string; sandbox: string },
): Facade {
  const processes: ChildServer[] = [];
  const over = new Set<ChildServer>();
  let started = start();

  async function start(): Promise<Life> {
    const server = spawnServer();
    const life = processes.push(server) - 1;
    const { url } = await server.ask('start', requestOf(life));
    const client = (key: string) => createClient(`${url}/graphql`, key);
    return {
      url,
      server,
      live: client(keys.live),
      sandbox: client(keys.sandbox),
      isOver: () => over.has(server),
    };
  }

  return {
    name,
    now: () => started,
    async killAndStartAgain() {
      const { server } = await started;
      over.add(server);
      server.kill();
      started = server.death.then(start);
      await started;
    },
    end() {
      for (const server of processes) server.kill();
    },
    faults: () => processes.flatMap((server) => server.faults),
  };
}
