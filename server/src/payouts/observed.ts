import type { State, Writes } from '../commit/commit.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Facade } from '../upstream/facade.ts';
import { type Observation, observed, writesOfObserved } from '../upstream/mirror.ts';
import {
  type Observed,
  selectObserved,
  selectObservedWithHead,
  selectReferences,
  touchObserved,
} from '../upstream/mirror-store.ts';
import { isFinal, mergeClaim, type PayoutClaim, payoutFromJson, type ShownPayout } from './model.ts';

/** Payouts of the main account as the mirror has them. */
export interface MirroredPayouts {
  /** All of a page in one transaction, or in none where nothing is new; each as it is known then. */
  takeOver(
    tenant: Tenant,
    claims: readonly (PayoutClaim | null)[],
    at: Date,
  ): Promise<(ShownPayout | null)[]>;
  /** Each as it is known now. */
  asKnown(tenant: Tenant, payouts: readonly (ShownPayout | null)[]): Promise<(ShownPayout | null)[]>;
  /** By withdrawal id or code. */
  findNamed(tenant: Tenant, names: readonly string[]): Promise<Map<string, Observed>>;
  /** What is kept of it is polled for as long as it is followed. */
  findWithVersion(
    tenant: Tenant,
    withdrawalId: string,
  ): Promise<{ version: number; payout: ShownPayout } | null>;
}

export function mirrorPayouts({
  database,
  committer,
}: Pick<Facade, 'database' | 'committer'>): MirroredPayouts {
  async function select(tenant: Tenant, ids: readonly string[]): Promise<Map<string, Observed>> {
    const known = await selectObserved(database.sql, tenant, 'payout', ids);
    return new Map(known.map((each) => [each.id, each]));
  }

  return {
    async takeOver(tenant, claims, at) {
      const ids = [...new Set(claims.flatMap((claim) => claim?.withdrawalId ?? []))];
      const known = await select(tenant, ids);
      let taken = takeAll(claims, (id) => known.get(id) ?? null, at);
      if (taken.writes.length > 0)
        taken = await committer.change({
          tenant,
          read: (reader) => Promise.all(ids.map((id) => reader.load(observed.payout, id))),
          decide(state) {
            const outcome = takeAll(claims, (id) => state.get(observed.payout, id), at);
            return {
              outcome,
              writes: {
                records: outcome.writes.flatMap(({ records = [] }) => records),
                events: outcome.writes.flatMap(({ events = [] }) => events),
              },
            };
          },
        });
      const confirmed = claims.flatMap((claim, index) => {
        const payout = taken.payouts[index];
        return claim && payout && confirms(claim, payout) ? [payout.withdrawalId] : [];
      });
      await touchObserved(database.sql, tenant, 'payout', { ids: confirmed, at });
      return taken.payouts;
    },

    async asKnown(tenant, payouts) {
      const ids = payouts.flatMap((payout) => payout?.withdrawalId ?? []);
      const known = await select(tenant, ids);
      return payouts.map((payout) => {
        const record = payout && known.get(payout.withdrawalId);
        return record ? payoutIn(record) : payout;
      });
    },

    async findNamed(tenant, names) {
      const byName = await selectReferences(database.sql, tenant, 'payout', names);
      const known = await select(tenant, [...new Set(byName.map(({ id }) => id))]);
      return new Map(
        byName.flatMap(({ reference, id }) => {
          const found = known.get(id);
          return found ? [[reference, found] as const] : [];
        }),
      );
    },

    async findWithVersion(tenant, withdrawalId) {
      const known = await selectObservedWithHead(database.sql, tenant, 'payout', withdrawalId);
      return known && { version: known.head, payout: payoutIn(known.observed) };
    },
  };
}

// ── From what is said to what is known ──────────────────────────────────────────────────────────

/** `at`: when the service said so; null where nobody knows, for a webhook may be late. */
export function observationOf(claim: PayoutClaim, at: Date | null): Observation {
  const { withdrawalId } = claim;
  return {
    read: (reader) => reader.load(observed.payout, withdrawalId),
    decide(state: State) {
      const known = state.get(observed.payout, withdrawalId);
      const said = known?.observedAt ?? claim.processedAt ?? claim.requestedAt ?? state.now;
      const taken = take(known, claim, at ?? new Date(Math.min(said.getTime(), state.now.getTime())));
      return { resourceId: withdrawalId, writes: taken?.writes ?? {} };
    },
  };
}

/** Says of its state what is known; something older does not, nor what tells no state. */
function confirms({ status: told }: PayoutClaim, { status }: ShownPayout): boolean {
  return told !== null && (told === status || status === 'unknown');
}

/** Null where nothing is new. */
function take(
  known: Observed | null,
  claim: PayoutClaim,
  at: Date,
): { record: Observed; writes: Writes } | null {
  const before = known && payoutIn(known);
  const payout = mergeClaim(before, claim);
  if (!payout) return null;
  const { withdrawalId, code, version, status } = payout;
  const record: Observed = {
    resource: 'payout',
    id: withdrawalId,
    version,
    status,
    final: isFinal(status),
    parent: null,
    snapshot: payout,
    observedAt: known && (known.observedAt > at || !confirms(claim, payout)) ? known.observedAt : at,
  };
  const writes = writesOfObserved({
    ...record,
    names: [withdrawalId, code],
    event:
      before?.version === version
        ? null
        : {
            kind: `payout.${status}`,
            resource: 'payout',
            resourceId: withdrawalId,
            previousStatus: before?.status ?? null,
            snapshot: payout,
          },
  });
  return { record, writes };
}

/** One after the other: a page may name one twice. */
function takeAll(
  claims: readonly (PayoutClaim | null)[],
  knownAs: (id: string) => Observed | null,
  at: Date,
): { payouts: (ShownPayout | null)[]; writes: Writes[] } {
  const current = new Map<string, Observed>();
  const writes: Writes[] = [];
  for (const claim of claims) {
    if (!claim) continue;
    const known = current.get(claim.withdrawalId) ?? knownAs(claim.withdrawalId);
    const taken = take(known, claim, at);
    if (taken) writes.push(taken.writes);
    const record = taken?.record ?? known;
    if (record) current.set(claim.withdrawalId, record);
  }
  const payouts = claims.map((claim) => {
    const record = claim && current.get(claim.withdrawalId);
    return record ? payoutIn(record) : null;
  });
  return { payouts, writes };
}

export function payoutIn({ snapshot }: Observed): ShownPayout {
  return payoutFromJson(snapshot);
}
