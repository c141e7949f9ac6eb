import type { StoreControls, StoreService } from '../../catalogue/store/model.ts';
import { parseBrCode } from '../../kernel/br-code.ts';
import { NotFoundError, ValidationError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { CardPaymentService, StoredCardPayment } from '../../money-in/card-payments/model.ts';
import { type ChargeService, isChargeId, type StoredCharge } from '../../money-in/charges/model.ts';
import type { DisputeControls, StoredDispute } from '../../money-in/disputes/model.ts';
import type { LtcReceiver } from '../../money-in/ltc/model.ts';
import { isPaymentId, type PaymentService, type StoredPayment } from '../../money-in/payments/model.ts';
import {
  type Payer,
  type PixCodeReceiver,
  type StoredPixResource,
  txidOf,
} from '../../money-in/pix/model.ts';
import type { TestPaymentControls } from '../../money-in/sandbox/model.ts';
import {
  isAuthorisable,
  isLive,
  type StoredSubscription,
  type SubscriptionReceiver,
  type SubscriptionService,
} from '../../money-in/subscriptions/model.ts';
import { maskDestination, type PayoutService } from '../../money-out/payouts/model.ts';
import type { SubaccountPayoutService } from '../../money-out/subaccounts/model.ts';
import type { WalletControls } from '../../money-out/wallet/model.ts';
import type { BookedTransfer, SimulatedBank } from '../../rails/simulated/bank.ts';
import type { SimulatedLitecoin } from '../../rails/simulated/litecoin.ts';
import { type SimulatedPix, txidOfCode } from '../../rails/simulated/pix.ts';
import type {
  Controls,
  DisputeLine,
  PixPaymentLine,
  ReturnableTransfer,
  SubscriptionLine,
  SubscriptionStep,
  TransferInFlight,
} from './model.ts';

const MAX_LINES = 50;
/** The number of newest PIX payments that are listed: each has many controls. An older one is paid by its code or its id. */
const MAX_PIX_LINES = 12;

/**
 * The controls of the simulated bank and acquirer, and those of disputes, credits and test payments, which
 * have no rail.
 */
export function createControls({
  bank,
  payouts,
  subaccounts,
  cardPayments,
  payments,
  charges,
  subscriptions,
  codes,
  pix,
  litecoin,
  ltc,
  wallet,
  testPayments,
  store,
}: {
  bank: SimulatedBank;
  payouts: PayoutService;
  subaccounts: SubaccountPayoutService;
  cardPayments: CardPaymentService<StoredCardPayment>;
  payments: PaymentService<StoredPayment>;
  charges: ChargeService<StoredCharge>;
  subscriptions: SubscriptionService<StoredSubscription> & SubscriptionReceiver;
  codes: PixCodeReceiver;
  pix: SimulatedPix;
  litecoin: SimulatedLitecoin;
  ltc: LtcReceiver<StoredPayment>;
  wallet: WalletControls & DisputeControls;
  testPayments: Pick<TestPaymentControls, 'listTestPayments'>;
  store: Pick<StoreService, 'count'> & StoreControls;
}): Controls {
  /** Applies a control of the bank, and has the slice that sent the transfer look it up. */
  async function apply(tenant: Tenant, id: string, control: () => Promise<boolean>): Promise<boolean> {
    if (!(await bank.has(tenant, id))) throw new NotFoundError('Transfer not found');
    if (!(await control())) return false;
    if (await payouts.find(tenant, id)) await payouts.recheck(tenant, id);
    else await subaccounts.recheck(tenant, id);
    return true;
  }

  /** @throws NotFoundError */
  async function paymentOf(tenant: Tenant, id: string): Promise<{ brCode: string | null }> {
    const payment = isChargeId(id) ? await charges.find(tenant, id) : await payments.find(tenant, id);
    if (!payment) throw new NotFoundError('Payment not found');
    return payment;
  }

  async function outputsOf(id: string) {
    const { outputs } = await litecoin.reportOf(id);
    return outputs.map(({ txid, litoshi, confirmations }) => ({ txid, litoshi, confirmations }));
  }

  async function play(subscription: StoredSubscription, step: SubscriptionStep): Promise<boolean> {
    const txid = txidOf(subscription.subscriptionId);
    const { status } = subscription;
    switch (step) {
      case 'authorise':
        return isAuthorisable(subscription) && (await pix.pay({ txid, key: step })) !== null;
      case 'reject':
        return isAuthorisable(subscription) && pix.endByPayer(txid);
      case 'cancel':
        return isLive(status) && pix.endByPayer(txid);
      case 'debit':
        return isLive(status) && pix.decideDebit(txid, 'paid');
      case 'fail':
        return isLive(status) && pix.decideDebit(txid, 'failed');
    }
  }

  return {
    async transfers(tenant) {
      const lines = await bank.list({ limit: MAX_LINES, unfinishedOf: tenant });
      return lines.map(toTransferInFlight).filter((line) => line !== null);
    },
    async returnableTransfers(tenant) {
      const lines = await bank.list({ limit: MAX_PIX_LINES, returnableOf: tenant });
      return lines.map(toLine);
    },
    returnTransfer: (tenant, id) => apply(tenant, id, () => bank.sendBack(id)),
    settleTransfer: (tenant, id) => apply(tenant, id, () => bank.settle(id)),
    denyTransfer: (tenant, id, reason) => apply(tenant, id, () => bank.deny(id, reason)),
    delayTransfer: (tenant, id, until) => apply(tenant, id, () => bank.delay(id, until)),

    async refundable(tenant) {
      const { items } = await cardPayments.list(tenant, { end: 'first', limit: MAX_LINES, status: ['paid'] });
      return items.map(({ resource: { orderCode, amountCents, description, paidAt } }) => ({
        orderCode,
        amountCents,
        description,
        paidAt,
      }));
    },

    async disputes(tenant) {
      const newest = await Promise.all(
        (['open', 'under_review', 'lost'] as const).map((status) =>
          wallet.listDisputes(tenant, { limit: MAX_LINES, status: [status] }),
        ),
      );
      return newest
        .flat()
        .sort((left, right) => right.createdAt.getTime() - left.createdAt.getTime())
        .map(toDisputeLine);
    },
    async openDispute(tenant, { id, ...claim }) {
      if (id !== undefined) {
        const type = isPaymentId(id) ? 'payment' : isChargeId(id) ? 'charge' : 'card_payment';
        const resource = { type, id } as const;
        // A waiting claim already covers the rest of the payment, so a repeated call adds none.
        if (await wallet.hasWaitingClaim(tenant, resource)) return 'waits';
        const dispute = await wallet.disputePayment(tenant, resource, claim);
        if (dispute) return toDisputeLine(dispute);
        return (await wallet.hasWaitingClaim(tenant, resource)) ? 'waits' : null;
      }
      const opened = await wallet.openDispute(tenant, claim);
      const found = (await wallet.listDisputes(tenant, { limit: MAX_LINES })).find(
        ({ disputeId }) => disputeId === opened,
      );
      if (!found) throw new NotFoundError('Dispute not found');
      return toDisputeLine(found);
    },
    closeDispute: async (tenant, id, outcome) =>
      toDisputeLine(await wallet.closeDispute(tenant, id, outcome)),

    async credit(tenant, { amountCents, litoshi }) {
      if (amountCents !== undefined) await wallet.credit(tenant, amountCents);
      if (litoshi !== undefined) await wallet.creditLtc(tenant, litoshi);
    },

    async testPayments(tenant) {
      const pending = await testPayments.listTestPayments(tenant, { limit: MAX_LINES, status: 'pending' });
      return pending.map(({ id, valueCents, createdAt }) => ({ id, valueCents, createdAt }));
    },

    async pixPayments(tenant) {
      const newest = { end: 'first', limit: MAX_PIX_LINES } as const;
      const lists = await Promise.all([
        payments.list(tenant, { ...newest, method: ['pix'] }),
        charges.list(tenant, newest),
      ]);
      const lines = [
        ...lists[0].items.map(({ resource }) => ({ ...resource, id: resource.paymentId })),
        ...lists[1].items.map(({ resource }) => ({ ...resource, id: resource.chargeId, customer: null })),
      ]
        .sort((left, right) => right.createdAt.getTime() - left.createdAt.getTime())
        .slice(0, MAX_PIX_LINES);
      const refusing = await pix.refusingReturns(lines.map(({ id }) => txidOf(id)));
      return lines.map((line) => toPixPaymentLine(line, { refusesReturns: refusing.has(txidOf(line.id)) }));
    },
    async payPix(tenant, { copyPaste, id, ...order }) {
      if (id !== undefined && (await paymentOf(tenant, id)).brCode === null) return null;
      const txid = copyPaste === undefined ? txidOf(id!) : readCode(copyPaste);
      const sent = await pix.pay({ txid, ...order });
      if (!sent) throw new NotFoundError('Nobody waits for money by this code');
      if (sent.txid !== txid)
        throw new ValidationError([{ path: 'endToEndId', message: 'is that of a PIX for another payment' }]);
      const { endToEndId, amountCents, at } = sent;
      // The service is notified by a task as well; this call shows the outcome at once.
      const paid = await codes.receiveByTxid(sent.tenant, txid);
      if (!paid) throw new NotFoundError('Nobody waits for money by this code');
      const returned = paid.returnedCredits.find((credit) => credit.endToEndId === endToEndId);
      return { id: paid.id, endToEndId, amountCents, at, cause: returned?.cause ?? null };
    },
    async ltcPayments(tenant) {
      const { items } = await payments.list(tenant, { end: 'first', limit: MAX_PIX_LINES, method: ['ltc'] });
      return Promise.all(
        items.map(async ({ resource: { paymentId, ltc: request, ...payment } }) => {
          const { status, amountCents, description, createdAt, expiresAt, paidAt, paidLate } = payment;
          const { address, litoshi, receivedLitoshi, confirmations, requiredConfirmations } = request!;
          return {
            id: paymentId,
            status,
            amountCents,
            description,
            createdAt,
            expiresAt,
            paidAt,
            paidLate,
            address,
            litoshi,
            receivedLitoshi,
            confirmations,
            requiredConfirmations,
            outputs: await outputsOf(paymentId),
          };
        }),
      );
    },
    async changeLtc(address, { litoshi, txid, confirmations = 0, blocks, reorganise }) {
      const found = await litecoin.find(address);
      const payment = found && (await payments.find(found.tenant, found.id));
      if (!payment) throw new NotFoundError('Nobody waits for LTC at this address');
      const { id, tenant } = found;
      if (blocks !== undefined || reorganise !== undefined) {
        const isDone =
          reorganise === undefined
            ? await litecoin.mine(address, blocks!)
            : await litecoin.reorganise(address, reorganise);
        if (!isDone) return null;
      } else {
        const request = payment.ltc!;
        const missing = request.litoshi - request.receivedLitoshi;
        const sent = await litecoin.send(address, {
          txid,
          confirmations,
          litoshi: litoshi ?? (missing > 0 ? missing : request.litoshi),
        });
        if (!sent)
          throw new ValidationError([{ path: 'txid', message: 'is a transaction to another address' }]);
      }
      const { status, ltc: seen } = (await ltc.receive(tenant, id))!;
      return {
        id,
        status,
        receivedLitoshi: seen!.receivedLitoshi,
        confirmations: seen!.confirmations,
        outputs: await outputsOf(id),
      };
    },
    async setPixReturns(tenant, id, returns) {
      await paymentOf(tenant, id);
      return pix.setReturns(txidOf(id), returns);
    },

    replaceStore: (tenant, products) => store.replace(tenant, products),
    storeProducts: (tenant) => store.count(tenant),

    async subscriptions(tenant) {
      const { items } = await subscriptions.list(tenant, { end: 'first', limit: MAX_PIX_LINES });
      const ids = items.map(({ resource }) => resource.subscriptionId);
      // A list contains no cycles.
      const whole = await subscriptions.findMany(tenant, ids);
      return whole.flatMap((subscription) => (subscription ? [toSubscriptionLine(subscription)] : []));
    },
    async stepSubscription(tenant, id, step) {
      const subscription = await subscriptions.find(tenant, id);
      if (!subscription) throw new NotFoundError('Subscription not found');
      if (step === 'debit' || step === 'fail') await subscriptions.instruct(tenant, id);
      const isDone = await play(subscription, step);
      // The service is notified by a task as well; this call shows the outcome at once.
      if (isDone) await subscriptions.receive(tenant, id);
      return isDone;
    },
  };
}

/** Reads the bank's identifier out of a pasted code. @throws ValidationError */
function readCode(copyPaste: string): string {
  if (!parseBrCode(copyPaste))
    throw new ValidationError([
      {
        path: 'copyPaste',
        message: 'is no PIX code, or a character of it is missing or wrong: its CRC does not fit',
      },
    ]);
  const txid = txidOfCode(copyPaste);
  if (txid === null)
    throw new ValidationError([
      {
        path: 'copyPaste',
        message: 'is a code of another bank: only the codes of this server can be paid here',
      },
    ]);
  return txid;
}

function toPixPaymentLine(
  { id, customer, brCode, ...payment }: StoredPixResource & { id: string; customer: Payer },
  { refusesReturns }: { refusesReturns: boolean },
): PixPaymentLine {
  const { status, amountCents, description, createdAt, expiresAt, paidAt, paidLate, refundedCents } = payment;
  return {
    id,
    status,
    amountCents,
    description,
    createdAt,
    expiresAt,
    paidAt,
    paidLate,
    refundedCents,
    payer: customer?.name ?? customer?.email ?? null,
    copyPaste: brCode,
    returnedCredits: payment.returnedCredits,
    refusesReturns,
  };
}

function toSubscriptionLine(subscription: StoredSubscription): SubscriptionLine {
  const { subscriptionId, customer, cycle, ...rest } = subscription;
  const { status, amountCents, interval, description, createdAt, expiresAt, nextDueAt } = rest;
  return {
    id: subscriptionId,
    status,
    amountCents,
    interval,
    description,
    createdAt,
    expiresAt,
    nextDueAt,
    payer: customer?.name ?? customer?.email ?? null,
    isAuthorisable: isAuthorisable(subscription),
    cycle: cycle && {
      number: cycle.number,
      status: cycle.status,
      attempts: cycle.attempts,
      nextAttemptAt: cycle.nextAttemptAt,
    },
  };
}

/** Describes an unfinished transfer; null if it has ended. */
function toTransferInFlight({ state, ...transfer }: BookedTransfer): TransferInFlight | null {
  if (state.status !== 'in_verification' && state.status !== 'queued' && state.status !== 'sent') return null;
  return { ...toLine(transfer), status: state.status, until: state.until };
}

/** Describes a transfer, with its destination masked. */
function toLine({
  id,
  method,
  destination,
  amountCents,
  receivedAt,
}: Omit<BookedTransfer, 'state'>): ReturnableTransfer {
  return {
    id,
    method,
    destination: maskDestination({ method, destination }, { masksPublic: false }),
    amountCents,
    receivedAt,
  };
}

function toDisputeLine({ disputeId, resource, evidence, ...dispute }: StoredDispute): DisputeLine {
  const { amountCents, status, evidenceDueAt, createdAt } = dispute;
  return {
    id: disputeId,
    amountCents,
    status,
    evidenceDueAt,
    createdAt,
    resourceId: resource?.id ?? null,
    evidence: evidence.length,
  };
}
