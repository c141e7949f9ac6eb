import { afterAll, describe, onTestFinished } from 'vitest';
import type { AccountSettings } from '../../server/src/access/model.ts';
import type { PaymentsService } from '../../server/src/api/graphql/services.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import type { HostedCheckout } from '../../server/src/money-in/card-payments/hosted-checkout.ts';
import type { CardPaymentService } from '../../server/src/money-in/card-payments/model.ts';
import type { ChargeService, StoredCharge } from '../../server/src/money-in/charges/model.ts';
import type { DisputeControls } from '../../server/src/money-in/disputes/model.ts';
import type { PaymentService, StoredPayment } from '../../server/src/money-in/payments/model.ts';
import type { PixReceiver } from '../../server/src/money-in/pix/model.ts';
import type { RefundControls } from '../../server/src/money-in/refunds/model.ts';
import type { TestPaymentControls } from '../../server/src/money-in/sandbox/model.ts';
import type { SubscriptionService } from '../../server/src/money-in/subscriptions/model.ts';
import type { WalletControls } from '../../server/src/money-out/wallet/model.ts';
import { createSimulatedBank, type SimulatedBank } from '../../server/src/rails/simulated/bank.ts';
import type { SimulatedPix } from '../../server/src/rails/simulated/pix.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import type { StoredEvent } from '../../server/src/state/events/event.ts';
import type { Balances } from '../../server/src/state/ledger/postings.ts';
import type { ManualClock } from './clock.ts';
import { type Core, startCore } from './core.ts';
import { connectTo } from './database.ts';
import { readAfter } from './events.ts';
import { balancesOf } from './ledger.ts';
import { type Pair, type Service, startPair, startService } from './pair.ts';
import { takePostgres } from './postgres-pool.ts';

type Resource = StoredEvent['resource'];

const PORTS = [
  ...(['access', 'cardPayments', 'charges', 'checkoutTokens', 'disputes', 'payments', 'payouts'] as const),
  ...(['products', 'sandbox', 'subaccounts', 'subscriptions', 'wallet'] as const),
] as const;
type Ports = Pick<PaymentsService, (typeof PORTS)[number]>;

/** The port of a separate merchant, whichever implementation is behind it, and the controls that only the service has. */
export interface PortFixture extends Ports {
  readonly clock: ManualClock;
  readonly tenant: Tenant;
  /** The service that has the money: the embedded one, or the one behind the facade. */
  readonly service: ServiceSide;
  /** Returns `expected` for the embedded service, which shows more in-process than over HTTP; else no assertions. */
  exact<Expected extends object>(expected: Expected): Expected | Record<never, never>;
  /** Returns the fixture of the same merchant in sandbox. */
  inSandbox(): PortFixture;
  /** Starts another instance on the same database. */
  another(): Promise<PortFixture>;
  /** Reads the events of a kind of resource, in order. */
  events<Name extends Resource>(resource: Name): Promise<Extract<StoredEvent, { resource: Name }>[]>;
  /** Resolves when all due work has been done, on both sides. */
  settled(): Promise<void>;
  /** Advances the clock by `ms`, and runs each task at its own instant. */
  pass(ms: number): Promise<void>;
  /** Faults in the background. */
  readonly faults: readonly unknown[];
}

/** The service's own database, rails and controls, and its port. */
export interface ServiceSide extends Pick<PaymentsService, 'payouts' | 'subaccounts' | 'refunds'> {
  readonly tenant: Tenant;
  readonly database: Database;
  readonly bank: SimulatedBank;
  readonly cardPayments: CardPaymentService & HostedCheckout & RefundControls;
  readonly payments: PaymentService<StoredPayment> & PixReceiver;
  readonly charges: ChargeService<StoredCharge> & PixReceiver<StoredCharge>;
  readonly subscriptions: SubscriptionService;
  readonly pix: SimulatedPix;
  readonly controls: WalletControls & DisputeControls & TestPaymentControls;
  balances(): Promise<Balances>;
}

/** Opens a merchant, which is closed at the end of the test. */
export type StartPortFixture = (account?: Partial<AccountSettings>) => Promise<PortFixture>;

/**
 * Runs a port's tests against a facade over real HTTP, in front of a service with real webhooks. `families`: those that its
 * operator has named.
 */
export function describeRemote(
  tests: (start: StartPortFixture) => void,
  { families = '' }: { families?: string } = {},
): void {
  describe('in front of a service', () => {
    let started: Promise<Service> | undefined;
    afterAll(async () => {
      await (await started)?.app.close();
    });
    tests(async (account = {}) => {
      // One service for all tests, each with its own merchant and facade. Request limits are tested elsewhere.
      started ??= startService();
      const { url: databaseUrl, release } = await takePostgres();
      const pair = await startPair({
        service: await started,
        account,
        requestsPerMinute: 100_000,
        open: (clock) => connectTo(databaseUrl, clock),
        environment: { PSA_UPSTREAM_FAMILIES: families },
      });
      onTestFinished(async () => {
        await pair.close();
        // A task that is left over would run during the next test.
        const { accountIds, service } = pair;
        await service.database.sql.deleteFrom('task').where('account_id', '=', accountIds.service).execute();
        release();
      });
      return remoteFixture(pair);
    });
  });
}

/** Starts merchants of the embedded service, without HTTP. */
export function embedded(database: () => Database): StartPortFixture {
  return async (account = {}) => embeddedFixture(await startCore({ database: database(), account }));
}

function embeddedFixture(core: Core, tenant: Tenant = core.tenant): PortFixture {
  const { clock, database, bank, access, payouts, subaccounts, cardPayments } = core;
  const {
    charges,
    checkoutTokens,
    disputes,
    payments,
    pix,
    products,
    refunds,
    sandbox,
    subscriptions,
    wallet,
  } = core;
  return {
    clock,
    tenant,
    access,
    payouts,
    subaccounts,
    cardPayments,
    charges,
    checkoutTokens,
    disputes,
    payments,
    products,
    sandbox,
    subscriptions,
    wallet,
    service: {
      tenant,
      database,
      bank,
      payouts,
      subaccounts,
      cardPayments,
      charges,
      payments,
      pix,
      refunds,
      subscriptions,
      controls: core.controls,
      balances: () => balancesOf(database.sql, tenant),
    },
    exact: (expected) => expected,
    inSandbox: () => embeddedFixture(core, { ...tenant, environment: 'sandbox' }),
    another: async () => embeddedFixture(await startCore({ database, tenant: core.tenant, clock }), tenant),
    events: (resource) => eventsOf(database, tenant, resource),
    settled: () => core.work.settled(),
    pass: core.pass,
    faults: core.faults,
  };
}

function remoteFixture(pair: Pair, environment: Tenant['environment'] = 'live'): PortFixture {
  const { clock, service, facade, accountIds } = pair;
  const tenant = { accountId: accountIds.facade, environment };
  const serviceTenant = { accountId: accountIds.service, environment };
  const { payouts, subaccounts, refunds } = service.servicesFor({
    priority: 'merchant',
    subject: null,
    onRead: () => undefined,
  });
  const services = pair.services();
  return {
    ...(Object.fromEntries(PORTS.map((name) => [name, services[name]])) as unknown as Ports),
    clock,
    tenant,
    service: {
      tenant: serviceTenant,
      database: service.database,
      bank: createSimulatedBank({ database: service.database, clock }),
      payouts,
      subaccounts,
      refunds,
      cardPayments: service.cardPayments,
      controls: service.controls,
      charges: service.charges,
      payments: service.payments,
      pix: service.pix,
      subscriptions: service.subscriptions,
      balances: () => balancesOf(service.database.sql, serviceTenant),
    },
    exact: () => ({}),
    inSandbox: () => remoteFixture(pair, 'sandbox'),
    another: async () => remoteFixture(await pair.another(), environment),
    async events(resource) {
      // What a query has seen is written behind it.
      await pair.settled();
      return eventsOf(facade.database, tenant, resource);
    },
    settled: pair.settled,
    pass: pair.pass,
    faults: facade.faults,
  };
}

async function eventsOf<Name extends Resource>(database: Database, tenant: Tenant, resource: Name) {
  const { events } = await readAfter(database.sql, tenant, { after: 0, topic: { resource }, limit: 1_000 });
  return events as Extract<StoredEvent, { resource: Name }>[];
}
