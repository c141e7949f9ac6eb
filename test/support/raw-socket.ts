import WebSocket from 'ws';
import { deferred } from './deferred.ts';
import { captureErrors } from './log-capture.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test knows what it sent
type Message = any;

/** A WebSocket whose messages a test sends itself, including those that no client library sends. */
export interface RawSocket {
  socket: WebSocket;
  send(message: unknown): void;
  /** Resolves with the next message, in order. Rejects when the socket closes first. */
  next(): Promise<Message>;
  /** Sends `connection_init` and resolves with the answer to it. */
  init(credential: string | null): Promise<Message>;
  closed: Promise<{ code: number; reason: string }>;
}

export function openRawSocket(
  url: string,
  {
    headers = {},
    protocol = 'graphql-transport-ws',
  }: { headers?: Record<string, string>; protocol?: string } = {},
): RawSocket {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, protocol, { headers });
  const opened = deferred();
  const closed = deferred<{ code: number; reason: string }>();
  const unread: Message[] = [];
  const waiting: { resolve: (message: Message) => void; reject: (error: Error) => void }[] = [];
  let end: Error | null = null;
  socket.on('open', () => opened.resolve());
  socket.on('error', () => opened.resolve());
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    if (message.type === 'ping') return;
    captureErrors(message.payload);
    const reader = waiting.shift();
    if (reader) reader.resolve(message);
    else unread.push(message);
  });
  socket.on('close', (code, reason) => {
    end = new Error(`closed with ${code} ${reason.toString()}`);
    for (const reader of waiting.splice(0)) reader.reject(end);
    closed.resolve({ code, reason: reason.toString() });
  });

  const raw: RawSocket = {
    socket,
    closed: closed.promise,
    send(message) {
      const text = typeof message === 'string' ? message : JSON.stringify(message);
      if (socket.readyState === WebSocket.CONNECTING) socket.once('open', () => socket.send(text));
      else socket.send(text);
    },
    next() {
      if (unread.length > 0) return Promise.resolve(unread.shift());
      if (end) return Promise.reject(end);
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    async init(credential) {
      await opened.promise;
      raw.send({
        type: 'connection_init',
        ...(credential === null ? {} : { payload: { authorization: `Bearer ${credential}` } }),
      });
      return raw.next();
    },
  };
  return raw;
}
