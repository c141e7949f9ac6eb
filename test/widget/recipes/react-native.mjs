import { resumable, socketOptions, tokens } from '@psa/checkout/resume';
import { createClient } from 'graphql-ws';

const PIX = {
  start: `mutation ($input: StartCheckoutInput!) { started: startPixCheckout(input: $input) {
    ... on StartPixCheckoutSuccess { payment { id: paymentId status pix { copyPaste } } paymentToken }
    ... on UserError { message }
  } }`,
  updates: `subscription ($id: String!, $after: String) {
    update: paymentUpdates(paymentId: $id, after: $after) { cursor payment { id: paymentId status } }
  }`,
};
const CARD = {
  start: `mutation ($input: StartCheckoutInput!) { started: startCheckout(input: $input) {
    ... on StartCheckoutSuccess { payment: cardPayment { id: orderCode status checkoutUrl } paymentToken }
    ... on UserError { message }
  } }`,
  updates: `subscription ($id: String!, $after: String) {
    update: cardPaymentUpdates(orderCode: $id, after: $after) { cursor payment: cardPayment { id: orderCode status } }
  }`,
};
const METHODS = { PIX, CARD };

/** Starts a payment. Keep the result: after a restart of the app `followPayment` goes on with it. */
export async function startPayment({ endpoint, token, attemptId, method }) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const body = JSON.stringify({ query: METHODS[method].start, variables: { input: { attemptId } } });
  const { data, errors } = await (await fetch(endpoint, { method: 'POST', headers, body })).json();
  const { payment, paymentToken, message } = data?.started ?? errors[0];
  if (!payment) throw new Error(message);
  return { method, payment, paymentToken };
}

/** Shows the status, and then each change, until nothing can change any more. The result ends it. */
export function followPayment({ url, method, payment, paymentToken, show }) {
  const token = tokens(() => paymentToken);
  const socket = createClient({ url, ...socketOptions(token) });
  const client = resumable(socket, { tokens: token, onGap: () => null });
  const request = { query: METHODS[method].updates, variables: { id: payment.id } };
  return client.subscribe(request, {
    next: ({ data }) => show(data.update.payment.status),
    error: console.error,
    complete: () => console.log('Nothing can change any more'),
  });
}
