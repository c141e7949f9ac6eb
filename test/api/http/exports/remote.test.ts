import { afterAll, beforeAll, expect, test } from 'vitest';
import { type File, getExport, rowsOf } from '../../../support/exports.ts';
import { type Pair, startPair } from '../../../support/pair.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair({ environment: { PSA_UPSTREAM_FAMILIES: 'payments,refunds,disputes' } });
});
afterAll(() => pair.close());

const get = (file: string): Promise<File> => getExport(pair.facade.url, file, pair.keys.live);

test('In front of another service a file has what that has shown, and says so', async () => {
  const { service, facade, accountIds } = pair;
  const tenant = { accountId: accountIds.service, environment: 'live' } as const;
  await service.controls.credit(tenant, 100_000);
  expect(rowsOf(await get('payouts.csv'))).toEqual([]);
  const { requestPayout } = await facade.live.request(
    `mutation { requestPayout(input: { method: PIX, amountCents: 5000, destination: "ana@example.com", idempotencyKey: "one" }) {
      ... on RequestPayoutSuccess { payout { withdrawalId } } } }`,
  );
  await facade.live.request('{ wallet { balanceCents } }');
  await pair.settled();
  await service.controls.credit(tenant, 1_000);
  pair.clock.advance(60_000);
  await facade.live.request('{ wallet { balanceCents } }');
  await pair.settled();

  const payouts = await get('payouts.ndjson?requestedAfter=2020-01-01T00:00:00Z');
  expect(payouts.headers.get('psa-exact')).toBe('false');
  expect(payouts.json[0].start).toMatchObject({ isExact: false });
  expect(rowsOf(payouts)).toMatchObject([
    { ...requestPayout.payout, amountCents: 5000, destination: 'a***@example.com' },
  ]);
  expect(rowsOf(await get('payouts.ndjson?status=denied'))).toEqual([]);
  // A statement has the changes of the wallet between two sightings.
  const { json } = await get('statement.ndjson');
  const [start, ...rows] = json;
  const { closing, sums } = rows.pop().end;
  expect(rows.length).toBeGreaterThan(0);
  expect(start.start.opening.balanceCents + sums.amountCents).toBe(closing.balanceCents);
  pair.clock.advance(60_000);
  for (const name of ['payments', 'refunds', 'disputes', 'subaccounts'])
    expect((await get(`${name}.csv`)).status, name).toBe(200);
});
