import { plusMs } from '../../../kernel/clock.ts';
import { createCoalescedReads } from '../../../kernel/coalesce.ts';
import type { Requester } from '../../../kernel/requester.ts';
import { type Tenant, tenantKey } from '../../../kernel/tenant.ts';
import { put } from '../../../state/commit/commit.ts';
import {
  type RemoteSlice,
  requestOptionsFor,
  type UpstreamDependencies,
} from '../../../upstream/dependencies.ts';
import { createEndpoints } from '../../../upstream/endpoint-availability.ts';
import { mirrored } from '../../../upstream/mirror.ts';
import {
  isNewer,
  type MirroredRow,
  selectMirrored,
  selectMirroredWithHead,
} from '../../../upstream/mirror-store.ts';
import { claimPoll } from '../../../upstream/poll-store.ts';
import type { Read } from '../../../upstream/reads.ts';
import {
  isRetryable,
  isSuccess,
  refusalOf,
  unreadable,
  withUpstreamErrors,
} from '../../../upstream/responses.ts';
import { type RequestOptions, UpstreamFault } from '../../../upstream/upstream.ts';
import { isSameWallet, type Wallet, type WalletService } from '../model.ts';
import { contradictsItself, isComplete, readWallet } from '../wire.ts';
import {
  BOOK,
  createBooks,
  type MoneyReaders,
  type Position,
  selectChanges,
} from './sighting-collections.ts';
import { rowsOfSighting } from './sightings.ts';

export interface RemoteWallet extends Pick<RemoteSlice<WalletService>, 'serviceFor' | 'poll' | 'refresh'> {
  /** Reads the wallet from the service, without the cache. @throws RateLimitError, UpstreamError, PermissionError */
  current(tenant: Tenant, requestOptions: RequestOptions): Promise<Wallet>;
  tasks: Readonly<Record<typeof GO_ON, (tenant: Tenant) => Promise<void>>>;
}

/** The kind of the task that goes on with the events of a sighting. */
const GO_ON = 'wallet.sighting';

/** The life of a cached wallet. */
const CACHED_MS = 2_000;
/** The interval of polls while the wallet has subscribers. */
const POLL_MS = 10_000;
/** The interval of polls after a known change that was not read yet. */
const CHANGED_MS = 1_000;

const GET = { name: 'GET /v1/wallet', inWords: 'the wallet' };

/** The id of the wallet: each tenant has one. */
const ID = 'wallet';

/** The wallet of the service, and the changes of it that this server has observed. */
export function createRemoteWallet({
  database,
  committer,
  mirrorWriter,
  clock,
  reads,
  moneyReaders,
  onFault,
}: Pick<UpstreamDependencies, 'database' | 'committer' | 'mirrorWriter' | 'clock' | 'reads' | 'onFault'> & {
  moneyReaders: MoneyReaders;
}): RemoteWallet {
  const endpoints = createEndpoints(clock);
  const books = createBooks(moneyReaders, onFault);
  /** The positions in the log up to which no resource has changed since the last sighting, by tenant. */
  const unmovedTo = new Map<string, Position>();
  /** Recordings by response: a response that several callers share is recorded once. */
  const recordedReads = new WeakMap<object, Promise<Wallet>>();
  /** Tenants with a known change since the last poll that has read the wallet. */
  const changed = new Set<string>();
  /** Refreshes, coalesced: one is under way, and one more for the changes that arrive meanwhile. */
  const coalescedRefreshes = createCoalescedReads<Wallet>();

  /** @throws RateLimitError, UpstreamFault, UpstreamError, PermissionError */
  async function readUpstream(
    tenant: Tenant,
    requestOptions: RequestOptions,
    maxAgeMs: number,
  ): Promise<Read & { wallet: Wallet }> {
    const { environment } = tenant;
    const read = await endpoints.ask(environment, GET, () =>
      reads.get(environment, '/v1/wallet', { requestOptions, maxAgeMs }),
    );
    if (!isSuccess(read)) throw refusalOf(read);
    const wallet = readWallet(read.body, tenant.environment);
    if (!wallet) throw unreadable();
    const body = read.body as object;
    const recording = recordedReads.get(body) ?? recordRead(tenant, wallet, read.at);
    recordedReads.set(body, recording);
    recording.catch(() => recordedReads.delete(body));
    return { ...read, wallet: await recording };
  }

  /** Records a wallet and returns the newest known one: another instance may have read it later. */
  async function recordRead(tenant: Tenant, wallet: Wallet, at: Date): Promise<Wallet> {
    const [known] = await selectMirrored(database.sql, tenant, 'wallet', [ID]);
    if (known && isNewer(known, at, clock.now())) return toWallet(known);
    if (known && isSameWallet(toWallet(known), wallet) && !(await hasMoved(tenant, wallet))) {
      mirrorWriter.confirm(tenant, { ...known, observedAt: at }, [ID]);
      return wallet;
    }
    return recordSighting(tenant, wallet, at);
  }

  /**
   * Whether a resource or the wallet has changed since the last sighting, or there is none yet. A server of the version before
   * mirrors a wallet without a sighting.
   */
  async function hasMoved(tenant: Tenant, wallet: Wallet): Promise<boolean> {
    const key = tenantKey(tenant);
    const changes = await selectChanges(database.sql, tenant, {
      resources: Object.keys(moneyReaders),
      seen: unmovedTo.get(key) ?? { version: 0, mark: 0 },
    });
    const { head, wallet: last, isChanged } = changes;
    const isMoved = last === null || isChanged || !isSameWallet(last, wallet);
    if (!isMoved) unmovedTo.set(key, head);
    return isMoved;
  }

  /**
   * Records a sighting, with the entries of the statement that it makes, and returns the newest wallet. If it leaves events of the
   * log, a task goes on with them.
   */
  async function recordSighting(tenant: Tenant, wallet: Wallet, at: Date): Promise<Wallet> {
    const { newest, seen } = await committer.change<{ newest: Wallet; seen: Position | null }>({
      tenant,
      read: (reader) => Promise.all([reader.load(mirrored.wallet, ID), reader.load(books, BOOK)]),
      decide(state) {
        const before = state.get(mirrored.wallet, ID);
        if (before && isNewer(before, at, state.now))
          return { outcome: { newest: toWallet(before), seen: null } };
        const book = state.need(books, BOOK);
        const { last, movements, seen, hasMore } = book;
        const seenTo = seen.version;
        const rows = rowsOfSighting(last, movements, { wallet, seenTo, hasMore, now: state.now });
        const outcome = { newest: wallet, seen: hasMore ? null : seen };
        const isSame = before !== null && isSameWallet(toWallet(before), wallet);
        if (isSame && rows.length === 0) return { outcome };
        const entries = rows.filter(({ isEntry }) => isEntry).map(({ number }) => String(number));
        const written = [...book.written, ...rows];
        // Rows of money from before the opening alone are no change that subscribers could see.
        const isShown = !isSame || entries.length > 0;
        const version = (before?.version ?? 0) + Number(isShown);
        return {
          outcome,
          writes: {
            records: [
              put(mirrored.wallet, recordOf(wallet, { version, at })),
              put(books, { ...book, last: rows.at(-1) ?? last, movements: [], written }),
            ],
            events: isShown
              ? [
                  {
                    kind: 'wallet.changed',
                    resource: 'wallet',
                    resourceId: ID,
                    previousStatus: null,
                    snapshot: entries.length === 0 ? wallet : { ...wallet, entries },
                  },
                ]
              : [],
            tasks: hasMore ? [{ kind: GO_ON, key: ID, at: state.now }] : [],
          },
        };
      },
    });
    if (seen) unmovedTo.set(tenantKey(tenant), seen);
    return newest;
  }

  /** Records the events that the last sighting has left, with a sighting of the same wallet. */
  async function goOn({ accountId, environment }: Tenant): Promise<void> {
    const tenant = { accountId, environment };
    const [known] = await selectMirrored(database.sql, tenant, 'wallet', [ID]);
    if (known) await recordSighting(tenant, toWallet(known), known.observedAt);
  }

  async function refresh(tenant: Tenant, requestOptions: RequestOptions): Promise<Wallet> {
    const { stale, wallet } = await readUpstream(tenant, requestOptions, 0);
    // The service was not reached, so the refresh is retried.
    if (stale) throw new UpstreamFault('unreachable', 'no');
    return wallet;
  }

  /** Reads the wallet after a change, which an earlier read, or one under way, may not show. */
  const refreshNow = (tenant: Tenant, requestOptions: RequestOptions) =>
    coalescedRefreshes(tenantKey(tenant), () => {
      reads.forget(tenant.environment);
      return refresh(tenant, requestOptions);
    });

  async function read(tenant: Tenant, requester: Requester): Promise<Wallet> {
    const answer = await readUpstream(tenant, requestOptionsFor(requester), CACHED_MS).catch(
      (error: unknown) => {
        if (isRetryable(error)) return error;
        throw error;
      },
    );
    if (!(answer instanceof Error) && !answer.stale) {
      requester.onRead(answer.at, !isComplete(answer.wallet) || contradictsItself(answer.body));
      return answer.wallet;
    }
    // Another instance may have read the wallet later than this one.
    const [known] = await selectMirrored(database.sql, tenant, 'wallet', [ID]);
    if (!known) throw answer;
    requester.onRead(known.observedAt, true);
    return toWallet(known);
  }

  /** Reads the mirrored wallet, which is polled while it has subscribers. */
  async function readMirrored(tenant: Tenant): Promise<{ version: number; wallet: Wallet } | null> {
    const known = await selectMirroredWithHead(database.sql, tenant, 'wallet', ID);
    return known && { version: known.head, wallet: toWallet(known.observed) };
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
    async poll(tenant, { isChanged }) {
      const now = clock.now();
      const key = tenantKey(tenant);
      if (isChanged) changed.add(key);
      const intervalMs = changed.has(key) ? CHANGED_MS : POLL_MS;
      if (!(await claimPoll(database.sql, tenant, { name: ID, now, intervalMs })))
        return plusMs(now, intervalMs);
      await refresh(tenant, { priority: 'money_read' });
      changed.delete(key);
      return plusMs(now, POLL_MS);
    },
    async refresh(tenant, _, requestOptions) {
      await refreshNow(tenant, requestOptions);
    },
    current: (tenant, requestOptions) => withUpstreamErrors(refreshNow(tenant, requestOptions)),
    tasks: { [GO_ON]: goOn },
  };
}

function toWallet({ snapshot }: MirroredRow): Wallet {
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
