import { type Committer, joined, type State, type Writes } from '../commit/commit.ts';
import { deterministicId } from '../kernel/ids.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import type { PixCodeReceiver } from '../pix/model.ts';
import type { BankClaim, ClaimRail } from '../rails/claims.ts';
import type { TaskHandler } from '../work/queue.ts';
import type { NewTask } from '../work/store.ts';
import { type DisputeSources, disputes, writesOf, writesOfClose } from './collections.ts';
import { decideClose, decideOpen, nextLookAt } from './decisions.ts';
import {
  CLAIM_DAYS,
  type DisputedResource,
  type DisputedType,
  type DisputeMeter,
  type DisputeTask,
  isUndecided,
} from './model.ts';

/**
 * Records the claims of the payers' banks. The rail is called before the commit, never inside one. A claim has one dispute,
 * whose id follows from the claim's: a repeated call opens none twice, and decides none twice. A task names a code by its txid.
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

  /** The writes of a claim that is new; null where nothing of it is left to claim. */
  function writesOfNew(state: State, disputeId: string, txid: string, claim: BankClaim): Writes | null {
    if (state.get(disputes, disputeId)) return null;
    const resource = possible(txid).find(({ type, id }) => sources[type].has(state, id));
    const begun =
      resource &&
      sources[resource.type].begin(state, resource.id, {
        claimedCents: claim.amountCents,
        days: CLAIM_DAYS[resource.type],
        endToEndId: claim.endToEndId,
      });
    if (!begun) return null;
    const { reason } = claim;
    const opened = decideOpen({ disputeId, amountCents: begun.amountCents, reason, resource }, state);
    return joined(begun.writes, writesOf(opened));
  }

  /** The writes of the banks' decision; null where it is known, or no dispute was made. */
  function writesOfDecision(state: State, disputeId: string, outcome: NonNullable<BankClaim['outcome']>) {
    const dispute = state.get(disputes, disputeId);
    const change = dispute && isUndecided(dispute.status) && decideClose(dispute, outcome, state.now);
    return change ? writesOfClose(state, sources, change) : null;
  }

  return {
    tasks: {
      async 'dispute.receive'(task) {
        // The key names the txid, and behind it the PIX whose claim was announced.
        const [txid = ''] = task.key.split(' ');
        // The credit that is claimed back may not have been recorded yet.
        await codes.receiveByTxid(task, txid);
        const claims = await rail.claimsOf(txid);
        const decidesAt = earliest(claims.map((claim) => (claim.outcome ? null : claim.decidesAt)));
        for (const claim of claims) {
          const disputeId = disputeIdOf(task, claim);
          const record = (writesFor: (state: State) => Writes | null, tasksFor: (now: Date) => NewTask[]) =>
            committer.change<boolean>({
              tenant: task,
              read: (reader) =>
                Promise.all([
                  reader.load(disputes, disputeId),
                  ...possible(txid).map(({ type, id }) => sources[type].read(reader, id)),
                ]),
              decide(state) {
                const writes = writesFor(state);
                const tasks = tasksFor(state.now);
                return { outcome: writes !== null, writes: joined(writes ?? {}, { tasks }) };
              },
            });
          const isNew = await record(
            (state) => writesOfNew(state, disputeId, txid, claim),
            (now) => {
              const at = nextLookAt(decidesAt, now);
              const kind: DisputeTask = 'dispute.receive';
              return at ? [{ kind, key: task.key, at }] : [];
            },
          );
          if (isNew) meter.onDispute('open');
          const { outcome } = claim;
          if (!outcome) continue;
          const isDecided = await record(
            (state) => writesOfDecision(state, disputeId, outcome),
            () => [],
          );
          if (isDecided) meter.onDispute(outcome);
        }
      },
    },
  };
}

function earliest(instants: readonly (Date | null)[]): Date | null {
  const times = instants.flatMap((instant) => instant?.getTime() ?? []);
  return times.length === 0 ? null : new Date(Math.min(...times));
}

function disputeIdOf(tenant: Tenant, { claimId }: BankClaim): string {
  return `dsp_${deterministicId(24, 'claim', tenantKey(tenant), claimId)}`;
}
