import { setMaxListeners } from 'node:events';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Caller } from '../../kernel/caller.ts';
import type { PaymentError } from '../../kernel/errors.ts';
import type { CredentialListener } from '../../state/events/credential.ts';
import type { PresentedCredential } from './caller-context.ts';
import type { SocketWriter } from './websocket-writer.ts';

/** The most operations of a connection at one time. */
export const MAX_SUBSCRIPTIONS = 100;

/** The state of one connection. Ten thousand idle ones must cost little, so what few of them need is created on demand. */
export interface Connection extends CredentialListener {
  socket: WebSocket;
  writer: SocketWriter;
  presented: PresentedCredential;
  /** Whether the last ping has not been answered yet. */
  awaitsPong: boolean;
  caller: Caller | null;
  /** Aborts every subscription of the connection, with the credential and with the socket. Null before the first operation. */
  endController: AbortController | null;
  /** Null while the connection is open; `reason` is set if its credential has ended. */
  closeReason: { reason?: PaymentError } | null;
  stopWatching: (() => void) | null;
  /** Called when the credential is known; lifts the limit on the bytes before it. */
  authenticated(): void;
}

/** The signal that aborts the connection's subscriptions. */
export function endSignalOf(connection: Connection): AbortSignal {
  if (!connection.endController) {
    connection.endController = new AbortController();
    // Each subscription adds a listener, and Node warns of a leak at more than ten.
    setMaxListeners(MAX_SUBSCRIPTIONS + 10, connection.endController.signal);
    if (connection.closeReason) connection.endController.abort(connection.closeReason.reason);
  }
  return connection.endController.signal;
}

export function end(connection: Connection, closeReason: NonNullable<Connection['closeReason']>): void {
  connection.closeReason ??= closeReason;
  connection.endController?.abort(closeReason.reason);
}

export function credentialEnded(this: Connection, reason: PaymentError): void {
  end(this, { reason });
  closeForbidden(this, reason);
}

/** Closes the socket with the reason, before the library closes it without one. */
export function closeForbidden({ socket }: Connection, error: Error): false {
  socket.close(CloseCode.Forbidden, error.message);
  return false;
}
