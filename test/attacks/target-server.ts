import { createSystemClock } from '../../server/src/kernel/clock.ts';
import type { Testing } from '../../server/src/programs/app.ts';
import { startChild } from '../bench/processes/child.ts';
import { addAccount, addKey } from '../support/accounts.ts';
import { connectTo, createPostgresDatabase } from '../support/database.ts';
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
  /** Resolves when the server is nearly idle. */
  rest(): Promise<void>;
  memory(): Promise<Memory>;
  /** Returns a number that differs after any change. */
  changes(): Promise<number>;
  happen(count: number, metadata?: string): Promise<void>;
  /** Sends a wrong amount for the code of a payment. */
  miss(payment: { paymentId: string; txid: string }, times: number): Promise<void>;
  /** Adds an account, and returns its live key. */
  addAccount(): Promise<string>;
  pass(ms: number): Promise<void>;
  faults(): Promise<string[]>;
  stop(): Promise<void>;
}

/** A small heap: a server whose memory grows with the requests ends. */
const HEAP = ['--max-old-space-size=256'];

const program = (name: string) => new URL(name, import.meta.url).href;

/** Starts a server on PostgreSQL, so that the figures of its process contain no database. */
export async function startTargetServer({
  environment = {},
  testing = {},
}: {
  environment?: Record<string, string>;
  testing?: Testing;
} = {}): Promise<TargetServer> {
  const child = startChild(program('target-server.mjs'), {}, HEAP);
  const databaseUrl = await createPostgresDatabase();
  const { url, port } = await child.ask('start', {
    environment: {
      DATABASE_URL: databaseUrl,
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
    miss: (payment, times) => child.ask('miss', { ...payment, times }),
    async addAccount() {
      const clock = createSystemClock();
      const database = await connectTo(databaseUrl, clock);
      const added = { database, clock };
      const key = await addKey(added, { accountId: await addAccount(added) });
      await database.close();
      return key;
    },
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
