import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
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

/**
 * The files of one folder under one path. `index` answers for the folder itself and for names without an extension,
 * which are looked for as `name.html`.
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
  return {
    methods: ['GET', 'HEAD'],
    path: new RegExp(`^${prefix}(?<name>/.*)?$`),
    async handle({ request, response, params }) {
      if (params['name'] === undefined || params['name'] === '') {
        if (!request.url?.startsWith(`${prefix}/`))
          return send(response, 308, '', { location: `${prefix}/` });
      }
      const name = normalize(`/${params['name'] ?? ''}`);
      const candidates = name.endsWith(sep)
        ? [`${name}index.html`]
        : extname(name)
          ? [name]
          : [`${name}.html`];
      for (const candidate of candidates) {
        const body = await readFile(join(folder, candidate)).catch(() => null);
        if (!body) continue;
        const type = TYPES[extname(candidate)] ?? 'application/octet-stream';
        const all = { 'content-type': type, ...headers(candidate) };
        if (request.method === 'HEAD') {
          response.writeHead(200, { 'content-length': body.length, ...all }).end();
          return;
        }
        return send(response, 200, body, all);
      }
      throw new HttpError(404, 'Not found');
    },
  };
}
