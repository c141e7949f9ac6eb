import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { type ChildServer, type Requests, spawnServer } from './child.ts';

/** A facade that may be killed, and then lives again elsewhere. */
export interface Facade {
  readonly name: string;
  /** The process that lives now, or that is about to. */
  server(): Promise<ChildServer>;
  url(): Promise<string>;
  live(): Promise<GraphQLClient>;
  sandbox(): Promise<GraphQLClient>;
  /** Whether a request that was sent with this client's life has been cut off by its end. */
  lives(): number;
  /** SIGKILL, and a new process over the same database. */
  killAndStartAgain(): Promise<void>;
  end(): void;
  /** What any of its processes logged as its own fault. */
  faults(): string[];
}

/** Starts one; a second process is loaded already, for when the first is killed. */
export function createFacade(
  name: string,
  request: Parameters<Requests['start']>[0],
  keys: { live: string; sandbox: string },
): Facade {
  const processes = [spawnServer()];
  let lives = 1;
  let started = start(processes[0]!);

  async function start(server: ChildServer) {
    const { url } = await server.ask('start', request);
    const client = (key: string) => createClient(`${url}/graphql`, key);
    return { server, url, live: client(keys.live), sandbox: client(keys.sandbox) };
  }

  return {
    name,
    server: async () => (await started).server,
    url: async () => (await started).url,
    live: async () => (await started).live,
    sandbox: async () => (await started).sandbox,
    lives: () => lives,
    async killAndStartAgain() {
      const { server } = await started;
      const next = spawnServer();
      processes.push(next);
      lives += 1;
      server.kill();
      started = server.death.then(() => start(next));
      await started;
    },
    end() {
      for (const server of processes) server.kill();
    },
    faults: () => processes.flatMap((server) => server.faults),
  };
}
