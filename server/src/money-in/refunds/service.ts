import { PreconditionError } from '../../kernel/errors.ts';
import { deterministicId, objectId } from '../../kernel/ids.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import { withoutExtra } from '../../kernel/list-range.ts';
import type { Cents } from '../../kernel/money.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import {
  type Committer,
  joined,
  loadRecords,
  type Reader,
  type State,
  type Writes,
} from '../../state/commit/commit.ts';
import {
  idempotency,
  idempotencyKeyOf,
  readReplay,
  remember,
  replayed,
} from '../../state/commit/idempotency.ts';
import type { Database } from '../../state/db/database.ts';
import { type ResourceDetails, refunds, writesOf } from './collections.ts';
import { newRefund } from './decisions.ts';
import {
  assertOwnId,
  keyInReference,
  type RefundControls,
  type RefundedResource,
  type RefundService,
  type StoredRefund,
} from './model.ts';
import { countRefunds, listRefunds, refundTable, selectRefundsOf, totalsOfRefunds } from './store.ts';

/** A kind of resource that can be refunded: the slice that owns it provides its decisions. */
export interface RefundSource {
  /** Loads what the decisions read. */
  read(reader: Reader, id: string): Promise<unknown>;
  /**
   * Takes the amount, or the whole refundable amount if it is null.
   * @throws NotFoundError, PreconditionError (NOT_REFUNDABLE), ValidationError, InsufficientFundsError
   */
  begin(
    state: State,
    id: string,
    refund: { refundId: string; amountCents: Cents | null; isAutomatic: boolean },
  ): { amountCents: Cents; railChargeId: string; details: ResourceDetails; writes: Writes };
  /**
   * Records the end. `mustRepeat`: nothing was written, because the payer must get a refund that has failed.
   */
  end(
    state: State,
    id: string,
    refund: { refundId: string; amountCents: Cents; isAutomatic: boolean; status: 'completed' | 'failed' },
  ): { details: ResourceDetails; writes: Writes; mustRepeat: boolean };
}

export type RefundSources = Readonly<Record<RefundedResource['type'], RefundSource>>;

/**
 * The operation of idempotency keys, the same for refunds of every kind of resource: a key alone finds its
 * refund.
 */
const REFUND = 'refund';

/** The port on Postgres: every change is a command to the committer, every read is one statement. */
export function createRefundService({
  database,
  committer,
  sources,
}: {
  database: Database;
  committer: Committer;
  sources: RefundSources;
}): RefundService & RefundControls {
  async function findMany(tenant: Tenant, refundIds: readonly string[]): Promise<(StoredRefund | null)[]> {
    const rows = await refundTable.load(database.sql, tenant, [...new Set(refundIds)]);
    const found = new Map(rows.map((refund) => [refund.refundId, refund]));
    return refundIds.map((refundId) => found.get(refundId) ?? null);
  }

  return {
    async request(tenant, resource, { idempotencyKey, ...input }) {
      assertOwnId(resource);
      const inputHash = hashInput({ resource, ...input });
      const refundId =
        idempotencyKey == null
          ? newRefundId()
          : `ref_${deterministicId(24, REFUND, tenantKey(tenant), idempotencyKey, inputHash)}`;
      return committer.change<{ refund: StoredRefund; replayed: boolean }>({
        tenant,
        read: (reader) =>
          Promise.all([
            sources[resource.type].read(reader, resource.id),
            readReplay(reader, REFUND, idempotencyKey, (made) => reader.load(refunds, made)),
          ]),
        decide(state) {
          const before = idempotencyKey == null ? null : replayed(state, REFUND, idempotencyKey, inputHash);
          if (before !== null) return { outcome: { refund: state.need(refunds, before), replayed: true } };
          const { refund, writes } = begin(state, sources, {
            refundId,
            resource,
            amountCents: input.amountCents ?? null,
            reason: input.reason ?? null,
            isAutomatic: false,
          });
          if (idempotencyKey != null)
            writes.records.push(
              remember({ operation: REFUND, key: idempotencyKey, inputHash, resourceId: refundId }),
            );
          return { outcome: { refund, replayed: false }, writes };
        },
      });
    },

    refund(tenant, orderCode) {
      const resource = { type: 'card_payment', id: orderCode } as const;
      return committer.change<boolean>({
        tenant,
        read: (reader) => sources[resource.type].read(reader, resource.id),
        decide(state) {
          try {
            const { writes } = begin(state, sources, {
              refundId: newRefundId(),
              resource,
              amountCents: null,
              reason: null,
              isAutomatic: true,
            });
            return { outcome: true, writes };
          } catch (error) {
            if (error instanceof PreconditionError) return { outcome: false };
            throw error;
          }
        },
      });
    },

    async find(tenant, reference) {
      const key = keyInReference(reference);
      if (key === null) return (await findMany(tenant, [reference]))[0] ?? null;
      const [made] = await loadRecords(idempotency, database.sql, tenant, [idempotencyKeyOf(REFUND, key)]);
      return made ? ((await findMany(tenant, [made.resourceId]))[0] ?? null) : null;
    },
    findMany,
    async ofResources(tenant, type, ids) {
      const rows = await selectRefundsOf(database.sql, tenant, { type, ids });
      return ids.map((id) => rows.filter(({ resource }) => resource.id === id));
    },
    async list(tenant, range) {
      const items = await listRefunds(database.sql, tenant, { ...range, limit: range.limit + 1 });
      return withoutExtra(items, range);
    },
    count: (tenant, filter) => countRefunds(database.sql, tenant, filter),
    totals: (tenant, filter, groupBy) => totalsOfRefunds(database.sql, tenant, filter, groupBy),
    assertAnnounced: () => undefined,
  };
}

function newRefundId(): string {
  return `ref_${objectId()}`;
}

/** Begins a refund: the writes of its resource, its record, and the task that sends it. */
function begin(
  state: State,
  sources: RefundSources,
  {
    refundId,
    resource,
    amountCents: requested,
    reason,
    isAutomatic,
  }: Pick<StoredRefund, 'refundId' | 'resource' | 'reason' | 'isAutomatic'> & { amountCents: Cents | null },
) {
  const { amountCents, railChargeId, details, writes } = sources[resource.type].begin(state, resource.id, {
    refundId,
    amountCents: requested,
    isAutomatic,
  });
  const refund = newRefund({
    refundId,
    resource,
    amountCents,
    reason,
    isAutomatic,
    railChargeId,
    now: state.now,
  });
  return { refund, writes: joined(writes, writesOf(refund, null, details, state.now)) };
}
