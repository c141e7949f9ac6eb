import { put } from '../../commit/commit.ts';
import type { Asker } from '../../kernel/requester.ts';
import { plusMs } from '../../kernel/clock.ts';
import { createSharedReads } from '../../kernel/coalesce.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { answered, isSuccess, isTemporary, refusalOf, unreadable } from '../../upstream/responses.ts';
import { createEndpoints } from '../../upstream/endpoint-availability.ts';
import { errandOf, type Facade, type Remote } from '../../upstream/dependencies.ts';
import { observed } from '../../upstream/mirror.ts';
import {
  claimPoll,
  type Observed,
  selectObserved,
  selectObservedWithHead,
  touchObserved,
} from '../../upstream/mirror-store.ts';
import type { Read } from '../../upstream/reads.ts';
import { type Errand, UpstreamFault } from '../../upstream/upstream.ts';
import { type ShownWallet, sameWallet, type WalletService } from '../model.ts';
import { isWhole, readWallet } from '../wire.ts';

export interface RemoteWallet extends Pick<Remote<WalletService>, 'serviceFor' | 'poll' | 'refresh'> {
  /** As the service shows it now. @throws RateLimitError, UpstreamError, PermissionError */
  current(tenant: Tenant, errand: Errand): Promise<ShownWallet>;
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
}: Pick<Facade, 'database' | 'committer' | 'clock' | 'reads'>): RemoteWallet {
  const endpoints = createEndpoints(clock);
  /** By what was read, which is shared: it is taken over once. */
  const takenOver = new WeakMap<object, Promise<ShownWallet>>();
  /** Tenants of which something is known to have changed since it was last asked for. */
  const unseen = new Set<string>();
  /** However many have news at once, one reading is under way, and one more for those that came meanwhile. */
  const renewed = createSharedReads<ShownWallet>();

  /** @throws RateLimitError, UpstreamFault, UpstreamError, PermissionError */
  async function ask(
    tenant: Tenant,
    errand: Errand,
    keepMs: number,
  ): Promise<Read & { wallet: ShownWallet }> {
    const { environment } = tenant;
    const read = await endpoints.ask(environment, GET, () =>
      reads.get(environment, '/v1/wallet', { errand, keepMs }),
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
  async function takeOver(tenant: Tenant, wallet: ShownWallet, at: Date): Promise<ShownWallet> {
    const [known] = await selectObserved(database.sql, tenant, 'wallet', [ID]);
    if (known && known.observedAt > at) return walletIn(known);
    if (known && sameWallet(walletIn(known), wallet)) {
      await touchObserved(database.sql, tenant, 'wallet', { ids: [ID], at });
      return wallet;
    }
    return committer.change<ShownWallet>({
      tenant,
      read: (reader) => reader.load(observed.wallet, ID),
      decide(state) {
        const before = state.get(observed.wallet, ID);
        if (before && before.observedAt > at) return { outcome: walletIn(before) };
        if (before && sameWallet(walletIn(before), wallet)) return { outcome: wallet };
        const record = recordOf(wallet, { version: (before?.version ?? 0) + 1, at });
        return {
          outcome: wallet,
          writes: {
            records: [put(observed.wallet, record)],
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

  async function refresh(tenant: Tenant, errand: Errand): Promise<ShownWallet> {
    const { stale, wallet } = await ask(tenant, errand, 0);
    // Nobody was asked, or nobody answered: it is tried again.
    if (stale) throw new UpstreamFault('unreachable', 'no');
    return wallet;
  }

  /** There is news: what was read before, or is being read, may not have it. */
  const renew = (tenant: Tenant, errand: Errand) =>
    renewed(tenantKey(tenant), () => {
      reads.forget(tenant.environment);
      return refresh(tenant, errand);
    });

  async function read(tenant: Tenant, asker: Asker): Promise<ShownWallet> {
    const asked = await ask(tenant, errandOf(asker), KEPT_MS).catch((error: unknown) => {
      if (isTemporary(error)) return error;
      throw error;
    });
    if (!(asked instanceof Error) && !asked.stale) {
      asker.saw(asked.at, !isWhole(asked.wallet));
      return asked.wallet;
    }
    // Another instance may have asked later than this one.
    const [known] = await selectObserved(database.sql, tenant, 'wallet', [ID]);
    if (!known) throw asked;
    asker.saw(known.observedAt, true);
    return walletIn(known);
  }

  /** What is kept of it is polled for as long as it is followed. */
  async function mirrored(tenant: Tenant): Promise<{ version: number; wallet: ShownWallet } | null> {
    const known = await selectObservedWithHead(database.sql, tenant, 'wallet', ID);
    return known && { version: known.head, wallet: walletIn(known.observed) };
  }

  return {
    serviceFor: (asker) => ({
      read: (tenant) => answered(read(tenant, asker)),
      async readWithVersion(tenant) {
        const known = await mirrored(tenant);
        if (known) return known;
        await answered(read(tenant, asker));
        return (await mirrored(tenant))!;
      },
    }),
    async poll(tenant, { nudged }) {
      const now = clock.now();
      const key = tenantKey(tenant);
      if (nudged) unseen.add(key);
      const intervalMs = unseen.has(key) ? NUDGED_MS : POLL_MS;
      if (!(await claimPoll(database.sql, tenant, { name: ID, now, intervalMs })))
        return plusMs(now, intervalMs);
      unseen.delete(key);
      await refresh(tenant, { class: 'poll' });
      return plusMs(now, POLL_MS);
    },
    async refresh(tenant, _, errand) {
      await renew(tenant, errand);
    },
    current: (tenant, errand) => answered(renew(tenant, errand)),
  };
}

function walletIn({ snapshot }: Observed): ShownWallet {
  return snapshot as ShownWallet;
}

function recordOf(wallet: ShownWallet, { version, at }: { version: number; at: Date }): Observed {
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
