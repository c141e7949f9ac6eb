import { type Clock, plusMs } from '../kernel/clock.ts';
import type { Environment } from '../kernel/tenant.ts';
import { UPSTREAM_FAMILIES } from '../kernel/upstream-family.ts';
import { errorCodeOf, isNotImplemented, isSuccess, messageOf, noEndpoint, notReached } from './responses.ts';
import type { UpstreamAnswer } from './upstream.ts';

export interface Endpoint {
  /**
   * A method and path: `GET /v1/products/{id}`. If it has a `{`, a 404 is about the resource; for a POST, a
   * 404 with a message is.
   */
  readonly name: string;
  /** The endpoint's purpose, as an error names it: `deleting products`. */
  readonly inWords: string;
}

type Answered = Pick<UpstreamAnswer, 'status' | 'body'> & Partial<Pick<UpstreamAnswer, 'headers'>>;

/**
 * The endpoints that the service lacks, as this instance has found. A request to a missing endpoint costs a
 * slot, so none is sent for ten minutes; then one is, because the service may have got the endpoint, or a
 * proxy may have given the answer. An endpoint that has worked before is tried again after half a minute:
 * most likely a proxy answered during a deployment. An endpoint that the document names always exists: if it
 * seems missing, a proxy gave the answer, which says nothing about the next request.
 */
export interface Endpoints {
  isMissing(environment: Environment, endpoint: Endpoint): boolean;
  markMissing(environment: Environment, endpoint: Endpoint): void;
  /**
   * The time at which a missing endpoint that has worked before is tried again; null for one that never has.
   */
  askedAgainAt(environment: Environment, endpoint: Endpoint): Date | null;
  /**
   * Calls an endpoint.
   * @throws UpstreamError if there is no such endpoint, UpstreamFault if the service was not reached,
   * errors of `request`
   */
  ask<Answer extends Answered>(
    environment: Environment,
    endpoint: Endpoint,
    request: () => Promise<Answer>,
  ): Promise<Answer>;
  /**
   * Calls an endpoint. Null if it is missing, also if a proxy's page says so of an endpoint that the document
   * does not name.
   * @throws UpstreamFault if the service was not reached, errors of `request`
   */
  callIfSupported<Answer extends Answered>(
    environment: Environment,
    endpoint: Endpoint,
    request: () => Promise<Answer>,
  ): Promise<Answer | null>;
}

const MISSING_FOR_MS = 10 * 60_000;
/** The time until a missing endpoint that has worked before is tried again. */
const DISTURBED_FOR_MS = 30_000;

export function createEndpoints(clock: Clock): Endpoints {
  const missingUntil = new Map<string, Date>();
  const working = new Set<string>();
  const keyOf = (environment: Environment, { name }: Endpoint) => `${environment} ${name}`;

  function isMissing(environment: Environment, endpoint: Endpoint): boolean {
    const end = missingUntil.size === 0 ? undefined : missingUntil.get(keyOf(environment, endpoint));
    if (!end) return false;
    const remainingMs = end.getTime() - clock.ms();
    // A later end dates from before the clock was set back.
    return remainingMs > 0 && remainingMs <= MISSING_FOR_MS;
  }

  function markMissing(environment: Environment, endpoint: Endpoint): void {
    const key = keyOf(environment, endpoint);
    missingUntil.set(key, plusMs(clock.now(), working.has(key) ? DISTURBED_FOR_MS : MISSING_FOR_MS));
  }

  async function callIfSupported<Answer extends Answered>(
    environment: Environment,
    endpoint: Endpoint,
    request: () => Promise<Answer>,
  ): Promise<Answer | null> {
    if (isMissing(environment, endpoint)) return null;
    let answer: Answer | null = null;
    try {
      answer = await request();
    } catch (error) {
      if (!isNotImplemented(error)) throw error;
    }
    const status = answer?.status ?? NOT_IMPLEMENTED;
    const source = sourceOf(endpoint.name, answer ?? { status, body: null });
    if (answer !== null && source === 'service') {
      if (isSuccess(answer)) {
        const key = keyOf(environment, endpoint);
        working.add(key);
        missingUntil.delete(key);
      }
      return answer;
    }
    if (source === 'missing') markMissing(environment, endpoint);
    else if (isDocumented(endpoint.name) || status !== 404) throw notReached(status);
    return null;
  }

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

/**
 * The endpoints that the document names (4.1 to 4.5), and the list and the creation of products, whose
 * deletion it names.
 */
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
 * The source of an answer: the service; a proxy in front of it, which gives a page instead of the service's
 * message (the document's section 7) or denies what the document names; or a service that lacks this path, or
 * this method of it. A 404 with a message refuses the posted input: a key or a product that does not exist. A service of this
 * project's own says by its code that it has no such route.
 */
export function sourceOf(
  name: string,
  { status, body, headers = {} }: Answered,
): 'service' | 'proxy' | 'missing' {
  if (isSuccess({ status })) return 'service';
  const hasMessage = messageOf(body) !== null;
  const hasNoRoute = errorCodeOf({ headers }) === 'ROUTE_NOT_FOUND';
  const isOfResource = name.includes('{') || (name.startsWith('POST ') && hasMessage);
  if (status === 405 || status === NOT_IMPLEMENTED || (status === 404 && (!isOfResource || hasNoRoute)))
    return isDocumented(name) ? 'proxy' : 'missing';
  const isPage = status === 404 || status === 403 ? !hasMessage : status === 400 && body === null;
  return isPage && (status !== 400 || name.startsWith('GET ')) ? 'proxy' : 'service';
}

/** The literal words in the document's paths. Any other part names a resource. */
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
