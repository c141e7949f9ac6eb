import { accounts, tokens } from '../../server/src/access/collections.ts';
import { createAccessService, createTokenMint, prepareToken } from '../../server/src/access/service.ts';
import { createCharging } from '../../server/src/card-payments/charging.ts';
import { cardPayments as cardPaymentRecords } from '../../server/src/card-payments/collections.ts';
import { createCardPaymentService } from '../../server/src/card-payments/service.ts';
import {
  createCheckoutTokenService,
  createTokenPauses,
} from '../../server/src/card-payments/tokens/service.ts';
import type { Committer } from '../../server/src/commit/commit.ts';
import type { Database } from '../../server/src/db/database.ts';
import type { Clock } from '../../server/src/kernel/clock.ts';
import { createCardTestingGuard } from '../../server/src/limits/declines.ts';
import { createPayoutSending } from '../../server/src/payouts/sending.ts';
import { createPayoutService } from '../../server/src/payouts/service.ts';
import { products as productRecords } from '../../server/src/products/collections.ts';
import { createProductService } from '../../server/src/products/service.ts';
import type { Acquirer } from '../../server/src/rails/acquirer.ts';
import type { Bank } from '../../server/src/rails/bank.ts';
import { createSandboxService } from '../../server/src/sandbox/service.ts';
import { createSubaccountSending } from '../../server/src/subaccounts/sending.ts';
import { createSubaccountService } from '../../server/src/subaccounts/service.ts';
import { createWalletControls, createWalletService } from '../../server/src/wallet/service.ts';
import { createWebhookDelivery } from '../../server/src/webhooks/delivery.ts';
import type { Send } from '../../server/src/webhooks/sender.ts';
import { createWebhookService } from '../../server/src/webhooks/service.ts';

export type Slices = ReturnType<typeof wireSlices>;

/** The slices wired as the server wires them, without HTTP; `handlers` are for whatever does the work that is due. */
export function wireSlices({
  database,
  clock,
  committer,
  acquirer,
  bank,
  send,
  privateAddresses,
  onFault,
}: {
  database: Database;
  clock: Clock;
  committer: Committer;
  acquirer: Acquirer;
  bank: Bank;
  send: Send;
  /** Whether a webhook's URL may lead to this machine. */
  privateAddresses: boolean;
  onFault: (fault: unknown) => void;
}) {
  const guard = createCardTestingGuard({
    sql: database.sql,
    clock,
    tokens: createTokenPauses({ database, committer, credentials: tokens }),
    meter: { onCard: () => undefined, onTokenPaused: () => undefined },
  });
  const charging = createCharging({ database, committer, acquirer, accounts, guard, onFault });
  const payoutSending = createPayoutSending({ database, committer, bank });
  const subaccountSending = createSubaccountSending({
    database,
    committer,
    bank,
    accounts,
    clock,
    onFault,
  });
  // No jitter: attempts come at the instants that the document's decision names.
  const delivery = createWebhookDelivery({ database, committer, clock, send, random: () => 0 });
  const products = createProductService({ database, committer });
  const sandbox = createSandboxService({ database, committer });
  return {
    cardPayments: {
      ...createCardPaymentService({
        ...{ database, committer, accounts, guard, clock, privateAddresses },
        products: productRecords,
      }),
      ...charging,
    },
    payouts: createPayoutService({ database, committer, accounts, bank, onFault }),
    subaccounts: { ...createSubaccountService({ database, committer }), ...subaccountSending },
    access: createAccessService({ database, committer, clock }),
    checkoutTokens: createCheckoutTokenService({
      ...{ database, committer, accounts, products, clock, privateAddresses },
      credentials: tokens,
      mint: createTokenMint({ database, clock }),
      prepare: prepareToken,
    }),
    products,
    sandbox,
    wallet: createWalletService({ database, onFault }),
    controls: {
      ...createWalletControls({ database, committer, cardPayments: cardPaymentRecords }),
      ...sandbox,
    },
    webhooks: createWebhookService({ database, committer, privateAddresses }),
    handlers: {
      ...charging.tasks,
      ...payoutSending.tasks,
      ...subaccountSending.tasks,
      ...delivery.tasks,
    },
  };
}
