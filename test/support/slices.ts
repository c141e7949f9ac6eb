import { accounts, tokens } from '../../server/src/access/collections.ts';
import { createAccessService, createTokenMint, prepareToken } from '../../server/src/access/service.ts';
import { productContent } from '../../server/src/catalogue/deliveries/collections.ts';
import { products as productRecords } from '../../server/src/catalogue/products/collections.ts';
import type { Clock } from '../../server/src/kernel/clock.ts';
import { createCardTestingGuard } from '../../server/src/money-in/card-payments/card-testing-service.ts';
import { createCharging } from '../../server/src/money-in/card-payments/charging.ts';
import {
  cardOrderPayments,
  refundableCardPayments,
} from '../../server/src/money-in/card-payments/collections.ts';
import { createCardPaymentService } from '../../server/src/money-in/card-payments/service.ts';
import {
  createCheckoutTokenService,
  createTokenPauses,
} from '../../server/src/money-in/card-payments/tokens/service.ts';
import { pixCharges, refundableCharges } from '../../server/src/money-in/charges/collections.ts';
import { createClaimReceiving } from '../../server/src/money-in/disputes/claim-service.ts';
import {
  createClaimFollowing,
  createDisputeControls,
  createDisputeService,
} from '../../server/src/money-in/disputes/service.ts';
import { createLtcCharging } from '../../server/src/money-in/ltc/charging.ts';
import { createLtcControls } from '../../server/src/money-in/ltc/service.ts';
import {
  ltcPayments,
  paymentOrderPayments,
  pixOrderPayments,
  pixPayments,
  refundablePayments,
} from '../../server/src/money-in/payments/collections.ts';
import { createPaymentService } from '../../server/src/money-in/payments/service.ts';
import { createPixCharging } from '../../server/src/money-in/pix/charging.ts';
import { createRefundSending } from '../../server/src/money-in/refunds/sending.ts';
import { createRefundService } from '../../server/src/money-in/refunds/service.ts';
import { createSandboxService } from '../../server/src/money-in/sandbox/service.ts';
import { createSubscriptionCharging } from '../../server/src/money-in/subscriptions/charging.ts';
import { pixSubscriptions } from '../../server/src/money-in/subscriptions/collections.ts';
import { createSubscriptionService } from '../../server/src/money-in/subscriptions/service.ts';
import { beneficiaries } from '../../server/src/money-out/subaccounts/collections.ts';
import { createWalletControls } from '../../server/src/money-out/wallet/service.ts';
import {
  DISPUTE_SOURCES,
  notifyOfCredit,
  notifyOfOutputs,
  SIMULATED_CLAIMS,
} from '../../server/src/programs/modes/families.ts';
import { createEmbedded, PIX_FAMILIES } from '../../server/src/programs/modes/parts.ts';
import type { Acquirer } from '../../server/src/rails/acquirer.ts';
import type { Bank } from '../../server/src/rails/bank.ts';
import type { LitecoinRail } from '../../server/src/rails/litecoin.ts';
import type { PixRail } from '../../server/src/rails/pix.ts';
import { createSimulatedLitecoin } from '../../server/src/rails/simulated/litecoin.ts';
import { createSimulatedPix } from '../../server/src/rails/simulated/pix.ts';
import type { Committer } from '../../server/src/state/commit/commit.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import type { TaskHandler } from '../../server/src/state/work/queue.ts';
import { createWebhookDelivery } from '../../server/src/webhooks/delivery.ts';
import { createWebhookEndpoints } from '../../server/src/webhooks/endpoint-service.ts';
import { createHeldDelivery } from '../../server/src/webhooks/held-delivery.ts';
import type { Send } from '../../server/src/webhooks/sender.ts';
import { createWebhookService } from '../../server/src/webhooks/service.ts';

const NO_METER = { onDispute: () => undefined };

export type Slices = ReturnType<typeof wireSlices>;

/** Wires the slices as in the server, without HTTP. `handlers` are the handlers of the work queue. */
export function wireSlices({
  database,
  clock,
  committer,
  acquirer,
  bank,
  wrapPix = (simulated) => simulated,
  wrapLitecoin = (simulated) => simulated,
  send,
  privateAddresses,
  onFault,
}: {
  database: Database;
  clock: Clock;
  committer: Committer;
  acquirer: Acquirer;
  bank: Bank;
  /** Puts faults between the server and the bank of PIX payments. */
  wrapPix?: ((simulated: PixRail) => PixRail) | undefined;
  /** Puts faults between the server and the Litecoin network. */
  wrapLitecoin?: ((simulated: LitecoinRail) => LitecoinRail) | undefined;
  send: Send;
  /** Whether a webhook's URL may be an address of this machine. */
  privateAddresses: boolean;
  onFault: (fault: unknown) => void;
}) {
  const guard = createCardTestingGuard({
    sql: database.sql,
    clock,
    tokens: createTokenPauses({ database, committer, credentials: tokens }),
    meter: { onCard: () => undefined, onTokenPaused: () => undefined },
  });
  const orderMethods = [pixOrderPayments, cardOrderPayments];
  const sources = {
    card_payment: refundableCardPayments(productContent, orderMethods),
    payment: refundablePayments(beneficiaries, productContent, orderMethods),
    charge: refundableCharges(beneficiaries),
  };
  const pix = createSimulatedPix({ database, clock, notify: notifyOfCredit, claims: SIMULATED_CLAIMS });
  const rail = wrapPix(pix);
  const litecoin = createSimulatedLitecoin({ database, clock, notify: notifyOfOutputs });
  const refunds = createRefundService({ database, committer, sources });
  const disputes = createDisputeService({ database, committer, sources: DISPUTE_SOURCES, meter: NO_METER });
  const charging = createCharging({
    database,
    committer,
    acquirer,
    accounts,
    guard,
    onFault,
    otherMethods: [pixOrderPayments],
    content: productContent,
    meter: { onRefund: () => undefined },
  });
  const pixCharging = createPixCharging({
    database,
    committer,
    accounts,
    beneficiaries,
    rail,
    onFault,
    content: productContent,
    families: PIX_FAMILIES,
    methods: orderMethods,
    meter: { onPixCode: () => undefined, onPixCredit: () => undefined, onPixReturn: () => undefined },
  });
  const ltcCharging = createLtcCharging({
    database,
    committer,
    onFault,
    rail: wrapLitecoin(litecoin),
    family: ltcPayments,
    content: productContent,
    methods: orderMethods,
    meter: { onLtcAddress: () => undefined, onLtcOutput: () => undefined },
  });
  const payments = {
    ...createPaymentService({
      database,
      committer,
      accounts,
      privateAddresses,
      onFault,
      registerLtc: ltcCharging.register,
      cancelLtc: ltcCharging.cancel,
      quotes: bank,
      products: productRecords,
      otherMethods: [cardOrderPayments],
      register: pixCharging.of(pixPayments).register,
      changeReceived: pixCharging.of(pixPayments).changeReceived,
    }),
    ...pixCharging.of(pixPayments),
    open: pixCharging.open,
  };
  const { services: made, tasks } = createEmbedded({
    ...{ database, committer, clock, bank, pixCharging, onFault },
  });
  const charges = { ...made.charges, ...pixCharging.of(pixCharges) };
  const subscriptions = {
    ...createSubscriptionService({
      database,
      committer,
      accounts,
      register: pixCharging.of(pixSubscriptions).register,
    }),
    expireNow: pixCharging.of(pixSubscriptions).expireNow,
    ...createSubscriptionCharging({
      database,
      committer,
      clock,
      rail,
      codes: pixCharging.of(pixSubscriptions),
      meter: { onSubscriptionAttempt: () => undefined },
    }),
  };
  const sandbox = createSandboxService({ database, committer, payments, charges, subscriptions, payer: pix });
  // Without jitter, attempts are made at exactly the intervals of the document.
  const delivery = createWebhookDelivery({
    database,
    committer,
    clock,
    send,
    random: () => 0,
    relaySecrets: null,
    onFault,
  });
  const handlers: Readonly<Record<string, TaskHandler>> = {
    ...tasks,
    ...charging.tasks,
    ...pixCharging.tasks,
    ...ltcCharging.tasks,
    ...createRefundSending({
      database,
      committer,
      sources,
      rails: { card_payment: acquirer, payment: rail, charge: rail },
      claims: createClaimFollowing({ sources: DISPUTE_SOURCES, meter: NO_METER }),
      controls: refunds,
      meter: { onRefund: () => undefined },
    }).tasks,
    ...disputes.tasks,
    ...createClaimReceiving({
      committer,
      rail: pix,
      codes: pixCharging,
      sources: DISPUTE_SOURCES,
      meter: NO_METER,
    }).tasks,
    ...subscriptions.tasks,
    ...delivery.tasks,
    ...createHeldDelivery({ database, committer }).tasks,
  };
  return {
    ...made,
    cardPayments: {
      ...createCardPaymentService({
        database,
        committer,
        accounts,
        guard,
        clock,
        privateAddresses,
        products: productRecords,
        otherMethods: [paymentOrderPayments],
      }),
      ...charging,
      refund: refunds.refund,
    },
    payments,
    charges,
    subscriptions,
    /** The simulated bank of PIX payments, without the faults of `wrapPix`. */
    pix,
    /** The simulated Litecoin network, without the faults of `wrapLitecoin`. */
    litecoin,
    ltc: { ...ltcCharging, ...createLtcControls({ database, committer, family: ltcPayments }) },
    access: createAccessService({ database, committer, clock }),
    disputes,
    checkoutTokens: createCheckoutTokenService({
      database,
      committer,
      accounts,
      products: made.products,
      clock,
      privateAddresses,
      credentials: tokens,
      mint: createTokenMint({ database, clock }),
      prepare: prepareToken,
    }),
    refunds,
    sandbox,
    controls: {
      ...createWalletControls({ committer }),
      ...createDisputeControls({ database, committer, sources: DISPUTE_SOURCES, meter: NO_METER }),
      ...sandbox,
    },
    webhooks: createWebhookService({ database, committer, clock, privateAddresses }),
    webhookEndpoints: createWebhookEndpoints({ database, committer, clock, privateAddresses }),
    /** The handlers of the work queue, for a test that claims a task itself. */
    handlers,
  };
}
