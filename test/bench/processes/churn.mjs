// Clients that come and go during the whole run: for each created payment a client subscribes, reads this payment
// and others, reconnects with the last cursor, and leaves; some use an event stream, some leave without a close.
import { setTimeout as wait } from 'node:timers/promises';
import WebSocket from 'ws';
import { answerParent } from './answer.mjs';

const WORKERS = 40;
/** The pause between two rounds of one worker: the run is a load, not the most that the machine can do. */
const PAUSE_MS = 200;
/** The time after which a client counts an answer as missing. */
const ANSWERED_WITHIN_MS = 30_000;

const ALL = `subscription ($after: String) { allCardPaymentUpdates(after: $after) { cursor cardPayment { orderCode status } } }`;
const ONE = `subscription ($orderCode: String!) { cardPaymentUpdates(orderCode: $orderCode) { cursor cardPayment { orderCode status version } } }`;
const CREATE =
  'mutation { createCardPayment(input: { valueCents: 4990, description: "Caneca" }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }';
const LIST = '{ wallet { balanceCents } cardPayments(first: 10) { nodes { orderCode status } } }';

let url = '';
let key = '';
let ended = false;
/** @type {Promise<void>[]} */
let workers = [];
const counts = { payments: 0, subscriptions: 0, updates: 0, reconnects: 0 };
/** @type {string[]} */
const faults = [];

answerParent({
  start(given) {
    ({ url, key } = given);
    workers = Array.from({ length: WORKERS }, async (_, index) => {
      await wait((PAUSE_MS * index) / WORKERS);
      while (!ended)
        try {
          await round(index);
          await wait(PAUSE_MS);
        } catch (error) {
          faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
          ended = true;
        }
    });
  },
  counts: () => ({ ...counts, faults }),
  async end() {
    ended = true;
    await Promise.all(workers);
  },
});

/** @param {number} worker */
async function round(worker) {
  const { createCardPayment } = await post(CREATE);
  const { orderCode } = createCardPayment.cardPayment;
  counts.payments += 1;
  if (worker % 4 === 0) return stream(orderCode);

  const all = await follow(ALL, { after: null });
  const one = await follow(ONE, { orderCode });
  await one.reported();
  // A new subscriber may not follow yet: the next change reaches it.
  do await post(CREATE);
  while (!(await all.hears(PAUSE_MS)));
  const { cursor } = (await all.reported()).allCardPaymentUpdates;
  await post(LIST);
  // Some clients close, and the others just disappear.
  if (worker % 2 === 0) all.close();
  else all.vanish();
  counts.reconnects += 1;
  const again = await follow(ALL, { after: cursor });
  await post(CREATE);
  await again.reported();
  again.close();
  one.close();
}

/** @param {string} query @param {object} [variables] */
async function post(query, variables) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = /** @type {any} */ (await response.json());
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

/** Reads the first state over an event stream, and leaves it. @param {string} orderCode */
async function stream(orderCode) {
  const leave = new AbortController();
  counts.subscriptions += 1;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: ONE, variables: { orderCode } }),
    signal: leave.signal,
  });
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  let text = '';
  while (!text.includes('event: next')) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The stream ended: ${text}`);
    text += Buffer.from(value).toString();
  }
  counts.updates += 1;
  leave.abort();
}

/** One subscription on a socket of its own. @param {string} query @param {object} variables */
async function follow(query, variables) {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');
  /** @type {any[]} */
  const arrived = [];
  /** @type {() => void} */
  let changed = () => undefined;
  let acknowledged = false;
  /** @type {Error | null} */
  let failure = null;
  /** @param {string} text */
  const fail = (text) => {
    failure ??= new Error(text);
    changed();
  };
  socket.on('error', (error) => fail(error.message));
  socket.on('close', (code, reason) => fail(`closed: ${code} ${reason}`));
  socket.on('open', () =>
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } })),
  );
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    if (message.type === 'connection_ack') {
      acknowledged = true;
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables } }));
    } else if (message.type === 'next' && !message.payload.errors) arrived.push(message.payload.data);
    else if (message.type === 'ping') socket.send('{"type":"pong"}');
    else return fail(data.toString());
    changed();
  });
  /** @param {() => boolean} condition @param {number} [withinMs] */
  const until = async (condition, withinMs = ANSWERED_WITHIN_MS) => {
    const endsAt = performance.now() + withinMs;
    while (!condition() && performance.now() < endsAt) {
      if (failure) throw failure;
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, endsAt - performance.now());
        changed = () => {
          clearTimeout(timer);
          resolve(undefined);
        };
      });
    }
    return condition();
  };
  if (!(await until(() => acknowledged))) throw new Error('No connection_ack came');
  counts.subscriptions += 1;
  return {
    /** Waits for the next message, at most this number of milliseconds. @param {number} ms */
    hears: (/** @type {number} */ ms) => until(() => arrived.length > 0, ms),
    async reported() {
      if (!(await until(() => arrived.length > 0))) throw new Error('No update came');
      counts.updates += 1;
      return arrived.shift();
    },
    close: () => socket.close(1000),
    vanish: () => socket.terminate(),
  };
}
