import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import { networkOf } from '../../../server/src/kernel/network.ts';
import { addKey, addToken } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { openRawSocket } from '../../support/raw-socket.ts';
import { recordStatements } from '../../support/statements.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

/** n × text. */
const times = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

describe('a document', () => {
  const nested = (levels: number) => `{ ${'a { '.repeat(levels)} b ${'} '.repeat(levels)} }`;
  /** Fragments that spread each other: 2⁶⁰ fields. */
  const bomb = `{ ...F0 } ${times(60, (index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`)}
    fragment F60 on Query { wallet { id } }`;

  const TOO_LARGE: [string, string, string][] = [
    ['5,000 levels deep', nested(5_000), 'at most 100 brackets inside each other'],
    [
      'with 20,000 brackets in a value',
      `{ cardPayments(status: ${'['.repeat(20_000)}) { totalCount } }`,
      'at most 100 brackets',
    ],
    [
      'with 101 brackets in a type',
      `query ($a: ${'['.repeat(100)}Int${']'.repeat(100)}) { wallet { id } }`,
      'at most 100 brackets',
    ],
    [
      'with 101 brackets in an object',
      `{ cardPayment(orderCode: ${'{a:'.repeat(100)}1${'}'.repeat(100)}) { id } }`,
      'at most 100 brackets',
    ],
    [
      'with 101 fragments in each other',
      `{ ${'...{'.repeat(101)} wallet { id } ${'}'.repeat(101)} }`,
      'at most 100 brackets',
    ],
    ['of 2,001 tokens', `{ ${times(1_999, () => '__typename')} }`, 'more that 2000 tokens'],
    ['16 levels deep', nested(15), 'at most 15 levels of fields'],
    ['with 51 root fields', `{ ${times(51, () => '__typename')} }`, 'at most 50 fields at the root'],
    [
      'with 51 root fields in fragments',
      `{ ...A ...A } fragment A on Query { ${times(26, () => '__typename')} }`,
      'at most 50 fields at the root',
    ],
    ['with 101 aliases', `{ wallet { ${times(101, (index) => `a${index}: id`)} } }`, 'at most 100 aliases'],
    [
      'that follows one field under 11 aliases',
      `subscription { walletUpdates { ...A wallet { ${times(6, (index) => `a${index}: balanceCents`)} } } }
        fragment A on WalletUpdate { again: wallet { ${times(5, (index) => `a${index}: balanceCents`)} } }`,
      'Wallet.balanceCents under at most 10 aliases',
    ],
    [
      'with 51 directives',
      `{ wallet { id ${times(51, (index) => `b${index}: id @include(if: true)`)} } }`,
      'at most 50 directives',
    ],
    [
      'with fragments that spread each other without end',
      '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }',
      'Cannot spread fragment',
    ],
    [
      'with a fragment of itself',
      '{ ...A } fragment A on Query { wallet { id } ...A }',
      'Cannot spread fragment',
    ],
    ['that is a bomb of fragments', bomb, 'at most 2000 fields'],
    ['with 51 fields of one name', `{ wallet { ${times(51, () => 'id')} } }`, 'at most 50 fields that are'],
    [
      'with 51 fields of one name in objects and fragments',
      `{ ${times(17, () => 'wallet { id ... { id } ...A }')} } fragment A on Wallet { id }`,
      'at most 50 fields that are',
    ],
    [
      'with 51 fields that are not one',
      `{ wallet { ${times(51, (index) => (index % 2 ? 'a: id' : 'a: currency'))} } }`,
      'at most 50 fields that are',
    ],
    [
      'with 100 fragments of 50 fields',
      `{ ${times(2, () => `wallet { ${times(45, () => '...A')} }`)} } fragment A on Wallet { ${times(30, () => 'id')} }`,
      'at most 2000 fields',
    ],
  ];

  test.each(TOO_LARGE)('a document %s is refused with 400, over HTTP', async (_, query, says) => {
    const answer = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${LIVE_KEY}`,
        'content-type': 'application/json',
        accept: 'application/graphql-response+json',
      },
      body: JSON.stringify({ query }),
    });
    const { errors } = await answer.json();
    expect(answer.status).toBe(400);
    expect(errors.map((error: { message: string }) => error.message).join('\n')).toContain(says);
    for (const error of errors) expect(error.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test('a document that is too large is refused in the same way over a WebSocket', async () => {
    const socket = openRawSocket(app.url);
    await socket.init(LIVE_KEY);
    for (const [, query, says] of TOO_LARGE.filter(([, text]) => text.length < 90_000)) {
      socket.send({ id: 'a', type: 'subscribe', payload: { query } });
      const { type, payload } = await socket.next();
      expect(type).toBe('error');
      expect(JSON.stringify(payload)).toContain(says);
      for (const error of payload) expect(error.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
    }
    socket.socket.close();
  });

  test.each([
    ['brackets in its text', `{ cardPayment(orderCode: "${'['.repeat(500)}") { id } wallet { id } }`],
    ['50 root fields', `{ ${times(50, () => '__typename')} }`],
    ['100 aliases', `{ wallet { ${times(100, (index) => `a${index}: id`)} } }`],
    ['50 fields of one name', `{ wallet { ${times(50, () => 'id')} } }`],
    ['50 directives', `{ wallet { ${times(50, (index) => `b${index}: id @include(if: true)`)} } }`],
  ])('a document with %s is answered', async (_, query) => {
    expect(await app.live.request(query)).toBeTruthy();
  });

  test('a document that selects the schema’s types in circles is refused', async () => {
    const circle = `{ __schema { types { ${'fields { type { '.repeat(4)} name ${'} } '.repeat(4)} } } }`;
    expect((await app.live.send(circle)).body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
  });
});

describe('the limit of an API key', () => {
  const VIEWER = '{ viewer { rateLimit { limit remaining resetAt } } }';
  const inSeconds = (from: TestApp, seconds: number) =>
    new Date(from.clock.now().getTime() + seconds * 1_000).toISOString();

  test('an API key has 1200 root fields a minute by default, counted by field and not by request', async () => {
    const client = app.client(await addKey(app));
    expect((await client.request(VIEWER)).viewer.rateLimit).toEqual({
      limit: 1200,
      remaining: 1199,
      resetAt: inSeconds(app, 60),
    });
    await client.request(`{ ${times(20, (index) => `a${index}: viewer { credential }`)} }`);
    expect((await client.request(VIEWER)).viewer.rateLimit.remaining).toBe(1178);
  });

  test('root fields beyond the limit are refused with the time to wait, and admitted after it', async () => {
    const small = await startApp({ environment: { PSA_GRAPHQL_LIMIT: '3' } });
    try {
      await small.live.request('{ viewer { credential } b: viewer { credential } }');
      small.clock.advance(20_500);
      const partly = await small.live.send(
        '{ a: cardPayment(orderCode: "x") { id } b: cardPayment(orderCode: "x") { id } }',
      );
      expect(partly.status).toBe(200);
      expect(partly.body.data).toEqual({ a: null, b: null });
      expect(partly.body.errors).toHaveLength(1);
      const { status, headers, body } = await small.live.send('{ viewer { credential } }');
      expect(status).toBe(429);
      expect(headers.get('retry-after')).toBe('40');
      expect(body.errors[0]).toMatchObject({
        message: 'Rate limit exceeded: 3 root fields a minute',
        extensions: { code: 'RATE_LIMITED', retryPolicy: 'SAME_KEY', retryAfterSeconds: 40 },
      });
      expect(Object.keys(body.errors[0].extensions)).toEqual(['code', 'retryPolicy', 'retryAfterSeconds']);
      // Another key has a limit of its own.
      await small.sandbox.request('{ viewer { credential } }');
      small.clock.advance(39_499);
      expect((await small.live.send('{ viewer { credential } }')).status).toBe(429);
      small.clock.advance(1);
      expect((await small.live.request(VIEWER)).viewer.rateLimit).toEqual({
        limit: 3,
        remaining: 2,
        resetAt: inSeconds(small, 60),
      });
    } finally {
      await small.close();
    }
  });

  test('a mutation beyond the limit gives RateLimitError with the seconds to wait', async () => {
    const small = await startApp({ environment: { PSA_GRAPHQL_LIMIT: '1' } });
    try {
      const create = (name: string) =>
        `${name}: createCardPayment(input: { valueCents: 100 }) { __typename ... on RateLimitError { code retryAfterSeconds limit } }`;
      expect(await small.live.request(`mutation { ${create('a')} ${create('b')} }`)).toEqual({
        a: { __typename: 'CreateCardPaymentSuccess' },
        b: {
          __typename: 'RateLimitError',
          code: 'RATE_LIMITED',
          retryAfterSeconds: 60,
          limit: '1 root fields a minute',
        },
      });
      // The union of this mutation has no refusal for a limit.
      const { body } = await small.live.send('mutation { revokeToken(token: "x") { __typename } }');
      expect(body.errors[0].extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 60 });
    } finally {
      await small.close();
    }
  });

  test('subscriptions and introspection count against the limit', async () => {
    const small = await startApp({ environment: { PSA_GRAPHQL_LIMIT: '1' } });
    try {
      await small.live.request('{ __type(name: "Wallet") { name } }');
      for (const query of [
        '{ __schema { queryType { name } } }',
        'subscription { allCardPaymentUpdates { cursor } }',
      ])
        expect((await small.live.send(query)).body.errors[0].extensions.code).toBe('RATE_LIMITED');
    } finally {
      await small.close();
    }
  });
});

describe('the limit of a browser’s token', () => {
  const FIELDS = (count: number) => `{ ${times(count, (index) => `a${index}: viewer { credential }`)} }`;

  test('each browser token has 120 root fields a minute', async () => {
    const grant = { orderCode: 'PSC-1' };
    const [one, other] = [
      await addToken(app, { kind: 'payment', grant }),
      await addToken(app, { kind: 'payment', grant }),
    ];
    for (const count of [50, 50, 20]) await app.client(one).request(FIELDS(count));
    expect((await app.client(one).send(FIELDS(1))).status).toBe(429);
    await app.client(other).request(FIELDS(1));
  });

  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:127.0.0.1', '::ffff:127.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('the limit is counted by address, or by IPv6 network: %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

test('a timer waits for a far instant, where setTimeout would fire at once', () => {
  vi.useFakeTimers();
  try {
    const clock = createSystemClock();
    const task = vi.fn();
    const yearMs = 365 * 86_400_000;
    clock.schedule(new Date(Date.now() + yearMs), task);
    vi.advanceTimersByTime(yearMs - 1_000);
    expect(task).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2_000);
    expect(task).toHaveBeenCalledOnce();
  } finally {
    vi.useRealTimers();
  }
});

describe('root fields of one operation', () => {
  test('root fields begin in the order of the query while each waits for the database, and after an updatesCursor before them', async () => {
    const database = await openFreshDatabase();
    const began: string[] = [];
    const { database: recorded, statements } = recordStatements(database);
    const small = await startApp({ database: recorded, environment: { PSA_GRAPHQL_LIMIT: '20' } });
    try {
      // A caller whose key is not known yet is counted beside the known ones.
      await small.live.request('{ viewer { credential } }');
      statements.length = 0;
      await small.live.request(
        '{ updatesCursor a: cardPayments(first: 1) { nodes { id } } wallet { balanceCents } b: cardPayments(first: 2) { nodes { id } } }',
      );
      for (const text of statements)
        for (const [name, part] of [
          ['limit', 'rate_window'],
          ['cursor', 'select stream.version, event.mark'],
          ['list', 'from "card_payment"'],
        ] as const)
          if (text.includes(part)) began.push(name);
      expect(began.filter((name) => name === 'limit')).toHaveLength(4);
      expect(began.filter((name) => name !== 'limit')).toEqual(['cursor', 'list', 'list']);
    } finally {
      await small.close();
      await database.close();
    }
  });
});
