import { createCoalescedReads } from '../../kernel/coalesce.ts';
import { UpstreamError } from '../../kernel/errors.ts';
import { deterministicId, objectId } from '../../kernel/ids.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import { withoutExtra } from '../../kernel/list-range.ts';
import { methodOf } from '../../kernel/payout-methods/registry.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Bank } from '../../rails/bank.ts';
import { type Collection, type Committer, loadRecords, put } from '../../state/commit/commit.ts';
import {
  idempotency,
  idempotencyKeyOf,
  readReplay,
  remember,
  replayed,
} from '../../state/commit/idempotency.ts';
import type { Database } from '../../state/db/database.ts';
import { payouts, RECENT, recentPayouts, sendTask, writesOf } from './collections.ts';
import { decideRequest } from './decisions.ts';
import { withOneMore } from './limits.ts';
import {
  type AccountSettings,
  assertOwnNames,
  isFinal,
  MOST_OF_AMOUNTS,
  newPayoutCode,
  nextStatuses,
  type OwnPayout,
  type PayoutRange,
  type PayoutService,
  type RequestPayoutInput,
} from './model.ts';
import { countPayouts, listPayouts, selectPayouts, selectWithHead, totalsOfPayouts } from './store.ts';

/** The settings of accounts that payouts depend on; the slice of accounts provides the collection. */
export type AccountCollection = Collection<AccountSettings & { id: string }>;

const REQUEST = 'requestPayout';

/** The port on Postgres. Every change is a command to the committer, every read is one statement. */
export function createPayoutService({
  database,
  committer,
  accounts,
  bank,
  onFault,
}: {
  database: Database;
  committer: Committer;
  accounts: AccountCollection;
  bank: Pick<Bank, 'quoteLitoshi'>;
  /** Reports that the bank gave no quote. */
  onFault: (fault: unknown) => void;
}): PayoutService<OwnPayout> {
  // Dashboards of one merchant request the same page at the same time.
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listPayouts>>>();

  async function findMany(tenant: Tenant, references: readonly string[]): Promise<(OwnPayout | null)[]> {
    const found = new Map<string, OwnPayout>();
    for (const payout of await selectPayouts(database.sql, tenant, [...new Set(references)]))
      found.set(payout.withdrawalId, payout).set(payout.code, payout);
    return references.map((reference) => found.get(reference) ?? null);
  }

  async function list(tenant: Tenant, range: PayoutRange) {
    const page = { ...range, limit: range.limit + 1 };
    const items = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(page)}`, () =>
      listPayouts(database.sql, tenant, page),
    );
    return withoutExtra(items, range);
  }

  /**
   * Quotes an amount before the decision, which cannot wait. Null if the bank gives no quote: a key can still
   * be replayed.
   */
  async function quote({ method, amountCents }: RequestPayoutInput): Promise<number | null> {
    if (methodOf(method).debits !== 'ltc') return null;
    return bank.quoteLitoshi(amountCents).catch((fault: unknown) => {
      onFault(fault);
      return null;
    });
  }

  return {
    async request(tenant, { idempotencyKey, ...input }) {
      const inputHash = hashInput(input);
      const withdrawalId =
        idempotencyKey == null
          ? objectId()
          : deterministicId(24, REQUEST, tenantKey(tenant), idempotencyKey, inputHash);
      const code = newPayoutCode();
      const litoshi = await quote(input);
      return committer.change<{ payout: OwnPayout; replayed: boolean }>({
        tenant,
        read: (reader) =>
          Promise.all([
            reader.load(accounts, tenant.accountId),
            reader.load(recentPayouts, RECENT),
            readReplay(reader, REQUEST, idempotencyKey, (made) => reader.load(payouts, made)),
          ]),
        decide(state) {
          const before = idempotencyKey == null ? null : replayed(state, REQUEST, idempotencyKey, inputHash);
          if (before !== null) return { outcome: { payout: state.need(payouts, before), replayed: true } };

          if (methodOf(input.method).debits === 'ltc' && litoshi === null)
            throw new UpstreamError(
              'UPSTREAM_UNAVAILABLE',
              'No quote for LTC can be had at this moment; nothing was debited',
            );
          const recent = state.need(recentPayouts, RECENT);
          const change = decideRequest(input, {
            withdrawalId,
            code,
            litoshi,
            account: state.need(accounts, tenant.accountId),
            recent,
            balances: state.balances,
            now: state.now,
          });
          const writes = writesOf(change);
          writes.records.push(put(recentPayouts, { key: RECENT, ...withOneMore(recent, change.payout) }));
          if (idempotencyKey != null)
            writes.records.push(
              remember({ operation: REQUEST, key: idempotencyKey, inputHash, resourceId: withdrawalId }),
            );
          return { outcome: { payout: change.payout, replayed: false }, writes };
        },
      });
    },

    assertNames: assertOwnNames,
    async find(tenant, reference) {
      return (await findMany(tenant, [reference]))[0] ?? null;
    },
    findMany,
    findKept: findMany,
    async findByKey(tenant, idempotencyKey) {
      const key = idempotencyKeyOf(REQUEST, idempotencyKey);
      const [done] = await loadRecords(idempotency, database.sql, tenant, [key]);
      return done ? ((await findMany(tenant, [done.resourceId]))[0] ?? null) : null;
    },
    findWithVersion: (tenant, withdrawalId) => selectWithHead(database.sql, tenant, withdrawalId),

    list,
    listKept: list,
    async listOfAmounts(tenant, amounts, since) {
      // At the hourly limit all payouts of a week are fewer.
      const range = { end: 'first', limit: MOST_OF_AMOUNTS, requestedAfter: since } as const;
      const rows = await listPayouts(database.sql, tenant, { ...range, after: undefined, before: undefined });
      const isAsked = new Set(amounts);
      return rows.map(({ payout }) => payout).filter(({ amountCents }) => isAsked.has(amountCents));
    },
    async listPage(tenant, { limit, offset, ...filter }) {
      const [rows, total] = await Promise.all([
        listPayouts(database.sql, tenant, { end: 'first', limit, offset, ...filter }),
        countPayouts(database.sql, tenant, filter),
      ]);
      return { items: rows.map(({ payout }) => payout), total };
    },
    count: (tenant, filter) => countPayouts(database.sql, tenant, filter),
    totals: (tenant, filter, groupBy) => totalsOfPayouts(database.sql, tenant, filter, groupBy),

    recheck: (tenant, withdrawalId) =>
      committer.change({
        tenant,
        read: (reader) => reader.load(payouts, withdrawalId),
        decide(state) {
          const payout = state.get(payouts, withdrawalId);
          if (!payout || nextStatuses(payout).length === 0) return { outcome: false };
          return {
            outcome: !isFinal(payout.status),
            writes: { tasks: [sendTask(withdrawalId, state.now)] },
          };
        },
      }),
  };
}
