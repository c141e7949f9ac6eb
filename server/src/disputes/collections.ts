import {
  type Change,
  type Collection,
  joined,
  put,
  type Reader,
  type State,
  type Writes,
} from '../commit/commit.ts';
import type { Cents } from '../kernel/money.ts';
import type { DisputeChange } from './decisions.ts';
import type { DisputedType, DisputeTask, StoredDispute } from './model.ts';
import { saveDisputes, selectDisputes } from './store.ts';

/** Disputes, as a decision reads and writes them. */
export const disputes: Collection<StoredDispute> = {
  name: 'dispute',
  load: selectDisputes,
  keyOf: ({ disputeId }) => disputeId,
  save: saveDisputes,
};

/** A kind of resource that can be disputed: the slice that owns it provides its decisions. */
export interface DisputeSource {
  /** The ids of the resources that a PIX code with this txid pays. */
  idsOfTxid(txid: string): string[];
  /** Loads what the decisions read. */
  read(reader: Reader, id: string): Promise<unknown>;
  has(state: State, id: string): boolean;
  /**
   * Takes what is claimed, and at most what can be refunded; null where that is nothing, or the time for claims is over.
   * @throws NotFoundError
   */
  begin(
    state: State,
    id: string,
    claim: { claimedCents: Cents; days: number | null; endToEndId?: string | undefined },
  ): { amountCents: Cents; writes: Writes } | null;
  /** Gives the amount of a won dispute back to what can be refunded. */
  end(state: State, id: string, dispute: { amountCents: Cents }): Writes;
}

export type DisputeSources = Readonly<Record<DisputedType, DisputeSource>>;

/** Translates a change of a dispute into writes. */
export function writesOf({ previous, dispute, transaction }: DisputeChange): Writes & { records: Change[] } {
  const { disputeId, status, evidenceDueAt } = dispute;
  const task = { kind: 'dispute.evidence_due' satisfies DisputeTask, key: disputeId };
  return {
    records: [put(disputes, dispute)],
    transactions: transaction ? [transaction] : [],
    events: [
      {
        kind: `dispute.${status}`,
        resource: 'dispute',
        resourceId: disputeId,
        previousStatus: previous?.status ?? null,
        snapshot: dispute,
      },
    ],
    tasks: previous ? [] : [{ ...task, at: evidenceDueAt }],
    done: previous?.status === 'open' ? [task] : [],
  };
}

/** The writes of a decision: what is won can be refunded again. */
export function writesOfClose(state: State, sources: DisputeSources, change: DisputeChange): Writes {
  const { status, resource, amountCents } = change.dispute;
  const writes = writesOf(change);
  if (status !== 'won' || resource === null) return writes;
  return joined(sources[resource.type].end(state, resource.id, { amountCents }), writes);
}
