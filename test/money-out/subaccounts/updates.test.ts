import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { newKey } from '../../support/keys.ts';

const UPDATE = `__typename cursor occurredAt subaccount { subaccountId balanceCents }
  entry { id kind refId amountCents balanceAfterCents }`;
const ONE = `subscription ($subaccountId: String!, $after: String) {
  subaccountUpdates(subaccountId: $subaccountId, after: $after) { ${UPDATE} } }`;
const ALL = `subscription ($after: String, $filter: StatementFilter) {
  allSubaccountUpdates(after: $after, filter: $filter) { ${UPDATE} } }`;
const OPEN = `mutation { createSubaccount(input: { name: "Bia" }) {
  ... on CreateSubaccountSuccess { subaccount { subaccountId } } } }`;
const TRANSFER = `mutation ($id: String!, $amount: Cents!, $key: String!) {
  transferToSubaccount(input: { subaccountId: $id, amountCents: $amount, idempotencyKey: $key }) { __typename } }`;
const PAY = `mutation ($id: String!, $amount: Cents!, $key: String!) { requestSubaccountPayout(
  input: { subaccountId: $id, amountCents: $amount, pixKey: "maria@example.com", idempotencyKey: $key }) { __typename } }`;
const STATEMENT = `query ($id: String!) { subaccount(subaccountId: $id) { statement { nodes {
  id kind refId amountCents balanceAfterCents } } } }`;

interface Update {
  cursor: string;
  subaccount: { subaccountId: string; balanceCents: number };
  entry: { kind: string; amountCents: number; balanceAfterCents: number } | null;
}

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function merchant(): Promise<{ client: GraphQLClient; tenant: Tenant; before: string }> {
  const accountId = await addAccount(app);
  const tenant = { accountId, environment: 'live' } as const;
  const client = app.client(await addKey(app, { accountId }));
  await app.controls.credit(tenant, 100_000);
  return { client, tenant, before: (await client.request('{ updatesCursor }')).updatesCursor };
}

const opened = async (client: GraphQLClient): Promise<string> =>
  (await client.request(OPEN)).createSubaccount.subaccount.subaccountId;

async function read(
  client: GraphQLClient,
  variables: Record<string, unknown>,
  count: number,
): Promise<Update[]> {
  const stream = client.sse(ALL, variables);
  const updates: Update[] = [];
  while (updates.length < count) updates.push((await stream.data()).allSubaccountUpdates);
  await stream.close();
  return updates;
}

describe('updates of subaccounts', () => {
  test('Every entry of every statement comes once, in its order, with the balance after it', async () => {
    const { client, before } = await merchant();
    const [first, second] = [await opened(client), await opened(client)];
    // Commands that arrive at once share a transaction.
    await Promise.all(
      [100, 200, 300].flatMap((amount) =>
        [first, second].map((id) => client.request(TRANSFER, { id, amount: amount * 10, key: newKey() })),
      ),
    );
    await client.request(PAY, { id: first, amount: 2_000, key: newKey() });
    const updates = await read(client, { after: before }, 9);
    expect(new Set(updates.map(({ cursor }) => cursor)).size).toBe(9);
    for (const [id, entries] of [
      [first, 4],
      [second, 3],
    ] as const) {
      const own = updates.filter(({ subaccount }) => subaccount.subaccountId === id);
      expect(own[0]).toMatchObject({ entry: null, subaccount: { balanceCents: 0 } });
      const { nodes } = (await client.request(STATEMENT, { id })).subaccount.statement;
      expect(own.slice(1).map(({ entry }) => entry)).toEqual(nodes.toReversed());
      expect(nodes).toHaveLength(entries);
      for (const { subaccount, entry } of own.slice(1))
        expect(subaccount.balanceCents).toBe(entry!.balanceAfterCents);
    }

    for (const [index, { cursor }] of updates.slice(0, -1).entries())
      expect(await read(client, { after: cursor }, 1)).toEqual([updates[index + 1]]);
    const filter = { kind: ['TRANSFER_IN'], amountCents: 2_000 };
    expect(await read(client, { after: before, filter }, 2)).toEqual(
      updates.filter(({ entry }) => entry?.kind === 'TRANSFER_IN' && entry.amountCents === 2_000),
    );
  });

  test('One subaccount is followed from its state on, and behind a cursor without it', async () => {
    const { client } = await merchant();
    const [id, other] = [await opened(client), await opened(client)];
    await client.request(TRANSFER, { id, amount: 500, key: newKey() });
    const stream = client.ws(ONE, { subaccountId: id });
    const first: Update = (await stream.data()).subaccountUpdates;
    expect(first).toMatchObject({ entry: null, subaccount: { subaccountId: id, balanceCents: 500 } });
    await client.request(TRANSFER, { id: other, amount: 1, key: newKey() });
    await client.request(TRANSFER, { id, amount: 700, key: newKey() });
    const next: Update = (await stream.data()).subaccountUpdates;
    expect(next).toMatchObject({ subaccount: { balanceCents: 1_200 }, entry: { amountCents: 700 } });
    await stream.close();
    const resumed = client.sse(ONE, { subaccountId: id, after: first.cursor });
    expect((await resumed.data()).subaccountUpdates).toEqual(next);
    await resumed.close();
  });

  test('A key that may only request payouts, and a foreign subaccount, are refused', async () => {
    const { client, tenant } = await merchant();
    const subaccountId = await opened(client);
    const { accountId } = tenant;
    const restricted = app.client(await addKey(app, { accountId, permissions: ['subcontas.sacar'] }));
    const managing = app.client(await addKey(app, { accountId, permissions: ['subcontas.gerenciar'] }));
    const { client: foreign } = await merchant();
    const refusals: [GraphQLClient, string, Record<string, unknown>, string][] = [
      [restricted, ONE, { subaccountId }, 'FORBIDDEN'],
      [restricted, ALL, {}, 'FORBIDDEN'],
      [foreign, ONE, { subaccountId }, 'NOT_FOUND'],
      [client, ONE, { subaccountId: 'sacc_x' }, 'BAD_USER_INPUT'],
      [client, ALL, { filter: { kind: ['UNKNOWN'] } }, 'BAD_USER_INPUT'],
    ];
    for (const [caller, document, variables, code] of refusals) {
      const stream = caller.ws(document, variables);
      const { value } = await stream.next();
      expect(value.errors, `${document} ${JSON.stringify(variables)}`).toMatchObject([
        { extensions: { code } },
      ]);
      await stream.close();
    }
    const allowed = managing.ws(ONE, { subaccountId });
    expect((await allowed.data()).subaccountUpdates.subaccount).toEqual({ subaccountId, balanceCents: 0 });
    await allowed.close();
  });
});
