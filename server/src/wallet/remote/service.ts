import { put } from '../../commit/commit.ts';
import { plusMs } from '../../kernel/clock.ts';
import { createCoalescedReads } from '../../kernel/coalesce.ts';
import type { Requester } from '../../kernel/requester.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import {
  type RemoteSlice,
  requestOptionsFor,
  type UpstreamDependencies,
} from '../../upstream/dependencies.ts';
import { createEndpoints } from '../../upstream/endpoint-availability.ts';
import { mirrored } from '../../upstream/mirror.ts';
import {
  claimPoll,
  type MirroredRow,
  selectMirrored,
  selectMirroredWithHead,
  touchMirrored,
} from '../../upstream/mirror-store.ts';
import type { Read } from '../../upstream/reads.ts';
import {
  isRetryable,
  isSuccess,
  refusalOf,
  unreadable,
  withUpstreamErrors,
} from '../../upstream/responses.ts';
import { type RequestOptions, UpstreamFault } from '../../upstream/upstream.ts';
import { sameWallet, type Wallet, type WalletService } from '../model.ts';
import { isWhole, readWallet } from '../wire.ts';

export interface RemoteWallet extends Pick<RemoteSlice<WalletService>, 'serviceFor' | 'poll' | 'refresh'> {
  /** As the service shows it now. @throws RateLimitError, UpstreamError, PermissionError */
  current(tenant: Tenant, requestOptions: RequestOptions): Promise<Wallet>;
}

/** A query within so long after another is answered from memory. */
const KEPT_MS = 2_000;
/** How often it is asked for while somebody follows it; */
const POLL_MS = 10_000;
/** and how long it is not asked for again where something is known to have changed. */
const NUDGED_MS = 1_000;

const GET = { name: 'GET /v1/wallet', inWords: 'the wallet' };

/** There is one of each tenant. */
const ID = 'wallet';

/** The wallet that the service shows, and its changes: each that we came to see. */
export function createRemoteWallet({
  database,
  committer,
  clock,
  reads,
}: Pick<UpstreamDependencies, 'database' | 'committer' | 'clock' | 'reads'>): RemoteWallet {
  const endpoints = createEndpoints(clock);
  /** By what was read, which is shared: it is taken over once. */
  const takenOver = new WeakMap<object, Promise<Wallet>>();
  /** Tenants of which something is known to have changed since it was last asked for. */
  const unseen = new Set<string>();
  /** However many have news at once, one reading is under way, and one more for those that came meanwhile. */
  const renewed = createCoalescedReads<Wallet>();

  /** @throws RateLimitError, UpstreamFault, UpstreamError, PermissionError */
  async function ask(
    tenant: Tenant,
    requestOptions: RequestOptions,
    keepMs: number,
  ): Promise<Read & { wallet: Wallet }> {
    const { environment } = tenant;
    const read = await endpoints.ask(environment, GET, () =>
      reads.get(environment, '/v1/wallet', { requestOptions, keepMs }),
    );
    if (!isSuccess(read)) throw refusalOf(read);
    const wallet = readWallet(read.body, tenant.environment);
    if (!wallet) throw unreadable();
    const body = read.body as object;
    const taking = takenOver.get(body) ?? takeOver(tenant, wallet, read.at);
    takenOver.set(body, taking);
    taking.catch(() => takenOver.delete(body));
    return { ...read, wallet: await taking };
  }

  /** What is known then: another instance may have read it later. */
  async function takeOver(tenant: Tenant, wallet: Wallet, at: Date): Promise<Wallet> {
    const [known] = await selectMirrored(database.sql, tenant, 'wallet', [ID]);
    if (known && known.observedAt > at) return walletIn(known);
    if (known && sameWallet(walletIn(known), wallet)) {
      await touchMirrored(database.sql, tenant, 'wallet', { ids: [ID], at });
      return wallet;
    }
    return committer.change<Wallet>({
      tenant,
      read: (reader) => reader.load(mirrored.wallet, ID),
      decide(state) {
        const before = state.get(mirrored.wallet, ID);
        if (before && before.observedAt > at) return { outcome: walletIn(before) };
        if (before && sameWallet(walletIn(before), wallet)) return { outcome: wallet };
        const record = recordOf(wallet, { version: (before?.version ?? 0) + 1, at });
        return {
          outcome: wallet,
          writes: {
            records: [put(mirrored.wallet, record)],
            events: [
              {
                kind: 'wallet.changed',
                resource: 'wallet',
                resourceId: ID,
                previousStatus: null,
                snapshot: wallet,
              },
            ],
          },
        };
      },
    });
  }

  async function refresh(tenant: Tenant, requestOptions: RequestOptions): Promise<Wallet> {
    const { stale, wallet } = await ask(tenant, requestOptions, 0);
    // Nobody was asked, or nobody answered: it is tried again.
    if (stale) throw new UpstreamFault('unreachable', 'no');
    return wallet;
  }

  /** There is news: what was read before, or is being read, may not have it. */
  const renew = (tenant: Tenant, requestOptions: RequestOptions) =>
    renewed(tenantKey(tenant), () => {
      reads.forget(tenant.environment);
      return refresh(tenant, requestOptions);
    });

  async function read(tenant: Tenant, requester: Requester): Promise<Wallet> {
    const asked = await ask(tenant, requestOptionsFor(requester), KEPT_MS).catch((error: unknown) => {
      if (isRetryable(error)) return error;
      throw error;
    });
    if (!(asked instanceof Error) && !asked.stale) {
      requester.onRead(asked.at, !isWhole(asked.wallet));
      return asked.wallet;
    }
    // Another instance may have asked later than this one.
    const [known] = await selectMirrored(database.sql, tenant, 'wallet', [ID]);
    if (!known) throw asked;
    requester.onRead(known.observedAt, true);
    return walletIn(known);
  }

  /** What is kept of it is polled for as long as it is followed. */
  async function readMirrored(tenant: Tenant): Promise<{ version: number; wallet: Wallet } | null> {
    const known = await selectMirroredWithHead(database.sql, tenant, 'wallet', ID);
    return known && { version: known.head, wallet: walletIn(known.observed) };
  }

  return {
    serviceFor: (requester) => ({
      read: (tenant) => withUpstreamErrors(read(tenant, requester)),
      async readWithVersion(tenant) {
        const known = await readMirrored(tenant);
        if (known) return known;
        await withUpstreamErrors(read(tenant, requester));
        return (await readMirrored(tenant))!;
      },
    }),
    async poll(tenant, { isChanged: nudged }) {
      const now = clock.now();
      const key = tenantKey(tenant);
      if (nudged) unseen.add(key);
      const intervalMs = unseen.has(key) ? NUDGED_MS : POLL_MS;
      if (!(await claimPoll(database.sql, tenant, { name: ID, now, intervalMs })))
        return plusMs(now, intervalMs);
      unseen.delete(key);
      await refresh(tenant, { priority: 'poll' });
      return plusMs(now, POLL_MS);
    },
    async refresh(tenant, _, requestOptions) {
      await renew(tenant, requestOptions);
    },
    current: (tenant, requestOptions) => withUpstreamErrors(renew(tenant, requestOptions)),
  };
}

function walletIn({ snapshot }: MirroredRow): Wallet {
  return snapshot as Wallet;
}

function recordOf(wallet: Wallet, { version, at }: { version: number; at: Date }): MirroredRow {
  return {
    resource: 'wallet',
    id: ID,
    version,
    status: 'open',
    final: false,
    parent: null,
    snapshot: wallet,
    observedAt: at,
  };
}
