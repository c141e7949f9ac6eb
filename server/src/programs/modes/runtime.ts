import type { AccessService } from '../../access/model.ts';
import type { RecentCallers } from '../../access/recent-callers.ts';
import type { ServicesFor } from '../../api/graphql/services.ts';
import type { ClientAddress } from '../../api/http/client-address.ts';
import type { OpenFile, TakeRequest } from '../../api/http/rest-routes.ts';
import type { Route } from '../../api/http/routes.ts';
import type { StrangerLimits } from '../../api/limits/strangers.ts';
import type { StoreControls } from '../../catalogue/store/model.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { HostedCheckout } from '../../money-in/card-payments/hosted-checkout.ts';
import type { CardPaymentService, StoredCardPayment } from '../../money-in/card-payments/model.ts';
import type { ChargeService, StoredCharge } from '../../money-in/charges/model.ts';
import type { DisputeFiles } from '../../money-in/disputes/files.ts';
import type { DisputeControls } from '../../money-in/disputes/model.ts';
import type { LtcControls, LtcReceiver } from '../../money-in/ltc/model.ts';
import type { PaymentService, StoredPayment } from '../../money-in/payments/model.ts';
import type { HostedPixCheckout, PixReceiver } from '../../money-in/pix/model.ts';
import type { RefundControls } from '../../money-in/refunds/model.ts';
import type { TestPaymentControls } from '../../money-in/sandbox/model.ts';
import type {
  StoredCycle,
  StoredSubscription,
  SubscriptionReceiver,
  SubscriptionService,
} from '../../money-in/subscriptions/model.ts';
import type { OwnSubaccounts } from '../../money-out/subaccounts/model.ts';
import type { WalletControls } from '../../money-out/wallet/model.ts';
import type { SimulatedLitecoin } from '../../rails/simulated/litecoin.ts';
import type { SimulatedPix } from '../../rails/simulated/pix.ts';
import type { Committer } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import type { Records } from '../../state/db/records.ts';
import type { Updates } from '../../state/events/subscribe.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import type { UpstreamState } from '../../upstream/upstream.ts';
import type { Config } from '../config/config.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { UpstreamMetrics } from '../ops/upstream-metrics.ts';
import type { RetentionService } from '../retention/model.ts';

/** The dependencies of both runtimes. */
export interface RuntimeDependencies {
  config: Config;
  database: Database;
  committer: Committer;
  clock: Clock;
  /** Whether the records reach to the present. */
  records: Records;
  retention: RetentionService;
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
  takeRequest: TakeRequest;
  openFile: OpenFile;
}

/** The server's side of one mode: the embedded service, or a facade in front of another. */
export interface Runtime {
  access: AccessService;
  servicesFor: ServicesFor;
  /** The handlers of scheduled tasks, by kind. */
  tasks: Readonly<Record<string, TaskHandler>>;
  /** Adds the parts that a subscription needs besides the log. */
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
  readonly disputeFiles: DisputeFiles;
  readonly subaccounts: OwnSubaccounts;
  readonly subscriptions: SubscriptionService<StoredSubscription, StoredCycle> & SubscriptionReceiver;
  /** The operator's import of a store. */
  readonly store: StoreControls;
}
