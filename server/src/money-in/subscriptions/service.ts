import DataLoader from 'dataloader';
import { createCoalescedReads } from '../../kernel/coalesce.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import { deterministicId } from '../../kernel/ids.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import { type ListRange, withoutExtra } from '../../kernel/list-range.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Collection, Committer } from '../../state/commit/commit.ts';
import { readReplay, remember, replayed } from '../../state/commit/idempotency.ts';
import type { Database } from '../../state/db/database.ts';
import { keysOf, loadOf } from '../../state/db/each-tenant.ts';
import { writesOfPix } from '../pix/collections.ts';
import {
  type AccountSettings,
  assertIdForm,
  assertPixEnabled,
  noCode,
  type RegisterCode,
} from '../pix/model.ts';
import { pixSubscriptions, subscriptions } from './collections.ts';
import { decideCancel, decideCreate } from './decisions.ts';
import {
  hasConditions,
  isSubscriptionId,
  newSubscriptionId,
  rangeOfCycles,
  type StoredCycle,
  type StoredSubscription,
  type SubscriptionService,
} from './model.ts';
import {
  type CyclesPage,
  countSubscriptions,
  listCyclesOfEach,
  listSubscriptions,
  selectNewestCycles,
  selectSubscriptions,
  selectWithHead,
} from './store.ts';

/** Accounts with the settings that subscriptions use; the slice that owns accounts provides them. */
type AccountCollection = Collection<AccountSettings & { id: string; name: string }>;

const CREATE = 'createSubscription';

/** More cycles than a subscription can have: a century of weeks. */
const ALL_CYCLES = 5_200;

/** The port on Postgres: every change is a command to the committer, every read is one statement. */
export function createSubscriptionService({
  database,
  committer,
  accounts,
  register,
}: {
  database: Database;
  committer: Committer;
  accounts: AccountCollection;
  register: RegisterCode<StoredSubscription>;
}): SubscriptionService<StoredSubscription, StoredCycle> {
  // Dashboards of one merchant request the same page at the same time.
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listSubscriptions>>>();

  // Cycles of several subscriptions that are requested at once, as by one query, are read in one statement.
  const readCycles = (end: ListRange['end']) =>
    new DataLoader<CyclesPage, StoredCycle[]>((pages) => listCyclesOfEach(database.sql, pages, end), {
      cache: false,
      maxBatchSize: 1_000,
    });
  const cyclesFrom = { first: readCycles('first'), last: readCycles('last') };

  async function findMany(
    tenant: Tenant,
    subscriptionIds: readonly string[],
  ): Promise<(StoredSubscription | null)[]> {
    const rows = await loadOf(selectSubscriptions, database.sql, tenant, [...new Set(subscriptionIds)]);
    const found = new Map(rows.map((subscription) => [subscription.subscriptionId, subscription]));
    return subscriptionIds.map((subscriptionId) => found.get(subscriptionId) ?? null);
  }

  return {
    assertId: (subscriptionId) =>
      assertIdForm(
        'subscriptionId',
        isSubscriptionId(subscriptionId),
        'psa_sub_ and 32 hex digits, in lower case',
      ),

    async create(tenant, { idempotencyKey, ...input }) {
      const inputHash = hashInput(input);
      const subscriptionId = newSubscriptionId(
        idempotencyKey == null
          ? null
          : deterministicId(32, CREATE, tenantKey(tenant), idempotencyKey, inputHash),
      );
      const created = await committer.change<{ subscription: StoredSubscription; replayed: boolean }>({
        tenant,
        read: (reader) =>
          Promise.all([
            reader.load(accounts, tenant.accountId),
            readReplay(reader, CREATE, idempotencyKey, (made) => reader.load(subscriptions, made)),
          ]),
        decide(state) {
          const account = state.need(accounts, tenant.accountId);
          assertPixEnabled(account);
          const before = idempotencyKey == null ? null : replayed(state, CREATE, idempotencyKey, inputHash);
          if (before !== null)
            return { outcome: { subscription: state.need(subscriptions, before), replayed: true } };
          const change = decideCreate(input, {
            subscriptionId,
            account,
            environment: tenant.environment,
            balances: state.balances,
            now: state.now,
          });
          const writes = writesOfPix(pixSubscriptions, change);
          if (idempotencyKey != null)
            writes.records.push(
              remember({ operation: CREATE, key: idempotencyKey, inputHash, resourceId: subscriptionId }),
            );
          return { outcome: { subscription: change.resource, replayed: false }, writes };
        },
      });
      const { status, brCode } = created.subscription;
      const subscription =
        status === 'pending' && brCode === null
          ? await register(tenant, created.subscription)
          : created.subscription;
      // A replay shows the present state; only a first request, or a code that is still missing, is an error.
      const isMissing =
        subscription.brCode === null && (subscription.status === 'pending' || !created.replayed);
      if (isMissing) throw noCode('subscription', subscription.subscriptionId, subscription);
      return { subscription, replayed: created.replayed };
    },

    cancel: (tenant, subscriptionId) =>
      committer.change<{ subscription: StoredSubscription; replayed: boolean }>({
        tenant,
        read: (reader) => reader.load(subscriptions, subscriptionId),
        decide(state) {
          const subscription = state.get(subscriptions, subscriptionId);
          if (!subscription) throw new NotFoundError('Subscription not found');
          const change = decideCancel(subscription, 'merchant', state.now);
          return change
            ? {
                outcome: { subscription: change.resource, replayed: false },
                writes: writesOfPix(pixSubscriptions, change),
              }
            : { outcome: { subscription, replayed: true } };
        },
      }),

    async find(tenant, subscriptionId) {
      return (await findMany(tenant, [subscriptionId]))[0] ?? null;
    },
    findMany,
    findWithVersion: (tenant, subscriptionId) => selectWithHead(database.sql, tenant, subscriptionId),

    async list(tenant, range) {
      const page = { ...range, limit: range.limit + 1 };
      const items = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(page)}`, () =>
        listSubscriptions(database.sql, tenant, page),
      );
      return withoutExtra(items, range);
    },
    async listPage(tenant, { limit, offset, ...filter }) {
      const [rows, total] = await Promise.all([
        listSubscriptions(database.sql, tenant, { end: 'first', limit, offset, ...filter }),
        countSubscriptions(database.sql, tenant, filter),
      ]);
      return { items: rows.map(({ resource: subscription }) => subscription), total };
    },
    count: (tenant, filter) => countSubscriptions(database.sql, tenant, filter),

    async cycles(tenant, subscriptionId, { end, limit, after, before, ...filter }) {
      if (hasConditions(filter)) {
        const all = await cyclesFrom.first.load({ tenant, subscriptionId, limit: ALL_CYCLES });
        return rangeOfCycles(all, { end, limit, after, before, ...filter });
      }
      const page = { tenant, subscriptionId, after, before, limit: limit + 1 };
      return withoutExtra(await cyclesFrom[end].load(page), { end, limit });
    },
    async countCycles(tenant, subscriptionId, filter = {}) {
      if (hasConditions(filter)) {
        const all = await cyclesFrom.first.load({ tenant, subscriptionId, limit: ALL_CYCLES });
        return rangeOfCycles(all, { end: 'first', limit: ALL_CYCLES, ...filter }).items.length;
      }
      const [newest] = await cyclesFrom.first.load({ tenant, subscriptionId, limit: 1 });
      // Cycles are numbered from 1, without a gap.
      return newest?.number ?? 0;
    },
    async newestCycles(tenant, subscriptionIds, limit) {
      const rows = await selectNewestCycles(database.sql, keysOf(tenant, subscriptionIds), limit);
      return subscriptionIds.map((id) => rows.filter(({ subscriptionId }) => subscriptionId === id));
    },
  };
}
