import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import { compressFile, type Encoding, encodingFor, isCompressible } from './compression.ts';
import { HttpError, type Route, send } from './routes.ts';

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** A file as it was last read, compressed at the first request for an encoding. */
interface CachedFile {
  readonly stamp: string;
  readonly body: Buffer;
  readonly hash: string;
  readonly compressed: Partial<Record<Encoding, Promise<Buffer>>>;
}

/**
 * The route of the files of one folder. The folder itself is answered with `index.html`, and a name without an extension
 * with `name.html`.
 */
export function filesRoute({
  prefix,
  folder,
  headers,
}: {
  prefix: string;
  folder: string;
  headers: (file: string) => Record<string, string>;
}): Route {
  const files = new Map<string, CachedFile>();

  /** Reads a file, or returns the cached one if it has not changed; null where there is no such file. */
  async function read(path: string): Promise<CachedFile | null> {
    const found = await stat(path).catch(() => null);
    if (!found?.isFile()) return null;
    const stamp = `${found.mtimeMs} ${found.size}`;
    const known = files.get(path);
    if (known?.stamp === stamp) return known;
    const body = await readFile(path).catch(() => null);
    if (!body) return null;
    const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
    const file: CachedFile = { stamp, body, hash, compressed: {} };
    files.set(path, file);
    return file;
  }

  return {
    methods: ['GET', 'HEAD'],
    path: new RegExp(`^${prefix}(?<name>/.*)?$`),
    async handle({ request, response, url, params }) {
      if (params.name === undefined || params.name === '') {
        if (!request.url?.startsWith(`${prefix}/`))
          return send(response, 308, '', { location: `${prefix}/${url.search}` });
      }
      const name = normalize(`/${params.name ?? ''}`);
      const candidates = name.endsWith(sep)
        ? [`${name}index.html`]
        : extname(name)
          ? [name]
          : [`${name}.html`];
      for (const candidate of candidates) {
        const file = await read(join(folder, candidate));
        if (!file) continue;
        const type = TYPES[extname(candidate)] ?? 'application/octet-stream';
        const encoding = isCompressible(type) ? encodingFor(request) : undefined;
        const etag = `"${file.hash}${encoding ? `-${encoding}` : ''}"`;
        const commonHeaders = {
          'content-type': type,
          etag,
          ...(isCompressible(type) && { vary: 'accept-encoding' }),
          ...headers(candidate),
        };
        if (request.headers['if-none-match'] === etag) {
          response.writeHead(304, commonHeaders).end();
          return;
        }
        const body = encoding ? await compress(file, encoding) : file.body;
        const allHeaders = { ...commonHeaders, ...(encoding && { 'content-encoding': encoding }) };
        if (request.method === 'HEAD') {
          response.writeHead(200, { 'content-length': body.length, ...allHeaders }).end();
          return;
        }
        return send(response, 200, body, allHeaders);
      }
      throw new HttpError(404, 'Not found');
    },
  };
}

/** Compresses a file once for all requests; after a failure the next request tries again. */
function compress({ compressed, body }: CachedFile, encoding: Encoding): Promise<Buffer> {
  compressed[encoding] ??= compressFile(body, encoding).catch((error: unknown) => {
    delete compressed[encoding];
    throw error;
  });
  return compressed[encoding];
}
