import { type Clock, plusMs } from '../../server/src/kernel/clock.ts';
import type { PixCode, PixCredit, PixRail, PixRegistration } from '../../server/src/rails/pix.ts';
import type { RefundStatus } from '../../server/src/rails/refund.ts';
import type { Random } from '../faults/random.ts';
import type { Violation } from './violation.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A code as the bank's own books have it. */
export interface BookedCode extends PixCode {
  isRefused: boolean;
  /** The bank gives it from then on. */
  registeredAt: Date;
}

/** A credit as the bank's own books have it. */
export interface BookedCredit extends PixCredit {
  txid: string;
}

/** A return as the bank's own books have it. */
export interface BookedReturn {
  id: string;
  chargeId: string;
  amountCents: number;
  settlesAt: Date;
  outcome: 'complete' | 'fail';
}

/** A bank of PIX payments with books of its own. */
export interface PixBank extends PixRail {
  readonly credits: ReadonlyMap<string, BookedCredit>;
  readonly returns: ReadonlyMap<string, BookedReturn>;
  /** Whether a payer can pay the code. */
  isPayable(txid: string): boolean;
  /** Books money of a payer; the service is not notified. */
  pay(txid: string, amountCents: number): BookedCredit;
}

/** `over` calls the bank over a network that fails. `name` tells the credits of this bank from those of any other. */
export function createPixBank({
  name,
  clock,
  over,
  random,
  broken,
}: {
  name: string;
  clock: Clock;
  over: <Answer>(rail: string, call: () => Answer) => Promise<Answer>;
  random: Random;
  /** Called with a request that no service should make of a bank. */
  broken: (violation: Violation) => void;
}): PixBank {
  const codes = new Map<string, BookedCode>();
  const credits = new Map<string, BookedCredit>();
  const returns = new Map<string, BookedReturn>();

  function register(code: PixCode): PixRegistration {
    const booked = codes.get(code.txid) ?? bookCode(code);
    if (textOf(booked) !== textOf(code))
      broken({ law: 'a code is registered as it was', what: `${textOf(booked)}, then ${textOf(code)}` });
    if (booked.isRefused) return { status: 'refused', reason: 'O banco recusou a cobrança' };
    if (booked.registeredAt > clock.now()) return { status: 'pending' };
    return { status: 'registered', brCode: `código ${code.txid}` };
  }

  function bookCode(code: PixCode): BookedCode {
    const registeredAt = plusMs(clock.now(), random.pick([0, 0, 0, 15 * SECOND, 40 * MINUTE]));
    const booked = { ...code, isRefused: random.below(12) === 0, registeredAt };
    codes.set(code.txid, booked);
    return booked;
  }

  function refund(requested: Parameters<PixRail['refund']>[0]): RefundStatus {
    const booked = returns.get(requested.id) ?? bookReturn(requested);
    if (booked.chargeId !== requested.chargeId || booked.amountCents !== requested.amountCents)
      broken({
        law: 'a return is requested as it was',
        what: `${JSON.stringify(booked)}, then ${JSON.stringify(requested)}`,
      });
    if (booked.settlesAt > clock.now()) return { status: 'pending', settlesAt: booked.settlesAt };
    return booked.outcome === 'complete'
      ? { status: 'completed', endToEndId: `D${booked.id}` }
      : { status: 'failed', reason: 'O banco do pagador recusou a devolução' };
  }

  function bookReturn(requested: Parameters<PixRail['refund']>[0]): BookedReturn {
    const credit = credits.get(requested.chargeId);
    const sum = [...returns.values()]
      .filter(({ chargeId, outcome }) => chargeId === requested.chargeId && outcome === 'complete')
      .reduce((cents, { amountCents }) => cents + amountCents, requested.amountCents);
    if (!credit || sum > credit.amountCents)
      broken({ law: 'only what a payer has sent is sent back', what: `${sum} of ${JSON.stringify(credit)}` });
    const booked: BookedReturn = {
      ...requested,
      settlesAt: plusMs(clock.now(), random.pick([0, 0, 5 * SECOND, 10 * MINUTE])),
      outcome: random.below(5) === 0 ? 'fail' : 'complete',
    };
    returns.set(booked.id, booked);
    return booked;
  }

  return {
    credits,
    returns,
    register: (code) => over('PIX bank', () => register(code)),
    creditsOf: (txid) =>
      over('PIX bank', () =>
        [...credits.values()]
          .filter((credit) => credit.txid === txid)
          .map(({ endToEndId, amountCents, at }) => ({ endToEndId, amountCents, at })),
      ),
    refund: (requested) => over('PIX bank', () => refund(requested)),
    isPayable(txid) {
      const code = codes.get(txid);
      return code !== undefined && !code.isRefused && code.registeredAt <= clock.now();
    },
    pay(txid, amountCents) {
      const endToEndId = `E${name}${String(credits.size).padStart(8, '0')}`;
      const credit = { endToEndId, txid, amountCents, at: clock.now() };
      credits.set(endToEndId, credit);
      return credit;
    },
  };
}

function textOf({ txid, tenant, amountCents, expiresAt }: PixCode): string {
  return JSON.stringify({ txid, tenant: [tenant.accountId, tenant.environment], amountCents, expiresAt });
}
