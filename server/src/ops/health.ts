import { type Route, sendJson } from '../http/routes.ts';
import type { UpstreamState } from '../upstream/upstream.ts';

/**
 * Alive: the process answers. Ready: it can do its work. An open circuit to the service behind the facade is said and
 * stays `ready`: what is last known is still served, and taken out of its load balancer an instance could not even do
 * that; all would be taken out at once.
 */
export function createHealthRoutes({
  isReady,
  upstream,
}: {
  isReady: () => Promise<boolean>;
  /** How the service behind the facade stands; left out where there is none. */
  upstream?: (() => Pick<UpstreamState, 'circuit' | 'lastAnswerAt'>) | undefined;
}): Route[] {
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
        const state = upstream?.();
        sendJson(response, ready ? 200 : 503, {
          status: ready ? 'ready' : 'not ready',
          ...(state && { upstream: { circuit: state.circuit, lastAnswerAt: state.lastAnswerAt } }),
        });
      },
    },
  ];
}
