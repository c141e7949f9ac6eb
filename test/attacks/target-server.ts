import type { Testing } from '../../server/src/app.ts';
import { startChild } from '../bench/processes/child.ts';
import { createPostgresDatabase } from '../support/database.ts';
import { FAST_PATH } from '../support/fast-path.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';

export const LIVE_KEY = 'ps_live_attacked0123456789';

export interface Memory {
  rssMb: number;
  heldMb: number;
}

/** The server of target-server.mjs. */
export interface TargetServer {
  readonly url: string;
  readonly port: number;
  /** The client with the first account's live key. */
  readonly live: GraphQLClient;
  client(credential: string | null, headers?: Record<string, string>): GraphQLClient;
  /** CPU time of the server's process so far. */
  cpuMs(): Promise<number>;
  /** Resolves when it has next to nothing to do. */
  rest(): Promise<void>;
  memory(): Promise<Memory>;
  /** Returns a number that differs after any change. */
  changes(): Promise<number>;
  happen(count: number, metadata?: string): Promise<void>;
  pass(ms: number): Promise<void>;
  faults(): Promise<string[]>;
  stop(): Promise<void>;
}

/** A small heap, so that what grows with the requests ends it. */
const HEAP = ['--max-old-space-size=256'];

const program = (name: string) => new URL(name, import.meta.url).href;

/** Starts a server on a PostgreSQL, so that no database is in the figures of its process. */
export async function startTargetServer({
  environment = {},
  testing = {},
}: {
  environment?: Record<string, string>;
  testing?: Testing;
} = {}): Promise<TargetServer> {
  const child = startChild(program('target-server.mjs'), {}, HEAP);
  const { url, port } = await child.ask('start', {
    environment: {
      DATABASE_URL: await createPostgresDatabase(),
      PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
      ...FAST_PATH,
      ...environment,
    },
    options: { graphqlLimit: 100_000_000 },
    testing: { strangerLimit: 100_000_000, ...testing },
  });
  const client: TargetServer['client'] = (credential, headers) =>
    createClient(`${url}/graphql`, credential, headers);
  return {
    url,
    port,
    client,
    live: client(LIVE_KEY),
    cpuMs: async () => (await child.ask('cpu')) / 1_000,
    rest: () => child.ask('rest'),
    memory: () => child.ask('memory'),
    changes: () => child.ask('changes'),
    happen: (count, metadata) => child.ask('happen', { count, metadata }),
    pass: (ms) => child.ask('pass', { ms }),
    faults: () => child.ask('faults'),
    async stop() {
      await child.ask('close');
      await child.stop();
    },
  };
}

export function startLoad() {
  return startChild(program('load.mjs'));
}

/** Prints the figures of a full run, for the last column of `server/docs/trust.md`. */
export function report(attack: string, figures: Record<string, number | string>): void {
  if (process.env.PSA_SCALE !== 'full') return;
  const said = Object.entries(figures).map(
    ([name, figure]) => `${name} ${typeof figure === 'number' ? Number(figure.toPrecision(3)) : figure}`,
  );
  process.stdout.write(`${attack}: ${said.join(', ')}\n`);
}
