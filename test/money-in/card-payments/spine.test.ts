import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';

const CARD = {
  number: '4242424242424242',
  holder: 'ANA',
  expiryMonth: 12,
  expiryYear: 2030,
  securityCode: '123',
};
const UPDATES = `subscription ($orderCode: String!, $after: String) {
  cardPaymentUpdates(orderCode: $orderCode, after: $after) { cursor previousStatus cardPayment { status version } }
}`;

describe('a card payment, from its creation to paid', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  test.each(['ws', 'sse'] as const)(
    'A card payment is pushed to a subscriber over %s, from its creation to paid',
    async (transport) => {
      const before = (await app.live.request('{ wallet { pendingReleaseCents } }')).wallet
        .pendingReleaseCents;
      const { createCardPayment } = await app.live.request(
        'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
      );
      const { orderCode } = createCardPayment.cardPayment;
      const updates = app.live[transport](UPDATES, { orderCode });
      const first = (await updates.data()).cardPaymentUpdates;
      expect(first).toMatchObject({ previousStatus: null, cardPayment: { status: 'PENDING', version: 1 } });

      await app.cardPayments.pay(orderCode, CARD);

      const second = (await updates.data()).cardPaymentUpdates;
      expect(second).toMatchObject({
        previousStatus: 'PENDING',
        cardPayment: { status: 'PAID', version: 2 },
      });
      expect(await updates.next()).toEqual({ done: true, value: undefined });
      expect((await app.live.request('{ wallet { pendingReleaseCents } }')).wallet.pendingReleaseCents).toBe(
        before + 4990,
      );

      const resumed = app.live[transport](UPDATES, { orderCode, after: first.cursor });
      expect((await resumed.data()).cardPaymentUpdates.cardPayment.status).toBe('PAID');
      expect((await resumed.next()).done).toBe(true);
      expect(app.faults).toEqual([]);
    },
  );
});
