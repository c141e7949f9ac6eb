/**
 * A piece of an event stream. Thousands of streams get the same one: with HTTP's framing around it, it is written as it is,
 * where Node would copy and frame it for each.
 */
export interface EventChunk {
  /** As HTTP/1.1 frames a chunk. */
  readonly framed: Buffer;
  readonly bytes: Buffer;
}

export function nextEvent(json: string): EventChunk {
  return eventChunk(`event: next\ndata: ${json}\n\n`);
}

export function eventChunk(text: string): EventChunk {
  const head = `${Buffer.byteLength(text).toString(16)}\r\n`;
  const framed = Buffer.from(`${head}${text}\r\n`);
  return { framed, bytes: framed.subarray(head.length, -2) };
}
