import { type Route, sendJson } from '../http/routes.ts';
import type { UpstreamState } from '../upstream/upstream.ts';

/** For the probe's answer. The rest of the second is for everything else. */
const READY_WITHIN_MS = 800;

/**
 * Alive: the process answers. Ready: a write to the database goes through, now; this is answered within a second. An open circuit to the service behind the facade is said and
 * stays `ready`: what is last known is still served, and taken out of its load balancer an instance could not even do
 * that; all would be taken out at once.
 */
export function createHealthRoutes({
  isReady,
  upstream,
  readyWithinMs = READY_WITHIN_MS,
}: {
  isReady: () => Promise<boolean>;
  /** How the service behind the facade stands; left out where there is none. */
  upstream?: (() => Pick<UpstreamState, 'circuit' | 'lastAnswerAt'>) | undefined;
  /** In place of the usual, for a test. */
  readyWithinMs?: number;
}): Route[] {
  let probe: Promise<boolean> | null = null;

  /** Requests that come while a probe is under way share it: no client can make the database write all the time. */
  async function readyInTime(): Promise<boolean> {
    probe ??= isReady()
      .catch(() => false)
      .finally(() => {
        probe = null;
      });
    let late: NodeJS.Timeout | undefined;
    const tooLate = new Promise<boolean>((resolve) => {
      late = setTimeout(resolve, readyWithinMs, false);
    });
    const ready = await Promise.race([probe, tooLate]);
    clearTimeout(late);
    return ready;
  }

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
        const ready = await readyInTime();
        const state = upstream?.();
        sendJson(response, ready ? 200 : 503, {
          status: ready ? 'ready' : 'not ready',
          ...(state && { upstream: { circuit: state.circuit, lastAnswerAt: state.lastAnswerAt } }),
        });
      },
    },
  ];
}
