import type { CardPaymentService, StoredCardPayment } from '../card-payments/model.ts';
import { NotFoundError } from '../kernel/errors.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import { maskDestination, type PayoutService } from '../payouts/model.ts';
import type { BookedTransfer, SimulatedBank } from '../rails/simulated/bank.ts';
import type { RefundControls } from '../refunds/model.ts';
import type { TestPaymentControls } from '../sandbox/model.ts';
import type { SubaccountPayoutService } from '../subaccounts/model.ts';
import type { WalletControls } from '../wallet/model.ts';
import type { Controls, DisputeLine, TransferInFlight } from './model.ts';

/** The number of newest transfers, or test payments, that are searched for one or for unfinished ones. */
const SEARCH_LIMIT = 500;
const MAX_LINES = 50;

/**
 * The controls of the simulated bank and acquirer, and of disputes, credits and test payments, which no rail brings.
 */
export function createControls({
  bank,
  payouts,
  subaccounts,
  cardPayments,
  wallet,
  testPayments,
}: {
  bank: SimulatedBank;
  payouts: PayoutService;
  subaccounts: SubaccountPayoutService;
  cardPayments: CardPaymentService<StoredCardPayment> & RefundControls;
  wallet: WalletControls;
  testPayments: TestPaymentControls;
}): Controls {
  async function bookedTransfers(tenant: Tenant): Promise<BookedTransfer[]> {
    const all = await bank.list({ limit: SEARCH_LIMIT });
    return all.filter((transfer) => tenantKey(transfer.tenant) === tenantKey(tenant));
  }

  /** Applies a control of the bank, and has the slice that sent the transfer look it up. */
  async function apply(tenant: Tenant, id: string, control: () => Promise<boolean>): Promise<boolean> {
    const transfers = await bookedTransfers(tenant);
    if (!transfers.some((transfer) => transfer.id === id)) throw new NotFoundError('Transfer not found');
    if (!(await control())) return false;
    if (await payouts.find(tenant, id)) await payouts.recheck(tenant, id);
    else await subaccounts.recheck(tenant, id);
    return true;
  }

  return {
    async transfers(tenant) {
      const lines = (await bookedTransfers(tenant)).map(toTransferInFlight);
      return lines.filter((line) => line !== null).slice(0, MAX_LINES);
    },
    settleTransfer: (tenant, id) => apply(tenant, id, () => bank.settle(id)),
    denyTransfer: (tenant, id, reason) => apply(tenant, id, () => bank.deny(id, reason)),
    delayTransfer: (tenant, id, until) => apply(tenant, id, () => bank.delay(id, until)),

    async refundable(tenant) {
      const { items } = await cardPayments.list(tenant, { first: MAX_LINES, status: ['paid'] });
      return items.map(({ payment: { orderCode, amountCents, description, paidAt } }) => ({
        orderCode,
        amountCents,
        description,
        paidAt,
      }));
    },
    refund: (tenant, orderCode) => cardPayments.refund(tenant, orderCode),

    async disputes(tenant) {
      const all = await wallet.listDisputes(tenant, { limit: MAX_LINES });
      return all.map(toDisputeLine).filter(({ status }) => status === 'open' || status === 'lost');
    },
    async openDispute(tenant, amountCents) {
      const id = await wallet.openDispute(tenant, { amountCents });
      const found = (await wallet.listDisputes(tenant, { limit: MAX_LINES })).find(
        (dispute) => dispute.id === id,
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
      const all = await testPayments.listTestPayments(tenant, { limit: MAX_LINES });
      return all
        .filter(({ status }) => status === 'pending')
        .map(({ id, valueCents, createdAt }) => ({ id, valueCents, createdAt }));
    },
    async settleTestPayment(tenant, id) {
      const all = await testPayments.listTestPayments(tenant, { limit: SEARCH_LIMIT });
      const wasPaid = all.find((payment) => payment.id === id)?.status === 'paid';
      await testPayments.settleTestPayment(tenant, id);
      return !wasPaid;
    },
  };
}

/** Describes an unfinished transfer; null where it has ended. */
function toTransferInFlight({
  id,
  method,
  destination,
  amountCents,
  receivedAt,
  state,
}: BookedTransfer): TransferInFlight | null {
  if (state.status !== 'in_verification' && state.status !== 'queued' && state.status !== 'sent') return null;
  return {
    id,
    method,
    destination: maskDestination({ method, destination }, { masksPublic: false }),
    amountCents,
    status: state.status,
    receivedAt,
    until: state.until,
  };
}

function toDisputeLine({ id, amountCents, status, createdAt }: DisputeLine): DisputeLine {
  return { id, amountCents, status, createdAt };
}
