import DataLoader from 'dataloader';
import { type Committer, put } from '../commit/commit.ts';
import { readReplay, remember, replayed } from '../commit/idempotency.ts';
import type { Database } from '../db/database.ts';
import { NotFoundError } from '../kernel/errors.ts';
import { hashInput } from '../kernel/input-hash.ts';
import type { Tenant } from '../kernel/tenant.ts';
import {
  entryKey,
  externalIds,
  newSubaccounts,
  statementEntries,
  subaccounts,
  writesOfMove,
} from './collections.ts';
import type {
  CursorPage,
  CursorPageQuery,
  StoredStatementEntry,
  StoredSubaccount,
  StoredSubaccountPayout,
  SubaccountPayoutStatus,
  SubaccountService,
} from './model.ts';
import { assertOwnNames, newSubaccountId, newTransferReference } from './names.ts';
import {
  countPayouts,
  countPayoutsOfEach,
  listPayouts,
  listPayoutsOfEach,
  selectByReference,
  selectPayouts,
} from './payout-store.ts';
import { countEntries, countEntriesOfEach, listEntries, listEntriesOfEach } from './statement-store.ts';
import {
  countSubaccounts,
  listSubaccounts,
  type SubaccountList,
  type SubaccountListPage,
  selectSubaccounts,
  type Window,
} from './store.ts';
import { decideCreate, decideTransfer } from './transfers.ts';

const TRANSFER = 'transferToSubaccount';

/** Subaccounts on Postgres, and every lookup: each change is a command to the committer, each read one statement. */
export function createSubaccountService({
  database,
  committer,
}: {
  database: Database;
  committer: Committer;
}): SubaccountService<StoredSubaccountPayout, StoredSubaccount, StoredStatementEntry> {
  const { sql } = database;

  // Lists of several subaccounts that are requested at once, as by one query, are read in one statement.
  const entryPages = batchReads<SubaccountListPage, PlacedItem<StoredStatementEntry>[]>((pages) =>
    listEntriesOfEach(sql, pages),
  );
  const entryCounts = batchReads<SubaccountList, number>((pages) => countEntriesOfEach(sql, pages));
  const payoutPages = batchReads<SubaccountListPage, PlacedItem<StoredSubaccountPayout>[]>((pages, status) =>
    listPayoutsOfEach(sql, pages, status),
  );
  const payoutCounts = batchReads<SubaccountList, number>((pages, status) =>
    countPayoutsOfEach(sql, pages, status),
  );

  async function findMany(tenant: Tenant, ids: readonly string[]): Promise<(StoredSubaccount | null)[]> {
    const rows = await selectSubaccounts(sql, tenant, [...new Set(ids)]);
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => found.get(id) ?? null);
  }

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
          return { outcome, writes: { records } };
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
                entryKey({ kind: 'transfer_in', refId, subaccountId: input.subaccountId }),
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
              entryKey({ kind: 'transfer_in', refId: before, subaccountId: subaccount.id }),
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
    findMany,
    list: (tenant, page) => toCursorPage(page, (window) => listSubaccounts(sql, tenant, window)),
    async listPage(tenant, window) {
      const [rows, total] = await Promise.all([
        listSubaccounts(sql, tenant, window),
        countSubaccounts(sql, tenant),
      ]);
      return { items: rows.map(({ item }) => item), total };
    },
    count: (tenant) => countSubaccounts(sql, tenant),

    statement: (tenant, subaccountId, page) =>
      toCursorPage(page, (window) => entryPages({ tenant, subaccountId, ...window })),
    async statementPage(tenant, id, window) {
      const [rows, total] = await Promise.all([
        listEntries(sql, tenant, id, window),
        countEntries(sql, tenant, id),
      ]);
      return { items: rows.map(({ item }) => item), total };
    },
    countStatement: (tenant, subaccountId) => entryCounts({ tenant, subaccountId }),

    async findPayout(tenant, subaccountId, reference) {
      return (await findPayoutWithVersion(tenant, subaccountId, reference))?.payout ?? null;
    },
    findPayoutWithVersion,
    async findPayouts(tenant, ids) {
      const records = await selectPayouts(sql, tenant, [...new Set(ids)]);
      const found = new Map(records.map(({ payout }) => [payout.id, payout]));
      return ids.map((id) => found.get(id) ?? null);
    },
    payouts: (tenant, subaccountId, { status, ...page }) =>
      toCursorPage(page, (window) => payoutPages({ tenant, subaccountId, ...window }, status)),
    async payoutsPage(tenant, subaccountId, window) {
      const [rows, total] = await Promise.all([
        listPayouts(sql, tenant, subaccountId, window),
        countPayouts(sql, tenant, subaccountId),
      ]);
      return { items: rows.map(({ item }) => item), total };
    },
    countPayouts: (tenant, subaccountId, { status }) => payoutCounts({ tenant, subaccountId }, status),
  };
}

type PlacedItem<Item> = { place: number; item: Item };
type Status = readonly SubaccountPayoutStatus[] | undefined;

/** Batches reads: those with one filter that are requested in one turn of the event loop are one statement. */
function batchReads<List, Value>(read: (lists: List[], status: Status) => Promise<Value[]>) {
  const byFilter = new DataLoader<{ list: List; status: Status }, Value>(
    async (requests) => {
      const values: Value[] = [];
      const filters = new Map<string | undefined, { status: Status; indexes: number[] }>();
      for (const [index, { status }] of requests.entries()) {
        const filter = JSON.stringify(status);
        const same = filters.get(filter);
        if (same) same.indexes.push(index);
        else filters.set(filter, { status, indexes: [index] });
      }
      for (const { status, indexes } of filters.values()) {
        const lists = indexes.map((index) => requests[index]!.list);
        const batch = await read(lists, status);
        for (const [nth, index] of indexes.entries()) values[index] = batch[nth]!;
      }
      return values;
    },
    { cache: false, maxBatchSize: 1_000 },
  );
  return (list: List, status?: Status) => byFilter.load({ list, status });
}

/** Reads a page of a list. One more item than requested is read, which shows whether there is a next page. */
async function toCursorPage<Item>(
  { first, after }: CursorPageQuery,
  list: (window: Window) => Promise<PlacedItem<Item>[]>,
): Promise<CursorPage<Item>> {
  const items = await list({ limit: first + 1, before: after });
  return { items: items.slice(0, first), hasNextPage: items.length > first };
}
