import { afterAll, beforeAll, expect, test } from 'vitest';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { getExport } from '../../support/exports.ts';
import { type Pair, startPair } from '../../support/pair.ts';

const SECOND = 1_000;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair({ environment: { PSA_UPSTREAM_FAMILIES: 'payments,refunds,charges' } });
});
afterAll(async () => {
  await pair.close();
});

const ENTRIES = `{ wallet { balanceCents statement(last: 50) { totalCount nodes {
  id kind reference amountCents serviceFeeCents unexplainedCents createdAt seenAt after { balanceCents }
  resource { __typename id } } } } }`;

test('The statement in front of another service explains what was seen there, and says what it does not', async () => {
  const { service, facade, accountIds, clock, keys } = pair;
  const tenant = { accountId: accountIds.service, environment: 'live' } as const;
  const read = async () => {
    await pair.pass(3 * SECOND);
    return (await facade.live.request(ENTRIES)).wallet;
  };
  const mutate = (mutation: string) => facade.live.request(`mutation { ${mutation} }`);
  await service.controls.credit(tenant, 50_000);
  // A payment from before the statement, which is looked up later, is no line of it.
  const earlier = await service.payments.create(tenant, { valueCents: 900 });
  await service.pix.pay({ txid: txidOf(earlier.payment.paymentId) });
  await service.payments.receive(tenant, earlier.payment.paymentId);
  await pair.pass(SECOND);
  const startsAt = clock.now();
  const opening = await read();
  expect(opening.statement).toEqual({ totalCount: 0, nodes: [] });
  const updates = facade
    .client(keys.live)
    .ws('subscription { statementUpdates { entries { kind amountCents } } }');

  const { createPayment } = await mutate(
    'createPayment(input: { amountCents: 10000 }) { ... on CreatePaymentSuccess { payment { paymentId } } }',
  );
  const { paymentId } = createPayment.payment;
  await service.pix.pay({ txid: txidOf(paymentId) });
  await service.payments.receive(tenant, paymentId);
  await pair.pass(2 * SECOND);
  await mutate(
    `refundPayment(input: { paymentId: "${paymentId}", amountCents: 2500, idempotencyKey: "r" }) { __typename }`,
  );
  await mutate(`requestPayout(input: { method: PIX, amountCents: 4000, destination: "ana@example.com",
    idempotencyKey: "p" }) { __typename }`);
  await service.controls.credit(tenant, 333);
  await facade.live.request(`{ payment(paymentId: "${earlier.payment.paymentId}") { status } }`);
  await pair.pass(5 * SECOND);
  const { balanceCents, statement } = await read();
  const sum = (nodes: { amountCents: number }[]) =>
    nodes.reduce((all, { amountCents }) => all + amountCents, 0);
  expect(balanceCents).toBe(50_900 + 10_000 - 2_500 - 4_000 + 333);
  expect(sum(statement.nodes)).toBe(balanceCents - opening.balanceCents);
  const named = statement.nodes.filter(({ kind }: { kind: string }) => kind !== 'OBSERVED');
  expect(
    named.map(({ kind, amountCents }: { kind: string; amountCents: number }) => [kind, amountCents]),
  ).toEqual(
    expect.arrayContaining([
      ['PAYMENT', 10_000],
      ['REFUND', -2_500],
      ['PAYOUT', -4_000],
    ]),
  );
  expect(named).toHaveLength(3);
  const { resource } = named.find(({ kind }: { kind: string }) => kind === 'PAYMENT');
  expect(resource).toEqual({ __typename: 'Payment', id: expect.any(String) });
  const unexplained = statement.nodes.filter(({ kind }: { kind: string }) => kind === 'OBSERVED');
  expect(sum(unexplained)).toBe(333);
  expect(unexplained.map(({ serviceFeeCents }: { serviceFeeCents: null }) => serviceFeeCents)).toContain(
    null,
  );

  const { wallet } = await facade.live.request(
    `query ($startsAt: DateTime!, $endsAt: DateTime!) { wallet { closing(startsAt: $startsAt, endsAt: $endsAt) {
      unexplainedCents openingSeenAt closingSeenAt opening { balanceCents } closing { balanceCents }
      lines { kind count amountCents } } at(instant: $startsAt) { seenAt } } }`,
    { startsAt, endsAt: new Date(clock.now().getTime() + SECOND) },
  );
  const { closing } = wallet;
  // Nothing was seen before the period began: it opens with the first sighting.
  expect(wallet.at).toBeNull();
  expect(new Date(closing.openingSeenAt).getTime()).toBeGreaterThan(startsAt.getTime());
  expect(closing).toMatchObject({ unexplainedCents: 333, closing: { balanceCents } });
  expect(closing.opening.balanceCents + sum(closing.lines)).toBe(balanceCents);

  const { json } = await getExport(facade.url, 'statement.ndjson', keys.live);
  expect(json[0].start.opening.balanceCents).toBe(opening.balanceCents);
  expect(json.at(-1).end.closing.balanceCents).toBe(balanceCents);
  expect(json.slice(1, -1).at(-1)).toMatchObject({ seenAt: expect.any(String) });
  expect((await fetch(`${facade.url}/v1/wallet/statement`)).status).toBe(404);
  expect((await updates.data()).statementUpdates.entries.length).toBeGreaterThan(0);
  await updates.close();
});
