import { connect } from 'node:net';

/** Sends bytes to a server on this machine and returns its answer up to the end of the connection, or to `until`. */
export async function sendRaw(port: number, bytes: string, until?: RegExp): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  // The server may answer and close the connection before all bytes are sent.
  socket.on('error', () => undefined);
  socket.write(bytes);
  let answer = '';
  try {
    for await (const chunk of socket) {
      answer += chunk;
      if (until?.test(answer)) break;
    }
  } catch {
    // The connection was cut: the bytes received until then are the answer.
  }
  socket.destroy();
  return answer;
}
