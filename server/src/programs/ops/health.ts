import { type Route, sendJson } from '../../api/http/routes.ts';
import type { Records } from '../../state/db/records.ts';
import type { UpstreamState } from '../../upstream/upstream.ts';

/** The limit on the database's answer, so that the response takes less than a second. */
const READY_WITHIN_MS = 800;

/**
 * Routes of the liveness and readiness probes. Alive: the process answers, whatever its database does; a
 * restart would free no disk space, and end working subscriptions and queries. Ready: a write to the database
 * succeeds within the time limit. An open circuit to the service behind the facade is reported, but the
 * instance stays `ready`: it still serves the last known data, which it could not do if its load balancer
 * removed it, and all instances would be removed at once.
 */
export function createHealthRoutes({
  isReady,
  cause = () => null,
  records,
  upstream,
  readyWithinMs = READY_WITHIN_MS,
}: {
  isReady: () => Promise<boolean>;
  /** The reason why the instance is not ready, for a person. */
  cause?: () => string | null;
  /** Whether the records reach to the present. If they do not, the instance is ready nevertheless. */
  records?: Pick<Records, 'behind' | 'lastKnown'>;
  /** The state of the service behind the facade; left out in embedded mode. */
  upstream?:
    | (() => Pick<UpstreamState, 'circuit' | 'lastAnswerAt' | 'pagesSince' | 'refusedKeys'>)
    | undefined;
  /** Replaces READY_WITHIN_MS in a test. */
  readyWithinMs?: number;
}): Route[] {
  let probe: Promise<boolean> | null = null;

  /** Shares one probe among concurrent requests, so that no client can make the database write all the time. */
  async function isReadyInTime(): Promise<boolean> {
    probe ??= isReady()
      .then(async (isReadyNow) => {
        if (isReadyNow) await records?.behind().catch(() => undefined);
        return isReadyNow;
      })
      .catch(() => false)
      .finally(() => {
        probe = null;
      });
    let timeout: NodeJS.Timeout | undefined;
    const timedOut = new Promise<boolean>((resolve) => {
      timeout = setTimeout(resolve, readyWithinMs, false);
    });
    const ready = await Promise.race([probe, timedOut]);
    clearTimeout(timeout);
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
        const ready = await isReadyInTime();
        const state = upstream?.();
        const reason = ready ? null : cause();
        const behind = records?.lastKnown() ?? null;
        sendJson(response, ready ? 200 : 503, {
          status: ready ? 'ready' : 'not ready',
          ...(reason !== null && { cause: reason }),
          ...(behind && {
            records: {
              ...{ behindSince: behind.since, cause: behind.cause },
              // `pausedTokens` of the command line lists each; this page is open to all, and shows no ids.
              ...(state && { tokensPausedBefore: behind.until }),
            },
          }),
          ...(state && {
            upstream: {
              ...{ circuit: state.circuit, lastAnswerAt: state.lastAnswerAt },
              ...(state.pagesSince && { pagesSince: state.pagesSince }),
              ...(state.refusedKeys.length > 0 && { refusedKeys: state.refusedKeys }),
            },
          }),
        });
      },
    },
  ];
}
