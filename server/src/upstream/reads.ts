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

/** The service's answer to a GET. */
export interface Read {
  readonly status: number;
  readonly body: unknown;
  /** The time of the request: the answer is at least as new as that. */
  readonly at: Date;
  /** The last known answer is given, because the service could not be asked for a newer one. */
  readonly stale: boolean;
}

/** GETs that cost the budget as little as possible. */
export interface Reads {
  /**
   * Reads a path. Identical reads under way (same environment and path) are one request, and an answer is given again
   * for `keepMs`. Where the budget is spent or the service fails, the last known answer is given with `stale: true`, if
   * there is one. Answers are shared: they must not be changed.
   * @throws RateLimitError, UpstreamFault
   */
  get(
    environment: Environment,
    path: `/v1/${string}`,
    options: { requestOptions: RequestOptions; keepMs: number },
  ): Promise<Read>;
  /**
   * Forgets an environment's reads after a write: nothing that was read before it, or whose reading began before, is
   * given as fresh again. It stays as the last known answer.
   */
  forget(environment: Environment): void;
}

/** The source of an answer, for the metrics: `shared` is from a request that another caller had under way. */
export type ReadSource = 'upstream' | 'shared' | 'memory' | 'stale';

/** The limit of the cache, which drops the least recently used entry first. Sizes are those of the JSON text. */
export interface ReadsLimit {
  readonly entries: number;
  readonly bytes: number;
}

const LIMIT: ReadsLimit = { entries: 2_000, bytes: 32 * 1024 * 1024 };

interface CachedAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly at: Date;
  /** The number of writes in the environment when the reading began. */
  readonly writes: number;
  readonly bytes: number;
}

interface Flight {
  readonly class: UpstreamPriority;
  readonly writes: number;
  readonly answer: Promise<CachedAnswer>;
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
  /** Counts each answer that was given. */
  onRead?: (of: UpstreamPriority, source: ReadSource) => void;
}): Reads {
  /** The cached answers, the least recently used first. */
  const cache = new Map<string, CachedAnswer>();
  let cachedBytes = 0;
  const flights = new Map<string, Flight>();
  const writesIn = new Map<Environment, number>();

  function drop(key: string): void {
    cachedBytes -= cache.get(key)?.bytes ?? 0;
    cache.delete(key);
  }

  /**
   * Caches an answer, never in place of a later one: two readings of one path may cross where a write came between
   * them.
   */
  function keep(key: string, answer: CachedAnswer): void {
    const before = cache.get(key);
    if (before && (before.writes > answer.writes || before.at > answer.at)) return;
    drop(key);
    if (answer.bytes > bytes) return;
    cache.set(key, answer);
    cachedBytes += answer.bytes;
    for (const oldest of cache.keys()) {
      if (cache.size <= entries && cachedBytes <= bytes) break;
      drop(oldest);
    }
  }

  function touch(key: string): CachedAnswer | null {
    const found = cache.get(key);
    if (!found) return null;
    cache.delete(key);
    cache.set(key, found);
    return found;
  }

  /**
   * Whether an answer is from after the last write, and new enough. A clock that was set back makes nothing last
   * longer.
   */
  function isFresh({ at, writes }: CachedAnswer, keepMs: number, now: Date, writesNow: number): boolean {
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
      const give = ({ status, body, at }: CachedAnswer, source: ReadSource): Read => {
        onRead?.(requestOptions.priority, source);
        return { status, body, at, stale: source === 'stale' };
      };
      for (;;) {
        const writes = writesIn.get(environment) ?? 0;
        const known = touch(key);
        if (known && isFresh(known, keepMs, clock.now(), writes)) return give(known, 'memory');
        const underWay = flights.get(key);
        const shared = underWay?.writes === writes ? underWay : null;
        try {
          const { answer } = shared ?? fly(key, environment, path, requestOptions, writes);
          return give(await answer, shared ? 'shared' : 'upstream');
        } catch (error) {
          const noTurn = error instanceof RateLimitError;
          // The shared request had no slot; one of a more important class may have one.
          if (noTurn && shared && rank(requestOptions.priority) < rank(shared.class)) continue;
          const last = noTurn || error instanceof UpstreamFault ? touch(key) : null;
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

/** The size of an answer in bytes. @throws UpstreamFault where it is nested deeper than any answer of the service */
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
