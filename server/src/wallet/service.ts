import {
  type Collection,
  type Committer,
  put,
  type Reader,
  type State,
  type Writes,
} from '../commit/commit.ts';
import { idempotency, idempotencyKeyOf, remember, replayed } from '../commit/idempotency.ts';
import type { Database } from '../db/database.ts';
import type { NewEvent } from '../events/event.ts';
import { createCoalescedReads } from '../kernel/coalesce.ts';
import { NotFoundError } from '../kernel/errors.ts';
import { objectId } from '../kernel/ids.ts';
import { hashInput } from '../kernel/input-hash.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import { readBalancesAndSubaccounts, readBalancesAndVersion } from '../ledger/store.ts';
import { disputes } from './collections.ts';
import {
  assertLive,
  type Dispute,
  decideCloseDispute,
  decideCredit,
  decideCreditLtc,
  decideOpenDispute,
  type OwnWallet,
  type WalletControls,
  type WalletService,
  walletOf,
} from './model.ts';
import { listDisputes } from './store.ts';

export function createWalletService({
  database,
  onFault,
}: {
  database: Database;
  /** Receives the error of a subaccounts' sum that could not be computed; the wallet was shown without it. */
  onFault: (fault: unknown) => void;
}): WalletService<OwnWallet> {
  const shared = createCoalescedReads<{ version: number; wallet: OwnWallet }>();

  const readWithVersion = (tenant: Tenant) =>
    shared(tenantKey(tenant), async () => {
      try {
        const { balances, version, subaccountsCents } = await readBalancesAndSubaccounts(
          database.sql,
          tenant,
        );
        return { version, wallet: walletOf(tenant.environment, balances, subaccountsCents) };
      } catch (fault) {
        onFault(fault);
        const { balances, version } = await readBalancesAndVersion(database.sql, tenant);
        return { version, wallet: walletOf(tenant.environment, balances, null) };
      }
    });

  return { readWithVersion, read: async (tenant) => (await readWithVersion(tenant)).wallet };
}

/** The event of a dispute's new status. */
function eventOf(dispute: Dispute, previousStatus: Dispute['status'] | null): NewEvent {
  return {
    kind: `dispute.${dispute.status}`,
    resource: 'dispute',
    resourceId: dispute.id,
    previousStatus,
    snapshot: dispute,
  };
}

/** Card payments that a dispute may name; the slice that owns them provides them. */
export type DisputableCollection = Collection<{ orderCode: string }>;

/** Implements the simulator's changes to a wallet: incoming money, and disputes. */
export function createWalletControls({
  database,
  committer,
  cardPayments,
}: {
  database: Database;
  committer: Committer;
  cardPayments: DisputableCollection;
}): WalletControls {
  /** Makes a change once under its name: a repeated call with the same input gets the id of the first. */
  async function changeOnce(
    tenant: Tenant,
    { operation, name, input }: { operation: string; name: string | undefined; input: unknown },
    {
      newId,
      read = async () => undefined,
      decide,
    }: {
      newId: string;
      read?: (reader: Reader) => Promise<unknown>;
      decide: (state: State, id: string) => Writes;
    },
  ): Promise<string> {
    const inputHash = hashInput(input);
    return committer.change({
      tenant,
      async read(reader) {
        await read(reader);
        if (name !== undefined) await reader.load(idempotency, idempotencyKeyOf(operation, name));
      },
      decide(state) {
        const before = name === undefined ? null : replayed(state, operation, name, inputHash);
        if (before !== null) return { outcome: before };
        const writes = decide(state, newId);
        const keyRecords =
          name === undefined ? [] : [remember({ operation, key: name, inputHash, resourceId: newId })];
        return { outcome: newId, writes: { ...writes, records: [...(writes.records ?? []), ...keyRecords] } };
      },
    });
  }

  return {
    async openDispute(tenant, { name, ...input }) {
      assertLive(tenant.environment);
      const { orderCode } = input;
      return changeOnce(
        tenant,
        { operation: 'openDispute', name, input },
        {
          newId: `dsp_${objectId()}`,
          read: async (reader) => orderCode && reader.load(cardPayments, orderCode),
          decide(state, id) {
            if (orderCode && !state.get(cardPayments, orderCode))
              throw new NotFoundError('Card payment not found');
            const { dispute, transaction } = decideOpenDispute(input, { id, ...state });
            return {
              records: [put(disputes, dispute)],
              transactions: [transaction],
              events: [eventOf(dispute, null)],
            };
          },
        },
      );
    },

    closeDispute: (tenant, id, outcome) =>
      committer.change({
        tenant,
        read: (reader) => reader.load(disputes, id),
        decide(state) {
          const before = state.get(disputes, id);
          if (!before) throw new NotFoundError('Dispute not found');
          const closed = decideCloseDispute(before, outcome, state.now);
          if (!closed) return { outcome: before };
          const { dispute, transaction } = closed;
          return {
            outcome: dispute,
            writes: {
              records: [put(disputes, dispute)],
              transactions: transaction ? [transaction] : [],
              events: [eventOf(dispute, before.status)],
            },
          };
        },
      }),

    listDisputes: (tenant, { limit }) => listDisputes(database.sql, tenant, limit),

    async credit(tenant, amountCents, { name } = {}) {
      assertLive(tenant.environment);
      return changeOnce(
        tenant,
        { operation: 'credit', name, input: { amountCents } },
        {
          newId: `crd_${objectId()}`,
          decide: ({ balances }, id) => ({ transactions: [decideCredit(amountCents, { id, balances })] }),
        },
      );
    },

    async creditLtc(tenant, amountLitoshi, { name } = {}) {
      assertLive(tenant.environment);
      return changeOnce(
        tenant,
        { operation: 'creditLtc', name, input: { amountLitoshi } },
        {
          newId: `crd_${objectId()}`,
          decide: ({ balances }, id) => ({
            transactions: [decideCreditLtc(amountLitoshi, { id, balances })],
          }),
        },
      );
    },
  };
}
