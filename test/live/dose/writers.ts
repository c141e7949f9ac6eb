import { createClient } from '../../support/graphql.ts';
import { LARGE_METADATA } from './topics.ts';

export type Kind = 'card_payment' | 'payment' | 'payout' | 'large';

const CREATE_CARD_PAYMENT = `mutation ($input: CreateCardPaymentInput!) { created: createCardPayment(input: $input) {
  ... on CreateCardPaymentSuccess { cardPayment { id: orderCode } } ... on UserError { message } } }`;

const CREATE: Record<Kind, { query: string; input: object }> = {
  card_payment: { query: CREATE_CARD_PAYMENT, input: { valueCents: 1_000 } },
  large: { query: CREATE_CARD_PAYMENT, input: { valueCents: 1_000, metadata: LARGE_METADATA } },
  payment: {
    query: `mutation ($input: CreatePaymentInput!) { created: createPayment(input: $input) {
      ... on CreatePaymentSuccess { payment { id: paymentId } } ... on UserError { message } } }`,
    input: { valueCents: 1_000 },
  },
  payout: {
    query: `mutation ($input: RequestPayoutInput!) { created: requestPayout(input: $input) {
      ... on RequestPayoutSuccess { payout { id: withdrawalId } } ... on UserError { message } } }`,
    input: { method: 'PIX', amountCents: 5_000, destination: 'ana@example.com' },
  },
};
const REVOKE = 'mutation ($token: String!) { revokeToken(token: $token) { __typename } }';
/** The most attempts of one request, while one of the instances starts. */
const MOST_ATTEMPTS = 2_000;

/**
 * Creates the resources that followers follow, at the instances in turns, and again with the same key after a lost
 * answer.
 */
export function createWriter(endpoints: readonly string[]) {
  let turn = 0;
  let keys = 0;

  async function request(key: string, query: string, variables: Record<string, unknown>) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await createClient(endpoints[turn++ % endpoints.length]!, key).request(query, variables);
      } catch (error) {
        if (attempt === MOST_ATTEMPTS) throw error;
      }
    }
  }

  return {
    /** Creates a resource of this kind, and returns its id. */
    async create(key: string, kind: Kind): Promise<string> {
      const { query, input } = CREATE[kind];
      const idempotencyKey = `dose:${keys++}`;
      const { created } = await request(key, query, { input: { ...input, idempotencyKey } });
      const resource = created.cardPayment ?? created.payment ?? created.payout;
      if (!resource) throw new Error(`No ${kind} was created: ${created.message}`);
      return resource.id;
    },
    async revoke(key: string, token: string): Promise<void> {
      await request(key, REVOKE, { token });
    },
    async updatesCursor(key: string): Promise<string> {
      return (await request(key, '{ updatesCursor }', {})).updatesCursor;
    },
  };
}
