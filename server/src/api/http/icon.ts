import { type Route, send } from './routes.ts';

export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b5c48"/><path d="m9 16.5 5 5 9.5-10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>';

/** The route of the icon that browsers show for an address that names none. */
export function iconRoute(): Route {
  return {
    methods: ['GET', 'HEAD'],
    path: /^\/favicon\.ico$/,
    handle: ({ response }) =>
      send(response, 200, ICON, {
        'content-type': 'image/svg+xml',
        'cache-control': 'public, max-age=86400',
      }),
  };
}
