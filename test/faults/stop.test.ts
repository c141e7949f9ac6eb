import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase, inThisRun } from '../support/database.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { type Program, runProgram } from '../support/program.ts';
import { scale } from '../support/scale.ts';
import { chosenSeed, createRandom } from './random.ts';

const STOPS = scale('STOPS');
const LIVE_KEY = 'ps_live_stopped0123456789';
const CLIENTS = 8;
/** The most answers before the server is stopped. */
const ANSWERS = CLIENTS * 8;

const engines = {
  async PGlite() {
    const folder = mkdtempSync(join(tmpdir(), 'psa-stopped-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return { PSA_DATA_DIR: folder };
  },
  PostgreSQL: async () => ({ DATABASE_URL: await createPostgresDatabase() }),
};

test.each(inThisRun(engines))(
  `A server on %s that gets SIGTERM under load ${STOPS} × answers what was begun, notifies subscribers, and exits with 0`,
  { timeout: 600_000 + STOPS * 30_000 },
  async (engine, prepare) => {
    const environment = {
      ...(await prepare()),
      NODE_ENV: 'production',
      PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
      PSA_GRAPHQL_LIMIT: '1000000',
    };
    const seed = chosenSeed();
    const random = createRandom(seed);
    const message = `PSA_FAULTS_SEED=${seed}`;
    const watched: Record<Transport, Watched> = {
      ws: { after: null, reported: [] },
      sse: { after: null, reported: [] },
    };
    const orders: Order[] = [];
    const stopMs: number[] = [];

    let server = await start(environment);
    for (let stop = 0; stop < STOPS; stop++) {
      const { live, program } = server;
      const watchers = [await overSocket(live, watched.ws), await overEvents(live, watched.sse)];
      let answersLeft = 1 + random.below(ANSWERS);
      let stoppedAt: number | null = null;
      const onAnswer = () => {
        answersLeft -= 1;
        if (answersLeft > 0 || stoppedAt !== null) return;
        stoppedAt = performance.now();
        program.child.kill('SIGTERM');
      };
      const isOver = () => stoppedAt !== null;
      const byHttp = Array.from({ length: CLIENTS }, (_, client) =>
        createOverHttp(live, `${stop}:${client}`, { onAnswer, isOver }),
      );
      const bySocket = createOverSocket(live, `${stop}:ws`, { onAnswer, isOver });
      const created = (await Promise.all([...byHttp, bySocket.created])).flat();
      expect(await program.exited, `${message} ${program.output.stderr}`).toBe(0);
      stopMs.push(performance.now() - stoppedAt!);

      // The server logged no internal fault.
      const logged = `${program.output.stdout}\n${program.output.stderr}`.split('\n');
      expect(
        logged.filter((line) => /"level":"(error|fatal)"|Error:/.test(line)),
        message,
      ).toEqual([]);
      // Both transports ask their clients to reconnect.
      const goodbyes = await Promise.all([bySocket.closed, ...watchers.map(({ goodbye }) => goodbye)]);
      expect(goodbyes, message).toEqual([GOING_AWAY, GOING_AWAY, 'ended']);

      server = await start(environment);
      for (const order of created) {
        const again = await create(server.live, order.key);
        // Over HTTP each request that was begun was answered. After a closed socket the key shows whether its request
        // was done.
        if (order.orderCode) expect(again, message).toEqual({ orderCode: order.orderCode, replayed: true });
        orders.push({ ...order, orderCode: again.orderCode });
      }
      const { cardPayments } = await server.live.request('{ cardPayments(first: 1) { totalCount } }');
      expect(cardPayments.totalCount, message).toBe(orders.length);
    }

    // No subscriber misses an event, or receives one twice, over all these servers.
    const watchers = [await overSocket(server.live, watched.ws), await overEvents(server.live, watched.sse)];
    await expect.poll(() => watched.ws.reported.length).toBe(orders.length);
    await expect.poll(() => watched.sse.reported.length).toBe(orders.length);
    server.program.child.kill('SIGTERM');
    expect(await server.program.exited, message).toBe(0);
    expect(await Promise.all(watchers.map(({ goodbye }) => goodbye)), message).toEqual([GOING_AWAY, 'ended']);
    const codes = orders.map(({ orderCode }) => orderCode).sort();
    expect(watched.ws.reported.toSorted(), message).toEqual(codes);
    expect(watched.sse.reported, message).toEqual(watched.ws.reported);
    process.stdout.write(
      `${engine}: stopped ${STOPS} times under load; ${orders.length} payments; ended within ` +
        `${Math.round(Math.max(...stopMs))} ms; ${message}\n`,
    );
  },
);

type Transport = 'ws' | 'sse';

/** A subscriber's cursor and events, kept between one server and the next. */
interface Watched {
  after: string | null;
  readonly reported: string[];
}

interface Order {
  readonly key: string;
  /** Null if no answer arrived. */
  readonly orderCode: string | null;
}

interface Load {
  onAnswer(): void;
  isOver(): boolean;
}

const GOING_AWAY = { code: 1001, reason: 'The server is restarting' };
const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) {
    ... on CreateCardPaymentSuccess { replayed cardPayment { orderCode } }
    ... on UserError { code message }
  }
}`;
const FOLLOW = `subscription ($after: String) {
  update: allCardPaymentUpdates(after: $after) { cursor cardPayment { orderCode } }
}`;

async function start(
  environment: Record<string, string>,
): Promise<{ program: Program; live: GraphQLClient }> {
  const program = runProgram(environment, 'built');
  onTestFinished(() => void program.child.kill('SIGKILL'));
  return { program, live: createClient(`${await program.started}/graphql`, LIVE_KEY) };
}

async function create(live: GraphQLClient, idempotencyKey: string) {
  const { createCardPayment } = await live.request(CREATE, { input: { valueCents: 1_000, idempotencyKey } });
  const { replayed, cardPayment, code, message } = createCardPayment;
  if (!cardPayment) throw new Error(`${idempotencyKey}: ${code}: ${message}`);
  return { orderCode: cardPayment.orderCode as string, replayed: replayed as boolean };
}

/** Creates payments one after the other until no connection is possible: each request that was accepted is answered. */
async function createOverHttp(
  live: GraphQLClient,
  client: string,
  { onAnswer, isOver }: Load,
): Promise<Order[]> {
  const created: Order[] = [];
  for (;;) {
    const key = `${client}:${created.length}`;
    try {
      const { orderCode, replayed } = await create(live, key);
      expect(replayed).toBe(false);
      created.push({ key, orderCode });
    } catch (error) {
      if (!isOver()) throw error;
      return created;
    }
    onAnswer();
  }
}

/** Creates payments over one socket, which is closed with a code. */
function createOverSocket(live: GraphQLClient, client: string, { onAnswer, isOver }: Load) {
  const created: Order[] = [];
  let goodbye: (event: unknown) => void;
  const closed = new Promise<unknown>((resolve) => {
    goodbye = resolve;
  });
  const socket = live.socket({
    lazy: false,
    onNonLazyError: () => undefined,
    on: { closed: (event) => goodbye(closingOf(event)) },
  });
  return {
    closed,
    created: (async () => {
      for (;;) {
        const idempotencyKey = `${client}:${created.length}`;
        const variables = { input: { valueCents: 1_000, idempotencyKey } };
        try {
          for await (const { data } of socket.iterate<Created>({ query: CREATE, variables })) {
            const { orderCode } = data!.createCardPayment.cardPayment;
            created.push({ key: idempotencyKey, orderCode });
          }
        } catch (error) {
          if (!isOver()) throw error;
          created.push({ key: idempotencyKey, orderCode: null });
          return created;
        }
        onAnswer();
      }
    })(),
  };
}

interface Created {
  createCardPayment: { cardPayment: { orderCode: string } };
}

interface Reported {
  update: { cursor: string; cardPayment: { orderCode: string } };
}

function closingOf(event: unknown) {
  const { code, reason } = event as { code: number; reason: string };
  return { code, reason };
}

/** Sets the cursor from which the subscriber follows: its last one, or the current one. */
async function cursorOf(live: GraphQLClient, watched: Watched): Promise<void> {
  watched.after ??= (await live.request('{ updatesCursor }')).updatesCursor as string;
}

function take(watched: Watched, { update }: Reported): void {
  watched.after = update.cursor;
  watched.reported.push(update.cardPayment.orderCode);
}

async function overSocket(live: GraphQLClient, watched: Watched): Promise<{ goodbye: Promise<unknown> }> {
  await cursorOf(live, watched);
  const goodbye = new Promise<unknown>((resolve) => {
    const socket = live.socket({ on: { closed: (event) => resolve(closingOf(event)) } });
    const next = ({ data }: { data?: Reported | null }) => take(watched, data!);
    socket.subscribe<Reported>(
      { query: FOLLOW, variables: { after: watched.after } },
      { next, error: () => undefined, complete: () => undefined },
    );
  });
  return { goodbye };
}

/** Follows by an event stream. `ended`: whether its body ended, or its connection broke. */
async function overEvents(live: GraphQLClient, watched: Watched): Promise<{ goodbye: Promise<unknown> }> {
  await cursorOf(live, watched);
  const stream = live.sse(FOLLOW, { after: watched.after });
  const follow = async () => {
    for await (const { data } of stream) take(watched, data);
    return 'ended';
  };
  return { goodbye: follow().catch((error: unknown) => String(error)) };
}
