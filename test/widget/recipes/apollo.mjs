import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import possibleTypes from '@psa/checkout/possible-types.json' with { type: 'json' };
import { resumable, socketOptions, tokens } from '@psa/checkout/resume';
import { createClient } from 'graphql-ws';

const LIST = gql`{ updatesCursor payments(first: 50) { nodes { paymentId status } } }`;
const UPDATES = gql`subscription ($after: String) {
  allPaymentUpdates(after: $after) { cursor payment { paymentId status } }
}`;

/** Shows the payments, and then each change. The result ends it. */
export async function followPayments({ url, getToken, show }) {
  const token = tokens(getToken);
  const socket = createClient({ url, ...socketOptions(token) });
  const link = new GraphQLWsLink(resumable(socket, { tokens: token, onGap: list }));
  const apollo = new ApolloClient({ link, cache: new InMemoryCache({ possibleTypes }) });

  async function list() {
    const { data } = await apollo.query({ query: LIST, fetchPolicy: 'network-only' });
    data.payments.nodes.forEach(show);
    return data.updatesCursor;
  }

  const updates = apollo.subscribe({ query: UPDATES, variables: { after: await list() } });
  const subscription = updates.subscribe(({ data, error }) => {
    if (error) console.error(error);
    else show(data.allPaymentUpdates.payment);
  });
  return () => subscription.unsubscribe();
}
