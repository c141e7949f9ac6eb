import { expect, test } from 'vitest';
import { nextPayment } from '../../widget/src/current-visit.ts';
import type { Visit } from '../../widget/src/storage.ts';

test('A visit keeps its last two payments before, not its first ones, for they are the ones that may still be paid', () => {
  const opened = (visit: Visit, orderCode: string): Visit => ({
    ...visit,
    orderCode,
    paymentToken: `of ${orderCode}`,
  });
  let visit: Visit = { base: 'base', attempt: 1 };
  for (const orderCode of ['PSC-1', 'psa_2', 'PSC-3']) visit = nextPayment(opened(visit, orderCode));
  expect(visit).toEqual({
    base: 'base',
    attempt: 4,
    valueCents: undefined,
    endpoint: undefined,
    earlier: [
      { orderCode: 'psa_2', paymentToken: 'of psa_2' },
      { orderCode: 'PSC-3', paymentToken: 'of PSC-3' },
    ],
  });
});
