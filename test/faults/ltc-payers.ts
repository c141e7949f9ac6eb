import type { PaymentStatus } from '../../server/src/money-in/receiving/model.ts';
import type { Audit } from './audit.ts';
import { type RequestSequence, repeated } from './load.ts';
import { offerWithCodes } from './offers.ts';
import type { Random } from './random.ts';

/** One payment by LTC as its merchant and its payer know it. */
interface Deal {
  readonly key: string;
  /** The amount is unique, so that it identifies the deal of a payment. */
  readonly valueCents: number;
  readonly payer: LtcPayer;
  /** The outputs of its payer, by the index of each. */
  readonly txids: readonly string[];
  /** The number of acknowledged steps of `payer.does`, and of `payer.doesLater`. */
  done: number;
  doneLater: number;
  /** Whether its time is over. */
  isLate: boolean;
  /** Set if the client sends everything twice at once, as an impatient one does. */
  readonly twice: boolean;
  productId: string | null;
  paymentId: string | null;
  status: PaymentStatus | null;
  version: number;
}

type Act =
  /** Sends a share of the amount, or gives it more confirmations. Two are enough. */
  | { output: number; share: number; confirmations: number }
  /** Removes an output from the chain. */
  | { gone: number }
  /** The operator credits unmatched outputs. */
  | 'credit';

/** A payer's acts, and the outcome of its payment. */
interface LtcPayer {
  does: readonly Act[];
  leadsTo: readonly PaymentStatus[];
  /** The outputs that are credited to the merchant in the end. */
  credited: readonly number[];
  /** The steps after the expiry, and the status after them. */
  doesLater?: readonly Act[];
  leadsLaterTo?: readonly PaymentStatus[];
  creditedLater?: readonly number[];
  /** The codes in stock of the product that is paid; absent for a payment without a product. */
  codes?: number;
}

const sent = (output: number, share: number, confirmations = 2): Act => ({ output, share, confirmations });

export const LTC_PAYERS: readonly LtcPayer[] = [
  { does: [sent(0, 1)], leadsTo: ['paid'], credited: [0] },
  { does: [sent(0, 1, 0), sent(0, 1, 1), sent(0, 1)], leadsTo: ['paid'], credited: [0] },
  // The second output arrives after the payment is paid.
  { does: [sent(0, 1), sent(1, 0.3)], leadsTo: ['paid'], credited: [0, 1] },
  { does: [sent(0, 0.5), sent(1, 0.6, 0), sent(1, 0.6)], leadsTo: ['paid'], credited: [0, 1] },
  { does: [sent(0, 0.5), { gone: 0 }, sent(1, 1)], leadsTo: ['paid'], credited: [1] },
  { does: [sent(0, 1)], leadsTo: ['paid'], credited: [0], codes: 1 },
  // The output is seen in time, and never confirmed.
  { does: [sent(0, 1, 1)], leadsTo: ['expired'], credited: [] },
  {
    // The payment expires, because its payer was late.
    does: [sent(0, 0.4)],
    leadsTo: ['failed', 'expired'],
    credited: [],
    doesLater: ['credit'],
    leadsLaterTo: ['failed', 'expired'],
    creditedLater: [0],
  },
  {
    does: [],
    leadsTo: ['expired'],
    credited: [],
    doesLater: [sent(0, 1)],
    leadsLaterTo: ['paid'],
    creditedLater: [0],
  },
];

const CREATE = `mutation ($input: CreatePaymentInput!) {
  createPayment(input: $input) {
    ... on CreatePaymentSuccess { payment { paymentId } }
    ... on UserError { code message }
    ... on UpstreamError { lookupReference }
  }
}`;

/**
 * Merchants that sell by LTC, their payers, and the network. They repeat each unanswered request with its key, and
 * each output. They remember every answer; `complaints` lists the answers that contradict the ledger.
 */
export function createLtcPayers(random: Random) {
  const deals: Deal[] = [];

  function newDeal(payer: LtcPayer = random.pick(LTC_PAYERS)): RequestSequence {
    const number = deals.length;
    const deal: Deal = {
      key: `ltc:${number}`,
      valueCents: 30_000 + number,
      payer,
      txids: [0, 1].map((output) => `${number}${output}`.padStart(64, '0')),
      done: 0,
      doneLater: 0,
      isLate: false,
      twice: random.below(4) === 0,
      productId: null,
      paymentId: null,
      status: null,
      version: 0,
    };
    deals.push(deal);
    return {
      key: deal.key,
      isOpen: () => deal.paymentId === null || nextOf(deal) !== null,
      step: (server, api) => step(deal, server, api),
      becomeLate() {
        deal.isLate = true;
      },
    };
  }

  function nextOf({ payer, done, doneLater, isLate }: Deal): Act | null {
    return payer.does[done] ?? (isLate ? payer.doesLater?.[doneLater] : null) ?? null;
  }

  const step = async (deal: Deal, ...[server, api]: Parameters<RequestSequence['step']>): Promise<void> => {
    const { key, valueCents, payer, twice } = deal;
    if (payer.codes !== undefined && deal.productId === null) {
      deal.productId = await offerWithCodes(api, { name: key, valueCents, codes: payer.codes, twice });
      return;
    }
    if (deal.paymentId === null) {
      const sold = deal.productId === null ? { valueCents } : { productId: deal.productId };
      const created = await repeated(twice, async () => {
        const input = { ...sold, method: 'LTC', idempotencyKey: key };
        const { createPayment: answer } = await api.request(CREATE, { input });
        const paymentId: string | undefined = answer.payment?.paymentId ?? answer.lookupReference;
        if (!paymentId) throw new Error(`refused: ${JSON.stringify(answer)}`);
        deal.paymentId ??= paymentId;
        return paymentId;
      });
      if (created.some((paymentId) => paymentId !== deal.paymentId))
        throw new Error(`${key} created ${created.join(' and ')}`);
      return;
    }
    const { paymentId, txids } = deal;
    const act = nextOf(deal)!;
    const [answer] = await repeated(twice, async () => {
      if (act === 'credit') return server.ask('creditLtcOf', { paymentId });
      if ('gone' in act) return server.ask('reorganiseLtc', { paymentId, txid: txids[act.gone]! });
      const { output, share, confirmations } = act;
      return server.ask('sendLtc', { paymentId, txid: txids[output]!, share, confirmations });
    });
    deal.status = answer!.status;
    if (deal.done < payer.does.length) deal.done += 1;
    else deal.doneLater += 1;
  };

  return {
    newDeal,
    tally: () => deals.filter(({ paymentId }) => paymentId !== null).length,

    /** Every answer that contradicts these payments. `final`: no work is left. */
    complaints({ pixPayments }: Audit, { final }: { final: boolean }): string[] {
      const found = new Map(pixPayments.map((payment) => [payment.paymentId, payment]));
      const complaints: string[] = [];
      for (const deal of deals) {
        const complain = (what: string) => complaints.push(`${deal.key} ${JSON.stringify(deal)}: ${what}`);
        const sameValue = pixPayments.filter(({ amountCents }) => amountCents === deal.valueCents);
        if (sameValue.length > 1) complain(`${sameValue.length} payments`);
        if (deal.paymentId === null) continue;
        const payment = found.get(deal.paymentId);
        if (!payment) {
          complain('is gone');
          continue;
        }
        const { status, version, outputs } = payment;
        if (payment.key !== deal.key || payment.amountCents !== deal.valueCents) complain('is another’s');
        if (version < deal.version) complain(`fell from version ${deal.version} to ${version}`);
        deal.version = version;
        if (deal.status === 'paid' && status !== 'paid') complain(`is ${status}`);
        if (!final) continue;
        const { payer, done, doneLater, txids } = deal;
        // A payment whose requests were cut short by its expiry stays as its payer left it.
        if (done < payer.does.length) continue;
        const isLater = payer.doesLater !== undefined && doneLater === payer.doesLater.length;
        const leadsTo = isLater ? payer.leadsLaterTo! : payer.leadsTo;
        const credited = (isLater ? payer.creditedLater! : payer.credited).map((output) => txids[output]!);
        if (!leadsTo.includes(status)) complain(`is ${status} in the end`);
        if (outputs.join() !== credited.sort().join()) complain(`has ${outputs.join() || 'nothing'}`);
      }
      return complaints;
    },
  };
}
