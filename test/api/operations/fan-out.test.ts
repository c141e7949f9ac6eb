import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { firstTenant } from '../../../server/src/access/service.ts';
import { type Caller, rightsOf } from '../../../server/src/kernel/caller.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { fund } from '../../support/funds.ts';
import type { GraphQLClient, Stream } from '../../support/graphql.ts';
import { openRawSocket, type RawSocket } from '../../support/raw-socket.ts';
import { recordStatements } from '../../support/statements.ts';

const CARD = {
  number: '4242424242424242',
  holder: 'ANA',
  expiryMonth: 12,
  expiryYear: 2030,
  securityCode: '123',
};
/** Each execution of this operation looks the subaccount up. */
const ALL = `subscription ($after: String) { allSubaccountPayoutUpdates(after: $after) {
  cursor subaccountPayout { payoutId version subaccount { name balanceCents } } } }`;

const METADATA = '{"pedido":7}';

let app: TestApp;
let statements: string[];
let subaccountId: string;
const sockets: RawSocket[] = [];
beforeAll(async () => {
  const clock = createManualClock();
  const recorded = recordStatements(await openFreshDatabase(clock));
  statements = recorded.statements;
  app = await startApp({ database: recorded.database, clock, config: { graphqlLimit: 100_000 } });
  await fund({ database: app.database, tenant: await firstTenant(app.database.sql) }, { cents: 50_000_000 });
  subaccountId = await openSubaccount(app.live, 5_000_000);
});
afterEach(async () => {
  for (const opened of streams.splice(0)) await opened.close();
  for (const { socket } of sockets.splice(0)) socket.terminate();
  expect(app.faults).toEqual([]);
});
afterAll(() => app.close());

async function openSubaccount(client: GraphQLClient, cents: number): Promise<string> {
  const { createSubaccount } = await client.request(
    'mutation { createSubaccount(input: { name: "Bia" }) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } } }',
  );
  const { subaccountId: id } = createSubaccount.subaccount;
  await client.request(
    'mutation ($input: TransferToSubaccountInput!) { transferToSubaccount(input: $input) { __typename } }',
    { input: { subaccountId: id, amountCents: cents } },
  );
  return id;
}

/** Makes a change that every subscriber follows. Resolves with the resource's last state. */
async function makeChange(of = subaccountId): Promise<Last> {
  const { requestSubaccountPayout } = await app.live.request(
    `mutation ($input: RequestSubaccountPayoutInput!) { requestSubaccountPayout(input: $input) {
      ... on RequestSubaccountPayoutSuccess { subaccountPayout { payoutId } } } }`,
    { input: { subaccountId: of, amountCents: 4_000, pixKey: 'bia@cliente.example' } },
  );
  const { payoutId } = requestSubaccountPayout.subaccountPayout;
  await app.work.settled();
  const { subaccountPayout } = await app.live.request(
    'query ($id: String!, $of: String!) { subaccountPayout(subaccountId: $of, reference: $id) { payoutId version } }',
    { id: payoutId, of },
  );
  return subaccountPayout;
}
interface Last {
  payoutId: string;
  version: number;
}

// biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
type Data = any;
interface Subscriber {
  data(): Promise<Data>;
}

const streams: Stream[] = [];
function stream(client: GraphQLClient, query: string, variables: Record<string, unknown>): Subscriber {
  const opened = client.sse(query, variables);
  streams.push(opened);
  return opened;
}

/** Opens a subscription on its own socket, under its own id. */
async function follow(credential: string, query: string, variables: object = {}): Promise<Subscriber> {
  const socket = openRawSocket(app.url);
  sockets.push(socket);
  await socket.init(credential);
  const id = `subscriber "${sockets.length}" ü`;
  socket.send({ id, type: 'subscribe', payload: { query, variables } });
  return {
    async data() {
      const message = await socket.next();
      expect(message).toMatchObject({ id, type: 'next', payload: { data: {} } });
      return message.payload.data;
    },
  };
}

const cursorOf = async () => (await app.live.request('{ updatesCursor }')).updatesCursor as string;

/** Reads updates up to the one with this state. */
async function until(subscriber: Subscriber, last: Last): Promise<Data> {
  for (;;) {
    const { subaccountPayout } = (await subscriber.data()).allSubaccountPayoutUpdates;
    if (subaccountPayout.payoutId === last.payoutId && subaccountPayout.version === last.version)
      return subaccountPayout;
  }
}

/** Makes a change; resolves with the last update of each subscriber. */
async function updateAll(subscribers: readonly Subscriber[]): Promise<Data[]> {
  const last = await makeChange();
  return Promise.all(subscribers.map((subscriber) => until(subscriber, last)));
}

/** Brings subscribers to the live end: after an update, the next statement of this test runs after theirs. */
async function untilLive(subscribers: readonly Subscriber[]): Promise<void> {
  await updateAll(subscribers);
  await cursorOf();
}

/** Counts the lookups of subaccounts for one change to all subscribers. */
async function lookUps(subscribers: readonly Subscriber[]): Promise<number> {
  statements.length = 0;
  await updateAll(subscribers);
  return statements.filter((statement) => /from "subaccount" .*"id" = any/s.test(statement)).length;
}

describe('one change for many subscribers', () => {
  test('an update is executed once for all subscribers with the same operation and rights', async () => {
    const one = [await follow(LIVE_KEY, ALL, { after: await cursorOf() })];
    await untilLive(one);
    const alone = await lookUps(one);
    const many = [...one];
    for (let count = 0; count < 9; count += 1) {
      many.push(await follow(count < 4 ? LIVE_KEY : await addKey(app), ALL, { after: await cursorOf() }));
      if (count % 3 === 0) await makeChange();
    }
    many.push(stream(app.live, ALL, { after: await cursorOf() }));
    await untilLive(many);
    expect(await lookUps(many)).toBe(alone);
    const other = await follow(LIVE_KEY, `${ALL} # another document`, { after: await cursorOf() });
    await untilLive([...many, other]);
    expect(await lookUps([...many, other])).toBeGreaterThan(alone);
  });

  test('an update is executed with each subscriber’s variables', async () => {
    const query = `subscription ($after: String!, $named: Boolean!) { allSubaccountPayoutUpdates(after: $after) {
      subaccountPayout { payoutId version subaccount { name @include(if: $named) balanceCents } } } }`;
    const after = await cursorOf();
    const subscribers = await Promise.all(
      [true, false, true, false].map((named) => follow(LIVE_KEY, query, { after, named })),
    );
    await untilLive(subscribers);
    const updates = await updateAll(subscribers);
    expect(updates.map(({ subaccount }) => subaccount.name)).toEqual(['Bia', undefined, 'Bia', undefined]);
  });

  test('an update is executed with each subscriber’s variable, whatever its name', async () => {
    const query = `subscription ($after: String!, $__proto__: String) {
      allSubaccountPayoutUpdates(after: $after, subaccountId: $__proto__) { subaccountPayout { payoutId version } } }`;
    const after = await cursorOf();
    const variables = (id: string) => JSON.parse(`{"after":"${after}","__proto__":"${id}"}`);
    const elsewhere = await openSubaccount(app.live, 5_000_000);
    const [ours, theirs] = await Promise.all(
      [subaccountId, elsewhere].map((id) => follow(LIVE_KEY, query, variables(id))),
    );
    const last = await makeChange();
    expect(await until(ours!, last)).toMatchObject({ payoutId: last.payoutId });
    const other = await makeChange(elsewhere);
    expect(await until(theirs!, other)).toMatchObject({ payoutId: other.payoutId });
  });

  test('an update is executed with each subscriber’s `after` where it is used for more than the start', async () => {
    const query = `subscription ($after: String!) { allSubaccountPayoutUpdates(after: $after) {
      subaccountPayout { payoutId version subaccount { payout(reference: $after) { payoutId } } } } }`;
    const after = await cursorOf();
    const pair = await Promise.all([after, after].map((same) => follow(LIVE_KEY, query, { after: same })));
    await untilLive(pair);
    const alone = await lookUps(pair);
    const other = await follow(LIVE_KEY, query, { after: await cursorOf() });
    await untilLive([...pair, other]);
    expect(await lookUps([...pair, other])).toBeGreaterThan(alone);
  });

  test('updates come in order and once to each subscriber, also while an earlier one is being executed', async () => {
    const after = await cursorOf();
    const subscribers = await Promise.all(Array.from({ length: 10 }, () => follow(LIVE_KEY, ALL, { after })));
    await untilLive(subscribers);
    const happening = Array.from({ length: 10 }, () => makeChange());
    const lasts = await Promise.all(happening);
    const seen = await Promise.all(
      subscribers.map(async (subscriber) => {
        const cursors: string[] = [];
        const left = new Set(lasts.map(({ payoutId, version }) => `${payoutId} ${version}`));
        while (left.size > 0) {
          const { cursor, subaccountPayout } = (await subscriber.data()).allSubaccountPayoutUpdates;
          cursors.push(cursor);
          left.delete(`${subaccountPayout.payoutId} ${subaccountPayout.version}`);
        }
        return cursors;
      }),
    );
    expect(new Set(seen[0]).size).toBe(seen[0]!.length);
    for (const cursors of seen) expect(cursors).toEqual(seen[0]);
  });
});

describe('callers with different rights', () => {
  const NAMES = ['unrestricted', 'manages', 'withdraws', 'dashboard'] as const;
  const SEES: Record<(typeof NAMES)[number], string | null> = {
    unrestricted: 'Bia',
    manages: 'Bia',
    withdraws: null,
    dashboard: 'Bia',
  };
  const credentialOf = async (name: (typeof NAMES)[number]) => {
    if (name === 'unrestricted') return addKey(app);
    if (name === 'manages') return addKey(app, { permissions: ['subcontas.gerenciar'] });
    if (name === 'withdraws') return addKey(app, { permissions: ['subcontas.sacar'] });
    return addToken(app, { kind: 'dashboard', grant: { scopes: ['subaccounts'] } });
  };

  // The first subscriber is answered first, and the others could get its answer.
  test.each([[NAMES], [NAMES.toReversed()]])(
    'subscribers whose keys permit different things get different updates: %s',
    async (names) => {
      const after = await cursorOf();
      const subscribers: Subscriber[] = [];
      for (const name of [...names, ...names])
        subscribers.push(await follow(await credentialOf(name), ALL, { after }));
      await untilLive(subscribers);
      const updates = await updateAll(subscribers);
      expect(updates.map(({ subaccount }) => subaccount.name)).toEqual(
        [...names, ...names].map((name) => SEES[name]),
      );
    },
  );

  test.each([[['key', 'token', 'dashboard']], [['token', 'dashboard', 'key']]])(
    'subscribers with different kinds of credentials get different updates: %s',
    async (kinds) => {
      const query = `subscription ($orderCode: String!) { cardPaymentUpdates(orderCode: $orderCode) {
        cardPayment { status metadata } } }`;
      const { createCardPayment } = await app.live.request(
        `mutation ($metadata: String) { createCardPayment(input: { valueCents: 4990, metadata: $metadata }) {
          ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }`,
        { metadata: METADATA },
      );
      const { orderCode } = createCardPayment.cardPayment;
      const subscribers: Subscriber[] = [];
      for (const kind of [...kinds, ...kinds])
        subscribers.push(
          await follow(
            kind === 'key'
              ? await addKey(app)
              : kind === 'token'
                ? await addToken(app, { kind: 'payment', grant: { orderCode } })
                : await addToken(app, { kind: 'dashboard', grant: { scopes: ['card_payments'] } }),
            query,
            { orderCode },
          ),
        );
      await Promise.all(subscribers.map((subscriber) => subscriber.data()));
      await cursorOf();
      await app.cardPayments.pay(orderCode, CARD);
      const updates = await Promise.all(subscribers.map((subscriber) => subscriber.data()));
      expect(updates.map(({ cardPaymentUpdates }) => cardPaymentUpdates.cardPayment)).toEqual(
        [...kinds, ...kinds].map((kind) => ({
          status: 'PAID',
          metadata: kind === 'token' ? null : METADATA,
        })),
      );
    },
  );

  test('subscribers of another account or environment get none of the updates', async () => {
    const query = `subscription ($after: String) { allCardPaymentUpdates(after: $after) {
      cardPayment { orderCode amountCents } } }`;
    const other = await addKey(app, { accountId: await addAccount(app) });
    const mine = [await follow(LIVE_KEY, query), await follow(other, query)];
    const create = async (credential: string, valueCents: number) =>
      app
        .client(credential)
        .request(
          'mutation ($valueCents: Cents!) { createCardPayment(input: { valueCents: $valueCents }) { __typename } }',
          { valueCents },
        );
    const amounts = async () =>
      Promise.all(
        mine.map(
          async (subscriber) => (await subscriber.data()).allCardPaymentUpdates.cardPayment.amountCents,
        ),
      );
    for (const times of [1, 2, 3]) {
      await create(LIVE_KEY, 1_000 * times);
      await create(other, 5_000 * times);
      expect(await amounts()).toEqual([1_000 * times, 5_000 * times]);
    }
  });
});

describe('the rights of a caller', () => {
  const key: Caller = {
    tenant: { accountId: 'acc_1', environment: 'live' },
    credential: { kind: 'api_key', id: 'key_1', permissions: [] },
    allowedOrigins: [],
    expiresAt: null,
    trustedDocumentsOnly: false,
    endsWith: ['key_1'],
  };
  const dashboard: Caller = {
    ...key,
    credential: { kind: 'dashboard_token', id: 'tok_1', scopes: ['wallet', 'payouts'] },
  };
  const payment: Caller = { ...key, credential: { kind: 'payment_token', id: 'tok_2', orderCode: 'PSC-1' } };

  test('two callers whose credentials grant the same have the same rights', () => {
    expect(rightsOf({ ...key, credential: { ...key.credential, id: 'key_2' }, endsWith: ['key_2'] })).toBe(
      rightsOf(key),
    );
    expect(
      rightsOf({
        ...dashboard,
        credential: { kind: 'dashboard_token', id: 'tok_9', scopes: ['payouts', 'wallet'] },
        expiresAt: new Date(0),
      }),
    ).toBe(rightsOf(dashboard));
  });

  test('two callers with any other difference have different rights', () => {
    const all: Caller[] = [
      key,
      dashboard,
      payment,
      { ...key, tenant: { accountId: 'acc_2', environment: 'live' } },
      { ...key, tenant: { accountId: 'acc_1', environment: 'sandbox' } },
      { ...key, allowedOrigins: ['https://shop.example'] },
      { ...key, allowedOrigins: ['https://other.example'] },
      { ...key, credential: { kind: 'api_key', id: 'key_1', permissions: ['subcontas.sacar'] } },
      { ...key, credential: { kind: 'api_key', id: 'key_1', permissions: ['subcontas.gerenciar'] } },
      { ...key, credential: { kind: 'api_key', id: 'key_1', permissions: null } },
      { ...key, credential: { kind: 'dashboard_token', id: 'tok_1', scopes: ['wallet'] } },
      { ...key, credential: { kind: 'payment_token', id: 'tok_2', orderCode: 'PSC-2' } },
      { ...key, credential: { kind: 'payment_token', id: 'tok_3', orderCode: 'PSC-1' } },
    ];
    expect(new Set(all.map(rightsOf)).size).toBe(all.length);
  });
});
