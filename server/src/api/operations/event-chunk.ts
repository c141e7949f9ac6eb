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

/**
 * Makes an event. `id`: the cursor after the event, which a client of event streams presents as `Last-Event-ID` when it
 * reconnects. `jsonBytes`: the length of the JSON. The bytes are written once, into one buffer, because garbage of thousands
 * of updates costs everybody time.
 */
export function nextEvent(
  json: string,
  id: string | null = null,
  jsonBytes: number = Buffer.byteLength(json),
): EventChunk {
  return frame(`${id === null ? '' : `id: ${id}\n`}event: next\ndata: `, json, jsonBytes, '\n\n');
}

export function eventChunk(text: string): EventChunk {
  return frame('', text, Buffer.byteLength(text), '');
}

/** Frames a text that may have any characters, between two texts in ASCII. */
function frame(before: string, text: string, textBytes: number, after: string): EventChunk {
  const length = before.length + textBytes + after.length;
  const head = `${length.toString(16)}\r\n`;
  const framed = bufferOf(head + before, text, textBytes, `${after}\r\n`);
  return { framed, bytes: framed.subarray(head.length, -2) };
}

/** The bytes of a text that may have any characters, between two texts in ASCII. */
export function bufferOf(before: string, text: string, textBytes: number, after: string): Buffer {
  const buffer = Buffer.allocUnsafe(before.length + textBytes + after.length);
  buffer.write(before, 0, 'latin1');
  buffer.write(text, before.length);
  buffer.write(after, before.length + textBytes, 'latin1');
  return buffer;
}
