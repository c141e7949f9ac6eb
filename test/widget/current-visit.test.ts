import { expect, test } from 'vitest';
import { nextPayment } from '../../widget/src/current-visit.ts';
import type { Visit } from '../../widget/src/storage.ts';

test('A visit keeps its last two payments before, not its first ones, for they are the ones that may still be paid', () => {
  const opened = (visit: Visit, paymentKey: string): Visit => ({
    ...visit,
    paymentKey,
    paymentToken: `of ${paymentKey}`,
  });
  let visit: Visit = { base: 'base', attempt: 1 };
  for (const paymentKey of ['PSC-1', 'psa_2', 'PSC-3']) visit = nextPayment(opened(visit, paymentKey));
  expect(visit).toEqual({
    base: 'base',
    attempt: 4,
    valueCents: undefined,
    endpoint: undefined,
    earlier: [
      { paymentKey: 'psa_2', paymentToken: 'of psa_2' },
      { paymentKey: 'PSC-3', paymentToken: 'of PSC-3' },
    ],
  });
});
