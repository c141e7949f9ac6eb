import { behindChange, NotFoundError } from '../../kernel/errors.ts';
import { objectId } from '../../kernel/ids.ts';
import { type OrderStatus, orderStatusOf } from '../../kernel/orders.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Acquirer, ChargeStatus } from '../../rails/acquirer.ts';
import { type Committer, joined, loadRecords, type State } from '../../state/commit/commit.ts';
import { closeOpenPayments, type OrderPayments, readToClose } from '../../state/commit/orders.ts';
import type { ProductContent } from '../../state/commit/product-content.ts';
import type { Database } from '../../state/db/database.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import { isCurrentTask } from '../../state/work/store.ts';
import { tokenOf } from '../checkout/model.ts';
import { fitsBalance } from '../receiving/model.ts';
import { returns, writesOfReturn } from '../returns/collections.ts';
import { returnIdOf } from '../returns/model.ts';
import {
  cardOrderPayments,
  cardPayments,
  orderOf,
  otherCardPaymentsOf,
  readContent,
  readWithOtherPayments,
  refundDetailsOf,
  saleOf,
  writesWithContent,
} from './collections.ts';
import {
  type CardPaymentChange,
  type CardPaymentTask,
  decideCharge,
  decideExpire,
  decideOutcome,
  decideRelease,
} from './decisions.ts';
import type { ChargeRefusal, HostedCheckout, PayResult } from './hosted-checkout.ts';
import type { AttemptOutcome, CardTestingGuard, ChargeAttempt, StoredCardPayment } from './model.ts';
import { decideReturn, railReturnIdOf, returnOf } from './returning.ts';
import type { AccountCollection } from './service.ts';
import { cardPaymentTable } from './store.ts';

/** Counts the acquirer's answers to the returns of money. A return that it refuses is retried after a day. */
export interface ReturnMeter {
  onRefund(refund: { of: 'card_payment'; origin: 'automatic'; outcome: 'completed' | 'failed' }): void;
}

/**
 * Charges the cards of payments, and handles their due tasks. The acquirer is called between two commits,
 * never inside one: the first records the open charge, the second its outcome. After a crash between them a
 * task looks the charge up at the acquirer; a charge that it never received is made void there. So nobody
 * pays without a record.
 */
export function createCharging({
  database,
  committer,
  acquirer,
  accounts,
  guard,
  otherMethods,
  content,
  meter,
  onFault,
}: {
  database: Database;
  committer: Committer;
  acquirer: Acquirer;
  accounts: AccountCollection;
  guard: CardTestingGuard;
  /** The payments of an order that other methods pay. */
  otherMethods: readonly OrderPayments[];
  content: ProductContent;
  meter: ReturnMeter;
  /** Called with the error if the acquirer did not answer, or a card could not be counted. */
  onFault: (fault: unknown) => void;
}): HostedCheckout & { tasks: Record<CardPaymentTask, TaskHandler> } {
  const methods = [cardOrderPayments, ...otherMethods];

  /**
   * Applies a decision to a locked payment. Returns the payment afterwards, or the decision's refusal.
   * `mayPay`: the decision can make the payment paid, which closes its order.
   */
  function advance<Refusal extends string = never>(
    tenant: Tenant,
    orderCode: string,
    decide: (payment: StoredCardPayment, state: State) => CardPaymentChange | Refusal | null,
    { mayPay = false } = {},
  ): Promise<{ payment: StoredCardPayment; refusal: Refusal | null }> {
    return committer.change<{ payment: StoredCardPayment; refusal: Refusal | null }>({
      tenant,
      read: (reader) =>
        Promise.all([
          reader.load(accounts, tenant.accountId),
          readWithOtherPayments(reader, orderCode).then(
            (payment) =>
              payment &&
              Promise.all([
                readContent(reader, payment, content),
                ...otherMethods.map((method) => method.read(reader, orderOf(payment))),
                mayPay && readToClose(methods, reader, orderOf(payment)),
              ]),
          ),
        ]),
      decide(state) {
        const payment = state.get(cardPayments, orderCode);
        if (!payment) throw new NotFoundError('Card payment not found');
        const change = decide(payment, state);
        if (change === null) return { outcome: { payment, refusal: null } };
        if (typeof change === 'string') return { outcome: { payment, refusal: change } };
        const own = writesWithContent(change, content, state);
        const writes =
          mayPay && change.payment.status === 'paid'
            ? joined(own, closeOpenPayments(methods, state, orderOf(payment), own))
            : own;
        const begun = returnOf(change, state.now);
        return {
          outcome: { payment: change.payment, refusal: null },
          writes: begun ? joined(writes, writesOfReturn(begun, refundDetailsOf(change.payment))) : writes,
        };
      },
    });
  }

  /** The other payments of the same checkout attempt and of the same order, by any method. */
  const otherPaymentsOfOrder = (state: State, payment: StoredCardPayment) => [
    ...otherCardPaymentsOf(state, payment),
    ...otherMethods.flatMap((method) => method.paymentsOf(state, orderOf(payment))),
  ];

  /** Records the outcome of a charge, and counts it for the guard if this call is the first to record it. */
  async function recordOutcome(
    attempt: ChargeAttempt,
    orderCode: string,
    chargeId: string,
    outcome: ChargeStatus,
  ): Promise<StoredCardPayment> {
    const { tenant } = attempt;
    let isNew = false;
    const { payment: recorded } = await advance(
      tenant,
      orderCode,
      (payment, state) => {
        const change = decideOutcome(payment, {
          chargeId,
          outcome,
          otherPayments: otherPaymentsOfOrder(state, payment),
          account: state.need(accounts, tenant.accountId),
          now: state.now,
        });
        isNew = change !== null;
        return change;
      },
      { mayPay: true },
    );
    const { status } = outcome;
    await count(attempt, isNew && (status === 'approved' || status === 'declined') ? status : 'unused');
    return recorded;
  }

  /** Reports an outcome to the guard. It never fails: a charge stands whether or not it was counted. */
  function count(attempt: ChargeAttempt, outcome: AttemptOutcome): Promise<void> {
    return guard.record(attempt, outcome).catch(onFault);
  }

  /** The status of an order that another payment has paid: then the unpaid payment takes no more cards. */
  async function closedOrderOf(tenant: Tenant, payment: StoredCardPayment): Promise<OrderStatus | null> {
    if (payment.status !== 'pending' && payment.status !== 'expired' && !payment.returned) return null;
    const paid = await Promise.all(
      methods.map((method) => method.selectPaid(database.sql, tenant, orderOf(payment))),
    );
    return orderStatusOf(paid.flat());
  }

  return {
    async open(orderCode) {
      const found = await cardPaymentTable.loadHosted(database.sql, orderCode);
      if (!found) return null;
      const { tenant, resource: payment, merchantName } = found;
      const sale = payment.paidAt ? saleOf(payment) : null;
      const [orderStatus, delivered] = await Promise.all([
        closedOrderOf(tenant, payment),
        sale ? content.select(database.sql, tenant, sale.payment) : [],
      ]);
      return { accountId: tenant.accountId, payment, merchantName, orderStatus, delivered };
    },

    cardRefusal: (cardNumber) => acquirer.refusal(cardNumber),

    async pay(orderCode, card, address = null): Promise<PayResult> {
      const found = await cardPaymentTable.loadHosted(database.sql, orderCode);
      if (!found) throw new NotFoundError('Card payment not found');
      const { tenant } = found;
      const attempt = { tenant, tokenId: tokenOf(found.resource), address };
      const retryAt = await guard.admit(attempt);
      if (retryAt) return { kind: 'held_back', retryAt, payment: found.resource };
      const chargeId = `chg_${objectId()}`;
      const { payment: charging, refusal } = await advance<ChargeRefusal>(
        tenant,
        orderCode,
        (payment, state) =>
          fitsBalance(payment.amountCents, state.balances.acquirer)
            ? decideCharge(payment, {
                chargeId,
                otherPayments: otherPaymentsOfOrder(state, payment),
                now: state.now,
              })
            : 'not_payable',
      ).catch(async (error: unknown) => {
        // The acquirer was not called: an outage of the database is no declined card.
        await count(attempt, 'unused');
        throw error;
      });
      if (refusal !== null) {
        await count(attempt, 'unused');
        return { kind: refusal, payment: charging };
      }

      const { amountCents, customer } = charging;
      const payer = customer && { name: customer.name, email: customer.email, taxId: customer.taxId };
      const charge = { id: chargeId, amountCents, card, payer };
      const outcome = await acquirer.charge(charge).catch((error: unknown): ChargeStatus => {
        // The money may have been taken: the payer must not see a failure, and pay again.
        onFault(error);
        return { status: 'pending', settlesAt: null };
      });
      const payment = await recordOutcome(attempt, orderCode, chargeId, outcome).catch((error: unknown) => {
        // The charge stands, and its task records the outcome.
        throw behindChange(error);
      });
      // A concurrent lookup may have recorded the outcome first.
      if (payment.status === 'paid') return { kind: 'paid', payment };
      if (payment.returned) return { kind: 'returned', payment };
      // The payment has expired or was canceled meanwhile: the payer's page must not ask for another card.
      if (payment.status === 'expired' && outcome.status !== 'pending')
        return { kind: 'not_payable', payment };
      switch (outcome.status) {
        case 'approved':
          return { kind: 'paid', payment };
        case 'pending':
          return { kind: 'processing', payment };
        case 'void':
          return { kind: 'not_charged', payment };
        case 'declined':
          return payment.status === 'failed'
            ? { kind: 'failed', payment }
            : { kind: 'declined', reason: outcome.reason, payment };
      }
    },

    tasks: {
      'card_payment.expire': async (task) => {
        await advance(task, task.key, (payment, state) =>
          decideExpire(payment, { otherPayments: otherPaymentsOfOrder(state, payment), now: state.now }),
        );
      },
      'card_payment.resolve': async (task) => {
        const found = await cardPaymentTable.loadHosted(database.sql, task.key);
        const chargeId = found?.resource.openChargeId;
        if (!chargeId) return;
        // The charge of this task was declined, and the open one has just begun and has a task of its own. If
        // it were resolved now, that would void a card that the acquirer is about to approve.
        if (!(await isCurrentTask(database.sql, task))) return;
        // The payer's address is not stored.
        const attempt = { tenant: task, tokenId: tokenOf(found.resource), address: null };
        await recordOutcome(attempt, task.key, chargeId, await acquirer.resolve(chargeId));
      },
      'card_payment.release': async (task) => {
        await advance(task, task.key, (payment, state) => decideRelease(payment, state.balances, state.now));
      },
      'card_payment.return': async (task) => {
        const found = await cardPaymentTable.loadHosted(database.sql, task.key);
        const chargeId = found?.resource.paidChargeId;
        if (!chargeId) return;
        const returnId = returnIdOf(chargeId);
        const [stored] = await loadRecords(returns, database.sql, task, [returnId]);
        if (!stored || stored.returnedAt) return;
        const outcome = await acquirer.refund({
          id: railReturnIdOf(stored),
          railChargeId: chargeId,
          amountCents: stored.amountCents,
        });
        const isRecorded = await committer.change<boolean>({
          tenant: task,
          read: (reader) => reader.load(returns, returnId),
          decide(state) {
            const current = state.need(returns, returnId);
            // Another call of this task has recorded a refusal meanwhile: this outcome belongs to an id that
            // is used up.
            const isNew = current.failedReturns === stored.failedReturns;
            const change = isNew ? decideReturn(current, outcome, found.resource, state.now) : null;
            if (!change) return { outcome: false };
            const { transaction, lookAt } = change;
            const writes = writesOfReturn(change.stored, refundDetailsOf(found.resource));
            return {
              outcome: true,
              writes: joined(writes, {
                transactions: transaction ? [transaction] : [],
                tasks: lookAt ? [{ kind: 'card_payment.return', key: task.key, at: lookAt }] : [],
              }),
            };
          },
        });
        if (isRecorded && outcome.status !== 'pending')
          meter.onRefund({ of: 'card_payment', origin: 'automatic', outcome: outcome.status });
      },
    },
  };
}
