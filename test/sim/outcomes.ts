import type { Tour } from './history.ts';

/** The steps of each family, in a possible order, each with the outcome that shows that it works. */
export const TOUR: Tour = [
  { steps: ['credit'], until: 'credit: done' },
  { steps: ['createSubaccount'], until: 'createSubaccount: done' },
  { steps: ['transferToSubaccount'], until: 'transferToSubaccount: done' },
  { steps: ['createTestPayment'], until: 'createTestPayment (sandbox): done' },
  { steps: ['createCardPayment', 'cancelCardPayment'], until: 'cancelCardPayment: done' },
  { steps: ['createCardPayment', 'pay'], until: 'pay: paid' },
  { steps: ['startCheckout'], until: 'startCheckout: done' },
  { steps: ['createPayment', 'payPix', 'receive'], until: 'receive: paid' },
  { steps: ['createPayment', 'payPix'], until: 'payPix: twice' },
  { steps: ['createPayment', 'payPix', 'receive', 'refund'], until: 'refund: done' },
  { steps: ['createPayment', 'payPix', 'receive', 'disputePayment'], until: 'disputePayment: done' },
  { steps: ['openDispute', 'submitEvidence'], until: 'submitEvidence: done' },
  { steps: ['startPixCheckout'], until: 'startPixCheckout: done' },
  { steps: ['createCharge'], until: 'createCharge: done' },
  { steps: ['createCharge', 'payPix', 'receive', 'refund'], until: 'refund of a split charge: whole' },
  { steps: ['createCharge', 'cancelPix'], until: 'cancel charge: expired' },
  { steps: ['createPayment', 'cancelPix', 'payPix', 'receive'], until: 'receive: failed, canceled' },
  { steps: ['createSubscription', 'authorise'], until: 'authorise: active' },
  { steps: ['createSubscription', 'debit'], until: 'debit: paid' },
  { steps: ['createProduct', 'addContent', 'sellByPix'], until: 'buy: delivered' },
  { steps: ['addContent', 'sellByPix', 'refund'], until: 'refund of a sale: whole' },
  { steps: ['createLtcPayment', 'sendLtc', 'mineLtc', 'receiveLtc'], until: 'receiveLtc: paid' },
  {
    steps: ['createLtcPayment', 'cancelLtcPayment', 'sendLtc', 'mineLtc', 'receiveLtc'],
    until: 'receiveLtc: failed, canceled',
  },
  { steps: ['requestPayout'], until: 'requestPayout: done' },
  { steps: ['requestSubaccountPayout'], until: 'requestSubaccountPayout: done' },
  { steps: ['credit', 'requestPayout', 'time', 'returnTransfer'], until: 'returnTransfer: done' },
];

/** The outcomes that follow from those of the tour, by its end. */
export const AFTER_THE_TOUR: readonly string[] = [
  ...['requestPayout: reported again', 'createCharge: reported again', 'refund: reported again'],
  ...['task: card_payment.expire', 'task: dispute.evidence_due', 'task: refund.send', 'task: payout.send'],
  ...['task: pix.expire', 'task: pix.receive', 'task: pix.return', 'task: subscription.end'],
  ...['task: ltc.expire', 'task: ltc.receive', 'task: webhook.deliver'],
  ...['event: delivery.delivered', 'event: dispute.under_review', 'event: subscription.paid'],
];

/** The outcomes of drawn steps. Each has occurred more than 40 times in 200 seeds. */
export const OF_MANY_SEEDS: readonly string[] = [
  ...['pay: paid', 'cancelCardPayment: done', 'receive: paid', 'payPix: twice', 'refund: done'],
  ...['disputePayment: done', 'submitEvidence: done', 'authorise: active', 'buy: delivered'],
  ...[
    'refund of a sale: whole',
    'receiveLtc: paid',
    'receiveLtc: expired',
    'sendLtc: in parts',
    'deleteDelivery: done',
  ],
  ...AFTER_THE_TOUR,
  ...['requestPayout: refused: INSUFFICIENT_FUNDS', 'requestPayout: refused: IDEMPOTENCY_CONFLICT'],
  ...['task: pix.register', 'event: refund.failed', 'event: dispute.won', 'event: card_payment.refunded'],
  ...[
    'returnTransfer: done',
    'event: payout.returned',
    'event: subaccount_payout.reversed',
    'event: return.completed',
  ],
  ...['fault: transaction: lost at COMMIT, done', 'fault: transaction: lost at COMMIT, not done'],
  ...['fault: PIX bank: answer lost', 'fault: PIX bank: late', 'fault: LTC network: answer lost'],
];
