import { widgetPath } from '../../kernel/assets.ts';
import { filesRoute } from './files.ts';
import type { Route } from './routes.ts';

/**
 * The widget's bundle for a script tag, on any site: `/widget/psa-checkout.js` is that of this version, and
 * `/widget/0.1.0/psa-checkout.js` that of a released one, which never changes.
 */
export function widgetRoute(): Route {
  const filesOf = (folder: string, caching: string) =>
    filesRoute({
      prefix: '/widget',
      folder: widgetPath(folder),
      headers: () => ({
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': `public, ${caching}`,
      }),
    });
  const moving = filesOf('dist/standalone/', 'max-age=300');
  const released = filesOf('released/', 'max-age=31536000, immutable');
  return {
    ...moving,
    handle: (context) =>
      (/^\/\d+\.\d+\.\d+\//.test(context.params.name ?? '') ? released : moving).handle(context),
  };
}
