import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addKey, addToken } from '../support/accounts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { FAMILIES, type Merchant, openMerchant } from '../support/families.ts';
import type { GraphQLClient } from '../support/graphql.ts';

// What every family of payments has in common: its look-ups, list, subscriptions, and who may read them.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

describe.each(FAMILIES)('$list', (family) => {
  const { type, one, id, list, follow, all, goes } = family;
  const ONE = `query ($id: String!) { one: ${one}(${id}: $id) { id name: ${id} status } }`;
  const NODE = `query ($id: ID!) { node(id: $id) { ... on ${type} { name: ${id} } } }`;
  const SELECTING = family.statuses.argument === 'status' ? 'status: $status' : 'filter: { status: $status }';
  const LIST = `query ($first: Int, $after: String, $last: Int, $before: String, $status: [${family.statuses.type}!]) {
    list: ${list}(first: $first, after: $after, last: $last, before: $before, ${SELECTING}) {
      totalCount nodes { name: ${id} } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
  const MEMBERS = `cursor previousStatus resource: ${one} { name: ${id} status }`;
  const ALL = `subscription ($after: String) { update: ${all}(after: $after) { ${MEMBERS} } }`;
  const FOLLOW = `subscription ($id: String!, $after: String) { update: ${follow}(${id}: $id, after: $after) { ${MEMBERS} } }`;

  const find = async ({ client }: Pick<Merchant, 'client'>, name: string) =>
    (await client.request(ONE, { id: name })).one;
  async function page({ client }: Pick<Merchant, 'client'>, variables: Record<string, unknown> = {}) {
    const { nodes, totalCount, pageInfo } = (await client.request(LIST, variables)).list;
    return { names: nodes.map(({ name }: { name: string }) => name), totalCount, ...pageInfo };
  }
  const codeOf = async (client: GraphQLClient, query: string, variables: Record<string, unknown> = {}) =>
    (await client.send(query, variables)).body.errors[0].extensions.code;

  test('One is found by its name and as a node, and not by another account or in the other environment', async () => {
    const shop = await openMerchant(app);
    const name = await family.make(shop);
    const found = await find(shop, name);
    expect(found).toMatchObject({ name, status: goes[0] });
    expect(await shop.client.request(NODE, { id: found.id })).toEqual({ node: { name } });
    const sandbox = app.client(await addKey(app, { ...shop.tenant, environment: 'sandbox' }));
    for (const client of [sandbox, (await openMerchant(app)).client]) {
      expect(await find({ client }, name)).toBeNull();
      expect(await client.request(NODE, { id: found.id })).toEqual({ node: null });
      expect(await page({ client })).toMatchObject({ names: [], totalCount: 0 });
    }
    expect(await find(shop, family.absent)).toBeNull();
    for (const malformed of family.malformed)
      expect([malformed, (await shop.client.send(ONE, { id: malformed })).body.errors]).toMatchObject([
        malformed,
        [
          {
            message: expect.stringContaining(id),
            extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
          },
        ],
      ]);
  });

  test('The list is read in both directions, with the total, and by status', async () => {
    const shop = await openMerchant(app);
    const made: string[] = [];
    for (let count = 0; count < 4; count += 1) made.unshift(await family.make(shop));
    await family.change(shop, made[1]!);
    const first = await page(shop, { first: 2 });
    expect(first).toMatchObject({
      ...{ names: made.slice(0, 2), totalCount: 4, hasNextPage: true, hasPreviousPage: false },
    });
    const second = await page(shop, { first: 2, after: first.endCursor });
    expect(second).toMatchObject({ names: made.slice(2), hasNextPage: false, hasPreviousPage: true });
    expect((await page(shop, { last: 5, before: second.startCursor })).names).toEqual(first.names);
    expect(await page(shop, { last: 1, before: second.startCursor })).toMatchObject({
      ...{ names: made.slice(1, 2), hasNextPage: true, hasPreviousPage: true },
    });
    expect(await page(shop, { last: 1 })).toMatchObject({ names: made.slice(3), hasPreviousPage: true });
    expect(await page(shop, { after: second.endCursor })).toMatchObject({
      ...{ names: [], totalCount: 4, startCursor: null, endCursor: null },
    });
    const found = await Promise.all(made.map((name) => find(shop, name)));
    const ended = found[1];
    const alike = found.filter(({ status }) => status === ended.status).map(({ name }) => name);
    expect(await page(shop, { status: [ended.status] })).toMatchObject({
      ...{ names: alike, totalCount: alike.length },
    });
    expect(await page(shop, { status: [] })).toMatchObject({ names: [], totalCount: 0 });
    for (const [variables, path] of [
      [{ first: 1, last: 1 }, 'last'],
      [{ first: 0 }, 'first'],
      [{ first: -1 }, 'first'],
      [{ last: 101 }, 'last'],
      [{ after: '' }, 'after'],
      [{ after: 'x' }, 'after'],
      // A cursor of another kind.
      [{ after: ended.id }, 'after'],
      [{ status: ['UNKNOWN'] }, 'status'],
    ] as const) {
      const { body } = await shop.client.send(LIST, variables);
      expect([variables, body.errors[0].message, body.errors[0].extensions.code]).toEqual([
        ...[variables, expect.stringContaining(path), 'BAD_USER_INPUT'],
      ]);
    }
  });

  test('Subscribers to all get each change once and in order, from a cursor on, by each transport', async () => {
    const shop = await openMerchant(app);
    const { updatesCursor } = await shop.client.request('{ updatesCursor }');
    const updates = shop.client.ws(ALL, { after: updatesCursor });
    onTestFinished(() => updates.close());
    const name = await family.make(shop);
    await family.change(shop, name);
    const seen: { cursor: string; previousStatus: string | null; resource: { status: string } }[] = [];
    while (seen.at(-1)?.resource.status !== goes[1]) seen.push((await updates.data()).update);
    expect(seen[0]).toMatchObject({ previousStatus: null, resource: { name, status: goes[0] } });
    expect(seen.map(({ previousStatus }) => previousStatus)).toEqual([
      ...[null, ...seen.slice(0, -1).map(({ resource }) => resource.status)],
    ]);
    const resumed = shop.client.sse(ALL, { after: seen[0]!.cursor });
    onTestFinished(() => resumed.close());
    for (const update of seen.slice(1)) expect((await resumed.data()).update).toEqual(update);
  });

  if (follow !== null) {
    test('Subscribers to one get its state and each change to the last, and resume', async () => {
      const shop = await openMerchant(app);
      const name = await family.make(shop);
      const updates = shop.client.ws(FOLLOW, { id: name });
      onTestFinished(() => updates.close());
      const first = (await updates.data()).update;
      expect(first).toMatchObject({ previousStatus: null, resource: { name, status: goes[0] } });
      await family.change(shop, name);
      expect((await updates.data()).update.resource).toEqual({ name, status: goes[1] });
      const resumed = shop.client.sse(FOLLOW, { id: name, after: first.cursor });
      onTestFinished(() => resumed.close());
      expect((await resumed.data()).update.resource).toEqual({ name, status: goes[1] });
      if (!family.isFinal) return;
      for (const stream of [updates, resumed]) expect((await stream.next()).done).toBe(true);
      const late = shop.client.ws(FOLLOW, { id: name });
      expect((await late.data()).update).toMatchObject({ resource: { status: goes[1] } });
      expect((await late.next()).done).toBe(true);
    });

    test('One that nobody has, or another account, is not followed', async () => {
      const shop = await openMerchant(app);
      const name = await family.make(shop);
      const { client: other } = await openMerchant(app);
      for (const [asker, asked, code] of [
        [other, name, 'NOT_FOUND'],
        [shop.client, family.absent, 'NOT_FOUND'],
        ...family.malformed.map((malformed) => [shop.client, malformed, 'BAD_USER_INPUT'] as const),
      ] as const) {
        const stream = asker.ws(FOLLOW, { id: asked });
        expect([asked, (await stream.next()).value.errors[0].extensions.code]).toEqual([asked, code]);
        await stream.close();
      }
    });
  }

  test('A dashboard with the scope and no restricted key reads it', async () => {
    const shop = await openMerchant(app);
    const name = await family.make(shop);
    const mint = async (scope: string) =>
      app.client(await addToken(app, { ...shop.tenant, kind: 'dashboard', grant: { scopes: [scope] } }));
    const client = await mint(family.scope);
    expect(await find({ client }, name)).toMatchObject({ name });
    expect(await page({ client })).toMatchObject({ names: [name] });
    const restricted = await addKey(app, { ...shop.tenant, permissions: ['subcontas.gerenciar'] });
    for (const blind of [await mint(family.otherScope), app.client(restricted)])
      for (const query of [ONE, LIST]) expect(await codeOf(blind, query, { id: name })).toBe('FORBIDDEN');
    expect((await app.rest(restricted).get(`${family.path}/${name}`)).status).toBe(403);
    if (family.isListed) expect((await app.rest(restricted).get(family.path)).status).toBe(403);
  });

  test('Over REST one is found, one that is not there is 404, and the list has its page', async () => {
    const shop = await openMerchant(app);
    const [older, newer] = [await family.make(shop), await family.make(shop)];
    const { body } = await shop.rest.get(`${family.path}/${older}`);
    expect(JSON.stringify(body)).toContain(older);
    const { rest } = await openMerchant(app);
    for (const [asker, name] of [
      [rest, older],
      [shop.rest, family.absent],
    ] as const)
      expect((await asker.get(`${family.path}/${name}`)).status).toBe(404);
    for (const malformed of family.malformed.filter((text) => text !== '')) {
      const { status } = await shop.rest.get(`${family.path}/${encodeURIComponent(malformed)}`);
      expect([malformed, status]).toEqual([malformed, 400]);
    }
    if (!family.isListed) return;
    const { total, limit, offset, ...rows } = (await shop.rest.get(`${family.path}?limit=1&offset=1`)).body;
    expect([total, limit, offset]).toEqual([2, 1, 1]);
    expect(Object.values(rows).flat()).toEqual([expect.objectContaining({ status: body.status })]);
    expect([older, newer].map((name) => JSON.stringify(rows).includes(name))).toEqual([true, false]);
  });
});

test('A key with permissions for subaccounts alone creates, cancels and refunds nothing over REST', async () => {
  const shop = await openMerchant(app);
  const restricted = app.rest(
    await addKey(app, { ...shop.tenant, permissions: ['subcontas.gerenciar', 'subcontas.sacar'] }),
  );
  const sales = ['/card-payments', '/payments', '/charges'];
  // The permission is checked before the input.
  for (const [method, path] of [
    ...[...sales, '/subscriptions', '/payouts'].map((each) => ['POST', each] as const),
    ...[...sales, '/subscriptions'].map((each) => ['DELETE', `${each}/x`] as const),
    ...sales.map((each) => ['POST', `${each}/x/refunds`] as const),
  ])
    expect([method, path, (await restricted.send(path, { method })).status]).toEqual([method, path, 403]);
});
