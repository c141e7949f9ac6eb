import { type Kysely, sql } from 'kysely';
import { expect, inject } from 'vitest';
import { createLog } from '../../server/src/programs/ops/log.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../support/app.ts';
import { CARD } from '../support/browser.ts';
import { createManualClock } from '../support/clock.ts';
import { connectTo, createPostgresDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { configureWebhook } from '../support/pair.ts';
import { type Program, runProgram } from '../support/program.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server behind the shop of the end-to-end tests: the service itself, or a facade in front of it. */
    backend: 'service' | 'facade';
  }
}

/** The server behind a shop. Its tests do not depend on whether it is the service itself or a facade in front of it. */
export interface Fixture {
  /** The address that browsers use. */
  readonly url: string;
  /** The port that it listens on. */
  readonly port: number;
  /** The merchant's own server, with the live key. */
  readonly live: GraphQLClient;
  /** Advances the time of the acquirer and the bank, and waits until due tasks are done. */
  pass(ms: number): Promise<void>;
  /** Pays without the browser, as a payer does on another device. */
  payElsewhere(orderCode: string): Promise<void>;
  /** Stops the server, runs `meanwhile`, and starts it again at the same address. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  /** All stored rows, by table. */
  kept(): Promise<Record<string, string[]>>;
  /** All logged lines. */
  logged(): string[];
  /** Internal faults of the server; a test that succeeds has none. */
  faults(): unknown[];
  close(): Promise<void>;
}

interface Options {
  /** The address for browsers, if it is not the server's own. */
  publicUrl?: string;
  /** Whether the server can be restarted over the same data. */
  restarts?: boolean;
}

/** Starts the server that the test project selects. The caller closes it. */
export const startFixture: (options?: Options) => Promise<Fixture> = (options) =>
  inject('backend') === 'facade' ? startFacadeFixture(options) : startServiceFixture(options);

// ── The service itself ──────────────────────────────────────────────────────────────────────────

export interface ServiceFixture extends Fixture {
  readonly app: TestApp;
}

/** Starts the service in this process, with a clock that the test advances. */
export async function startServiceFixture({ publicUrl, restarts }: Options = {}): Promise<ServiceFixture> {
  const lines: string[] = [];
  const apps: TestApp[] = [];
  const databaseUrl = restarts ? await createPostgresDatabase() : null;

  async function start(port: number): Promise<TestApp> {
    const clock = createManualClock();
    const app = await startApp({
      clock,
      log: createLog({ write: (line: string) => lines.push(line) }),
      ...(databaseUrl && { database: await connectTo(databaseUrl, clock) }),
      ...(publicUrl && { environment: { PUBLIC_URL: publicUrl } }),
      config: { port },
    });
    apps.push(app);
    return app;
  }

  let app = await start(0);
  const { url, port, live } = app;
  return {
    get app() {
      return app;
    },
    url,
    port,
    live,
    async pass(ms) {
      await app.work.settled();
      app.clock.advance(ms);
      await app.work.settled();
    },
    payElsewhere: (orderCode) => payAt(`http://127.0.0.1:${app.port}`, orderCode),
    async restart(meanwhile) {
      await app.close();
      // A second instance over the same data, at an address that no browser uses.
      app = await start(0);
      await meanwhile();
      await app.close();
      app = await start(port);
    },
    kept: () => keptIn(app.database),
    logged: () => lines,
    faults: () => [...faultsIn(lines), ...apps.flatMap(({ faults }) => faults)],
    close: () => app.close(),
  };
}

// ── A facade in front of it ─────────────────────────────────────────────────────────────────────

export interface FacadeFixture extends Fixture {
  readonly service: ServerProcess;
  readonly facade: ServerProcess;
}

/** The program in a process of its own, with a database and an address that survive restarts. */
export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  /** The merchant's own server, with the live key. */
  readonly live: GraphQLClient;
  readonly database: Database;
  readonly lines: readonly string[];
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Stops the program and closes its database. */
  close(): Promise<void>;
}

/**
 * Starts two programs as they are deployed, with real webhooks between them and the system's clock.
 *
 * @param options.webhookSecret a wrong secret of the service's webhooks for the facade
 * @param options.families the families of the service that the facade's operator has named
 */
export async function startFacadeFixture({
  publicUrl,
  webhookSecret,
  families,
}: Options & { webhookSecret?: string; families?: string } = {}): Promise<FacadeFixture> {
  const service = await openServerProcess({
    PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
    PSA_BOOTSTRAP_TEST_KEY: TEST_KEY,
  });
  const facadePort = await freePort();
  const both = [service];

  async function close(): Promise<void> {
    await Promise.all(both.map((each) => each.close()));
  }

  async function start(): Promise<ServerProcess> {
    await service.start();
    const secret = await configureWebhook(service.live, `http://127.0.0.1:${facadePort}/webhooks/psa`);
    const facade = await openServerProcess({
      PORT: String(facadePort),
      PSA_DEMO: 'on',
      PSA_UPSTREAM_URL: service.url,
      PSA_UPSTREAM_LIVE_KEY: LIVE_KEY,
      PSA_UPSTREAM_TEST_KEY: TEST_KEY,
      PSA_UPSTREAM_WEBHOOK_SECRET: webhookSecret ?? secret,
      ...(publicUrl && { PUBLIC_URL: publicUrl }),
      ...(families && { PSA_UPSTREAM_FAMILIES: families }),
    });
    both.push(facade);
    await facade.start();
    return facade;
  }

  const facade = await start().catch(async (error: unknown) => {
    // A failed start returns no fixture that the caller could close.
    await close();
    throw error;
  });

  return {
    service,
    facade,
    url: publicUrl ?? facade.url,
    port: facade.port,
    live: facade.live,
    async pass(ms) {
      const now = new Date((await simulate(service.url, 'clock', { seconds: ms / 1_000 })).now);
      const due = service.database.sql.selectFrom('task').select('key').where('due_at', '<=', now);
      // The service reports the outcome of a payment only after these tasks.
      await expect.poll(() => due.execute()).toEqual([]);
    },
    payElsewhere: (orderCode) => payAt(service.url, orderCode),
    async restart(meanwhile) {
      await facade.stop();
      await meanwhile();
      await facade.start();
    },
    async kept() {
      const [behind, before] = await Promise.all(both.map(({ database }) => keptIn(database)));
      const names = Object.keys({ ...behind, ...before });
      return Object.fromEntries(
        names.map((name) => [name, [...(behind![name] ?? []), ...(before![name] ?? [])]]),
      );
    },
    logged: () => both.flatMap(({ lines }) => lines),
    faults() {
      const faults = both.flatMap(({ lines }) => faultsIn(lines));
      return webhookSecret ? faults.filter((line) => !line.includes('A webhook was refused')) : faults;
    },
    close,
  };
}

async function openServerProcess(environment: Record<string, string>): Promise<ServerProcess> {
  const databaseUrl = await createPostgresDatabase();
  const database = await connectTo(databaseUrl, createManualClock());
  const port = Number(environment.PORT ?? (await freePort()));
  const url = `http://localhost:${port}`;
  const programs: Program[] = [];
  // The program must not outlive a test run that is killed.
  const kill = () => programs.at(-1)?.child.kill('SIGKILL');
  process.once('exit', kill);

  async function stop(): Promise<void> {
    const program = programs.at(-1);
    if (!program || program.child.exitCode !== null || program.child.signalCode !== null) return;
    const patience = setTimeout(kill, STOPPING_MS);
    program.child.kill('SIGTERM');
    expect(await program.exited).toBe(0);
    clearTimeout(patience);
  }

  return {
    url,
    port,
    database,
    live: createClient(`${url}/graphql`, LIVE_KEY),
    get lines() {
      return programs.flatMap(({ output }) =>
        [output.stdout, output.stderr].join('\n').split('\n').filter(Boolean),
      );
    },
    async start() {
      const program = runProgram({ ...environment, DATABASE_URL: databaseUrl, PORT: String(port) }, 'built');
      programs.push(program);
      await program.started;
    },
    stop,
    async close() {
      await stop().finally(() => database.close());
      process.off('exit', kill);
    },
  };
}

/** The program stops itself within ten seconds. */
const STOPPING_MS = 15_000;

// ── Shared helpers ──────────────────────────────────────────────────────────────────────────────

/** Presses a control of the simulator of a server. */
// biome-ignore lint/suspicious/noExplicitAny: each control answers in its own form
export async function simulate(serverUrl: string, control: string, input: object): Promise<any> {
  const response = await fetch(`${serverUrl}/simulator/${control}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-psa-action': '1' },
    body: JSON.stringify(input),
  });
  expect(response.ok).toBe(true);
  return response.json();
}

/** Pays on the hosted page of a card payment, without a browser. */
export async function payAt(serviceUrl: string, orderCode: string): Promise<void> {
  const response = await fetch(`${serviceUrl}/checkout/${orderCode}`, {
    method: 'POST',
    body: new URLSearchParams({
      number: CARD.approved,
      holder: 'Maria da Silva',
      expiry: '12/29',
      cvv: '123',
    }),
    redirect: 'manual',
  });
  expect(response.status).toBe(303);
}

async function keptIn({ sql: database }: Database): Promise<Record<string, string[]>> {
  const tables = await database.introspection.getTables();
  return Object.fromEntries(
    await Promise.all(tables.map(async ({ name }) => [name, await rowsOf(database, name)] as const)),
  );
}

async function rowsOf<DB>(database: Kysely<DB>, name: string): Promise<string[]> {
  const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(
    database,
  );
  return rows.map(({ row }) => row);
}

function faultsIn(lines: readonly string[]): string[] {
  return lines.filter((line) => /"level":"(error|fatal)"/.test(line));
}
