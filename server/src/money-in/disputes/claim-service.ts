import { deterministicId } from '../../kernel/ids.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { BankClaim, ClaimRail } from '../../rails/claims.ts';
import { type Committer, joined, type State, type Writes } from '../../state/commit/commit.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import type { PixCodeReceiver } from '../pix/model.ts';
import {
  type DisputeSources,
  disputes,
  isWaiting,
  readClaims,
  writesOfClaim,
  writesOfClose,
  writesOfDrop,
} from './collections.ts';
import { decideClose, nextLookAt } from './decisions.ts';
import {
  CLAIM_DAYS,
  type DisputedResource,
  type DisputedType,
  type DisputeMeter,
  type DisputeTask,
  isUndecided,
} from './model.ts';

/**
 * Records the claims of the payers' banks. The rail is called before the commit, never inside one. The id of
 * a dispute follows from its claim's: a repeated call opens none twice, and decides none twice. A task names
 * a code by its txid.
 */
export function createClaimReceiving({
  committer,
  rail,
  codes,
  sources,
  meter,
}: {
  committer: Committer;
  rail: ClaimRail;
  codes: PixCodeReceiver;
  sources: DisputeSources;
  meter: DisputeMeter;
}): { tasks: Record<Extract<DisputeTask, 'dispute.receive'>, TaskHandler> } {
  const types = Object.keys(sources) as DisputedType[];
  const possible = (txid: string): DisputedResource[] =>
    types.flatMap((type) => sources[type].idsOfTxid(txid).map((id) => ({ type, id })));

  /** The resource of a claim; undefined if nothing was paid by its code. */
  const claimedOf = (state: State, txid: string) =>
    possible(txid).find(({ type, id }) => sources[type].has(state, id));

  /** The writes of a new claim; null if it is known, or nothing is left to claim. */
  function writesOfNew(state: State, disputeId: string, key: string, claim: BankClaim) {
    const resource = claimedOf(state, txidOf(key));
    if (!resource || state.get(disputes, disputeId) || isWaiting(state, resource, disputeId)) return null;
    return writesOfClaim(state, sources, resource, {
      disputeId,
      reason: claim.reason,
      claimedCents: claim.amountCents,
      claimKey: key,
      days: CLAIM_DAYS[resource.type],
      endToEndId: claim.endToEndId,
    });
  }

  /** The writes of the banks' decision; none if it is known, or no dispute was made. */
  function writesOfDecision(
    state: State,
    disputeId: string,
    key: string,
    outcome: NonNullable<BankClaim['outcome']>,
  ): { isDecided: boolean; opened: number; writes: Writes } {
    const dispute = state.get(disputes, disputeId);
    const change = dispute && isUndecided(dispute.status) && decideClose(dispute, outcome, state.now);
    if (change) return { isDecided: true, ...writesOfClose(state, sources, change) };
    const resource = claimedOf(state, txidOf(key));
    // Without a dispute the whole claim waits for the end of a refund. A won claim is dropped; a lost one
    // still takes the money that a failed refund returns.
    const isGone = !dispute && resource && outcome === 'won';
    return { isDecided: false, opened: 0, writes: isGone ? writesOfDrop(state, resource, disputeId) : {} };
  }

  return {
    tasks: {
      async 'dispute.receive'(task) {
        const { key } = task;
        const txid = txidOf(key);
        // The claimed credit may not have been recorded yet.
        await codes.receiveByTxid(task, txid);
        const claims = await rail.claimsOf(txid);
        const decidesAt = earliest(claims.map((claim) => (claim.outcome ? null : claim.decidesAt)));
        for (const claim of claims) {
          const disputeId = disputeIdOf(task, claim);
          /** Changes the known state of the claim, and counts the result. */
          const record = async (
            decide: (state: State) => { outcome: Parameters<DisputeMeter['onDispute']>[0][]; writes: Writes },
          ) => {
            const changes = await committer.change({
              tenant: task,
              read: (reader) =>
                Promise.all([
                  reader.load(disputes, disputeId),
                  ...possible(txid).flatMap((resource) => [
                    sources[resource.type].read(reader, resource.id),
                    readClaims(reader, resource),
                  ]),
                ]),
              decide,
            });
            for (const change of changes) meter.onDispute(change);
          };
          await record((state) => {
            const made = writesOfNew(state, disputeId, key, claim);
            const at = nextLookAt(decidesAt, state.now);
            const kind: DisputeTask = 'dispute.receive';
            const tasks = at ? [{ kind, key, at }] : [];
            return {
              outcome: made?.isOpened ? ['open'] : [],
              writes: joined(made?.writes ?? {}, { tasks }),
            };
          });
          const { outcome } = claim;
          if (!outcome) continue;
          await record((state) => {
            const { isDecided, opened, writes } = writesOfDecision(state, disputeId, key, outcome);
            const changes = [...(isDecided ? [outcome] : []), ...Array<'open'>(opened).fill('open')];
            return { outcome: changes, writes };
          });
        }
      },
    },
  };
}

/** The key of a task names the txid, and after it the PIX whose claim was announced. */
function txidOf(key: string): string {
  return key.split(' ')[0]!;
}

function earliest(instants: readonly (Date | null)[]): Date | null {
  const times = instants.flatMap((instant) => instant?.getTime() ?? []);
  return times.length === 0 ? null : new Date(Math.min(...times));
}

function disputeIdOf(tenant: Tenant, { claimId }: BankClaim): string {
  return `dsp_${deterministicId(24, 'claim', tenantKey(tenant), claimId)}`;
}
