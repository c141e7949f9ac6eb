import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const COMPRESSORS = { br: promisify(brotliCompress), gzip: promisify(gzip) };

export type Encoding = keyof typeof COMPRESSORS;

/** The encodings, the one with the smaller results first. */
const ENCODINGS = Object.keys(COMPRESSORS) as Encoding[];

/** The size from which a response is compressed: a smaller one fits into one packet as it is. */
export const MIN_COMPRESSED_BYTES = 1_400;

/** Types that shrink. Pictures and fonts are compressed already, and an event stream is sent event by event. */
const COMPRESSIBLE = /^(?:text\/(?!event-stream)|image\/svg|application\/(?:graphql-response\+)?json\b)/;

export function isCompressible(type: string | null | undefined): boolean {
  return COMPRESSIBLE.test(type ?? '');
}

/** Selects the first of our encodings that a client accepts, by its `Accept-Encoding`. */
export function encodingFor({ headers }: IncomingMessage): Encoding | undefined {
  const accepted = headers['accept-encoding']?.toString();
  if (accepted === undefined) return undefined;
  const refused = new Set<string>();
  const wanted = new Set<string>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [name = '', weight = ''] = part.split(';').map((word) => word.trim());
    (/^q=0(?:\.0*)?$/.test(weight) ? refused : wanted).add(name);
  }
  return ENCODINGS.find((name) => wanted.has(name) || (wanted.has('*') && !refused.has(name)));
}

/** Compresses a file that is sent many times, as small as it gets. */
export function compressFile(content: Buffer, encoding: Encoding): Promise<Buffer> {
  return COMPRESSORS[encoding](content);
}

/**
 * Compresses a response that is sent once: fast rather than small. Compression does not reveal a token in it: the length
 * helps only an attacker who can make the victim's browser repeat the request with a cookie, and no cookie grants anything
 * here.
 */
export function compressResponse(content: string | Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === 'br'
    ? COMPRESSORS.br(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
    : COMPRESSORS.gzip(content, { level: 4 });
}
