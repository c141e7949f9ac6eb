import type { Collection } from '../../state/commit/commit.ts';
import type { StoredTestPayment } from './model.ts';
import { saveTestPayments, selectTestPayments } from './store.ts';

/** Test payments, as a decision reads and writes them. */
export const testPayments: Collection<StoredTestPayment> = {
  name: 'test_payment',
  load: selectTestPayments,
  keyOf: (payment) => payment.id,
  save: saveTestPayments,
};
