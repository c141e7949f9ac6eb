import { resumable, socketOptions, tokens } from '@psa/checkout/resume';
import { createClient } from 'graphql-ws';

const LIST = '{ updatesCursor payments(first: 50) { nodes { paymentId status } } }';
const UPDATES = `subscription ($after: String) {
  allPaymentUpdates(after: $after) { cursor payment { paymentId status } }
}`;

/** Shows the payments, and then each change. The result ends it. */
export async function followPayments({ url, getToken, show }) {
  const token = tokens(getToken);
  const client = resumable(createClient({ url, ...socketOptions(token) }), { tokens: token, onGap: list });

  async function list() {
    const { value } = await client.iterate({ query: LIST }).next();
    value.data.payments.nodes.forEach(show);
    return value.data.updatesCursor;
  }

  const request = { query: UPDATES, variables: { after: await list() } };
  return client.subscribe(request, {
    next: ({ data }) => show(data.allPaymentUpdates.payment),
    error: console.error,
    complete: () => console.log('The subscription has ended'),
  });
}
