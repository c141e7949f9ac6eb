import { once } from 'node:events';
import { createServer, request as sendOn } from 'node:http';
import { connect } from 'node:net';

/** How often each instance is asked whether it is ready. */
const LOOK_MS = 250;
/** An instance that does not answer by then is none to send anybody to. */
const ANSWER_MS = 5_000;

/**
 * @typedef {object} Target an instance behind the balancer
 * @property {number} port on 127.0.0.1
 * @property {boolean} held it gets nothing new, though it may be ready: it is about to be stopped
 * @property {boolean} ready what its /readyz said last
 */

/**
 * A small balancer on 127.0.0.1, for a try: round robin over what is ready, HTTP and WebSockets. It says in
 * X-Forwarded-For who has come, and only that: whatever a client wrote there is dropped. What an instance has not
 * taken goes to the next; what it has taken and not answered is answered with 502, for it may have been done.
 *
 * @param {{ port: number, ports: number[] }} options
 */
export async function startBalancer({ port, ports }) {
  /** @type {Target[]} */
  const targets = ports.map((each) => ({ port: each, held: false, ready: false }));
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();
  let turn = 0;

  /** Who is next, of those that have not been tried. @param {Set<Target>} tried */
  function next(tried) {
    for (let step = 0; step < targets.length; step += 1) {
      const target = targets[turn++ % targets.length];
      if (target?.ready && !target.held && !tried.has(target)) return target;
    }
    return undefined;
  }

  const server = createServer((request, response) => forward(request, response));

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:http').ServerResponse} response
   * @param {Set<Target>} [tried]
   */
  function forward(request, response, tried = new Set()) {
    const target = next(tried);
    if (!target) return refuse(response, 503, 'No instance is ready');
    const { method, url: path } = request;
    let taken = false;
    const onward = sendOn({
      host: '127.0.0.1',
      port: target.port,
      method,
      path,
      headers: forwarded(request),
      // A connection that was kept could be closed at its other end just now.
      agent: false,
    });
    onward.on('socket', (socket) =>
      socket.once('connect', () => {
        taken = true;
        request.pipe(onward);
      }),
    );
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    onward.on('error', () => {
      if (!taken) {
        target.ready = false;
        forward(request, response, tried.add(target));
      } else if (response.headersSent) response.destroy();
      else refuse(response, 502, 'The instance did not answer');
    });
    response.on('close', () => onward.destroy());
  }

  server.on('upgrade', (request, socket, head) => upgrade(request, socket, head));

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {import('node:stream').Duplex} socket
   * @param {Buffer} head
   * @param {Set<Target>} [tried]
   */
  function upgrade(request, socket, head, tried = new Set()) {
    const target = next(tried);
    if (!target) {
      socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    let taken = false;
    const onward = connect(target.port, '127.0.0.1', () => {
      taken = true;
      const headers = Object.entries(forwarded(request)).flatMap(([name, value]) =>
        [value ?? []].flat().map((each) => `${name}: ${each}\r\n`),
      );
      onward.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers.join('')}\r\n`);
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    onward.setNoDelay(true);
    onward.on('error', () => {
      if (taken) return;
      target.ready = false;
      socket.off('close', end);
      upgrade(request, socket, head, tried.add(target));
    });
    const end = () => onward.destroy();
    socket.on('error', () => undefined);
    socket.on('close', end);
    onward.on('close', () => taken && socket.destroy());
  }

  server.on('connection', (socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  async function look() {
    await Promise.all(
      targets.map(async (target) => {
        target.ready = await isReady(target.port);
      }),
    );
  }
  const watch = setInterval(look, LOOK_MS);
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());

  return {
    port: address.port,
    /** Asks each whether it is ready, at once. */
    look,
    /** Nothing new goes there from now on. @param {number} to */
    hold(to) {
      for (const target of targets) if (target.port === to) target.held = true;
    },
    /** It is ready again. @param {number} to */
    release(to) {
      for (const target of targets)
        if (target.port === to) {
          target.held = false;
          target.ready = true;
        }
    },
    async close() {
      clearInterval(watch);
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Whether the instance there takes work. @param {number} port @returns {Promise<boolean>} */
export function isReady(port) {
  return fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.ok;
    },
    () => false,
  );
}

/** What it came with, and from where. @param {import('node:http').IncomingMessage} request */
function forwarded({ headers, socket }) {
  return { ...headers, 'x-forwarded-for': socket.remoteAddress };
}

/** @param {import('node:http').ServerResponse} response @param {number} status @param {string} message */
function refuse(response, status, message) {
  response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' });
  response.end(JSON.stringify({ error: message }));
}
