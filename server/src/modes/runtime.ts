import type { AccessService } from '../access/model.ts';
import type { RecentCallers } from '../access/recent-callers.ts';
import type { HostedCheckout } from '../card-payments/hosted-checkout.ts';
import type { CardPaymentService, StoredCardPayment } from '../card-payments/model.ts';
import type { ChargeService, StoredCharge } from '../charges/model.ts';
import type { Committer } from '../commit/commit.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../db/database.ts';
import type { Records } from '../db/records.ts';
import type { DisputeControls } from '../disputes/model.ts';
import type { Updates } from '../events/subscribe.ts';
import type { ServicesFor } from '../graphql/context.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { Route } from '../http/routes.ts';
import type { Clock } from '../kernel/clock.ts';
import type { StrangerLimits } from '../limits/strangers.ts';
import type { LtcControls, LtcReceiver } from '../ltc/model.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { UpstreamMetrics } from '../ops/upstream-metrics.ts';
import type { PaymentService, StoredPayment } from '../payments/model.ts';
import type { HostedPixCheckout, PixReceiver } from '../pix/model.ts';
import type { SimulatedLitecoin } from '../rails/simulated/litecoin.ts';
import type { SimulatedPix } from '../rails/simulated/pix.ts';
import type { RefundControls } from '../refunds/model.ts';
import type { TestPaymentControls } from '../sandbox/model.ts';
import type { StoreControls } from '../store/model.ts';
import type { OwnSubaccounts } from '../subaccounts/model.ts';
import type {
  StoredCycle,
  StoredSubscription,
  SubscriptionReceiver,
  SubscriptionService,
} from '../subscriptions/model.ts';
import type { UpstreamState } from '../upstream/upstream.ts';
import type { WalletControls } from '../wallet/model.ts';
import type { TaskHandler } from '../work/queue.ts';

/** The dependencies of both runtimes. */
export interface RuntimeDependencies {
  config: Config;
  database: Database;
  committer: Committer;
  clock: Clock;
  /** Whether the records reach to the present. */
  records: Records;
  /** The URL of this server, without a slash at its end. */
  publicUrl: string;
  metrics: Pick<
    Metrics,
    | 'onWebhook'
    | 'onCard'
    | 'onTokenPaused'
    | 'onPixCode'
    | 'onPixCredit'
    | 'onPixReturn'
    | 'onRefund'
    | 'onDispute'
    | 'onLtcAddress'
    | 'onLtcOutput'
    | 'onSubscriptionAttempt'
  >;
  onFault: (fault: unknown) => void;
}

/** The parts of the server that the routes of a mode need. */
export interface ServerParts {
  /** Returns the instant at which the next task is due. */
  nextDueAt: () => Promise<Date | null>;
  callers: RecentCallers;
  addressOf: ClientAddress;
  strangers: StrangerLimits;
}

/** The server's side of one mode: the embedded service, or a facade in front of another. */
export interface Runtime {
  access: AccessService;
  servicesFor: ServicesFor;
  /** The handlers of scheduled tasks, by kind. */
  tasks: Readonly<Record<string, TaskHandler>>;
  /** Adds what a subscription needs beside the log. */
  updates: (updates: Updates) => Updates;
  routes: (server: ServerParts) => Promise<Route[]>;
  /** Returns the state of the service behind a remote runtime; null in an embedded one. */
  upstream: (() => UpstreamState) | null;
  /** The metrics of that service. */
  upstreamMetrics: UpstreamMetrics['registry'] | null;
  /** The first account's keys, where this start has created it: they are shown this once. */
  firstKeys: { live: string; sandbox: string } | null;
  cursorKey: Uint8Array;
  /** The embedded services; null in front of another service. */
  embedded: EmbeddedServices | null;
  close(): Promise<void>;
}

export interface EmbeddedServices {
  readonly cardPayments: CardPaymentService<StoredCardPayment> & HostedCheckout & RefundControls;
  readonly payments: PaymentService<StoredPayment> & PixReceiver<StoredPayment> & HostedPixCheckout;
  readonly charges: ChargeService<StoredCharge> & PixReceiver<StoredCharge>;
  /** The simulated bank of PIX payments. */
  readonly pix: SimulatedPix;
  /** The simulated Litecoin network. */
  readonly litecoin: SimulatedLitecoin;
  readonly ltc: LtcReceiver<StoredPayment> & LtcControls;
  /** Operations that no client has, for the simulator. */
  readonly controls: WalletControls & DisputeControls & TestPaymentControls;
  readonly subaccounts: OwnSubaccounts;
  readonly subscriptions: SubscriptionService<StoredSubscription, StoredCycle> & SubscriptionReceiver;
  /** The operator's import of a store. */
  readonly store: StoreControls;
}
