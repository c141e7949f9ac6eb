import type { Tenant } from '../kernel/tenant.ts';
import type { MirroredResource } from '../kernel/upstream-family.ts';
import { eventAt, lastStatusOf, type UpstreamSource } from '../kernel/upstream-source.ts';
import { joined, type Reader, type State, type Writes } from '../state/commit/commit.ts';
import type { NewEvent } from '../state/events/event.ts';
import { orderOf, readOrder, showOrder } from './closed-orders.ts';
import type { UpstreamDependencies } from './dependencies.ts';
import { type Correction, type Made, mirrored, type Observation, writesOfMirrored } from './mirror.ts';
import { isNewer, knownSince, type MirroredRow, selectMirrored, touchMirrored } from './mirror-store.ts';

/**
 * The payments of one family in the mirror: their names and rules. `P`: a payment. `C`: the service's
 * description of one.
 */
export interface Family<P extends { version: number; status: string }, C extends { status: string | null }> {
  resource: MirroredResource;
  idOf(claim: C): string;
  /**
   * Merges a claim of a source; null if nothing changes. `changed`: the status before, if subscribers get an
   * update.
   */
  merge(
    known: P | null,
    claim: C,
    now: Date,
    source: UpstreamSource,
  ): { payment: P; changed: { from: P['status'] | null } | null } | null;
  /** Whether a claim confirms the known status. */
  confirmsStatus(claim: C, status: string): boolean;
  isFinal(status: P['status']): boolean;
  /** Whether a known status is an end, which `to` cannot follow. By default it is one if it is final. */
  isEnd?(status: P['status'], to: P['status']): boolean;
  /** The claim that a payment is open, which an answer that there is no such payment contradicts. */
  openClaimOf?(id: string): C;
  fromJson(snapshot: unknown): P;
  /** The members by which lists filter. */
  listedBy(payment: P): Pick<MirroredRow, 'parent' | 'createdAt'>;
  eventOf(payment: P, from: P['status'] | null): NewEvent;
}

/** The mirror of one family. */
export interface FamilyMirror<C> {
  find(tenant: Tenant, id: string): Promise<MirroredRow | null>;
  /** Records a claim of the service. Null if the payment is unknown and the claim shows too little of it. */
  record(tenant: Tenant, known: MirroredRow | null, claim: C, at: Date): Promise<MirroredRow | null>;
  /**
   * Records the claims of a page of the service's list, with a few statements if nothing is new. New payments
   * are numbered in the order of the claims.
   */
  recordPage(tenant: Tenant, claims: readonly C[], at: Date): Promise<void>;
}

export function createFamilyMirror<
  P extends { version: number; status: string },
  C extends { status: string | null },
>(
  {
    database: { sql },
    committer,
    clock,
    pollNow,
    onCorrection,
  }: Pick<UpstreamDependencies, 'database' | 'committer' | 'clock' | 'pollNow' | 'onCorrection'>,
  family: Family<P, C>,
): FamilyMirror<C> {
  const { resource, confirmsStatus } = family;
  const { read, decide } = observationsOf(family);

  /**
   * The news in a claim. A claim that is older than the known state has none, because that state contains it.
   */
  function newsIn(known: MirroredRow | null, claim: C, at: Date): 'change' | 'confirmation' | 'none' {
    if (!known) return 'change';
    // A claim of the same millisecond may be newer: its content decides.
    if (isNewer(known, at, clock.now())) return 'none';
    const source = sourceOf(known, at, clock.now());
    if (family.merge(family.fromJson(known.snapshot), claim, at, source)) return 'change';
    // An older claim confirms nothing, and one of the same instant nothing more.
    const confirmsNothing =
      !confirmsStatus(claim, known.status) || known.observedAt.getTime() === at.getTime();
    return confirmsNothing ? 'none' : 'confirmation';
  }

  async function change(tenant: Tenant, claim: C, at: Date): Promise<MirroredRow | null> {
    const { now, moved, correction } = await committer.change<{
      now: MirroredRow | null;
      moved: boolean;
      correction?: Correction | null;
    }>({
      tenant,
      read: (reader) => read(reader, claim),
      decide(state) {
        const before = state.get(mirrored[resource], family.idOf(claim));
        // While the answer was on its way, a webhook or another request has shown a newer state.
        if (before && isNewer(before, at, state.now)) return { outcome: { now: before, moved: false } };
        const { record, writes, correction: corrected } = decide(state, claim, at);
        const hasMoved = (writes.events?.length ?? 0) > 0;
        return { outcome: { now: record, moved: hasMoved, correction: corrected }, writes };
      },
    });
    if (correction) onCorrection(correction);
    if (moved) pollNow(tenant, 'wallet');
    return now;
  }

  return {
    async find(tenant, id) {
      return (await selectMirrored(sql, tenant, resource, [id]))[0] ?? null;
    },

    async record(tenant, known, claim, at) {
      const news = newsIn(known, claim, at);
      if (news === 'change') return change(tenant, claim, at);
      if (news === 'none') return known;
      await touchMirrored(sql, tenant, resource, { ids: [known!.id], at, now: clock.now() });
      return { ...known!, observedAt: at };
    },

    async recordPage(tenant, claims, at) {
      const rows = await selectMirrored(sql, tenant, resource, claims.map(family.idOf));
      const known = new Map(rows.map((row) => [row.id, row]));
      const news = claims.map((claim) => newsIn(known.get(family.idOf(claim)) ?? null, claim, at));
      // The commands of a tenant share transactions, and run in their order.
      await Promise.all(
        claims.filter((_, index) => news[index] === 'change').map((claim) => change(tenant, claim, at)),
      );
      const confirmed = claims.filter((_, index) => news[index] === 'confirmation');
      const ids = confirmed.map(family.idOf);
      await touchMirrored(sql, tenant, resource, { ids, at, now: clock.now() });
    },
  };
}

/** Whether a resource that is known has the amount of a claim. */
function isSameAmount({ snapshot }: MirroredRow, claim: object): boolean {
  const [known, shown] = [snapshot, claim].map(
    (each) => (each as { amountCents?: number | null }).amountCents,
  );
  return known == null || shown == null || known === shown;
}

/**
 * The source of an answer of the service at `at`, with the time at which the service last confirmed the known
 * state.
 */
function sourceOf(known: MirroredRow | null, at: Date, now: Date): UpstreamSource {
  return { by: 'service', at, knownAt: knownSince(known, now) };
}

/** The observations of a family. `at` is the time of an answer of the service; null for a webhook. */
export function observationsOf<
  P extends { version: number; status: string },
  C extends { status: string | null },
>({
  resource,
  idOf,
  merge,
  confirmsStatus,
  isFinal,
  isEnd = isFinal,
  fromJson,
  listedBy,
  eventOf,
}: Family<P, C>) {
  async function read(reader: Reader, claim: C): Promise<void> {
    const row = await reader.load(mirrored[resource], idOf(claim));
    await readOrder(reader, orderOf(row) ?? orderOf({ resource, snapshot: claim }));
  }

  function decide(
    state: State,
    claim: C,
    answeredAt: Date | null,
  ): { record: MirroredRow | null; writes: Writes; correction: Correction | null } {
    const id = idOf(claim);
    const at = answeredAt ?? state.now;
    const before = state.get(mirrored[resource], id);
    const known = before && fromJson(before.snapshot);
    const source = answeredAt ? sourceOf(before, answeredAt, state.now) : eventAt(state.now);
    const merged = merge(known, claim, state.now, source);
    if (!merged) return { record: before, writes: {}, correction: null };
    const { payment: own, changed } = merged;
    const { payment, isMarked, writes } = showOrder(state, own, { resource, id });
    // Each change that subscribers get has a version of its own.
    const version = isMarked && before?.version === own.version ? own.version + 1 : own.version;
    const record: MirroredRow = {
      resource,
      id,
      version,
      status: payment.status,
      final: isFinal(payment.status),
      ...listedBy(payment),
      snapshot: { ...payment, version },
      observedAt:
        before && (isNewer(before, at, state.now) || !confirmsStatus(claim, payment.status))
          ? before.observedAt
          : at,
    };
    const from = changed ? changed.from : (known?.status ?? null);
    const last = known && lastStatusOf<P['status']>(known);
    const isCorrection = last !== null && last !== payment.status && isEnd(last, payment.status);
    const event = changed || isMarked ? eventOf({ ...payment, version }, from) : null;
    return {
      record,
      writes: joined(writesOfMirrored({ event, ...record }), writes),
      correction: isCorrection ? { resource, id, from: last, to: payment.status } : null,
    };
  }

  return {
    read,
    decide,
    /** `made`: the claim is the answer to a creation. */
    observationOf: (claim: C, at: Date | null, made?: Made): Observation => ({
      resourceId: idOf(claim),
      read: (reader) => read(reader, claim),
      decide(state) {
        const before = state.get(mirrored[resource], idOf(claim));
        const isOthers =
          before !== null && (made === 'now' || (made === 'once' && !isSameAmount(before, claim)));
        if (isOthers) return { resourceId: idOf(claim), writes: {}, isOthers };
        const { record, writes, correction } = decide(state, claim, at);
        return {
          resourceId: idOf(claim),
          writes,
          contradicts: claim.status !== null && record !== null && claim.status !== record.status,
          ...(correction && { correction }),
        };
      },
    }),
  };
}
