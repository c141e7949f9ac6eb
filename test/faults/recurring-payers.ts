import type { CycleStatus, SubscriptionStatus } from '../../server/src/money-in/subscriptions/model.ts';
import type { GraphQLClient } from '../support/graphql.ts';
import type { Audit } from './audit.ts';
import { type RequestSequence, repeated } from './load.ts';
import type { Random } from './random.ts';

/** One subscription of two weekly cycles, as its merchant and its payer know it. */
interface Contract {
  readonly key: string;
  /** The amount is unique, so that it identifies the contract of a subscription. */
  readonly valueCents: number;
  readonly payer: RecurringPayer;
  /** The bank's ids of the credits that the payer sends by hand. */
  readonly credits: readonly string[];
  /** The number of acknowledged steps of `payer.does`. */
  done: number;
  /** Set if the client sends everything twice at once, as an impatient one does. */
  readonly twice: boolean;
  subscriptionId: string | null;
  status: SubscriptionStatus | null;
  version: number;
}

/** A payer, by its e-mail in the simulation, and the outcome of its subscription. */
interface RecurringPayer {
  email: string;
  /** `pay`: the payer pays the code, and authorises with it. `refund`: the merchant refunds the first cycle. */
  does: readonly ('pay' | 'refund' | 'cancel' | 'endAtBank')[];
  leadsTo: SubscriptionStatus;
  cycles: readonly CycleStatus[];
  /** The number of returned credits. */
  returned?: number;
}

const ANA = 'ana@cliente.example';

export const RECURRING_PAYERS: readonly RecurringPayer[] = [
  { email: ANA, does: ['pay'], leadsTo: 'completed', cycles: ['paid', 'paid'] },
  { email: ANA, does: ['pay', 'refund'], leadsTo: 'completed', cycles: ['paid', 'paid'] },
  { email: ANA, does: ['pay', 'pay'], leadsTo: 'completed', cycles: ['paid', 'paid'], returned: 1 },
  { email: 'nega-uma@psa.example', does: ['pay'], leadsTo: 'completed', cycles: ['paid', 'paid'] },
  { email: 'nega@psa.example', does: ['pay'], leadsTo: 'completed', cycles: ['paid', 'failed'] },
  { email: ANA, does: ['pay', 'cancel'], leadsTo: 'canceled', cycles: ['paid', 'canceled'] },
  { email: ANA, does: ['pay', 'endAtBank'], leadsTo: 'canceled', cycles: ['paid', 'canceled'] },
  { email: ANA, does: ['cancel'], leadsTo: 'canceled', cycles: [] },
  { email: ANA, does: ['cancel', 'pay'], leadsTo: 'canceled', cycles: [], returned: 1 },
  { email: ANA, does: [], leadsTo: 'expired', cycles: [] },
  { email: 'demora-codigo@psa.example', does: [], leadsTo: 'expired', cycles: [] },
  { email: 'sem-codigo@psa.example', does: [], leadsTo: 'expired', cycles: [] },
];

/** The days in which the second cycle of a subscription is decided, even if its first attempt fails. */
export const DAYS_OF_TWO_CYCLES = 12;

/**
 * The cycles of a subscription whose clock jumped by weeks: days that have passed are not debited. A debit would be
 * returned, and counted.
 */
const PASSED_OVER: readonly CycleStatus[] = ['paid', 'failed'];
const isPaid = ({ cycles }: RecurringPayer) =>
  cycles.every((status) => status === 'paid') && cycles.length > 0;

const CREATE = `mutation ($input: CreateSubscriptionInput!) {
  createSubscription(input: $input) {
    ... on CreateSubscriptionSuccess { subscription { subscriptionId } }
    ... on UserError { code message }
    ... on UpstreamError { lookupReference }
  }
}`;
const CANCEL = `mutation ($subscriptionId: String!) {
  cancelSubscription(subscriptionId: $subscriptionId) {
    ... on CancelSubscriptionSuccess { subscription { status } } ... on UserError { code message }
  }
}`;
const FIRST_PAYMENT = `query ($subscriptionId: String!) {
  subscription(subscriptionId: $subscriptionId) { cycles(last: 1) { nodes { number payment { paymentId } } } }
}`;
const REFUND = `mutation ($input: RefundPaymentInput!) {
  refundPayment(input: $input) { ... on RefundPaymentSuccess { refund { refundId } } ... on UserError { code message } }
}`;

/**
 * Merchants with subscribers by PIX, and their payers. They repeat each unanswered request with its key, and each
 * credit with its id. They remember every answer; `complaints` lists the answers that contradict the ledger.
 */
export function createRecurringPayers(random: Random) {
  const contracts: Contract[] = [];

  function newContract(payer: RecurringPayer = random.pick(RECURRING_PAYERS)): RequestSequence {
    const digits = String(contracts.length).padStart(10, '0');
    const contract: Contract = {
      key: `subscription:${contracts.length}`,
      valueCents: 60_000 + contracts.length,
      payer,
      credits: payer.does.map((_, index) => `E00000000${'2026'.repeat(3)}${5 + index}${digits}`),
      done: 0,
      twice: random.below(4) === 0,
      subscriptionId: null,
      status: null,
      version: 0,
    };
    contracts.push(contract);
    return {
      key: contract.key,
      isOpen: () => contract.subscriptionId === null || contract.done < payer.does.length,
      step: (server, api) => step(contract, server, api),
    };
  }

  const step = async (
    contract: Contract,
    ...[server, api]: Parameters<RequestSequence['step']>
  ): Promise<void> => {
    const { key, valueCents, payer, twice } = contract;
    if (contract.subscriptionId === null) {
      const created = await repeated(twice, async () => {
        const input = {
          valueCents,
          interval: 'WEEKLY',
          endsAfterCycles: 2,
          customer: { email: payer.email },
          idempotencyKey: key,
        };
        const { createSubscription: answer } = await api.request(CREATE, { input });
        // The id of a subscription without a code is in the answer, too.
        const subscriptionId: string | undefined =
          answer.subscription?.subscriptionId ?? answer.lookupReference;
        if (!subscriptionId) throw new Error(`refused: ${JSON.stringify(answer)}`);
        contract.subscriptionId ??= subscriptionId;
        return subscriptionId;
      });
      if (created.some((subscriptionId) => subscriptionId !== contract.subscriptionId))
        throw new Error(`${key} created ${created.join(' and ')}`);
      return;
    }
    const { subscriptionId, done, credits } = contract;
    const act = payer.does[done]!;
    const [status] = await repeated(twice, async (): Promise<SubscriptionStatus | null> => {
      if (act === 'pay') {
        const paid = await server.ask('payPix', { paymentId: subscriptionId, endToEndId: credits[done]! });
        return paid.status as SubscriptionStatus | null;
      }
      if (act === 'endAtBank') return (await server.ask('endAtBank', { subscriptionId })).status;
      if (act === 'refund') return refund(api, { subscriptionId, key });
      const { cancelSubscription } = await api.request(CANCEL, { subscriptionId });
      if (!cancelSubscription.subscription) throw new Error(JSON.stringify(cancelSubscription));
      return cancelSubscription.subscription.status.toLowerCase();
    });
    contract.status = status ?? contract.status;
    contract.done += 1;
  };

  async function refund(
    api: Pick<GraphQLClient, 'request'>,
    { subscriptionId, key }: { subscriptionId: string; key: string },
  ): Promise<null> {
    const { subscription } = await api.request(FIRST_PAYMENT, { subscriptionId });
    const [first] = subscription.cycles.nodes;
    const input = { paymentId: first.payment.paymentId, idempotencyKey: `${key}:refund` };
    const { refundPayment } = await api.request(REFUND, { input });
    if (!refundPayment.refund) throw new Error(`refused: ${JSON.stringify(refundPayment)}`);
    return null;
  }

  return {
    newContract,
    tally: () => contracts.filter(({ subscriptionId }) => subscriptionId !== null).length,

    /** Every answer that contradicts these subscriptions. `final`: no work is left. */
    complaints({ subscriptions }: Audit, { final }: { final: boolean }): string[] {
      const found = new Map(subscriptions.map((each) => [each.subscriptionId, each]));
      const complaints: string[] = [];
      for (const contract of contracts) {
        const complain = (what: string) =>
          complaints.push(`${contract.key} ${JSON.stringify(contract)}: ${what}`);
        const sameValue = subscriptions.filter(({ amountCents }) => amountCents === contract.valueCents);
        if (sameValue.length > 1) complain(`${sameValue.length} subscriptions`);
        if (contract.subscriptionId === null) continue;
        const subscription = found.get(contract.subscriptionId);
        if (!subscription) {
          complain('is gone');
          continue;
        }
        const { status, version, cycles, returned } = subscription;
        if (subscription.key !== contract.key || subscription.amountCents !== contract.valueCents)
          complain('is another’s');
        if (version < contract.version) complain(`fell from version ${contract.version} to ${version}`);
        contract.version = version;
        if (contract.status === 'canceled' && status !== 'canceled') complain(`is ${status}`);
        if (contract.status === 'active' && cycles[0] !== 'paid') complain(`has cycles ${cycles}`);
        if (!final || contract.done < contract.payer.does.length) continue;
        const { leadsTo, returned: isReturned = 0 } = contract.payer;
        if (status !== leadsTo) complain(`is ${status} in the end`);
        const ends = [contract.payer.cycles, ...(isPaid(contract.payer) ? [PASSED_OVER] : [])];
        if (!ends.some((end) => end.join() === cycles.join())) complain(`has cycles ${cycles} in the end`);
        if (returned !== isReturned) complain(`has returned ${returned} credits`);
      }
      return complaints;
    },
  };
}
