import { createCardPaymentRoutes } from '../src/card-payments/routes.ts';
import { createChargeRoutes } from '../src/charges/routes.ts';
import { createDeliveryRoutes } from '../src/deliveries/routes.ts';
import { createDisputeRoutes } from '../src/disputes/routes.ts';
import { describeOperations } from '../src/http/openapi.ts';
import { createPaymentRoutes } from '../src/payments/routes.ts';
import { createPayoutRoutes } from '../src/payouts/routes.ts';
import { createProductRoutes } from '../src/products/routes.ts';
import { createRefundRoutes } from '../src/refunds/routes.ts';
import { createSandboxRoutes } from '../src/sandbox/routes.ts';
import { createStoreRoutes } from '../src/store/routes.ts';
import { createSubaccountRoutes } from '../src/subaccounts/routes.ts';
import { createSubscriptionRoutes } from '../src/subscriptions/routes.ts';
import { createWalletRoutes } from '../src/wallet/routes.ts';
import { DESCRIBED_WEBHOOKS } from '../src/webhooks/wire.ts';

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
