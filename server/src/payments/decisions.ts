import {
  CHECKOUT_SESSION_MS,
  type CreateCardPaymentInput,
  customerOf,
  type SoldProduct,
} from '../card-payments/model.ts';
import { DAY_MS, plusMs } from '../kernel/clock.ts';
import { NotFoundError, UnavailableError, UpstreamError } from '../kernel/errors.ts';
import type { Cents } from '../kernel/money.ts';
import type { Environment } from '../kernel/tenant.ts';
import {
  type Balances,
  creditWithRecovery,
  type LedgerTransaction,
  ledgerTransaction,
  type Move,
} from '../ledger/postings.ts';
import { causeOfReturn, fitsBalance, type PaymentStatus, type ReturnCause } from '../receiving/model.ts';
import {
  type AccountSettings,
  type CreatePaymentInput,
  NEXT,
  type PaymentTask,
  SHOWN_RETURNS,
  type StoredPayment,
} from './model.ts';

/** A credit of the bank in the service's own records. */
export interface RecordedCredit {
  endToEndId: string;
  paymentId: string;
  amountCents: Cents;
  /** When the payer's bank sent it. */
  receivedAt: Date;
  /** Null where it was accepted. */
  cause: ReturnCause | null;
  returnedAt: Date | null;
  /** The number of times that the bank has refused to send it back. */
  failedReturns: number;
}

/** A step of a payment, with its money, its credit and its deadlines. */
export interface PaymentChange {
  readonly previous: StoredPayment | null;
  readonly payment: StoredPayment;
  readonly credit: RecordedCredit | null;
  readonly transaction: LedgerTransaction | null;
  /** The key of a task is the payment's id where it is left out. */
  readonly due: readonly { kind: PaymentTask; key?: string; at: Date }[];
  /** The kinds of the payment's own tasks that have nothing left to do. */
  readonly done: readonly PaymentTask[];
  /** Whether subscribers get an update: not before the payment has a code, or has ended without one. */
  readonly announced: boolean;
}

/** Milliseconds after which a code that the bank has not given is asked for again. */
const REGISTER_AFTER_MS = 10_000;
/** Milliseconds after which the end of a return is looked up. */
const LOOK_UP_AFTER_MS = 10_000;
/** Milliseconds after which a return that the bank has refused is tried again. */
const REPEAT_AFTER_MS = DAY_MS;

/** The amount and the description of a payment: given, or those of a product. */
export interface Sale {
  amountCents: Cents;
  description: string | null;
}

/** Resolves what is sold. @throws NotFoundError, UpstreamError (the price is unknown) */
export function saleOf(
  { valueCents, description = null }: Pick<CreatePaymentInput, 'valueCents' | 'description'>,
  product: SoldProduct | null,
): Sale {
  if (valueCents != null) return { amountCents: valueCents, description };
  if (!product) throw new NotFoundError('Product not found');
  if (product.priceCents === null)
    throw new UpstreamError('The payments service does not tell what this product costs', {
      retryable: false,
      moneyMayHaveMoved: false,
    });
  return { amountCents: product.priceCents, description: description ?? product.name };
}

/** A new payment, before the bank is asked for its code. @throws UnavailableError (LIMIT_REACHED) */
export function decideCreate(
  input: Pick<
    CreateCardPaymentInput,
    'callbackUrl' | 'customer' | 'metadata' | 'externalId' | 'successUrl' | 'cancelUrl'
  > & { productId?: string | null | undefined },
  { amountCents, description }: Sale,
  {
    paymentId,
    checkoutAttempt,
    environment,
    account,
    balances,
    now,
  }: {
    paymentId: string;
    checkoutAttempt: string | null;
    environment: Environment;
    account: AccountSettings;
    balances: Balances;
    now: Date;
  },
): PaymentChange {
  if (!fitsBalance(amountCents, balances.pix_received))
    throw new UnavailableError('LIMIT_REACHED', 'The account holds as much as it can count');
  const expiresAt = plusMs(now, CHECKOUT_SESSION_MS);
  const payment: StoredPayment = {
    paymentId,
    version: 1,
    status: 'pending',
    method: 'pix',
    amountCents,
    feeCents: environment === 'sandbox' ? 0 : Math.min(account.pixFeeCents, amountCents),
    description,
    callbackUrl: input.callbackUrl ?? null,
    customer: customerOf(input.customer),
    metadata: input.metadata ?? null,
    externalId: input.externalId ?? null,
    productId: input.productId ?? null,
    successUrl: input.successUrl ?? null,
    cancelUrl: input.cancelUrl ?? null,
    checkoutAttempt,
    brCode: null,
    createdAt: now,
    expiresAt,
    paidAt: null,
    paidLate: false,
    endToEndId: null,
    refundedAt: null,
    refundedCents: 0,
    refundingCents: 0,
    refundCount: 0,
    failureReason: null,
    returnedCredits: [],
  };
  return {
    previous: null,
    payment,
    credit: null,
    // In sandbox `pendingRelease` is the sum of the test payments that are pending (the document's 2.4).
    transaction:
      environment === 'sandbox'
        ? ledgerTransaction(`payment.created:${paymentId}`, [
            { from: 'pix_received', to: 'merchant_pending', amount: amountCents },
          ])
        : null,
    due: [
      { kind: 'payment.expire', at: expiresAt },
      { kind: 'payment.register', at: plusMs(now, REGISTER_AFTER_MS) },
    ],
    done: [],
    announced: false,
  };
}

/** Records the code that the bank has given; null where it has come too late, or came before. */
export function decideRegistered(payment: StoredPayment, brCode: string): PaymentChange | null {
  if (payment.status !== 'pending' || payment.brCode !== null) return null;
  return change(payment, { brCode }, { done: ['payment.register'] });
}

/** Records that the bank refuses the payment for good; null where that changes nothing. */
export function decideRefused(
  payment: StoredPayment,
  reason: string,
  environment: Environment,
): PaymentChange | null {
  if (payment.status !== 'pending' || payment.brCode !== null) return null;
  return step(payment, { failureReason: reason }, 'failed', {
    transaction: endOfPending(payment, environment),
    done: ['payment.register', 'payment.expire'],
  });
}

/** The next registration of a payment whose code has not come; null where it needs none. */
export function decideRegisterAgain(payment: StoredPayment, now: Date): PaymentChange | null {
  if (payment.status !== 'pending' || payment.brCode !== null) return null;
  return {
    previous: payment,
    payment,
    credit: null,
    transaction: null,
    due: [{ kind: 'payment.register', at: plusMs(now, REGISTER_AFTER_MS) }],
    done: [],
    announced: false,
  };
}

/** Expires a payment at its instant and not before; null otherwise. Money that comes later still pays it. */
export function decideExpire(
  payment: StoredPayment,
  { environment, now }: { environment: Environment; now: Date },
): PaymentChange | null {
  if (payment.status !== 'pending' || payment.expiresAt > now) return null;
  return step(payment, {}, 'expired', {
    transaction: endOfPending(payment, environment),
    done: ['payment.register'],
  });
}

/** Takes a sandbox payment that was not paid out of the pending ones. */
function endOfPending(
  { paymentId, amountCents }: StoredPayment,
  environment: Environment,
): LedgerTransaction | null {
  if (environment !== 'sandbox') return null;
  return ledgerTransaction(`payment.ended:${paymentId}`, [
    { from: 'merchant_pending', to: 'pix_received', amount: amountCents },
  ]);
}

/** Money that the bank holds for a payment. */
interface ArrivedCredit {
  endToEndId: string;
  amountCents: Cents;
  at: Date;
}

/**
 * Accepts a credit, which pays the payment, or begins to send it back. Null where the credit is known: the bank reports each
 * at least once.
 */
export function decideCredit(
  payment: StoredPayment,
  credit: ArrivedCredit,
  {
    isKnown,
    isOrderClosed,
    environment,
    balances,
    now,
  }: {
    isKnown: boolean;
    /** Whether another payment of the same attempt or order was paid, by any method. */
    isOrderClosed: boolean;
    environment: Environment;
    balances: Balances;
    now: Date;
  },
): PaymentChange | null {
  if (isKnown) return null;
  const { endToEndId, amountCents, at } = credit;
  const { paymentId } = payment;
  const cause = causeOfReturn(payment, { amountCents, isOrderClosed });
  const recorded: RecordedCredit = {
    ...{ endToEndId, paymentId, amountCents, cause },
    receivedAt: at,
    returnedAt: null,
    failedReturns: 0,
  };
  if (cause !== null)
    return change(
      payment,
      { returnedCredits: [...payment.returnedCredits, shownReturn(recorded)].slice(-SHOWN_RETURNS) },
      {
        credit: recorded,
        transaction: ledgerTransaction(`pix_credit.returned:${endToEndId}`, [
          { from: 'pix_received', to: 'refunds_in_transit', amount: amountCents },
        ]),
        due: [{ kind: 'payment.return', key: endToEndId, at: now }],
      },
    );
  return step(payment, { endToEndId, paidAt: at, paidLate: at >= payment.expiresAt }, 'paid', {
    credit: recorded,
    transaction: ledgerTransaction(
      `payment.paid:${paymentId}`,
      paidMoves(payment, { environment, balances }),
    ),
    done: ['payment.expire', 'payment.register'],
  });
}

/** The moves of an accepted credit. PIX has no release: the money is in the balance at once. */
function paidMoves(
  { status, amountCents, feeCents }: StoredPayment,
  { environment, balances }: { environment: Environment; balances: Balances },
): Move[] {
  const from = environment === 'sandbox' && status === 'pending' ? 'merchant_pending' : 'pix_received';
  return [
    { from, to: 'platform_fees', amount: feeCents },
    ...creditWithRecovery(from, amountCents - feeCents, balances),
  ];
}

function shownReturn({
  endToEndId,
  amountCents,
  cause,
  receivedAt,
  returnedAt,
}: RecordedCredit): StoredPayment['returnedCredits'][number] {
  return { endToEndId, amountCents, cause: cause!, receivedAt, returnedAt };
}

/** The outcome of a return at the bank. */
export type ReturnOutcome =
  | { status: 'completed' }
  | { status: 'pending'; settlesAt: Date | null }
  | { status: 'failed' };

/** The rail's name of the current try to send a credit back: a new one for each that the bank has refused. */
export function returnIdOf({ endToEndId, failedReturns }: RecordedCredit): string {
  return `${endToEndId}.${failedReturns}`;
}

/**
 * Records the outcome of a return; null where it has ended already. The payer must get the money: what the bank refuses is
 * tried again each day.
 */
export function decideReturn(
  payment: StoredPayment,
  credit: RecordedCredit,
  outcome: ReturnOutcome,
  now: Date,
): PaymentChange | null {
  if (credit.cause === null || credit.returnedAt) return null;
  const { endToEndId, amountCents } = credit;
  if (outcome.status !== 'completed') {
    const settlesAt = outcome.status === 'pending' ? outcome.settlesAt : plusMs(now, REPEAT_AFTER_MS);
    const at = settlesAt && settlesAt > now ? settlesAt : plusMs(now, LOOK_UP_AFTER_MS);
    return {
      previous: payment,
      payment,
      credit: {
        ...credit,
        failedReturns: credit.failedReturns + (outcome.status === 'failed' ? 1 : 0),
      },
      transaction: null,
      due: [{ kind: 'payment.return', key: endToEndId, at }],
      done: [],
      announced: false,
    };
  }
  const returned = { ...credit, returnedAt: now };
  const returnedCredits = payment.returnedCredits.map((shown) =>
    shown.endToEndId === endToEndId ? shownReturn(returned) : shown,
  );
  return change(
    payment,
    { returnedCredits },
    {
      credit: returned,
      transaction: ledgerTransaction(`pix_credit.sent_back:${endToEndId}`, [
        { from: 'refunds_in_transit', to: 'pix_received', amount: amountCents },
      ]),
    },
  );
}

type Effects = Partial<Pick<PaymentChange, 'credit' | 'transaction' | 'due' | 'done'>>;

/** A step to another status. */
export function step(
  previous: StoredPayment,
  changed: Partial<StoredPayment>,
  status: PaymentStatus,
  effects: Effects,
): PaymentChange {
  if (!NEXT[previous.status].includes(status))
    throw new RangeError(`a payment never goes from ${previous.status} to ${status}`);
  return change(previous, { ...changed, status }, effects);
}

/** A step that every reader of the payment can see. */
export function change(
  previous: StoredPayment,
  changed: Partial<StoredPayment>,
  { credit = null, transaction = null, due = [], done = [] }: Effects,
): PaymentChange {
  return {
    previous,
    payment: { ...previous, ...changed, version: previous.version + 1 },
    credit,
    transaction,
    due,
    done,
    announced: true,
  };
}

/** Whether a payment was announced before: each version has an event but the first, which has no code yet. */
export function wasAnnounced({ version }: StoredPayment): boolean {
  return version > 1;
}
