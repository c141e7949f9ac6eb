/** Text, and final; from a server a frame is not masked. */
const TEXT = 0x81;

/**
 * A text message as one WebSocket frame (RFC 6455, 5.2): `begin` in UTF-8, and `rest` behind it. The library copies the
 * text of each message and writes head and text as two, which is half of what it takes to tell thousands of them
 * something that differs in its first characters.
 */
export function textFrame(begin: string, rest: Buffer): Buffer {
  const beginLength = Buffer.byteLength(begin);
  const length = beginLength + rest.length;
  const head = length < 126 ? 2 : length < 0x1_0000 ? 4 : 10;
  const frame = Buffer.allocUnsafe(head + length);
  frame[0] = TEXT;
  if (head === 2) frame[1] = length;
  else if (head === 4) {
    frame[1] = 126;
    frame[2] = length >>> 8;
    frame[3] = length & 0xff;
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(begin, head);
  frame.set(rest, head + beginLength);
  return frame;
}
