import { createAccessEngine, createTokenPauses } from '../../server/src/access/service.ts';
import { accounts } from '../../server/src/access/collections.ts';
import { createCardPaymentEngine } from '../../server/src/card-payments/service.ts';
import { cardPayments as cardPaymentRecords } from '../../server/src/card-payments/collections.ts';
import { createSettlement } from '../../server/src/card-payments/charging.ts';
import type { Committer } from '../../server/src/commit/commit.ts';
import type { Database } from '../../server/src/db/database.ts';
import type { Clock } from '../../server/src/kernel/clock.ts';
import { createCardTestingGuard } from '../../server/src/limits/declines.ts';
import { createPayoutEngine } from '../../server/src/payouts/service.ts';
import { createPayoutSettlement } from '../../server/src/payouts/sending.ts';
import { createProductEngine } from '../../server/src/products/service.ts';
import { products as productRecords } from '../../server/src/products/collections.ts';
import type { Acquirer } from '../../server/src/rails/acquirer.ts';
import type { Bank } from '../../server/src/rails/bank.ts';
import { createSandboxEngine } from '../../server/src/sandbox/service.ts';
import { createSubaccountEngine } from '../../server/src/subaccounts/service.ts';
import { createSubaccountSettlement } from '../../server/src/subaccounts/sending.ts';
import { createWalletEngine, createWalletLevers } from '../../server/src/wallet/service.ts';
import { createWebhookDelivery } from '../../server/src/webhooks/delivery.ts';
import { createWebhookEngine } from '../../server/src/webhooks/service.ts';
import type { Send } from '../../server/src/webhooks/sender.ts';

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
    tokens: createTokenPauses({ database, committer }),
    meter: { onCard: () => undefined, onTokenPaused: () => undefined },
  });
  const settlement = createSettlement({ database, committer, acquirer, accounts, guard, onFault });
  const payoutSettlement = createPayoutSettlement({ database, committer, bank });
  const subaccountSettlement = createSubaccountSettlement({
    database,
    committer,
    bank,
    accounts,
    clock,
    onFault,
  });
  // No jitter: attempts come at the instants that the document's decision names.
  const delivery = createWebhookDelivery({ database, committer, clock, send, random: () => 0 });
  const products = createProductEngine({ database, committer });
  const sandbox = createSandboxEngine({ database, committer });
  return {
    cardPayments: {
      ...createCardPaymentEngine({
        ...{ database, committer, accounts, guard, clock, privateAddresses },
        products: productRecords,
      }),
      ...settlement,
    },
    payouts: createPayoutEngine({ database, committer, accounts, bank, onFault }),
    subaccounts: { ...createSubaccountEngine({ database, committer }), ...subaccountSettlement },
    access: createAccessEngine({ database, committer, products, clock, privateAddresses }),
    products,
    sandbox,
    wallet: createWalletEngine({ database, onFault }),
    levers: { ...createWalletLevers({ database, committer, cardPayments: cardPaymentRecords }), ...sandbox },
    webhooks: createWebhookEngine({ database, committer, privateAddresses }),
    handlers: {
      ...settlement.tasks,
      ...payoutSettlement.tasks,
      ...subaccountSettlement.tasks,
      ...delivery.tasks,
    },
  };
}
