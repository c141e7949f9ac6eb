import type { State, Writes } from '../../commit/commit.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Facade } from '../../upstream/dependencies.ts';
import { type Observation, observed, writesOfObserved } from '../../upstream/mirror.ts';
import { type Observed, selectObserved, touchObserved } from '../../upstream/mirror-store.ts';
import {
  type CardPaymentClaim,
  cardPaymentFromJson,
  isFinal,
  mergeCardPayment,
  type ShownCardPayment,
} from '../model.ts';

/** Card payments as the mirror has them. */
export interface MirroredCardPayments {
  find(tenant: Tenant, orderCode: string): Promise<Observed | null>;
  /** Records what is new of it. Null where nobody knows the payment, and this says too little of it. */
  record(tenant: Tenant, known: Observed | null, claim: CardPaymentClaim, at: Date): Promise<Observed | null>;
}

export function mirrorCardPayments({
  database: { sql },
  committer,
  nudge,
}: Pick<Facade, 'database' | 'committer' | 'nudge'>): MirroredCardPayments {
  return {
    async find(tenant, orderCode) {
      return (await selectObserved(sql, tenant, 'card_payment', [orderCode]))[0] ?? null;
    },

    async record(tenant, known, claim, at) {
      // Said before what is known: that has it already.
      if (known && known.observedAt >= at) return known;
      if (known && !mergeCardPayment(paymentOf(known), claim, at)) {
        // Something older than what is known confirms nothing.
        if (!confirms(claim, known.status)) return known;
        await touchObserved(sql, tenant, 'card_payment', { ids: [known.id], at });
        return { ...known, observedAt: at };
      }
      const { now, moved } = await committer.change<{ now: Observed | null; moved: boolean }>({
        tenant,
        read: (reader) => reader.load(observed.card_payment, claim.orderCode),
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
export function observationOf(claim: CardPaymentClaim, at: Date | null): Observation {
  return {
    read: (reader) => reader.load(observed.card_payment, claim.orderCode),
    decide: (state) => ({
      resourceId: claim.orderCode,
      writes: decideClaim(state, claim, at ?? state.now).writes,
    }),
  };
}

function decideClaim(
  state: State,
  claim: CardPaymentClaim,
  at: Date,
): { record: Observed | null; writes: Writes } {
  const before = state.get(observed.card_payment, claim.orderCode);
  const seen = mergeCardPayment(before && paymentOf(before), claim, state.now);
  if (!seen) return { record: before, writes: {} };
  const { payment, changed } = seen;
  const record: Observed = {
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
    writes: writesOfObserved({
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

function confirms({ status: told }: CardPaymentClaim, status: string): boolean {
  return told !== null && (told === status || status === 'unknown');
}

export function paymentOf({ snapshot }: Observed): ShownCardPayment {
  return cardPaymentFromJson(snapshot);
}
