import { expect, test, vi } from 'vitest';
import { buildBefore } from './before.ts';
import { watchStatements } from './processes/figures.mjs';
import { missedTargets, type Row, table } from './report.ts';
import { countRows, type Round, rowsOf, type WriterName } from './writes-rows.ts';

function row(name: string, changed: Partial<Row>): Row {
  return { name, unit: 'ms', ours: 4, floor: 2, ratio: 2, beside: '', explanation: '', ...changed };
}

const MISSED = [
  row('slower than its least', { target: { atLeast: 3 } }),
  row('dearer than its most', { target: { atMost: 1.9 } }),
  row('more than its most, without a floor', { floor: null, ratio: null, target: { atMost: 3 } }),
];
const MET = [
  row('at its least', { target: { atLeast: 2 } }),
  row('at its most', { target: { atMost: 2 } }),
  row('without a floor', { floor: null, ratio: null, target: { atMost: 4 } }),
  row('without a target', {}),
];

test('The rows that miss their target are named, and no other row of the benchmark', () => {
  expect(missedTargets([...MET, ...MISSED])).toEqual(MISSED.map(({ name }) => name));
  expect(missedTargets(MET)).toEqual([]);
});

test('The table of the benchmark marks each row that has a target as met or missed', () => {
  const marks = (rows: Row[]) => table(rows).match(/[✓✗]/g);
  expect(marks(MISSED)).toEqual(['✗', '✗', '✗']);
  expect(marks(MET)).toEqual(['✓', '✓', '✓']);
});

// ── Writes ──────────────────────────────────────────────────────────────────────────────────────

function round(perSecond: number): Round {
  const costs = { cpuUs: 100, databaseCpuUs: 200, statements: 5, transactions: 3, walBytes: 9_000 };
  return { perSecond, webhooks: 1, ...costs, diskBytes: perSecond };
}
const ROUNDS = [
  { one: 100, each: 90, many: 50, floor: 200, mercurius: 10, before: 20 },
  { one: 100, each: 70, many: 70, floor: 200, mercurius: 10, before: 20 },
  { one: 100, each: 90, many: 50, floor: 200, mercurius: 10, before: 20 },
].map(
  (rates) =>
    Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, round(rate)])) as Record<
      WriterName,
      Round
    >,
);
const PAYOUTS = { kind: 'payout', engine: 'PostgreSQL', callers: 64, many: 10_000 } as const;

test('The rows of writes are ratios to one tenant, to the rows alone, and to the peers that were measured', () => {
  const shown = (named: { mercurius: string | null; before: string | null }) =>
    rowsOf({ ...PAYOUTS, ...named }, ROUNDS).map(({ against, ratio }) => [against, ratio]);
  const always = [
    ['one tenant', 0.9],
    ['one tenant', 0.5],
    ['the rows alone', 0.45],
  ];
  expect(shown({ mercurius: null, before: null })).toEqual(always);
  expect(shown({ mercurius: 'Mercurius', before: 'abc123' })).toEqual([
    ...always,
    ['Mercurius with pg', 9],
    ['the build of abc123', 4.5],
  ]);
});

test('The bytes of a payout on the disk have a target only beside the build of before', () => {
  const missed = (before: string | null) =>
    missedTargets(countRows({ ...PAYOUTS, mercurius: null, before }, ROUNDS, 3));
  expect(missed(null)).toEqual(['subaccount payout, flushes, 64 tenants, PostgreSQL']);
  expect(missed('abc123')).toEqual([
    'subaccount payout, flushes, 64 tenants, PostgreSQL',
    'subaccount payout, disk, 64 tenants, PostgreSQL',
  ]);
});

test('A clone without the commit of before says so, and measures without it', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  expect(await buildBefore('0'.repeat(40))).toBeNull();
  expect(printed.mock.calls.join()).toMatch(/no commit 0{40}: what is measured against .* is left out/);
  printed.mockRestore();
});

test('Statements and transactions of the simulated rails are counted apart from those of the server', async () => {
  class Client {
    query(..._: unknown[]) {
      return Promise.resolve();
    }
  }
  const sent = watchStatements({ Client } as never);
  const client = new Client();
  for (const text of ['begin', 'select 1 from payment', 'update simulated_charge set status = $1', 'commit'])
    await client.query(text);
  await client.query({ text: 'insert into simulated_pix_code values ($1)' });
  for (const text of ['start transaction isolation level read committed', 'delete from simulated_charge'])
    await client.query(text);
  await client.query('commit');
  await client.query('select 1 from api_key');
  expect(sent).toEqual({ statements: 5, ofRails: 4, transactionsOfRails: 2 });
});
