import { plusMs } from '../../kernel/clock.ts';
import { createCoalescedReads } from '../../kernel/coalesce.ts';
import { RateLimitError, UnavailableError } from '../../kernel/errors.ts';
import type { Requester } from '../../kernel/requester.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import {
  type RemoteSlice,
  requestOptionsFor,
  type UpstreamDependencies,
} from '../../upstream/dependencies.ts';
import { createEndpoints } from '../../upstream/endpoint-availability.ts';
import {
  claimPoll,
  countMirrored,
  listMirrored,
  type MirroredRow,
  selectMirrored,
  selectMirroredWithHead,
  selectOpen,
} from '../../upstream/mirror-store.ts';
import type { Read } from '../../upstream/reads.ts';
import {
  isInconclusive,
  isSuccess,
  refusalOf,
  unreadable,
  withUpstreamErrors,
} from '../../upstream/responses.ts';
import type { RequestOptions } from '../../upstream/upstream.ts';
import { type CardPayment, type CardPaymentService, isAnyOrderCode, type SoldProduct } from '../model.ts';
import { cardPaymentEventFromWire, cardPaymentFromWire } from '../wire.ts';
import { createCardPaymentRequests } from './commands.ts';
import { mirrorCardPayments, observationOf, paymentOf } from './mirror.ts';
import { pollInterval } from './poll-interval.ts';

const GET = { name: 'GET /v1/card-payments/{orderCode}', inWords: 'looking a card payment up' };

/** The life of a cached response: for merchants, and for payers, of whom there may be thousands. */
const KEEP_MS = { merchant: 2_000, payer: 10_000 } as const;
/** The payments looked up in one poll, and the time between polls: 40 a minute, of the 60 for all polling. */
const MAX_PER_POLL = 2;
const APART_MS = 3_000;
/** The delay after a poll that could not reach the service. */
const LATER_MS = 5_000;

/** The port over HTTP: single payments are read from the service, lists from the mirror. */
export function createRemoteCardPayments(
  facade: UpstreamDependencies & {
    /**
     * The address for the service's webhooks; null where this server has none that the service can reach, which must
     * be public https.
     */
    callbackUrl: string | null;
    /** Finds the product that a checkout token sells; null once it was deleted. */
    findProduct: (tenant: Tenant, id: string, requester: Requester) => Promise<SoldProduct | null>;
    /** Local development: webhooks may go to this machine. */
    privateAddresses: boolean;
  },
): RemoteSlice<CardPaymentService> {
  const { clock, reads } = facade;
  const { sql } = facade.database;
  const endpoints = createEndpoints(clock);
  const mirror = mirrorCardPayments(facade);
  const requests = createCardPaymentRequests({
    ...facade,
    endpoints,
    mirror,
    async lookUp(tenant, known, { requestOptions, requester }) {
      const read = await ask(tenant, known.id, { requestOptions, keepMs: KEEP_MS[requester.priority] });
      return take(tenant, known.id, known, read);
    },
  });
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listMirrored>>>();
  /** The time of this instance's last poll of each payment, or of another instance's that it has noticed. */
  const polledAt = new Map<string, Date>();

  /**
   * Records the response to a lookup and returns the known state; null where there is no such payment.
   * @throws UpstreamFault, PaymentError
   */
  async function take(
    tenant: Tenant,
    orderCode: string,
    known: MirroredRow | null,
    read: Read,
  ): Promise<MirroredRow | null> {
    if (isSuccess(read)) {
      const claim = cardPaymentFromWire(read.body);
      if (claim?.orderCode !== orderCode) throw unreadable();
      const now = await mirror.record(tenant, known, claim, read.at);
      if (!now) throw unreadable();
      return now;
    }
    // Not found, or no code of this service: a payment that was once seen has not ceased to exist.
    if (read.status === 404 || read.status === 400) return known;
    throw refusalOf(read);
  }

  /** @throws RateLimitError, UpstreamFault, UpstreamError */
  function ask(
    { environment }: Tenant,
    orderCode: string,
    options: { requestOptions: RequestOptions; keepMs: number },
  ): Promise<Read> {
    const path = `/v1/card-payments/${encodeURIComponent(orderCode)}` as const;
    return endpoints.ask(environment, GET, () => reads.get(environment, path, options));
  }

  /** Finds a payment at the service, or its last known state where the service cannot be reached. */
  async function findOne(
    tenant: Tenant,
    orderCode: string,
    known: MirroredRow | null,
    requester: Requester,
  ): Promise<CardPayment | null> {
    if (known?.final) return paymentOf(known);
    try {
      const read = await ask(tenant, orderCode, {
        requestOptions: requestOptionsFor(requester),
        keepMs: KEEP_MS[requester.priority],
      });
      const now = await take(tenant, orderCode, known, read);
      requester.onRead(now && now.observedAt > read.at ? now.observedAt : read.at, read.stale);
      return now && paymentOf(now);
    } catch (error) {
      if (!known || !isInconclusive(error)) throw error;
      requester.onRead(known.observedAt, true);
      return paymentOf(known);
    }
  }

  async function findMany(tenant: Tenant, orderCodes: readonly string[], requester: Requester) {
    // There are no card payments in sandbox (section 4.2), so no request is needed.
    if (tenant.environment === 'sandbox') return orderCodes.map(() => null);
    const possible = [...new Set(orderCodes)].filter(isAnyOrderCode);
    const records = await selectMirrored(sql, tenant, 'card_payment', possible);
    const known = new Map(records.map((each) => [each.id, each]));
    const found = new Map(
      await Promise.all(
        possible.map(
          async (code) =>
            [
              code,
              await withUpstreamErrors(findOne(tenant, code, known.get(code) ?? null, requester)),
            ] as const,
        ),
      ),
    );
    return orderCodes.map((orderCode) => found.get(orderCode) ?? null);
  }

  // ── The port ──

  return {
    serviceFor: (requester) => ({
      create: requests.create,
      startCheckout: (tenant, token, input) => requests.startCheckout(tenant, token, input, requester),
      // The document shows no operation that ends a pending payment before its time.
      cancel: async () => {
        throw new UnavailableError(
          'NOT_OFFERED',
          'Canceling a card payment is not offered by the payments service behind this server',
        );
      },
      find: async (tenant, orderCode) => (await findMany(tenant, [orderCode], requester))[0] ?? null,
      findMany: (tenant, orderCodes) => findMany(tenant, orderCodes, requester),
      async findWithVersion(tenant, orderCode) {
        if (!isAnyOrderCode(orderCode)) return null;
        const read = () => selectMirroredWithHead(sql, tenant, 'card_payment', orderCode);
        let found = await read();
        if (!found && (await findMany(tenant, [orderCode], requester))[0]) found = await read();
        return found && { version: found.head, payment: paymentOf(found.observed) };
      },
      async list(tenant, { first, after, status }) {
        const page = { before: after ?? null, limit: first + 1, ...(status && { status }) };
        const rows = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(page)}`, () =>
          listMirrored(sql, tenant, 'card_payment', page),
        );
        const items = rows
          .slice(0, first)
          .map((row) => ({ place: row.place, payment: paymentOf(row.observed) }));
        return { items, hasNextPage: rows.length > first };
      },
      async listPage(tenant, { limit, offset }) {
        const [rows, total] = await Promise.all([
          listMirrored(sql, tenant, 'card_payment', { before: null, limit, offset }),
          countMirrored(sql, tenant, 'card_payment', {}),
        ]);
        return { items: rows.map((row) => paymentOf(row.observed)), total };
      },
      count: (tenant, { status }) => countMirrored(sql, tenant, 'card_payment', { status }),
    }),

    async poll(tenant, { all, ids }) {
      if (tenant.environment === 'sandbox') return null;
      const now = clock.now();
      const open = await selectOpen(sql, tenant, 'card_payment', all ? 'all' : ids);
      const followed = open.flatMap((each) => {
        const everyMs = pollInterval(paymentOf(each), now);
        if (everyMs === null) return [];
        const last = Math.max(each.observedAt.getTime(), polledAt.get(each.id)?.getTime() ?? 0);
        return [{ each, everyMs, at: last + everyMs }];
      });
      const isFollowed = new Set(followed.map(({ each }) => each.id));
      for (const id of polledAt.keys()) if (!isFollowed.has(id)) polledAt.delete(id);
      followed.sort((left, right) => left.each.observedAt.getTime() - right.each.observedAt.getTime());
      const due = followed.filter(({ at }) => at <= now.getTime());
      const turn = due.slice(0, MAX_PER_POLL);
      for (const { each, everyMs } of turn) {
        polledAt.set(each.id, now);
        // Another instance has just polled; its result arrives through the log.
        if (!(await claimPoll(sql, tenant, { name: `card_payment ${each.id}`, now, intervalMs: everyMs })))
          continue;
        const read = await ask(tenant, each.id, { requestOptions: { priority: 'poll' }, keepMs: 0 });
        if (read.stale) return plusMs(now, LATER_MS);
        await take(tenant, each.id, each, read);
      }
      if (followed.length === 0) return null;
      const asked = new Set(turn);
      const next = Math.min(
        ...followed.map((each) => (asked.has(each) ? now.getTime() + each.everyMs : each.at)),
      );
      return new Date(Math.max(next, now.getTime() + (turn.length > 0 ? APART_MS : 0)));
    },

    async refresh(tenant, ids, requestOptions) {
      if (tenant.environment === 'sandbox') return;
      for (const id of ids.filter(isAnyOrderCode)) {
        const read = await ask(tenant, id, { requestOptions, keepMs: 0 });
        if (read.stale) throw new RateLimitError('requests to the payments service', LATER_MS / 1_000);
        await take(tenant, id, await mirror.find(tenant, id), read);
      }
    },

    readWebhook(payload) {
      const claim = cardPaymentEventFromWire(payload);
      return (
        claim && {
          resource: 'card_payment',
          reference: claim.orderCode,
          observation: observationOf(claim, null),
        }
      );
    },

    requests: requests.kinds,
  };
}
