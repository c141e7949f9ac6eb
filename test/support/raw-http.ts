import { connect } from 'node:net';

/** What a server on this machine answers to these bytes, until it closes the connection or has said `until`. */
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
