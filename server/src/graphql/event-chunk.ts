/**
 * A chunk of an event stream with the framing of HTTP/1.1 around it. Thousands of streams are sent the same bytes, which
 * Node would copy and frame for each.
 */
export interface EventChunk {
  /** The chunk with the framing. */
  readonly framed: Buffer;
  /** The chunk without the framing. */
  readonly bytes: Buffer;
}

/** `id`: the cursor behind the event, which a client of event streams presents as `Last-Event-ID` when it comes back. */
export function nextEvent(json: string, id: string | null = null): EventChunk {
  return eventChunk(`${id === null ? '' : `id: ${id}\n`}event: next\ndata: ${json}\n\n`);
}

export function eventChunk(text: string): EventChunk {
  const head = `${Buffer.byteLength(text).toString(16)}\r\n`;
  const framed = Buffer.from(`${head}${text}\r\n`);
  return { framed, bytes: framed.subarray(head.length, -2) };
}
