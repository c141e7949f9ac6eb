import DataLoader from 'dataloader';
import { NotFoundError } from '../../kernel/errors.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import { type ListRange, withoutExtra } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { type Committer, put } from '../../state/commit/commit.ts';
import { createRequestKeys, readReplay, remember, replayed } from '../../state/commit/idempotency.ts';
import type { Database } from '../../state/db/database.ts';
import { loadOf } from '../../state/db/each-tenant.ts';
import { externalIds, newSubaccounts, statementEntries, subaccounts, writesOfMove } from './collections.ts';
import { subaccountEvent } from './events.ts';
import {
  hasMoreThanStatus,
  type PositionedRange,
  type StoredStatementEntry,
  type StoredSubaccount,
  type StoredSubaccountPayout,
  type SubaccountPayoutFilter,
  type SubaccountPayoutStatus,
  type SubaccountService,
} from './model.ts';
import { assertOwnNames, newSubaccountId, newTransferReference, referenceOfKey } from './names.ts';
import {
  countFilteredPayouts,
  countPayoutsOfEach,
  listFilteredPayouts,
  listPayoutsOfEach,
  selectByReference,
  selectPayouts,
  totalsOfPayouts,
} from './payout-store.ts';
import {
  countEntries,
  countEntriesOfEach,
  countFilteredEntries,
  entryTable,
  listEntries,
  listEntriesOfEach,
  listFilteredEntries,
} from './statement-store.ts';
import {
  countSubaccounts,
  listSubaccounts,
  type SubaccountList,
  type SubaccountListPage,
  selectByExternalIds,
  subaccountTable,
} from './store.ts';
import { decideCreate, decideTransfer } from './transfers.ts';

const TRANSFER = 'transferToSubaccount';

/** Subaccounts on Postgres: each change is a command to the committer, each read one statement. */
export function createSubaccountService({
  database,
  committer,
}: {
  database: Database;
  committer: Committer;
}): SubaccountService<StoredSubaccountPayout, StoredSubaccount, StoredStatementEntry> {
  const { sql } = database;
  const requestKeys = createRequestKeys(sql);

  // Lists of several subaccounts that are requested at once, as by one query, are read in one statement.
  const entryPages = batchReads<SubaccountListPage, PositionedItem<StoredStatementEntry>[]>(
    (pages, { end }) => listEntriesOfEach(sql, pages, end),
  );
  const entryCounts = batchReads<SubaccountList, number>((pages) => countEntriesOfEach(sql, pages));
  const payoutPages = batchReads<SubaccountListPage, PositionedItem<StoredSubaccountPayout>[]>(
    (pages, filter) => listPayoutsOfEach(sql, pages, filter),
  );
  const payoutCounts = batchReads<SubaccountList, number>((pages, filter) =>
    countPayoutsOfEach(sql, pages, filter),
  );

  async function findMany(tenant: Tenant, ids: readonly string[]): Promise<(StoredSubaccount | null)[]> {
    const rows = await subaccountTable.load(sql, tenant, [...new Set(ids)]);
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => found.get(id) ?? null);
  }

  const countPayouts = (tenant: Tenant, subaccountId: string, filter: SubaccountPayoutFilter) =>
    hasMoreThanStatus(filter)
      ? countFilteredPayouts(sql, tenant, subaccountId, filter)
      : payoutCounts({ tenant, subaccountId }, { status: filter.status });

  async function findPayoutWithVersion(tenant: Tenant, subaccountId: string, reference: string) {
    const found = await selectByReference(sql, tenant, reference);
    return found?.payout.subaccountId === subaccountId ? { ...found, id: found.payout.id } : null;
  }

  return {
    create(tenant, input) {
      const id = newSubaccountId();
      return committer.change<{ subaccount: StoredSubaccount; replayed: boolean }>({
        tenant,
        read: async (reader) => {
          if (input.externalId != null) await reader.load(externalIds, input.externalId);
        },
        decide(state) {
          const existing = input.externalId == null ? null : state.get(externalIds, input.externalId);
          const outcome = decideCreate(input, { id, existing, now: state.now });
          if (outcome.replayed) return { outcome };
          const { subaccount } = outcome;
          const { externalId } = subaccount;
          const records = [put(newSubaccounts, subaccount)];
          if (externalId !== null) records.push(put(externalIds, { ...subaccount, externalId }));
          return { outcome, writes: { records, events: [subaccountEvent(subaccount, null)] } };
        },
      });
    },

    transfer(tenant, { idempotencyKey, ...input }) {
      const inputHash = hashInput(input);
      const refId = newTransferReference();
      return committer.change<{
        subaccount: StoredSubaccount;
        entry: StoredStatementEntry;
        replayed: boolean;
      }>({
        tenant,
        read: (reader) =>
          Promise.all([
            reader.load(subaccounts, input.subaccountId),
            readReplay(reader, TRANSFER, idempotencyKey, (refId) =>
              reader.load(
                statementEntries,
                entryTable.keyOf({ kind: 'transfer_in', refId, subaccountId: input.subaccountId }),
              ),
            ),
          ]),
        decide(state) {
          const before = idempotencyKey == null ? null : replayed(state, TRANSFER, idempotencyKey, inputHash);
          const subaccount = state.get(subaccounts, input.subaccountId);
          if (!subaccount) throw new NotFoundError('Subaccount not found');
          if (before !== null) {
            const entry = state.need(
              statementEntries,
              entryTable.keyOf({ kind: 'transfer_in', refId: before, subaccountId: subaccount.id }),
            );
            return { outcome: { subaccount, entry, replayed: true } };
          }
          const move = decideTransfer(subaccount, {
            amountCents: input.amountCents,
            refId,
            balances: state.balances,
            now: state.now,
          });
          const writes = writesOfMove(move);
          if (idempotencyKey != null)
            writes.records.push(
              remember({ operation: TRANSFER, key: idempotencyKey, inputHash, resourceId: refId }),
            );
          return { outcome: { ...move, replayed: false }, writes };
        },
      });
    },

    assertNames: assertOwnNames,
    async find(tenant, subaccountId) {
      return (await findMany(tenant, [subaccountId]))[0] ?? null;
    },
    async findByExternalId(tenant, externalId) {
      return (await loadOf(selectByExternalIds, sql, tenant, [externalId]))[0] ?? null;
    },
    async findTransfer(tenant, subaccountId, idempotencyKey) {
      const refId = await requestKeys.resourceOf(tenant, TRANSFER, idempotencyKey);
      if (refId === null) return null;
      const key = entryTable.keyOf({ kind: 'transfer_in', refId, subaccountId });
      return (await entryTable.load(sql, tenant, [key]))[0] ?? null;
    },
    findWithVersion: (tenant, subaccountId) => subaccountTable.loadWithHead(sql, tenant, subaccountId),
    assertAnnounced: () => undefined,
    findMany,
    list: (tenant, range) => toRange(range, (page) => listSubaccounts(sql, tenant, page)),
    async listPage(tenant, { limit, offset, ...filter }) {
      const [rows, total] = await Promise.all([
        listSubaccounts(sql, tenant, { end: 'first', limit, offset, ...filter }),
        countSubaccounts(sql, tenant, filter),
      ]);
      return { items: rows.map(({ item }) => item), total };
    },
    count: (tenant, filter) => countSubaccounts(sql, tenant, filter),

    statement: (tenant, subaccountId, range, filter) =>
      toRange(range, ({ end, ...page }) =>
        filter
          ? listFilteredEntries(sql, tenant, subaccountId, filter, { end, ...page })
          : entryPages({ tenant, subaccountId, ...page }, { end }),
      ),
    async statementPage(tenant, id, { limit, offset, ...filter }) {
      const isFiltered = Object.keys(filter).length > 0;
      const [rows, total] = await Promise.all([
        isFiltered
          ? listFilteredEntries(sql, tenant, id, filter, { end: 'first', limit, offset })
          : listEntries(sql, tenant, id, { limit, offset }),
        isFiltered ? countFilteredEntries(sql, tenant, id, filter) : countEntries(sql, tenant, id),
      ]);
      return { items: rows.map(({ item }) => item), total };
    },
    countStatement: (tenant, subaccountId, filter) =>
      filter
        ? countFilteredEntries(sql, tenant, subaccountId, filter)
        : entryCounts({ tenant, subaccountId }),

    async findPayout(tenant, subaccountId, reference) {
      return (await findPayoutWithVersion(tenant, subaccountId, reference))?.payout ?? null;
    },
    async findPayoutByKey(tenant, idempotencyKey) {
      return (await selectByReference(sql, tenant, referenceOfKey(idempotencyKey)))?.payout ?? null;
    },
    findPayoutWithVersion,
    async findPayouts(tenant, ids) {
      const records = await loadOf(selectPayouts, sql, tenant, [...new Set(ids)]);
      const found = new Map(records.map(({ payout }) => [payout.id, payout]));
      return ids.map((id) => found.get(id) ?? null);
    },
    payouts: (tenant, subaccountId, { end, limit, after, before, ...filter }) =>
      toRange({ end, limit, after, before }, (page) => {
        if (hasMoreThanStatus(filter)) return listFilteredPayouts(sql, tenant, subaccountId, filter, page);
        const list = { tenant, subaccountId, after, before, limit: page.limit };
        return payoutPages(list, { end, status: filter.status });
      }),
    async payoutsPage(tenant, subaccountId, { limit, offset, ...filter }) {
      const [rows, total] = await Promise.all([
        listFilteredPayouts(sql, tenant, subaccountId, filter, { end: 'first', limit, offset }),
        countPayouts(tenant, subaccountId, filter),
      ]);
      return { items: rows.map(({ item }) => item), total };
    },
    countPayouts,
    payoutTotals: (tenant, filter, groupBy) => totalsOfPayouts(sql, tenant, filter, groupBy),
  };
}

type PositionedItem<Item> = { position: number; item: Item };

interface Filter {
  end?: ListRange['end'];
  status?: readonly SubaccountPayoutStatus[] | undefined;
}

/** Batches reads: those with the same filter in one turn of the event loop become one statement. */
function batchReads<List, Value>(read: (lists: List[], filter: Filter) => Promise<Value[]>) {
  const byFilter = new DataLoader<{ list: List; filter: Filter }, Value>(
    async (requests) => {
      const values: Value[] = [];
      const filters = new Map<string, { filter: Filter; indexes: number[] }>();
      for (const [index, { filter }] of requests.entries()) {
        const key = JSON.stringify(filter);
        const same = filters.get(key);
        if (same) same.indexes.push(index);
        else filters.set(key, { filter, indexes: [index] });
      }
      for (const { filter, indexes } of filters.values()) {
        const lists = indexes.map((index) => requests[index]!.list);
        const batch = await read(lists, filter);
        for (const [nth, index] of indexes.entries()) values[index] = batch[nth]!;
      }
      return values;
    },
    { cache: false, maxBatchSize: 1_000 },
  );
  return (list: List, filter: Filter = {}) => byFilter.load({ list, filter });
}

/** Reads a range of a list, plus one more item, which shows whether there are others. */
async function toRange<Item>(
  range: ListRange,
  list: (page: ListRange) => Promise<PositionedItem<Item>[]>,
): Promise<PositionedRange<Item>> {
  return withoutExtra(await list({ ...range, limit: range.limit + 1 }), range);
}
