import '../../access/schema.ts';
import '../../money-in/card-payments/schema.ts';
import '../../money-in/card-payments/totals/schema.ts';
import '../../money-in/card-payments/tokens/list-schema.ts';
import '../../money-in/card-payments/tokens/schema.ts';
import '../../money-in/card-payments/updates/schema.ts';
import '../../money-in/charges/schema.ts';
import '../../money-in/charges/totals/schema.ts';
import '../../money-in/charges/updates/schema.ts';
import '../../catalogue/deliveries/schema.ts';
import '../../money-in/disputes/schema.ts';
import '../../money-in/disputes/updates/schema.ts';
import '../../money-in/payments/schema.ts';
import '../../money-in/payments/totals/schema.ts';
import '../../money-in/payments/updates/schema.ts';
import '../../money-out/payouts/schema.ts';
import '../../money-out/payouts/totals/schema.ts';
import '../../money-out/payouts/updates/schema.ts';
import '../../catalogue/products/schema.ts';
import '../../money-in/refunds/returns/schema.ts';
import '../../money-in/refunds/schema.ts';
import '../../money-in/refunds/totals/schema.ts';
import '../../money-in/refunds/updates/schema.ts';
import '../../requests/schema.ts';
import '../retention/schema.ts';
import '../../money-in/sales/schema.ts';
import '../../money-in/sales/totals/schema.ts';
import '../../money-in/sandbox/schema.ts';
import '../../catalogue/store/schema.ts';
import '../../money-out/subaccounts/schema.ts';
import '../../money-out/subaccounts/totals/schema.ts';
import '../../money-out/subaccounts/updates/schema.ts';
import '../../money-in/subscriptions/schema.ts';
import '../../money-in/subscriptions/updates/schema.ts';
import '../../money-out/wallet/schema.ts';
import '../../money-out/wallet/statement/schema.ts';
import '../../webhooks/schema.ts';
import '../../webhooks/endpoint-schema.ts';
import '../../webhooks/bulk-schema.ts';
import '../../webhooks/test-schema.ts';
import '../../webhooks/updates/schema.ts';
import { accounts } from '../../access/collections.ts';
import { accessSnapshots } from '../../access/events.ts';
import type { PaymentsService } from '../../api/graphql/services.ts';
import type { Export } from '../../api/http/exports/export.ts';
import type { RestOperation } from '../../api/http/rest.ts';
import { deliverySnapshots } from '../../catalogue/deliveries/events.ts';
import { deliveryChecks } from '../../catalogue/deliveries/remote/checks.ts';
import { createRemoteDeliveries } from '../../catalogue/deliveries/remote/service.ts';
import { createDeliveryRoutes } from '../../catalogue/deliveries/routes.ts';
import { createDeliveryService } from '../../catalogue/deliveries/service.ts';
import { products } from '../../catalogue/products/collections.ts';
import { productChecks } from '../../catalogue/products/remote/checks.ts';
import { createRemoteProducts } from '../../catalogue/products/remote/service.ts';
import { createProductRoutes } from '../../catalogue/products/routes.ts';
import { createProductService } from '../../catalogue/products/service.ts';
import { storeChecks } from '../../catalogue/store/remote/checks.ts';
import { createRemoteStore } from '../../catalogue/store/remote/service.ts';
import { createStoreRoutes } from '../../catalogue/store/routes.ts';
import { createStoreService } from '../../catalogue/store/service.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { MirroredResource } from '../../kernel/upstream-family.ts';
import { cardPaymentSnapshots } from '../../money-in/card-payments/events.ts';
import { cardPaymentChecks } from '../../money-in/card-payments/remote/checks.ts';
import { moneyOfCardPayment } from '../../money-in/card-payments/remote/seen-money.ts';
import { createCardPaymentRoutes } from '../../money-in/card-payments/routes.ts';
import { cardPaymentTable, conditionsOfCardPayments } from '../../money-in/card-payments/store.ts';
import { tokenSnapshots } from '../../money-in/card-payments/tokens/events.ts';
import { pixCharges } from '../../money-in/charges/collections.ts';
import { chargeSnapshots } from '../../money-in/charges/events.ts';
import { chargeChecks } from '../../money-in/charges/remote/checks.ts';
import { moneyOfCharge } from '../../money-in/charges/remote/seen-money.ts';
import { createRemoteCharges } from '../../money-in/charges/remote/service.ts';
import { createChargeRoutes } from '../../money-in/charges/routes.ts';
import { createChargeService } from '../../money-in/charges/service.ts';
import { chargeTable } from '../../money-in/charges/store.ts';
import { disputeSnapshots } from '../../money-in/disputes/events.ts';
import { createDisputeExport } from '../../money-in/disputes/export.ts';
import { disputeChecks } from '../../money-in/disputes/remote/checks.ts';
import { moneyOfDispute } from '../../money-in/disputes/remote/seen-money.ts';
import { createRemoteDisputes } from '../../money-in/disputes/remote/service.ts';
import { createDisputeRoutes } from '../../money-in/disputes/routes.ts';
import { pixPayments } from '../../money-in/payments/collections.ts';
import { paymentSnapshots } from '../../money-in/payments/events.ts';
import { createPaymentExport } from '../../money-in/payments/export.ts';
import { paymentChecks } from '../../money-in/payments/remote/checks.ts';
import { moneyOfPayment } from '../../money-in/payments/remote/seen-money.ts';
import { createPaymentRoutes } from '../../money-in/payments/routes.ts';
import { paymentTable } from '../../money-in/payments/store.ts';
import type { createPixCharging } from '../../money-in/pix/charging.ts';
import type { PixFamily } from '../../money-in/pix/collections.ts';
import { refundSnapshots } from '../../money-in/refunds/events.ts';
import { createRefundExport } from '../../money-in/refunds/export.ts';
import type { RefundControls } from '../../money-in/refunds/model.ts';
import { refundChecks } from '../../money-in/refunds/remote/checks.ts';
import { moneyOfRefund } from '../../money-in/refunds/remote/seen-money.ts';
import { createRemoteRefunds } from '../../money-in/refunds/remote/service.ts';
import { createRefundRoutes } from '../../money-in/refunds/routes.ts';
import { returnSnapshots } from '../../money-in/returns/events.ts';
import { createRemoteReturns } from '../../money-in/returns/remote/service.ts';
import { createReturnRoutes } from '../../money-in/returns/routes.ts';
import { createReturnService } from '../../money-in/returns/service.ts';
import { createRemoteSales } from '../../money-in/sales/remote/service.ts';
import { createSaleRoutes } from '../../money-in/sales/routes.ts';
import { createSaleService } from '../../money-in/sales/service.ts';
import type { TestPaymentControls } from '../../money-in/sandbox/model.ts';
import { createRemoteSandbox } from '../../money-in/sandbox/remote/service.ts';
import { createSandboxRoutes } from '../../money-in/sandbox/routes.ts';
import { pixSubscriptions } from '../../money-in/subscriptions/collections.ts';
import { subscriptionSnapshots } from '../../money-in/subscriptions/events.ts';
import { subscriptionChecks } from '../../money-in/subscriptions/remote/checks.ts';
import { createRemoteSubscriptions } from '../../money-in/subscriptions/remote/service.ts';
import { createSubscriptionRoutes } from '../../money-in/subscriptions/routes.ts';
import { payoutSnapshots } from '../../money-out/payouts/events.ts';
import { createPayoutExport } from '../../money-out/payouts/export.ts';
import { payoutChecks } from '../../money-out/payouts/remote/checks.ts';
import { moneyOfPayout } from '../../money-out/payouts/remote/seen-money.ts';
import { createRemotePayouts } from '../../money-out/payouts/remote/service.ts';
import { createPayoutRoutes } from '../../money-out/payouts/routes.ts';
import { createPayoutSending } from '../../money-out/payouts/sending.ts';
import { createPayoutService } from '../../money-out/payouts/service.ts';
import { beneficiaries } from '../../money-out/subaccounts/collections.ts';
import { subaccountSnapshots } from '../../money-out/subaccounts/events.ts';
import { createSubaccountExport } from '../../money-out/subaccounts/export.ts';
import { subaccountChecks } from '../../money-out/subaccounts/remote/checks.ts';
import { moneyOfSubaccountPayout } from '../../money-out/subaccounts/remote/seen-money.ts';
import { createRemoteSubaccounts } from '../../money-out/subaccounts/remote/service.ts';
import { createSubaccountRoutes } from '../../money-out/subaccounts/routes.ts';
import { createSubaccountSending } from '../../money-out/subaccounts/sending.ts';
import { createSubaccountService } from '../../money-out/subaccounts/service.ts';
import { walletSnapshots } from '../../money-out/wallet/events.ts';
import type { Wallet } from '../../money-out/wallet/model.ts';
import { walletChecks } from '../../money-out/wallet/remote/checks.ts';
import { createRemoteWallet } from '../../money-out/wallet/remote/service.ts';
import type { MoneyReaders } from '../../money-out/wallet/remote/sighting-collections.ts';
import { createRemoteStatement } from '../../money-out/wallet/remote/statement-service.ts';
import { createWalletRoutes } from '../../money-out/wallet/routes.ts';
import { createWalletService } from '../../money-out/wallet/service.ts';
import { createStatementExport } from '../../money-out/wallet/statement-export.ts';
import { createStatementRoutes } from '../../money-out/wallet/statement-routes.ts';
import { createStatementService } from '../../money-out/wallet/statement-service.ts';
import type { Bank } from '../../rails/bank.ts';
import type { Committer } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import type { Snapshots } from '../../state/events/event.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import type { Checks } from '../../upstream/checks.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../upstream/dependencies.ts';
import { webhookSnapshots } from '../../webhooks/events.ts';
import { createWebhookRoutes } from '../../webhooks/routes.ts';
import type { SimulatorControl } from '../simulator/model.ts';

/** The dependencies of embedded services, beside the records of other slices. */
export interface EmbeddedCore {
  database: Database;
  committer: Committer;
  clock: Clock;
  bank: Bank;
  pixCharging: Pick<ReturnType<typeof createPixCharging>, 'of'>;
  onFault: (fault: unknown) => void;
}

/** The dependencies of services in front of another service. */
export interface RemoteCore extends UpstreamDependencies {
  /** Reads the wallet, whose figures a refusal contains. */
  readWallet: (tenant: Tenant) => Promise<Wallet>;
  /** Reads the money in the events of each resource. */
  moneyReaders: MoneyReaders;
}

/**
 * The parts of a slice from which the programs are made. A service that needs several others has no part `embedded` or
 * `remote`: embedded.ts and remote.ts create it.
 */
export interface Slice {
  /** Reads the snapshots of its events from the log. */
  snapshots?: Partial<Snapshots>;
  /** Creates its operations of `/v1`. */
  routes?: (parts: never) => RestOperation[];
  /** Creates its export. */
  exports?: (services: never) => Export;
  embedded?: (core: EmbeddedCore) => { service: object; tasks?: Readonly<Record<string, TaskHandler>> };
  remote?: (core: RemoteCore) => Pick<RemoteSlice<object>, 'serviceFor'> & Partial<RemoteSlice<object>>;
  /** The resource that the mirror has of another service. */
  mirrors?: MirroredResource;
  /** Reads the money in the events of its resources, for the statement in front of another service. */
  money?: MoneyReaders;
  /** The endpoints and features of `psa upstream check`. */
  checks?: Checks;
  /** The family of its PIX codes. */
  pix?: Pick<PixFamily<never>, 'isId'>;
  /** Creates its controls of the simulator. */
  controls?: (services: never) => readonly SimulatorControl[];
}

const SALE_TABLES = {
  card_payment: { fromRow: cardPaymentTable.fromRow, conditionsOf: conditionsOfCardPayments },
  charge: chargeTable,
  payment: paymentTable,
};

/** Every slice once, under the name of its service. The order is that of the REST interface. */
export const SLICES = {
  access: { snapshots: accessSnapshots },
  wallet: {
    snapshots: walletSnapshots,
    routes: createWalletRoutes,
    embedded: (core) => ({ service: createWalletService(core) }),
    remote: createRemoteWallet,
    mirrors: 'wallet',
    checks: walletChecks,
  },
  statement: {
    routes: createStatementRoutes,
    exports: createStatementExport,
    embedded: (core) => ({ service: createStatementService(core) }),
    remote: (core) => ({ serviceFor: () => createRemoteStatement(core) }),
  },
  payouts: {
    snapshots: payoutSnapshots,
    routes: createPayoutRoutes,
    exports: createPayoutExport,
    embedded: (core) => ({
      service: createPayoutService({ ...core, accounts }),
      tasks: createPayoutSending(core).tasks,
    }),
    remote: createRemotePayouts,
    mirrors: 'payout',
    money: { payout: moneyOfPayout },
    checks: payoutChecks,
  },
  cardPayments: {
    snapshots: { ...cardPaymentSnapshots, ...tokenSnapshots },
    routes: createCardPaymentRoutes,
    controls: ({ refunds }: { refunds: RefundControls }) => [
      {
        path: 'card-payments/{id}/refund',
        apply: refunds.refund,
        conflict: 'This card payment is not paid, or is refunded already',
      },
    ],
    money: { card_payment: moneyOfCardPayment },
    checks: cardPaymentChecks,
  },
  charges: {
    snapshots: chargeSnapshots,
    routes: createChargeRoutes,
    embedded({ pixCharging, ...core }) {
      const { register, changeReceived } = pixCharging.of(pixCharges);
      return {
        service: createChargeService({ ...core, accounts, beneficiaries, register, changeReceived }),
      };
    },
    pix: pixCharges,
    remote: createRemoteCharges,
    mirrors: 'charge',
    money: { charge: moneyOfCharge },
    checks: chargeChecks,
  },
  payments: {
    snapshots: paymentSnapshots,
    routes: createPaymentRoutes,
    exports: createPaymentExport,
    pix: pixPayments,
    money: { payment: moneyOfPayment },
    checks: paymentChecks,
  },
  sales: {
    routes: createSaleRoutes,
    embedded: (core) => ({ service: createSaleService({ ...core, tables: SALE_TABLES }) }),
    remote: (core) => ({ serviceFor: () => createRemoteSales(core) }),
  },
  products: {
    routes: createProductRoutes,
    embedded: (core) => ({ service: createProductService(core) }),
    remote: createRemoteProducts,
    checks: productChecks,
  },
  store: {
    routes: createStoreRoutes,
    embedded: (core) => ({ service: createStoreService(core) }),
    remote: createRemoteStore,
    checks: storeChecks,
  },
  deliveries: {
    snapshots: deliverySnapshots,
    routes: createDeliveryRoutes,
    embedded: (core) => ({ service: createDeliveryService({ ...core, products }) }),
    remote: createRemoteDeliveries,
    checks: deliveryChecks,
  },
  refunds: {
    snapshots: refundSnapshots,
    routes: createRefundRoutes,
    exports: createRefundExport,
    remote: createRemoteRefunds,
    mirrors: 'refund',
    money: { refund: moneyOfRefund },
    checks: refundChecks,
  },
  returns: {
    snapshots: returnSnapshots,
    routes: createReturnRoutes,
    embedded: (core) => ({ service: createReturnService(core) }),
    remote: () => ({ serviceFor: createRemoteReturns }),
  },
  disputes: {
    snapshots: disputeSnapshots,
    routes: createDisputeRoutes,
    exports: createDisputeExport,
    remote: createRemoteDisputes,
    mirrors: 'dispute',
    money: { dispute: moneyOfDispute },
    checks: disputeChecks,
  },
  sandbox: {
    routes: createSandboxRoutes,
    controls: ({ sandbox }: { sandbox: TestPaymentControls }) => [
      {
        path: 'test-payments/{id}/settle',
        async apply(tenant, id) {
          const before = await sandbox.findTestPayment(tenant, id);
          await sandbox.settleTestPayment(tenant, id);
          return before?.status !== 'paid';
        },
        conflict: 'This test payment is paid already',
      },
    ],
    remote: createRemoteSandbox,
    checks: { reads: [], writes: [{ name: 'POST /v1/sandbox/payments' }], features: [] },
  },
  subaccounts: {
    snapshots: subaccountSnapshots,
    routes: createSubaccountRoutes,
    exports: createSubaccountExport,
    embedded(core) {
      const { tasks, ...sending } = createSubaccountSending({ ...core, accounts });
      return { service: { ...createSubaccountService(core), ...sending }, tasks };
    },
    remote: createRemoteSubaccounts,
    mirrors: 'subaccount_payout',
    money: { subaccount_payout: moneyOfSubaccountPayout },
    checks: subaccountChecks,
  },
  subscriptions: {
    snapshots: subscriptionSnapshots,
    routes: createSubscriptionRoutes,
    pix: pixSubscriptions,
    remote: createRemoteSubscriptions,
    mirrors: 'subscription',
    checks: subscriptionChecks,
  },
  webhooks: { snapshots: webhookSnapshots, routes: createWebhookRoutes },
} satisfies Partial<Record<keyof PaymentsService, Slice>>;
