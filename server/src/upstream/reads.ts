import type { Clock } from '../kernel/clock.ts';
import { RateLimitError } from '../kernel/errors.ts';
import type { Environment } from '../kernel/tenant.ts';
import {
  type RequestOptions,
  UPSTREAM_PRIORITIES,
  type Upstream,
  UpstreamFault,
  type UpstreamPriority,
} from './upstream.ts';

/** What the service said to a GET. */
export interface Read {
  readonly status: number;
  readonly body: unknown;
  /** When it was asked: the answer is at least as new as that. */
  readonly at: Date;
  /** The last known answer, where the service could not be asked for a newer one. */
  readonly stale: boolean;
}

/** GETs that cost the budget no more than they must. */
export interface Reads {
  /**
   * Identical reads under way (same environment and path) are one request, and an answer is given again for `keepMs`.
   * Where the budget is spent or the service fails, the last known answer is given with `stale: true`, if there is one.
   * What is given is shared: it must not be changed.
   * @throws RateLimitError, UpstreamFault
   */
  get(
    environment: Environment,
    path: `/v1/${string}`,
    options: { requestOptions: RequestOptions; keepMs: number },
  ): Promise<Read>;
  /**
   * After a write in this environment: nothing that was read before, or whose reading began before, is given out as
   * fresh again. It stays as what is last known.
   */
  forget(environment: Environment): void;
}

/** Where an answer came from, for the metrics: `shared` is from a request that another had under way. */
export type ReadSource = 'upstream' | 'shared' | 'memory' | 'stale';

/** What is kept: the longest unused goes first. Sizes are those of the JSON text. */
export interface ReadsLimit {
  readonly entries: number;
  readonly bytes: number;
}

const LIMIT: ReadsLimit = { entries: 2_000, bytes: 32 * 1024 * 1024 };

interface Kept {
  readonly status: number;
  readonly body: unknown;
  readonly at: Date;
  /** How often there had been a write in the environment when the reading began. */
  readonly writes: number;
  readonly bytes: number;
}

interface Flight {
  readonly class: UpstreamPriority;
  readonly writes: number;
  readonly answer: Promise<Kept>;
}

export function createReads({
  upstream,
  clock,
  limit: { entries, bytes } = LIMIT,
  onRead,
}: {
  upstream: Pick<Upstream, 'get'>;
  clock: Clock;
  limit?: ReadsLimit;
  /** Of each answer that was given. */
  onRead?: (of: UpstreamPriority, source: ReadSource) => void;
}): Reads {
  /** The longest unused first. */
  const kept = new Map<string, Kept>();
  let keptBytes = 0;
  const flights = new Map<string, Flight>();
  const writesIn = new Map<Environment, number>();

  function drop(key: string): void {
    keptBytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  }

  /** Never in place of what was asked later: two readings of one path may cross where a write came between them. */
  function keep(key: string, answer: Kept): void {
    const before = kept.get(key);
    if (before && (before.writes > answer.writes || before.at > answer.at)) return;
    drop(key);
    if (answer.bytes > bytes) return;
    kept.set(key, answer);
    keptBytes += answer.bytes;
    for (const oldest of kept.keys()) {
      if (kept.size <= entries && keptBytes <= bytes) break;
      drop(oldest);
    }
  }

  function look(key: string): Kept | null {
    const found = kept.get(key);
    if (!found) return null;
    kept.delete(key);
    kept.set(key, found);
    return found;
  }

  /** By the newest of what was read since the last write. A clock that was set back makes nothing last longer. */
  function isFresh({ at, writes }: Kept, keepMs: number, now: Date, writesNow: number): boolean {
    const ageMs = now.getTime() - at.getTime();
    return writes === writesNow && ageMs >= 0 && ageMs < keepMs;
  }

  function fly(
    key: string,
    environment: Environment,
    path: `/v1/${string}`,
    requestOptions: RequestOptions,
    writes: number,
  ) {
    const at = clock.now();
    const answer = upstream
      .get({ environment, path, requestOptions })
      .then(({ status, body }) => {
        const read = { status, body, at, writes, bytes: sizeOf(body) };
        keep(key, read);
        return read;
      })
      .finally(() => {
        if (flights.get(key) === flight) flights.delete(key);
      });
    const flight: Flight = { class: requestOptions.priority, writes, answer };
    flights.set(key, flight);
    return flight;
  }

  return {
    async get(environment, path, { requestOptions, keepMs }) {
      const key = `${environment} ${path}`;
      const give = ({ status, body, at }: Kept, source: ReadSource): Read => {
        onRead?.(requestOptions.priority, source);
        return { status, body, at, stale: source === 'stale' };
      };
      for (;;) {
        const writes = writesIn.get(environment) ?? 0;
        const known = look(key);
        if (known && isFresh(known, keepMs, clock.now(), writes)) return give(known, 'memory');
        const underWay = flights.get(key);
        const shared = underWay?.writes === writes ? underWay : null;
        try {
          const { answer } = shared ?? fly(key, environment, path, requestOptions, writes);
          return give(await answer, shared ? 'shared' : 'upstream');
        } catch (error) {
          const noTurn = error instanceof RateLimitError;
          // The other had no turn; who is more important may have one.
          if (noTurn && shared && rank(requestOptions.priority) < rank(shared.class)) continue;
          const last = noTurn || error instanceof UpstreamFault ? look(key) : null;
          if (!last) throw error;
          return give(last, 'stale');
        }
      }
    },
    forget(environment) {
      writesIn.set(environment, (writesIn.get(environment) ?? 0) + 1);
    },
  };
}

/** @throws UpstreamFault where it is nested deeper than anything that the service has to say */
function sizeOf(body: unknown): number {
  try {
    return JSON.stringify(body).length;
  } catch {
    throw new UpstreamFault('unreadable', 'maybe', 'too deep');
  }
}

function rank(upstreamClass: UpstreamPriority): number {
  return UPSTREAM_PRIORITIES.indexOf(upstreamClass);
}
