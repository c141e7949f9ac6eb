import { DAY_MS, plusMs } from '../../kernel/clock.ts';
import { PreconditionError } from '../../kernel/errors.ts';
import type { Cents } from '../../kernel/money.ts';
import { entryOf, type JournalEntry } from '../../state/ledger/journal.ts';
import { type Balances, type LedgerTransaction, ledgerTransaction } from '../../state/ledger/postings.ts';
import { fitsBalance, isCancelable, type PaymentStatus } from '../receiving/model.ts';
import { confirmationsFor, type LtcTask, type StoredLtcRequest, type StoredLtcResource } from './model.ts';

/** An output of the chain, as the network reports it. */
export interface ReportedOutput {
  txid: string;
  vout: number;
  litoshi: number;
  /** The time at which the network first saw it. */
  seenAt: Date;
  confirmations: number;
}

/** Everything that the network sees for one address. Of two reports the larger revision is the newer. */
export interface Report {
  revision: number;
  outputs: readonly ReportedOutput[];
}

/** An output in the service's own records. */
export interface RecordedOutput extends ReportedOutput {
  /**
   * The state, which decides the ledger account of its litoshi: `ltc_unmatched`, or `merchant_ltc` for
   * `credited`. An output that lacks confirmations, or is gone after a reorganization, is in neither.
   */
  state: 'seen' | 'gone' | 'unmatched' | 'credited';
  /** The number of times that the output was confirmed: a reorganization may undo a confirmation. */
  postings: number;
}

/** A step of a payment by LTC, with its outputs, its postings and its deadlines. */
export interface LtcChange<R extends StoredLtcResource> {
  readonly previous: R | null;
  readonly resource: R;
  /** The outputs that are new or have changed. */
  readonly outputs: readonly RecordedOutput[];
  readonly transactions: readonly LedgerTransaction[];
  /** The tasks to schedule. The default key is the payment's id. */
  readonly due: readonly { kind: LtcTask; key?: string; at: Date }[];
  readonly done: readonly LtcTask[];
  /** Whether subscribers get an update: only once the payment has an address, or has ended without one. */
  readonly announced: boolean;
}

const NEXT: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  pending: ['paid', 'failed', 'expired'],
  expired: ['paid', 'failed'],
  paid: [],
  failed: [],
  refunded: [],
};

/** Milliseconds after which a missing address is requested again. */
const ADDRESS_AFTER_MS = 10_000;
/** The least milliseconds after which unconfirmed outputs are looked up. */
const LOOK_AFTER_MS = 10 * 60_000;
/** The time after the expiry in which outputs that were seen before it may be confirmed. */
export const GRACE_MS = DAY_MS;

const UNDERPAID = 'underpaid';
const PAID_ELSEWHERE = 'paid_elsewhere';
const CANCELED = 'canceled';

/** The request of a new payment, before the network is asked for its address. */
export function newRequest({
  amountCents,
  litoshi,
}: {
  amountCents: Cents;
  litoshi: number;
}): StoredLtcRequest {
  return {
    address: null,
    litoshi,
    receivedLitoshi: 0,
    confirmations: 0,
    requiredConfirmations: confirmationsFor(amountCents),
    revision: 0,
  };
}

/** Records a new payment. @throws PreconditionError (LIMIT_REACHED) */
export function decideNew<R extends StoredLtcResource>(resource: R, balances: Balances): LtcChange<R> {
  if (!fitsBalance(resource.ltc!.litoshi, balances.ltc_received))
    throw new PreconditionError('LIMIT_REACHED', 'The account holds as much as it can count');
  return {
    previous: null,
    resource,
    outputs: [],
    transactions: [],
    due: [
      { kind: 'ltc.expire', at: resource.expiresAt },
      { kind: 'ltc.address', at: plusMs(resource.createdAt, ADDRESS_AFTER_MS) },
    ],
    done: [],
    announced: false,
  };
}

/** Records the address that the network has given; null if it came too late, or the payment has one. */
export function decideAddress<R extends StoredLtcResource>(
  resource: R,
  address: string,
): LtcChange<R> | null {
  const { status, ltc } = resource;
  if (status !== 'pending' || !ltc || ltc.address !== null) return null;
  return change(resource, { ltc: { ...ltc, address } }, { done: ['ltc.address'] });
}

/** The next request for a missing address; null if none is needed. */
export function decideAddressAgain<R extends StoredLtcResource>(resource: R, now: Date): LtcChange<R> | null {
  if (resource.status !== 'pending' || resource.ltc?.address !== null) return null;
  return unannounced(resource, { due: [{ kind: 'ltc.address', at: plusMs(now, ADDRESS_AFTER_MS) }] });
}

/**
 * Records a report. Null if a newer one was recorded before. An output counts once, wherever and however
 * often it is reported. An output that is gone, or has lost its confirmations, no longer counts, unless it
 * has paid: a paid payment stays paid.
 */
export function decideReport<R extends StoredLtcResource>(
  resource: R,
  report: Report,
  {
    recorded,
    keptPayment,
    now,
  }: {
    /** The outputs of the payment that are recorded. */
    recorded: readonly RecordedOutput[];
    /** The paid payment of the same order, by any method; null if there is none. */
    keptPayment: string | null;
    now: Date;
  },
): LtcChange<R> | null {
  const { ltc } = resource;
  if (!ltc || report.revision <= ltc.revision) return null;
  const reported = new Map(report.outputs.map((output) => [nameOf(output), output]));
  const known = new Set(recorded.map(nameOf));
  const isPaid = resource.paidAt !== null;
  const steps = [
    ...recorded.map((output) =>
      after(output, reported.get(nameOf(output)) ?? null, { paymentId: resource.paymentId, ltc, isPaid }),
    ),
    ...[...reported]
      .filter(([name]) => !known.has(name))
      .map(([, output]) =>
        after({ ...output, state: 'seen', postings: 0 }, output, {
          paymentId: resource.paymentId,
          ltc,
          isPaid,
        }),
      ),
  ];
  const outputs = steps.map(({ output }) => output);
  const transactions = steps.flatMap((each) => each.transactions);
  const seen: StoredLtcRequest = {
    ...ltc,
    ...progressOf(outputs, ltc),
    revision: report.revision,
  };
  const isOpen = resource.status === 'pending' || resource.status === 'expired';
  const unmatched = outputs.filter(({ state }) => state === 'unmatched');
  // LTC that the operator has credited is a part of the amount. It belongs to the merchant already, and is
  // posted once.
  const confirmed = outputs.filter(({ state }) => state === 'unmatched' || state === 'credited');
  if (isOpen && unmatched.length > 0 && sumOf(confirmed) >= ltc.litoshi) {
    if (keptPayment === null && resource.canceledAt === null) {
      const paid = outputs.map((output) =>
        output.state === 'unmatched' ? { ...output, state: 'credited' as const } : output,
      );
      return step(
        resource,
        { ltc: seen, paidAt: now, paidLate: instantOfAmount(confirmed, ltc.litoshi) >= resource.expiresAt },
        'paid',
        {
          outputs: changedOf(recorded, paid),
          transactions: [
            ...transactions,
            credit(
              `ltc.paid:${resource.paymentId}`,
              sumOf(unmatched),
              entryOf('payment', 'payment', resource.paymentId),
            ),
          ],
          done: ['ltc.expire', 'ltc.address'],
        },
      );
    }
    // LTC cannot be returned, so it waits for the operator.
    const failureReason = resource.canceledAt ? CANCELED : PAID_ELSEWHERE;
    return step(resource, { ltc: seen, failureReason, keptPayment }, 'failed', {
      outputs: changedOf(recorded, outputs),
      transactions,
      done: ['ltc.expire', 'ltc.address'],
    });
  }
  const effects = { outputs: changedOf(recorded, outputs), transactions };
  return isSameProgress(ltc, seen)
    ? unannounced(resource, effects, { ltc: seen })
    : change(resource, { ltc: seen }, effects);
}

/**
 * Schedules the next lookup of a pending payment, while its outputs wait for their confirmations: the
 * notification of a confirmation may be lost. Null if no output has come, or if a report newer than
 * `revision` was recorded. `key`: the task that has run and is scheduled again. A later revision has a task
 * of its own.
 */
export function decideLookAgain<R extends StoredLtcResource>(
  resource: R,
  { key, revision }: { key: string; revision: number },
  now: Date,
): LtcChange<R> | null {
  const { status, ltc, createdAt } = resource;
  if (status !== 'pending' || !ltc || ltc.receivedLitoshi === 0 || ltc.revision > revision) return null;
  const afterMs = Math.max(LOOK_AFTER_MS, (now.getTime() - createdAt.getTime()) / 2);
  return unannounced(resource, { due: [{ kind: 'ltc.receive', key, at: plusMs(now, afterMs) }] });
}

/**
 * Ends the time of a payment at its instant, not before; null otherwise. If the whole amount was seen in that
 * time but not confirmed, it waits a day more. Outputs that were seen later do not count, although a report
 * after an outage contains them too.
 */
export function decideExpire<R extends StoredLtcResource>(
  resource: R,
  {
    recorded,
    keptPayment,
    now,
  }: { recorded: readonly RecordedOutput[]; keptPayment: string | null; now: Date },
): LtcChange<R> | null {
  const { status, expiresAt, ltc } = resource;
  if (status !== 'pending' || !ltc || expiresAt > now) return null;
  const inTime = sumOf(recorded.filter(({ seenAt }) => seenAt < expiresAt));
  const graceEnds = plusMs(expiresAt, GRACE_MS);
  if (inTime >= ltc.litoshi && now < graceEnds)
    return unannounced(resource, { due: [{ kind: 'ltc.expire', at: graceEnds }] });
  const done = ['ltc.address'] as const;
  return inTime > 0 && inTime < ltc.litoshi
    ? step(resource, { failureReason: UNDERPAID }, 'failed', { done })
    : step(resource, { keptPayment }, 'expired', { done });
}

/**
 * Cancels a pending payment, which is expired from then on: LTC that is confirmed later waits for the
 * operator. Null if it is canceled already.
 * @throws PreconditionError (NOT_CANCELABLE)
 */
export function decideCancel<R extends StoredLtcResource>(
  resource: R,
  { keptPayment, now }: { keptPayment: string | null; now: Date },
): LtcChange<R> | null {
  if (!isCancelable('payment', resource)) return null;
  return step(resource, { canceledAt: now, keptPayment }, 'expired', { done: ['ltc.expire', 'ltc.address'] });
}

/**
 * Credits the confirmed outputs of a payment that has ended without them, on the operator's command: they
 * move from `ltc_unmatched` to `merchant_ltc`. Null if there are none, or while the payment is pending.
 */
export function decideCreditUnmatched<R extends StoredLtcResource>(
  resource: R,
  recorded: readonly RecordedOutput[],
): LtcChange<R> | null {
  const unmatched = recorded.filter(({ state }) => state === 'unmatched');
  if (unmatched.length === 0 || resource.status === 'pending') return null;
  // A credited output stays credited. So each credit of a payment finds another number, which makes the
  // posting's id unique.
  const nth = recorded.filter(({ state }) => state === 'credited').length;
  return unannounced(resource, {
    outputs: unmatched.map((output) => ({ ...output, state: 'credited' })),
    transactions: [
      credit(
        `ltc.credited:${resource.paymentId}:${nth}`,
        sumOf(unmatched),
        entryOf('ltc_credit', 'payment', resource.paymentId),
      ),
    ],
  });
}

// ── Steps ───────────────────────────────────────────────────────────────────────────────────────

type Effects = Partial<Pick<LtcChange<StoredLtcResource>, 'outputs' | 'transactions' | 'due' | 'done'>>;

/** A step that every reader of the payment can see. */
function change<R extends StoredLtcResource>(
  previous: R,
  changed: Partial<StoredLtcResource>,
  { outputs = [], transactions = [], due = [], done = [] }: Effects,
): LtcChange<R> {
  return {
    previous,
    resource: { ...previous, ...changed, version: previous.version + 1 },
    outputs,
    transactions,
    due,
    done,
    announced: true,
  };
}

/** A step without an update: no member that readers see changes. */
function unannounced<R extends StoredLtcResource>(
  previous: R,
  effects: Effects,
  changed: Partial<StoredLtcResource> = {},
): LtcChange<R> {
  return {
    ...change(previous, {}, effects),
    resource: { ...previous, ...changed },
    announced: false,
  };
}

/** A step to another status. */
function step<R extends StoredLtcResource>(
  previous: R,
  changed: Partial<StoredLtcResource>,
  status: PaymentStatus,
  effects: Effects,
): LtcChange<R> {
  if (!NEXT[previous.status].includes(status))
    throw new RangeError(`a payment by LTC never goes from ${previous.status} to ${status}`);
  return change(previous, { ...changed, status }, effects);
}

// ── Outputs ─────────────────────────────────────────────────────────────────────────────────────

/** The litoshi of the outputs that the chain contains. */
function sumOf(outputs: readonly RecordedOutput[]): number {
  return outputs.reduce((sum, { state, litoshi }) => sum + (state === 'gone' ? 0 : litoshi), 0);
}

export function nameOf({ txid, vout }: Pick<ReportedOutput, 'txid' | 'vout'>): string {
  return `${txid}:${vout}`;
}

/**
 * An output after a report, in which it may be missing (null): a confirmed output is posted, a missing one is
 * reversed.
 */
function after(
  output: RecordedOutput,
  reported: ReportedOutput | null,
  { paymentId, ltc, isPaid }: { paymentId: string; ltc: StoredLtcRequest; isPaid: boolean },
): { output: RecordedOutput; transactions: LedgerTransaction[] } {
  const { state, litoshi, postings } = output;
  if (state === 'credited') return { output, transactions: [] };
  const confirmations = reported?.confirmations ?? 0;
  const isConfirmed = confirmations >= ltc.requiredConfirmations;
  if (state === 'unmatched' && isConfirmed) return { output: { ...output, confirmations }, transactions: [] };
  if (isConfirmed)
    return {
      output: {
        ...output,
        confirmations,
        state: isPaid ? 'credited' : 'unmatched',
        postings: postings + 1,
      },
      transactions: [
        ledgerTransaction(
          `ltc.confirmed:${nameOf(output)}:${postings + 1}`,
          [{ from: 'ltc_received', to: isPaid ? 'merchant_ltc' : 'ltc_unmatched', amount: litoshi }],
          entryOf('payment', 'payment', paymentId),
        ),
      ],
    };
  return {
    output: { ...output, confirmations, state: reported ? 'seen' : 'gone' },
    transactions:
      state === 'unmatched'
        ? [
            ledgerTransaction(
              `ltc.reorganised:${nameOf(output)}:${postings}`,
              [{ from: 'ltc_unmatched', to: 'ltc_received', amount: litoshi }],
              entryOf('payment', 'payment', paymentId),
            ),
          ]
        : [],
  };
}

/** Derives how much of the amount was seen, and how many confirmations all of it has. */
function progressOf(
  outputs: readonly RecordedOutput[],
  { litoshi, requiredConfirmations }: StoredLtcRequest,
): Pick<StoredLtcRequest, 'receivedLitoshi' | 'confirmations'> {
  let missing = litoshi;
  for (const { litoshi: part, confirmations } of outputs
    .filter(({ state }) => state !== 'gone')
    .sort((left, right) => right.confirmations - left.confirmations)) {
    missing -= part;
    if (missing <= 0)
      return {
        receivedLitoshi: sumOf(outputs),
        confirmations: Math.min(confirmations, requiredConfirmations),
      };
  }
  return { receivedLitoshi: sumOf(outputs), confirmations: 0 };
}

/** The time at which the network had first seen all of the amount. */
function instantOfAmount(outputs: readonly RecordedOutput[], litoshi: number): Date {
  let sum = 0;
  const inOrder = [...outputs].sort((left, right) => left.seenAt.getTime() - right.seenAt.getTime());
  return inOrder.find((output) => {
    sum += output.litoshi;
    return sum >= litoshi;
  })!.seenAt;
}

function changedOf(before: readonly RecordedOutput[], after: readonly RecordedOutput[]): RecordedOutput[] {
  const known = new Map(before.map((output) => [nameOf(output), output]));
  return after.filter((output) => {
    const old = known.get(nameOf(output));
    return (
      !old ||
      old.state !== output.state ||
      old.confirmations !== output.confirmations ||
      old.postings !== output.postings
    );
  });
}

function isSameProgress(before: StoredLtcRequest, after: StoredLtcRequest): boolean {
  return before.receivedLitoshi === after.receivedLitoshi && before.confirmations === after.confirmations;
}

function credit(id: string, litoshi: number, entry: JournalEntry): LedgerTransaction {
  return ledgerTransaction(id, [{ from: 'ltc_unmatched', to: 'merchant_ltc', amount: litoshi }], entry);
}
