import { commonContradiction } from '../kernel/contradictions.ts';
import type { PaymentError } from '../kernel/errors.ts';
import { readRecord } from '../kernel/lenient-json.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { loadRecords } from '../state/commit/commit.ts';
import { disbelieve } from './creations.ts';
import type { UpstreamDependencies } from './dependencies.ts';
import { endpointOf, sourceOf } from './endpoint-availability.ts';
import type { LookupResult, Operation, RequestKind } from './intents/operations.ts';
import { intents as intentRecords } from './intents/store.ts';
import { type Done, type Intent, intentKey } from './intents/transitions.ts';
import type { Made, Observation } from './mirror.ts';
import {
  assertConclusive,
  isNotImplemented,
  isSuccess,
  noEndpoint,
  notReached,
  unreadable,
} from './responses.ts';
import type { RequestOptions, UpstreamAnswer } from './upstream.ts';

/** Requests of one kind that the service accepts with an idempotency key: the same key gives one resource. */
export interface KeyedRequest<Wanted, Claim> {
  kind: string;
  /** The purpose of the requests, as an error names it: `creating charges`. */
  inWords: string;
  pathOf: (wanted: Wanted) => `/v1/${string}`;
  /** Reads an answer; null if it is not of this kind. */
  read: (body: unknown) => Claim | null;
  /** The reason for which an answer does not belong to the request; null if it does. */
  contradictionOf: (claim: Claim, wanted: Wanted) => string | null;
  /** The observation of an answer. `made`: the known age of the resource. */
  observationOf: (claim: Claim, wanted: Wanted, at: Date, made: Made) => Observation;
  /**
   * The kinds that make resources with the same ids; empty if a request changes a resource. By default this
   * kind alone.
   */
  makes?: readonly string[];
  refusalOf: (answer: UpstreamAnswer, wanted: Wanted, tenant: Tenant) => PaymentError | Promise<PaymentError>;
  /** The key at the service; by default the caller's. */
  keyOf?: (intent: Intent) => string;
  /**
   * Set if the request moves money. Without it, a resource whose answer was lost has no effect, for nobody
   * has its code.
   */
  money?: {
    /** Looks up the outcome at the service, without sending the request again. */
    lookUp: (tenant: Tenant, intent: Intent) => Promise<LookupResult>;
    lookupReference: (intent: Intent) => string;
  };
}

/**
 * The age at which a request whose answer was lost is given up: by then a payment that it made has expired.
 */
const GIVEN_UP_AFTER_MS = 30 * 60_000;

/** Creates the sender of the requests of one kind. */
export function createKeyedRequests<Wanted, Claim>(
  {
    database: { sql },
    clock,
    upstream,
    reads,
    intents,
    onFault,
  }: Pick<UpstreamDependencies, 'database' | 'clock' | 'upstream' | 'reads' | 'intents' | 'onFault'>,
  request: KeyedRequest<Wanted, Claim>,
) {
  const { kind, inWords, money } = request;

  async function send(
    tenant: Tenant,
    intent: Intent,
    { body, requestOptions, hasKey }: { body: object; requestOptions: RequestOptions; hasKey: boolean },
  ): Promise<Observation> {
    const { environment } = tenant;
    const wanted = intent.summary as Wanted;
    const at = clock.now();
    const path = request.pathOf(wanted);
    const answer = await upstream
      .send({
        environment,
        method: 'POST',
        path,
        // A request without a key gets one here: if it is sent again, it returns the resource of the first.
        body: { ...withoutNulls(body), idempotencyKey: request.keyOf?.(intent) ?? intent.key },
        requestOptions,
      })
      .catch((error: unknown) => {
        throw isNotImplemented(error) ? noEndpoint(inWords) : error;
      })
      .finally(() => reads.forget(environment));
    assertConclusive(answer);
    if (answer.status === 405) throw noEndpoint(inWords);
    if (sourceOf(endpointOf({ method: 'POST', path }), answer) !== 'service') throw notReached(answer.status);
    if (!isSuccess(answer)) throw await request.refusalOf(answer, wanted, tenant);
    if (!readRecord(answer.body)) throw unreadable();
    const claim = request.read(answer.body);
    const contradiction = claim
      ? (request.contradictionOf(claim, wanted) ?? commonContradiction(answer.body, sentMembers(body)))
      : 'no such resource';
    // The same key gives the same resource, even one that was seen before.
    if (claim && contradiction === null)
      return request.observationOf(claim, wanted, at, hasKey ? 'once' : 'now');
    throw disbelieve(onFault, contradiction!, { inWords, movesMoney: money !== undefined });
  }

  return {
    /** Finds the request that a key has begun; null if there is none, or it was refused. */
    async begun(tenant: Tenant, key: string | null): Promise<Wanted | null> {
      if (key === null) return null;
      const [before] = await loadRecords(intentRecords, sql, tenant, [intentKey(kind, key)]);
      return before && before.state !== 'refused' ? (before.summary as Wanted) : null;
    },

    /**
     * Makes the request once for its key. `wanted` is stored before it is sent, `body` is not. @throws as
     * `Intents.run`
     */
    run: <Input>(
      tenant: Tenant,
      {
        wanted,
        body,
        requestOptions = { priority: 'money' },
        ...rest
      }: Pick<Operation<Input>, 'key' | 'input' | 'open'> &
        // A name consists of the kind and, after a colon, an optional scope of its keys.
        Partial<Pick<Operation<Input>, 'name'>> & {
          wanted: Wanted;
          body: object;
          requestOptions?: RequestOptions;
        },
    ): Promise<Done> =>
      intents.run<Input>(tenant, {
        name: kind,
        ...rest,
        summary: () => wanted,
        send: (intent) => send(tenant, intent, { body, requestOptions, hasKey: rest.key !== null }),
        inWords,
        safeToRepeat: !money,
        lookupReference: (intent) => money?.lookupReference(intent) ?? null,
      }),

    kinds: {
      [kind]: money
        ? { lookUp: money.lookUp, movesMoney: true }
        : {
            makes: request.makes ?? [kind],
            lookUp: async (_, { createdAt }) =>
              clock.ms() - createdAt.getTime() < GIVEN_UP_AFTER_MS ? 'unclear' : 'not_there',
            givenUpAfterMs: GIVEN_UP_AFTER_MS,
          },
    } satisfies Record<string, RequestKind> as Readonly<Record<string, RequestKind>>,
  };
}

/** The members of a request that its answer may repeat. */
function sentMembers(body: object) {
  const { externalId, metadata } = body as { externalId?: string | null; metadata?: string | null };
  return {
    ...('externalId' in body && { externalId: externalId ?? null }),
    ...('metadata' in body && { metadata: metadata ?? null }),
  };
}

function withoutNulls(body: object): object {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value != null));
}
