import type { Environment } from '../../server/src/kernel/tenant.ts';
import type { GraphQLClient } from '../support/graphql.ts';

export type Kind = 'payout' | 'subaccountPayout' | 'transfer' | 'cardPayment';

/** The final answer to a caller; `unheard`: the facade died before it answered. */
export type Reported =
  | { outcome: 'done'; id: string }
  | { outcome: 'refused'; code: string }
  | { outcome: 'unknown'; lookupReference: string | null }
  | { outcome: 'unheard' };

/** A request that must not be done twice, and all answers to it. */
export interface Expectation {
  readonly kind: Kind;
  readonly environment: Environment;
  /** The amount is unique, so that the service's ledger shows what each expectation caused. */
  readonly amountCents: number;
  readonly key: string | null;
  readonly subaccountId: string;
  /** A PIX key or an address. */
  readonly destination: string;
  readonly reported: Reported[];
}

/** Sends an expectation once. @throws an internal fault: neither an answer nor the end of the facade */
export async function send(
  expectation: Expectation,
  api: GraphQLClient,
  isDead: () => boolean,
): Promise<Reported> {
  const reported = await ask(expectation, api).catch((error: unknown): Reported => {
    if (!(error instanceof TypeError) || !isDead()) throw error;
    return { outcome: 'unheard' };
  });
  expectation.reported.push(reported);
  return reported;
}

async function ask(expectation: Expectation, api: GraphQLClient): Promise<Reported> {
  const { mutation, input, idOf } = OPERATIONS[expectation.kind];
  const { key } = expectation;
  const { body } = await api.send(mutation, {
    input: { ...input(expectation), ...(key !== null && { idempotencyKey: key }) },
  });
  if (body.errors) throw new Error(`${JSON.stringify(expectation)}: ${JSON.stringify(body.errors)}`);
  const { done } = body.data;
  const payout = done.payout ?? done.subaccountPayout;
  if (payout?.inDoubt) return { outcome: 'unknown', lookupReference: payout.payoutId ?? null };
  // The request was given up while this call repeated it.
  if (/não chegou ao serviço/.test(payout?.reason)) return { outcome: 'refused', code: 'NEVER_MADE' };
  if (done.code === undefined) return { outcome: 'done', id: idOf(done) };
  // A card payment whose answer was lost moves no money, and may exist.
  const isUnknown = done.moneyMayHaveMoved || (expectation.kind === 'cardPayment' && done.retryable);
  if (isUnknown) return { outcome: 'unknown', lookupReference: done.lookupReference };
  return { outcome: 'refused', code: done.code };
}

const REFUSED = `... on UserError { code message }
  ... on UpstreamError { retryable moneyMayHaveMoved lookupReference }`;

// biome-ignore lint/suspicious/noExplicitAny: an answer of GraphQL
type Done = any;

const OPERATIONS: Record<
  Kind,
  { mutation: string; input: (expectation: Expectation) => object; idOf: (done: Done) => string }
> = {
  payout: {
    mutation: `mutation ($input: RequestPayoutInput!) {
      done: requestPayout(input: $input) { ... on RequestPayoutSuccess { payout { withdrawalId inDoubt reason: deniedReason } } ${REFUSED} }
    }`,
    input: ({ amountCents, destination }) => ({
      method: destination.startsWith('ltc1') ? 'LTC' : 'PIX',
      amountCents,
      destination,
    }),
    idOf: (done) => done.payout.withdrawalId,
  },
  subaccountPayout: {
    mutation: `mutation ($input: RequestSubaccountPayoutInput!) {
      done: requestSubaccountPayout(input: $input) {
        ... on RequestSubaccountPayoutSuccess { subaccountPayout { withdrawalId payoutId inDoubt reason: failureReason } } ${REFUSED}
      }
    }`,
    input: ({ subaccountId, amountCents, destination: pixKey }) => ({ subaccountId, amountCents, pixKey }),
    idOf: (done) => done.subaccountPayout.payoutId,
  },
  transfer: {
    mutation: `mutation ($input: TransferToSubaccountInput!) {
      done: transferToSubaccount(input: $input) { ... on TransferToSubaccountSuccess { subaccount { subaccountId } } ${REFUSED} }
    }`,
    input: ({ subaccountId, amountCents }) => ({ subaccountId, amountCents }),
    idOf: (done) => done.subaccount.subaccountId,
  },
  cardPayment: {
    mutation: `mutation ($input: CreateCardPaymentInput!) {
      done: createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } ${REFUSED} }
    }`,
    input: ({ amountCents: valueCents }) => ({ valueCents }),
    idOf: (done) => done.cardPayment.orderCode,
  },
};
