import { beforeAll, describe, expect, test } from 'vitest';
import { createRemoteDeliveries } from '../../server/src/catalogue/deliveries/remote/service.ts';
import { brCode } from '../../server/src/kernel/br-code.ts';
import type { UpstreamFamily } from '../../server/src/kernel/upstream-family.ts';
import { createRemoteCharges } from '../../server/src/money-in/charges/remote/service.ts';
import { createRemoteDisputes } from '../../server/src/money-in/disputes/remote/service.ts';
import { createRemotePayments } from '../../server/src/money-in/payments/remote/service.ts';
import { createRemoteRefunds } from '../../server/src/money-in/refunds/remote/service.ts';
import { createRemoteSubscriptions } from '../../server/src/money-in/subscriptions/remote/service.ts';
import type { Wallet } from '../../server/src/money-out/wallet/model.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import type { RemoteSlice } from '../../server/src/upstream/dependencies.ts';
import { openFreshDatabase } from '../support/database.ts';
import { startFacade } from '../support/facade.ts';
import { createScriptedService, ok, refused, timeout } from '../support/scripted-service.ts';
import { failStatements } from '../support/statements.ts';

const HEX = '0c7d1a5be2f94a3d8e6b7f100c7d1a5b';
const codeOf = (amountCents: number) =>
  brCode({
    url: 'pix.example.com/1',
    amountCents,
    merchantName: 'P',
    merchantCity: 'R',
  });

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
});

async function start<Service>(
  families: readonly UpstreamFamily[],
  create: (
    facade: Awaited<ReturnType<typeof startFacade>>,
  ) => Pick<RemoteSlice<Service>, 'serviceFor' | 'requests'>,
  on = database,
) {
  const script = createScriptedService();
  const facade = await startFacade({ database: on, upstream: script.upstream, families });
  const slice = create(facade);
  Object.assign(facade.requests, slice.requests);
  const reads: { at: Date; stale: boolean }[] = [];
  const port = slice.serviceFor({
    priority: 'merchant',
    subject: null,
    onRead: (at, stale) => reads.push({ at, stale }),
  });
  return { facade, script, port, reads, tenant: facade.tenant };
}

const createPayments = (facade: Awaited<ReturnType<typeof startFacade>>) =>
  createRemotePayments({
    ...facade,
    callbackUrl: 'https://pay.example/webhooks/psa',
    findProduct: async () => null,
    privateAddresses: false,
  });
const startPayments = (families: readonly UpstreamFamily[] = ['payments']) => start(families, createPayments);

/** The wrong answers of a service to a creation of 49.90. */
const lies = (rightId: string, wrongId: string): [string, Record<string, unknown>][] => {
  const right = { id: rightId, status: 'pending', amountCents: 4990, pixCopyPaste: codeOf(4990) };
  const code = codeOf(4990);
  return [
    ['another prefix', { ...right, id: wrongId }],
    ['no id', { ...right, id: undefined }],
    ['another amount', { ...right, amountCents: 4991 }],
    ['no amount', { ...right, amountCents: undefined }],
    ['a code of another amount', { ...right, pixCopyPaste: codeOf(49_900) }],
    [
      'a code with a wrong CRC',
      { ...right, pixCopyPaste: `${code.slice(0, -1)}${code.endsWith('0') ? 1 : 0}` },
    ],
    ['no code', { ...right, pixCopyPaste: null }],
    ['no status and no code', { ...right, status: undefined, pixCopyPaste: undefined }],
  ];
};

describe('a payment', () => {
  const right = { paymentId: `psa_${HEX}`, status: 'pending', amountCents: 4990, pixCopyPaste: codeOf(4990) };

  test('It is sent with a key, in whole but for the address of the merchant and the language', async () => {
    const { port, script, tenant } = await startPayments();
    script.on('POST', '/v1/payments', () => ok(right));
    const { payment } = await port.create(tenant, {
      valueCents: 4990,
      metadata: ' {"a": 1}',
      externalId: '7',
      callbackUrl: 'https://loja.example/x',
      customer: { name: 'Ana', taxId: '52998224725' },
      language: 'es',
    });
    expect(payment).toMatchObject({
      language: 'es',
      paymentId: right.paymentId,
      brCode: right.pixCopyPaste,
      externalId: '7',
      metadata: ' {"a": 1}',
      callbackUrl: 'https://loja.example/x',
      customer: { name: 'Ana', taxId: '52998224725' },
    });
    expect(script.requests.map(({ body, requestOptions }) => ({ body, requestOptions }))).toEqual([
      {
        body: {
          valueCents: 4990,
          method: 'pix',
          metadata: ' {"a": 1}',
          externalId: '7',
          customer: { name: 'Ana', taxId: '52998224725' },
          callbackUrl: 'https://pay.example/webhooks/psa',
          idempotencyKey: expect.stringMatching(/^psa-[0-9a-f]{24}$/),
        },
        requestOptions: { priority: 'money' },
      },
    ]);
  });

  test.each([
    ...lies(`psa_${HEX}`, `psc_${HEX}`),
    ['another method', { ...right, method: 'ltc' }],
    ['a subscription', { ...right, paymentId: `psa_sub_${HEX}` }],
  ] as const)(
    'An answer with %s is an error, no code is in it, and the payment is not known',
    async (_, answer) => {
      const { port, script, tenant, facade } = await startPayments();
      script.on('POST', '/v1/payments', () => ok(answer));
      const input = { valueCents: 4990, idempotencyKey: 'k' };
      const error = await port.create(tenant, input).catch((refusal: unknown) => refusal as Error);
      expect(error).toMatchObject({
        code: 'UPSTREAM_REFUSED',
        retryable: false,
        moneyMayHaveMoved: false,
      });
      expect((error as Error).message).not.toContain('000201');
      expect(await port.count(tenant, {})).toBe(0);
      expect(facade.faults).toHaveLength(1);
      // The key is free, and the service may now give a right answer.
      script.on('POST', '/v1/payments', () => ok(right));
      expect((await port.create(tenant, input)).payment.paymentId).toBe(right.paymentId);
    },
  );

  test.each([
    ['no status, and a code', { status: undefined }],
    ['one that has ended meanwhile, without a code', { status: 'expired', pixCopyPaste: null }],
  ])('An answer with %s is taken', async (_, rest) => {
    const { port, script, tenant } = await startPayments();
    script.on('POST', '/v1/payments', () => ok({ ...right, ...rest }));
    expect((await port.create(tenant, { valueCents: 4990 })).payment.paymentId).toBe(right.paymentId);
  });

  test.each([
    [
      refused(400, 'valueCents: must be less'),
      { fields: [{ path: 'input.valueCents', message: 'must be less' }] },
    ],
    [refused(401, 'no'), { code: 'UPSTREAM_REFUSED', retryable: false }],
    [refused(403, 'no'), { code: 'FORBIDDEN' }],
    [refused(404, 'no'), { code: 'UPSTREAM_REFUSED', retryable: false }],
    [refused(405, 'no'), { code: 'UPSTREAM_REFUSED', retryable: false }],
    [refused(409, 'This idempotency key was used before'), { code: 'IDEMPOTENCY_CONFLICT' }],
    [refused(409, 'no PIX'), { code: 'PAYMENTS_NOT_CONFIGURED', message: 'no PIX' }],
    [refused(500, 'no'), { code: 'UPSTREAM_UNAVAILABLE', retryable: true, moneyMayHaveMoved: false }],
    [ok('<html>'), { code: 'UPSTREAM_UNAVAILABLE', retryable: true, moneyMayHaveMoved: false }],
    [timeout(), { code: 'UPSTREAM_UNAVAILABLE', retryable: true, moneyMayHaveMoved: false }],
  ])('A refusal is that of its status (%#)', async (answer, expected) => {
    const { port, script, tenant } = await startPayments();
    script.on('POST', '/v1/payments', () => answer);
    await expect(port.create(tenant, { valueCents: 4990 })).rejects.toMatchObject(expected);
    expect(await port.count(tenant, {})).toBe(0);
  });

  test('An address of the merchant that may not be called is refused, and nothing is sent', async () => {
    const { port, script, tenant } = await startPayments();
    const input = { valueCents: 4990, callbackUrl: 'http://10.0.0.1/x' };
    await expect(port.create(tenant, input)).rejects.toMatchObject({
      fields: [{ path: 'input.callbackUrl' }],
    });
    expect(script.requests).toEqual([]);
  });

  test('It is not offered where other families are named, and nothing is sent', async () => {
    const { port, script, tenant } = await startPayments(['store']);
    await expect(port.create(tenant, { valueCents: 4990 })).rejects.toMatchObject({ code: 'NOT_OFFERED' });
    expect(script.requests).toEqual([]);
  });
});

describe('a refund', () => {
  const paymentId = `psa_${HEX}`;
  const right = { refundId: `ref_${HEX.slice(8)}`, status: 'processing', amountCents: 990, paymentId };
  const startRefunds = (families: readonly UpstreamFamily[] = ['refunds']) =>
    start(families, (facade) =>
      createRemoteRefunds({ ...facade, readWallet: () => Promise.reject(new Error('none')) }),
    );
  const resource = { type: 'payment', id: paymentId } as const;
  const input = { amountCents: 990, idempotencyKey: 'devolucao-1' };

  test.each([
    ['another prefix', { ...right, refundId: `psa_${HEX}` }],
    ['another amount', { ...right, amountCents: 4990 }],
    ['no amount', { ...right, amountCents: undefined }],
    ['another payment', { ...right, paymentId: `psa_${HEX.replace('0', '1')}` }],
    ['a charge', { ...right, paymentId: undefined, chargeId: `psc_${HEX}` }],
    ['no payment', { ...right, paymentId: undefined }],
  ])(
    'After an answer with %s money may have moved, and the refund is looked up by its key',
    async (_, answer) => {
      const { port, script, tenant } = await startRefunds();
      script.on('POST', '/v1/payments/', () => ok(answer));
      script.on('GET', '/v1/refunds/', () => ok(answer));
      await expect(port.request(tenant, resource, input)).rejects.toMatchObject({
        code: 'OUTCOME_UNKNOWN',
        retryable: false,
        moneyMayHaveMoved: true,
        lookupReference: 'ref_idem_devolucao-1',
      });
      expect(script.requestLines).toEqual([
        `POST /v1/payments/${paymentId}/refunds`,
        'GET /v1/refunds/ref_idem_devolucao-1',
      ]);
      expect(await port.count(tenant, {})).toBe(0);
      script.on('GET', '/v1/refunds/', () => ok(right));
      expect(await port.request(tenant, resource, input)).toMatchObject({
        replayed: true,
        refund: { refundId: right.refundId, status: 'processing', resource },
      });
    },
  );

  test('It is sent as it was requested, by the path of what it refunds', async () => {
    const { port, script, tenant } = await startRefunds();
    script.on('POST', '/v1/card-payments/', () =>
      ok({ ...right, paymentId: undefined, orderCode: 'PSC-a_1' }),
    );
    const card = { type: 'card_payment', id: 'PSC-a_1' } as const;
    await port.request(tenant, card, { ...input, reason: 'Um item' });
    expect(script.requests).toMatchObject([
      { path: '/v1/card-payments/PSC-a_1/refunds', body: { ...input, reason: 'Um item' } },
    ]);
  });

  describe('that is refused', () => {
    const wallet = {
      balanceCents: 10,
      withdrawableCents: 10,
      disputeBlockedCents: 0,
      subaccountsBalanceCents: 0,
    } as Wallet;
    const startRefused = async (shown: object | null, on = database) => {
      const started = await start(
        ['refunds'],
        (facade) => createRemoteRefunds({ ...facade, readWallet: async () => wallet }),
        on,
      );
      const { script, facade, tenant } = started;
      if (shown) {
        script.on('GET', '/v1/payments/', () => ok({ paymentId, amountCents: 4990, ...shown }));
        const reader = { priority: 'merchant', subject: null, onRead: () => undefined } as const;
        expect(await createPayments(facade).serviceFor(reader).find(tenant, paymentId)).toMatchObject(shown);
      }
      return started;
    };
    const paid = { status: 'paid', refundedCents: 0 };
    const [BAD_USER_INPUT, INSUFFICIENT_FUNDS] = ['BAD_USER_INPUT', 'INSUFFICIENT_FUNDS'];

    test.each<[string, object | null, string | undefined, string]>([
      ['a payment that is paid', paid, undefined, INSUFFICIENT_FUNDS],
      ['a payment that is pending', { ...paid, status: 'pending' }, undefined, BAD_USER_INPUT],
      ['a payment whose refunds are not shown', { status: 'paid' }, undefined, BAD_USER_INPUT],
      ['a payment that is not known', null, undefined, BAD_USER_INPUT],
      [
        'a payment whose refunds are not shown, by its code',
        { status: 'paid' },
        INSUFFICIENT_FUNDS,
        INSUFFICIENT_FUNDS,
      ],
      ['a payment that is not known, by its code', null, INSUFFICIENT_FUNDS, BAD_USER_INPUT],
    ])('The whole refund of %s is refused for its reason', async (_, shown, given, code) => {
      const { port, script, tenant } = await startRefused(shown);
      const headers = given === undefined ? {} : { 'x-error-code': given };
      script.on('POST', '/v1/payments/', () => ({ ...refused(400, 'No'), headers }));
      await expect(port.request(tenant, resource, {})).rejects.toMatchObject({ code });
    });

    test('A refund is refused as the service says where its payment cannot be read', async () => {
      let isAway = false;
      const broken = failStatements(database, (text) => isAway && text.includes('from observed'));
      const { port, script, tenant } = await startRefused(paid, broken);
      script.on('POST', '/v1/payments/', () => {
        isAway = true;
        return refused(400, 'No');
      });
      await expect(port.request(tenant, resource, {})).rejects.toMatchObject({
        fields: [{ path: 'input', message: 'No' }],
      });
    });
  });

  test('A refund of a word that is not known is on its way, and one that has ended goes back by a newer answer alone', async () => {
    const { port, script, tenant, facade } = await startRefunds();
    script.on('POST', '/v1/payments/', () => ok({ ...right, status: 'em análise' }));
    expect((await port.request(tenant, resource, input)).refund.status).toBe('processing');
    for (const [status, expected] of [
      ['completed', 'completed'],
      // The answer may be older than the end.
      ['processing', 'completed'],
      ['failed', 'failed'],
    ]) {
      script.on('GET', '/v1/refunds/', () => ok({ ...right, status }));
      facade.clock.advance(60_000);
      expect(await port.find(tenant, right.refundId)).toMatchObject({ status: expected });
    }
  });

  test('A refund is read by its key as by its id, and again after its end', async () => {
    const { port, script, tenant, facade, reads } = await startRefunds();
    script.on('POST', '/v1/payments/', () => ok(right));
    await port.request(tenant, resource, input);
    facade.clock.advance(60_000);
    script.on('GET', '/v1/refunds/', () => refused(403, 'No'));
    expect(await port.find(tenant, 'ref_idem_devolucao-1')).toMatchObject({ status: 'processing' });
    expect(reads.splice(0)).toMatchObject([{ stale: true }]);
    facade.clock.advance(60_000);
    script.on('GET', '/v1/refunds/', () => ok({ ...right, status: 'completed' }));
    for (let time = 0; time < 2; time += 1) {
      facade.clock.advance(60_000);
      expect(await port.find(tenant, 'ref_idem_devolucao-1')).toMatchObject({ status: 'completed' });
    }
    const line = `GET /v1/refunds/${right.refundId}`;
    expect(script.requestLines.slice(2)).toEqual([line, line]);
    expect(reads.at(-1)).toEqual({ at: facade.clock.now(), stale: false });
  });

  test('A refund that only the service knows is read by its key, and its age is known', async () => {
    const { port, script, tenant, facade, reads } = await startRefunds();
    script.on('GET', '/v1/refunds/ref_idem_devolucao-1', () => ok(right));
    expect(await port.find(tenant, 'ref_idem_devolucao-1')).toMatchObject({ refundId: right.refundId });
    expect(reads).toEqual([{ at: facade.clock.now(), stale: false }]);
    // A refund without an amount exists, and does not count as missing.
    script.on('GET', '/v1/refunds/ref_idem_devolucao-2', () =>
      ok({ ...right, refundId: `ref_${HEX.slice(0, 24)}`, amountCents: undefined }),
    );
    await expect(port.find(tenant, 'ref_idem_devolucao-2')).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
    script.on('GET', '/v1/refunds/', () => refused(404, 'Refund not found'));
    expect(await port.find(tenant, 'ref_idem_devolucao-3')).toBeNull();
    expect(reads).toHaveLength(3);
  });

  test('A refund in doubt is not said to be missing until the service has denied it for a quarter of an hour', async () => {
    const { port, script, tenant, facade } = await startRefunds();
    const inDoubt = { moneyMayHaveMoved: true, lookupReference: 'ref_idem_devolucao-1' };
    script.on('GET', '/v1/refunds/', () => refused(404, 'Refund not found'));
    let answer: () => void = () => undefined;
    script.on('POST', '/v1/payments/', async () => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return timeout();
    });
    const requesting = port.request(tenant, resource, input);
    await expect.poll(() => script.requests.length).toBe(1);
    const find = () => port.find(tenant, 'ref_idem_devolucao-1');
    await expect(find()).rejects.toMatchObject(inDoubt);
    answer();
    await expect(requesting).rejects.toMatchObject(inDoubt);
    await expect(find()).rejects.toMatchObject(inDoubt);
    for (let minute = 0; minute < 16; minute += 1) {
      facade.clock.advance(60_000);
      await facade.work.settled();
    }
    expect(await find()).toBeNull();
  });

  test('A refund in doubt whose look-up is forbidden (403) is reported after a quarter of an hour', async () => {
    const { port, script, tenant, facade } = await startRefunds();
    script.on('POST', '/v1/payments/', () => timeout());
    script.on('GET', '/v1/refunds/', () => refused(403, 'No'));
    await expect(port.request(tenant, resource, input)).rejects.toMatchObject({ moneyMayHaveMoved: true });
    const pass = async (minutes: number) => {
      for (let minute = 0; minute < minutes; minute += 1) {
        facade.clock.advance(60_000);
        await facade.work.settled();
      }
    };
    await pass(14);
    expect(facade.faults).toEqual([]);
    // The report comes at the next lookup, and lookups become rare.
    await pass(16);
    expect((await facade.intents.open(tenant, 'refund')).map(({ finding }) => finding)).toEqual([
      'The payments service does not show this refund',
    ]);
    expect(facade.faults).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/unknown since .*: see psa doubts list/) }),
    ]);
  });

  test('Without their word refunds are not offered, and nothing is sent', async () => {
    const { port, script, tenant } = await startRefunds(['payments']);
    for (const ask of [
      () => port.request(tenant, resource, input),
      () => port.find(tenant, right.refundId),
      () => port.list(tenant, { end: 'first', limit: 1 }),
      () => port.count(tenant, {}),
      async () => port.assertAnnounced(),
    ])
      await expect(ask()).rejects.toMatchObject({ code: 'NOT_OFFERED' });
    expect(await port.findMany(tenant, [right.refundId])).toEqual([null]);
    expect(script.requests).toEqual([]);
  });
});

describe('a charge', () => {
  const splits: { subaccountId: string; amountCents?: number; percent?: number }[] = [
    { subaccountId: 'sub_1', amountCents: 1000 },
    { subaccountId: 'sub_2', percent: 33.3 },
  ];
  const shown = [
    { subaccountId: 'sub_1', amountCents: 1000, percent: null },
    { subaccountId: 'sub_2', amountCents: 1661, percent: 33.3 },
  ];
  const split = {
    chargeId: `psplit_${HEX}`,
    status: 'pending',
    amountCents: 4990,
    pixCopyPaste: codeOf(4990),
    splits: shown,
  };
  const startCharges = () => start(['charges'], (facade) => createRemoteCharges(facade));

  test.each<[string, object, typeof splits | null]>([
    ...lies(`psc_${HEX}`, `psa_${HEX}`).map(([what, answer]): [string, object, null] => [what, answer, null]),
    ['the prefix of a split charge', { ...split, splits: [] }, null],
    ['splits', { ...split, chargeId: `psc_${HEX}` }, null],
    ['the prefix of a charge, though it is split', { ...split, chargeId: `psc_${HEX}` }, splits],
    ['no splits', { ...split, splits: undefined }, splits],
    ['a split that is missing', { ...split, splits: shown.slice(0, 1) }, splits],
    ['another subaccount', { ...split, splits: [{ ...shown[0], subaccountId: 'sub_3' }, shown[1]] }, splits],
    ['another share', { ...split, splits: [{ ...shown[0], amountCents: 1001 }, shown[1]] }, splits],
    ['another percentage', { ...split, splits: [shown[0], { ...shown[1], percent: 33.4 }] }, splits],
    [
      'a share of more than all',
      { ...split, splits: [shown[0], { ...shown[1], amountCents: 4991 }] },
      splits,
    ],
    ['another amount of a split charge', { ...split, amountCents: 499_000 }, splits],
  ])(
    'An answer with %s is an error, no code is in it, and the charge is not known',
    async (_, answer, asked) => {
      const { port, script, tenant } = await startCharges();
      script.on('POST', '/v1/charges', () => ok(answer));
      const error = await port
        .create(tenant, { valueCents: 4990, splits: asked })
        .catch((refusal: unknown) => refusal);
      expect(error).toMatchObject({
        code: 'UPSTREAM_REFUSED',
        retryable: false,
        moneyMayHaveMoved: false,
      });
      expect((error as Error).message).not.toContain('000201');
      expect(await port.count(tenant, {})).toBe(0);
    },
  );

  test('A split charge is sent as it was requested', async () => {
    const { port, script, tenant } = await startCharges();
    script.on('POST', '/v1/charges', () => ok(split));
    const { charge } = await port.create(tenant, { valueCents: 4990, splits, idempotencyKey: 'k' });
    expect(charge).toMatchObject({ chargeId: split.chargeId, brCode: split.pixCopyPaste });
    expect(script.requests[0]!.body).toEqual({
      valueCents: 4990,
      expiresInSeconds: 86_400,
      splits,
      idempotencyKey: 'k',
    });
  });
});

describe('a subscription', () => {
  const input = { valueCents: 4990, interval: 'monthly' as const };
  const startSubscriptions = () => start(['subscriptions'], (facade) => createRemoteSubscriptions(facade));
  const right = {
    id: `psa_sub_${HEX}`,
    status: 'pending',
    amountCents: 4990,
    pixCopyPaste: codeOf(4990),
    interval: 'monthly',
    endsAfterCycles: null,
  };

  test.each<[string, object]>([
    ...lies(`psa_sub_${HEX}`, `psa_${HEX}`).map(([what, answer]): [string, object] => [
      what,
      { ...answer, interval: 'monthly' },
    ]),
    ['another interval', { ...right, interval: 'weekly' }],
    ['no interval', { ...right, interval: undefined }],
    ['an end', { ...right, endsAfterCycles: 12 }],
  ])('An answer with %s is an error, and the subscription is not known', async (_, answer) => {
    const { port, script, tenant } = await startSubscriptions();
    script.on('POST', '/v1/subscriptions', () => ok(answer));
    await expect(port.create(tenant, input)).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
      retryable: false,
      moneyMayHaveMoved: false,
    });
    expect(await port.count(tenant, {})).toBe(0);
    script.on('POST', '/v1/subscriptions', () => ok(right));
    expect((await port.create(tenant, input)).subscription.brCode).toBe(right.pixCopyPaste);
  });

  test('After an answer to a cancellation without a body the subscription is read', async () => {
    const { port, script, tenant } = await startSubscriptions();
    script.on('DELETE', '/v1/subscriptions/', () => ({ status: 204, body: null }));
    script.on('GET', `/v1/subscriptions/${right.id}`, () => ok({ ...right, status: 'canceled' }));
    expect((await port.cancel(tenant, right.id)).subscription.status).toBe('canceled');
    script.on('GET', `/v1/subscriptions/${right.id}`, () => refused(503, 'later'));
    await expect(port.cancel(tenant, right.id)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });

  test('The answer to a cancellation has to name the subscription', async () => {
    const { port, script, tenant } = await startSubscriptions();
    script.on('DELETE', '/v1/subscriptions/', () => ok({ ...right, id: `psa_sub_${HEX.replace('0', '1')}` }));
    await expect(port.cancel(tenant, right.id)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    script.on('DELETE', '/v1/subscriptions/', () => refused(405, 'no'));
    await expect(port.cancel(tenant, right.id)).rejects.toMatchObject({ retryable: false });
  });
});

describe('evidence and content', () => {
  const disputeId = `dsp_${HEX.slice(8)}`;
  const productId = HEX.slice(8);

  test.each([
    ['another dispute', { disputeId: `dsp_${'1'.repeat(24)}`, amountCents: 1, evidence: [{ text: 'x' }] }],
    ['no evidence', { disputeId, amountCents: 1, evidence: [] }],
    ['no amount', { disputeId, evidence: [{ text: 'x' }] }],
    ['no dispute', { paymentId: `psa_${HEX}` }],
  ])('An answer to evidence with %s is an error', async (_, answer) => {
    const { port, script, tenant } = await start(['disputes'], (facade) => createRemoteDisputes(facade));
    script.on('POST', '/v1/disputes/', () => ok(answer));
    await expect(port.submitEvidence(tenant, disputeId, { text: 'x' })).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
      retryable: false,
    });
  });

  test.each([
    ['another product', { deliveryId: productId, productId: '1'.repeat(24), kind: 'text' }],
    ['another kind', { deliveryId: productId, productId, kind: 'link' }],
    ['no id', { productId, kind: 'text' }],
  ])('An answer to content with %s is an error', async (_, answer) => {
    const { port, script, tenant } = await start(['deliveries'], createDeliveries);
    script.on('POST', '/v1/deliveries', () => ok(answer));
    await expect(port.create(tenant, { productId, content: { text: 'x' } })).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
      retryable: false,
    });
  });

  test('Content that was created is answered though the list cannot be read', async () => {
    const { port, script, tenant } = await start(['deliveries'], createDeliveries);
    script.on('POST', '/v1/deliveries', () => ok({ deliveryId: productId, productId, kind: 'text' }));
    script.on('GET', '/v1/deliveries', () => timeout());
    expect(await port.create(tenant, { productId, content: { text: 'x' } })).toMatchObject({
      delivery: { deliveryId: productId, kind: 'text', content: 'x', createdAt: null },
    });
  });
});

const createDeliveries = (facade: Awaited<ReturnType<typeof startFacade>>) => createRemoteDeliveries(facade);
