import { buildSchema, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countListItems } from '../../../server/src/api/operations/list-items.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { openRawSocket } from '../../support/raw-socket.ts';

const schema = buildSchema(`
  interface Node { id: ID! children(first: Int, after: String): Nodes! }
  type Item implements Node {
    id: ID! children(first: Int, after: String): Nodes! one(reference: String!): Item few: [Item!]! parts: [Part!]!
  }
  type Part { name: String parts: [Part!] item: Item }
  type Nodes { nodes: [Item!]! edges: [Edge!]! total: Int! }
  type Edge { node: Item! }
  type Query { items(first: Int, last: Int): Nodes! nodes(ids: [ID!]!): [Node]! node(id: ID!): Node plain: Int }
  type Subscription { item: Item }
`);

describe('the list items of an operation', () => {
  test.each<[string, number, Record<string, unknown>?]>([
    ['{ plain }', 0],
    ['{ items { total } }', 50],
    ['{ items(first: 7) { total } }', 7],
    ['{ items(last: 8) { total } }', 8],
    ['{ a: items(first: 7) { total } b: items(first: 8) { total } }', 15],
    ['{ items(first: 10) { nodes { id } edges { node { id } } } }', 10],
    ['{ items(first: 10) { nodes { children(first: 5) { total } } } }', 60],
    ['{ items(first: 10) { edges { node { children { total } } } } }', 510],
    ['{ items(first: 1000000) { total } }', 100],
    ['{ items(first: -5) { total } }', 1],
    [
      '{ items(first: 10) { nodes { a: children(first: 0) { total } b: children(first: 0) { total } } } }',
      30,
    ],
    ['{ items(first: null) { total } }', 50],
    ['query ($n: Int) { items(first: $n) { total } }', 20, { n: 20 }],
    ['query ($n: Int) { items(first: $n) { total } }', 50],
    ['query ($n: Int = 30) { items(first: $n) { total } }', 30],
    ['query ($n: Int = 30) { items(first: $n) { total } }', 50, { n: null }],
    ['query ($n: Int) { items(first: $n) { total } }', 50, { n: 'ten' }],
    ['{ nodes(ids: ["a", "b", "c"]) { children(first: 2) { total } } }', 9],
    ['query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', 4, { ids: ['a', 'b', 'c', 'd'] }],
    ['query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', 1, { ids: 'a' }],
    // `toString` is a member of every JavaScript object, though no variable has that name.
    ['query ($toString: [ID!]! = ["a", "b", "c"]) { nodes(ids: $toString) { id } }', 3, {}],
    ['query ($__proto__: [ID!]! = ["a", "b"]) { nodes(ids: $__proto__) { id } }', 2, {}],
    ['query ($constructor: Int = 70) { items(first: $constructor) { total } }', 70, {}],
    ['{ node(id: "a") { ... on Item { children(first: 3) { total } } } }', 3],
    ['{ ...F ... { ...F } } fragment F on Query { items(first: 3) { total } }', 6],
    ['{ items(first: 10) { nodes { a: one(reference: "a") { id } b: one(reference: "b") { id } } } }', 30],
    ['{ node(id: "a") { ... on Item { one(reference: "a") { children(first: 3) { total } } } } }', 4],
    ['{ items(first: 10) { nodes { few { id } parts { name parts { name } } } } }', 10],
    ['{ items(first: 10) { nodes { few { few { id } } } } }', 10 * (1 + 20 * 20)],
    [
      '{ items(first: 10) { edges { node { ...F } } } } fragment F on Item { few { ...G } few { id } } fragment G on Item { few { id } }',
      10 * (1 + 20 * 20),
    ],
    [
      '{ nodes(ids: ["a"]) { ... on Item { few { one(reference: "a") { few { few { id } } } } } } }',
      1 + 20 * (1 + 20 * (1 + 20)),
    ],
    [
      '{ items(first: 10) { nodes { parts { item { children(first: 5) { nodes { few { id } } } } } } } }',
      10 * (1 + 20 * 5 * (1 + 20)),
    ],
    ['query A { items(first: 1) { total } } query B { items(first: 2) { total } }', 0],
    ['subscription { item { children(first: 4) { total } } }', 4],
  ])('the operation %s selects %d items', (query, count, variableValues) => {
    expect(countListItems({ schema, document: parse(query), variableValues })).toBe(count);
  });

  test('the items are counted in the operation that runs', () => {
    const document = parse('query A { items(first: 1) { total } } query B { items(first: 2) { total } }');
    expect(countListItems({ schema, document, operationName: 'B' })).toBe(2);
  });

  test('the items that a variable decides are counted for each of its values', () => {
    const document = parse('query ($n: Int = 3) { items(first: $n) { total } }');
    const counts = [4, 5, undefined].map((n) =>
      countListItems({ schema, document, variableValues: n === undefined ? {} : { n } }),
    );
    expect(counts).toEqual([4, 5, 3]);
  });

  test('the items of fragments that spread each other are counted fast', () => {
    const doubling = Array.from(
      { length: 60 },
      (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`,
    );
    const text = `{ ...F0 } ${doubling.join(' ')} fragment F60 on Query { items(first: 1) { total } }`;
    expect(countListItems({ schema, document: parse(text) })).toBe(2 ** 60);
  });
});

describe('an operation', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(async () => {
    expect(app.faults).toEqual([]);
    await app.close();
  });
  const lists = (count: number, first = '(first: 100)') =>
    `{ ${Array.from({ length: count }, (_, index) => `a${index}: cardPayments${first} { totalCount }`).join(' ')} }`;
  const SAYS =
    'The operation asks for up to 1100 items of lists, and one may ask for 1000: give a smaller `first` (it is 50 where left out), or ask in several operations';

  test('an operation that selects a thousand items is answered, also with default pages', async () => {
    expect(Object.keys(await app.live.request(lists(10)))).toHaveLength(10);
    expect(Object.keys(await app.live.request(lists(20, '')))).toHaveLength(20);
  });

  test('an operation that selects more items is refused as a whole with advice, over every transport', async () => {
    const before = (await app.live.request('{ viewer { rateLimit { remaining } } }')).viewer.rateLimit
      .remaining;
    const { status, body } = await app.live.send(lists(11));
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        errors: [{ message: SAYS, extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' } }],
      },
    });
    const variables = lists(11, '(first: $n)').replace('{', 'query ($n: Int) {');
    expect((await app.live.send(variables, { n: 100 })).body.errors[0].message).toBe(SAYS);
    expect((await app.live.send(variables, { n: 90 })).body.errors).toBeUndefined();

    const socket = openRawSocket(app.url);
    await socket.init('ps_live_test0123456789abcdef');
    socket.send({ id: 'a', type: 'subscribe', payload: { query: lists(11) } });
    expect((await socket.next()).payload).toMatchObject({ errors: [{ message: SAYS }] });
    socket.socket.close();
    // None of the refused operations ran.
    const { remaining } = (await app.live.request('{ viewer { rateLimit { remaining } } }')).viewer.rateLimit;
    expect(before - remaining).toBe(11 + 1);
  });

  test('an operation that goes round from a payment to its refunds and back is refused', async () => {
    const round = (times: number) =>
      `{ payments(first: 40) { nodes { refunds { id ${'of { ... on Payment { refunds { id '.repeat(times)} ${'} } }'.repeat(times)} } disputes { evidence { documents { url } } } } } }`;
    expect((await app.live.send(round(0))).body.errors).toBeUndefined();
    for (const times of [1, 3])
      expect((await app.live.send(round(times))).body.errors).toMatchObject([
        {
          message: expect.stringContaining('items of lists'),
          extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
        },
      ]);
    // The payment of a listed refund has its refunds.
    const back = '{ refunds(first: 50) { nodes { of { ... on Payment { refunds { id } } } } } }';
    expect((await app.live.send(back)).body.errors).toBeUndefined();
  });

  test('an operation may look up as many payouts by reference as it may select items', async () => {
    const lookups = (count: number) =>
      `{ subaccounts(first: 10) { edges { node { ${Array.from({ length: count }, (_, index) => `a${index}: payout(reference: "saq_idem_${index}") { code }`).join(' ')} } } } }`;
    expect((await app.live.send(lookups(99))).body.errors).toBeUndefined();
    // Each lookup is a statement of its own: a hundred subaccounts with ninety lookups delayed all others for
    // seconds.
    expect((await app.live.send(lookups(100))).body.errors[0].message).toContain('up to 1010 items');
  });

  test('a subscription may select fewer items, because it is executed at each change', async () => {
    const nested = (first: number) =>
      `subscription { allSubaccountPayoutUpdates { subaccountPayout { subaccount { payouts(first: ${first}) { totalCount } } } } }`;
    const socket = openRawSocket(app.url);
    await socket.init('ps_live_test0123456789abcdef');
    socket.send({ id: 'a', type: 'subscribe', payload: { query: nested(51) } });
    expect((await socket.next()).payload).toMatchObject({
      errors: [
        { message: expect.stringContaining('up to 51 items of lists, and a subscription may ask for 50') },
      ],
    });
    expect(await socket.next()).toEqual({ id: 'a', type: 'complete' });
    socket.send({ id: 'b', type: 'subscribe', payload: { query: nested(50) } });
    socket.send({ type: 'ping' });
    expect(await socket.next()).toMatchObject({ type: 'pong' });
    socket.socket.close();
  });
});
