import { relaySubscribe, resumable, socketOptions, tokens } from '@psa/checkout/resume';
import { createClient } from 'graphql-ws';
import { Environment, Network, Observable, RecordSource, Store } from 'relay-runtime';

/** The environment of an application: `useSubscription` misses nothing in it. `onGap` reads the lists again. */
export function createEnvironment({ url, getToken, onGap }) {
  const token = tokens(getToken);
  const client = resumable(createClient({ url, ...socketOptions(token) }), { tokens: token, onGap });
  const send = relaySubscribe(client, Observable);
  return new Environment({ network: Network.create(send, send), store: new Store(new RecordSource()) });
}
