// A kept connection for programs that send many requests. It writes and reads its socket itself: a client library would
// use as much of the machine as the servers that it measures.
import { once } from 'node:events';
import { connect } from 'node:net';

/** @param {string} host @param {number} port */
export async function openSocket(host, port) {
  const socket = connect(port, host).setNoDelay(true);
  await once(socket, 'connect');
  return socket;
}

/** The length of head and body together; null while the head is incomplete. @param {Buffer} bytes */
export function answerLength(bytes) {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const length = /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, headEnd))?.[1];
  if (length === undefined) throw new Error('an answer without a content-length');
  return headEnd + 4 + Number(length);
}

/**
 * Opens a connection on which one request is under way at a time. `send` returns the body of the answer, whose status
 * has to be 20x.
 *
 * @param {string} url
 */
export async function openConnection(url) {
  const { hostname, port } = new URL(url);
  const socket = await openSocket(hostname, Number(port));
  /** @type {{ resolve: (body: string) => void, reject: (error: Error) => void } | null} */
  let waiting = null;
  /** @type {Buffer} */
  let held = Buffer.alloc(0);
  const fail = (/** @type {Error} */ error) => waiting?.reject(error);
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server closed a connection')));
  socket.on('data', (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const length = answerLength(held);
    if (length === null || held.length < length) return;
    const status = held.toString('latin1', 9, 12);
    const body = held.toString('utf8', held.indexOf('\r\n\r\n') + 4, length);
    held = held.subarray(length);
    if (!status.startsWith('20')) return fail(new Error(`${status} ${body}`));
    waiting?.resolve(body);
  });
  return {
    /** @param {{ path: string, key: string, body: object }} request @returns {Promise<string>} */
    send({ path, key, body }) {
      const text = JSON.stringify(body);
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(
          `POST ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\naccept: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
        );
      });
    },
    close() {
      waiting = null;
      socket.destroy();
    },
  };
}
