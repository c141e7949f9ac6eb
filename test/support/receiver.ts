import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A merchant's server on 127.0.0.1, which records its requests. `answer` answers them, by default with 200. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Resolves with the next request once all of it has arrived. */
  next(): Promise<Received>;
  answer: (response: ServerResponse, received: Received) => void;
  /** Closes the server: connections to it are refused from now on. */
  shut(): Promise<void>;
}

/** Opens a receiver, which the caller shuts. */
export async function openReceiver(
  answer: Receiver['answer'] = (response) => response.end(),
): Promise<Receiver> {
  const waiting: ((received: Received) => void)[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const { method, url: path, headers } = request;
      const received = { method, path, headers, body };
      receiver.received.push(received);
      receiver.answer(response, received);
      for (const resolve of waiting.splice(0)) resolve(received);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    received: [],
    answer,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    async shut() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** Opens a receiver, which is shut at the end of the test. */
export async function startReceiver(answer?: Receiver['answer']): Promise<Receiver> {
  const receiver = await openReceiver(answer);
  onTestFinished(() => receiver.shut());
  return receiver;
}
