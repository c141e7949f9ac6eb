import { type Clock, isAhead } from '../kernel/clock.ts';
import { RateLimitError } from '../kernel/errors.ts';
import { createLRUCache } from '../kernel/lru-cache.ts';
import type { Environment } from '../kernel/tenant.ts';
import { endpointOf, sourceOf } from './endpoint-availability.ts';
import { isSuccess, messageOf, unreadable } from './responses.ts';
import { withoutWords } from './secrets.ts';
import {
  isOfPayers,
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
  /** The time of the request. The answer is at least as new. */
  readonly at: Date;
  /** Whether this is the last known answer, because the service could not give a newer one. */
  readonly stale: boolean;
}

export interface ReadOptions {
  readonly requestOptions: RequestOptions;
  /** The age up to which a cached answer suffices. */
  readonly maxAgeMs: number;
  /**
   * Sends a request even if another is under way, because that may have begun before the event that is to be
   * verified.
   */
  readonly isOwnRequest?: boolean;
}

/** Cached and coalesced GETs, which cost the budget as little as possible. */
export interface Reads {
  /**
   * Reads a path. Concurrent reads of one environment and path share one request, and an answer is cached for
   * `maxAgeMs`. If the budget is spent, the service fails or a proxy answers for it, the last known answer is
   * returned with `stale: true`, unless there is none or it is a refusal. Answers are shared: they must not
   * be changed.
   * @throws RateLimitError, UpstreamFault
   */
  get(environment: Environment, path: `/v1/${string}`, options: ReadOptions): Promise<Read>;
  /**
   * Invalidates an environment's reads after a write, or only those below `path` if the write changes nothing
   * else: an answer whose request began before the write is never fresh again. It stays as the last known
   * answer.
   */
  forget(environment: Environment, path?: `/v1/${string}`): void;
}

/** The source of an answer, for the metrics. `shared`: another caller's request that was under way. */
export type ReadSource = 'upstream' | 'shared' | 'memory' | 'stale';

/** The limits of the cache. An answer counts a byte for each character of its JSON text. */
export interface ReadsLimit {
  readonly entries: number;
  readonly bytes: number;
}

const LIMIT: ReadsLimit = { entries: 2_000, bytes: 32 * 1024 * 1024 };

interface CachedAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly at: Date;
  /** The number of relevant writes when the read began. */
  readonly writes: number;
  /** The length of the body's JSON text. */
  readonly jsonLength: number;
}

/** A request under way. */
interface Flight {
  readonly requestOptions: RequestOptions;
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
  /** Counts each answer that is returned. */
  onRead?: (priority: UpstreamPriority, source: ReadSource) => void;
}): Reads {
  const cache = createLRUCache<CachedAnswer>(bytes, (answer) => answer.jsonLength, entries);
  const flights = new Map<string, Flight>();
  /** The number of writes, by environment and by the path below which they changed anything. */
  const writeCounts = new Map<string, number>();

  /**
   * Caches an answer, but never in place of a later one: two requests for one path may cross if a write came
   * between them. An answer from before the clock was set back does not count as later.
   */
  function cacheAnswer(key: string, answer: CachedAnswer): void {
    const cached = cache.peek(key);
    const isLater = cached && cached.at > answer.at && !isAhead(cached.at, clock.now());
    if (isLater || (cached && cached.writes > answer.writes)) return;
    cache.set(key, answer);
  }

  /**
   * Whether an answer is newer than the last write and younger than `maxAgeMs`. An answer from before the
   * clock was set back is not fresh.
   */
  function isFresh({ at, writes }: CachedAnswer, maxAgeMs: number, now: Date, writesNow: number): boolean {
    const ageMs = now.getTime() - at.getTime();
    return writes === writesNow && ageMs >= 0 && ageMs < maxAgeMs;
  }

  function countWrites(key: string): number {
    let count = 0;
    for (const [below, writes] of writeCounts) if (key.startsWith(below)) count += writes;
    return count;
  }

  /** Starts a request that concurrent reads share. */
  function startFlight(
    key: string,
    environment: Environment,
    path: `/v1/${string}`,
    requestOptions: RequestOptions,
    writes: number,
  ) {
    const at = clock.now();
    const sent = upstream.get({ environment, path, requestOptions });
    const flight: Flight = { requestOptions, writes, answer: take() };
    flights.set(key, flight);
    return flight;

    async function take(): Promise<CachedAnswer> {
      try {
        const { status, body, jsonLength } = await sent;
        if (!isAnswer({ status, body })) throw unreadable(String(status));
        const read = { status, body, at, writes, jsonLength: assertReadable(body, jsonLength) };
        // A proxy's page says nothing about the resource, nor about the next request.
        if (!isPage(path, read)) cacheAnswer(key, read);
        return read;
      } finally {
        if (flights.get(key) === flight) flights.delete(key);
      }
    }
  }

  return {
    async get(environment, path, { requestOptions, maxAgeMs, isOwnRequest = false }) {
      const key = `${environment} ${path}`;
      const toRead = ({ status, body, at }: CachedAnswer, source: ReadSource): Read => {
        onRead?.(requestOptions.priority, source);
        // A payer reads no words of the service, because they are meant for the merchant.
        const read = isOfPayers(requestOptions.priority) && status >= 300 ? withoutWords(body) : body;
        return { status, body: read, at, stale: source === 'stale' };
      };
      for (let hasFailed = false; ; hasFailed = true) {
        const writes = countWrites(key);
        const known = cache.get(key);
        if (known && isFresh(known, maxAgeMs, clock.now(), writes)) return toRead(known, 'memory');
        const underWay = flights.get(key);
        const isShared =
          !isOwnRequest &&
          underWay?.writes === writes &&
          !(hasFailed && mayPass(requestOptions, underWay.requestOptions));
        const shared = isShared ? underWay : null;
        try {
          const { answer } = shared ?? startFlight(key, environment, path, requestOptions, writes);
          const read = await answer;
          const lastKnown = isPage(path, read) ? cache.get(key) : null;
          if (lastKnown && isSuccess(lastKnown)) return toRead(lastKnown, 'stale');
          return toRead(read, shared ? 'shared' : 'upstream');
        } catch (error) {
          const hadNoSlot = error instanceof RateLimitError;
          // The shared request was not sent; a request of a more important class, or of other payers, may be.
          if (shared && (hadNoSlot || isCircuitOpen(error)) && mayPass(requestOptions, shared.requestOptions))
            continue;
          const lastKnown = hadNoSlot || error instanceof UpstreamFault ? cache.get(key) : null;
          // An earlier refusal says nothing about now: the resource may exist by now.
          if (!lastKnown || !isSuccess(lastKnown)) throw error;
          return toRead(lastKnown, 'stale');
        }
      }
    },
    forget(environment, path = '/v1/') {
      const below = `${environment} ${path}`;
      writeCounts.set(below, (writeCounts.get(below) ?? 0) + 1);
    },
  };
}

/**
 * Whether the answer to a read shows a resource or refuses it. A redirect does neither, nor does a success
 * without JSON.
 */
function isAnswer({ status, body }: Pick<Read, 'status' | 'body'>): boolean {
  return isSuccess({ status }) ? body !== null : status >= 400;
}

/** Whether an answer is the page of a proxy. */
function isPage(path: string, read: Pick<Read, 'status' | 'body'>): boolean {
  if (isSuccess(read)) return false;
  const source = sourceOf(endpointOf({ method: 'GET', path }), read);
  return source === 'proxy' || (source === 'missing' && messageOf(read.body) === null);
}

/** The deepest nesting of an answer that is read; the document's answers have six levels. */
const MAX_LEVELS = 500;

/**
 * Returns the length of an answer's JSON text, which may be known. @throws UpstreamFault if it is nested too
 * deep
 */
function assertReadable(body: unknown, known?: number): number {
  // Each level has two brackets.
  const mayBeDeep = known === undefined || known > MAX_LEVELS * 2;
  if (mayBeDeep && isDeeper(body, MAX_LEVELS)) throw new UpstreamFault('unreadable', 'maybe', 'too deep');
  return known ?? JSON.stringify(body).length;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

function isCircuitOpen(error: unknown): boolean {
  return error instanceof UpstreamFault && error.kind === 'circuit_open';
}

/**
 * Whether a request may be sent after another one could not be: it is of a more important class, or of other
 * payers.
 */
function mayPass(own: RequestOptions, other: RequestOptions): boolean {
  if (own.priority !== other.priority) return rank(own.priority) < rank(other.priority);
  return own.subject?.token !== other.subject?.token || own.subject?.network !== other.subject?.network;
}

function rank(priority: UpstreamPriority): number {
  return UPSTREAM_PRIORITIES.indexOf(priority);
}
