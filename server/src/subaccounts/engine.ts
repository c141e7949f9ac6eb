import { type Committer, put } from '../commit/commit.ts';
import { hashInput, idempotency, idempotencyKeyOf, remember, replayed } from '../commit/idempotency.ts';
import type { Database } from '../db/database.ts';
import { NotFoundError } from '../kernel/errors.ts';
import type { Tenant } from '../kernel/tenant.ts';
import {
  decideCreate,
  decideTransfer,
  newSubaccountId,
  newTransferReference,
  type Placed,
  type PlacePage,
  type StatementEntry,
  type Subaccount,
  type SubaccountService,
} from './model.ts';
import {
  entryKey,
  externalIds,
  newSubaccounts,
  statementEntries,
  subaccounts,
  writesOfMove,
} from './records.ts';
import {
  countEntries,
  countPayouts,
  countSubaccounts,
  listEntries,
  listPayouts,
  listSubaccounts,
  selectByReference,
  selectPayouts,
  selectSubaccounts,
  type Window,
} from './store.ts';

const TRANSFER = 'transferToSubaccount';

/** Subaccounts on Postgres, and every lookup: each change is a command to the committer, each read one statement. */
export function createSubaccountEngine({
  database,
  committer,
}: {
  database: Database;
  committer: Committer;
}): SubaccountService {
  const { sql } = database;

  async function findMany(tenant: Tenant, ids: readonly string[]): Promise<(Subaccount | null)[]> {
    const rows = await selectSubaccounts(sql, tenant, [...new Set(ids)]);
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => found.get(id) ?? null);
  }

  async function findPayoutWithVersion(tenant: Tenant, subaccountId: string, reference: string) {
    const found = await selectByReference(sql, tenant, reference);
    return found?.payout.subaccountId === subaccountId ? found : null;
  }

  return {
    create(tenant, input) {
      const id = newSubaccountId();
      return committer.change<{ subaccount: Subaccount; replayed: boolean }>({
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
      return committer.change<{ subaccount: Subaccount; entry: StatementEntry; replayed: boolean }>({
        tenant,
        async read(reader) {
          await reader.load(subaccounts, input.subaccountId);
          if (idempotencyKey == null) return;
          const done = await reader.load(idempotency, idempotencyKeyOf(TRANSFER, idempotencyKey));
          if (done)
            await reader.load(statementEntries, entryKey({ kind: 'transfer_in', refId: done.resourceId }));
        },
        decide(state) {
          const before = idempotencyKey == null ? null : replayed(state, TRANSFER, idempotencyKey, inputHash);
          const subaccount = state.get(subaccounts, input.subaccountId);
          if (!subaccount) throw new NotFoundError('Subaccount not found');
          if (before !== null) {
            const entry = state.need(statementEntries, entryKey({ kind: 'transfer_in', refId: before }));
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

    async find(tenant, subaccountId) {
      return (await findMany(tenant, [subaccountId]))[0] ?? null;
    },
    findMany,
    list: (tenant, page) => placed(page, (window) => listSubaccounts(sql, tenant, window)),
    async listPage(tenant, window) {
      const [rows, total] = await Promise.all([
        listSubaccounts(sql, tenant, window),
        countSubaccounts(sql, tenant),
      ]);
      return { items: rows.map(({ item }) => item), total };
    },
    count: (tenant) => countSubaccounts(sql, tenant),

    statement: (tenant, id, page) => placed(page, (window) => listEntries(sql, tenant, id, window)),
    async statementPage(tenant, id, window) {
      const [rows, total] = await Promise.all([
        listEntries(sql, tenant, id, window),
        countEntries(sql, tenant, id),
      ]);
      return { items: rows.map(({ item }) => item), total };
    },
    countStatement: (tenant, id) => countEntries(sql, tenant, id),

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
      placed(page, (window) => listPayouts(sql, tenant, { subaccountId, status }, window)),
    async payoutsPage(tenant, subaccountId, window) {
      const [rows, total] = await Promise.all([
        listPayouts(sql, tenant, { subaccountId }, window),
        countPayouts(sql, tenant, { subaccountId }),
      ]);
      return { items: rows.map(({ item }) => item), total };
    },
    countPayouts: (tenant, subaccountId, { status }) => countPayouts(sql, tenant, { subaccountId, status }),
  };
}

/** One more than asked for is looked at, which tells whether there is a next page. */
async function placed<Item>(
  { first, after }: PlacePage,
  list: (window: Window) => Promise<{ place: number; item: Item }[]>,
): Promise<Placed<Item>> {
  const items = await list({ limit: first + 1, before: after });
  return { items: items.slice(0, first), hasNextPage: items.length > first };
}
