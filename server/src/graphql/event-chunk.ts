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
export function nextEvent(json: Buffer, id: string | null = null): EventChunk {
  return frame(Buffer.from(`${id === null ? '' : `id: ${id}\n`}event: next\ndata: `), json, EVENT_END);
}

export function eventChunk(text: string): EventChunk {
  return frame(Buffer.from(text));
}

const EVENT_END = Buffer.from('\n\n');
const CHUNK_END = Buffer.from('\r\n');

function frame(...parts: Buffer[]): EventChunk {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const head = Buffer.from(`${length.toString(16)}\r\n`);
  const framed = Buffer.concat([head, ...parts, CHUNK_END]);
  return { framed, bytes: framed.subarray(head.length, -CHUNK_END.length) };
}
