import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASS } from '../../support/fault-proxy.ts';
import { fund } from '../../support/funds.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { type Pair, startPair } from '../../support/pair.ts';

const REQUEST = `mutation ($input: RequestPayoutInput!) {
  requestPayout(input: $input) {
    ... on RequestPayoutSuccess { replayed payout { id withdrawalId code status inDoubt knownBy requestedAt final version destination externalId } }
    ... on UserError { code message }
  }
}`;
const PAGE = `query ($first: Int, $after: String, $last: Int, $before: String) {
  payouts(first: $first, after: $after, last: $last, before: $before) {
    totalCount edges { cursor node { id code inDoubt } } pageInfo { hasNextPage hasPreviousPage endCursor startCursor }
  }
}`;
const NODE = `query ($id: ID!) { node(id: $id) { id ... on Payout { withdrawalId code status inDoubt final } } }`;
const FOLLOW = `subscription ($id: ID!) {
  payoutUpdates(id: $id) { previousStatus payout { id code status inDoubt final version } }
}`;
const CONFIGURE = `mutation ($url: Url!) { configureWebhook(input: { url: $url }) { __typename } }`;
const UNRESOLVED = `{ requestsInDoubt { nodes {
  operation idempotencyKey amountCents ageSeconds lookups finding payout { id inDoubt } subaccountPayout { id }
} } }`;

/** The ids of the payouts with the number of the second one, whose key finds the same. */
async function named(api: GraphQLClient): Promise<string[]> {
  const { payout, payouts } = await api.request(`{
    payout(idempotencyKey: "second") { id externalId }
    payouts(filter: { externalId: "repasse second" }) { nodes { id externalId } }
  }`);
  for (const each of [payout, ...payouts.nodes]) expect(each.externalId).toBe('repasse second');
  expect(payouts.nodes.map(({ id }: { id: string }) => id)).toEqual([payout.id]);
  return [payout.id];
}

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
  const tenant = { accountId: pair.accountIds.service, environment: 'live' } as const;
  await fund({ database: pair.service.database, tenant }, { cents: 100_000 });
});
afterAll(async () => {
  expect([...pair.facade.faults, ...pair.service.faults]).toEqual([]);
  await pair.close();
});

const input = (idempotencyKey: string, amountCents: number) => ({
  input: {
    method: 'PIX',
    destination: 'ana@padaria.example',
    amountCents,
    idempotencyKey,
    externalId: `repasse ${idempotencyKey}`,
  },
});

test('a payout whose answer was lost is followed, listed and found from the start, and keeps its id', async () => {
  const api = pair.facade.client(pair.keys.live);
  const first = await api.request(REQUEST, input('first', 1_000));
  await pair.settled();
  expect(first.requestPayout).toMatchObject({
    replayed: false,
    payout: { inDoubt: false, knownBy: null },
  });

  // The service creates the payout; its answer and its first webhook are lost.
  const merchant = pair.service.client(pair.keys.live);
  await merchant.request(CONFIGURE, { url: 'http://127.0.0.1:9/nobody' });
  pair.proxy.plan = ({ method }) => (method === 'POST' ? { kind: 'reset', when: 'after' } : PASS);
  const { requestPayout } = await api.request(REQUEST, input('second', 2_000));
  pair.proxy.plan = () => PASS;
  await merchant.request(CONFIGURE, { url: `http://127.0.0.1:${pair.facade.port}/webhooks/psa` });
  const { payout } = requestPayout;
  expect(requestPayout).toMatchObject({
    replayed: false,
    payout: { inDoubt: true, status: 'PROCESSING', final: false, code: null, withdrawalId: null },
  });
  expect(Date.parse(payout.knownBy) - Date.parse(payout.requestedAt)).toBe(15 * 60_000);
  expect(await named(api)).toEqual([payout.id]);
  expect(await api.request(NODE, { id: payout.id })).toMatchObject({
    node: { id: payout.id, inDoubt: true, code: null },
  });
  expect((await api.request(UNRESOLVED)).requestsInDoubt.nodes).toEqual([
    {
      operation: 'REQUEST_PAYOUT',
      idempotencyKey: 'second',
      amountCents: 2_000,
      ageSeconds: 0,
      lookups: expect.any(Number),
      finding: null,
      subaccountPayout: null,
      payout: { id: payout.id, inDoubt: true },
    },
  ]);

  // The doubtful payout is first in the list, and cursors lead past it and back.
  const { payouts: top } = await api.request(PAGE, { first: 1 });
  expect(top).toMatchObject({ edges: [{ node: { id: payout.id } }], pageInfo: { hasNextPage: true } });
  const { payouts: rest } = await api.request(PAGE, { first: 10, after: top.pageInfo.endCursor });
  expect(rest.edges.map(({ node }: { node: { inDoubt: boolean } }) => node.inDoubt)).not.toContain(true);
  const { payouts: back } = await api.request(PAGE, { last: 10, before: rest.pageInfo.startCursor });
  expect(back.edges.map(({ node }: { node: { id: string } }) => node.id)).toEqual([payout.id]);

  const stream = api.ws(FOLLOW, { id: payout.id });
  expect((await stream.data()).payoutUpdates.payout).toMatchObject({ id: payout.id, inDoubt: true });
  await pair.pass(10_000);
  const seen: { code: string | null; status: string; final: boolean; version: number; id: string }[] = [];
  while (!seen.at(-1)?.final) seen.push((await stream.data()).payoutUpdates.payout);
  expect(new Set(seen.map(({ id }) => id))).toEqual(new Set([payout.id]));
  expect(seen.at(-1)).toMatchObject({ status: 'COMPLETED', code: expect.stringMatching(/^SAQ-/) });
  const versions = seen.map(({ version }) => version);
  expect(versions).toEqual([...versions].sort((left, right) => left - right));
  const code = seen.at(-1)!.code;

  expect((await api.request(UNRESOLVED)).requestsInDoubt.nodes).toEqual([]);
  expect(await named(api)).toEqual([payout.id]);
  // The service cannot store the number.
  expect((await merchant.request('{ payouts { nodes { externalId } } }')).payouts.nodes).toEqual([
    { externalId: null },
    { externalId: null },
  ]);
  const other = { ...input('second', 2_000).input, externalId: 'repasse 2' };
  expect((await api.request(REQUEST, { input: other })).requestPayout).toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
  });
  const again = await api.request(REQUEST, input('second', 2_000));
  expect(again.requestPayout).toMatchObject({ replayed: true, payout: { id: payout.id, code } });
  const { payouts: all } = await api.request(PAGE, { first: 10 });
  expect(all.totalCount).toBe(2);
  expect(all.edges.map(({ node }: { node: { id: string } }) => node.id)).toContain(payout.id);
  expect((await merchant.request('{ payouts { totalCount } }')).payouts.totalCount).toBe(2);
});

test('a payout that the service never had is denied in the end, and its subscribers are notified', async () => {
  const api = pair.facade.client(pair.keys.live);
  pair.proxy.plan = ({ method }) => (method === 'POST' ? { kind: 'reset', when: 'before' } : PASS);
  const { requestPayout } = await api.request(REQUEST, input('third', 3_000));
  pair.proxy.plan = () => PASS;
  const { payout } = requestPayout;
  expect(payout).toMatchObject({ inDoubt: true, status: 'PROCESSING' });
  const stream = api.ws(FOLLOW, { id: payout.id });
  await stream.data();
  for (let minute = 0; minute < 35; minute += 5) await pair.pass(300_000);
  expect((await stream.data()).payoutUpdates.payout).toMatchObject({
    id: payout.id,
    status: 'DENIED',
    final: true,
    inDoubt: false,
    code: null,
  });
  expect((await api.request(UNRESOLVED)).requestsInDoubt.nodes).toEqual([]);
});

test('a dashboard token sees only the unresolved requests of what it may read', async () => {
  const api = pair.facade.client(pair.keys.live);
  pair.proxy.plan = ({ method }) => (method === 'POST' ? { kind: 'reset', when: 'before' } : PASS);
  await api.request(REQUEST, input('fourth', 4_000));
  await api.request(
    `mutation { createCardPayment(input: { valueCents: 5000, idempotencyKey: "sale" }) { __typename } }`,
  );
  pair.proxy.plan = () => PASS;
  const seenWith = async (...scopes: string[]) => {
    const { createDashboardToken } = await api.request(
      `mutation ($scopes: [DashboardScope!]!) { createDashboardToken(input: { scopes: $scopes }) {
        ... on CreateDashboardTokenSuccess { token } } }`,
      { scopes },
    );
    const { requestsInDoubt } = await pair.facade.client(createDashboardToken.token).request(UNRESOLVED);
    return requestsInDoubt.nodes.map((each: { idempotencyKey: string }) => each.idempotencyKey);
  };
  // Both are of one instant of the clock, so that either may come first.
  expect((await seenWith('PAYOUTS', 'CARD_PAYMENTS')).sort()).toEqual(['fourth', 'sale']);
  expect(await seenWith('PAYOUTS')).toEqual(['fourth']);
  const { requestsInDoubt } = await api.request(UNRESOLVED);
  expect(requestsInDoubt.nodes).toHaveLength(2);

  // Pages part even what is of one instant.
  const page = async (args: string) =>
    (
      await api.request(
        `{ page: requestsInDoubt(${args}) { nodes { idempotencyKey } pageInfo { hasNextPage startCursor endCursor } } }`,
      )
    ).page;
  const keysOf = ({ nodes }: { nodes: { idempotencyKey: string }[] }) =>
    nodes.map(({ idempotencyKey }) => idempotencyKey);
  const [older, newer] = keysOf(requestsInDoubt);
  const first = await page('first: 1');
  expect([keysOf(first), first.pageInfo.hasNextPage]).toEqual([[older], true]);
  const second = await page(`first: 9, after: "${first.pageInfo.endCursor}"`);
  expect([keysOf(second), second.pageInfo.hasNextPage]).toEqual([[newer], false]);
  const last = await page('last: 1');
  expect(keysOf(last)).toEqual([newer]);
  expect(keysOf(await page(`last: 9, before: "${last.pageInfo.startCursor}"`))).toEqual([older]);
});
