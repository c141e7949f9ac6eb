import type { Collection } from '../../state/commit/commit.ts';
import type { StoredTestPayment } from './model.ts';
import { testPaymentTable } from './store.ts';

/** Test payments, as a decision reads and writes them. */
export const testPayments: Collection<StoredTestPayment> = testPaymentTable;
