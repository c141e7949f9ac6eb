import { createHash } from 'node:crypto';
import { compressFile, type Encoding, encodingFor, isCompressible } from './compression.ts';
import { type RequestContext, send } from './routes.ts';

/** A body that is sent many times, and compressed once. */
export interface CachedBody {
  readonly plain: Buffer;
  readonly hash: string;
  compress(encoding: Encoding): Promise<Buffer>;
}

/** Creates a cached body. Each encoding is compressed at the first request for it, and after a failure at the next one again. */
export function createCachedBody(plain: Buffer, compress = compressFile): CachedBody {
  const compressed: Partial<Record<Encoding, Promise<Buffer>>> = {};
  return {
    plain,
    hash: createHash('sha256').update(plain).digest('base64url').slice(0, 22),
    compress(encoding) {
      compressed[encoding] ??= compress(plain, encoding).catch((error: unknown) => {
        delete compressed[encoding];
        throw error;
      });
      return compressed[encoding];
    },
  };
}

/** Answers GET or HEAD with a cached body, or with 304 if the client has it. `headers` hold its type. */
export async function sendCached(
  { request, response }: Pick<RequestContext, 'request' | 'response'>,
  { plain, hash, compress }: CachedBody,
  headers: Record<string, string> & { 'content-type': string },
): Promise<void> {
  const varies = isCompressible(headers['content-type']);
  const encoding = varies ? encodingFor(request) : undefined;
  const etag = `"${hash}${encoding ? `-${encoding}` : ''}"`;
  const commonHeaders = { etag, ...(varies && { vary: 'accept-encoding' }), ...headers };
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, commonHeaders).end();
    return;
  }
  const body = encoding ? await compress(encoding) : plain;
  const allHeaders = { ...commonHeaders, ...(encoding && { 'content-encoding': encoding }) };
  if (request.method === 'HEAD')
    response.writeHead(200, { 'content-length': body.length, ...allHeaders }).end();
  else send(response, 200, body, allHeaders);
}
