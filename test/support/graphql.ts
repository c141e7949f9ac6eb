import type { ExecutionResult } from 'graphql';
import { type Client, createClient as createWsClient } from 'graphql-ws';
import WebSocket from 'ws';
import { newKey } from './keys.ts';
import { captureErrors } from './log-capture.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
type Data = any;

export interface GraphQLClient {
  /** Sends one operation as JSON over POST. Throws if the answer has errors. */
  request(query: string, variables?: Record<string, unknown>): Promise<Data>;
  /** Sends one operation in the same way, and returns any answer with its HTTP status. */
  send(
    query: string,
    variables?: Record<string, unknown>,
  ): Promise<{ status: number; headers: Headers; body: Data }>;
  /** Subscribes over an event stream. */
  sse(query: string, variables?: Record<string, unknown>): Stream;
  /** Subscribes over a separate WebSocket, which is closed with the stream. */
  ws(query: string, variables?: Record<string, unknown>): Stream;
  /** Creates a client of `graphql-ws`. */
  socket(options?: Partial<Parameters<typeof createWsClient>[0]>): Client;
}

/** The results of a subscription, in the order of arrival. */
export interface Stream extends AsyncIterableIterator<ExecutionResult<Data>> {
  /** Resolves with the next result's data. Throws at an error or at the end. */
  data(): Promise<Data>;
  close(): Promise<void>;
}

export function createClient(
  endpoint: string,
  credential: string | null,
  headers: Record<string, string> = {},
): GraphQLClient {
  const authorization = credential === null ? null : `Bearer ${credential}`;
  const post = (body: unknown, accept: string, signal?: AbortSignal) =>
    fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept,
        ...(authorization ? { authorization } : {}),
        ...headers,
      },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    });

  const client: GraphQLClient = {
    async send(query, variables) {
      // A subscription that is refused is answered like the others.
      const accept = 'application/json, text/event-stream;q=0.5';
      const response = await post({ query, variables: withKeys(query, variables) }, accept);
      const body = await response.json();
      captureErrors(body);
      return { status: response.status, headers: response.headers, body };
    },
    async request(query, variables) {
      const { status, body } = await client.send(query, variables);
      if (body.errors) throw new Error(`${status} ${JSON.stringify(body.errors)}`);
      return body.data;
    },
    sse(query, variables) {
      assertNoneMissed(query);
      const abort = new AbortController();
      return toStream(events(post({ query, variables }, 'text/event-stream', abort.signal)), () =>
        abort.abort(),
      );
    },
    ws(query, variables) {
      assertNoneMissed(query);
      const socket = client.socket();
      return toStream(
        socket.iterate<Data>({ query, ...(variables ? { variables } : {}) }) as AsyncGenerator<
          ExecutionResult<Data>
        >,
        () => socket.dispose(),
      );
    },
    socket: (options) =>
      createWsClient({
        url: endpoint.replace(/^http/, 'ws'),
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        ...(authorization ? { connectionParams: { authorization } } : {}),
        ...options,
      }),
  };
  return client;
}

const MONEY =
  /\b(?:requestPayout|requestSubaccountPayout|transferToSubaccount|refund(?:Payment|Charge|CardPayment))\(\s*input: ?\$(\w+)/g;

/** Gives each input by which money leaves a key of its own, if the test has named none; null stays null. */
function withKeys(query: string, variables: Record<string, unknown> | undefined) {
  const inputs = [...query.matchAll(MONEY)].flatMap(([, name]) => {
    const input = variables?.[name!];
    const lacksKey = typeof input === 'object' && input !== null && !('idempotencyKey' in input);
    return lacksKey ? [[name!, { ...input, idempotencyKey: newKey() }] as const] : [];
  });
  return inputs.length > 0 ? { ...variables, ...Object.fromEntries(inputs) } : variables;
}

/** Throws if the updates of all resources have no position: those of the time while the stream opens are lost. */
function assertNoneMissed(query: string) {
  if (/\ball[A-Z]\w*Updates\b(?!\([^)]*\bafter:)/.test(query))
    throw new Error('name `after`: an update while the subscription opens would not be in it');
}

async function* events(answer: Promise<Response>): AsyncGenerator<ExecutionResult<Data>> {
  const response = await answer;
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    throw new Error(`${response.status} ${await response.text()}`);
  let buffered = '';
  for await (const chunk of response.body!.pipeThrough(
    new TextDecoderStream(),
  ) as unknown as AsyncIterable<string>) {
    buffered += chunk;
    const blocks = buffered.split('\n\n');
    buffered = blocks.pop()!;
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (event === 'complete') return;
      if (event === 'next' && data) yield JSON.parse(data);
    }
  }
}

function toStream(results: AsyncGenerator<ExecutionResult<Data>>, close: () => unknown): Stream {
  const stream: Stream = {
    async next() {
      const result = await results.next();
      captureErrors(result.value);
      return result;
    },
    async data() {
      const { value, done } = await stream.next();
      if (done) throw new Error('the stream has ended');
      if (value.errors) throw new Error(JSON.stringify(value.errors));
      return value.data;
    },
    async close() {
      close();
      await results.return(undefined).catch(() => undefined);
    },
    [Symbol.asyncIterator]() {
      return stream;
    },
  };
  return stream;
}
