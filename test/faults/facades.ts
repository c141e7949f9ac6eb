import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { type ChildServer, type Requests, spawnServer } from './child.ts';

/** A facade as it lives now. */
export interface Life {
  readonly url: string;
  readonly live: GraphQLClient;
  readonly sandbox: GraphQLClient;
  readonly server: ChildServer;
  /** It was killed: what it has not answered it never will. */
  isOver(): boolean;
}

/** A facade that may be killed, and then lives again elsewhere. */
export interface Facade {
  readonly name: string;
  /** The life that it is in, or the next as soon as that has begun. */
  now(): Promise<Life>;
  /** SIGKILL, and a new process over the same database. */
  killAndStartAgain(): Promise<void>;
  end(): void;
  /** Faults that any of its processes logged. */
  faults(): string[];
}

export function createFacade(
  name: string,
  /** The start of each life. */
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
