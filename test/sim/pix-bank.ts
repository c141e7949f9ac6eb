import { type Clock, plusMs } from '../../server/src/kernel/clock.ts';
import type {
  DebitReport,
  PixCode,
  PixCredit,
  PixDebit,
  PixRail,
  PixRegistration,
} from '../../server/src/rails/pix.ts';
import type { RefundStatus } from '../../server/src/rails/refund.ts';
import type { Random } from '../faults/random.ts';
import type { Violation } from './violation.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A code in the bank's own ledger. */
export interface BookedCode extends PixCode {
  isRefused: boolean;
  /** The instant from which the bank returns the code. */
  registeredAt: Date;
}

/** A credit in the bank's own ledger. */
export interface BookedCredit extends PixCredit {
  txid: string;
  /** The attempt that has caused the credit; absent if the payer has paid the code. */
  debitId?: string;
}

/** A return in the bank's own ledger. */
export interface BookedReturn {
  id: string;
  railChargeId: string;
  amountCents: number;
  settlesAt: Date;
  outcome: 'complete' | 'fail';
}

/** An attempt to debit a payer, in the bank's own ledger. */
export interface BookedDebit extends PixDebit {
  /** The report; null until the payer's bank has decided, and for a recalled attempt. */
  report: DebitReport | null;
  isRecalled: boolean;
}

/** A bank of PIX payments with a ledger of its own. */
export interface PixBank extends PixRail {
  readonly credits: ReadonlyMap<string, BookedCredit>;
  readonly returns: ReadonlyMap<string, BookedReturn>;
  readonly debits: ReadonlyMap<string, BookedDebit>;
  /** Decides an open attempt: its money is booked, and the service is not notified. */
  decide(debitId: string, outcome: DebitReport['status']): void;
  /** Ends a recurrence as its payer does. */
  endByPayer(txid: string): void;
  /** Whether a payer can pay the code. */
  isPayable(txid: string): boolean;
  /** Books a payer's money; the service is not notified. */
  pay(txid: string, amountCents: number): BookedCredit;
}

/** `over` calls the bank over a faulty connection. `name` distinguishes this bank's credits from all others. */
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
  /** Called with a request that no service should send to a bank. */
  broken: (violation: Violation) => void;
}): PixBank {
  const codes = new Map<string, BookedCode>();
  const credits = new Map<string, BookedCredit>();
  const returns = new Map<string, BookedReturn>();
  const debits = new Map<string, BookedDebit>();
  const ended = new Map<string, { at: Date; byPayer: boolean }>();

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
    if (booked.railChargeId !== requested.railChargeId || booked.amountCents !== requested.amountCents)
      broken({
        law: 'a return is requested as it was',
        what: `${JSON.stringify(booked)}, then ${JSON.stringify(requested)}`,
      });
    if (booked.settlesAt > clock.now()) return { status: 'pending', settlesAt: booked.settlesAt };
    return booked.outcome === 'complete'
      ? { status: 'completed', endToEndId: `D${booked.id}` }
      : { status: 'failed', reason: 'O banco do pagador não aceitou o dinheiro de volta' };
  }

  function bookReturn(requested: Parameters<PixRail['refund']>[0]): BookedReturn {
    const credit = credits.get(requested.railChargeId);
    const sum = [...returns.values()]
      .filter(
        ({ railChargeId, outcome }) => railChargeId === requested.railChargeId && outcome === 'complete',
      )
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

  function schedule(debit: PixDebit): 'scheduled' | 'ended' {
    const booked = debits.get(debit.id);
    if (booked && (booked.txid !== debit.txid || booked.amountCents !== debit.amountCents))
      broken({
        law: 'an attempt is scheduled as it was',
        what: `${JSON.stringify(booked)}, then ${JSON.stringify(debit)}`,
      });
    if (booked) return 'scheduled';
    if (ended.has(debit.txid)) return 'ended';
    debits.set(debit.id, { ...debit, report: null, isRecalled: false });
    return 'scheduled';
  }

  function recall(id: string): void {
    const booked = debits.get(id);
    // From the evening before its day on the attempt can no longer be recalled.
    if (booked && !booked.report && clock.now() < plusMs(booked.dueAt, -2 * 60 * MINUTE))
      debits.set(id, { ...booked, isRecalled: true });
  }

  function end(txid: string, byPayer: boolean): void {
    if (ended.has(txid)) return;
    ended.set(txid, { at: clock.now(), byPayer });
    for (const { id, txid: own } of debits.values()) if (own === txid) recall(id);
  }

  return {
    credits,
    returns,
    debits,
    schedule: (debit) => over('PIX bank', () => schedule(debit)),
    cancelSchedule: ({ id }) => over('PIX bank', () => recall(id)),
    cancelRecurrence: (txid) => over('PIX bank', () => end(txid, false)),
    recurrenceOf: (txid) =>
      over('PIX bank', () => ({
        endedByPayerAt: ended.get(txid)?.byPayer ? ended.get(txid)!.at : null,
        // The bank may report every debit twice.
        debits: [...debits.values()].flatMap(({ txid: own, report }) =>
          own === txid && report ? random.pick([[report], [report, report]]) : [],
        ),
      })),
    decide(debitId, outcome) {
      const booked = debits.get(debitId);
      if (!booked || booked.report || booked.isRecalled) return;
      const at = clock.now();
      const { id, txid, amountCents } = booked;
      if (outcome === 'failed') {
        debits.set(id, { ...booked, report: { id, status: 'failed', reason: 'Saldo insuficiente', at } });
        return;
      }
      const endToEndId = `E${name}${String(credits.size).padStart(8, '0')}`;
      credits.set(endToEndId, { endToEndId, txid, amountCents, at, debitId });
      debits.set(id, { ...booked, report: { id, status: 'paid', endToEndId, amountCents, at } });
    },
    endByPayer: (txid) => end(txid, true),
    register: (code) => over('PIX bank', () => register(code)),
    creditsOf: (txid) =>
      over('PIX bank', () =>
        [...credits.values()]
          .filter((credit) => credit.txid === txid && credit.debitId === undefined)
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
