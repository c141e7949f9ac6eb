import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { HttpError, type Route, readBytes, sendJson } from '../api/http/routes.ts';
import { type Clock, isAhead, plusMs } from '../kernel/clock.ts';
import {
  OperatorNotice,
  PaymentError,
  PermissionError,
  RateLimitError,
  UpstreamError,
} from '../kernel/errors.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import type { MirroredResource } from '../kernel/upstream-family.ts';
import { withoutEnvelope } from '../kernel/webhook-event.ts';
import { type Committer, put, type Reader, type State, type Writes } from '../state/commit/commit.ts';
import type { Database } from '../state/db/database.ts';
import type { TaskHandler } from '../state/work/queue.ts';
import { RetryLater } from '../state/work/retry-later.ts';
import { knownByReferences, mirrored, readByReferences } from '../upstream/mirror.ts';
import { type MirroredRow, selectMirrored } from '../upstream/mirror-store.ts';
import { isOutage, MissingEndpointError } from '../upstream/responses.ts';
import type { Redaction } from '../upstream/secrets.ts';
import { UpstreamFault } from '../upstream/upstream.ts';
import type { WebhookClaim } from '../upstream/webhook-claim.ts';
import { ENDPOINT, endpoints, received, receivedBodies, relayedDeliveries } from './collections.ts';
import { isHeld } from './endpoint-health.ts';
import { selects, type WebhookEndpoint } from './endpoints.ts';
import { statusEvents } from './events.ts';
import { attemptAt, copiedWebhookId, isSameEndpoint, isWebhookId } from './model.ts';
import { parsePayload } from './payload.ts';
import { isSignedWith } from './signing.ts';
import type { NewDelivery } from './store.ts';

export interface Receiver {
  routes: Route[];
  tasks: Readonly<Record<string, TaskHandler>>;
}

/** The path at which the service's webhooks arrive. */
export const RECEIVE_PATH = '/webhooks/psa';

const VERIFY = 'upstream.verify';
/**
 * The wait before a lookup: claims of one resource that arrive together share a lookup, which is later than
 * all of them.
 */
const VERIFY_AFTER_MS = 1_000;
/**
 * The number of lookups that the service answers: the last one runs some three minutes after the event, when
 * its answers agree. Lookups that an outage fails are repeated while it lasts, in the end every ten minutes.
 */
const MAX_LOOKUPS = 5;
/**
 * The number of lookups that may be refused, over some three hours, in which an operator can correct a key.
 * An outage of that length is logged.
 */
const MAX_FAILURES = 20;
const BODY_LIMIT_BYTES = 256 * 1024;
/** The interval in which a notice is logged once, because anybody can send requests that are refused. */
const NOTICE_INTERVAL_MS = 60 * 60_000;

/** A verified webhook of the service. */
interface Message {
  environment: Environment;
  /** The X-Webhook-Id, or the body's hash without one. */
  webhookId: string;
  bodyHash: string;
  body: string;
  headers: IncomingHttpHeaders;
  payload: Readonly<Record<string, unknown>>;
}

/**
 * Receives the service's webhooks (the document's section 6). A webhook is a claim: it is recorded as far as
 * the document's transitions allow, once, in one transaction with all of its effects, and then verified by a
 * lookup at the service. A payment's event is relayed to its own callbackUrl, if the service was given ours, and every
 * event is copied to the further endpoints that select it.
 */
export function createReceiver({
  database,
  committer,
  clock,
  secrets: configured,
  redaction,
  publicUrl,
  tenantOf,
  claimReaders,
  refresh,
  pollNow,
  lookUpSoon,
  onFault,
}: {
  database: Database;
  committer: Committer;
  clock: Clock;
  /**
   * The secrets of each environment; any of them may sign. Webhooks of an environment without secrets are
   * refused.
   */
  secrets: Readonly<Record<Environment, readonly string[]>>;
  /** Removes the configured secrets from the texts of an event; a relayed body keeps its bytes. */
  redaction: Redaction;
  /** The URL of this server, to which no webhook is relayed. */
  publicUrl: string;
  /** Returns null if the configuration has no key for the environment: its webhooks are ignored. */
  tenantOf: (environment: Environment) => Tenant | null;
  /** The readers of the slices; the first that recognizes a payload returns its claim. */
  claimReaders: readonly ((payload: unknown) => WebhookClaim | null)[];
  /**
   * Looks up a claimed resource by the webhook's reference, as far as the budget allows, even if it is final
   * here; the mirror records when the service has said the same or something newer.
   * @throws RateLimitError, UpstreamFault, UpstreamError
   */
  refresh: (tenant: Tenant, resource: MirroredResource, reference: string) => Promise<void>;
  /** Polls the resource soon, because a webhook has changed its known state. */
  pollNow: (tenant: Tenant, resource: MirroredResource) => void;
  /** Looks up soon the request with this input: its outcome may be known now. */
  lookUpSoon: (tenant: Tenant, inputHash: string) => Promise<void>;
  onFault: (fault: unknown) => void;
}): Receiver {
  // With an empty secret anybody could sign.
  const isNotEmpty = (secret: string) => secret !== '';
  const secrets = {
    live: configured.live.filter(isNotEmpty),
    sandbox: configured.sandbox.filter(isNotEmpty),
  };
  const loggedAt = new Map<string, Date>();
  const ownUrl = new URL(publicUrl + RECEIVE_PATH);

  /** Logs a problem that the operator can correct, each at most once an hour. */
  function notify(message: string): void {
    const last = loggedAt.get(message);
    if (last && plusMs(last, NOTICE_INTERVAL_MS) > clock.now()) return;
    loggedAt.set(message, clock.now());
    onFault(new OperatorNotice(message));
  }

  /** @throws HttpError 401 */
  function refuseSignature(why: string): never {
    notify(`A webhook was refused: ${why}`);
    throw new HttpError(401, 'Invalid webhook signature');
  }

  /** @throws HttpError 503, 413, 401, 400 */
  async function verify(request: IncomingMessage): Promise<Message> {
    if (secrets.live.length + secrets.sandbox.length === 0) {
      notify('A webhook was refused: PSA_UPSTREAM_WEBHOOK_SECRET is not set');
      throw new HttpError(503, 'Webhooks are not configured');
    }
    const bytes = await readBytes(request, BODY_LIMIT_BYTES);
    const signature = headerOf(request, 'x-webhook-signature') ?? '';
    const isSigned = {
      live: isSignedWith(secrets.live, bytes, signature),
      sandbox: isSignedWith(secrets.sandbox, bytes, signature),
    };
    // Nothing is read from a body that no secret has signed.
    if (!isSigned.live && !isSigned.sandbox) refuseSignature('none of the configured secrets has signed it');
    // The body is stored as text and may be relayed, so it is refused unless text can hold it byte for byte.
    if (!isUtf8(bytes)) throw new HttpError(400, 'The body is not UTF-8');
    const body = bytes.toString('utf8');
    const bodyHash = createHash('sha256').update(bytes).digest('hex');
    const id = headerOf(request, 'x-webhook-id') ?? '';
    const webhookId = isWebhookId(id) ? id : bodyHash;
    const parsed = parsePayload(body);
    if (typeof parsed === 'string') throw new HttpError(400, parsed);
    const payload = withoutEnvelope(redaction.json(parsed, body) as Message['payload']);
    const environment = environmentOf(payload);
    if (!isSigned[environment])
      refuseSignature(`one of ${environment} is signed with a secret of the other environment`);
    return { environment, webhookId, bodyHash, body, headers: request.headers, payload };
  }

  /**
   * Applies a webhook and all of its effects in one transaction; a webhook that was received before has none.
   */
  async function apply(message: Message): Promise<void> {
    const { environment, webhookId, bodyHash, payload } = message;
    const tenant = tenantOf(environment);
    if (!tenant) return notify(`Webhooks of ${environment} are passed over: there is no key for it`);
    const claim = readClaim(claimReaders, payload);
    const named = namedPayment(claim, payload);
    const changed = await committer.change<boolean>({
      tenant,
      read: (reader) =>
        Promise.all([
          reader.load(received, webhookId),
          reader.load(receivedBodies, bodyHash),
          reader.load(endpoints, ENDPOINT),
          named && loadKnown(reader, named.resource, named.reference),
          claim && loadKnown(reader, claim.resource, claim.reference),
          claim?.observation.read(reader),
        ]),
      decide(state) {
        if (state.get(received, webhookId)) return { outcome: false };
        if (state.get(receivedBodies, bodyHash)) {
          const isAnother = claim?.isNameOnly && webhookId !== bodyHash;
          return { outcome: false, writes: isAnother ? decideClaim(state, claim) : NO_WRITES };
        }
        const arrival = { webhookId, bodyHash, receivedAt: state.now };
        const claimWrites = claim ? decideClaim(state, claim) : NO_WRITES;
        const payment = named && findKnown(state, named.resource, named.reference);
        const about = claim && {
          type: claim.resource,
          id: findKnown(state, claim.resource, claim.reference)?.id ?? claim.reference,
        };
        const passedOn = [
          ...(payment ? relaysOf(message, payment, ownUrl, state.now) : []),
          ...copiesOf(message, { about, endpoint: state.get(endpoints, ENDPOINT), now: state.now }),
        ];
        return {
          outcome: (claimWrites.events ?? []).length > 0,
          writes: {
            ...claimWrites,
            records: [
              put(received, arrival),
              put(receivedBodies, arrival),
              ...(claimWrites.records ?? []),
              ...passedOn.map((delivery) => put(relayedDeliveries, delivery)),
            ],
            events: [
              ...(claimWrites.events ?? []),
              ...passedOn.flatMap((delivery) => statusEvents(delivery, null)),
            ],
            tasks: [
              ...(claimWrites.tasks ?? []),
              ...passedOn.flatMap((delivery) =>
                delivery.status === 'pending' ? [attemptAt(delivery, state.now)] : [],
              ),
            ],
          },
        };
      },
    });
    // If this process stops here, the lookup only runs later, at its own time.
    if (claim?.inputHash) await lookUpSoon(tenant, claim.inputHash).catch(onFault);
    if (!changed || !claim) return;
    pollNow(tenant, claim.resource);
    pollNow(tenant, 'wallet');
  }

  return {
    routes: [
      {
        methods: ['POST'],
        path: /^\/webhooks\/psa$/,
        async handle({ request, response }) {
          // Nothing here waits for the service. If this fails, the answer is 500, and the service sends the
          // webhook again.
          await apply(await verify(request));
          sendJson(response, 200, { received: true });
        },
      },
    ],
    tasks: {
      [VERIFY]: async (task) => {
        const { resource, reference, id } = parseTarget(task.key);
        const requestedAt = clock.now();
        const lookups = task.attempts - task.outages;
        try {
          await refresh(task, resource, reference);
        } catch (error) {
          // A retry learns no more if the endpoint is missing.
          if (error instanceof MissingEndpointError) return;
          const notVerified = (cause: Error, so: string) =>
            new Error(`A webhook of ${resource} ${id} could not be verified${so}: ${cause.message}`);
          if (isOutage(error)) {
            if (task.outages + 1 === MAX_FAILURES) onFault(notVerified(error, ' so far'));
            // A slot of the budget is free again within a minute, and the followers wait for this lookup.
            const withinMs =
              error instanceof RateLimitError ? error.retryAfterSeconds * 1_000 : Number.POSITIVE_INFINITY;
            throw new RetryLater(error.message, { cause: error, isOutage: true, withinMs });
          }
          // An unreadable answer confirms nothing, nor does one refusal after the other.
          const isForbidden = error instanceof PermissionError;
          const isRefused = isForbidden || error instanceof UpstreamError;
          if (isRefused || error instanceof UpstreamFault) {
            if (lookups >= (isRefused && !isForbidden ? MAX_FAILURES : MAX_LOOKUPS))
              return onFault(notVerified(error, ''));
            throw new RetryLater(error.message, { cause: error });
          }
          // The service knows no such resource, or does not show it to this server: that confirms nothing.
          if (!(error instanceof PaymentError)) throw error;
        }
        const [row] = await selectMirrored(database.sql, task, resource, [id]);
        if (!row) return;
        const { unresolved = false } = row.snapshot as { unresolved?: boolean };
        const isConfirmed = row.observedAt >= requestedAt && !isAhead(row.observedAt, requestedAt);
        if (isConfirmed && !unresolved) return;
        if (lookups < MAX_LOOKUPS) throw new RetryLater('The service still says something older');
        const claimed = unresolved ? 'was paid' : `is ${row.status}`;
        onFault(new Error(`A webhook said of ${resource} ${id} that it ${claimed}; the service does not`));
      },
    },
  };
}

// ── Reading a payload ───────────────────────────────────────────────────────────────────────────

/** The environment of an event: sandbox events have names of their own, or a `sandbox` member (section 6.1). */
function environmentOf(payload: Message['payload']): Environment {
  const { event = eventNameOf(payload, '(?:payment|charge)'), sandbox } = payload;
  const isTest = typeof event === 'string' && /^\w+\.test\./.test(event);
  return isTest || sandbox === true ? 'sandbox' : 'live';
}

function readClaim(
  claimReaders: readonly ((payload: unknown) => WebhookClaim | null)[],
  payload: unknown,
): WebhookClaim | null {
  for (const read of claimReaders) {
    const found = read(payload);
    if (found) return found;
  }
  return null;
}

/**
 * The payment to whose `callbackUrl` an event is relayed; null for an event of another family. Events of
 * disputes or refunds may name a payment too, and a receiver could take such an event for that of a paid
 * payment.
 */
function namedPayment(
  claim: WebhookClaim | null,
  payload: Message['payload'],
): { resource: 'card_payment' | 'payment'; reference: string } | null {
  const { resource, reference } = claim ?? {};
  if (resource === 'card_payment' || resource === 'payment') return { resource, reference: reference! };
  // An event that also has identifiers of other families is recognized by its name.
  const { orderCode, paymentId } = payload;
  if (eventNameOf(payload, 'card_payment') && typeof orderCode === 'string')
    return { resource: 'card_payment', reference: orderCode };
  if (eventNameOf(payload, 'payment') && typeof paymentId === 'string')
    return { resource: 'payment', reference: paymentId };
  return null;
}

// ── Deciding what follows ───────────────────────────────────────────────────────────────────────

const NO_WRITES: Writes = {};

/** Loads a resource by any of its names, including its id here. */
function loadKnown(reader: Reader, resource: MirroredResource, name: string): Promise<unknown> {
  return Promise.all([reader.load(mirrored[resource], name), readByReferences(reader, resource, [name])]);
}

function findKnown(state: State, resource: MirroredResource, name: string): MirroredRow | null {
  return state.get(mirrored[resource], name) ?? knownByReferences(state, resource, [name]);
}

/** Merges the claim into the mirror and schedules a lookup, unless the state is final and agrees with it. */
function decideClaim(state: State, claim: WebhookClaim): Writes {
  const { resource, reference, observation, isNameOnly } = claim;
  const before = findKnown(state, resource, reference);
  const { resourceId, writes, contradicts } = observation.decide(state);
  if (before?.final && !contradicts && !isNameOnly) return writes;
  const key = targetKey({ resource, reference, id: resourceId });
  const verify = { kind: VERIFY, key, at: plusMs(state.now, VERIFY_AFTER_MS) };
  return { ...writes, tasks: [...(writes.tasks ?? []), verify] };
}

/** The resource to look up: the event's reference, and the id here. */
interface LookupTarget {
  resource: MirroredResource;
  reference: string;
  id: string;
}

function targetKey({ resource, reference, id }: LookupTarget): string {
  return JSON.stringify([resource, reference, id]);
}

function parseTarget(key: string): LookupTarget {
  const [resource, reference, id] = JSON.parse(key) as [MirroredResource, string, string];
  return { resource, reference, id };
}

/**
 * Headers with which a receiver verifies the service. They are relayed; a late attempt signs the Standard
 * Webhooks headers again.
 */
const RELAYED_HEADERS = [
  'content-type',
  'x-webhook-id',
  'x-webhook-signature',
  'x-webhook-resource-version',
  'x-webhook-occurred-at',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
];

/**
 * Relays the same bytes to the payment's callbackUrl, as the merchant gave it, unless that leads back here.
 */
function relaysOf(message: Message, payment: MirroredRow, ownUrl: URL, now: Date): NewDelivery[] {
  const { callbackUrl: url } = payment.snapshot as { callbackUrl?: unknown };
  if (typeof url !== 'string' || isSameEndpoint(ownUrl, url)) return [];
  const event = nameOf(message.payload, payment.resource);
  return [
    {
      ...passedOn(message, { event, about: { type: payment.resource, id: payment.id }, now }),
      ...{ webhookId: message.webhookId, endpointId: null, url, status: 'pending', nextAttemptAt: now },
    },
  ];
}

/**
 * Copies the same bytes to each further endpoint that selects the event, signed with its own secret, as a delivery of its own.
 * The id of that follows from the service's, so that a webhook that comes again has the same.
 */
function copiesOf(
  message: Message,
  {
    about,
    endpoint,
    now,
  }: { about: { type: string; id: string } | null; endpoint: WebhookEndpoint | null; now: Date },
): NewDelivery[] {
  const { payload, webhookId } = message;
  const name = typeof payload.event === 'string' && EVENT_NAME.test(payload.event) ? payload.event : null;
  const event = name ?? (about ? nameOf(payload, about.type) : 'unknown');
  return (endpoint?.further ?? [])
    .filter((each) => selects(each, event))
    .map(({ endpointId, url }): NewDelivery => {
      const waits = isHeld(endpoint, endpointId);
      return {
        ...passedOn(message, { event, about: about ?? { type: 'webhook', id: webhookId }, now }),
        ...{ webhookId: copiedWebhookId(webhookId, endpointId), endpointId, url },
        ...{ status: waits ? 'held' : 'pending', nextAttemptAt: waits ? null : now },
      };
    });
}

/** The name of an event about a resource. A body that names none, as those of payments may, says that it is paid. */
function nameOf(payload: Message['payload'], resource: string): string {
  const unnamed = resource === 'card_payment' || resource === 'payment' ? `${resource}.paid` : 'unknown';
  return eventNameOf(payload, resource) ?? unnamed;
}

const EVENT_NAME = /^[a-z_]+(?:\.[a-z_]+){1,2}$/;

/** The members that all deliveries have in common that pass a webhook on. */
function passedOn(
  { body, headers }: Message,
  { event, about, now }: { event: string; about: { type: string; id: string }; now: Date },
) {
  return {
    ...{ eventVersion: null, resourceVersion: null, occurredAt: null, event, body },
    ...{ resource: about.type, resourceId: about.id, subjectType: null, subjectId: null },
    headers: Object.fromEntries(
      RELAYED_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
    ) as Record<string, string>,
    ...{ attempts: 0, failures: 0, responseStatus: null, responseClass: null, createdAt: now },
  };
}

/**
 * The name of a payment's event, found by its form, because the document does not name the member. Null
 * without a name.
 */
function eventNameOf(payload: Message['payload'], resource: string): string | null {
  const form = new RegExp(`^${resource}(?:\\.test)?\\.\\w{1,40}$`);
  const name = Object.values(payload).find((value) => typeof value === 'string' && form.test(value));
  return typeof name === 'string' ? name : null;
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}
