import { onTestFinished } from 'vitest';
import type { Requester } from '../../../server/src/kernel/requester.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { walletOf } from '../../../server/src/money-out/wallet/model.ts';
import { createRemoteWallet } from '../../../server/src/money-out/wallet/remote/service.ts';
import { createRemoteStatement } from '../../../server/src/money-out/wallet/remote/statement-service.ts';
import type { WalletEntry } from '../../../server/src/money-out/wallet/statement.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import type { NewEvent } from '../../../server/src/state/events/event.ts';
import { NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { createWorkQueue } from '../../../server/src/state/work/queue.ts';
import type { ManualClock } from '../../support/clock.ts';
import { startFacade } from '../../support/facade.ts';
import { scriptedUpstream } from '../../support/scripted-upstream.ts';

const requester: Requester = { priority: 'merchant', subject: null, onRead: () => undefined };
const SECOND = 1_000;
/** The fee of each sale. */
export const FEE = 7;
export const WALLET = walletOf('live', NO_BALANCES, 0);

export interface Sale {
  id: string;
  status: 'pending' | 'paid' | 'failed';
  amountCents: number;
  refundedCents: number;
  paidAt: Date | null;
  /** Null while the service does not show it. */
  feeCents?: number | null;
}

export interface Withdrawal {
  id: string;
  status: 'pending' | 'completed' | 'denied';
  amountCents: number;
  requestedAt: Date;
}

/** The entries in words: the kind of each, and the change of the balance. */
export const kinds = (entries: readonly WalletEntry[]) =>
  entries.map(({ kind, amountCents }) => `${kind} ${amountCents}`);

/**
 * A service with money, and a facade that sees what a test shows it. `before`: the same facade over another database, whose service
 * goes on.
 */
export async function startSeen(
  database: Database,
  before?: {
    tenant: Tenant;
    clock: ManualClock;
    service: { balanceCents: number; pendingReleaseCents: number };
  },
) {
  const service = before?.service ?? { balanceCents: 100_000, pendingReleaseCents: 0 };
  const upstream = scriptedUpstream(() => ({
    body: { ...service, withdrawableCents: service.balanceCents, disputeBlocked: 0, cryptoBalanceLtc: 0 },
  }));
  const facade = await startFacade({
    database,
    upstream,
    ...(before && { tenant: before.tenant, clock: before.clock }),
  });
  const { tenant, clock, committer } = facade;
  const { serviceFor, tasks } = createRemoteWallet(facade);
  const wallet = serviceFor(requester);
  const work = createWorkQueue({ database, clock, handlers: tasks, onError: facade.onFault });
  onTestFinished(() => work.close());
  const statement = createRemoteStatement(facade);
  const startedAt = clock.now();
  let number = 0;

  async function showEvents(...events: object[]) {
    clock.advance(1);
    await committer.change({
      tenant,
      read: () => Promise.resolve(),
      decide: () => ({ outcome: null, writes: { events: events as NewEvent[] } }),
    });
  }
  const eventOf = (resource: string, id: string, status: string, snapshot: object) => ({
    ...{ kind: `${resource}.${status}`, resource, resourceId: id, previousStatus: null },
    snapshot: { status, ...snapshot },
  });

  return {
    database,
    service,
    clock,
    faults: facade.faults,
    statement,
    tenant,
    showEvents,
    eventOf,
    nextId() {
      number += 1;
      return String(number).padStart(24, '0');
    },
    showSale: ({ id, status, ...sale }: Sale) =>
      showEvents(
        eventOf('payment', id, status, {
          ...{ paymentId: id, method: 'pix', feeCents: FEE, refundingCents: 0, refundedAt: null },
          ...{ expiresAt: startedAt, returnedCredits: [], ...sale },
        }),
      ),
    showWithdrawal: ({ id, status, ...payout }: Withdrawal) =>
      showEvents(
        eventOf('payout', id, status, {
          ...{ withdrawalId: id, code: `SAQ-${id}`, method: 'pix', feeCents: 1, litoshi: null },
          ...{ destination: 'ana@example.com', processedAt: clock.now(), returnedAt: null, ...payout },
        }),
      ),
    /** Reads the wallet once, and then does the tasks that this leaves, or not. */
    async see({ once = false } = {}) {
      clock.advance(3 * SECOND);
      await wallet.read(tenant);
      clock.advance(1);
      if (!once) await work.settled();
    },
    async read() {
      const { items } = await statement.list(tenant, { end: 'last', limit: 2_000 });
      const closing = await statement.closing(tenant, {
        startsAt: startedAt,
        endsAt: new Date(clock.now().getTime() + 1),
      });
      return { entries: items.map(({ entry }) => entry).reverse(), closing };
    },
  };
}
