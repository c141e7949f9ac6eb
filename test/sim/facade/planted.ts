import type { AnswerTamper, Data } from './ask.ts';
import type { PayoutAnswer } from './client.ts';
import type { FacadeTamper } from './story.ts';

/**
 * Faults that a facade could have, by their effects. Each is inserted between the facade and the service or the
 * client, with the effect that the fault would have inside.
 */
export const PLANTED: Readonly<Record<string, FacadeTamper>> = {
  'a restored database has no mark': { forgetsMark: true },
  'a masked key identifies a payout': {
    wire: { unmask: (masked) => (masked.startsWith('a***') ? 'ana@padaria.example' : masked) },
  },
  'a retry has another key': {
    wire: {
      request: (body, arrival) =>
        arrival % 4 === 3 ? { ...body, idempotencyKey: `${body.idempotencyKey}-again` } : body,
    },
  },
  'a request whose answer is lost is sent again': { wire: { repeatsLost: true } },
  'a payout is none while its request is open': {
    answers: (data, operation) =>
      operation.startsWith('by ') && data.answer?.inDoubt ? { answer: null } : data,
  },
  'a payout in doubt was never made, at once': {
    answers: alterPayout((payout) => (payout.inDoubt ? { ...payout, ...neverMade(payout) } : payout)),
  },
  'a webhook alone makes an end final': {
    answers: alterPayout((payout) => (isEnd(payout) ? { ...payout, ...asFinal(payout) } : payout)),
  },
  'an id changes when the payout is named': {
    answers: alterPayout((payout) => (payout.inDoubt ? { ...payout, id: `${payout.id}doubt` } : payout)),
  },
  'a line of the statement is lost': {
    answers: (data, operation) =>
      operation === 'statement' && data.wallet
        ? { wallet: { ...data.wallet, closing: withoutLine(data.wallet.closing) } }
        : data,
  },
  'updates go back': {
    answers: (data, operation) =>
      operation === 'update' && data.answer?.final ? { answer: { ...data.answer, version: 0 } } : data,
  },
};

/** The faults that the shop's part of a story has to show alone. */
export const PLANTED_IN_SHOP: Readonly<Record<string, FacadeTamper>> = Object.fromEntries(
  [
    'a restored database has no mark',
    'a retry has another key',
    'a request whose answer is lost is sent again',
  ].map((name) => [name, PLANTED[name]!]),
);

/** Alters each payout in an answer. */
function alterPayout(alter: (payout: PayoutAnswer) => PayoutAnswer): AnswerTamper {
  return (data) => {
    const { answer } = data;
    if (answer?.payout) return { answer: { ...answer, payout: alter(answer.payout) } };
    if (answer?.nodes) return { answer: { nodes: answer.nodes.map(alter) } };
    return answer?.id ? { answer: alter(answer) } : data;
  };
}

function withoutLine(closing: Data): Data {
  return { ...closing, lines: closing.lines.slice(1) };
}

function neverMade({ __typename }: PayoutAnswer): Partial<PayoutAnswer> {
  const end = { inDoubt: false, final: true };
  return __typename === 'Payout'
    ? { ...end, status: 'DENIED' }
    : { ...end, status: 'FAILED', reversed: true, guidance: 'RETRY_WITH_NEW_KEY' };
}

function isEnd({ status, reversed }: PayoutAnswer): boolean {
  return status === 'COMPLETED' || status === 'DENIED' || reversed === true;
}

function asFinal({ __typename, status }: PayoutAnswer): Partial<PayoutAnswer> {
  if (__typename === 'Payout') return { final: true };
  return { final: true, guidance: status === 'COMPLETED' ? 'NONE' : 'RETRY_WITH_NEW_KEY' };
}
