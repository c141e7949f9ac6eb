// Subscribers over WebSocket or by event stream, each on a socket of its own, that record when an event arrives.
// They write and read frames and events themselves: thousands of a client library's objects would use more of the
// machine than the server.
import { once } from 'node:events';
import { connect } from 'node:net';
import { answerParent } from './answer.mjs';

/** The number of sockets that open at the same time. */
const AT_ONCE = 64;
const HANDSHAKE =
  'GET PATH HTTP/1.1\r\nhost: HOST\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** @type {import('node:net').Socket[]} */
const sockets = [];
/**
 * Sockets that were notified since the last call, each with the instant.
 * @type {Map<import('node:net').Socket, bigint>}
 */
const reported = new Map();
let text = '';
let opened = 0;
/** @type {string[]} */
const faults = [];
/** @type {() => void} */
let progressed = () => undefined;

answerParent({
  /**
   * Opens more sockets. With a `query` they subscribe over graphql-transport-ws, each under an id of its own; as
   * `streams` they subscribe by event stream. `reported` shows whether they receive events.
   */
  async open({ url, path = '/', count, key, query = undefined, streams = false }) {
    const { hostname, port } = new URL(url);
    let left = count;
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count) }, async () => {
        while (left-- > 0) await (streams ? stream : follow)(hostname, Number(port), path, { key, query });
      }),
    );
    return { open: sockets.length };
  },
  /** Ends all sockets but this number. */
  async keep({ count }) {
    for (const socket of sockets.splice(count)) socket.removeAllListeners('close').destroy();
  },
  expect() {
    reported.clear();
  },
  /**
   * Resolves when all sockets have been notified since `expect`, or after `withinMs`. Returns how many were, the
   * text of the last one, and the sorted milliseconds from the instant `at` of the machine's clock.
   */
  async reported({ at, withinMs }) {
    const endsAt = Date.now() + withinMs;
    while (reported.size < sockets.length && faults.length === 0 && Date.now() < endsAt) {
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      await new Promise((resolve) => {
        progressed = () => resolve(undefined);
        timer = setTimeout(resolve, Math.max(0, endsAt - Date.now()));
      });
      clearTimeout(timer);
    }
    progressed = () => undefined;
    if (faults.length > 0) throw new Error(faults.slice(0, 3).join('\n'));
    const from = BigInt(at);
    const delays = [...reported.values()].map((arrivedAt) => Number(arrivedAt - from) / 1e6);
    return { count: reported.size, text, delays: delays.sort((left, right) => left - right) };
  },
});

/** @param {string} host @param {number} port @param {string} path @param {{ key?: string, query?: string }} operation */
async function follow(host, port, path, { key, query }) {
  const socket = connect(port, host).setNoDelay(true);
  await once(socket, 'connect');
  sockets.push(socket);
  const id = `subscriber-${++opened}`;
  /** @type {Promise<void>} */
  const ready = new Promise((resolve) => {
    receive(
      socket,
      (message) => {
        if (message.length < 200 && message.includes('"connection_ack"')) {
          send(socket, JSON.stringify({ id, type: 'subscribe', payload: { query } }));
          resolve();
          return;
        }
        if (message.includes('"type":"error"')) return fault(message.toString());
        reported.set(socket, process.hrtime.bigint());
        if (reported.size === sockets.length) {
          text = message.toString();
          progressed();
        }
      },
      () => {
        if (query === undefined) resolve();
        else
          send(
            socket,
            JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }),
          );
      },
    );
  });
  const protocol = query === undefined ? '' : 'sec-websocket-protocol: graphql-transport-ws\r\n';
  socket.write(`${HANDSHAKE.replace('PATH', path).replace('HOST', `${host}:${port}`)}${protocol}\r\n`);
  await ready;
}

/**
 * Reads the head of an answer, and then its events.
 * @param {string} host @param {number} port @param {string} path @param {{ key?: string, query?: string }} operation
 */
async function stream(host, port, path, { key, query = '' }) {
  const socket = connect(port, host).setNoDelay(true);
  await once(socket, 'connect');
  sockets.push(socket);
  socket.on('error', (error) => fault(error.message));
  socket.on('close', () => fault('the server closed a connection'));
  const body = JSON.stringify({ query });
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\nauthorization: Bearer ${key}\r\naccept: text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await new Promise((resolve) => {
    let held = '';
    socket.on('data', (chunk) => {
      held += chunk.toString();
      if (held.startsWith('HTTP/') && !held.startsWith('HTTP/1.1 200')) return fault(held.slice(0, 300));
      // The first comment of a stream says that it is open.
      if (held.includes(':\n\n')) resolve(undefined);
      const [, data] = /\ndata: (.*)\n\n/.exec(held) ?? [];
      if (data === undefined) return;
      held = '';
      reported.set(socket, process.hrtime.bigint());
      if (reported.size === sockets.length) {
        text = data;
        progressed();
      }
    });
  });
}

/** @param {string} message */
function fault(message) {
  faults.push(message);
  progressed();
}

/**
 * Calls `onMessage` with each message of the server; `upgraded` once, when the server has agreed to WebSocket.
 * @param {import('node:net').Socket} socket @param {(message: Buffer) => void} onMessage @param {() => void} upgraded
 */
function receive(socket, onMessage, upgraded) {
  /** @type {Buffer} */
  let held = Buffer.alloc(0);
  let isUpgraded = false;
  socket.on('error', (error) => fault(error.message));
  socket.on('close', () => fault('the server closed a connection'));
  socket.on('data', (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    if (!isUpgraded) {
      const end = held.indexOf('\r\n\r\n');
      if (end < 0) return;
      if (held.toString('latin1', 9, 12) !== '101') return fault(held.toString('utf8', 0, 300));
      held = held.subarray(end + 4);
      isUpgraded = true;
      upgraded();
    }
    for (;;) {
      const frame = firstFrame(held);
      if (!frame) return;
      held = held.subarray(frame.end);
      if (frame.opcode === TEXT) onMessage(frame.payload);
      else if (frame.opcode === PING) socket.write(masked(PONG, frame.payload));
      else if (frame.opcode === CLOSE) fault(`closed: ${frame.payload.toString('utf8', 2)}`);
    }
  });
}

/**
 * Reads the first frame; null while it is incomplete. A server's frame has no mask, and none of these is long.
 * @param {Buffer} bytes
 */
function firstFrame(bytes) {
  if (bytes.length < 2) return null;
  const opcode = /** @type {number} */ (bytes[0]) & 15;
  const short = /** @type {number} */ (bytes[1]);
  if (short === 127) throw new Error('a frame of more than 65,535 bytes');
  if (short === 126 && bytes.length < 4) return null;
  const start = short === 126 ? 4 : 2;
  const end = start + (short === 126 ? bytes.readUInt16BE(2) : short);
  return bytes.length < end ? null : { opcode, end, payload: bytes.subarray(start, end) };
}

/** @param {import('node:net').Socket} socket @param {string} message */
function send(socket, message) {
  socket.write(masked(TEXT, Buffer.from(message)));
}

/** Builds a frame with a mask of zeros, under which a payload stays as it is. @param {number} opcode @param {Buffer} payload */
function masked(opcode, payload) {
  const length = payload.length;
  const head =
    length < 126 ? [0x80 | opcode, 0x80 | length] : [0x80 | opcode, 0x80 | 126, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), payload]);
}
