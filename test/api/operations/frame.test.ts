import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { textFrame, textFrameHead } from '../../../server/src/api/operations/frame.ts';

test.each(['1', 'é\u{1f600}'])(
  'a message of any length under the id %s is one frame, which a client reads unchanged',
  async (id) => {
    const begin = `{"id":"${id}","type":"next",`;
    // The head of a frame is longer from 126 bytes on, and again from 65,536.
    const rests = [0, 125, 126, 127, 255, 256, 65_535, 65_536, 200_000].map((length) =>
      'z'.repeat(Math.max(0, length - Buffer.byteLength(begin))),
    );
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    server.on('connection', (socket, { socket: wire }) => {
      for (const rest of rests) {
        wire.write(textFrame(begin, Buffer.from(rest)));
        wire.write(textFrameHead(begin, rest.length));
        wire.write(rest);
      }
      socket.close();
    });
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const read: string[] = [];
    client.on('message', (data, isBinary) => read.push(`${isBinary}${data}`));
    await once(client, 'close');
    server.close();
    expect(read).toEqual(rests.flatMap((rest) => Array(2).fill(`false${begin}${rest}`)));
  },
);
