import { live } from '@psa/checkout/live';

const LIST = '{ updatesCursor payments(first: 50) { nodes { paymentId status } } }';
const UPDATES = `subscription ($after: String) {
  allPaymentUpdates(after: $after) { cursor payment { paymentId status } }
}`;

/** Shows the payments, and then each change, until the signal ends it. */
export async function followPayments({ endpoint, getToken, show, signal }) {
  async function list() {
    const { token } = await getToken();
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const body = JSON.stringify({ query: LIST });
    const { data } = await (await fetch(endpoint, { method: 'POST', headers, body })).json();
    data.payments.nodes.forEach(show);
    return data.updatesCursor;
  }

  const after = await list();
  const updates = live({ endpoint, getToken, query: UPDATES, after, onGap: list, signal });
  for await (const { payment } of updates) show(payment);
}
