import type { Committer, Reader, State } from '../commit/commit.ts';
import type { OrderPayments } from '../commit/orders.ts';
import type { Database } from '../db/database.ts';
import { createCoalescedReads } from '../kernel/coalesce.ts';
import { behindChange } from '../kernel/errors.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { PixCredit, PixRail, PixRegistration } from '../rails/pix.ts';
import { closesOrder, type ReturnCause } from '../receiving/model.ts';
import type { TaskHandler } from '../work/queue.ts';
import { credits, orderOf, payments, pixOrderPayments, writesOf } from './collections.ts';
import {
  decideCredit,
  decideExpire,
  decideRefused,
  decideRegisterAgain,
  decideRegistered,
  decideReturn,
  type PaymentChange,
  type RecordedCredit,
  returnIdOf,
} from './decisions.ts';
import {
  type HostedPixCheckout,
  type PaymentTask,
  type PixReceiver,
  type PixSimulation,
  type RegisterPayment,
  type StoredPayment,
  txidOf,
} from './model.ts';
import type { AccountCollection } from './service.ts';
import { selectByPaymentId, selectCredits, selectPayments } from './store.ts';

/** Counts what comes from the bank. */
export interface PixMeter {
  onPixCode(outcome: PixRegistration['status']): void;
  /** `accepted`, or the cause for which the credit is sent back. */
  onPixCredit(outcome: 'accepted' | ReturnCause): void;
}

/**
 * Calls the bank for PIX payments, and handles their due tasks. The bank is called between two commits, never inside one: a
 * payment and a return are recorded before, under ids that the bank knows them by, so that a retry after a crash has one
 * effect.
 */
export function createPixCharging({
  database,
  committer,
  rail,
  accounts,
  otherMethods,
  meter,
  onFault,
}: {
  database: Database;
  committer: Committer;
  rail: PixRail;
  accounts: AccountCollection;
  /** The payments of an order that other methods pay. */
  otherMethods: readonly OrderPayments[];
  meter: PixMeter;
  /** Receives the error of a bank that did not answer. */
  onFault: (fault: unknown) => void;
}): PixReceiver &
  PixSimulation &
  HostedPixCheckout & { register: RegisterPayment; tasks: Record<PaymentTask, TaskHandler> } {
  const methods = [pixOrderPayments, ...otherMethods];
  const sharedReceipts = createCoalescedReads<StoredPayment | null>();

  /** Applies a decision to a locked payment. Returns the payment as it is afterwards; null where there is none. */
  function advance(
    tenant: Tenant,
    paymentId: string,
    decide: (payment: StoredPayment, state: State) => PaymentChange | null,
    readMore: (reader: Reader, payment: StoredPayment) => Promise<unknown> = async () => undefined,
  ): Promise<StoredPayment | null> {
    return committer.change<StoredPayment | null>({
      tenant,
      async read(reader) {
        const payment = await reader.load(payments, paymentId);
        if (payment) await readMore(reader, payment);
      },
      decide(state) {
        const payment = state.get(payments, paymentId);
        const change = payment && decide(payment, state);
        return change ? { outcome: change.payment, writes: writesOf(change) } : { outcome: payment };
      },
    });
  }

  async function registerCode(tenant: Tenant, payment: StoredPayment): Promise<PixRegistration> {
    const [account] = await accounts.load(database.sql, tenant, [tenant.accountId]);
    return rail.register({
      txid: txidOf(payment.paymentId),
      tenant,
      amountCents: payment.amountCents,
      expiresAt: payment.expiresAt,
      merchantName: account!.name,
      payer: payment.customer,
    });
  }

  async function record(
    tenant: Tenant,
    payment: StoredPayment,
    registration: PixRegistration,
  ): Promise<StoredPayment> {
    const changed = await advance(tenant, payment.paymentId, (current, { now }) => {
      switch (registration.status) {
        case 'registered':
          return decideRegistered(current, registration.brCode);
        case 'refused':
          return decideRefused(current, registration.reason, tenant.environment);
        case 'pending':
          return decideRegisterAgain(current, now);
      }
    });
    meter.onPixCode(registration.status);
    return changed ?? payment;
  }

  async function receive(tenant: Tenant, paymentId: string): Promise<StoredPayment | null> {
    let [payment = null] = await selectPayments(database.sql, tenant, [paymentId]);
    if (!payment) return null;
    for (const credit of await rail.creditsOf(txidOf(paymentId)))
      payment = await recordCredit(tenant, payment, credit);
    return payment;
  }

  /** Records what has come for a payment, as far as the bank answers. Payers who look at the same page share the request. */
  async function askBank(tenant: Tenant, payment: StoredPayment): Promise<StoredPayment> {
    const { paymentId, status, brCode } = payment;
    if (brCode === null || (status !== 'pending' && status !== 'expired')) return payment;
    const received = await sharedReceipts(paymentId, () => receive(tenant, paymentId)).catch(
      (error: unknown) => {
        onFault(error);
        return null;
      },
    );
    return received ?? payment;
  }

  async function recordCredit(
    tenant: Tenant,
    payment: StoredPayment,
    credit: PixCredit,
  ): Promise<StoredPayment> {
    let recorded: RecordedCredit | null = null;
    const changed = await advance(
      tenant,
      payment.paymentId,
      (current, state) => {
        const siblings = methods.flatMap((method) => method.paymentsOf(state, orderOf(current)));
        const change = decideCredit(current, credit, {
          isKnown: state.get(credits, credit.endToEndId) !== null,
          isOrderClosed: siblings.some(closesOrder),
          environment: tenant.environment,
          balances: state.balances,
          now: state.now,
        });
        recorded = change?.credit ?? null;
        return change;
      },
      (reader, current) =>
        Promise.all([
          reader.load(credits, credit.endToEndId),
          ...methods.map((method) => method.read(reader, orderOf(current))),
        ]),
    );
    if (recorded !== null) meter.onPixCredit((recorded as RecordedCredit).cause ?? 'accepted');
    return changed ?? payment;
  }

  return {
    async register(tenant, payment) {
      const registration = await registerCode(tenant, payment).catch((error: unknown): PixRegistration => {
        // The task of the payment asks again.
        onFault(error);
        return { status: 'pending' };
      });
      return record(tenant, payment, registration).catch((error: unknown) => {
        throw behindChange(error);
      });
    },

    receive,

    async expireNow(tenant, paymentId) {
      await receive(tenant, paymentId);
      return advance(tenant, paymentId, (payment, { now }) =>
        decideExpire({ ...payment, expiresAt: now }, { environment: tenant.environment, now }),
      );
    },

    async open(paymentId, { asksBank } = { asksBank: false }) {
      const found = await selectByPaymentId(database.sql, paymentId);
      if (!found) return null;
      const { tenant, merchantName } = found;
      const payment = asksBank ? await askBank(tenant, found.payment) : found.payment;
      if (payment.status !== 'pending' && payment.status !== 'expired')
        return { payment, merchantName, paidElsewhere: false };
      const paid = await Promise.all(
        methods.map((method) => method.selectPaid(database.sql, tenant, orderOf(payment))),
      );
      return { payment, merchantName, paidElsewhere: paid.flat().some(closesOrder) };
    },

    tasks: {
      async 'payment.register'(task) {
        const [payment] = await selectPayments(database.sql, task, [task.key]);
        if (payment?.status !== 'pending' || payment.brCode !== null) return;
        await record(task, payment, await registerCode(task, payment));
      },
      async 'payment.expire'(task) {
        // What was paid in time and not reported yet is looked up first.
        await receive(task, task.key);
        await advance(task, task.key, (payment, { now }) =>
          decideExpire(payment, { environment: task.environment, now }),
        );
      },
      async 'payment.receive'(task) {
        // The key names the credit behind the payment.
        await receive(task, task.key.split(' ')[0]!);
      },
      async 'payment.return'(task) {
        const [credit] = await selectCredits(database.sql, task, [task.key]);
        if (!credit?.cause || credit.returnedAt) return;
        const { endToEndId, amountCents, paymentId } = credit;
        const outcome = await rail.refund({ id: returnIdOf(credit), chargeId: endToEndId, amountCents });
        await advance(
          task,
          paymentId,
          (payment, state) => {
            const current = state.need(credits, endToEndId);
            // Another call of this task has recorded a refusal meanwhile: the outcome is of an id that is used up.
            if (current.failedReturns !== credit.failedReturns) return null;
            return decideReturn(payment, current, outcome, state.now);
          },
          (reader) => reader.load(credits, endToEndId),
        );
      },
    },
  };
}
