import type { State, Writes } from '../commit/commit.ts';
import type { NewEvent } from '../events/event.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { UpstreamDependencies } from './dependencies.ts';
import { mirrored, type Observation, writesOfMirrored } from './mirror.ts';
import { isNewer, type MirroredRow, selectMirrored, touchMirrored } from './mirror-store.ts';

/** The payments of one family in the mirror: their names and rules. `P`: a payment, `C`: what the service shows of one. */
export interface PaymentFamily<
  P extends { version: number; status: string },
  C extends { status: string | null },
> {
  resource: 'card_payment' | 'charge' | 'dispute' | 'payment' | 'refund' | 'subscription';
  idOf(claim: C): string;
  /** Merges a claim; null where nothing changes. `changed`: the status before, where subscribers get an update. */
  merge(
    known: P | null,
    claim: C,
    now: Date,
  ): { payment: P; changed: { from: P['status'] | null } | null } | null;
  /** Whether a claim confirms the known status. */
  confirmsStatus(claim: C, status: string): boolean;
  isFinal(status: P['status']): boolean;
  fromJson(snapshot: unknown): P;
  /** The members by which lists filter. */
  listedBy(payment: P): Pick<MirroredRow, 'parent' | 'createdAt'>;
  eventOf(payment: P, from: P['status'] | null): NewEvent;
}

/** The mirror of one family. */
export interface MirroredPayments<C> {
  find(tenant: Tenant, id: string): Promise<MirroredRow | null>;
  /** Records what the service shows. Null where the payment is unknown and too little of it is shown. */
  record(tenant: Tenant, known: MirroredRow | null, claim: C, at: Date): Promise<MirroredRow | null>;
}

export function mirrorPayments<
  P extends { version: number; status: string },
  C extends { status: string | null },
>(
  {
    database: { sql },
    committer,
    clock,
    pollNow,
  }: Pick<UpstreamDependencies, 'database' | 'committer' | 'clock' | 'pollNow'>,
  family: PaymentFamily<P, C>,
): MirroredPayments<C> {
  const { resource, confirmsStatus } = family;
  const { decide } = observationsOf(family);
  return {
    async find(tenant, id) {
      return (await selectMirrored(sql, tenant, resource, [id]))[0] ?? null;
    },

    async record(tenant, known, claim, at) {
      // The claim is older than the known state, which contains it. One of the same millisecond may be newer: its content
      // decides.
      if (known && isNewer(known, at, clock.now())) return known;
      if (known && !family.merge(family.fromJson(known.snapshot), claim, at)) {
        // An older state confirms nothing, and the same instant nothing more.
        if (!confirmsStatus(claim, known.status) || known.observedAt.getTime() === at.getTime()) return known;
        await touchMirrored(sql, tenant, resource, { ids: [known.id], at });
        return { ...known, observedAt: at };
      }
      const { now, moved } = await committer.change<{ now: MirroredRow | null; moved: boolean }>({
        tenant,
        read: (reader) => reader.load(mirrored[resource], family.idOf(claim)),
        decide(state) {
          const { record, writes } = decide(state, claim, at);
          return { outcome: { now: record, moved: (writes.events?.length ?? 0) > 0 }, writes };
        },
      });
      if (moved) pollNow(tenant, 'wallet');
      return now;
    },
  };
}

/**
 * The observations of a family. `at` is the time of a claim; null: the time of its recording.
 */
export function observationsOf<
  P extends { version: number; status: string },
  C extends { status: string | null },
>({ resource, idOf, merge, confirmsStatus, isFinal, fromJson, listedBy, eventOf }: PaymentFamily<P, C>) {
  function decide(state: State, claim: C, at: Date): { record: MirroredRow | null; writes: Writes } {
    const id = idOf(claim);
    const before = state.get(mirrored[resource], id);
    const merged = merge(before && fromJson(before.snapshot), claim, state.now);
    if (!merged) return { record: before, writes: {} };
    const { payment, changed } = merged;
    const record: MirroredRow = {
      resource,
      id,
      version: payment.version,
      status: payment.status,
      final: isFinal(payment.status),
      ...listedBy(payment),
      snapshot: payment,
      observedAt:
        before && (isNewer(before, at, state.now) || !confirmsStatus(claim, payment.status))
          ? before.observedAt
          : at,
    };
    const event = changed && eventOf(payment, changed.from);
    return { record, writes: writesOfMirrored({ event, ...record }) };
  }

  return {
    decide,
    observationOf: (claim: C, at: Date | null): Observation => ({
      read: (reader) => reader.load(mirrored[resource], idOf(claim)),
      decide: (state) => ({
        resourceId: idOf(claim),
        writes: decide(state, claim, at ?? state.now).writes,
      }),
    }),
  };
}
