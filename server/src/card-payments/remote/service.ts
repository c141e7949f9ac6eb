import type { Asker } from '../../kernel/requester.ts';
import { plusMs } from '../../kernel/clock.ts';
import { RateLimitError } from '../../kernel/errors.ts';
import { createSharedReads } from '../../kernel/coalesce.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { answered, cannotTell, isSuccess, refusalOf, unreadable } from '../../upstream/responses.ts';
import { createEndpoints } from '../../upstream/endpoint-availability.ts';
import { errandOf, type Facade, type Remote } from '../../upstream/dependencies.ts';
import {
  claimPoll,
  countObserved,
  listObserved,
  type Observed,
  selectObserved,
  selectObservedWithHead,
  selectOpen,
} from '../../upstream/mirror-store.ts';
import type { Read } from '../../upstream/reads.ts';
import type { Errand } from '../../upstream/upstream.ts';
import {
  type CardPaymentService,
  isAnyOrderCode,
  pollInterval,
  type ShownCardPayment,
  type SoldProduct,
} from '../model.ts';
import { mirrorCardPayments, observationOf, paymentOf } from './mirror.ts';
import { createCardPaymentRequests } from './commands.ts';
import { cardPaymentEventFromWire, cardPaymentFromWire } from '../wire.ts';

const GET = { name: 'GET /v1/card-payments/{orderCode}', inWords: 'looking a card payment up' };

/** An answer is given again for so long: to a person, and to a payer, of whom there may be thousands. */
const KEEP_MS = { person: 2_000, payer: 10_000 } as const;
/** So many payments are asked for at once, and so far apart: 40 a minute, of the 60 that all polling may take. */
const ASKED_AT_ONCE = 2;
const APART_MS = 3_000;
/** Where the service could not be asked. */
const LATER_MS = 5_000;

/** The port over HTTP: one payment is asked for at the service, lists come from what we have seen of it. */
export function createRemoteCardPayments(
  facade: Facade & {
    /** Where the service is to send a payment's webhook; null where it can reach none of ours, which must be public https. */
    callbackUrl: string | null;
    /** What a checkout token sells; null once it was deleted. */
    findProduct: (tenant: Tenant, id: string, asker: Asker) => Promise<SoldProduct | null>;
    /** Local development: webhooks may go to this machine. */
    privateAddresses: boolean;
  },
): Remote<CardPaymentService> {
  const { clock, reads } = facade;
  const { sql } = facade.database;
  const endpoints = createEndpoints(clock);
  const mirror = mirrorCardPayments(facade);
  const requests = createCardPaymentRequests({
    ...facade,
    endpoints,
    mirror,
    async lookUp(tenant, known, { errand, asker }) {
      const read = await ask(tenant, known.id, { errand, keepMs: KEEP_MS[asker.rank] });
      return take(tenant, known.id, known, read);
    },
  });
  const sharedPages = createSharedReads<Awaited<ReturnType<typeof listObserved>>>();
  /** When this instance last tried to poll for a payment, or saw that another does. */
  const polledAt = new Map<string, Date>();

  /** What is known after an answer to a lookup; null where there is no such payment. @throws UpstreamFault, PaymentError */
  async function take(
    tenant: Tenant,
    orderCode: string,
    known: Observed | null,
    read: Read,
  ): Promise<Observed | null> {
    if (isSuccess(read)) {
      const claim = cardPaymentFromWire(read.body);
      if (claim?.orderCode !== orderCode) throw unreadable();
      const now = await mirror.record(tenant, known, claim, read.at);
      if (!now) throw unreadable();
      return now;
    }
    // Not found, or no code of this service's: what was seen once is not gone for that.
    if (read.status === 404 || read.status === 400) return known;
    throw refusalOf(read);
  }

  /** @throws RateLimitError, UpstreamFault, UpstreamError */
  function ask(
    { environment }: Tenant,
    orderCode: string,
    options: { errand: Errand; keepMs: number },
  ): Promise<Read> {
    const path = `/v1/card-payments/${encodeURIComponent(orderCode)}` as const;
    return endpoints.ask(environment, GET, () => reads.get(environment, path, options));
  }

  /** As it stands, or as it stood when the service last told, where it cannot be asked. */
  async function findOne(
    tenant: Tenant,
    orderCode: string,
    known: Observed | null,
    asker: Asker,
  ): Promise<ShownCardPayment | null> {
    if (known?.final) return paymentOf(known);
    try {
      const read = await ask(tenant, orderCode, { errand: errandOf(asker), keepMs: KEEP_MS[asker.rank] });
      const now = await take(tenant, orderCode, known, read);
      asker.saw(now && now.observedAt > read.at ? now.observedAt : read.at, read.stale);
      return now && paymentOf(now);
    } catch (error) {
      if (!known || !cannotTell(error)) throw error;
      asker.saw(known.observedAt, true);
      return paymentOf(known);
    }
  }

  async function findMany(tenant: Tenant, orderCodes: readonly string[], asker: Asker) {
    // Cards do not run in sandbox (section 4.2), so nobody need be asked.
    if (tenant.environment === 'sandbox') return orderCodes.map(() => null);
    const possible = [...new Set(orderCodes)].filter(isAnyOrderCode);
    const records = await selectObserved(sql, tenant, 'card_payment', possible);
    const known = new Map(records.map((each) => [each.id, each]));
    const found = new Map(
      await Promise.all(
        possible.map(
          async (code) =>
            [code, await answered(findOne(tenant, code, known.get(code) ?? null, asker))] as const,
        ),
      ),
    );
    return orderCodes.map((orderCode) => found.get(orderCode) ?? null);
  }

  // ── The port ──

  return {
    serviceFor: (asker) => ({
      create: requests.create,
      startCheckout: (tenant, token, input) => requests.startCheckout(tenant, token, input, asker),
      find: async (tenant, orderCode) => (await findMany(tenant, [orderCode], asker))[0] ?? null,
      findMany: (tenant, orderCodes) => findMany(tenant, orderCodes, asker),
      async findWithVersion(tenant, orderCode) {
        if (!isAnyOrderCode(orderCode)) return null;
        const read = () => selectObservedWithHead(sql, tenant, 'card_payment', orderCode);
        let found = await read();
        if (!found && (await findMany(tenant, [orderCode], asker))[0]) found = await read();
        return found && { version: found.head, payment: paymentOf(found.observed) };
      },
      async list(tenant, { first, after, status }) {
        const page = { before: after ?? null, limit: first + 1, ...(status && { status }) };
        const rows = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(page)}`, () =>
          listObserved(sql, tenant, 'card_payment', page),
        );
        const items = rows
          .slice(0, first)
          .map((row) => ({ place: row.place, payment: paymentOf(row.observed) }));
        return { items, hasNextPage: rows.length > first };
      },
      async listPage(tenant, { limit, offset }) {
        const [rows, total] = await Promise.all([
          listObserved(sql, tenant, 'card_payment', { before: null, limit, offset }),
          countObserved(sql, tenant, 'card_payment', {}),
        ]);
        return { items: rows.map((row) => paymentOf(row.observed)), total };
      },
      count: (tenant, { status }) => countObserved(sql, tenant, 'card_payment', { status }),
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
      const turn = due.slice(0, ASKED_AT_ONCE);
      for (const { each, everyMs } of turn) {
        polledAt.set(each.id, now);
        // Another instance has just asked: what it learned comes by the log.
        if (!(await claimPoll(sql, tenant, { name: `card_payment ${each.id}`, now, intervalMs: everyMs })))
          continue;
        const read = await ask(tenant, each.id, { errand: { class: 'poll' }, keepMs: 0 });
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

    async refresh(tenant, ids, errand) {
      if (tenant.environment === 'sandbox') return;
      for (const id of ids.filter(isAnyOrderCode)) {
        const read = await ask(tenant, id, { errand, keepMs: 0 });
        if (read.stale) throw new RateLimitError('requests to the payments service', LATER_MS / 1_000);
        await take(tenant, id, await mirror.find(tenant, id), read);
      }
    },

    sighting(payload) {
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
