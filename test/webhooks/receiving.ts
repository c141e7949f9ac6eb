import { createHmac } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import { createHttpServer } from '../../server/src/api/http/server.ts';
import type { Environment, Tenant } from '../../server/src/kernel/tenant.ts';
import type { MirroredResource } from '../../server/src/kernel/upstream-family.ts';
import type { StoredCardPayment } from '../../server/src/money-in/card-payments/model.ts';
import type { StoredPayment } from '../../server/src/money-in/payments/model.ts';
import type { OwnPayout } from '../../server/src/money-out/payouts/model.ts';
import { codeOnly } from '../../server/src/money-out/subaccounts/remote/mirror.ts';
import { createCommitter } from '../../server/src/state/commit/committer.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import type { NewEvent } from '../../server/src/state/events/event.ts';
import { createWorkQueue } from '../../server/src/state/work/queue.ts';
import {
  knownByReferences,
  mirrored,
  readByReferences,
  writesOfMirrored,
} from '../../server/src/upstream/mirror.ts';
import { createRedaction } from '../../server/src/upstream/secrets.ts';
import type { WebhookClaim } from '../../server/src/upstream/webhook-claim.ts';
import { createWebhookDelivery } from '../../server/src/webhooks/delivery.ts';
import { createWebhookEndpoints } from '../../server/src/webhooks/endpoint-service.ts';
import { createHeldDelivery } from '../../server/src/webhooks/held-delivery.ts';
import { createReceiver } from '../../server/src/webhooks/receive.ts';
import { createRemoteEndpoints, createRemoteWebhooks } from '../../server/src/webhooks/remote/service.ts';
import { createSender } from '../../server/src/webhooks/sender.ts';
import { createWebhookService } from '../../server/src/webhooks/service.ts';
import { createManualClock } from '../support/clock.ts';
import { openAccount } from '../support/core.ts';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const sign = (body: string | Buffer, secret = SECRET) => createHmac('sha256', secret).update(body);

/** A webhook that is signed and sent as the service does it. */
export function delivered(payload: unknown, webhookId: string | null = null) {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-webhook-signature': sign(body).digest('hex'),
    ...(webhookId === null ? {} : { 'x-webhook-id': webhookId }),
  };
  return { body, headers };
}

export interface Answer {
  status: number | undefined;
  body: unknown;
}

/** One instance of a facade that receives webhooks over HTTP; the test decides the service's answers to lookups. */
export async function startReceiving({
  database,
  clock = createManualClock(),
  tenant: given,
  secrets = [SECRET],
  sandboxSecrets = secrets,
  privateAddresses = true,
  publicUrl = 'https://facade.example',
  refresh = async () => undefined,
  configured = ['live', 'sandbox'],
}: {
  database: Database;
  clock?: ReturnType<typeof createManualClock>;
  /** The tenant of another instance. */
  tenant?: Tenant;
  secrets?: readonly string[];
  /** The sandbox's secrets, if they differ. */
  sandboxSecrets?: readonly string[];
  privateAddresses?: boolean;
  publicUrl?: string;
  refresh?: (tenant: Tenant, resource: MirroredResource, reference: string) => Promise<void>;
  /** The environments with a key. */
  configured?: readonly Environment[];
}) {
  const tenant = given ?? (await openAccount(database));
  const tenantOf = (environment: Environment): Tenant => ({ ...tenant, environment });
  const faults: unknown[] = [];
  const polled: string[] = [];
  /** The inputs of recognized requests. */
  const lookedAt: string[] = [];
  const onFault = (fault: unknown) => faults.push(fault);
  const committer = createCommitter({
    database,
    clock,
    onCommit(committed) {
      for (const task of committed.flatMap(({ tasks }) => tasks)) work.wake(task);
    },
  });
  const receiver = createReceiver({
    database,
    committer,
    clock,
    secrets: { live: secrets, sandbox: sandboxSecrets },
    redaction: createRedaction([]),
    publicUrl,
    tenantOf: (environment) => (configured.includes(environment) ? tenantOf(environment) : null),
    claimReaders: [readCardClaim, readPaymentClaim, readPayoutClaim, readCodeClaim],
    refresh,
    lookUpSoon: async (_, inputHash) => void lookedAt.push(inputHash),
    pollNow: (of, resource) => polled.push(`${of.environment} ${resource}`),
    onFault,
  });
  const delivery = createWebhookDelivery({
    database,
    committer,
    clock,
    send: createSender({ clock, privateAddresses }),
    random: () => 0,
    relaySecrets: { live: secrets, sandbox: sandboxSecrets },
  });
  const work = createWorkQueue({
    database,
    clock,
    handlers: { ...receiver.tasks, ...delivery.tasks, ...createHeldDelivery({ database, committer }).tasks },
    onError: onFault,
  });
  const http = createHttpServer({ onFault });
  const port = await http.listen(0, '127.0.0.1');
  http.serve(receiver.routes);
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  onTestFinished(async () => {
    await work.close();
    agent.destroy();
    await http.close();
    await committer.idle();
    await database.sql.deleteFrom('task').where('account_id', '=', tenant.accountId).execute();
  });

  const ofAccount = (table: 'observed' | 'event' | 'received_webhook' | 'webhook_delivery' | 'task') =>
    database.sql.selectFrom(table).where('account_id', '=', tenant.accountId);
  return {
    tenant,
    tenantOf,
    clock,
    committer,
    work,
    faults,
    polled,
    webhooks: createRemoteWebhooks(createWebhookService({ database, committer, clock, privateAddresses })),
    endpoints: createRemoteEndpoints(
      createWebhookEndpoints({ database, committer, clock, privateAddresses }),
      { receivesAt: `${publicUrl}/webhooks/psa` },
    ),
    url: `http://127.0.0.1:${port}/webhooks/psa`,

    post({
      body,
      headers,
      method = 'POST',
    }: {
      body: string | Buffer;
      headers: Record<string, string>;
      method?: string;
    }): Promise<Answer> {
      return new Promise((resolve, reject) => {
        const length = { 'content-length': Buffer.byteLength(body) };
        const options = { port, method, path: '/webhooks/psa', agent, headers: { ...length, ...headers } };
        const request = httpRequest(options, (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('end', () =>
            resolve({ status: response.statusCode, body: text === '' ? null : JSON.parse(text) }),
          );
          response.on('error', reject);
        });
        request.on('error', reject);
        request.end(body);
      });
    },

    /** The published events, in order: kinds with their resources. */
    async published(): Promise<string[]> {
      const rows = await ofAccount('event')
        .select(['environment', 'kind', 'resource_id'])
        .orderBy('environment')
        .orderBy('version')
        .execute();
      return rows.map((row) => `${row.environment} ${row.kind} ${row.resource_id}`);
    },
    async mirror(): Promise<Record<string, string>> {
      const rows = await ofAccount('observed').select(['resource', 'id', 'status']).execute();
      return Object.fromEntries(rows.map(({ resource, id, status }) => [`${resource} ${id}`, status]));
    },
    async count(table: Parameters<typeof ofAccount>[0]): Promise<number> {
      const { count } = await ofAccount(table)
        .select((row) => row.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    /** Advances the clock to each instant at which a task is due, and runs the task. */
    async pass(ms: number): Promise<void> {
      const until = clock.now().getTime() + ms;
      for (;;) {
        await work.settled();
        const { rows } = await sql<{ at: Date | null }>`
          select min(greatest(due_at, leased_until)) as at from task where account_id = ${tenant.accountId}
        `.execute(database.sql);
        const due = rows[0]?.at?.getTime() ?? null;
        if (due === null || due > until) break;
        clock.moveTo(new Date(due));
      }
      clock.moveTo(new Date(until));
      await work.settled();
    },
  };
}

export type Receiving = Awaited<ReturnType<typeof startReceiving>>;

// ── What the service says, and a slice's reading of it ──────────────────────────────────────────

const WORDS = { pending: 'pendente', completed: 'concluido', denied: 'negado' } as const;

export function withdrawal(
  id: string,
  status: keyof typeof WORDS,
  { test = false, ...more }: { test?: boolean } & Record<string, unknown> = {},
) {
  return {
    event: `withdrawal.${test ? 'test.' : ''}${status === 'pending' ? 'requested' : status}`,
    withdrawalId: id,
    code: `SAQ-${id}`,
    amount: 25.5,
    method: 'pix',
    walletAddress: 'ana@example.com',
    status: WORDS[status],
    ...more,
  };
}

export function cardPaid(orderCode: string, more: Record<string, unknown> = {}) {
  return { event: 'card_payment.paid', orderCode, amount: 49.9, status: 'paid', metadata: null, ...more };
}

/** A card payment that the facade itself has created. */
export function createdCard(
  receiving: Receiving,
  orderCode: string,
  callbackUrl: string | null,
): Promise<unknown> {
  return createdPayment(receiving, { resource: 'card_payment', id: orderCode }, callbackUrl);
}

/** A payment by any method that the facade itself has created, with a callbackUrl. */
export function createdPayment(
  receiving: Pick<Receiving, 'committer' | 'tenant'>,
  { resource, id }: { resource: 'card_payment' | 'payment'; id: string },
  callbackUrl: string | null,
): Promise<unknown> {
  return receiving.committer.change({
    tenant: receiving.tenant,
    read: (reader) => reader.load(mirrored[resource], id),
    decide: (state) => ({
      outcome: null,
      writes: writesOfMirrored({
        resource,
        id,
        version: 1,
        status: 'pending',
        final: false,
        parent: null,
        snapshot: { callbackUrl },
        observedAt: state.now,
        event: null,
      }),
    }),
  });
}

const readPayoutClaim = claimReaderOf('payout', 'withdrawalId', {
  '': ['pending', 'processing', 'completed', 'denied'],
  pending: ['processing', 'completed', 'denied'],
  processing: ['completed', 'denied'],
});
const readPaymentClaim = claimReaderOf('payment', 'paymentId', {
  '': ['pending', 'paid'],
  pending: ['paid', 'expired', 'failed'],
  expired: ['paid'],
  paid: ['refunded'],
});
const readCardClaim = claimReaderOf('card_payment', 'orderCode', {
  '': ['pending', 'paid', 'refunded'],
  pending: ['paid'],
  paid: ['refunded'],
});

/**
 * The members that name another resource: an event with one of these is about that resource, as for the readers of
 * the slices.
 */
export const OTHER_FAMILIES = ['disputeId', 'refundId', 'deliveryId', 'subscriptionId', 'chargeId'];

/** Reads an event of a subaccount's payout that has only its code. */
function readCodeClaim(payload: unknown): WebhookClaim | null {
  const { event, code } = payload as Record<string, unknown>;
  if (event !== 'subaccount.payout' || typeof code !== 'string') return null;
  return { resource: 'subaccount_payout', reference: code, observation: codeOnly(code), isNameOnly: true };
}

/** The document's transitions: a status that they do not allow changes nothing. */
function claimReaderOf(
  resource: 'payout' | 'card_payment' | 'payment',
  idField: string,
  transitions: Record<string, string[]>,
) {
  return (payload: unknown): WebhookClaim | null => {
    const said = payload as Record<string, unknown>;
    const id = said[idField];
    if (typeof id !== 'string' || OTHER_FAMILIES.some((name) => name in said)) return null;
    const word = Object.entries(WORDS).find(([, each]) => each === said.status);
    const status = word?.[0] ?? String(said.status);
    return {
      resource,
      reference: id,
      observation: {
        read: (reader) =>
          Promise.all([readByReferences(reader, resource, [id]), reader.load(mirrored[resource], id)]),
        decide(state) {
          const before = state.get(mirrored[resource], id) ?? knownByReferences(state, resource, [id]);
          if (!transitions[before?.status ?? '']?.includes(status)) return { resourceId: id, writes: {} };
          const version = (before?.version ?? 0) + 1;
          const snapshot = { ...(before?.snapshot as object), ...said, version };
          const writes = writesOfMirrored({
            resource,
            id,
            version,
            status,
            final: transitions[status] === undefined,
            parent: null,
            snapshot,
            observedAt: state.now,
            event: {
              kind: `${resource}.${status}`,
              resource,
              resourceId: id,
              previousStatus: before?.status ?? null,
              snapshot: snapshot as unknown as OwnPayout | StoredCardPayment | StoredPayment,
            } as NewEvent,
          });
          return { resourceId: id, writes };
        },
      },
    };
  };
}
