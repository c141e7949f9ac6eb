/** A subscription that followers use, with the kinds of resources whose events it shows. */
interface Topic {
  query: string;
  resources: readonly string[];
  /** The id of an update's resource in the log. */
  idOf(update: object): string;
}

interface AnyUpdate {
  cardPayment?: { orderCode: string };
  payment?: { paymentId: string };
  payout?: { withdrawalId: string };
}

function idOf({ cardPayment, payment, payout }: AnyUpdate): string {
  return cardPayment?.orderCode ?? payment?.paymentId ?? payout?.withdrawalId ?? '';
}

/** The number of copies of a payment's metadata in a large update of 60 kB: more than the buffers on the way hold. */
const COPIES = 10;
export const LARGE_METADATA = JSON.stringify('中'.repeat(2_000));

const topics = {
  cardPayments: {
    query: `subscription Updates($after: String) {
      update: allCardPaymentUpdates(after: $after) { cursor cardPayment { orderCode status } } }`,
    resources: ['card_payment'],
    idOf,
  },
  payments: {
    query: `subscription Updates($after: String) {
      update: allPaymentUpdates(after: $after) { cursor payment { paymentId status } } }`,
    resources: ['payment'],
    idOf,
  },
  account: {
    query: `subscription Updates($after: String) {
      update: accountUpdates(after: $after, kinds: [CARD_PAYMENT, PAYMENT, PAYOUT]) {
        cursor
        ... on CardPaymentUpdate { cardPayment { orderCode } }
        ... on PaymentUpdate { payment { paymentId } }
        ... on PayoutUpdate { payout { withdrawalId } }
      } }`,
    resources: ['card_payment', 'payment', 'payout'],
    idOf,
  },
  large: {
    query: `subscription Updates($after: String) {
      update: allCardPaymentUpdates(after: $after) { cursor cardPayment { orderCode
        ${Array.from({ length: COPIES }, (_, index) => `m${index}: metadata`).join(' ')} } } }`,
    resources: ['card_payment'],
    idOf,
  },
} as const satisfies Record<string, Topic>;

export type TopicName = keyof typeof topics;
export const TOPICS: Record<TopicName, Topic> = topics;
