import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** The limit on received bytes until the credential is known: enough for a `connection_init`. */
const MAX_BYTES_BEFORE_INIT = 4_000;
const DESTROY_AFTER_MS = 1_000;
const MESSAGE_TOO_BIG = 1009;

/**
 * Closes a connection that sends too much before its credential is known: ten thousand of them, each with the longest
 * message, would hold a gigabyte. Returns a function that lifts the limit.
 */
export function limitUnauthenticatedBytes(socket: WebSocket, wire: Socket): () => void {
  const maxBytesRead = wire.bytesRead + MAX_BYTES_BEFORE_INIT;
  const count = () => {
    if (wire.bytesRead <= maxBytesRead) return;
    lift();
    // The library goes first: it has a close reason of its own for a message that is too large.
    setImmediate(() => {
      if (socket.readyState === socket.CLOSED) return;
      // A socket that the library is closing still holds the bytes that it receives.
      socket.close(MESSAGE_TOO_BIG, 'Too much before connection_init');
      // Received bytes are dropped from here on, and the socket is destroyed soon.
      wire.removeAllListeners('data').resume().end();
      const timeout = setTimeout(() => wire.destroy(), DESTROY_AFTER_MS);
      wire.once('close', () => clearTimeout(timeout));
    });
  };
  const lift = () => void wire.off('data', count);
  wire.on('data', count);
  return lift;
}
