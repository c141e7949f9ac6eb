import { createCardPaymentRoutes } from '../src/card-payments/routes.ts';
import { describeOperations } from '../src/http/openapi.ts';
import { createPayoutRoutes } from '../src/payouts/routes.ts';
import { createProductRoutes } from '../src/products/routes.ts';
import { createSandboxRoutes } from '../src/sandbox/routes.ts';
import { createSubaccountRoutes } from '../src/subaccounts/routes.ts';
import { createWalletRoutes } from '../src/wallet/routes.ts';

const publicUrl = 'http://localhost';
// Describing the operations calls no service.
const unused = {} as never;
const operations = [
  ...createWalletRoutes({ wallet: unused }),
  ...createPayoutRoutes({ payouts: unused }),
  ...createCardPaymentRoutes({ cardPayments: unused, publicUrl }),
  ...createProductRoutes({ products: unused }),
  ...createSandboxRoutes({ sandbox: unused }),
  ...createSubaccountRoutes({ subaccounts: unused }),
];
process.stdout.write(`${JSON.stringify(describeOperations(operations, publicUrl), null, 2)}\n`);
