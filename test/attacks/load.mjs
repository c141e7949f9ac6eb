// Many clients of one server, in a process of their own: their own cost is not in the server's figures.
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import WebSocket from 'ws';
import { answerParent } from '../bench/processes/answer.mjs';

/** The number of sockets that open at the same time. */
const AT_ONCE = 64;

/** @typedef {{ url: string, count: number, origin?: string, key?: string, query?: string }} Entry */

/** @type {Set<WebSocket>} */
const sockets = new Set();
/** @type {Set<import('node:http').IncomingMessage>} */
const streams = new Set();
/**
 * The numbers of connections that the server has ended: a socket by its code, an event stream by the code of its
 * last error.
 * @type {Record<string, number>}
 */
const ended = {};
/** @type {() => void} */
let progressed = () => undefined;

answerParent({
  /**
   * Opens more sockets. With a `key` a socket sends it and waits for the answer; with a `query` it then
   * subscribes.
   */
  async open(/** @type {Entry} */ { count, ...how }) {
    await inTurns(count, () => enter(how));
    return sockets.size;
  },
  /** Opens more event streams. @param {Entry} request */
  async stream({ count, ...how }) {
    await inTurns(count, () => follow(how));
    return streams.size;
  },
  /**
   * Opens a subscription for each entry, as an event stream or as one of up to 100 over a socket of one key and
   * address, and reads everything. Returns how many are open, and the number of each refusal.
   */
  async subscribe({ url, transport, entries }) {
    /** @type {Record<string, number>} */
    const outcomes = {};
    const add = (/** @type {string} */ outcome) => {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    };
    if (transport === 'sse') {
      const left = [...entries];
      await inTurns(left.length, async () => add(await openStream(url, left.pop())));
    } else {
      /** @type {Own[][]} */
      const left = [];
      for (const entry of entries) {
        const [last = []] = left.slice(-1);
        if (last.length < 100 && last[0]?.key === entry.key && last[0]?.address === entry.address)
          last.push(entry);
        else left.push([entry]);
      }
      await inTurns(left.length, () => openOverSocket(url, left.pop() ?? [], add));
    }
    return outcomes;
  },
  /** Opens requests that never end, each byte by byte. @param {{ port: number, count: number, text: string }} request */
  async drip({ port, count, text }) {
    await inTurns(count, () => drip(port, text));
    return dripping.size;
  },
  /** Sends requests over one connection, and reads no answer. */
  async ignore({ port, count, text }) {
    await inTurns(count, async () => {
      const socket = await connected(port);
      if (text === '') return;
      socket.pause();
      socket.write(text);
    });
  },
  /** Stops reading. */
  pause() {
    for (const each of [...sockets, ...streams]) each.pause();
  },
  resume() {
    for (const each of [...sockets, ...streams]) each.resume();
  },
  /**
   * Resolves when the server has ended this number of connections, or after `withinMs`. Returns how many ended,
   * by their code.
   */
  async ended({ count, withinMs }) {
    const endsAt = performance.now() + withinMs;
    while (Object.values(ended).reduce((sum, some) => sum + some, 0) < count && performance.now() < endsAt)
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, endsAt - performance.now());
        progressed = () => {
          clearTimeout(timer);
          resolve(undefined);
        };
      });
    return ended;
  },
});

/** The time between two bytes. */
const DRIP_MS = 100;
/** @type {Set<() => void>} */
const dripping = new Set();
setInterval(() => {
  for (const next of dripping) next();
}, DRIP_MS).unref();

/** Resolves with the status of the answer, or with `cut off`. @param {number} port */
async function connected(port) {
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    said += chunk.toString('latin1');
  });
  socket.on('close', () => end(/^HTTP\/1\.1 (\d+)/.exec(said)?.[1] ?? 'cut off'));
  await once(socket, 'connect');
  return socket;
}

/** @param {number} port @param {string} text */
async function drip(port, text) {
  const socket = await connected(port);
  let at = 0;
  const next = () => void socket.write(text[at++] ?? 'x');
  dripping.add(next);
  socket.once('close', () => dripping.delete(next));
}

/** @param {number} count @param {() => Promise<void>} task */
async function inTurns(count, task) {
  let left = count;
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, count) }, async () => {
      while (left-- > 0) await task();
    }),
  );
}

/** @param {string | number} code */
function end(code) {
  ended[code] = (ended[code] ?? 0) + 1;
  progressed();
}

/** @param {Omit<Entry, 'count'>} how */
async function enter({ url, origin, key, query }) {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws', {
    perMessageDeflate: false,
    ...(origin && { origin }),
  });
  sockets.add(socket);
  socket.on('error', () => undefined);
  const gone = once(socket, 'close');
  socket.on('close', (code) => {
    sockets.delete(socket);
    end(code);
  });
  await Promise.race([once(socket, 'open').catch(() => undefined), gone]);
  if (key === undefined || socket.readyState !== WebSocket.OPEN) return;
  const acknowledged = once(socket, 'message').catch(() => undefined);
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }));
  await Promise.race([acknowledged, gone]);
  if (query !== undefined) socket.send(JSON.stringify({ id: 'a', type: 'subscribe', payload: { query } }));
}

/** @typedef {{ key: string, query: string, address: string }} Own */

/** @param {{ message: string, extensions: { code: string } }} error */
const refusalIn = ({ message, extensions: { code } }) => `${code}: ${message.replaceAll(/\d+/g, 'n')}`;

/** @param {string} url @param {Own} own */
async function openStream(url, { key, query, address }) {
  const request = httpRequest(`${url.replace('localhost', '127.0.0.1')}/graphql`, {
    agent: false,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: `Bearer ${key}`,
      'x-forwarded-for': address,
    },
  });
  request.end(JSON.stringify({ query }));
  const [response] = await once(request, 'response');
  response.on('error', () => undefined);
  if (response.statusCode === 200) {
    response.resume();
    return 'open';
  }
  let text = '';
  for await (const chunk of response) text += chunk;
  return refusalIn(JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text).errors[0]);
}

/**
 * Opens the subscriptions of one key and address over one socket.
 * @param {string} url @param {Own[]} entries @param {(outcome: string) => void} add
 */
async function openOverSocket(url, entries, add) {
  const [{ key, address }] = /** @type {[Own]} */ (entries);
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws', {
    perMessageDeflate: false,
    headers: { 'x-forwarded-for': address },
  });
  const gone = once(socket, 'close').then(([code, reason]) => `${code}: ${reason}`);
  await once(socket, 'open');
  const acknowledged = once(socket, 'message').then(() => null);
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }));
  const refusal = await Promise.race([acknowledged, gone]);
  if (refusal !== null) {
    for (const _ of entries) add(refusal);
    return;
  }
  /** The operations without a first message. */
  const waiting = new Set(entries.map((_, id) => String(id)));
  const all = new Promise((resolve) => {
    socket.on('message', (data) => {
      const { id, payload } = JSON.parse(data.toString());
      if (!waiting.delete(id)) return;
      add(payload.errors ? refusalIn(payload.errors[0]) : 'open');
      if (waiting.size === 0) resolve(undefined);
    });
  });
  for (const [id, { query }] of entries.entries())
    socket.send(JSON.stringify({ id: String(id), type: 'subscribe', payload: { query } }));
  const end = await Promise.race([all, gone]);
  for (const _ of waiting) add(String(end));
}

/** @param {Omit<Entry, 'count'>} how */
async function follow({ url, origin, key, query }) {
  const request = httpRequest(`${url.replace('localhost', '127.0.0.1')}/graphql`, {
    agent: false,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(key && { authorization: `Bearer ${key}` }),
      ...(origin && { origin }),
    },
  });
  request.end(JSON.stringify({ query }));
  const [response] = await once(request, 'response');
  streams.add(response);
  let last = '';
  response.on('error', () => undefined);
  response.on('data', (/** @type {Buffer} */ chunk) => {
    last = (last + chunk.toString('latin1')).slice(-1_000);
  });
  response.on('close', () => {
    streams.delete(response);
    end(/"code":"(\w+)"/.exec(last)?.[1] ?? 'cut off');
  });
}
