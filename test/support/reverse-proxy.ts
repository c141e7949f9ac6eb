import { once } from 'node:events';
import { createServer, type IncomingMessage, request as sendOn } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface ReverseProxy {
  /** The public origin of the server behind the proxy. */
  readonly url: string;
  /** The port of the server behind the proxy. */
  target: number;
  /** The blocked transports: WebSockets, event streams. */
  readonly refuses: Set<'ws' | 'sse'>;
  close(): Promise<void>;
}

/** Starts a reverse proxy in front of a server, which blocks transports as some merchants' proxies do. */
export async function startReverseProxy(): Promise<ReverseProxy> {
  const sockets = new Set<Socket>();
  const refuses: ReverseProxy['refuses'] = new Set();
  const server = createServer((request, response) => {
    if (refuses.has('sse') && request.headers.accept?.includes('text/event-stream')) {
      response.writeHead(502).end();
      return;
    }
    const { method, url: path, headers } = request;
    const onward = sendOn({ port: proxy.target, host: '127.0.0.1', method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (refuses.has('ws')) {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return;
    }
    const onward = connect(proxy.target, '127.0.0.1', () => {
      const headers = request.rawHeaders.map((text, index) => (index % 2 ? `${text}\r\n` : `${text}: `));
      onward.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers.join('')}\r\n`);
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    for (const end of [socket, onward])
      end.on('error', () => undefined).on('close', () => [socket, onward].map((other) => other.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const proxy: ReverseProxy = {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    target: 0,
    refuses,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
