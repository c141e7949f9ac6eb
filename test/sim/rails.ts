import { type Clock, plusMs } from '../../server/src/kernel/clock.ts';
import type { Acquirer, ChargeStatus } from '../../server/src/rails/acquirer.ts';
import type { Bank, Transfer, TransferStatus } from '../../server/src/rails/bank.ts';
import type { RefundStatus } from '../../server/src/rails/refund.ts';
import type { Send } from '../../server/src/webhooks/sender.ts';
import type { Random } from '../faults/random.ts';
import { type Faults, type Gate, Injected } from './gate.ts';
import { createLtcNetwork, type LtcNetwork } from './ltc-network.ts';
import { createPixBank, type PixBank } from './pix-bank.ts';
import type { Violation } from './violation.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** The quote of the bank, which never changes. */
export const LITOSHI_PER_CENT = 1_633;

/** A transfer in the bank's own ledger. */
export interface BookedTransfer extends Transfer {
  receivedAt: Date;
  heldUntil: Date | null;
  settlesAt: Date;
  /** `return`: the transfer arrives and is returned, before the next lookup or later. */
  outcome: 'complete' | 'deny' | 'refuse' | 'return';
}

/** A charge in the acquirer's own ledger. */
export interface BookedCharge {
  id: string;
  amountCents: number;
  status: 'pending' | 'approved' | 'declined' | 'void';
  final: boolean;
  settlesAt: Date | null;
}

/** A refund in the acquirer's own ledger. */
export interface BookedRefund {
  id: string;
  railChargeId: string;
  amountCents: number;
  settlesAt: Date;
  outcome: 'complete' | 'fail';
}

/** The card numbers, by the acquirer's outcome. */
export const CARDS = {
  '1': 'approved',
  '2': 'approved',
  '3': 'declined',
  '4': 'declined for good',
  '5': 'in 5 seconds',
  '6': 'in 45 minutes',
  '7': 'in 3 days',
} as const;

/** The outside world: banks, an acquirer and receivers of webhooks, each with a ledger of its own and with faults. */
export interface Rails {
  readonly bank: Bank;
  readonly acquirer: Acquirer;
  /** The bank of PIX payments. */
  readonly pix: PixBank;
  readonly litecoin: LtcNetwork;
  readonly send: Send;
  readonly transfers: ReadonlyMap<string, BookedTransfer>;
  /** Completed transfers that may still be returned. */
  returnable(): BookedTransfer[];
  readonly charges: ReadonlyMap<string, BookedCharge>;
  readonly refunds: ReadonlyMap<string, BookedRefund>;
  /** The body of each webhook. */
  readonly received: ReadonlyMap<string, { body: string; times: number }>;
}

export function createRails({
  name,
  clock,
  gate,
  faults,
  random,
  broken,
}: {
  /** The name that distinguishes these rails' bookings from all others. */
  name: string;
  clock: Clock;
  gate: Gate;
  faults: Faults;
  random: Random;
  /** Called with a request that no service should send to a rail. */
  broken: (violation: Violation) => void;
}): Rails {
  const transfers = new Map<string, BookedTransfer>();
  const charges = new Map<string, BookedCharge>();
  const refunds = new Map<string, BookedRefund>();
  const received = new Map<string, { body: string; times: number }>();

  /**
   * Calls a rail over a faulty connection: the call may be lost, arrive twice, or arrive late, and its answer may be
   * lost.
   */
  function over<Answer>(rail: string, call: () => Answer): Promise<Answer> {
    const isLate = faults.strikes(`${rail}: late`, 12);
    return gate.pass(async () => {
      if (faults.strikes(`${rail}: says nothing`, 25)) throw new Injected(`${rail} says nothing`);
      const answer = call();
      if (faults.strikes(`${rail}: asked twice`, 25)) call();
      if (faults.strikes(`${rail}: answer lost`, 25)) throw new Injected(`the answer of ${rail} was lost`);
      return answer;
    }, isLate);
  }

  function book(transfer: Transfer): BookedTransfer {
    const known = transfers.get(transfer.id);
    if (known) {
      if (textOf(known) !== textOf(transfer))
        broken({ law: 'a transfer is sent as it was', what: `${textOf(known)}, then ${textOf(transfer)}` });
      return known;
    }
    const now = clock.now();
    const isLive = transfer.tenant.environment === 'live';
    const heldUntil = random.below(6) === 0 ? plusMs(now, 30 * SECOND) : null;
    const ends = [
      'complete',
      'complete',
      'complete',
      'deny',
      'refuse',
      ...(isPix(transfer) ? ['return'] : []),
    ];
    const outcome = isLive ? random.pick(ends) : 'complete';
    const afterMs = random.pick([0, 2 * SECOND, 3 * SECOND, 10 * MINUTE]);
    const booked: BookedTransfer = {
      ...transfer,
      receivedAt: now,
      heldUntil,
      settlesAt: plusMs(heldUntil ?? now, afterMs),
      outcome: outcome as BookedTransfer['outcome'],
    };
    transfers.set(transfer.id, booked);
    return booked;
  }

  function charge(id: string, fresh: () => BookedCharge): ChargeStatus {
    const booked = charges.get(id) ?? fresh();
    charges.set(id, booked);
    switch (booked.status) {
      case 'void':
        return { status: 'void' };
      case 'declined':
        return { status: 'declined', reason: 'Cartão recusado', final: booked.final };
      case 'pending':
        if (booked.settlesAt! > clock.now()) return { status: 'pending', settlesAt: booked.settlesAt };
        booked.status = 'approved';
        return { status: 'approved' };
      case 'approved':
        return { status: 'approved' };
    }
  }

  function refund({ id, railChargeId, amountCents }: Parameters<Acquirer['refund']>[0]): RefundStatus {
    const booked = refunds.get(id) ?? bookRefund({ id, railChargeId, amountCents });
    if (booked.railChargeId !== railChargeId || booked.amountCents !== amountCents)
      broken({
        law: 'a refund is requested as it was',
        what: `${JSON.stringify(booked)}, then ${amountCents}`,
      });
    if (booked.settlesAt > clock.now()) return { status: 'pending', settlesAt: booked.settlesAt };
    return booked.outcome === 'complete'
      ? { status: 'completed', endToEndId: null }
      : { status: 'failed', reason: 'O banco emissor recusou o estorno' };
  }

  function bookRefund(requested: Parameters<Acquirer['refund']>[0]): BookedRefund {
    const law = 'only what was taken is given back';
    const taken = charges.get(requested.railChargeId);
    const given = [...refunds.values()].filter(
      ({ railChargeId, outcome }) => railChargeId === requested.railChargeId && outcome === 'complete',
    );
    const sum = given.reduce((cents, { amountCents }) => cents + amountCents, requested.amountCents);
    if (taken?.status !== 'approved' || sum > taken.amountCents)
      broken({ law, what: `${sum} of ${JSON.stringify(taken)}` });
    const booked: BookedRefund = {
      ...requested,
      settlesAt: plusMs(clock.now(), random.pick([0, 0, 5 * SECOND, 10 * MINUTE])),
      outcome: random.below(5) === 0 ? 'fail' : 'complete',
    };
    refunds.set(booked.id, booked);
    return booked;
  }

  return {
    transfers,
    charges,
    refunds,
    received,
    returnable: () =>
      [...transfers.values()].filter(
        (transfer) =>
          transfer.outcome === 'complete' &&
          transfer.tenant.environment === 'live' &&
          isPix(transfer) &&
          transfer.settlesAt <= clock.now(),
      ),
    pix: createPixBank({ name, clock, over, random, broken }),
    litecoin: createLtcNetwork({ name, clock, over, random }),
    bank: {
      async quoteLitoshi(amountCents) {
        if (faults.strikes('bank: no quote', 20)) throw new Injected('the bank has no quote');
        return amountCents * LITOSHI_PER_CENT;
      },
      send: (transfer) => over('bank', () => statusOf(book(transfer), clock.now())),
    },
    acquirer: {
      refusal: () => null,
      charge: ({ id, amountCents, card }) =>
        over('acquirer', () =>
          charge(id, () => bookedCharge(id, amountCents, CARDS[card.number as keyof typeof CARDS])),
        ),
      resolve: (id) =>
        over('acquirer', () =>
          charge(id, () => ({ id, amountCents: 0, status: 'void', final: false, settlesAt: null })),
        ),
      refund: (requested) => over('acquirer', () => refund(requested)),
    },
    async send({ url, headers, body }) {
      const id = headers['x-webhook-id'] ?? headers['X-Webhook-Id'] ?? '';
      try {
        return await over('receiver', () => {
          const before = received.get(id);
          if (before && before.body !== body)
            broken({ law: 'a webhook says the same each time', what: `${before.body}, then ${body}` });
          received.set(id, { body, times: (before?.times ?? 0) + 1 });
          if (faults.strikes('receiver: says no', 8))
            return { responseStatus: 500, error: 'the receiver answered 500', exchange: null };
          return { responseStatus: url.includes('gone') ? 410 : 200, error: null, exchange: null };
        });
      } catch {
        return { responseStatus: null, error: 'no answer', exchange: null };
      }
    },
  };

  function bookedCharge(
    id: string,
    amountCents: number,
    does: (typeof CARDS)[keyof typeof CARDS],
  ): BookedCharge {
    const booked = { id, amountCents, final: false, settlesAt: null };
    switch (does) {
      case 'approved':
        return { ...booked, status: 'approved' };
      case 'declined':
      case 'declined for good':
        return { ...booked, status: 'declined', final: does === 'declined for good' };
      case 'in 5 seconds':
        return { ...booked, status: 'pending', settlesAt: plusMs(clock.now(), 5 * SECOND) };
      case 'in 45 minutes':
        return { ...booked, status: 'pending', settlesAt: plusMs(clock.now(), 45 * MINUTE) };
      case 'in 3 days':
        return { ...booked, status: 'pending', settlesAt: plusMs(clock.now(), 3 * 24 * 60 * MINUTE) };
    }
  }
}

function statusOf({ outcome, heldUntil, settlesAt, method }: BookedTransfer, now: Date): TransferStatus {
  if (outcome === 'refuse') return { status: 'refused', reason: 'Destino bloqueado' };
  if (heldUntil && heldUntil > now) return { status: 'in_verification', until: heldUntil };
  if (settlesAt > now) return { status: method === 'pix_turbo' ? 'sent' : 'queued', until: settlesAt };
  if (outcome === 'deny') return { status: 'denied', reason: 'O banco de destino recusou' };
  const receipt = isPix({ method })
    ? { endToEndId: 'E1', recipientName: 'Ana Souza', recipientBankName: 'Banco Ipê S.A.' }
    : { endToEndId: null, recipientName: null, recipientBankName: null };
  return { status: outcome === 'return' ? 'returned' : 'completed', receipt };
}

function isPix({ method }: Pick<Transfer, 'method'>): boolean {
  return method === 'pix' || method === 'pix_turbo';
}

function textOf({ tenant, method, destination, amountCents, litoshi }: Transfer): string {
  return JSON.stringify({
    tenant: [tenant.accountId, tenant.environment],
    method,
    destination,
    amountCents,
    litoshi,
  });
}
