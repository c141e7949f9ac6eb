import { type App, createApp } from '../../../server/src/programs/app.ts';
import { readConfig } from '../../../server/src/programs/config/config.ts';
import { type Database, NoConnection } from '../../../server/src/state/db/database.ts';
import type { Log } from '../../../server/src/state/db/log.ts';
import type { ManualClock } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { createClient, type GraphQLClient } from '../../support/graphql.ts';
import { type Statements, watchStatements } from '../../support/statements.ts';
import { silent } from '../../support/templates.ts';

const MERCHANT_KEY = 'ps_live_simulated0123456789abcdef';

/** A facade in this process: the whole program, over a database that others may share. */
export interface Instance {
  readonly name: string;
  readonly url: string;
  readonly client: GraphQLClient;
  readonly statements: Statements;
  /** Resolves when the instance is killed: requests that are open then stay unanswered. */
  readonly killed: Promise<void>;
  /** Kills the instance at once: nothing that it still does has an effect. */
  kill(): void;
  /** Ends the rest of the instance. */
  close(): Promise<void>;
}

export async function startInstance({
  name,
  databaseUrl,
  serviceUrl,
  clock,
  limit,
  secret,
  families = '',
  onFault,
}: {
  name: string;
  databaseUrl: string;
  /** The URL of the service, with a path of this instance alone. */
  serviceUrl: string;
  clock: ManualClock;
  /** The number of requests that it may send in a minute. */
  limit: number;
  secret: string;
  /** The families whose requests the service accepts. */
  families?: string | undefined;
  onFault: (message: string) => void;
}): Promise<Instance> {
  let isDead = false;
  let die: () => void = () => undefined;
  const killed = new Promise<void>((resolve) => {
    die = resolve;
  });
  const log: Log = {
    ...silent,
    error(fields, message) {
      if (!isDead) onFault(`${message}: ${(fields as { err?: Error }).err?.stack ?? JSON.stringify(fields)}`);
    },
  };
  const opened = await connectTo(databaseUrl, clock);
  const { database, statements } = watchStatements(mortal(opened, () => isDead));
  const config = readConfig({
    PORT: '0',
    PSA_DATA_DIR: 'memory',
    PSA_UPSTREAM_URL: serviceUrl,
    PSA_UPSTREAM_LIVE_KEY: MERCHANT_KEY,
    PSA_UPSTREAM_WEBHOOK_SECRET: secret,
    PSA_UPSTREAM_LIMIT: String(limit),
    PSA_UPSTREAM_FAMILIES: families,
    PSA_GRAPHQL_LIMIT: '1000000',
  });
  const app: App = await createApp({
    config,
    clock,
    log,
    onFatal: ({ message }) => onFault(message),
    testing: { strangerLimit: 1_000_000, readsGauges: false, open: async () => database },
  });
  return {
    name,
    statements,
    killed,
    url: app.url,
    client: createClient(`${app.url}/graphql`, MERCHANT_KEY),
    kill() {
      isDead = true;
      die();
    },
    close: () => app.close(),
  };
}

/** Wraps the database: it answers nothing once `isDead`. */
function mortal(database: Database, isDead: () => boolean): Database {
  const assertAlive = () => {
    if (isDead()) throw new NoConnection('this instance was killed');
  };
  const executor = database.sql.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  executor.executeQuery = async (...query) => {
    assertAlive();
    return execute(...query);
  };
  return {
    ...database,
    async transaction(work) {
      assertAlive();
      return database.transaction((sql) => {
        assertAlive();
        return work(sql);
      });
    },
    async notify(...sent) {
      assertAlive();
      return database.notify(...sent);
    },
  };
}
