import type { State, Writes } from '../../commit/commit.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { UpstreamDependencies } from '../../upstream/dependencies.ts';
import { mirrored, type Observation, writesOfMirrored } from '../../upstream/mirror.ts';
import { type MirroredRow, selectMirrored, touchMirrored } from '../../upstream/mirror-store.ts';
import { type CardPayment, cardPaymentFromJson, isFinal } from '../model.ts';
import { mergeUpstreamCardPayment, type UpstreamCardPayment } from '../upstream-card-payment.ts';

/** Card payments as the mirror has them. */
export interface MirroredCardPayments {
  find(tenant: Tenant, orderCode: string): Promise<MirroredRow | null>;
  /** Records what is new of it. Null where nobody knows the payment, and this says too little of it. */
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
  pollNow: nudge,
}: Pick<UpstreamDependencies, 'database' | 'committer' | 'pollNow'>): MirroredCardPayments {
  return {
    async find(tenant, orderCode) {
      return (await selectMirrored(sql, tenant, 'card_payment', [orderCode]))[0] ?? null;
    },

    async record(tenant, known, claim, at) {
      // Said before what is known: that has it already.
      if (known && known.observedAt >= at) return known;
      if (known && !mergeUpstreamCardPayment(paymentOf(known), claim, at)) {
        // Something older than what is known confirms nothing.
        if (!confirms(claim, known.status)) return known;
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
      if (moved) nudge(tenant, 'wallet');
      return now;
    },
  };
}

// ── What is said, as it is written down ─────────────────────────────────────────────────────────

/** `at`: when it was said; null: when it is heard. */
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
      before && (before.observedAt > at || !confirms(claim, payment.status)) ? before.observedAt : at,
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

function confirms({ status: told }: UpstreamCardPayment, status: string): boolean {
  return told !== null && (told === status || status === 'unknown');
}

export function paymentOf({ snapshot }: MirroredRow): CardPayment {
  return cardPaymentFromJson(snapshot);
}
