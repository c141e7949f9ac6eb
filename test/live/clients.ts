import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { subscriptionExchange, Client as UrqlClient } from '@urql/core';
// The bundles of version 3 that Node loads: the package has no map of exports.
import {
  ApolloClient as ApolloClient3,
  InMemoryCache as InMemoryCache3,
} from 'apollo-client-3/core/core.cjs';
import { GraphQLWsLink as GraphQLWsLink3 } from 'apollo-client-3/link/subscriptions/subscriptions.cjs';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient as createWsClient } from 'graphql-ws';
import { createClient as createWsClient5 } from 'graphql-ws-5';
import { Environment, Network, Observable, RecordSource, Store } from 'relay-runtime';
import WebSocket from 'ws';
import { createLiveClient, live } from '../../widget/src/live/live.ts';
import {
  type GetToken,
  type ResumeOptions,
  relaySubscribe,
  resumable,
  socketOptions,
  streamOptions,
  tokens,
  urqlForward,
} from '../../widget/src/live/resume.ts';
import { follow } from '../../widget/src/server/follow.ts';
import type { Topic } from '../../widget/src/server/topics.ts';

export interface Following extends Omit<ResumeOptions, 'tokens'> {
  /** The address of /graphql. */
  endpoint: string;
  getToken: GetToken;
  /** The account's key, for clients on a server. */
  key: string;
  query: string;
  variables: Record<string, unknown>;
  onData(data: Record<string, unknown>): void;
  onError(error: unknown): void;
  onComplete(): void;
}

/** Follows by a client as an application uses it. The returned function ends it. */
export type Follower = (following: Following) => () => unknown;

/** The clients that present the account's key, and no token: their credential is not renewed or revoked. */
export const CLIENTS_BY_KEY: ReadonlySet<string> = new Set(['follow']);

/** Each client, unmodified, with the wrapper of @psa/checkout/resume; the last three are this package's own. */
export const CLIENTS: Record<string, Follower> = {
  'graphql-ws': (following) => bySocket(following),
  'graphql-ws 5': (following) => bySocket(following, createWsClient5 as never),
  'graphql-sse': (following) => {
    const { endpoint, getToken, query, variables, ...options } = following;
    const token = tokens(getToken);
    const client = resumable(createSseClient({ url: endpoint, ...streamOptions(token) }), {
      ...options,
      tokens: token,
    });
    const leave = client.subscribe({ query, variables }, sinkOf(following));
    return () => {
      leave();
      client.dispose();
    };
  },
  'Apollo Client': (following) => {
    const { query, variables, onError, onComplete } = following;
    // The link compares errors with the global WebSocket. Node has one from version 22 on.
    globalThis.WebSocket ??= WebSocket as never;
    const client = socket(following);
    const apollo = new ApolloClient({ link: new GraphQLWsLink(client), cache: new InMemoryCache() });
    const sink = sinkOf(following);
    const subscription = apollo
      .subscribe<Record<string, unknown>>({ query: gql(query), variables, fetchPolicy: 'no-cache' })
      .subscribe({
        next: ({ data, error }) => (error ? onError(error) : sink.next({ data: data ?? null })),
        error: onError,
        complete: onComplete,
      });
    return () => {
      subscription.unsubscribe();
      apollo.stop();
      return client.dispose();
    };
  },
  'Apollo Client 3': (following) => {
    const { query, variables, onError, onComplete } = following;
    globalThis.WebSocket ??= WebSocket as never;
    const client = socket(following, createWsClient5 as never);
    const apollo = new ApolloClient3({
      link: new GraphQLWsLink3(client as never),
      cache: new InMemoryCache3(),
    });
    const sink = sinkOf(following);
    const subscription = apollo
      .subscribe<Record<string, unknown>>({ query: gql(query), variables, fetchPolicy: 'no-cache' })
      .subscribe({
        next: ({ data, errors }) => sink.next({ data: data ?? null, errors }),
        error: onError,
        complete: onComplete,
      });
    return () => {
      subscription.unsubscribe();
      apollo.stop();
      return client.dispose();
    };
  },
  urql: (following) => {
    const { endpoint, query, variables, onError } = following;
    const client = socket(following);
    const urql = new UrqlClient({
      url: endpoint,
      preferGetMethod: false,
      exchanges: [subscriptionExchange({ forwardSubscription: urqlForward(client) })],
    });
    const sink = sinkOf(following);
    const { unsubscribe } = urql
      .subscription<Record<string, unknown>>(query, variables)
      .subscribe(({ data, error }) => (error ? onError(error) : sink.next({ data: data ?? null })));
    return () => {
      unsubscribe();
      return client.dispose();
    };
  },
  Relay: (following) => {
    const { query, variables, onError, onComplete } = following;
    const client = socket(following);
    const relay = new Environment({
      network: Network.create(() => undefined, relaySubscribe(client, Observable)),
      store: new Store(new RecordSource()),
    });
    const sink = sinkOf(following);
    const operation = { text: query, name: 'Updates', operationKind: 'subscription' };
    const { unsubscribe } = relay
      .getNetwork()
      .execute(operation, variables, {})
      .subscribe({
        next: (result) => sink.next(result as Parameters<typeof sink.next>[0]),
        error: onError,
        complete: onComplete,
      });
    return () => {
      unsubscribe();
      return client.dispose();
    };
  },
  'no library': (following) => {
    const { query, variables } = following;
    return createLiveClient(following).subscribe<Record<string, unknown>>(
      { query, variables },
      sinkOf(following),
    );
  },
  'for await': (following) => {
    const { variables, onData, onError, onComplete } = following;
    const left = new AbortController();
    const read = async () => {
      for await (const update of live({ ...following, variables, signal: left.signal }))
        onData({ update: update });
    };
    const ended = read().then(onComplete, onError);
    return () => {
      left.abort();
      return ended;
    };
  },
  follow: (following) => {
    const { endpoint, key, query, variables, onData, onGap, onError, onComplete, onRetry, wait } = following;
    const { resource, topic, fields } = topicOf(query);
    const left = new AbortController();
    let stored = variables.after as string;
    const ended = follow(topic, {
      endpoint,
      key,
      fields,
      onRetry,
      wait,
      signal: left.signal,
      load: () => stored,
      save(cursor) {
        stored = cursor;
      },
      onUpdate: ({ cursor, resource: value }) => onData({ update: { cursor, [resource]: value } }),
      // The application requests the cursor from which to go on.
      async reconcile(reason) {
        if (!onGap) throw new Error(`A cursor was ${reason}`);
        await onGap({ query });
      },
      // The follower's `onError` never throws.
      onError(error) {
        throw error;
      },
    }).then(onComplete, onError);
    return () => {
      left.abort();
      return ended;
    };
  },
};

/** The topic of `follow` whose updates a subscription sends, with the fields that it selects of the resource. */
function topicOf(query: string): { resource: string; topic: Topic; fields: string | undefined } {
  const [, resource = '', fields] = /\b(cardPayment|payment) \{([^}]*)\}/.exec(query) ?? [];
  return { resource, topic: resource === 'cardPayment' ? 'cardPayments' : 'payments', fields };
}

/** Follows by graphql-ws without another library; `create` is `createClient` of the version under test. */
function bySocket(following: Following, create = createWsClient): () => unknown {
  const { query, variables } = following;
  const client = socket(following, create);
  const leave = client.subscribe({ query, variables }, sinkOf(following));
  return () => {
    leave();
    return client.dispose();
  };
}

/** A client of the socket; `create` is that of another version. */
function socket({ endpoint, getToken, ...options }: Following, create = createWsClient) {
  const token = tokens(getToken);
  return resumable(
    create({
      url: endpoint.replace(/^http/, 'ws'),
      ...socketOptions(token, WebSocket as never),
    }),
    { ...options, tokens: token },
  );
}

interface Result {
  data?: Record<string, unknown> | null | undefined;
  errors?: readonly unknown[] | undefined;
}

function sinkOf({ onData, onError, onComplete }: Following) {
  return {
    next({ data, errors }: Result): void {
      if (data) onData(data as Record<string, unknown>);
      else onError(errors);
    },
    error: onError,
    complete: onComplete,
  };
}
