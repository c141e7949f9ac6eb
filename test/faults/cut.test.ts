import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase } from '../support/database.ts';
import { type FaultyNetwork, startFaultyNetwork } from '../support/faulty-network.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { startReceiver } from '../support/receiver.ts';
import { runsAll, scale } from '../support/scale.ts';
import { audit } from './audit.ts';
import { type Cut, spawnServer } from './child.ts';
import { complaintsOfPosted } from './ledger-check.ts';

const LIVE_KEY = 'ps_live_cutoff0123456789';
const OPENING = { name: 'opening', cents: 1_000_000_000, litoshi: 1 };
const LATER_MS = [60_000, 15 * 60_000, 3_600_000];

/** A connection to a database, with its ways to be cut and to return. */
interface Line {
  readonly environment: Record<string, string>;
  arm(cut: Cut): Promise<unknown>;
  /** Set if the connection returns only with a new start of the server. */
  readonly isWithTheServer: boolean;
}

const engines = {
  PostgreSQL: {
    times: scale('CUTS'),
    async prepare(): Promise<Line> {
      const network = await startFaultyNetwork(await createPostgresDatabase());
      onTestFinished(() => network.close());
      return {
        environment: { DATABASE_URL: network.url },
        arm: async (cut) => cutAtCommit(network, cut),
        isWithTheServer: false,
      };
    },
  },
  PGlite: {
    // Each cut starts a PGlite twice; test/state/db/pglite shows in less time a killed worker and a failing disk
    // around a COMMIT.
    times: runsAll() ? scale('WORKER_DEATHS') : 0,
    async prepare(server: ReturnType<typeof spawnServer>): Promise<Line> {
      const folder = mkdtempSync(join(tmpdir(), 'psa-cut-'));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      return {
        environment: { PSA_DATA_DIR: folder },
        arm: (cut) => server.ask('cutWorker', cut),
        isWithTheServer: true,
      };
    },
  },
};

const cases = Object.entries(engines)
  .map(([engine, each]) => ({ engine, ...each }))
  .filter(({ times }) => times > 0);

test.each(cases)(
  'A server that is cut off from $engine $times × before COMMIT arrives, and $times × before its answer, answers UNAVAILABLE, and the key finds or does the change once',
  { timeout: 3_600_000 },
  async ({ engine, times, prepare }) => {
    const server = spawnServer();
    onTestFinished(server.kill);
    const line = await prepare(server);
    const start = async () => {
      const environment = {
        PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
        PSA_GRAPHQL_LIMIT: '1000000',
        ...line.environment,
      };
      const { url } = await server.ask('start', { environment, brief: true });
      return createClient(`${url}/graphql`, LIVE_KEY);
    };
    let live = await start();
    const receiver = await startReceiver();
    await live.request(CONFIGURE, { input: { url: receiver.url } });
    await server.ask('credit', OPENING);
    const { done } = await live.request(OPEN, { input: { name: 'Bia', externalId: 'bia' } });
    const { subaccountId } = done.subaccount;
    await live.request(GIVE, { input: { subaccountId, amountCents: 500_000_000, idempotencyKey: 'first' } });

    const verdicts = (['cut-before', 'cut-after'] as const).flatMap((each) =>
      Array.from({ length: times }, () => each),
    );
    const lost = { 'cut-before': 0, 'cut-after': 0 };
    const found = { 'cut-before': 0, 'cut-after': 0 };
    for (const [round, verdict] of verdicts.entries()) {
      const orderCode = await sell(server, live, `sale:${round}`);
      const expectations = expectationsOf(round, { subaccountId, orderCode });
      // Otherwise the cut would hit the commit that records a webhook.
      await server.ask('settle', null);
      // The first command has a transaction to itself; commands that arrive meanwhile share the second.
      await line.arm({ verdict, after: round % 2 });
      const reported = await Promise.all(expectations.map((expectation) => send(expectation, live)));
      if (line.isWithTheServer) {
        await server.ask('stop', null);
        live = await start();
      }
      for (const [index, expectation] of expectations.entries()) {
        const before = reported[index];
        const again = await send(expectation, live);
        if (!again) throw new Error(`${expectation.key} was refused the second time`);
        if (before) expect(again).toEqual({ id: before.id, replayed: true });
        else {
          lost[verdict] += 1;
          if (again.replayed) found[verdict] += 1;
        }
        expect(await send(expectation, live)).toEqual({ id: again.id, replayed: true });
      }
    }

    // At least the first command of each round is lost.
    for (const each of Object.values(lost)) expect(each).toBeGreaterThanOrEqual(times);
    expect(found['cut-before']).toBe(0);
    expect(found['cut-after']).toBeGreaterThanOrEqual(times / 2);
    for (const ms of LATER_MS) await server.ask('pass', { ms });
    const now = new Date(Date.now() + LATER_MS.reduce((sum, ms) => sum + ms));
    const { violations, ...made } = await audit(server, now);
    const { complaints, sent } = await complaintsOfPosted(server, receiver.received);
    expect([...violations, ...complaints]).toEqual([]);
    const [refunds] = await server.ask('query', ['select status, amount_cents from refund']);
    expect({
      cardPayments: made.payments.length,
      pixPayments: made.pixPayments.length,
      subscriptions: made.subscriptions.length,
      subaccountPayouts: made.subaccountPayouts.length,
      refunds,
    }).toEqual({
      cardPayments: 3 * verdicts.length,
      pixPayments: 2 * verdicts.length,
      subscriptions: verdicts.length,
      subaccountPayouts: verdicts.length,
      refunds: Array(verdicts.length).fill({ status: 'completed', amount_cents: REFUNDED_CENTS }),
    });
    process.stdout.write(
      `${engine}: ${JSON.stringify(lost)} requests were UNAVAILABLE, and ${JSON.stringify(found)} of them were done; ${sent} webhooks delivered\n`,
    );
  },
);

/** A request that may be sent any number of times, and is done once. */
interface Expectation {
  readonly key: string;
  readonly mutation: string;
  readonly input: object;
}

const REFUNDED_CENTS = 1_000;

/** Creates a card payment that is paid, and can be refunded. */
async function sell(
  server: ReturnType<typeof spawnServer>,
  live: GraphQLClient,
  idempotencyKey: string,
): Promise<string> {
  const { done } = await live.request(CREATE, { input: { valueCents: 5_000, idempotencyKey } });
  const orderCode: string = done.made.id;
  await server.ask('pay', { orderCode, cardNumber: '4242424242424242' });
  return orderCode;
}

function expectationsOf(
  round: number,
  { subaccountId, orderCode }: { subaccountId: string; orderCode: string },
): Expectation[] {
  const expectation = (index: number, mutation: string, input: object): Expectation => ({
    key: `${round}:${index}`,
    mutation,
    input: { ...input, idempotencyKey: `${round}:${index}` },
  });
  const valueCents = 1_000 + round;
  return [
    expectation(0, CREATE, { valueCents }),
    expectation(1, GIVE, { subaccountId, amountCents: 10_000 + round }),
    expectation(2, PAY_OUT, { subaccountId, amountCents: 10_000 + round, pixKey: 'bia@cliente.example' }),
    expectation(3, CREATE, { valueCents }),
    expectation(4, REFUND, { orderCode, amountCents: REFUNDED_CENTS }),
    expectation(5, CREATE_PIX, { valueCents }),
    expectation(6, CHARGE, { valueCents, splits: [{ subaccountId, share: { percent: '10' } }] }),
    expectation(7, SUBSCRIBE, { valueCents, interval: 'WEEKLY' }),
  ];
}

/** Sends it. Null if it was refused because of the outage, the only other answer that it may have. */
async function send(
  { mutation, input }: Expectation,
  live: GraphQLClient,
): Promise<{ id: string; replayed: boolean } | null> {
  const { body } = await live.send(mutation, { input });
  if (body.errors) {
    expect(['UNAVAILABLE', 'OUTCOME_UNKNOWN']).toContain(body.errors[0].extensions.code);
    return null;
  }
  const { replayed, made, ...refusal } = body.data.done;
  if (!made) throw new Error(JSON.stringify(refusal));
  return { id: made.id, replayed };
}

const REFUSED = '... on UserError { code message }';
const CONFIGURE = `mutation ($input: ConfigureWebhookInput!) {
  configureWebhook(input: $input) { ... on ConfigureWebhookSuccess { url } ${REFUSED} }
}`;
const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  done: createCardPayment(input: $input) {
    ... on CreateCardPaymentSuccess { replayed made: cardPayment { id: orderCode } } ${REFUSED}
  }
}`;
const REFUND = `mutation ($input: RefundCardPaymentInput!) {
  done: refundCardPayment(input: $input) { ... on RefundCardPaymentSuccess { replayed made: refund { id: refundId } } ${REFUSED} }
}`;
const CREATE_PIX = `mutation ($input: CreatePaymentInput!) {
  done: createPayment(input: $input) { ... on CreatePaymentSuccess { replayed made: payment { id: paymentId } } ${REFUSED} }
}`;
const CHARGE = `mutation ($input: CreateChargeInput!) {
  done: createCharge(input: $input) { ... on CreateChargeSuccess { replayed made: charge { id: chargeId } } ${REFUSED} }
}`;
const SUBSCRIBE = `mutation ($input: CreateSubscriptionInput!) {
  done: createSubscription(input: $input) {
    ... on CreateSubscriptionSuccess { replayed made: subscription { id: subscriptionId } } ${REFUSED}
  }
}`;
const OPEN = `mutation ($input: CreateSubaccountInput!) {
  done: createSubaccount(input: $input) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } ${REFUSED} }
}`;
const GIVE = `mutation ($input: TransferToSubaccountInput!) {
  done: transferToSubaccount(input: $input) {
    ... on TransferToSubaccountSuccess { replayed made: subaccount { id: subaccountId } } ${REFUSED}
  }
}`;
const PAY_OUT = `mutation ($input: RequestSubaccountPayoutInput!) {
  done: requestSubaccountPayout(input: $input) {
    ... on RequestSubaccountPayoutSuccess { replayed made: subaccountPayout { id: payoutId } } ${REFUSED}
  }
}`;

/** Lets this number of COMMITs pass, and cuts the connection of the next one. */
function cutAtCommit(network: FaultyNetwork, { verdict, after }: Cut): void {
  let commits = 0;
  network.onRequest = (chunk) => (isCommit(chunk) && commits++ === after ? verdict : 'pass');
}

/** Whether the bytes are one simple query, `Q`, its length and its text, that commits. */
function isCommit(chunk: Buffer): boolean {
  return chunk[0] === 0x51 && chunk.toString('latin1', 5) === 'commit\0';
}
