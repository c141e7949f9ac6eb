import { connect } from 'node:net';

/** Sends these bytes to a server on this machine and returns its answer, until it closes or has said `until`. */
export async function sendRaw(port: number, bytes: string, until?: RegExp): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  // What is still being sent when the answer comes may find the connection closed.
  socket.on('error', () => undefined);
  socket.write(bytes);
  let answer = '';
  try {
    for await (const chunk of socket) {
      answer += chunk;
      if (until?.test(answer)) break;
    }
  } catch {
    // Cut off: what came until then is the answer.
  }
  socket.destroy();
  return answer;
}
