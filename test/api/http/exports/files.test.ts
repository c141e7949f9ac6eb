import { afterAll, beforeAll, expect, test } from 'vitest';
import { addAccount, addKey, addToken } from '../../../support/accounts.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../../support/app.ts';
import { type File, getExport, rowsOf } from '../../../support/exports.ts';
import { FILLED, fillAccount } from '../../../support/filled-account.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await fillAccount(app.database, app.clock.now());
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

/** Gets a file in a minute of its own, so that no limit is met. */
function get(file: string, credential = LIVE_KEY): Promise<File> {
  app.clock.advance(60_000);
  return getExport(app.url, file, credential);
}

const COUNTS = {
  payments: FILLED.payments + FILLED.cards + FILLED.charges,
  payouts: FILLED.payouts,
  refunds: undefined,
  disputes: FILLED.disputes,
  subaccounts: FILLED.subaccounts,
  statement: undefined,
};

test('Each file has every row once, in both forms', async () => {
  for (const [name, count] of Object.entries(COUNTS)) {
    const [csv, json] = [rowsOf(await get(`${name}.csv`)), rowsOf(await get(`${name}.ndjson`))];
    expect(csv.length, name).toBe(count ?? json.length);
    expect(new Set(csv.map(({ cursor }) => cursor)).size, name).toBe(csv.length);
    expect(csv.map(({ cursor }) => cursor)).toEqual(json.map(({ cursor }) => cursor));
  }
});

test('Payments are those of all methods, and a filter selects among them', async () => {
  const rows = rowsOf(await get('payments.ndjson'));
  const kinds = rows.map(({ kind }) => kind);
  expect([...new Set(kinds)]).toEqual(['card_payment', 'payment', 'charge']);
  const of = async (query: string) => rowsOf(await get(`payments.ndjson?${query}`));
  expect(await of('method=card')).toEqual(rows.filter(({ kind }) => kind === 'card_payment'));
  expect(await of('method=pix&status=refunded')).toEqual(
    rows.filter(({ kind, status }) => kind !== 'card_payment' && status === 'refunded'),
  );
  expect(await of('customerEmail=cliente9@example.com')).toEqual(
    rows.filter(({ customerEmail }) => customerEmail === 'cliente9@example.com'),
  );
  expect(await of('minAmountCents=3000&maxAmountCents=3005')).toHaveLength(
    rows.filter(({ amountCents }) => Number(amountCents) >= 3000 && Number(amountCents) <= 3005).length,
  );
});

test('A file that was cut off goes on behind any of its rows', async () => {
  const rows = rowsOf(await get('payments.ndjson'));
  for (const place of [0, 499, 599, 600, 2_998, rows.length - 1]) {
    const rest = rowsOf(await get(`payments.ndjson?after=${rows[place]!.cursor}`));
    expect(rest, `${place}`).toEqual(rows.slice(place + 1));
  }
});

test('A file has the rows that the scopes of a token show', async () => {
  const token = await addToken(app, { kind: 'dashboard', grant: { scopes: ['card_payments'] } });
  const kinds = async (file: string, name: string) => [
    ...new Set(rowsOf(await get(file, token)).map((row) => row[name])),
  ];
  expect(await kinds('payments.csv', 'kind')).toEqual(['card_payment']);
  expect(await kinds('refunds.csv', 'ofType')).not.toContain('payment');
});

test('The names of another account select nothing', async () => {
  const key = await addKey(app, { accountId: await addAccount(app) });
  const NAMES = { payments: 'id', payouts: 'withdrawalId', disputes: 'disputeId' };
  for (const [name, column] of Object.entries(NAMES)) {
    const reference = rowsOf(await get(`${name}.csv`))[0]![column];
    expect(rowsOf(await get(`${name}.csv?reference=${reference}`)), name).toHaveLength(1);
    expect(rowsOf(await get(`${name}.csv?reference=${reference}`, key)), name).toEqual([]);
    expect(rowsOf(await get(`${name}.csv`, key)), name).toEqual([]);
  }
});
