import { readFile } from 'node:fs/promises';
import { METHODS } from 'node:http';
import { assetPath, vendoredPath } from '../../kernel/assets.ts';
import { type CachedBody, createCachedBody, sendCached } from './cached-body.ts';
import { compressResponse } from './compression.ts';
import { type DescribedWebhook, describeOperations } from './openapi.ts';
import type { RestOperation } from './rest.ts';
import { HttpError, type RequestContext, type Route } from './routes.ts';

/** The policy of the page: all its resources are this server's. The viewer has icons as `data:` URLs, and inline styles. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The routes of the OpenAPI description and of its interactive page. Neither needs a key. */
export function createDocsRoutes({
  operations,
  webhooks,
  publicUrl,
}: {
  operations: readonly RestOperation[];
  webhooks: readonly DescribedWebhook[];
  publicUrl: string;
}): Route[] {
  const ownFile = (name: string) => readFile(assetPath(`api/http/docs/${name}`));
  const file = (name: string, type: string, load: () => Promise<Buffer>) =>
    fileRoute(new RegExp(`^/v1/${name.replaceAll('.', '\\.')}$`), `${type}; charset=utf-8`, load);
  return [
    file('openapi.json', 'application/json', async () =>
      Buffer.from(JSON.stringify(describeOperations(operations, publicUrl, webhooks))),
    ),
    file('docs', 'text/html', () => ownFile('page.html')),
    file('docs/page.css', 'text/css', () => ownFile('page.css')),
    file('docs/page.js', 'text/javascript', () => ownFile('page.js')),
    file('docs/swagger-ui.css', 'text/css', () => readFile(vendoredPath('swagger-ui-dist/swagger-ui.css'))),
    file('docs/swagger-ui-bundle.js', 'text/javascript', () =>
      readFile(vendoredPath('swagger-ui-dist/swagger-ui-bundle.js')),
    ),
  ];
}

/** The route of a file that does not change while the server runs; a browser revalidates it at each use. */
function fileRoute(path: RegExp, type: string, load: () => Promise<Buffer>): Route {
  let loading: Promise<CachedBody> | null = null;

  /** Loads the file once; after a failure the next request tries again. */
  function loaded(): Promise<CachedBody> {
    loading ??= load().then(
      // Fast rather than small: the smallest form of the largest file would take seconds.
      (content) => createCachedBody(content, compressResponse),
      (error: unknown) => {
        loading = null;
        throw error;
      },
    );
    return loading;
  }

  return {
    methods: METHODS,
    path,
    async handle({ request, response }: RequestContext) {
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw new HttpError(405, 'Method not allowed', { allow: 'GET, HEAD' });
      await sendCached({ request, response }, await loaded(), {
        'content-type': type,
        'cache-control': 'no-cache',
        'content-security-policy': CSP,
        'referrer-policy': 'no-referrer',
      });
    },
  };
}
