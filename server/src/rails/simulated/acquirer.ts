import { type Clock, plusMs } from '../../kernel/clock.ts';
import type { Database } from '../../state/db/database.ts';
import type { Acquirer, ChargeStatus } from '../acquirer.ts';
import type { RefundStatus } from '../refund.ts';

type Behaviour =
  /**
   * `refunds`: whether refunds of this card are completed after a while, or fail; left out: they are
   * completed at once.
   */
  | { kind: 'approve'; refunds?: 'later' | 'fail' }
  | { kind: 'decline'; reason: string; final: boolean }
  | { kind: 'settle_later'; afterMs: number };

/** The only cards that the simulated acquirer accepts, by number, and the behavior of each. */
export const TEST_CARDS: Readonly<Record<string, Behaviour>> = {
  '4242424242424242': { kind: 'approve' },
  '5555555555554444': { kind: 'approve' },
  '4000000000007726': { kind: 'approve', refunds: 'later' },
  '4000000000005126': { kind: 'approve', refunds: 'fail' },
  '4000000000000002': { kind: 'decline', reason: 'Cartão recusado pelo banco emissor', final: false },
  '4000000000009995': { kind: 'decline', reason: 'Saldo insuficiente', final: false },
  '4100000000000019': { kind: 'decline', reason: 'Pagamento bloqueado por suspeita de fraude', final: true },
  '4000000000003220': { kind: 'settle_later', afterMs: 5_000 },
  '4000000000000077': { kind: 'settle_later', afterMs: 45 * 60_000 },
};

/** Milliseconds until a refund of a card with late refunds is completed. */
const LATE_REFUND_MS = 5_000;

/**
 * A card acquirer that accepts test cards alone. Its books are a table of its own, written before it answers:
 * it still holds the money after a crash of this server, as a real acquirer would. No card number is stored
 * anywhere.
 */
export function createSimulatedAcquirer({ database, clock }: { database: Database; clock: Clock }): Acquirer {
  async function lookUp(chargeId: string): Promise<ChargeStatus> {
    const row = await database.sql
      .selectFrom('simulated_charge')
      .selectAll()
      .where('id', '=', chargeId)
      .executeTakeFirst();
    if (!row || row.status === 'void') return { status: 'void' };
    if (row.status === 'declined')
      return {
        status: 'declined',
        reason: row.decline_reason ?? 'Cartão recusado',
        final: row.final_decline,
      };
    if (row.settles_at && row.settles_at > clock.now())
      return { status: 'pending', settlesAt: row.settles_at };
    return { status: 'approved' };
  }

  async function lookUpRefund(id: string): Promise<RefundStatus> {
    const { status, settles_at: settlesAt } = await database.sql
      .selectFrom('simulated_refund')
      .select(['status', 'settles_at'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    if (status === 'failed') return { status, reason: 'O banco emissor recusou o estorno' };
    return settlesAt && settlesAt > clock.now()
      ? { status: 'pending', settlesAt }
      : { status: 'completed', endToEndId: null };
  }

  return {
    refusal: (cardNumber) => (TEST_CARDS[cardNumber] ? null : 'test_cards_only'),

    async charge({ id, amountCents, card }) {
      const behaviour = TEST_CARDS[card.number];
      if (!behaviour) return { status: 'declined', reason: 'Cartão não aceito', final: false };
      await database.sql
        .insertInto('simulated_charge')
        .values({
          id,
          amount_cents: amountCents,
          status:
            behaviour.kind === 'decline' ? 'declined' : behaviour.kind === 'approve' ? 'approved' : 'pending',
          decline_reason: behaviour.kind === 'decline' ? behaviour.reason : null,
          final_decline: behaviour.kind === 'decline' && behaviour.final,
          settles_at: behaviour.kind === 'settle_later' ? plusMs(clock.now(), behaviour.afterMs) : null,
          refunds: behaviour.kind === 'approve' ? (behaviour.refunds ?? null) : null,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return lookUp(id);
    },

    async resolve(chargeId) {
      await database.sql
        .insertInto('simulated_charge')
        .values({
          id: chargeId,
          amount_cents: 0,
          status: 'void',
          decline_reason: null,
          final_decline: false,
          settles_at: null,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return lookUp(chargeId);
    },

    async refund({ id, railChargeId, amountCents }) {
      const charge = await database.sql
        .selectFrom('simulated_charge')
        .select('refunds')
        .where('id', '=', railChargeId)
        .executeTakeFirstOrThrow();
      await database.sql
        .insertInto('simulated_refund')
        .values({
          id,
          charge_id: railChargeId,
          amount_cents: amountCents,
          status: ({ later: 'pending', fail: 'failed' } as const)[charge.refunds!] ?? 'completed',
          settles_at: charge.refunds === 'later' ? plusMs(clock.now(), LATE_REFUND_MS) : null,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return lookUpRefund(id);
    },
  };
}
