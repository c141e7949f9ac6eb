import { type Clock, plusMs } from '../kernel/clock.ts';
import type { Environment } from '../kernel/tenant.ts';
import { isNotImplemented, isSuccess, noEndpoint, saysNotFound } from './responses.ts';
import type { UpstreamAnswer } from './upstream.ts';

export interface Endpoint {
  /** A method and path: `GET /v1/products/{id}`. With a `{`, a 404 is about the resource; of a POST, one with a message is. */
  readonly name: string;
  /** The endpoint's purpose, as an error names it: `deleting products`. */
  readonly inWords: string;
}

type Answered = Pick<UpstreamAnswer, 'status' | 'body'>;

/**
 * The endpoints that the service does not have, as this instance found. A request to one costs a slot, so none is sent
 * for ten minutes; after that one is, for the service may have got the endpoint, or a proxy may have given the answer. An
 * endpoint that has worked is asked again after half a minute: most likely a proxy answered while the service was deployed.
 */
export interface Endpoints {
  isMissing(environment: Environment, endpoint: Endpoint): boolean;
  markMissing(environment: Environment, endpoint: Endpoint): void;
  /** The time at which an endpoint that has worked, and is missing now, is asked again; null for one that never has. */
  askedAgainAt(environment: Environment, endpoint: Endpoint): Date | null;
  /** Calls an endpoint. @throws UpstreamError where there is no such endpoint, and what `request` throws */
  ask<Answer extends Answered>(
    environment: Environment,
    endpoint: Endpoint,
    request: () => Promise<Answer>,
  ): Promise<Answer>;
  /** Calls an endpoint; null where there is none. @throws what `request` throws */
  callIfSupported<Answer extends Answered>(
    environment: Environment,
    endpoint: Endpoint,
    request: () => Promise<Answer>,
  ): Promise<Answer | null>;
}

const MISSING_FOR_MS = 10 * 60_000;
/** The same for an endpoint that has worked. */
const DISTURBED_FOR_MS = 30_000;

export function createEndpoints(clock: Clock): Endpoints {
  const missingUntil = new Map<string, Date>();
  const working = new Set<string>();
  const keyOf = (environment: Environment, { name }: Endpoint) => `${environment} ${name}`;

  function isMissing(environment: Environment, endpoint: Endpoint): boolean {
    const end = missingUntil.get(keyOf(environment, endpoint));
    if (!end) return false;
    const remainingMs = end.getTime() - clock.ms();
    // A later end is from before the clock was set back.
    return remainingMs > 0 && remainingMs <= MISSING_FOR_MS;
  }

  function markMissing(environment: Environment, endpoint: Endpoint): void {
    const key = keyOf(environment, endpoint);
    missingUntil.set(key, plusMs(clock.now(), working.has(key) ? DISTURBED_FOR_MS : MISSING_FOR_MS));
  }

  const callIfSupported: Endpoints['callIfSupported'] = async (environment, endpoint, request) => {
    if (isMissing(environment, endpoint)) return null;
    const answer = await request().catch((error: unknown) => {
      if (isNotImplemented(error)) return null;
      throw error;
    });
    if (answer !== null && !isUnsupported(endpoint, answer)) {
      if (isSuccess(answer)) {
        working.add(keyOf(environment, endpoint));
        missingUntil.delete(keyOf(environment, endpoint));
      }
      return answer;
    }
    markMissing(environment, endpoint);
    return null;
  };

  return {
    isMissing,
    markMissing,
    askedAgainAt(environment, endpoint) {
      const key = keyOf(environment, endpoint);
      return working.has(key) ? (missingUntil.get(key) ?? null) : null;
    },
    callIfSupported,
    async ask(environment, endpoint, request) {
      const answer = await callIfSupported(environment, endpoint, request);
      if (answer === null) throw noEndpoint(endpoint.inWords);
      return answer;
    },
  };
}

/**
 * Whether an answer shows that the path does not exist, or not for this method; a 501 comes as a fault. A 404 with a message
 * refuses what was posted: a key or a product that does not exist.
 */
function isUnsupported({ name }: Endpoint, answer: Answered): boolean {
  if (answer.status === 405) return true;
  if (answer.status !== 404 || name.includes('{')) return false;
  return !(name.startsWith('POST ') && saysNotFound(answer));
}

/** The literal words in the document's paths; any other part names a resource. */
const PATH_WORDS: ReadonlySet<string> = new Set([
  'v1',
  'wallet',
  'payouts',
  'subaccounts',
  'statement',
  'transfers',
  'payout',
  'card-payments',
  'charges',
  'products',
  'store',
  'deliveries',
  'sandbox',
  'payments',
  'disputes',
  'subscriptions',
  'refunds',
  'evidence',
]);

/** The endpoint of a request without its ids, for the metrics and traces: `GET /v1/subaccounts/{id}/statement`. */
export function endpointOf({ method, path }: { method: string; path: string }): string {
  const [pathname = ''] = path.split('?');
  const parts = pathname.split('/').map((part) => (part === '' || PATH_WORDS.has(part) ? part : '{id}'));
  return `${method} ${parts.join('/')}`;
}
