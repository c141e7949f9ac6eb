import { resumable, socketOptions, tokens, urqlForward } from '@psa/checkout/resume';
import { Client, subscriptionExchange } from '@urql/core';
import { createClient } from 'graphql-ws';

const LIST = '{ updatesCursor payments(first: 50) { nodes { paymentId status } } }';
const UPDATES = `subscription ($after: String) {
  allPaymentUpdates(after: $after) { cursor payment { paymentId status } }
}`;

/** Shows the payments, and then each change. The result ends it. */
export async function followPayments({ url, getToken, show }) {
  const token = tokens(getToken);
  const socket = createClient({ url, ...socketOptions(token) });
  const forwardSubscription = urqlForward(resumable(socket, { tokens: token, onGap: list }));
  const exchanges = [subscriptionExchange({ forwardSubscription, enableAllOperations: true })];
  const urql = new Client({ url, exchanges, preferGetMethod: false });

  async function list() {
    const { data } = await urql.query(LIST, {}).toPromise();
    data.payments.nodes.forEach(show);
    return data.updatesCursor;
  }

  const updates = urql.subscription(UPDATES, { after: await list() });
  const subscription = updates.subscribe(({ data, error }) => {
    if (error) console.error(error);
    else show(data.allPaymentUpdates.payment);
  });
  return () => subscription.unsubscribe();
}
