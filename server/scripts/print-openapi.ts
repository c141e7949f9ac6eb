import { describeOperations } from '../src/api/http/openapi.ts';
import { createDeliveryRoutes } from '../src/catalogue/deliveries/routes.ts';
import { createProductRoutes } from '../src/catalogue/products/routes.ts';
import { createStoreRoutes } from '../src/catalogue/store/routes.ts';
import { createCardPaymentRoutes } from '../src/money-in/card-payments/routes.ts';
import { createChargeRoutes } from '../src/money-in/charges/routes.ts';
import { createDisputeRoutes } from '../src/money-in/disputes/routes.ts';
import { createPaymentRoutes } from '../src/money-in/payments/routes.ts';
import { createRefundRoutes } from '../src/money-in/refunds/routes.ts';
import { createSandboxRoutes } from '../src/money-in/sandbox/routes.ts';
import { createSubscriptionRoutes } from '../src/money-in/subscriptions/routes.ts';
import { createPayoutRoutes } from '../src/money-out/payouts/routes.ts';
import { createSubaccountRoutes } from '../src/money-out/subaccounts/routes.ts';
import { createWalletRoutes } from '../src/money-out/wallet/routes.ts';
import { DESCRIBED_WEBHOOKS } from '../src/webhooks/sent-events.ts';

const publicUrl = 'http://localhost';
// Describing the operations calls no service.
const unused = {} as never;
const operations = [
  ...createWalletRoutes({ wallet: unused }),
  ...createPayoutRoutes({ payouts: unused }),
  ...createCardPaymentRoutes({ cardPayments: unused, publicUrl }),
  ...createChargeRoutes({ charges: unused, refunds: unused, publicUrl }),
  ...createPaymentRoutes({ payments: unused, refunds: unused, deliveries: unused, publicUrl }),
  ...createProductRoutes({ products: unused }),
  ...createStoreRoutes({ store: unused }),
  ...createDeliveryRoutes({ deliveries: unused }),
  ...createRefundRoutes({ refunds: unused }),
  ...createDisputeRoutes({ disputes: unused }),
  ...createSandboxRoutes({ sandbox: unused }),
  ...createSubaccountRoutes({ subaccounts: unused }),
  ...createSubscriptionRoutes({ subscriptions: unused, publicUrl }),
];
const description = describeOperations(operations, publicUrl, DESCRIBED_WEBHOOKS);
process.stdout.write(`${JSON.stringify(description, null, 2)}\n`);
