import type { Collection, State, Writes } from '../../commit/commit.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { UpstreamDependencies } from '../../upstream/dependencies.ts';
import { mirrored, type Observation, writesOfMirrored } from '../../upstream/mirror.ts';
import {
  type MirroredRow,
  selectMirrored,
  selectPaidByExternalIds,
  touchMirrored,
} from '../../upstream/mirror-store.ts';
import { type CardPayment, cardPaymentFromJson, isFinal } from '../model.ts';
import { mergeUpstreamCardPayment, type UpstreamCardPayment } from '../upstream-card-payment.ts';

/** Orders of merchants that were paid, as far as the mirror knows; read only. */
export const paidOrders: Collection<{ externalId: string }> = {
  name: 'paid order',
  load: selectPaidByExternalIds,
  keyOf: ({ externalId }) => externalId,
  save: () => Promise.reject(new Error('a paid order is read only')),
};

/** The mirror of the service's card payments. */
export interface MirroredCardPayments {
  find(tenant: Tenant, orderCode: string): Promise<MirroredRow | null>;
  /** Records what the service shows. Null where the payment is unknown and too little of it is shown. */
  record(
    tenant: Tenant,
    known: MirroredRow | null,
    claim: UpstreamCardPayment,
    at: Date,
  ): Promise<MirroredRow | null>;
}

export function mirrorCardPayments({
  database: { sql },
  committer,
  pollNow,
}: Pick<UpstreamDependencies, 'database' | 'committer' | 'pollNow'>): MirroredCardPayments {
  return {
    async find(tenant, orderCode) {
      return (await selectMirrored(sql, tenant, 'card_payment', [orderCode]))[0] ?? null;
    },

    async record(tenant, known, claim, at) {
      // The claim is older than the known state, which contains it.
      if (known && known.observedAt >= at) return known;
      if (known && !mergeUpstreamCardPayment(paymentOf(known), claim, at)) {
        // An older state confirms nothing.
        if (!isConfirmation(claim, known.status)) return known;
        await touchMirrored(sql, tenant, 'card_payment', { ids: [known.id], at });
        return { ...known, observedAt: at };
      }
      const { now, moved } = await committer.change<{ now: MirroredRow | null; moved: boolean }>({
        tenant,
        read: (reader) => reader.load(mirrored.card_payment, claim.orderCode),
        decide(state) {
          const { record, writes } = decideClaim(state, claim, at);
          return { outcome: { now: record, moved: (writes.events?.length ?? 0) > 0 }, writes };
        },
      });
      if (moved) pollNow(tenant, 'wallet');
      return now;
    },
  };
}

// ── Recording what the service shows ─────────────────────────────────────────────────────────────

/** Turns a claim into an observation. `at` is the time of the claim; null: the time of its recording. */
export function observationOf(claim: UpstreamCardPayment, at: Date | null): Observation {
  return {
    read: (reader) => reader.load(mirrored.card_payment, claim.orderCode),
    decide: (state) => ({
      resourceId: claim.orderCode,
      writes: decideClaim(state, claim, at ?? state.now).writes,
    }),
  };
}

function decideClaim(
  state: State,
  claim: UpstreamCardPayment,
  at: Date,
): { record: MirroredRow | null; writes: Writes } {
  const before = state.get(mirrored.card_payment, claim.orderCode);
  const seen = mergeUpstreamCardPayment(before && paymentOf(before), claim, state.now);
  if (!seen) return { record: before, writes: {} };
  const { payment, changed } = seen;
  const record: MirroredRow = {
    resource: 'card_payment',
    id: payment.orderCode,
    version: payment.version,
    status: payment.status,
    final: isFinal(payment.status),
    parent: null,
    snapshot: payment,
    observedAt:
      before && (before.observedAt > at || !isConfirmation(claim, payment.status)) ? before.observedAt : at,
  };
  return {
    record,
    writes: writesOfMirrored({
      names: before ? [] : [record.id],
      event: changed && {
        kind: `card_payment.${payment.status}`,
        resource: 'card_payment',
        resourceId: payment.orderCode,
        previousStatus: changed.from,
        snapshot: payment,
      },
      ...record,
    }),
  };
}

function isConfirmation({ status: claimed }: UpstreamCardPayment, status: string): boolean {
  return claimed !== null && (claimed === status || status === 'unknown');
}

export function paymentOf({ snapshot }: MirroredRow): CardPayment {
  return cardPaymentFromJson(snapshot);
}
