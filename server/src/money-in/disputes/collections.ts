import type { Cents } from '../../kernel/money.ts';
import {
  type Change,
  type Collection,
  joined,
  put,
  type Reader,
  type State,
  stateAfter,
  type Writes,
} from '../../state/commit/commit.ts';
import { type DisputeChange, decideOpen, decideRaise } from './decisions.ts';
import { deleteFiles, insertFiles, type StoredFile } from './file-store.ts';
import type {
  DisputedResource,
  DisputedType,
  DisputeReason,
  DisputeTask,
  Shortfalls,
  StoredDispute,
} from './model.ts';
import { disputeTable, shortfallTable } from './store.ts';

/** Disputes, as a decision reads and writes them. */
export const disputes: Collection<StoredDispute> = disputeTable;

/** The shortfalls of claims, by the claimed resource. */
const shortfalls: Collection<Shortfalls> = shortfallTable;

/** The bytes of files. No decision reads them. */
export const fileContents: Collection<StoredFile> = {
  name: 'dispute_file',
  keyOf: ({ fileId }) => fileId,
  loadEach: async () => [],
  saveEach: insertFiles,
};

/** The files whose bytes are deleted. */
export const deletedFiles: Collection<{ fileId: string }> = {
  name: 'deleted dispute_file',
  keyOf: ({ fileId }) => fileId,
  loadEach: async () => [],
  saveEach: deleteFiles,
};

/** A kind of resource that can be disputed: the slice that owns it provides its decisions. */
export interface DisputeSource {
  /** The ids of the resources that a PIX code with this txid pays. */
  idsOfTxid(txid: string): string[];
  /** Loads what the decisions read. */
  read(reader: Reader, id: string): Promise<unknown>;
  has(state: State, id: string): boolean;
  /**
   * Takes the claimed amount, but at most the refundable one. `missingCents`: the part that refunds under way
   * hold. Null if both are zero, or the time for claims is over.
   * @throws NotFoundError
   */
  begin(
    state: State,
    id: string,
    claim: { claimedCents: Cents; days: number | null; endToEndId?: string | undefined },
  ): { amountCents: Cents; missingCents: Cents; writes: Writes } | null;
  /** Adds the amount of a won dispute to the refundable amount again. */
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
    done: previous?.status === 'open' && status !== 'open' ? [task] : [],
  };
}

/** A claim on a resource. */
export interface NewClaim {
  /** The id of its dispute. */
  disputeId: string;
  claimedCents: Cents;
  reason: DisputeReason | 'unknown';
  days: number | null;
  endToEndId?: string | undefined;
  /** The key of the task that looks the claim up at the bank; null if the bank did not make it. */
  claimKey: string | null;
}

/**
 * Loads the records that a claim on a resource, its decision and the end of a refund need, without the
 * resource itself.
 */
export async function readClaims(reader: Reader, resource: DisputedResource): Promise<void> {
  const found = await reader.load(shortfalls, shortfallTable.keyOf(resource));
  await Promise.all((found?.claims ?? []).map(({ disputeId }) => reader.load(disputes, disputeId)));
}

/** Whether a claim waits for the end of refunds. */
export function isWaiting(state: State, resource: DisputedResource, disputeId: string): boolean {
  return waitingFor(state, resource).some((claim) => claim.disputeId === disputeId);
}

/**
 * The writes of a new claim: its dispute, and its shortfall while refunds are under way. Null if nothing is
 * left to claim, now or later.
 * @throws NotFoundError, ValidationError, PreconditionError
 */
export function writesOfClaim(
  state: State,
  sources: DisputeSources,
  resource: DisputedResource,
  { disputeId, reason, claimKey, ...claim }: NewClaim,
): { isOpened: boolean; writes: Writes } | null {
  const begun = sources[resource.type].begin(state, resource.id, claim);
  if (!begun) return null;
  const { amountCents, missingCents, writes } = begun;
  const isOpened = amountCents > 0;
  const opened = isOpened ? writesOf(decideOpen({ disputeId, amountCents, reason, resource }, state)) : {};
  const claims = [...waitingFor(state, resource), { disputeId, missingCents, reason, claimKey }];
  const lacks = missingCents > 0 ? { records: [put(shortfalls, { ...resource, claims })] } : {};
  return { isOpened, writes: joined(joined(writes, opened), lacks) };
}

/**
 * The writes that follow if a refund has ended or a dispute is won: the released amount goes first to the
 * claims with a shortfall. `state` is the state after the change.
 */
export function writesOfWaiting(
  state: State,
  sources: DisputeSources,
  resource: DisputedResource,
): { opened: number; writes: Writes } {
  const waiting = waitingFor(state, resource);
  if (waiting.length === 0) return { opened: 0, writes: {} };
  let writes: Writes = {};
  let opened = 0;
  const claims: Shortfalls['claims'][number][] = [];
  for (const claim of waiting) {
    const { disputeId, reason, claimKey, missingCents: claimedCents } = claim;
    const now = stateAfter(state, writes);
    const begun = sources[resource.type].begin(now, resource.id, { claimedCents, days: null });
    if (!begun) continue;
    const { amountCents, missingCents } = begun;
    if (missingCents > 0) claims.push({ ...claim, missingCents });
    if (amountCents === 0) continue;
    const dispute = now.get(disputes, disputeId);
    const step = dispute
      ? decideRaise(dispute, amountCents)
      : decideOpen({ disputeId, amountCents, reason, resource }, now);
    writes = joined(writes, joined(begun.writes, writesOf(step)));
    if (dispute) continue;
    opened += 1;
    // The banks may have decided while there was no dispute.
    const kind: DisputeTask = 'dispute.receive';
    if (claimKey !== null) writes = joined(writes, { tasks: [{ kind, key: claimKey, at: state.now }] });
  }
  return { opened, writes: joined(writes, { records: [put(shortfalls, { ...resource, claims })] }) };
}

/**
 * The writes of a decision: a won amount is free for claims and refunds, and a won or forgiven claim has no
 * shortfall.
 */
export function writesOfClose(
  state: State,
  sources: DisputeSources,
  change: DisputeChange,
): { opened: number; writes: Writes } {
  const { status, resource, amountCents, disputeId } = change.dispute;
  const closed = writesOf(change);
  if (status === 'lost' || resource === null) return { opened: 0, writes: closed };
  const writes = joined(closed, writesOfDrop(state, resource, disputeId));
  if (status !== 'won') return { opened: 0, writes };
  const freed = joined(sources[resource.type].end(state, resource.id, { amountCents }), writes);
  const next = writesOfWaiting(stateAfter(state, freed), sources, resource);
  return { opened: next.opened, writes: joined(freed, next.writes) };
}

/** The writes that end the wait of a claim. */
export function writesOfDrop(state: State, resource: DisputedResource, disputeId: string): Writes {
  if (!isWaiting(state, resource, disputeId)) return {};
  const claims = waitingFor(state, resource).filter((claim) => claim.disputeId !== disputeId);
  return { records: [put(shortfalls, { ...resource, claims })] };
}

function waitingFor(state: State, resource: DisputedResource): Shortfalls['claims'] {
  return state.get(shortfalls, shortfallTable.keyOf(resource))?.claims ?? [];
}
