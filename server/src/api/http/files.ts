import { readFile, stat } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import { type CachedBody, createCachedBody, sendCached } from './cached-body.ts';
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

/** A file as it was last read. */
interface CachedFile {
  readonly stamp: string;
  readonly content: CachedBody;
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

  /** Reads a file, or returns the cached one if it has not changed; null if there is no such file. */
  async function read(path: string): Promise<CachedFile | null> {
    const found = await stat(path).catch(() => null);
    if (!found?.isFile()) return null;
    const stamp = `${found.mtimeMs} ${found.size}`;
    const known = files.get(path);
    if (known?.stamp === stamp) return known;
    const body = await readFile(path).catch(() => null);
    if (!body) return null;
    const file: CachedFile = { stamp, content: createCachedBody(body) };
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
        return sendCached({ request, response }, file.content, {
          'content-type': type,
          ...headers(candidate),
        });
      }
      throw new HttpError(404, 'Not found');
    },
  };
}
