import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bucketsOf } from '../../../server/src/money-out/wallet/statement.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { liveAMonth, type Merchant, openMerchant } from '../../support/month.ts';
import { closeMonth } from './close-month.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

const FIGURES =
  'balanceCents disputeBlockedCents withdrawableCents pendingReleaseCents receivableCents subaccountsBalanceCents cryptoBalanceLtc';
const CHANGES =
  'amountCents subaccountsDeltaCents pendingReleaseDeltaCents disputeBlockedDeltaCents receivableDeltaCents cryptoDeltaLtc serviceFeeCents';
const ENTRY = `id kind reference createdAt unexplainedCents ${CHANGES} after { ${FIGURES} }`;

/** The change of each figure, by the name of the figure. */
const DELTAS = {
  balanceCents: 'amountCents',
  subaccountsBalanceCents: 'subaccountsDeltaCents',
  pendingReleaseCents: 'pendingReleaseDeltaCents',
  disputeBlockedCents: 'disputeBlockedDeltaCents',
  receivableCents: 'receivableDeltaCents',
  cryptoBalanceLtc: 'cryptoDeltaLtc',
} as const;

type Line = Record<string, string | number>;

describe('the statement of an account with every kind of movement', () => {
  let merchant: Merchant;
  let month: { from: string; to: string };
  beforeAll(async () => {
    merchant = await openMerchant(app);
    const from = app.clock.now().toISOString();
    await liveAMonth(app, merchant);
    month = { from, to: new Date(app.clock.now().getTime() + 1).toISOString() };
  });

  test('A month is closed from the API alone: every list, report and file agrees, in reais and in LTC', async () => {
    const source = readFileSync(new URL('close-month.ts', import.meta.url), 'utf8');
    expect(source).not.toMatch(/\bimport\b[^.]*['"]|\brequire\(/);
    const { kinds, comparisons, differences } = await closeMonth({
      ...{ url: app.url, key: merchant.key, startsAt: month.from, endsAt: month.to },
    });
    expect(differences).toEqual([]);
    expect(comparisons).toBeGreaterThan(400);
    expect(kinds).toEqual([
      ...[
        'CARD_PAYMENT',
        'CARD_RELEASE',
        'CHARGE',
        'CREDIT',
        'DISPUTE_HOLD',
        'DISPUTE_RELEASE',
        'LTC_CREDIT',
      ],
      ...['PAYMENT', 'PAYOUT', 'PAYOUT_RETURN', 'REFUND', 'REFUND_FAILURE', 'SPLIT', 'SUBACCOUNT_MARKUP'],
      ...['SUBACCOUNT_PAYOUT', 'SUBACCOUNT_PAYOUT_RETURN', 'SUBACCOUNT_TRANSFER'],
    ]);
    const { wallet } = await merchant.client.request(
      `query ($from: DateTime!, $to: DateTime!) { wallet { closing(startsAt: $from, endsAt: $to) {
        unexplainedCents lines { kind count serviceFeeCents } } } }`,
      month,
    );
    expect(wallet.closing.unexplainedCents).toBe(0);
    const lineOf = (of: string) => wallet.closing.lines.find(({ kind }: Line) => kind === of);
    const feeOf = (kind: string) => lineOf(kind).serviceFeeCents;
    expect([feeOf('PAYOUT'), feeOf('PAYOUT_RETURN'), feeOf('PAYMENT')]).toEqual([300, -200, 50]);
  });

  test('The entries sum to the wallet at every instant, and each continues the one before', async () => {
    const entries = (await everyEntry(merchant.client)).reverse();
    const running: Record<string, number> = {};
    for (const entry of entries) {
      for (const [figure, delta] of Object.entries(DELTAS))
        running[figure] = sum([running[figure] ?? 0, entry[delta]!]);
      const after = entry.after as unknown as Line;
      for (const figure of Object.keys(DELTAS)) expect(Number(after[figure]), figure).toBe(running[figure]);
    }
    const instants = [...new Set(entries.map(({ createdAt }) => createdAt as string))];
    const { wallet } = await merchant.client.request(
      `{ wallet { ${instants.map((at, nth) => `at${nth}: at(instant: "${at}") { figures { ${FIGURES} } entry { id } }`).join(' ')} } }`,
    );
    instants.forEach((at, nth) => {
      const last = entries.findLast(({ createdAt }) => createdAt === at)!;
      expect(wallet[`at${nth}`]).toEqual({ figures: last.after, entry: { id: last.id } });
    });
  });

  test('A period of the statement is half open, and its closing is the difference of the two instants', async () => {
    const entries = (await everyEntry(merchant.client)).reverse();
    const at = entries[Math.floor(entries.length / 2)]!.createdAt as string;
    const { wallet } = await merchant.client.request(
      `query ($from: DateTime!, $at: DateTime!, $to: DateTime!) {
        wallet {
          before: closing(startsAt: $from, endsAt: $at) { lines { count } closing { ${FIGURES} } }
          after: closing(startsAt: $at, endsAt: $to) { lines { count } opening { ${FIGURES} } }
          listed: statement(first: 1, filter: { createdAfter: $at, createdBefore: $to }) { totalCount }
          others: statement(first: 1, filter: { createdBefore: $at }) { totalCount }
        }
      }`,
      { ...month, at },
    );
    const counted = (lines: Line[]) => sum(lines.map(({ count }) => count!));
    const earlier = entries.filter(({ createdAt }) => `${createdAt}` < at).length;
    expect(counted(wallet.before.lines)).toBe(earlier);
    expect(counted(wallet.after.lines)).toBe(entries.length - earlier);
    expect(wallet.before.closing).toEqual(wallet.after.opening);
    expect([wallet.others.totalCount, wallet.listed.totalCount]).toEqual([earlier, entries.length - earlier]);
  });

  test('A history has a bucket for each day, which together hold what the entries do', async () => {
    const { wallet } = await merchant.client.request(
      `query ($from: DateTime!, $to: DateTime!) {
        wallet { ${FIGURES} history(startsAt: $from, endsAt: $to, interval: DAY) { startsAt endsAt inCents outCents closing { ${FIGURES} } } }
      }`,
      month,
    );
    const entries = await everyEntry(merchant.client);
    const amounts = entries.map(({ amountCents }) => Number(amountCents));
    const of = (name: string) => sum(wallet.history.map((bucket: Line) => bucket[name]!));
    expect(of('inCents')).toBe(sum(amounts.filter((cents) => cents > 0)));
    expect(of('outCents')).toBe(-sum(amounts.filter((cents) => cents < 0)));
    expect(wallet.history[0].startsAt).toBe(month.from);
    expect(wallet.history.at(-1).endsAt).toBe(month.to);
    expect(wallet.history.at(-1).closing).toEqual(
      Object.fromEntries(FIGURES.split(' ').map((name) => [name, wallet[name]])),
    );
    for (const [nth, bucket] of wallet.history.slice(1).entries())
      expect(wallet.history[nth].endsAt).toBe(bucket.startsAt);
  });

  test('A payment is found by its id with its refunds and disputes, and each entry names its resource', async () => {
    const { names } = merchant;
    const found = async (filter: object) => {
      const { wallet } = await merchant.client.request(
        `query ($filter: WalletEntryFilter) { wallet { statement(filter: $filter) {
          totalCount nodes { kind resource { __typename ... on Node { id } } }
        } } }`,
        { filter },
      );
      const { nodes, totalCount } = wallet.statement;
      expect(totalCount).toBe(nodes.length);
      return nodes.map(({ kind, resource }: { kind: string; resource: Line | null }) => [
        kind,
        resource?.__typename ?? null,
      ]);
    };
    expect(await found({ reference: names.payment })).toEqual([
      ['DISPUTE_RELEASE', 'Dispute'],
      ['DISPUTE_HOLD', 'Dispute'],
      ['REFUND', 'Refund'],
      ['PAYMENT', 'Payment'],
    ]);
    expect(await found({ reference: names.refund })).toEqual([['REFUND', 'Refund']]);
    expect(await found({ reference: names.denied })).toEqual([
      ['PAYOUT_RETURN', 'Payout'],
      ['PAYOUT', 'Payout'],
    ]);
    expect(await found({ subaccountId: names.subaccount, kind: ['SUBACCOUNT_TRANSFER'] })).toEqual([
      ['SUBACCOUNT_TRANSFER', 'Subaccount'],
    ]);
    expect(await found({ reference: names.order, kind: ['CARD_RELEASE'] })).toEqual([
      ['CARD_RELEASE', 'CardPayment'],
    ]);
    expect(await found({ kind: ['LTC_CREDIT'] })).toEqual([['LTC_CREDIT', 'Payment']]);
    expect(await found({ minAmountCents: 100_000 })).toEqual([['CREDIT', null]]);
    expect(await found({ reference: 'nothing' })).toEqual([]);
  });

  test('A wallet token reads the statement, and none of the resources that it has no scope for', async () => {
    const token = await addToken(app, {
      kind: 'dashboard',
      accountId: merchant.tenant.accountId,
      grant: { scopes: ['wallet', 'payouts'] },
    });
    const { wallet } = await app
      .client(token)
      .request(
        '{ wallet { statement(filter: { kind: [PAYMENT, PAYOUT] }) { nodes { id kind resource { __typename } } } } }',
      );
    for (const { kind, resource } of wallet.statement.nodes)
      expect([kind, resource?.__typename]).toEqual(
        kind === 'PAYOUT' ? ['PAYOUT', 'Payout'] : ['PAYMENT', undefined],
      );
    const { id } = wallet.statement.nodes[0];
    const query = 'query ($id: ID!) { node(id: $id) { __typename } }';
    expect((await app.client(token).request(query, { id })).node).toEqual({ __typename: 'WalletEntry' });
    const stranger = await openMerchant(app);
    expect((await stranger.client.request(query, { id })).node).toBeNull();
  });

  test('REST shows the same statement and the same closing', async () => {
    const first = await merchant.rest.get('/wallet/statement?limit=2&offset=1');
    const entries = await everyEntry(merchant.client);
    expect(first).toMatchObject({ status: 200, body: { total: entries.length, limit: 2, offset: 1 } });
    expect(first.body.entries).toMatchObject(
      entries.slice(1, 3).map(({ kind, amountCents, createdAt, reference }) => ({
        ...{ kind: `${kind}`.toLowerCase(), amountCents, createdAt, reference },
      })),
    );
    const closing = await merchant.rest.get(`/wallet/closing?startsAt=${month.from}&endsAt=${month.to}`);
    const { opening, closing: end, lines } = closing.body;
    for (const [figure, delta] of Object.entries(DELTAS))
      expect(sum([opening[figure], ...lines.map((line: Line) => line[delta])]), figure).toBe(end[figure]);
    const ofKinds = await merchant.rest.get('/wallet/statement?kind=payout,payout_return');
    expect(ofKinds.body.total).toBe(entries.filter(({ kind }) => `${kind}`.startsWith('PAYOUT')).length);
  });

  test.each<[string, string, string]>([
    [
      'closing(startsAt: "2026-02-01T00:00:00Z", endsAt: "2026-02-01T00:00:00Z") { startsAt }',
      'endsAt',
      'later than startsAt',
    ],
    [
      'closing(startsAt: "2024-01-01T00:00:00Z", endsAt: "2026-02-01T00:00:00Z") { startsAt }',
      'endsAt',
      '366 days',
    ],
    [
      'history(startsAt: "2026-01-01T00:00:00Z", endsAt: "2026-02-01T00:00:00Z", interval: HOUR) { startsAt }',
      'interval',
      '400',
    ],
    [
      'history(startsAt: "2026-01-01T00:00:00Z", endsAt: "2026-02-01T00:00:00Z", interval: DAY, timeZone: "Lua") { startsAt }',
      'timeZone',
      'time zone',
    ],
    ['statement(first: 1, last: 1) { totalCount }', 'last', 'not together with first'],
    ['statement(first: 0) { totalCount }', 'first', 'from 1 to 100'],
    ['statement(after: "x") { totalCount }', 'after', 'not a cursor'],
    ['statement(filter: { kind: [UNKNOWN] }) { totalCount }', 'filter.kind', 'UNKNOWN'],
    [
      'statement(filter: { createdAfter: "2026-02-01T00:00:00Z", createdBefore: "2026-01-01T00:00:00Z" }) { totalCount }',
      'filter.createdBefore',
      'later',
    ],
  ])('The statement refuses %s, naming %s', async (field, path, message) => {
    await expect(merchant.client.request(`{ wallet { ${field} } }`)).rejects.toThrow(
      expect.objectContaining({ message: expect.stringContaining(message) }),
    );
    await expect(merchant.client.request(`{ wallet { ${field} } }`)).rejects.toThrow(path);
  });

  test.each([
    ['/wallet/closing?startsAt=2026-01-01T00:00:00Z', 'endsAt'],
    ['/wallet/closing?startsAt=2026-01-02T00:00:00Z&endsAt=2026-01-01T00:00:00Z', 'endsAt'],
    ['/wallet/closing?startsAt=gestern&endsAt=2026-01-01T00:00:00Z', 'startsAt'],
    ['/wallet/statement?kind=nothing', 'kind'],
    ['/wallet/statement?limit=0', 'limit'],
  ])('REST refuses %s, naming %s', async (path, name) => {
    const { status, body } = await merchant.rest.get(path);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(name)]);
  });
});

test('A text that cannot be stored is the id of no subaccount', async () => {
  const rest = app.rest(await addKey(app, { accountId: await addAccount(app) }));
  expect(await rest.get('/wallet/statement?subaccountId=%00')).toMatchObject({ status: 200 });
});

test('An account without entries has no wallet at an instant, and its figures are 0', async () => {
  const { client } = await openMerchant(app);
  const { wallet } = await client.request(`{ wallet {
    at(instant: "2030-01-01T00:00:00Z") { instant }
    statement { totalCount nodes { id } }
    closing(startsAt: "2026-01-01T00:00:00Z", endsAt: "2026-02-01T00:00:00Z") { opening { balanceCents } lines { kind } closing { balanceCents } }
  } }`);
  const nothing = { balanceCents: 0 };
  expect(wallet).toEqual({
    at: null,
    statement: { totalCount: 0, nodes: [] },
    closing: { opening: nothing, lines: [], closing: nothing },
  });
});

test('A follower of the statement gets the entries of each change, and resumes behind a cursor', async () => {
  const { client, tenant } = await openMerchant(app);
  const UPDATES = `subscription ($after: String) {
    statementUpdates(after: $after) { cursor occurredAt entries { kind amountCents after { balanceCents } } }
  }`;
  const { updatesCursor } = await client.request('{ updatesCursor }');
  const updates = client.ws(UPDATES, { after: updatesCursor });
  await app.controls.credit(tenant, 1_000);
  const first = (await updates.data()).statementUpdates;
  expect(first.entries).toEqual([{ kind: 'CREDIT', amountCents: 1_000, after: { balanceCents: 1_000 } }]);
  await app.controls.openDispute(tenant, { amountCents: 300 });
  const second = (await updates.data()).statementUpdates;
  expect(second.entries).toEqual([{ kind: 'DISPUTE_HOLD', amountCents: 0, after: { balanceCents: 1_000 } }]);
  await updates.close();
  const resumed = client.ws(UPDATES, { after: first.cursor });
  expect((await resumed.data()).statementUpdates).toEqual(second);
  await resumed.close();
});

test('Everything of the account in one stream has the entries of the statement too', async () => {
  const { client, tenant } = await openMerchant(app);
  const { updatesCursor } = await client.request('{ updatesCursor }');
  const updates = client.ws(
    'subscription ($after: String) { accountUpdates(after: $after, kinds: [WALLET]) { ... on WalletUpdate { wallet { balanceCents } entries { kind amountCents } } } }',
    { after: updatesCursor },
  );
  for (const amountCents of [1_000, 500]) await app.controls.credit(tenant, amountCents);
  const update = async () => (await updates.data()).accountUpdates;
  expect([await update(), await update()]).toEqual([
    { wallet: { balanceCents: 1_000 }, entries: [{ kind: 'CREDIT', amountCents: 1_000 }] },
    { wallet: { balanceCents: 1_500 }, entries: [{ kind: 'CREDIT', amountCents: 500 }] },
  ]);
  await updates.close();
});

test('A key with the permission statement.read closes the books and moves nothing', async () => {
  const { tenant } = await openMerchant(app);
  const key = await addKey(app, { accountId: tenant.accountId, permissions: ['statement.read'] });
  expect((await app.client(key).request('{ wallet { statement { totalCount } } }')).wallet.statement).toEqual(
    {
      totalCount: 0,
    },
  );
  expect((await app.rest(key).get('/wallet/statement')).status).toBe(200);
  const payout = { amount: 10, method: 'pix', walletAddress: 'ana@example.com', idempotencyKey: 'x' };
  expect((await app.rest(key).post('/payouts', payout)).status).toBe(403);
  const other = await addKey(app, { accountId: tenant.accountId, permissions: ['subcontas.gerenciar'] });
  expect((await app.rest(other).get('/wallet/statement')).status).toBe(403);
});

test('Days and months begin by the clocks of the time zone, also where these are changed', () => {
  const of = (interval: 'hour' | 'day' | 'month', timeZone: string, from: string, to: string) =>
    bucketsOf({ interval, timeZone, startsAt: new Date(from), endsAt: new Date(to) }).map((at) =>
      at.toISOString(),
    );
  expect(of('day', 'America/Sao_Paulo', '2026-03-01T12:00:00Z', '2026-03-03T12:00:00Z')).toEqual([
    '2026-03-01T12:00:00.000Z',
    '2026-03-02T03:00:00.000Z',
    '2026-03-03T03:00:00.000Z',
    '2026-03-03T12:00:00.000Z',
  ]);
  // In Berlin the day of 2026-03-29 has 23 hours.
  expect(of('day', 'Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-30T22:00:00Z')).toEqual([
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
    '2026-03-30T22:00:00.000Z',
  ]);
  expect(of('month', 'America/Sao_Paulo', '2026-01-01T03:00:00Z', '2026-03-01T03:00:00Z')).toEqual([
    '2026-01-01T03:00:00.000Z',
    '2026-02-01T03:00:00.000Z',
    '2026-03-01T03:00:00.000Z',
  ]);
  expect(of('hour', 'Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-01T02:00:00Z')).toEqual([
    '2026-01-01T00:00:00.000Z',
    '2026-01-01T00:30:00.000Z',
    '2026-01-01T01:30:00.000Z',
    '2026-01-01T02:00:00.000Z',
  ]);
});

interface Page {
  totalCount: number;
  nodes: Line[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}

/** All entries, newest first, page by page. */
async function everyEntry(client: GraphQLClient): Promise<Line[]> {
  const entries: Line[] = [];
  for (let after: string | null = null; ; ) {
    const { wallet }: { wallet: { statement: Page } } = await client.request(
      `query ($after: String) { wallet { statement(first: 17, after: $after) {
        totalCount pageInfo { hasNextPage endCursor } nodes { ${ENTRY} }
      } } }`,
      { after },
    );
    entries.push(...wallet.statement.nodes);
    if (!wallet.statement.pageInfo.hasNextPage) {
      expect(entries.length).toBe(wallet.statement.totalCount);
      return entries;
    }
    after = wallet.statement.pageInfo.endCursor;
  }
}

/** Adds cents, or texts of LTC, without rounding. */
function sum(values: readonly (string | number)[]): number {
  return values.reduce<number>((all, value) => all + Math.round(Number(value) * 1e8), 0) / 1e8;
}
