import { DAY_MS, plusMs } from '../../kernel/clock.ts';
import { PreconditionError } from '../../kernel/errors.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { entryOf, type JournalEntry, type ResourceType } from '../../state/ledger/journal.ts';
import {
  type Balances,
  creditWithRecovery,
  type LedgerAccountName,
  type LedgerTransaction,
  ledgerTransaction,
  type Move,
} from '../../state/ledger/postings.ts';
import {
  causeOfReturn,
  fitsBalance,
  isCancelable,
  type PaymentStatus,
  type Returned,
} from '../receiving/model.ts';
import {
  type ArrivedCredit,
  creditOf,
  type RecordedCredit,
  type ReturnOutcome,
  type Share,
  type ShareMove,
  shownReturn,
  wasSentBack,
} from './credit.ts';
import { type CodedResource, NEXT, type PixTask, SHOWN_RETURNS, type StoredPixResource } from './model.ts';

/**
 * The members in which the families of PIX codes differ: payments, charges and subscriptions. The decisions
 * in this file are the same for all of them.
 */
export interface PixRules<R extends CodedResource> {
  /**
   * The word for a resource of the family, such as `charge`: it begins the ids of postings, and is part of
   * error messages.
   */
  readonly name: ResourceType;
  idOf(resource: R): string;
  /**
   * Adds to the resource the payment that its order keeps, and whether its own money is returned. Omitted if a
   * resource belongs to no order.
   */
  readonly beside?: (resource: R, kept: Returned) => R;
  /** The shares of subaccounts in the amount, in the requested order; the account gets the rest. */
  sharesOf(resource: R): readonly Share[];
}

/** A step of a resource, with its money, its credit and its deadlines. */
export interface PixChange<R extends CodedResource> {
  readonly previous: R | null;
  readonly resource: R;
  readonly credit: RecordedCredit | null;
  readonly transactions: readonly LedgerTransaction[];
  /** The amounts that subaccounts get or give. */
  readonly moves: readonly ShareMove[];
  /** The tasks to schedule. The default key is the resource's id. */
  readonly due: readonly { kind: PixTask; key?: string; at: Date }[];
  /** The kinds of the resource's own tasks that have nothing left to do. */
  readonly done: readonly PixTask[];
  /** Whether subscribers get an update: only once the resource has a code, or has ended without one. */
  readonly announced: boolean;
}

/** Milliseconds after which a missing code is requested again. */
const REGISTER_AFTER_MS = 10_000;
/** Milliseconds after which the end of a return is looked up. */
const LOOK_UP_AFTER_MS = 10_000;
/** Milliseconds after which a return that the bank has refused is tried again. */
const REPEAT_AFTER_MS = DAY_MS;

/** The state that a decision about a credit needs, besides its resource. */
export interface CreditState {
  isKnown: boolean;
  /** The paid payment of the same checkout attempt or order, by any method; null if there is none. */
  keptPayment: string | null;
  environment: Environment;
  balances: Balances;
  now: Date;
}

/** The decisions about a code and its money, which each family makes. Null means that nothing changes. */
export interface CodeDecisions<R extends CodedResource> {
  decideRegistered(resource: R, brCode: string): PixChange<R> | null;
  decideRefused(resource: R, reason: string, environment: Environment): PixChange<R> | null;
  decideRegisterAgain(resource: R, now: Date): PixChange<R> | null;
  decideExpire(
    resource: R,
    state: Pick<CreditState, 'environment' | 'keptPayment' | 'now'>,
  ): PixChange<R> | null;
  decideCredit(resource: R, credit: ArrivedCredit, state: CreditState): PixChange<R> | null;
  decideReturn(resource: R, credit: RecordedCredit, outcome: ReturnOutcome, now: Date): PixChange<R> | null;
}

/** The members of a new resource, before the bank is asked for its code. */
export function newMembers({
  amountCents,
  feeCents,
  environment,
  createdAt,
  expiresAt,
}: {
  amountCents: Cents;
  /** The fee of the account; the sandbox has none. */
  feeCents: Cents;
  environment: Environment;
  createdAt: Date;
  expiresAt: Date;
}) {
  return {
    version: 1,
    status: 'pending',
    amountCents,
    feeCents: environment === 'sandbox' ? 0 : Math.min(feeCents, amountCents),
    brCode: null,
    createdAt,
    expiresAt,
    paidAt: null,
    paidLate: false,
    canceledAt: null,
    endToEndId: null,
    refundedAt: null,
    refundedCents: 0,
    refundingCents: 0,
    disputedCents: 0,
    refundCount: 0,
    failureReason: null,
    returnedCredits: [],
  } as const;
}

/** A step that every reader of the resource can see. */
export function change<R extends CodedResource>(
  previous: R,
  changed: Partial<StoredPixResource> | Partial<R>,
  { credit = null, transactions = [], moves = [], due = [], done = [] }: Effects<R>,
): PixChange<R> {
  return {
    previous,
    resource: { ...previous, ...changed, version: previous.version + 1 },
    credit,
    transactions,
    moves,
    due,
    done,
    announced: true,
  };
}

type Effects<R extends CodedResource> = Partial<
  Pick<PixChange<R>, 'credit' | 'transactions' | 'moves' | 'due' | 'done'>
>;

/** A step to another status. */
export function step<R extends StoredPixResource>(
  previous: R,
  changed: Partial<StoredPixResource> | Partial<R>,
  status: PaymentStatus,
  effects: Effects<R>,
): PixChange<R> {
  if (!NEXT[previous.status].includes(status))
    throw new RangeError(`what a PIX pays never goes from ${previous.status} to ${status}`);
  return change(previous, { ...changed, status }, effects);
}

/**
 * Whether a resource was announced before: each version has an event except the first, which has no code yet.
 */
export function wasAnnounced({ version }: Pick<CodedResource, 'version'>): boolean {
  return version > 1;
}

/** A step without an update: the resource stays as it is, and only its credit or its deadlines change. */
function unannounced<R extends CodedResource>(resource: R, effects: Effects<R>): PixChange<R> {
  return { ...change(resource, {}, effects), resource, announced: false };
}

/** The next registration of a resource without a code; null if it needs none. */
export function decideRegisterAgain<R extends CodedResource>(resource: R, now: Date): PixChange<R> | null {
  if (resource.status !== 'pending' || resource.brCode !== null) return null;
  return unannounced(resource, { due: [{ kind: 'pix.register', at: plusMs(now, REGISTER_AFTER_MS) }] });
}

/** Records a credit that is not accepted, and begins its return. */
export function beginReturn<R extends CodedResource>(
  resource: R,
  credit: RecordedCredit,
  now: Date,
): PixChange<R> {
  const { endToEndId, amountCents } = credit;
  const returnedCredits = [...resource.returnedCredits, shownReturn(credit)].slice(-SHOWN_RETURNS);
  return change(
    resource,
    { returnedCredits },
    {
      credit,
      transactions: [
        ledgerTransaction(
          `pix_credit.returned:${endToEndId}`,
          [{ from: 'pix_received', to: 'refunds_in_transit', amount: amountCents }],
          entryOfReturn(endToEndId),
        ),
      ],
      due: [{ kind: 'pix.return', key: endToEndId, at: now }],
    },
  );
}

/**
 * Records the outcome of a return; null if it has ended already. The payer must get the money, so a refused
 * return is retried each day.
 */
export function decideReturn<R extends CodedResource>(
  resource: R,
  credit: RecordedCredit,
  outcome: ReturnOutcome,
  now: Date,
): PixChange<R> | null {
  if (credit.cause === null || credit.returnedAt) return null;
  const { endToEndId, amountCents } = credit;
  if (outcome.status !== 'completed') {
    const settlesAt = outcome.status === 'pending' ? outcome.settlesAt : plusMs(now, REPEAT_AFTER_MS);
    const at = settlesAt && settlesAt > now ? settlesAt : plusMs(now, LOOK_UP_AFTER_MS);
    return unannounced(resource, {
      credit: {
        ...credit,
        failedReturns: credit.failedReturns + (outcome.status === 'failed' ? 1 : 0),
      },
      due: [{ kind: 'pix.return', key: endToEndId, at }],
    });
  }
  const returned = { ...credit, returnedAt: now };
  const returnedCredits = resource.returnedCredits.map((shown) =>
    shown.endToEndId === endToEndId ? shownReturn(returned) : shown,
  );
  return change(
    resource,
    { returnedCredits },
    {
      credit: returned,
      transactions: [
        ledgerTransaction(
          `pix_credit.sent_back:${endToEndId}`,
          [{ from: 'refunds_in_transit', to: 'pix_received', amount: amountCents }],
          entryOfReturn(endToEndId),
        ),
      ],
    },
  );
}

function entryOfReturn(endToEndId: string): JournalEntry {
  return { kind: 'return', ref: endToEndId, resource: null, feeCents: 0 };
}

/** Creates the decisions about the resources of one family. */
export function pixDecisions<R extends StoredPixResource>(rules: PixRules<R>) {
  const { name } = rules;

  /** Removes an unpaid sandbox resource from the pending amount. */
  function endOfPending(resource: R, environment: Environment): LedgerTransaction[] {
    if (environment !== 'sandbox') return [];
    return [
      ledgerTransaction(
        `${name}.ended:${rules.idOf(resource)}`,
        [{ from: 'merchant_pending', to: 'pix_received', amount: resource.amountCents }],
        entryOf(name, name, rules.idOf(resource)),
      ),
    ];
  }

  /**
   * The postings of an accepted credit. PIX has no release: the money is in the balances at once. The shares
   * do not pass through the owner's balance, so a debt of the owner takes nothing of them.
   */
  function paid(
    resource: R,
    { environment, balances }: { environment: Environment; balances: Balances },
  ): Pick<PixChange<R>, 'transactions' | 'moves'> {
    const { status, amountCents, feeCents } = resource;
    const id = rules.idOf(resource);
    const shares = rules.sharesOf(resource);
    const from: LedgerAccountName =
      environment === 'sandbox' && status === 'pending' ? 'merchant_pending' : 'pix_received';
    const ownerCents = amountCents - feeCents - shares.reduce((sum, share) => sum + share.amountCents, 0);
    const own: Move[] = [
      { from, to: 'platform_fees', amount: feeCents },
      ...creditWithRecovery(from, ownerCents, balances),
    ];
    return {
      // If the shares are the whole amount, the owner gets nothing.
      transactions:
        feeCents + ownerCents > 0
          ? [ledgerTransaction(`${name}.paid:${id}`, own, entryOf(name, name, id, feeCents))]
          : [],
      moves: shares.map(({ subaccountId, amountCents: amount }, nth) => ({
        kind: 'split_in',
        subaccountId,
        refId: id,
        amountCents: amount,
        transaction: ledgerTransaction(
          `${name}.split:${id}:${nth}`,
          [{ from, to: 'merchant_subaccounts', amount }],
          entryOf('split', name, id),
          subaccountId,
        ),
      })),
    };
  }

  /**
   * Ends a resource whose amount arrived after another payment of its order was paid, or after it was
   * canceled. `back` begins the return.
   */
  function failed(
    resource: R,
    back: PixChange<R>,
    {
      failureReason,
      environment,
      keptPayment,
    }: { failureReason: string; environment: Environment; keptPayment: string | null },
  ): PixChange<R> {
    const { returnedCredits } = back.resource;
    const ended = resource.status === 'pending' ? endOfPending(resource, environment) : [];
    const { resource: after, ...change } = step(resource, { returnedCredits, failureReason }, 'failed', {
      credit: back.credit,
      transactions: [...ended, ...back.transactions],
      due: back.due,
      done: ['pix.expire', 'pix.register'],
    });
    return { ...change, resource: rules.beside?.(after, { returned: true, keptPayment }) ?? after };
  }

  /** Ends a pending resource that nobody has paid. */
  function expired(
    resource: R,
    changed: Partial<StoredPixResource>,
    {
      environment,
      keptPayment,
      done,
    }: { environment: Environment; keptPayment: string | null; done: readonly PixTask[] },
  ): PixChange<R> {
    const { resource: after, ...change } = step(resource, changed, 'expired', {
      transactions: endOfPending(resource, environment),
      done,
    });
    return { ...change, resource: rules.beside?.(after, { returned: false, keptPayment }) ?? after };
  }

  return {
    /** Records a new resource, before the bank is asked for its code. @throws PreconditionError (LIMIT_REACHED) */
    decideNew(resource: R, { environment, balances }: { environment: Environment; balances: Balances }) {
      const { amountCents, createdAt, expiresAt } = resource;
      if (!fitsBalance(amountCents, balances.pix_received))
        throw new PreconditionError('LIMIT_REACHED', 'The account holds as much as it can count');
      const created: PixChange<R> = {
        previous: null,
        resource,
        credit: null,
        // In sandbox `pendingRelease` is the sum of the test payments that are pending (the document's 2.4).
        transactions:
          environment === 'sandbox'
            ? [
                ledgerTransaction(
                  `${name}.created:${rules.idOf(resource)}`,
                  [{ from: 'pix_received', to: 'merchant_pending', amount: amountCents }],
                  entryOf(name, name, rules.idOf(resource)),
                ),
              ]
            : [],
        moves: [],
        due: [
          { kind: 'pix.expire', at: expiresAt },
          { kind: 'pix.register', at: plusMs(createdAt, REGISTER_AFTER_MS) },
        ],
        done: [],
        announced: false,
      };
      return created;
    },

    /** Records the code that the bank has given; null if it came too late, or the resource has one. */
    decideRegistered(resource: R, brCode: string): PixChange<R> | null {
      if (resource.status !== 'pending' || resource.brCode !== null) return null;
      return change(resource, { brCode }, { done: ['pix.register'] });
    },

    /** Records that the bank refuses the code for good; null if that changes nothing. */
    decideRefused(resource: R, reason: string, environment: Environment): PixChange<R> | null {
      if (resource.status !== 'pending' || resource.brCode !== null) return null;
      return step(resource, { failureReason: reason }, 'failed', {
        transactions: endOfPending(resource, environment),
        done: ['pix.register', 'pix.expire'],
      });
    },

    decideRegisterAgain,

    /** Expires a resource at its instant and not before; null otherwise. Money that comes later still pays it. */
    decideExpire(
      resource: R,
      { environment, keptPayment, now }: Pick<CreditState, 'environment' | 'keptPayment' | 'now'>,
    ): PixChange<R> | null {
      if (resource.status !== 'pending' || resource.expiresAt > now) return null;
      return expired(resource, {}, { environment, keptPayment, done: ['pix.register'] });
    },

    /**
     * Cancels a pending resource, which is expired from then on: later money is sent back. Null if it is
     * canceled already.
     * @throws PreconditionError (NOT_CANCELABLE)
     */
    decideCancel(
      resource: R,
      { environment, keptPayment, now }: Pick<CreditState, 'environment' | 'keptPayment' | 'now'>,
    ): PixChange<R> | null {
      if (!isCancelable(name, resource)) return null;
      return expired(
        resource,
        { canceledAt: now },
        { environment, keptPayment, done: ['pix.expire', 'pix.register'] },
      );
    },

    /**
     * Accepts a credit, which pays the resource, or begins its return. Null if the credit is known: the bank
     * reports each at least once.
     */
    decideCredit(
      resource: R,
      credit: ArrivedCredit,
      { isKnown, keptPayment, environment, balances, now }: CreditState,
    ): PixChange<R> | null {
      if (isKnown) return null;
      const { endToEndId, amountCents, at } = credit;
      const id = rules.idOf(resource);
      const cause =
        causeOfReturn(resource, { amountCents, isOrderClosed: keptPayment !== null }) ??
        (wasSentBack(credit) ? 'not_payable' : null);
      if (cause !== null) {
        const back = beginReturn(resource, creditOf(id, credit, cause), now);
        // A resource without an order has no member that shows a return of its money, so it stays expired.
        return rules.beside &&
          (cause === 'paid_elsewhere' || cause === 'canceled') &&
          resource.status !== 'failed'
          ? failed(resource, back, { failureReason: cause, environment, keptPayment })
          : back;
      }
      const known = { endToEndId, paidAt: at, paidLate: at >= resource.expiresAt };
      return step(resource, known, 'paid', {
        credit: creditOf(id, credit, null),
        ...paid(resource, { environment, balances }),
        done: ['pix.expire', 'pix.register'],
      });
    },

    decideReturn,
  };
}
