import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { paymentFromWire } from '../../../server/src/money-in/payments/wire.ts';
import { type Pair, type Service, startPair, startService } from '../../support/pair.ts';

const LTC = `paymentId status method refundableCents pix { txid }
  ltc { address amountLtc receivedLtc confirmations requiredConfirmations uri }`;
const FIND = `query ($paymentId: String!) { payment(paymentId: $paymentId) { ${LTC} } }`;
const LIST = `{ payments(filter: { method: [LTC] }) { totalCount nodes { paymentId } } }`;
const FOLLOW = `subscription ($paymentId: String!) {
  paymentUpdates(paymentId: $paymentId) { previousStatus payment { status ltc { confirmations } } } }`;

describe('a facade of a service with payments by LTC', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(async () => {
    expect(service.app.faults).toEqual([]);
    await service.app.close();
  });

  async function start(): Promise<Pair> {
    const pair = await startPair({ service, account: {} });
    onTestFinished(async () => {
      await pair.close();
      await service.app.database.sql
        .deleteFrom('task')
        .where('account_id', '=', pair.accountIds.service)
        .execute();
    });
    return pair;
  }

  test('A payment is read with its address and its amount, listed by its method, and followed until it is paid', async () => {
    const pair = await start();
    const tenant = { accountId: pair.accountIds.service, environment: 'live' } as const;
    const created = await service.app.payments.create(tenant, { valueCents: 4_990, method: 'ltc' });
    const { paymentId, ltc } = created.payment;
    const client = pair.facade.client(pair.keys.live);
    expect((await client.request(FIND, { paymentId })).payment).toEqual({
      paymentId,
      status: 'PENDING',
      method: 'LTC',
      refundableCents: 0,
      pix: null,
      ltc: {
        address: ltc!.address,
        amountLtc: '0.08149068',
        receivedLtc: '0.00000000',
        confirmations: 0,
        requiredConfirmations: 2,
        uri: `litecoin:${ltc!.address}?amount=0.08149068`,
      },
    });
    expect((await client.request(LIST)).payments).toEqual({ totalCount: 1, nodes: [{ paymentId }] });
    const updates = client.sse(FOLLOW, { paymentId });
    expect((await updates.data()).paymentUpdates.payment.status).toBe('PENDING');
    await service.app.litecoin.send(ltc!.address!, { litoshi: 8_149_068, confirmations: 2 });
    await service.app.ltc.receive(tenant, paymentId);
    await pair.settled();
    expect((await updates.data()).paymentUpdates).toMatchObject({
      previousStatus: 'PENDING',
      payment: { status: 'PAID' },
    });
    await updates.close();
  });

  test('A payment by LTC is not created through a facade, and nothing is sent', async () => {
    const pair = await start();
    const { createPayment } = await pair.facade
      .client(pair.keys.live)
      .request(
        `mutation { createPayment(input: { valueCents: 4990, method: LTC }) { ... on UserError { code } } }`,
      );
    expect(createPayment).toEqual({ code: 'NOT_OFFERED' });
  });
});

describe('the reader of another service’s payments by LTC', () => {
  const read = (members: object) =>
    paymentFromWire({ paymentId: 'psa_1', status: 'pending', amountCents: 1, method: 'ltc', ...members })
      ?.ltc;
  const ADDRESS = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';

  test.each<[string, unknown, number | null]>([
    ['decimal text', '0.08149068', 8_149_068],
    ['fewer decimals', '1.5', 150_000_000],
    ['a whole number', '2', 200_000_000],
    ['a number', 0.29, 29_000_000],
    ['a negative amount', '-1', null],
    ['no amount', 'muito', null],
  ])('An amount in %s is read exactly, or not at all', (_, ltcAmount, litoshi) => {
    expect(read({ ltcAddress: ADDRESS, ltcAmount })).toMatchObject({ address: ADDRESS, litoshi });
  });

  test.each([
    ['a character is wrong', ADDRESS.replace('w508', 'w509')],
    ['it is of another chain', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['it is none', 'endereço'],
  ])('An address is not shown where %s: what is sent there would be lost', (_, ltcAddress) => {
    expect(read({ ltcAddress, ltcAmount: '1' })).toMatchObject({ address: null });
  });

  test('A payment without members of LTC has no request', () => {
    expect(read({})).toBeNull();
  });
});
