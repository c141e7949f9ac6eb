import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Committer, put, type Reader, type State, type Writes } from '../commit/commit.ts';
import type { Database } from '../db/database.ts';
import { HttpError, type Route, readBytes, sendJson } from '../http/routes.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { PaymentError, UpstreamError } from '../kernel/errors.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import { knownByReferences, mirrored, readByReferences } from '../upstream/mirror.ts';
import { type MirroredResource, type MirroredRow, selectMirrored } from '../upstream/mirror-store.ts';
import { isRetryable } from '../upstream/responses.ts';
import type { WebhookClaim } from '../upstream/webhook-claim.ts';
import { RetryLater, type TaskHandler } from '../work/queue.ts';
import { passedOn, received, receivedBodies } from './collections.ts';
import { isWebhookId } from './model.ts';
import { isSignedWith } from './signing.ts';
import type { NewDelivery } from './store.ts';

export interface Receiver {
  routes: Route[];
  tasks: Readonly<Record<string, TaskHandler>>;
}

/** Where the service's webhooks come in. */
export const RECEIVES_AT = '/webhooks/psa';

const VERIFY = 'upstream.verify';
/** Claims that come together for one resource are verified by one look-up, which is later than all of them. */
const VERIFY_AFTER_MS = 1_000;
/** The last look-up comes some three minutes after the event: by then the service says the same everywhere. */
const LOOKS = 5;
const BODY_LIMIT_BYTES = 256 * 1024;
/** Anybody can have a request refused: of each reason so much is logged. */
const COMPLAINS_EVERY_MS = 60 * 60_000;

/** One request of the service, verified. */
interface Message {
  /** The X-Webhook-Id; the body's hash where there is none. */
  webhookId: string;
  bodyHash: string;
  body: string;
  headers: IncomingHttpHeaders;
  payload: Readonly<Record<string, unknown>>;
}

/**
 * Receives the service's webhooks (the document's section 6). What one says is a claim: it is recorded as far as the
 * document's transitions allow, once, in one transaction with all that follows from it, and then held against what the
 * service itself answers. A card event is passed on to its payment's own callbackUrl, for the service was given ours.
 */
export function createReceiver({
  database,
  committer,
  clock,
  secrets: configured,
  publicUrl,
  tenantOf,
  sightings,
  refresh,
  nudge,
  lookSoon,
  onFault,
}: {
  database: Database;
  committer: Committer;
  clock: Clock;
  /** Any of them verifies; with none, everything is refused. */
  secrets: readonly string[];
  /** Where this program is known: what leads back here is not passed on. */
  publicUrl: string;
  /** Null where the configuration has no key for the environment: its webhooks are not ours to read. */
  tenantOf: (environment: Environment) => Tenant | null;
  /** Each slice's reading of a payload; the first that knows it. */
  sightings: readonly ((payload: unknown) => WebhookClaim | null)[];
  /**
   * Asks the service for what a webhook has claimed, by the sighting's reference, as far as the budget allows and
   * whatever is known of it here; notes in the mirror when the service has said the same or something newer.
   * @throws RateLimitError, UpstreamFault, UpstreamError
   */
  refresh: (tenant: Tenant, resource: MirroredResource, reference: string) => Promise<void>;
  /** Something has changed. */
  nudge: (tenant: Tenant, resource: MirroredResource) => void;
  /** All is known now that a request with this input may be recognised by. */
  lookSoon: (tenant: Tenant, inputHash: string) => Promise<void>;
  onFault: (fault: unknown) => void;
}): Receiver {
  // Under an empty one anybody can sign.
  const secrets = configured.filter((secret) => secret !== '');
  const complaints = new Map<string, Date>();
  const ownUrl = new URL(publicUrl + RECEIVES_AT);

  /** Logs a fault that the operator can correct. */
  function complain(message: string): void {
    const last = complaints.get(message);
    if (last && plusMs(last, COMPLAINS_EVERY_MS) > clock.now()) return;
    complaints.set(message, clock.now());
    onFault(new Error(message));
  }

  /** @throws HttpError 503, 413, 401, 400 */
  async function verified(request: IncomingMessage): Promise<Message> {
    if (secrets.length === 0) {
      complain('A webhook was refused: PSA_UPSTREAM_WEBHOOK_SECRET is not set');
      throw new HttpError(503, 'Webhooks are not configured');
    }
    const bytes = await readBytes(request, BODY_LIMIT_BYTES);
    if (!isSignedWith(secrets, bytes, headerOf(request, 'x-webhook-signature') ?? '')) {
      complain('A webhook was refused: none of PSA_UPSTREAM_WEBHOOK_SECRET has signed it');
      throw new HttpError(401, 'Invalid webhook signature');
    }
    // It is kept as text and may be passed on: what text cannot keep byte for byte is refused.
    if (!isUtf8(bytes)) throw new HttpError(400, 'The body is not UTF-8');
    const body = bytes.toString('utf8');
    const bodyHash = createHash('sha256').update(bytes).digest('hex');
    const id = headerOf(request, 'x-webhook-id') ?? '';
    const webhookId = isWebhookId(id) ? id : bodyHash;
    return { webhookId, bodyHash, body, headers: request.headers, payload: objectOf(body) };
  }

  /** All that follows from a message, in one transaction, or nothing where it has come before. */
  async function apply(message: Message): Promise<void> {
    const { webhookId, bodyHash, payload } = message;
    const environment = environmentOf(payload);
    const tenant = tenantOf(environment);
    if (!tenant) return complain(`Webhooks of ${environment} are passed over: there is no key for it`);
    const sighting = firstOf(sightings, payload);
    const orderCode = typeof payload.orderCode === 'string' ? payload.orderCode : null;
    const changed = await committer.change<boolean>({
      tenant,
      read: (reader) =>
        Promise.all([
          reader.load(received, webhookId),
          reader.load(receivedBodies, bodyHash),
          orderCode === null ? null : readKnown(reader, 'card_payment', orderCode),
          sighting && readKnown(reader, sighting.resource, sighting.reference),
          sighting?.observation.read(reader),
        ]),
      decide(state) {
        if (state.get(received, webhookId) || state.get(receivedBodies, bodyHash)) return { outcome: false };
        const arrival = { webhookId, bodyHash, receivedAt: state.now };
        const claim = sighting ? decideClaim(state, sighting) : NOTHING;
        const payment = orderCode === null ? null : known(state, 'card_payment', orderCode);
        const relay = payment ? decideRelay(message, payment, ownUrl, state.now) : NOTHING;
        return {
          outcome: (claim.events ?? []).length > 0,
          writes: {
            ...claim,
            records: [
              put(received, arrival),
              put(receivedBodies, arrival),
              ...(claim.records ?? []),
              ...(relay.records ?? []),
            ],
            tasks: [...(claim.tasks ?? []), ...(relay.tasks ?? [])],
          },
        };
      },
    });
    // Lost with this process, it costs no more than the wait for the next look.
    if (sighting?.inputHash) await lookSoon(tenant, sighting.inputHash).catch(onFault);
    if (!changed || !sighting) return;
    nudge(tenant, sighting.resource);
    nudge(tenant, 'wallet');
  }

  return {
    routes: [
      {
        methods: ['POST'],
        path: /^\/webhooks\/psa$/,
        async handle({ request, response }) {
          // Nothing here waits for the service. Whatever fails is a 500, and then it comes again.
          await apply(await verified(request));
          sendJson(response, 200, { received: true });
        },
      },
    ],
    tasks: {
      [VERIFY]: async (task) => {
        const { resource, reference, id } = claimIn(task.key);
        const askedAt = clock.now();
        try {
          await refresh(task, resource, reference);
        } catch (error) {
          if (isRetryable(error)) throw new RetryLater(error.message, { cause: error });
          // Where there is no endpoint for it, nobody will ever know better.
          if (error instanceof UpstreamError) return;
          // It says that there is no such thing, or not for us: that confirms nothing.
          if (!(error instanceof PaymentError)) throw error;
        }
        const [now] = await selectMirrored(database.sql, task, resource, [id]);
        if (!now || now.observedAt >= askedAt) return;
        if (task.attempts < LOOKS) throw new RetryLater('The service still says something older');
        onFault(
          new Error(`A webhook said of ${resource} ${id} that it is ${now.status}; the service does not`),
        );
      },
    },
  };
}

// ── What a payload is ───────────────────────────────────────────────────────────────────────────

/**
 * In its texts, what Postgres cannot keep is replaced: no event is lost for a character. What is passed on keeps it.
 * @throws HttpError 400
 */
function objectOf(body: string): Readonly<Record<string, unknown>> {
  let payload: unknown;
  try {
    payload = JSON.parse(body, (_, value: unknown) =>
      typeof value === 'string' ? value.replaceAll('\u0000', '\ufffd').toWellFormed() : value,
    );
  } catch {
    throw new HttpError(400, 'The body is not JSON');
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw new HttpError(400, 'The body must be a JSON object');
  return payload as Record<string, unknown>;
}

/** Sandbox events have names of their own, or say so (section 6.1). */
function environmentOf({ event, sandbox }: Message['payload']): Environment {
  const isTest = typeof event === 'string' && event.startsWith('withdrawal.test.');
  return isTest || sandbox === true ? 'sandbox' : 'live';
}

function firstOf(
  sightings: readonly ((payload: unknown) => WebhookClaim | null)[],
  payload: unknown,
): WebhookClaim | null {
  for (const sighting of sightings) {
    const found = sighting(payload);
    if (found) return found;
  }
  return null;
}

// ── What follows from it ────────────────────────────────────────────────────────────────────────

const NOTHING: Writes = {};

/** Finds a resource by any of its names, the program's own included. */
function readKnown(reader: Reader, resource: MirroredResource, name: string): Promise<unknown> {
  return Promise.all([reader.load(mirrored[resource], name), readByReferences(reader, resource, [name])]);
}

function known(state: State, resource: MirroredResource, name: string): MirroredRow | null {
  return state.get(mirrored[resource], name) ?? knownByReferences(state, resource, [name]);
}

/** Merges the claim into the mirror and schedules a look-up; neither where the service itself has said as much. */
function decideClaim(state: State, { resource, reference, observation }: WebhookClaim): Writes {
  const before = known(state, resource, reference);
  const { resourceId, writes, contradicts } = observation.decide(state);
  if (before?.final && !contradicts) return writes;
  const key = claimKey({ resource, reference, id: resourceId });
  const verify = { kind: VERIFY, key, at: plusMs(state.now, VERIFY_AFTER_MS) };
  return { ...writes, tasks: [...(writes.tasks ?? []), verify] };
}

/** The references to look up: the event's name of the resource, and the program's. */
interface Claim {
  resource: MirroredResource;
  reference: string;
  id: string;
}

function claimKey({ resource, reference, id }: Claim): string {
  return JSON.stringify([resource, reference, id]);
}

function claimIn(key: string): Claim {
  const [resource, reference, id] = JSON.parse(key) as [MirroredResource, string, string];
  return { resource, reference, id };
}

/** Headers by which a receiver knows the service; they are passed on as they came. */
const PASSED_ON = [
  'content-type',
  'x-webhook-id',
  'x-webhook-signature',
  'x-webhook-resource-version',
  'x-webhook-occurred-at',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
];

/** The same bytes to the payment's callbackUrl, as the merchant gave it to us; a loop leads nowhere. */
function decideRelay(
  { webhookId, body, headers, payload }: Message,
  payment: MirroredRow,
  ownUrl: URL,
  now: Date,
): Writes {
  const url = callbackUrlOf(payment.snapshot);
  if (url === null || leadsTo(ownUrl, url)) return NOTHING;
  const delivery: NewDelivery = {
    webhookId,
    ...{ eventVersion: null, resourceVersion: null, occurredAt: null },
    event: cardEventName(payload),
    resource: 'card_payment',
    resourceId: payment.id,
    url,
    body,
    headers: Object.fromEntries(
      PASSED_ON.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
    ),
    status: 'pending',
    attempts: 0,
    failures: 0,
    nextAttemptAt: now,
    createdAt: now,
  };
  return {
    records: [put(passedOn, delivery)],
    tasks: [{ kind: 'webhook.deliver', key: webhookId, at: now }],
  };
}

function callbackUrlOf(snapshot: unknown): string | null {
  const { callbackUrl } = snapshot as { callbackUrl?: unknown };
  return typeof callbackUrl === 'string' ? callbackUrl : null;
}

/** The document does not show what the field is called; its value is always this, as far as it says. */
function cardEventName(payload: Message['payload']): string {
  const name = Object.values(payload).find(
    (value) => typeof value === 'string' && /^card_payment\.\w{1,40}$/.test(value),
  );
  return typeof name === 'string' ? name : 'card_payment.paid';
}

/** True for the public URL by http or https: a proxy in front of us may speak both. */
function leadsTo(own: URL, url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, port, pathname } = new URL(url);
  return hostname.replace(/\.$/, '') === own.hostname && port === own.port && pathname === own.pathname;
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}
