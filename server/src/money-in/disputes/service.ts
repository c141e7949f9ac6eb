import { NotFoundError } from '../../kernel/errors.ts';
import { objectId } from '../../kernel/ids.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import { withoutExtra } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { assertLive } from '../../money-out/wallet/model.ts';
import { changeOnce } from '../../state/commit/change-once.ts';
import { type Committer, put, type State } from '../../state/commit/commit.ts';
import { readReplay, remember, replayed } from '../../state/commit/idempotency.ts';
import type { Database } from '../../state/db/database.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import { assertIdForm } from '../pix/model.ts';
import {
  type DisputeSources,
  deletedFiles,
  disputes,
  readClaims,
  writesOf,
  writesOfClaim,
  writesOfClose,
  writesOfWaiting,
} from './collections.ts';
import {
  type DisputeChange,
  decideAccept,
  decideClose,
  decideEvidence,
  decideEvidenceDue,
  decideFileDeletion,
  decideOpen,
} from './decisions.ts';
import { FILE_ID_FORM, isFileId } from './files.ts';
import {
  CLAIM_DAYS,
  DISPUTE_ID_FORM,
  type DisputeControls,
  type DisputedResource,
  type DisputeMeter,
  type DisputeOutcome,
  type DisputeService,
  type DisputeTask,
  isDisputeId,
  type StoredDispute,
} from './model.ts';
import { countDisputes, disputeTable, listDisputes, selectDisputesOf, shortfallTable } from './store.ts';

/** The operation of the idempotency keys of submissions. */
const EVIDENCE = 'submitDisputeEvidence';

/** The port on Postgres: every change is a command to the committer, every read is one statement. */
export function createDisputeService({
  database,
  committer,
  sources,
  meter,
}: {
  database: Database;
  committer: Committer;
  sources: DisputeSources;
  meter: DisputeMeter;
}): DisputeService<StoredDispute> & {
  tasks: Record<Extract<DisputeTask, 'dispute.evidence_due'>, TaskHandler>;
} {
  const { sql } = database;
  const close = createClosing({ committer, sources, meter });

  async function findMany(tenant: Tenant, disputeIds: readonly string[]): Promise<(StoredDispute | null)[]> {
    const rows = await disputeTable.load(sql, tenant, [...new Set(disputeIds)]);
    const found = new Map(rows.map((dispute) => [dispute.disputeId, dispute]));
    return disputeIds.map((disputeId) => found.get(disputeId) ?? null);
  }

  return {
    assertId: (disputeId) => assertIdForm('disputeId', isDisputeId(disputeId), DISPUTE_ID_FORM),

    async submitEvidence(tenant, disputeId, { idempotencyKey: key, ...input }) {
      assertIdForm('input.disputeId', isDisputeId(disputeId), DISPUTE_ID_FORM);
      const inputHash = hashInput({ disputeId, ...input });
      return committer.change<{ dispute: StoredDispute; replayed: boolean }>({
        tenant,
        read: (reader) =>
          Promise.all([
            reader.load(disputes, disputeId),
            readReplay(reader, EVIDENCE, key, (made) => reader.load(disputes, made)),
          ]),
        decide(state) {
          const before = key == null ? null : replayed(state, EVIDENCE, key, inputHash);
          if (before !== null) return { outcome: { dispute: state.need(disputes, before), replayed: true } };
          const dispute = state.get(disputes, disputeId);
          if (!dispute) throw new NotFoundError('Dispute not found');
          const change = decideEvidence(dispute, input, state.now);
          const writes = writesOf(change);
          if (key != null)
            writes.records.push(remember({ operation: EVIDENCE, key, inputHash, resourceId: disputeId }));
          return { outcome: { dispute: change.dispute, replayed: false }, writes };
        },
      });
    },

    async accept(tenant, disputeId) {
      assertIdForm('disputeId', isDisputeId(disputeId), DISPUTE_ID_FORM);
      return close(tenant, disputeId, decideAccept);
    },

    async deleteFile(tenant, disputeId, fileId) {
      assertIdForm('disputeId', isDisputeId(disputeId), DISPUTE_ID_FORM);
      assertIdForm('fileId', isFileId(fileId), FILE_ID_FORM);
      return committer.change<{ dispute: StoredDispute }>({
        tenant,
        read: (reader) => reader.load(disputes, disputeId),
        decide(state) {
          const before = state.get(disputes, disputeId);
          if (!before) throw new NotFoundError('Dispute not found');
          const change = decideFileDeletion(before, fileId, state.now);
          const { records, ...writes } = writesOf(change);
          return {
            outcome: { dispute: change.dispute },
            writes: { ...writes, records: [...records, put(deletedFiles, { fileId })] },
          };
        },
      });
    },

    find: async (tenant, disputeId) => (await findMany(tenant, [disputeId]))[0] ?? null,
    findMany,
    findWithVersion: (tenant, disputeId) => disputeTable.loadWithHead(sql, tenant, disputeId),
    async ofResources(tenant, type, ids) {
      const rows = await selectDisputesOf(sql, tenant, { type, ids });
      return ids.map((id) => rows.filter(({ resource }) => resource?.id === id));
    },
    async list(tenant, range) {
      const items = await listDisputes(sql, tenant, { ...range, limit: range.limit + 1 });
      return withoutExtra(items, range);
    },
    async listPage(tenant, { limit, offset, ...filter }) {
      const [items, total] = await Promise.all([
        listDisputes(sql, tenant, { end: 'first', limit, offset, ...filter }),
        countDisputes(sql, tenant, filter),
      ]);
      return { items: items.map(({ resource: dispute }) => dispute), total };
    },
    count: (tenant, filter) => countDisputes(sql, tenant, filter),

    tasks: {
      'dispute.evidence_due': (task) =>
        committer.change<void>({
          tenant: task,
          read: (reader) => reader.load(disputes, task.key),
          decide(state) {
            const dispute = state.get(disputes, task.key);
            const change = dispute && decideEvidenceDue(dispute, state.now);
            return { outcome: undefined, writes: change ? writesOf(change) : {} };
          },
        }),
    },
  };
}

/** Implements the banks' side of disputes, for the simulator. */
export function createDisputeControls({
  database,
  committer,
  sources,
  meter,
}: {
  database: Database;
  committer: Committer;
  sources: DisputeSources;
  meter: DisputeMeter;
}): DisputeControls {
  const close = createClosing({ committer, sources, meter });
  return {
    async openDispute(tenant, { name, ...input }) {
      assertLive(tenant.environment);
      const newId = newDisputeId();
      const id = await changeOnce(
        committer,
        tenant,
        { operation: 'openDispute', name, input },
        {
          decide(state) {
            const { amountCents, reason = 'fraud' } = input;
            const opened = decideOpen({ disputeId: newId, amountCents, reason, resource: null }, state);
            return { id: newId, writes: writesOf(opened) };
          },
        },
      );
      // A dispute that an earlier call has opened under the same name is not counted again.
      if (id === newId) meter.onDispute('open');
      return id;
    },

    async disputePayment(tenant, resource, { name, ...input }) {
      assertLive(tenant.environment);
      const source = sources[resource.type];
      const { amountCents: claimedCents, reason = 'fraud' } = input;
      const days = CLAIM_DAYS[resource.type];
      const newId = newDisputeId();
      let isOpened = false;
      const disputeId = await changeOnce<string | null>(
        committer,
        tenant,
        { operation: 'disputePayment', name, input: { resource, ...input } },
        {
          read: (reader) =>
            Promise.all([
              reader.load(disputes, newId),
              source.read(reader, resource.id),
              readClaims(reader, resource),
            ]),
          decide(state) {
            const claim = { disputeId: newId, claimedCents, reason, days, claimKey: null };
            const made = writesOfClaim(state, sources, resource, claim);
            isOpened = made?.isOpened ?? false;
            // The writes are recorded even if the whole claim waits for the end of a refund: a repeated call
            // claims nothing more.
            return { id: made && newId, writes: made?.writes ?? {} };
          },
        },
      );
      if (isOpened) meter.onDispute('open');
      const [dispute] = disputeId === null ? [] : await disputeTable.load(database.sql, tenant, [disputeId]);
      return dispute ?? null;
    },

    async hasWaitingClaim(tenant, resource) {
      const key = shortfallTable.keyOf(resource);
      const [found] = await shortfallTable.load(database.sql, tenant, [key]);
      return (found?.claims.length ?? 0) > 0;
    },

    async closeDispute(tenant, disputeId, outcome) {
      const closed = await close(tenant, disputeId, (dispute, now) => decideClose(dispute, outcome, now));
      return closed.dispute;
    },

    async listDisputes(tenant, page) {
      const items = await listDisputes(database.sql, tenant, { end: 'first', ...page });
      return items.map(({ resource: dispute }) => dispute);
    },
  };
}

/** Creates the function that closes a dispute by a decision, and counts the result. */
function createClosing({
  committer,
  sources,
  meter,
}: {
  committer: Committer;
  sources: DisputeSources;
  meter: DisputeMeter;
}) {
  return async function close(
    tenant: Tenant,
    disputeId: string,
    decide: (dispute: StoredDispute, now: Date) => DisputeChange | null,
  ): Promise<{ dispute: StoredDispute; replayed: boolean }> {
    const { dispute, isNew, opened } = await committer.change({
      tenant,
      async read(reader) {
        const dispute = await reader.load(disputes, disputeId);
        const resource = dispute?.resource;
        if (!resource) return;
        await sources[resource.type].read(reader, resource.id);
        await readClaims(reader, resource);
      },
      decide(state) {
        const before = state.get(disputes, disputeId);
        if (!before) throw new NotFoundError('Dispute not found');
        const change = decide(before, state.now);
        if (!change) return { outcome: { dispute: before, isNew: false, opened: 0 } };
        const { opened, writes } = writesOfClose(state, sources, change);
        return { outcome: { dispute: change.dispute, isNew: true, opened }, writes };
      },
    });
    if (isNew) meter.onDispute(dispute.status as DisputeOutcome);
    countOpened(meter, opened);
    return { dispute, replayed: !isNew };
  };
}

/** Covers the shortfalls of a resource's disputes, in the commit that ends a refund of the resource. */
export function createClaimFollowing({ sources, meter }: { sources: DisputeSources; meter: DisputeMeter }) {
  return {
    read: readClaims,
    follow(state: State, resource: DisputedResource) {
      const { opened, writes } = writesOfWaiting(state, sources, resource);
      return { writes, onCommitted: () => countOpened(meter, opened) };
    },
  };
}

/** Counts the disputes that open only now, because all of their claim was held by refunds. */
function countOpened(meter: DisputeMeter, opened: number): void {
  for (let count = 0; count < opened; count += 1) meter.onDispute('open');
}

function newDisputeId(): string {
  return `dsp_${objectId()}`;
}
