import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';

const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) {
    __typename
    ... on UserError { code }
    ... on ValidationError { fields { path message } }
    ... on CreateCardPaymentSuccess { cardPayment { orderCode } }
  }
}`;

/** The model's tests try every constraint; these show that the interfaces apply them. */
describe('a card payment that may not be created', () => {
  let app: TestApp;
  beforeAll(async () => {
    // On a developer's machine webhooks may go to any address.
    app = await startApp({ environment: { PSA_WEBHOOK_PRIVATE_ADDRESSES: 'off' } });
  });
  afterAll(() => app.close());

  test.each([
    ['valueCents', { valueCents: 79 }],
    ['description', { valueCents: 80, description: 'x'.repeat(201) }],
    ['description', { valueCents: 80, description: 'with \u0000' }],
    ['metadata', { valueCents: 80, metadata: '{' }],
    ['metadata', { valueCents: 80, metadata: '"half \ud83e"' }],
    ['callbackUrl', { valueCents: 80, callbackUrl: 'https://169.254.169.254/' }],
    ['successUrl', { valueCents: 80, successUrl: 'javascript:alert(1)' }],
    ['customer.email', { valueCents: 80, customer: { email: 'x' } }],
    ['idempotencyKey', { valueCents: 80, idempotencyKey: 'a b ' }],
  ])('A card payment is refused by the name of its %s, and changes nothing', async (field, input) => {
    const head = (await app.live.request('{ updatesCursor }')).updatesCursor;
    const { createCardPayment: refused } = await app.live.request(CREATE, { input });
    expect(refused).toMatchObject({ __typename: 'ValidationError', code: 'BAD_USER_INPUT' });
    expect(refused.fields.map(({ path }: { path: string }) => path)).toEqual([`input.${field}`]);
    expect(await app.live.request('{ updatesCursor cardPayments { totalCount } }')).toEqual({
      updatesCursor: head,
      cardPayments: { totalCount: 0 },
    });
  });

  test.each([{}, { amountCents: null }, { valueCents: null }])(
    'A card payment without an amount is refused by both names: %j',
    async (input) => {
      const { createCardPayment: refused } = await app.live.request(CREATE, { input });
      expect(refused).toMatchObject({ __typename: 'ValidationError', code: 'BAD_USER_INPUT' });
      expect(JSON.stringify(refused.fields)).toMatch(/amountCents.*valueCents/);
    },
  );

  test.each([{ valueCents: 80.5 }, { valueCents: '80' }, { valueCents: 2 ** 53 }])(
    'A card payment with an invalid amount is refused: %j',
    async (input) => {
      const { status, body } = await app.live.send(CREATE, { input });
      expect(status).toBe(200);
      expect(JSON.stringify(body.errors)).toContain('valueCents');
      expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    },
  );

  test('A card payment is refused with a test key', async () => {
    expect(
      (await app.sandbox.request(CREATE, { input: { valueCents: 80 } })).createCardPayment,
    ).toMatchObject({
      code: 'NOT_IN_SANDBOX',
    });
    expect(app.faults).toEqual([]);
  });
});
