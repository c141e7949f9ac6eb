import type { PaymentStatus } from '../../server/src/money-in/receiving/model.ts';
import type { Audit } from './audit.ts';
import { OPEN } from './documents.ts';
import { type RequestSequence, repeated } from './load.ts';
import { offerWithCodes } from './offers.ts';
import type { Random } from './random.ts';

/** One payment or split charge by PIX as its merchant and its payer know it. */
interface Sale {
  readonly key: string;
  /** The amount is unique, so that it identifies the sale of a payment. */
  readonly valueCents: number;
  readonly payer: Payer;
  /** The bank's ids of the credits that the payer sends by hand, and of the acknowledged ones. */
  readonly credits: readonly string[];
  sent: number;
  readonly refunds: readonly (number | null)[];
  refunded: number;
  /** Set if the merchant's next request submits evidence. */
  evidenceIsDue: boolean;
  /** The dispute whose evidence was acknowledged. */
  evidenceId: string | null;
  /** Set if the client sends everything twice at once, as an impatient one does. */
  readonly twice: boolean;
  /** The product that is paid, once it has its content. */
  productId: string | null;
  paymentId: string | null;
  status: PaymentStatus | null;
  version: number;
}

/**
 * A payer, by its e-mail in the simulation, and the outcome of its payment. The e-mail is null for a split charge,
 * which has no customer.
 */
interface Payer {
  email: string | null;
  /** The number of credits that the payer sends by hand. */
  pays: number;
  /** The amounts that are refunded one after the other; null: all that is left. */
  refunds: readonly (number | null)[];
  leadsTo: readonly PaymentStatus[];
  /** The number of credits that are returned in the end. */
  returned: number;
  /** Set if the merchant submits evidence once the payment is disputed. */
  answersDispute?: true;
  /** The codes in stock of the product that is paid; absent for a payment without a product. */
  codes?: number;
}

const ANA = 'ana@cliente.example';

export const PAYERS: readonly Payer[] = [
  { email: ANA, pays: 1, refunds: [], leadsTo: ['paid'], returned: 0 },
  { email: ANA, pays: 1, refunds: [100, null], leadsTo: ['refunded'], returned: 0 },
  { email: ANA, pays: 2, refunds: [], leadsTo: ['paid'], returned: 1 },
  { email: null, pays: 1, refunds: [], leadsTo: ['paid'], returned: 0 },
  { email: null, pays: 2, refunds: [100, null], leadsTo: ['refunded'], returned: 1 },
  { email: ANA, pays: 0, refunds: [], leadsTo: ['expired'], returned: 0 },
  { email: ANA, pays: 1, refunds: [], leadsTo: ['paid'], returned: 0, codes: 2 },
  { email: ANA, pays: 2, refunds: [null], leadsTo: ['refunded'], returned: 1, codes: 1 },
  { email: 'paga@psa.example', pays: 0, refunds: [], leadsTo: ['paid'], returned: 0 },
  { email: 'paga-duas@psa.example', pays: 0, refunds: [], leadsTo: ['paid'], returned: 1 },
  { email: 'paga-outro@psa.example', pays: 0, refunds: [], leadsTo: ['expired'], returned: 1 },
  { email: 'paga-tarde@psa.example', pays: 0, refunds: [], leadsTo: ['paid'], returned: 0 },
  { email: 'contesta-ganha@psa.example', pays: 1, refunds: [], leadsTo: ['paid'], returned: 0 },
  { email: 'contesta-perde@psa.example', pays: 1, refunds: [], leadsTo: ['paid'], returned: 0 },
  {
    email: 'contesta-ganha@psa.example',
    pays: 1,
    refunds: [],
    leadsTo: ['paid'],
    returned: 0,
    answersDispute: true,
  },
  { email: 'demora-codigo@psa.example', pays: 0, refunds: [], leadsTo: ['expired'], returned: 0 },
  { email: 'sem-codigo@psa.example', pays: 0, refunds: [], leadsTo: ['failed'], returned: 0 },
];

const CREATE = `mutation ($input: CreatePaymentInput!) {
  createPayment(input: $input) {
    ... on CreatePaymentSuccess { payment { paymentId } }
    ... on UserError { code message }
    ... on UpstreamError { lookupReference }
  }
}`;
const CHARGE = `mutation ($input: CreateChargeInput!) {
  createCharge(input: $input) {
    ... on CreateChargeSuccess { charge { chargeId } }
    ... on UserError { code message }
    ... on UpstreamError { lookupReference }
  }
}`;
const REFUND_CHARGE = `mutation ($input: RefundChargeInput!) {
  refundCharge(input: $input) { ... on RefundChargeSuccess { refund { refundId } } ... on UserError { code message } }
}`;
const DISPUTED = `query ($paymentId: String!) {
  payment(paymentId: $paymentId) { disputes { disputeId } }
}`;
const EVIDENCE = `mutation ($input: SubmitDisputeEvidenceInput!) {
  done: submitDisputeEvidence(input: $input) { ... on SubmitDisputeEvidenceSuccess { dispute { disputeId } } ... on UserError { code message } }
}`;
const REFUND = `mutation ($input: RefundPaymentInput!) {
  refundPayment(input: $input) { ... on RefundPaymentSuccess { refund { refundId } } ... on UserError { code message } }
}`;

/**
 * Merchants that sell by PIX, and their payers. They repeat each unanswered request with its key, and each credit
 * with its id. They remember every answer; `complaints` lists the answers that contradict the ledger.
 */
export function createPixPayers(random: Random) {
  const sales: Sale[] = [];

  function newSale(payer: Payer = random.pick(PAYERS)): RequestSequence {
    const key = `pix:${sales.length}`;
    const digits = String(sales.length).padStart(10, '0');
    const sale: Sale = {
      key,
      valueCents: 2_000 + sales.length,
      payer,
      credits: Array.from(
        { length: payer.pays },
        (_, index) => `E00000000${'2026'.repeat(3)}${index}${digits}`,
      ),
      sent: 0,
      refunds: payer.refunds,
      refunded: 0,
      evidenceIsDue: false,
      evidenceId: null,
      twice: random.below(4) === 0,
      productId: null,
      paymentId: null,
      status: null,
      version: 0,
    };
    sales.push(sale);
    return {
      key,
      isOpen: () => isOpen(sale),
      step: (server, api) => step(sale, server, api),
      becomeLate() {
        sale.evidenceIsDue = payer.answersDispute === true;
      },
    };
  }

  const isOpen = ({ paymentId, sent, credits, refunded, refunds, evidenceIsDue, evidenceId }: Sale) =>
    paymentId === null ||
    sent < credits.length ||
    refunded < refunds.length ||
    (evidenceIsDue && evidenceId === null);

  const step = async (sale: Sale, ...[server, api]: Parameters<RequestSequence['step']>): Promise<void> => {
    const { key, valueCents, payer, twice } = sale;
    if (payer.codes !== undefined && sale.productId === null) {
      sale.productId = await offerWithCodes(api, { name: key, valueCents, codes: payer.codes, twice });
      return;
    }
    if (sale.paymentId === null) {
      const created = await repeated(twice, async () => {
        const answer = await create(api, { key, valueCents, email: payer.email, productId: sale.productId });
        // The id of a payment without a code is in the answer, too.
        const paymentId: string | undefined = answer.id ?? answer.lookupReference;
        if (!paymentId) throw new Error(`refused: ${JSON.stringify(answer)}`);
        sale.paymentId ??= paymentId;
        return paymentId;
      });
      if (created.some((paymentId) => paymentId !== sale.paymentId))
        throw new Error(`${key} created ${created.join(' and ')}`);
      return;
    }
    const { paymentId } = sale;
    if (sale.sent < sale.credits.length) {
      const endToEndId = sale.credits[sale.sent]!;
      const statuses = await repeated(
        twice,
        async () => (await server.ask('payPix', { paymentId, endToEndId })).status,
      );
      sale.status ??= (statuses.at(-1) ?? null) as PaymentStatus | null;
      sale.sent += 1;
      return;
    }
    if (sale.refunded === sale.refunds.length) {
      const { payment } = await api.request(DISPUTED, { paymentId });
      const [{ disputeId }] = payment.disputes;
      const input = { disputeId, text: key, idempotencyKey: `${key}:evidence` };
      await repeated(twice, async () => {
        const { done } = await api.request(EVIDENCE, { input });
        if (!done.dispute) throw new Error(`refused: ${JSON.stringify(done)}`);
      });
      sale.evidenceId = disputeId;
      return;
    }
    // Without an amount the refund is of all that is left.
    const amountCents = sale.refunds[sale.refunded] ?? undefined;
    const details = { amountCents, idempotencyKey: `${key}:refund:${sale.refunded}` };
    await repeated(twice, async () => {
      const { done } = await (payer.email === null
        ? api
            .request(REFUND_CHARGE, { input: { ...details, chargeId: paymentId } })
            .then(({ refundCharge }) => ({ done: refundCharge }))
        : api
            .request(REFUND, { input: { ...details, paymentId } })
            .then(({ refundPayment }) => ({ done: refundPayment })));
      if (!done.refund) throw new Error(`refused: ${JSON.stringify(done)}`);
    });
    sale.refunded += 1;
  };

  /** Creates a payment, or a charge in which a subaccount has a part. */
  async function create(
    api: Parameters<RequestSequence['step']>[1],
    {
      key,
      valueCents,
      email,
      productId,
    }: Pick<Sale, 'key' | 'valueCents' | 'productId'> & Pick<Payer, 'email'>,
  ): Promise<{ id?: string; lookupReference?: string }> {
    if (email !== null) {
      const sold = productId === null ? { valueCents } : { productId };
      const input = { ...sold, customer: { email }, idempotencyKey: key };
      const { createPayment } = await api.request(CREATE, { input });
      return { id: createPayment.payment?.paymentId, ...createPayment };
    }
    const { done } = await api.request(OPEN, { input: { name: 'Sócia', externalId: `${key}:socia` } });
    const splits = [{ subaccountId: done.subaccount.subaccountId, share: { percent: '33.33' } }];
    const { createCharge } = await api.request(CHARGE, {
      input: { valueCents, splits, idempotencyKey: key },
    });
    return { id: createCharge.charge?.chargeId, ...createCharge };
  }

  return {
    newSale,
    tally: () => ({
      sales: sales.length,
      acknowledged: sales.filter(({ paymentId }) => paymentId !== null).length,
    }),

    /** Every answer that contradicts these payments. `final`: no work is left. */
    complaints({ pixPayments }: Audit, { final }: { final: boolean }): string[] {
      const found = new Map(pixPayments.map((payment) => [payment.paymentId, payment]));
      const complaints: string[] = [];
      for (const sale of sales) {
        const complain = (what: string) => complaints.push(`${sale.key} ${JSON.stringify(sale)}: ${what}`);
        const sameValue = pixPayments.filter(({ amountCents }) => amountCents === sale.valueCents);
        if (sameValue.length > 1) complain(`${sameValue.length} payments`);
        if (sale.paymentId === null) continue;
        const payment = found.get(sale.paymentId);
        if (!payment) {
          complain('is gone');
          continue;
        }
        const { status, version, credits } = payment;
        if (payment.key !== sale.key || payment.amountCents !== sale.valueCents) complain('is another’s');
        if (version < sale.version) complain(`fell from version ${sale.version} to ${version}`);
        sale.version = version;
        if (sale.status === 'paid' && status !== 'paid' && status !== 'refunded') complain(`is ${status}`);
        const missing = sale.credits.slice(0, sale.sent).filter((name) => !credits.includes(name));
        if (missing.length > 0) complain(`has lost ${missing}`);
        const submitted = payment.evidence.filter((text) => text === sale.key).length;
        if (submitted > 1 || (sale.evidenceId !== null && submitted === 0))
          complain(`has ${submitted} submissions of its evidence`);
        if (!final) continue;
        if (!sale.payer.leadsTo.includes(status)) complain(`is ${status} in the end`);
        if (payment.returned !== sale.payer.returned) complain(`has returned ${payment.returned} credits`);
      }
      return complaints;
    },
  };
}
