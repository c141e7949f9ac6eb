import { selectBrand, selectLogo } from '../../access/brand-store.ts';
import { accounts, tokens } from '../../access/collections.ts';
import {
  bootstrap,
  createAccessService,
  createTokenMint,
  firstTenant,
  prepareToken,
} from '../../access/service.ts';
import { type Brands, createBrandRoutes } from '../../api/checkout-page/brand.ts';
import { checkoutAssetsRoute } from '../../api/checkout-page/pages.ts';
import { createDocsRoutes } from '../../api/http/docs.ts';
import { createRestRoutes } from '../../api/http/rest-routes.ts';
import { productContent } from '../../catalogue/deliveries/collections.ts';
import { products } from '../../catalogue/products/collections.ts';
import type { Clock, ShiftableClock } from '../../kernel/clock.ts';
import { createSealing } from '../../kernel/sealing.ts';
import { createCardTestingGuard } from '../../money-in/card-payments/card-testing-service.ts';
import { createCharging } from '../../money-in/card-payments/charging.ts';
import { cardOrderPayments, refundableCardPayments } from '../../money-in/card-payments/collections.ts';
import { createCheckoutRoutes } from '../../money-in/card-payments/page/routes.ts';
import { createCardPaymentService } from '../../money-in/card-payments/service.ts';
import {
  createCheckoutTokenService,
  createTokenPauses,
} from '../../money-in/card-payments/tokens/service.ts';
import { pixCharges, refundableCharges } from '../../money-in/charges/collections.ts';
import { createClaimReceiving } from '../../money-in/disputes/claim-service.ts';
import { createDisputeFiles, findLockedFiles } from '../../money-in/disputes/file-service.ts';
import {
  createClaimFollowing,
  createDisputeControls,
  createDisputeService,
} from '../../money-in/disputes/service.ts';
import { createLtcCharging } from '../../money-in/ltc/charging.ts';
import { createLtcPage } from '../../money-in/ltc/page/view.ts';
import { createLtcControls } from '../../money-in/ltc/service.ts';
import {
  ltcPayments,
  paymentOrderPayments,
  pixOrderPayments,
  pixPayments,
  refundablePayments,
} from '../../money-in/payments/collections.ts';
import { createPaymentService } from '../../money-in/payments/service.ts';
import { createPixCharging } from '../../money-in/pix/charging.ts';
import type { HostedPixCheckout } from '../../money-in/pix/model.ts';
import { createPixPageRoutes } from '../../money-in/pix/page/routes.ts';
import { createRefundSending } from '../../money-in/refunds/sending.ts';
import { createRefundService } from '../../money-in/refunds/service.ts';
import { createSandboxService } from '../../money-in/sandbox/service.ts';
import { createSubscriptionCharging } from '../../money-in/subscriptions/charging.ts';
import { pixSubscriptions } from '../../money-in/subscriptions/collections.ts';
import { createSubscriptionService } from '../../money-in/subscriptions/service.ts';
import { beneficiaries } from '../../money-out/subaccounts/collections.ts';
import { createWalletControls } from '../../money-out/wallet/service.ts';
import type { Bank } from '../../rails/bank.ts';
import { createSimulatedAcquirer, TEST_CARDS } from '../../rails/simulated/acquirer.ts';
import { createSimulatedBank } from '../../rails/simulated/bank.ts';
import { resumeSimulatedClock } from '../../rails/simulated/clock.ts';
import { createSimulatedLitecoin } from '../../rails/simulated/litecoin.ts';
import { createSimulatedPix } from '../../rails/simulated/pix.ts';
import { createRequestKeys } from '../../state/commit/idempotency.ts';
import { createBulkRedelivery } from '../../webhooks/bulk-service.ts';
import { createWebhookDelivery } from '../../webhooks/delivery.ts';
import { createWebhookEndpoints } from '../../webhooks/endpoint-service.ts';
import { createHeldDelivery } from '../../webhooks/held-delivery.ts';
import { createWebhookRedelivery } from '../../webhooks/redelivery.ts';
import { createSender } from '../../webhooks/sender.ts';
import { DESCRIBED_WEBHOOKS } from '../../webhooks/sent-events.ts';
import { createWebhookService } from '../../webhooks/service.ts';
import { createWebhookTests } from '../../webhooks/test-service.ts';
import { createDemoRoutes } from '../demo/routes.ts';
import { readDataKeys } from '../ops/data-key.ts';
import { createControls } from '../simulator/controls.ts';
import { createSimulatorRoutes } from '../simulator/routes.ts';
import { selectAccountNames } from '../simulator/store.ts';
import { DISPUTE_SOURCES, notifyOfCredit, notifyOfOutputs, SIMULATED_CLAIMS } from './families.ts';
import { createEmbedded, createOperations, createSliceControls, PIX_FAMILIES } from './parts.ts';
import type { Runtime, RuntimeDependencies } from './runtime.ts';

/** Creates the service of the document itself: its slices on Postgres, REST interface, pages and simulated rails. */
export async function createEmbeddedRuntime({
  config,
  database,
  committer,
  clock,
  shiftable,
  realClock,
  bank: injectedBank,
  retention,
  publicUrl,
  metrics,
  onFault,
}: RuntimeDependencies & {
  /** The clock that the simulator advances; null without the simulator. */
  shiftable: ShiftableClock | null;
  /** The clock that the simulator does not move, for the signatures and the attempts of webhooks. */
  realClock: Clock;
  /** Replaces the simulated bank, in a test. */
  bank: Bank | undefined;
}): Promise<Runtime> {
  const simulatedClock = shiftable && (await resumeSimulatedClock({ database, clock: shiftable, onFault }));
  const { firstKeys, cursorKey } = await bootstrap({
    database,
    clock,
    name: config.demo ? 'Varanda' : 'Minha loja',
    keys: config.bootstrapKeys,
  });

  const privateAddresses = config.webhookPrivateAddresses;
  const hasManifest = config.trustedDocuments.manifests.length > 0;
  const acquirer = createSimulatedAcquirer({ database, clock });
  const guard = createCardTestingGuard({
    sql: database.sql,
    clock,
    tokens: createTokenPauses({ database, committer, credentials: tokens }),
    meter: metrics,
  });
  const pix = createSimulatedPix({ database, clock, notify: notifyOfCredit, claims: SIMULATED_CLAIMS });
  const litecoin = createSimulatedLitecoin({ database, clock, notify: notifyOfOutputs });
  const simulatedBank = createSimulatedBank({ database, clock });
  const bank = injectedBank ?? simulatedBank;
  const orderMethods = [pixOrderPayments, cardOrderPayments];
  const sources = {
    card_payment: refundableCardPayments(productContent, orderMethods),
    payment: refundablePayments(beneficiaries, productContent, orderMethods),
    charge: refundableCharges(beneficiaries),
  };
  const refunds = createRefundService({ database, committer, sources });
  const charging = createCharging({
    ...{ database, committer, acquirer, accounts, guard, onFault },
    otherMethods: [pixOrderPayments],
    content: productContent,
    meter: metrics,
  });
  const cardPayments = createCardPaymentService({
    ...{ database, committer, accounts, products },
    ...{ guard, clock, privateAddresses },
    otherMethods: [paymentOrderPayments],
  });
  const pixCharging = createPixCharging({
    ...{ database, committer, accounts, beneficiaries, onFault },
    content: productContent,
    rail: pix,
    families: PIX_FAMILIES,
    methods: orderMethods,
    meter: metrics,
  });
  const ltcCharging = createLtcCharging({
    ...{ database, committer, onFault },
    rail: litecoin,
    family: ltcPayments,
    content: productContent,
    methods: orderMethods,
    meter: metrics,
  });
  const payments = createPaymentService({
    ...{ database, committer, accounts, products, privateAddresses, onFault },
    otherMethods: [cardOrderPayments],
    register: pixCharging.of(pixPayments).register,
    changeReceived: pixCharging.of(pixPayments).changeReceived,
    registerLtc: ltcCharging.register,
    cancelLtc: ltcCharging.cancel,
    quotes: bank,
  });
  const { services: made, tasks } = createEmbedded({
    ...{ database, committer, clock, bank, pixCharging, onFault },
  });
  const disputes = createDisputeService({
    ...{ database, committer },
    sources: DISPUTE_SOURCES,
    meter: metrics,
  });
  const sealing = createSealing(readDataKeys(config));
  const locked = await findLockedFiles(database, sealing);
  if (locked) onFault(locked);
  const subscriptions = {
    ...createSubscriptionService({
      ...{ database, committer, accounts },
      register: pixCharging.of(pixSubscriptions).register,
    }),
    expireNow: pixCharging.of(pixSubscriptions).expireNow,
    ...createSubscriptionCharging({
      ...{ database, committer, clock, rail: pix },
      codes: pixCharging.of(pixSubscriptions),
      meter: metrics,
    }),
  };
  const access = createAccessService({ database, committer, clock, hasManifest });
  const checkoutTokens = createCheckoutTokenService({
    ...{ database, committer, accounts, clock, privateAddresses, hasManifest },
    credentials: tokens,
    products: made.products,
    mint: createTokenMint({ database, clock }),
    prepare: prepareToken,
  });
  const sandbox = createSandboxService({
    ...{ database, committer },
    payments: { ...payments, ...pixCharging.of(pixPayments) },
    charges: { ...made.charges, ...pixCharging.of(pixCharges) },
    subscriptions,
    payer: pix,
  });
  const webhooks = createWebhookService({ database, committer, clock, privateAddresses });
  const send = createSender({ clock: realClock, privateAddresses });
  const delivery = createWebhookDelivery({
    relaySecrets: null,
    database,
    committer,
    clock,
    realClock,
    send,
    onAttempt: metrics.onWebhook,
    onFault,
  });
  const services = {
    ...made,
    access,
    cardPayments,
    checkoutTokens,
    disputes,
    disputeFiles: createDisputeFiles({ database, committer, sealing }),
    payments,
    refunds,
    requestKeys: createRequestKeys(database.sql),
    // The ledger is here, so no outcome is unknown.
    requests: { list: async () => ({ items: [], more: false }) },
    retention,
    sandbox,
    subscriptions,
    webhooks,
    webhookEndpoints: createWebhookEndpoints({ database, committer, clock, privateAddresses }),
    webhookRedeliveries: createBulkRedelivery({ database, committer }),
    webhookTests: createWebhookTests({ database, clock, realClock, send }),
  };
  const hostedPayments = { ...cardPayments, ...charging, refund: refunds.refund };
  /** Opens the page of a payment, also of one by LTC, whose network is asked here. */
  const openHosted: HostedPixCheckout['open'] = async (id, options) => {
    if (options?.asksBank) await ltcCharging.refreshHosted(id);
    return pixCharging.open(id, options);
  };
  const brands: Brands = {
    brandOf: (accountId) => selectBrand(database.sql, accountId),
    logoOf: (hash) => selectLogo(database.sql, hash),
  };
  const hostedPixPayments = { ...payments, ...pixCharging.of(pixPayments), open: openHosted };
  const controls = {
    ...createWalletControls({ committer }),
    ...createDisputeControls({ database, committer, sources: DISPUTE_SOURCES, meter: metrics }),
    ...sandbox,
  };

  return {
    access,
    servicesFor: () => services,
    tasks: {
      ...tasks,
      ...charging.tasks,
      ...pixCharging.tasks,
      ...ltcCharging.tasks,
      ...createRefundSending({
        ...{ database, committer, sources },
        rails: { card_payment: acquirer, payment: pix, charge: pix },
        claims: createClaimFollowing({ sources: DISPUTE_SOURCES, meter: metrics }),
        controls: refunds,
        meter: metrics,
      }).tasks,
      ...disputes.tasks,
      ...createClaimReceiving({
        ...{ committer, rail: pix, codes: pixCharging },
        sources: DISPUTE_SOURCES,
        meter: metrics,
      }).tasks,
      ...delivery.tasks,
      ...createWebhookRedelivery({ database, committer }).tasks,
      ...createHeldDelivery({ database, committer }).tasks,
      ...subscriptions.tasks,
    },
    updates: (updates) => updates,
    async routes({ nextDueAt, callers, addressOf, strangers, takeRequest, openFile }) {
      const operations = createOperations({ ...services, publicUrl });
      return [
        checkoutAssetsRoute(),
        ...createBrandRoutes({ brands, addressOf, limits: strangers }),
        ...createPixPageRoutes({
          ...{ clock, publicUrl, addressOf },
          checkout: { open: openHosted },
          isTest: true,
          limits: strangers,
          brands,
          others: [createLtcPage({ isTest: true })],
        }),
        ...createCheckoutRoutes({
          ...{ clock, publicUrl, addressOf },
          checkout: charging,
          testCards: TEST_CARDS,
          limits: strangers,
          brands,
        }),
        ...createDocsRoutes({ operations, webhooks: DESCRIBED_WEBHOOKS, publicUrl }),
        ...createRestRoutes({
          operations,
          access: callers,
          addressOf,
          takeRequest,
          openFile,
          clock,
          onFault,
        }),
        ...(config.demo
          ? createDemoRoutes({
              tenant: await firstTenant(database.sql),
              ...{ checkoutTokens, clock, publicUrl },
              methods: ['pix', 'card'],
              isSimulated: true,
              hasConsole: config.console !== 'off',
            })
          : []),
        ...(simulatedClock
          ? createSimulatorRoutes({
              publicUrl,
              controls: createControls({
                bank: simulatedBank,
                ...services,
                codes: pixCharging,
                ...{ pix, litecoin, ltc: ltcCharging },
                wallet: controls,
                testPayments: sandbox,
              }),
              sliceControls: createSliceControls(services),
              wallet: services.wallet,
              clock: simulatedClock,
              nextDueAt,
              accounts: () => selectAccountNames(database.sql),
            })
          : []),
      ];
    },
    upstream: null,
    upstreamMetrics: null,
    firstKeys,
    cursorKey,
    embedded: {
      cardPayments: hostedPayments,
      payments: hostedPixPayments,
      charges: { ...made.charges, ...pixCharging.of(pixCharges) },
      pix,
      litecoin,
      ltc: { ...ltcCharging, ...createLtcControls({ database, committer, family: ltcPayments }) },
      controls,
      disputeFiles: services.disputeFiles,
      subaccounts: made.subaccounts,
      subscriptions,
      store: made.store,
    },
    close: async () => undefined,
  };
}
