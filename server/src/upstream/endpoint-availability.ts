import { type Clock, plusMs } from '../kernel/clock.ts';
import type { Environment } from '../kernel/tenant.ts';
import { UPSTREAM_FAMILIES } from '../kernel/upstream-family.ts';
import { isNotImplemented, isSuccess, messageOf, noEndpoint, notReached } from './responses.ts';
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
 * One that the document names exists: such an answer to it comes from a proxy, and says nothing about the next request.
 */
export interface Endpoints {
  isMissing(environment: Environment, endpoint: Endpoint): boolean;
  markMissing(environment: Environment, endpoint: Endpoint): void;
  /** The time at which an endpoint that has worked, and is missing now, is asked again; null for one that never has. */
  askedAgainAt(environment: Environment, endpoint: Endpoint): Date | null;
  /**
   * Calls an endpoint.
   * @throws UpstreamError where there is no such endpoint, UpstreamFault where the service was not reached, and what `request`
   *   throws
   */
  ask<Answer extends Answered>(
    environment: Environment,
    endpoint: Endpoint,
    request: () => Promise<Answer>,
  ): Promise<Answer>;
  /**
   * Calls an endpoint; null where there is none, or where a page says so of one that the document does not name.
   * @throws UpstreamFault where the service was not reached, and what `request` throws
   */
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
    const status = answer?.status ?? NOT_IMPLEMENTED;
    const source = sourceOf(endpoint.name, answer ?? { status, body: null });
    if (answer !== null && source === 'service') {
      if (isSuccess(answer)) {
        working.add(keyOf(environment, endpoint));
        missingUntil.delete(keyOf(environment, endpoint));
      }
      return answer;
    }
    if (source === 'missing') markMissing(environment, endpoint);
    else if (isDocumented(endpoint.name) || status !== 404) throw notReached(status);
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
      if (answer !== null) return answer;
      throw isMissing(environment, endpoint) ? noEndpoint(endpoint.inWords) : notReached(404);
    },
  };
}

const NOT_IMPLEMENTED = 501;

/** The endpoints that the document names (4.1 to 4.5), and the list and the creation of the products that it deletes. */
const DOCUMENTED: ReadonlySet<string> = new Set([
  'GET /v1/wallet',
  'GET /v1/sandbox/wallet',
  'GET /v1/payouts',
  'POST /v1/payouts',
  'POST /v1/card-payments',
  'GET /v1/card-payments/{id}',
  'POST /v1/subaccounts/{id}/payout',
  'GET /v1/subaccounts/{id}/payouts/{id}',
  'GET /v1/products',
  'POST /v1/products',
  'DELETE /v1/products/{id}',
]);

function isDocumented(name: string): boolean {
  return DOCUMENTED.has(name.replace(/\{\w+\}/g, '{id}'));
}

/**
 * The source of an answer: the service; a proxy in front of it, with a page in place of the service's message (the document's
 * section 7) or by denying what the document names; or a service without this path, or without it for this method. A 404
 * with a message refuses what was posted: a key or a product that does not exist.
 */
export function sourceOf(name: string, { status, body }: Answered): 'service' | 'proxy' | 'missing' {
  const hasMessage = messageOf(body) !== null;
  const isOfResource = name.includes('{') || (name.startsWith('POST ') && hasMessage);
  if (status === 405 || status === NOT_IMPLEMENTED || (status === 404 && !isOfResource))
    return isDocumented(name) ? 'proxy' : 'missing';
  const isPage = status === 404 || status === 403 ? !hasMessage : status === 400 && body === null;
  return isPage && (status !== 400 || name.startsWith('GET ')) ? 'proxy' : 'service';
}

/** The literal words in the document's paths; any other part names a resource. */
const PATH_WORDS: ReadonlySet<string> = new Set([
  ...[
    'v1',
    'wallet',
    'payouts',
    'subaccounts',
    'statement',
    'transfers',
    'payout',
    'card-payments',
    'products',
    'sandbox',
  ],
  ...['evidence', ...UPSTREAM_FAMILIES],
]);

/** The endpoint of a request without its ids, for the metrics and traces: `GET /v1/subaccounts/{id}/statement`. */
export function endpointOf({ method, path }: { method: string; path: string }): string {
  const [pathname = ''] = path.split('?');
  const parts = pathname.split('/').map((part) => (part === '' || PATH_WORDS.has(part) ? part : '{id}'));
  return `${method} ${parts.join('/')}`;
}
