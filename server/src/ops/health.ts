import { type Route, sendJson } from '../http/routes.ts';

/** Alive: the process answers. Ready: it can do its work. */
export function createHealthRoutes({ isReady }: { isReady: () => Promise<boolean> }): Route[] {
  return [
    {
      methods: ['GET', 'HEAD'],
      path: /^\/healthz$/,
      handle: ({ response }) => sendJson(response, 200, { status: 'ok' }),
    },
    {
      methods: ['GET', 'HEAD'],
      path: /^\/readyz$/,
      async handle({ response }) {
        const ready = await isReady();
        sendJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'not ready' });
      },
    },
  ];
}
