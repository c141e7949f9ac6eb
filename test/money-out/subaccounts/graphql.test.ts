import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstTenant } from '../../../server/src/access/service.ts';
import { createCommitter } from '../../../server/src/state/commit/committer.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { readAfter } from '../../support/events.ts';
import { fund } from '../../support/funds.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { recordStatements } from '../../support/statements.ts';

const NOWHERE = `sacc_${'0'.repeat(32)}`;
const KEY = 'bia@cliente.example';

let app: TestApp;
let statements: string[];
beforeAll(async () => {
  const clock = createManualClock();
  const recorded = recordStatements(await openFreshDatabase(clock));
  statements = recorded.statements;
  app = await startApp({ database: recorded.database, clock, config: { graphqlLimit: 100_000 } });
  await fund({ database: app.database, tenant: await firstTenant(app.database.sql) }, { cents: 10_000_000 });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

const ERRORS = `__typename ... on UserError { message code } ... on ValidationError { fields { path } }
  ... on PermissionError { requiresAnyOf }`;
const CREATE = `mutation ($input: CreateSubaccountInput!) { result: createSubaccount(input: $input) {
  ... on CreateSubaccountSuccess { replayed subaccount { id subaccountId name externalId balanceCents createdAt } } ${ERRORS} } }`;
const TRANSFER = `mutation ($input: TransferToSubaccountInput!) { result: transferToSubaccount(input: $input) {
  ... on TransferToSubaccountSuccess { replayed subaccount { balanceCents } entry { kind refId amountCents balanceAfterCents } }
  ... on InsufficientFundsError { requestedCents withdrawableCents balanceCents disputeBlockedCents subaccountsBalanceCents cryptoBalanceLtc }
  ${ERRORS} } }`;
const PAYOUT = `id payoutId withdrawalId code subaccountId status guidance reversed amountCents markupCents feeCents serviceFeeCents platformFeeCents
  netAmountCents pixKey endToEndId recipientName recipientBankName failureReason createdAt completedAt reversedAt final version`;
const REQUEST = `mutation ($input: RequestSubaccountPayoutInput!) { result: requestSubaccountPayout(input: $input) {
  ... on RequestSubaccountPayoutSuccess { replayed subaccountPayout { ${PAYOUT} } }
  ... on InsufficientFundsError { requestedCents withdrawableCents balanceCents disputeBlockedCents subaccountsBalanceCents cryptoBalanceLtc }
  ${ERRORS} } }`;
const LOOK_UP = `query ($subaccountId: String!, $reference: String!) {
  subaccountPayout(subaccountId: $subaccountId, reference: $reference) { ${PAYOUT} } }`;
const ONE = `subscription ($subaccountId: String!, $reference: String!, $after: String) {
  update: subaccountPayoutUpdates(subaccountId: $subaccountId, reference: $reference, after: $after) {
    cursor occurredAt previousStatus
    subaccountPayout { id status reversed version final pixKey subaccount { balanceCents } } } }`;
const ALL = `subscription ($subaccountId: String, $after: String) {
  update: allSubaccountPayoutUpdates(subaccountId: $subaccountId, after: $after) {
    previousStatus subaccountPayout { id status reversed version } } }`;

async function ask(client: GraphQLClient, document: string, input: object) {
  return (await client.request(document, { input })).result;
}

async function open(cents = 0, client = app.live): Promise<string> {
  const { subaccount } = await ask(client, CREATE, { name: 'Bia' });
  const { subaccountId } = subaccount;
  if (cents > 0) await ask(client, TRANSFER, { subaccountId, amountCents: cents });
  return subaccountId;
}

async function request(subaccountId: string, input: object = {}) {
  const asked = { subaccountId, amountCents: 4_000, pixKey: KEY, ...input };
  return (await ask(app.live, REQUEST, asked)).subaccountPayout;
}

async function pass(ms: number): Promise<void> {
  app.clock.advance(ms);
  await app.work.settled();
}

const restricted = async (permission: 'subcontas.gerenciar' | 'subcontas.sacar') =>
  app.client(await addKey(app, { permissions: [permission] }));
const outsider = async () => app.client(await addKey(app, { accountId: await addAccount(app) }));

describe('subaccounts', () => {
  test('subaccounts are created once for an externalId, given money, and shown with their statement', async () => {
    const input = { name: 'Bia', externalId: 'cliente-1' };
    const { subaccount, replayed } = await ask(app.live, CREATE, input);
    expect([replayed, subaccount.balanceCents]).toEqual([false, 0]);
    expect(await ask(app.live, CREATE, input)).toEqual({
      __typename: 'CreateSubaccountSuccess',
      subaccount,
      replayed: true,
    });
    expect(await ask(app.live, CREATE, { ...input, name: 'Ana' })).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ path: 'input.externalId' }],
    });
    const { subaccountId } = subaccount;
    const transfer = { subaccountId, amountCents: 10_000, idempotencyKey: 'repasse-1' };
    const entry = {
      kind: 'TRANSFER_IN',
      refId: expect.stringMatching(/^rep_/),
      amountCents: 10_000,
      balanceAfterCents: 10_000,
    };
    expect(await ask(app.live, TRANSFER, transfer)).toMatchObject({
      replayed: false,
      subaccount: { balanceCents: 10_000 },
      entry,
    });
    expect(await ask(app.live, TRANSFER, transfer)).toMatchObject({ replayed: true, entry });
    expect(await ask(app.live, TRANSFER, { ...transfer, amountCents: 1 })).toMatchObject({
      __typename: 'IdempotencyError',
    });
    const { payoutId } = await request(subaccountId);
    const shown = await app.live.request(
      `query ($id: String!) { subaccount(subaccountId: $id) { id name balanceCents
        statement(first: 1) { totalCount pageInfo { hasNextPage endCursor }
          nodes { kind refId amountCents balanceAfterCents createdAt } } } }`,
      { id: subaccountId },
    );
    expect(shown.subaccount).toMatchObject({
      id: subaccount.id,
      name: 'Bia',
      balanceCents: 6_000,
      statement: {
        totalCount: 2,
        pageInfo: { hasNextPage: true },
        nodes: [{ kind: 'PAYOUT', refId: payoutId, amountCents: -4_000, balanceAfterCents: 6_000 }],
      },
    });
    const next = await app.live.request(
      `query ($id: String!, $after: String) { subaccount(subaccountId: $id) {
        statement(after: $after) { pageInfo { hasNextPage } edges { cursor node { kind amountCents } } } } }`,
      { id: subaccountId, after: shown.subaccount.statement.pageInfo.endCursor },
    );
    expect(next.subaccount.statement).toMatchObject({
      pageInfo: { hasNextPage: false },
      edges: [{ node: { kind: 'TRANSFER_IN', amountCents: 10_000 } }],
    });
    const FILTERED = `query ($id: String!, $filter: StatementFilter) { subaccount(subaccountId: $id) {
      statement(last: 1, filter: $filter) { totalCount nodes { id refId } } } }`;
    const filtered = async (filter: object) =>
      (await app.live.request(FILTERED, { id: subaccountId, filter })).subaccount.statement;
    const out = await filtered({ kind: ['PAYOUT'], amountCents: 4_000 });
    expect(out).toMatchObject({ totalCount: 1, nodes: [{ refId: payoutId }] });
    expect(await filtered({ reference: payoutId })).toEqual(out);
    expect(await filtered({})).toMatchObject({
      totalCount: 2,
      nodes: [{ refId: expect.stringMatching(/^rep_/) }],
    });
    expect(await filtered({ createdBefore: '2020-01-01T00:00:00Z' })).toEqual({ totalCount: 0, nodes: [] });
    // An entry has an id, but is no node.
    const { body } = await app.live.send('query ($id: ID!) { node(id: $id) { id } }', {
      id: out.nodes[0].id,
    });
    expect(body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ path: 'id' }] });
  });

  test('subaccounts of another account or environment are null as unknown ones are; a malformed id is an error', async () => {
    const id = await open();
    const GET = 'query ($id: String!) { subaccount(subaccountId: $id) { name } }';
    for (const client of [await outsider(), app.sandbox])
      expect(await client.request(GET, { id })).toEqual({ subaccount: null });
    expect(await app.live.request(GET, { id: NOWHERE })).toEqual({ subaccount: null });
    const { body } = await app.live.send(GET, { id: 'sacc_\u0000' });
    expect(body.errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ path: 'subaccountId' }],
    });
  });
});

describe('payouts of subaccounts', () => {
  test('payouts of subaccounts are requested, found by every form with one id, and completed', async () => {
    const subaccountId = await open(10_000);
    const payout = await request(subaccountId, { idempotencyKey: 'saque-1', pixKey: '529.982.247-25' });
    expect(payout).toMatchObject({
      payoutId: 'saq_idem_saque-1',
      code: expect.stringMatching(/^TURBO-/),
      status: 'PROCESSING',
      guidance: 'WAIT',
      final: false,
      // The markup is the integrator's, the fee the service's, each under both of its names.
      ...{ amountCents: 4_000, markupCents: 50, feeCents: 50, serviceFeeCents: 100, platformFeeCents: 100 },
      netAmountCents: 3_850,
      pixKey: '***.982.247-**',
    });
    await pass(2_000);
    const shown = [];
    for (const reference of [payout.payoutId, payout.withdrawalId, payout.code])
      shown.push((await app.live.request(LOOK_UP, { subaccountId, reference })).subaccountPayout);
    expect(new Set(shown.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(shown[0]).toMatchObject({
      id: payout.id,
      status: 'COMPLETED',
      guidance: 'NONE',
      final: true,
      recipientName: expect.any(String),
    });
    const { node } = await app.live.request(
      `query ($id: ID!) { node(id: $id) { __typename ... on SubaccountPayout { ${PAYOUT} subaccount { subaccountId } } } }`,
      { id: payout.id },
    );
    expect(node).toEqual({ __typename: 'SubaccountPayout', ...shown[0], subaccount: { subaccountId } });
    const replay = { subaccountId, amountCents: 4_000, pixKey: '52998224725', idempotencyKey: 'saque-1' };
    expect(await ask(app.live, REQUEST, replay)).toEqual({
      __typename: 'RequestSubaccountPayoutSuccess',
      replayed: true,
      subaccountPayout: shown[0],
    });
    expect(await ask(app.live, REQUEST, { ...replay, amountCents: 4_001 })).toMatchObject({
      __typename: 'IdempotencyError',
    });
  });

  test('payouts of subaccounts guide a caller through a failure to its reversal', async () => {
    const subaccountId = await open(10_000);
    const { code } = await request(subaccountId, { pixKey: 'recusa@psa.example' });
    const look = async () =>
      (await app.live.request(LOOK_UP, { subaccountId, reference: code })).subaccountPayout;
    expect(await look()).toMatchObject({
      status: 'FAILED',
      reversed: false,
      guidance: 'CONTACT_SUPPORT',
      final: false,
      withdrawalId: null,
      ...{ serviceFeeCents: null, platformFeeCents: null },
    });
    await pass(2_000);
    expect(await look()).toMatchObject({ reversed: true, guidance: 'RETRY_WITH_NEW_KEY', final: true });
  });

  test('payouts of subaccounts with bad input are refused, by the name of the field', async () => {
    const subaccountId = await open(10_000);
    for (const [wrong, refusal] of [
      [
        { amountCents: 20_000 },
        {
          __typename: 'InsufficientFundsError',
          code: 'INSUFFICIENT_FUNDS',
          requestedCents: 20_000,
          withdrawableCents: 10_000,
          balanceCents: 10_000,
          disputeBlockedCents: 0,
          subaccountsBalanceCents: null,
          cryptoBalanceLtc: null,
        },
      ],
      [{ amountCents: 150 }, { __typename: 'ValidationError', fields: [{ path: 'input.amountCents' }] }],
      [{ amountCents: 0 }, { __typename: 'ValidationError', fields: [{ path: 'input.amountCents' }] }],
      [{ pixKey: 'x' }, { __typename: 'ValidationError', fields: [{ path: 'input.pixKey' }] }],
      [
        { idempotencyKey: 'a b ' },
        { __typename: 'ValidationError', fields: [{ path: 'input.idempotencyKey' }] },
      ],
      [{ subaccountId: 'x' }, { __typename: 'ValidationError', fields: [{ path: 'input.subaccountId' }] }],
      [{ subaccountId: NOWHERE }, { __typename: 'NotFoundError', message: 'Subaccount not found' }],
    ] as const) {
      const input = { subaccountId, amountCents: 4_000, pixKey: KEY, ...wrong };
      expect([wrong, await ask(app.live, REQUEST, input)]).toMatchObject([wrong, refusal]);
    }
  });

  test('payouts of another subaccount, account or environment are null; a malformed reference is an error', async () => {
    const [subaccountId, sibling] = [await open(10_000), await open()];
    const { payoutId: reference, id } = await request(subaccountId);
    for (const client of [await outsider(), app.sandbox]) {
      expect(await client.request(LOOK_UP, { subaccountId, reference })).toEqual({ subaccountPayout: null });
      expect(await client.request('query ($id: ID!) { node(id: $id) { id } }', { id })).toEqual({
        node: null,
      });
    }
    expect(await app.live.request(LOOK_UP, { subaccountId: sibling, reference })).toEqual({
      subaccountPayout: null,
    });
    for (const malformed of ['', 'x', 'saq_\u0000']) {
      const { body } = await app.live.send(LOOK_UP, { subaccountId, reference: malformed });
      expect(body.errors[0].extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: [{ path: 'reference' }],
      });
    }
  });

  test('fifty payouts with their subaccount are read in two statements', async () => {
    const subaccountId = await open(50 * 200);
    for (let count = 0; count < 50; count += 1) await request(subaccountId, { amountCents: 200 });
    statements.length = 0;
    const { subaccount } = await app.live.request(
      `query ($id: String!) { subaccount(subaccountId: $id) { payouts(first: 50) { nodes { code subaccount { name balanceCents } } } } }`,
      { id: subaccountId },
    );
    expect(subaccount.payouts.nodes).toHaveLength(50);
    expect(subaccount.payouts.nodes[49].subaccount).toEqual({ name: 'Bia', balanceCents: 0 });
    expect(statements.filter((statement) => /\bsubaccount/.test(statement)).length).toBe(2);
    // The others count the request, and read the credential unless it was read in the last second.
    expect(statements.filter((statement) => !/rate_window|api_key/.test(statement))).toHaveLength(2);
  });

  test('payouts and statements of many subaccounts are read in one statement each, and counted in one each', async () => {
    const ids = [];
    for (let count = 0; count < 12; count += 1) ids.unshift(await open(3_000));
    for (const id of ids.slice(0, 6)) await request(id, { amountCents: 1_000 });
    await request(ids[0]!, { amountCents: 500, pixKey: 'recusa@psa.example' });
    statements.length = 0;
    const { subaccounts } = await app.live.request(
      `{ subaccounts(first: 12) { nodes { subaccountId
        payouts(first: 1) { totalCount nodes { amountCents } }
        failed: payouts(first: 1, status: [FAILED]) { totalCount nodes { status } }
        statement(first: 2) { totalCount nodes { amountCents } pageInfo { hasNextPage endCursor } } } } }`,
    );
    const asked = statements.filter((statement) =>
      /\b(?:subaccount|statement_entry|list_count)/.test(statement),
    );
    // The statements: the subaccounts, then pages and counts of the payouts, the failed payouts and the statements.
    expect(asked).toHaveLength(1 + 2 + 2 + 2);
    const { nodes } = subaccounts;
    expect(nodes.map((node: { subaccountId: string }) => node.subaccountId)).toEqual(ids);
    expect(nodes[0].payouts).toEqual({ totalCount: 2, nodes: [{ amountCents: 500 }] });
    expect(nodes[0].failed).toEqual({ totalCount: 1, nodes: [{ status: 'FAILED' }] });
    expect(nodes[0].statement.totalCount).toBe(3);
    expect(nodes[0].statement.pageInfo.hasNextPage).toBe(true);
    expect(nodes[5].payouts).toEqual({ totalCount: 1, nodes: [{ amountCents: 1_000 }] });
    expect(nodes[5].failed).toEqual({ totalCount: 0, nodes: [] });
    expect(nodes[5].statement.nodes).toEqual([{ amountCents: -1_000 }, { amountCents: 3_000 }]);
    expect(nodes[11].payouts).toEqual({ totalCount: 0, nodes: [] });
    expect(nodes[11].statement.nodes).toEqual([{ amountCents: 3_000 }]);
  });
});

describe('rights', () => {
  test('a key that withdraws requests and follows payouts, and sees nothing else of a subaccount', async () => {
    const client = await restricted('subcontas.sacar');
    const subaccountId = await open(10_000);
    const input = { subaccountId, amountCents: 4_000, pixKey: KEY };
    const { subaccountPayout } = await ask(client, REQUEST, input);
    const reference = subaccountPayout.payoutId;
    const { subaccount } = await client.request(
      `query ($id: String!, $reference: String!) { subaccount(subaccountId: $id) { subaccountId name externalId balanceCents createdAt
        payouts { totalCount } payout(reference: $reference) { payoutId subaccount { subaccountId balanceCents } } } }`,
      { id: subaccountId, reference },
    );
    expect(subaccount).toEqual({
      subaccountId,
      name: null,
      externalId: null,
      balanceCents: null,
      createdAt: null,
      payouts: { totalCount: 1 },
      payout: { payoutId: reference, subaccount: { subaccountId, balanceCents: null } },
    });
    const updates = client.ws(ONE, { subaccountId, reference });
    expect((await updates.data()).update.subaccountPayout.status).toBe('PROCESSING');
    await updates.close();

    for (const [document, refused] of [
      [CREATE, { name: 'x' }],
      [TRANSFER, { subaccountId, amountCents: 1 }],
    ] as const)
      expect(await ask(client, document, refused)).toMatchObject({
        __typename: 'PermissionError',
        requiresAnyOf: ['subcontas.gerenciar'],
      });
    for (const document of [
      '{ subaccounts { totalCount } }',
      `{ subaccount(subaccountId: "${subaccountId}") { statement { totalCount } } }`,
    ])
      expect((await client.send(document)).body.errors[0].extensions.code).toBe('FORBIDDEN');
  });
});

describe('updates', () => {
  test('updates of one payout are its state, each change, and the end at the reversal', async () => {
    const subaccountId = await open(10_000);
    const { code: reference, id } = await request(subaccountId, { pixKey: 'negado@psa.example' });
    const updates = app.live.ws(ONE, { subaccountId, reference });
    const first = (await updates.data()).update;
    expect(first).toMatchObject({
      previousStatus: null,
      subaccountPayout: { id, status: 'PROCESSING', subaccount: { balanceCents: 6_000 } },
    });
    await pass(2_000);
    const second = (await updates.data()).update;
    expect(second).toMatchObject({
      previousStatus: 'PROCESSING',
      occurredAt: app.clock.now().toISOString(),
      subaccountPayout: { status: 'FAILED', reversed: false, final: false },
    });
    await pass(2_000);
    expect((await updates.data()).update).toMatchObject({
      previousStatus: 'FAILED',
      subaccountPayout: {
        status: 'FAILED',
        reversed: true,
        final: true,
        subaccount: { balanceCents: 10_000 },
      },
    });
    expect((await updates.next()).done).toBe(true);

    const since: boolean[] = [];
    for await (const { data } of app.live.sse(ONE, { subaccountId, reference, after: second.cursor }))
      since.push(data.update.subaccountPayout.reversed);
    expect(since).toEqual([true]);
    const over = app.live.ws(ONE, { subaccountId, reference });
    expect((await over.data()).update.subaccountPayout.reversed).toBe(true);
    expect((await over.next()).done).toBe(true);
  });

  test('updates of all payouts, or of one subaccount’s alone, come in order, and none of another tenant', async () => {
    const client = app.client(await addKey(app));
    const [one, other] = [await open(10_000), await open(10_000)];
    const { updatesCursor: after } = await client.request('{ updatesCursor }');
    const [all, ofOne, foreign] = [
      client.ws(ALL, { after }),
      client.sse(ALL, { after, subaccountId: one }),
      (await outsider()).ws(ALL),
    ];
    const made = [await request(other), await request(one), await request(other)];
    const next = async (stream: typeof all) => {
      const { subaccountPayout } = (await stream.data()).update;
      return `${subaccountPayout.id} ${subaccountPayout.version}`;
    };
    for (const { id } of made) for (const version of [1, 2]) expect(await next(all)).toBe(`${id} ${version}`);
    for (const version of [1, 2]) expect(await next(ofOne)).toBe(`${made[1].id} ${version}`);
    await pass(2_000);
    expect(await next(ofOne)).toBe(`${made[1].id} 3`);
    await Promise.all([all, ofOne, foreign].map((stream) => stream.close()));
  });

  test.each([
    ['NOT_FOUND', ONE, { subaccountId: NOWHERE, reference: 'saq_idem_x' }],
    ['BAD_USER_INPUT', ONE, { subaccountId: 'x', reference: 'saq_idem_x' }],
    ['BAD_USER_INPUT', ONE, { subaccountId: NOWHERE, reference: 'x' }],
    ['NOT_FOUND', ALL, { subaccountId: NOWHERE }],
    ['BAD_USER_INPUT', ALL, { after: 'x' }],
  ])('updates end with %s for what cannot be followed', async (code, document, variables) => {
    const answer = await app.live
      .ws(document, variables)
      .next()
      .catch((error: unknown) => error);
    expect(JSON.stringify(answer)).toContain(code);
  });
});

test('a payout that had another id before has each update once among those of all payouts', async () => {
  const tenant = await firstTenant(app.database.sql);
  const subaccountId = await open(10_000);
  const { updatesCursor: after } = await app.live.request('{ updatesCursor }');
  await request(subaccountId);
  const [made] = await readAfter(app.database.sql, tenant, {
    after: 0,
    topic: { resource: 'subaccount_payout' },
    limit: 1_000,
  }).then(({ events }) => events.slice(-1));
  if (made?.resource !== 'subaccount_payout') throw new Error('nothing was announced');
  const followed = [
    app.live.sse(ALL, { subaccountId, after }),
    app.live.sse(
      `subscription ($after: String) { update: accountUpdates(after: $after, kinds: [SUBACCOUNT_PAYOUT]) {
      ... on SubaccountPayoutUpdate { subaccountPayout { version } } } }`,
      { after },
    ),
  ];
  // A facade announces the payout like this.
  const payout = { ...made.snapshot, version: 3 };
  const { kind, resource, resourceId, previousStatus } = made;
  const committer = createCommitter({ ...app, onCommit: () => undefined });
  await committer.change({
    tenant,
    read: async () => undefined,
    decide: () => ({
      outcome: null,
      writes: {
        events: [`sqp_${'f'.repeat(32)}`, resourceId].map((id) => ({
          ...{ kind, resource, resourceId: id, previousStatus },
          snapshot: payout,
        })),
      },
    }),
  });
  await request(subaccountId);
  for (const updates of followed) {
    const versions: number[] = [];
    while (versions.length < 5) versions.push((await updates.data()).update.subaccountPayout.version);
    expect(versions).toEqual([1, 2, 3, 1, 2]);
    await updates.close();
  }
});
