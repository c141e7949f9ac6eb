import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../kernel/error-codes.ts';

/** Whether a request asks for a WebSocket, the only other protocol of this server. */
export function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** The head of a request without the headers that ask for another protocol. */
export function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (UPGRADE_HEADERS.test(name)) continue;
    const rest = /^connection$/i.test(name)
      ? value
          .split(',')
          .filter((option) => !UPGRADE_HEADERS.test(option.trim()))
          .join(',')
      : value;
    head += `${name}: ${rest}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, 'latin1');
}

const UPGRADE_HEADERS = /^(?:upgrade|http2-settings)$/i;

/** Writes the last response of a connection that HTTP has detached, and closes it even if the client does not. */
export function endSocket(socket: Duplex, status: string, code: ErrorCode): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nX-Error-Code: ${code}\r\nConnection: close\r\n\r\n`);
}
