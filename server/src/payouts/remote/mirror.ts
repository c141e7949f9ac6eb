import type { State, Writes } from '../../commit/commit.ts';
import type { Source } from '../../kernel/authority.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { UpstreamDependencies } from '../../upstream/dependencies.ts';
import type { Intent } from '../../upstream/intents/transitions.ts';
import { type Correction, mirrored, type Observation, writesOfMirrored } from '../../upstream/mirror.ts';
import {
  type MirroredRow,
  selectInDoubt,
  selectMirrored,
  selectMirroredWithHead,
  selectReferences,
  touchMirrored,
} from '../../upstream/mirror-store.ts';
import {
  identified,
  isFinal,
  isSettled,
  mergeUpstreamPayout,
  neverMade,
  type Payout,
  payoutFromJson,
  payoutInDoubt,
  type UpstreamPayout,
} from '../model.ts';

/** Payouts of the main account as the mirror has them. */
export interface MirroredPayouts {
  /** All of a page in one transaction, or in none where nothing is new; each as it is known then. */
  takeOver(tenant: Tenant, claims: readonly (UpstreamPayout | null)[], at: Date): Promise<(Payout | null)[]>;
  /** Each as it is known now. */
  asKnown(tenant: Tenant, payouts: readonly (Payout | null)[]): Promise<(Payout | null)[]>;
  /** By withdrawal id, code, or the request of ours that has made it, or may have. */
  findNamed(tenant: Tenant, names: readonly string[]): Promise<Map<string, MirroredRow>>;
  /** By its id, or its withdrawal id. What is kept of it is polled for as long as it is followed. */
  findWithVersion(tenant: Tenant, id: string): Promise<{ version: number; payout: Payout } | null>;
  /** Those of which nobody knows whether the service has made them, newest first. */
  inDoubt(tenant: Tenant): Promise<Payout[]>;
  /** The withdrawals that these ids stand for: those of requests whose payout has been identified are added. */
  withdrawalsOf(tenant: Tenant, ids: readonly string[]): Promise<string[]>;
}

export function mirrorPayouts({
  database,
  committer,
  onCorrection,
}: Pick<UpstreamDependencies, 'database' | 'committer' | 'onCorrection'>): MirroredPayouts {
  async function select(tenant: Tenant, ids: readonly string[]): Promise<Map<string, MirroredRow>> {
    const known = await selectMirrored(database.sql, tenant, 'payout', ids);
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
          read: (reader) => Promise.all(ids.map((id) => reader.load(mirrored.payout, id))),
          decide(state) {
            const outcome = takeAll(claims, (id) => state.get(mirrored.payout, id), at);
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
        return claim && payout && confirms(claim, payout) ? [claim.withdrawalId] : [];
      });
      await touchMirrored(database.sql, tenant, 'payout', { ids: confirmed, at });
      for (const correction of taken.corrections) onCorrection(correction);
      return taken.payouts;
    },

    async asKnown(tenant, payouts) {
      const ids = payouts.flatMap((payout) => payout?.withdrawalId ?? []);
      const known = await select(tenant, ids);
      return payouts.map((payout) => {
        const record = payout?.withdrawalId ? known.get(payout.withdrawalId) : undefined;
        return record ? payoutIn(record) : payout;
      });
    },

    async findNamed(tenant, names) {
      const byName = await selectReferences(database.sql, tenant, 'payout', names);
      const requests = await select(tenant, names.filter(isRequestId));
      const leadsTo = new Map(byName.map(({ reference, id }) => [reference, id]));
      for (const { id, snapshot } of requests.values())
        leadsTo.set(id, payoutFromJson(snapshot).withdrawalId ?? id);
      const known = await select(tenant, [...new Set(leadsTo.values())]);
      return new Map(
        [...leadsTo].flatMap(([name, id]) => {
          const found = known.get(id);
          return found ? [[name, found] as const] : [];
        }),
      );
    },

    async findWithVersion(tenant, id) {
      const known = await selectMirroredWithHead(database.sql, tenant, 'payout', id);
      const payout = known && payoutIn(known.observed);
      if (payout?.withdrawalId && payout.withdrawalId !== id)
        return this.findWithVersion(tenant, payout.withdrawalId);
      return known && payout && { version: known.head, payout };
    },

    async inDoubt(tenant) {
      return (await selectInDoubt(database.sql, tenant, 'payout')).map(payoutIn);
    },

    async withdrawalsOf(tenant, ids) {
      const requests = await select(tenant, ids.filter(isRequestId));
      const made: string[] = [...requests.values()].flatMap((record) => payoutIn(record).withdrawalId ?? []);
      return [...ids, ...made];
    },
  };
}

/** The id of a request, which the payout keeps that it turns out to have made. */
function isRequestId(id: string): boolean {
  return id.startsWith('int_');
}

// ── From what is said to what is known ──────────────────────────────────────────────────────────

/** `at`: when the service said so; null of a webhook, which may be late. */
export function observationOf(
  claim: UpstreamPayout,
  at: Date | null,
  { madeBy = null }: { madeBy?: string | null } = {},
): Observation {
  const { withdrawalId } = claim;
  return {
    read: (reader) =>
      Promise.all([
        reader.load(mirrored.payout, withdrawalId),
        madeBy === null ? null : reader.load(mirrored.payout, madeBy),
      ]),
    decide(state: State) {
      const known = state.get(mirrored.payout, withdrawalId);
      const said = known?.observedAt ?? claim.processedAt ?? claim.requestedAt ?? state.now;
      const doubted = madeBy === null ? null : state.get(mirrored.payout, madeBy);
      const taken = take(known, claim, {
        by: at ? 'service' : 'event',
        at: at ?? state.now,
        saidAt: at ?? new Date(Math.min(said.getTime(), state.now.getTime())),
        doubted,
      });
      return {
        resourceId: withdrawalId,
        writes: taken?.writes ?? {},
        contradicts: known !== null && claim.status !== null && !taken && !confirms(claim, payoutIn(known)),
      };
    },
  };
}

/** A payout that is known turns out to be the one that a request has made. */
export function identifiedAs(withdrawalId: string, requestId: string): Observation {
  return {
    read: (reader) =>
      Promise.all([reader.load(mirrored.payout, withdrawalId), reader.load(mirrored.payout, requestId)]),
    decide(state: State) {
      const known = state.need(mirrored.payout, withdrawalId);
      const doubted = state.get(mirrored.payout, requestId);
      const writes = doubted ? writesOfIdentified(known, payoutIn(known), doubted) : {};
      return { resourceId: withdrawalId, writes };
    },
  };
}

/** As it is shown while nobody knows the outcome of its request. */
export function inDoubtOf(request: Payout & { requestId: string }, at: Date, again: boolean): Observation {
  const { requestId } = request;
  return {
    read: (reader) => reader.load(mirrored.payout, requestId),
    decide(state: State) {
      const before = state.get(mirrored.payout, requestId);
      const known = before && payoutIn(before);
      // One that was found to have never been made stays so.
      if (known && (!known.inDoubt || !again)) return { resourceId: requestId, writes: {} };
      const payout = { ...request, version: (known?.version ?? 0) + 1 };
      return { resourceId: requestId, writes: writesOfDoubt(payout, known, at) };
    },
  };
}

/** As it is shown once it is known that the service has no such payout. `ifShown`: only where it was shown in doubt. */
export function neverMadeOf(
  request: Payout & { requestId: string },
  at: Date,
  { ifShown }: { ifShown: boolean },
): Observation {
  const { requestId } = request;
  return {
    read: (reader) => reader.load(mirrored.payout, requestId),
    decide(state: State) {
      const before = state.get(mirrored.payout, requestId);
      const known = before && payoutIn(before);
      if (known ? !known.inDoubt : ifShown) return { resourceId: requestId, writes: {} };
      return { resourceId: requestId, writes: writesOfDoubt(neverMade(known ?? request, at), known, at) };
    },
  };
}

function writesOfDoubt(payout: Payout, before: Payout | null, at: Date): Writes {
  return writesOfMirrored({
    resource: 'payout',
    id: payout.requestId!,
    version: payout.version,
    status: payout.status,
    final: isSettled(payout),
    parent: null,
    snapshot: payout,
    observedAt: at,
    event: eventOf(payout.requestId!, payout, before),
  });
}

/** What is known of an intent whose outcome is not: `summary` shows it, the PIX key masked. */
export function asPayout({ id, summary, createdAt }: Intent): Payout & { requestId: string } {
  const { method, amountCents, destination } = summary as Pick<
    Payout,
    'method' | 'amountCents' | 'destination'
  >;
  const shown = { method, amountCents, destination };
  return { ...payoutInDoubt({ ...shown, requestId: id, requestedAt: createdAt }), requestId: id };
}

/** Says of its state what is known; something older does not, nor what tells no state. */
function confirms({ status: told }: UpstreamPayout, { status }: Payout): boolean {
  return told !== null && (told === status || status === 'unknown');
}

/** As the commit writes them. */
type Events = NonNullable<Writes['events']>;

interface Taking extends Source {
  /** When what is said holds: for a webhook, not later than its own dates. */
  saidAt: Date;
  /** The request that has made it, where that is known only now. */
  doubted?: MirroredRow | null;
}

interface Taken {
  record: MirroredRow;
  writes: Writes;
  correction: { id: string; from: string; to: string } | null;
}

/** Null where nothing is new. */
function take(
  known: MirroredRow | null,
  claim: UpstreamPayout,
  { saidAt, doubted = null, ...source }: Taking,
): Taken | null {
  const before = known && payoutIn(known);
  const merged = mergeUpstreamPayout(before, claim, { ...source, knownAt: known?.observedAt ?? null });
  const isIdentified = doubted !== null && before?.requestId === undefined;
  const payout = merged ?? (isIdentified ? before : null);
  if (!payout) return null;
  const { withdrawalId } = claim;
  const record: MirroredRow = {
    resource: 'payout',
    id: withdrawalId,
    version: payout.version,
    status: payout.status,
    final: isSettled(payout),
    parent: null,
    snapshot: payout,
    observedAt: known && (known.observedAt > saidAt || !confirms(claim, payout)) ? known.observedAt : saidAt,
  };
  if (isIdentified) return { record, writes: writesOfIdentified(record, payout, doubted), correction: null };
  const isNew = before?.version !== payout.version;
  const isCorrection = before !== null && isFinal(before.status) && before.status !== payout.status;
  return {
    record,
    writes: writesOf(record, payout, isNew ? eventsOf(payout, before) : []),
    correction: isCorrection ? { id: withdrawalId, from: before.status, to: payout.status } : null,
  };
}

/** Both records as one payout: what was followed under either id goes on. */
function writesOfIdentified(known: MirroredRow, payout: Payout, doubted: MirroredRow): Writes {
  const before = payoutIn(doubted);
  const made = identified(payout, before);
  const { records = [], events = [] } = writesOf({ ...known, version: made.version, snapshot: made }, made, [
    ...eventsOf(made, before),
  ]);
  const leads: MirroredRow = {
    ...doubted,
    version: made.version,
    status: made.status,
    final: true,
    snapshot: made,
  };
  return { records: [...records, ...(writesOfMirrored({ ...leads, event: null }).records ?? [])], events };
}

function writesOf(record: MirroredRow, payout: Payout, events: Events): Writes {
  const names = [record.id, ...(payout.code === null ? [] : [payout.code])];
  return { ...writesOfMirrored({ ...record, names, event: null }), events };
}

/** One, or two of one that is also followed as the request that has made it. */
function eventsOf(payout: Payout, before: Payout | null): Events {
  const { withdrawalId, requestId } = payout;
  const ids = [withdrawalId!, ...(requestId === undefined ? [] : [requestId])];
  return ids.map((id) => eventOf(id, payout, before));
}

function eventOf(resourceId: string, payout: Payout, before: Payout | null): Events[number] {
  return {
    kind: `payout.${payout.status}`,
    resource: 'payout',
    resourceId,
    previousStatus: before?.status ?? null,
    snapshot: payout,
  };
}

/** One after the other: a page may name one twice. */
function takeAll(
  claims: readonly (UpstreamPayout | null)[],
  knownAs: (id: string) => MirroredRow | null,
  at: Date,
): { payouts: (Payout | null)[]; writes: Writes[]; corrections: Correction[] } {
  const current = new Map<string, MirroredRow>();
  const writes: Writes[] = [];
  const corrections: Correction[] = [];
  for (const claim of claims) {
    if (!claim) continue;
    const known = current.get(claim.withdrawalId) ?? knownAs(claim.withdrawalId);
    const taken = take(known, claim, { by: 'service', at, saidAt: at });
    if (taken) writes.push(taken.writes);
    if (taken?.correction) corrections.push({ resource: 'payout', ...taken.correction });
    const record = taken?.record ?? known;
    if (record) current.set(claim.withdrawalId, record);
  }
  const payouts = claims.map((claim) => {
    const record = claim && current.get(claim.withdrawalId);
    return record ? payoutIn(record) : null;
  });
  return { payouts, writes, corrections };
}

export function payoutIn({ snapshot }: MirroredRow): Payout {
  return payoutFromJson(snapshot);
}
