import type { State, Writes } from '../commit/commit.ts';
import { hashInput } from '../commit/idempotency.ts';
import type { Asker } from '../kernel/asker.ts';
import { plusMs } from '../kernel/clock.ts';
import {
  type PaymentError,
  RateLimitError,
  UnavailableError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import { createSharedReads } from '../kernel/shared-reads.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import {
  hasNoEndpoint,
  isNotImplemented,
  isSuccess,
  messageOf,
  noEndpoint,
  refusalOf,
} from '../upstream/answers.ts';
import { createEndpoints } from '../upstream/endpoints.ts';
import { errandOf, type Facade } from '../upstream/facade.ts';
import {
  type Found,
  type Intent,
  intents as intentRecords,
  type Look,
  lastIntents,
  type Operation,
  unavailable,
} from '../upstream/intents.ts';
import { type Observation, observed, writesOfObserved } from '../upstream/mirror.ts';
import {
  claimPoll,
  countObserved,
  listObserved,
  type Observed,
  selectObserved,
  selectObservedWithHead,
  selectOpen,
  touchObserved,
} from '../upstream/mirror-store.ts';
import type { Read } from '../upstream/reads.ts';
import type { Sighting } from '../upstream/sighting.ts';
import { type Errand, UpstreamFault } from '../upstream/upstream.ts';
import type { Poller } from '../upstream/watch.ts';
import {
  assertNotSandbox,
  assertTokenFree,
  type CardPaymentClaim,
  type CardPaymentService,
  CHECKOUT_SESSION_MS,
  type CheckoutGrant,
  type Customer,
  cardPaymentFromJson,
  cardsNotConfigured,
  checkoutAmount,
  customerOf,
  grantAtStart,
  isAnyOrderCode,
  isFinal,
  mergeCardPayment,
  pollInterval,
  type ShownCardPayment,
  type SoldProduct,
  type StartCheckoutInput,
} from './model.ts';
import { cardPaymentEventFromWire, cardPaymentFromWire, cardPaymentsFromWire } from './wire.ts';

export interface RemoteCardPayments {
  serviceFor(asker: Asker): CardPaymentService;
  poll: Poller;
  refresh(tenant: Tenant, ids: readonly string[], errand: Errand): Promise<void>;
  /** What a webhook says, where it speaks of a card payment. */
  sighting(payload: unknown): Sighting | null;
  looks: Readonly<Record<string, Look>>;
}

const CREATE = 'createCardPayment';
const START = 'startCheckout';

/** An answer is given again for so long: to a person, and to a payer, of whom there may be thousands. */
const KEEP_MS = { person: 2_000, payer: 10_000 } as const;
/** So many payments are asked for at once, and so far apart: 40 a minute, of the 60 that all polling may take. */
const ASKED_AT_ONCE = 2;
const APART_MS = 3_000;
/** Where the service could not be asked. */
const LATER_MS = 5_000;
/** By how much the service's clock may be behind ours. */
const SKEW_MS = 5_000;
/** By then whoever sends it has its answer. */
const SENDING_MS = 60_000;

/** The most that a list gives at once (the document's section 8). */
const LARGEST_PAGE = 100;
const POST_PAYMENT = 'POST /v1/card-payments';
const GET_PAYMENT = 'GET /v1/card-payments/{orderCode}';
const GET_PAYMENTS = 'GET /v1/card-payments';

/** What is asked of the service, kept before it is sent; with the merchant's own `callbackUrl`, which stays here. */
interface Wanted {
  valueCents: number;
  description: string | null;
  callbackUrl: string | null;
  customer: Customer | null;
  metadata: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
}

/** The port over HTTP: one payment is asked for at the service, lists come from what we have seen of it. */
export function createRemoteCardPayments({
  database: { sql },
  committer,
  clock,
  upstream,
  reads,
  intents,
  nudge,
  callbackUrl,
  findProduct,
}: Facade & {
  /** Where the service is to send a payment's webhook; null where it can reach none of ours, which must be public https. */
  callbackUrl: string | null;
  /** What a checkout token sells; null once it was deleted. */
  findProduct: (tenant: Tenant, id: string, asker: Asker) => Promise<SoldProduct | null>;
}): RemoteCardPayments {
  const endpoints = createEndpoints(clock);
  const sharedPages = createSharedReads<Awaited<ReturnType<typeof listObserved>>>();
  /** When this instance last tried to poll for a payment, or saw that another does. */
  const polledAt = new Map<string, Date>();

  // ── What the service says, into the mirror ──

  async function selectOne(tenant: Tenant, orderCode: string): Promise<Observed | null> {
    return (await selectObserved(sql, tenant, 'card_payment', [orderCode]))[0] ?? null;
  }

  /** Records what is new of it. Null where nobody knows the payment, and this says too little of it. */
  async function record(
    tenant: Tenant,
    known: Observed | null,
    claim: CardPaymentClaim,
    at: Date,
  ): Promise<Observed | null> {
    // Said before what is known: that has it already.
    if (known && known.observedAt >= at) return known;
    if (known && !mergeCardPayment(paymentOf(known), claim, at)) {
      await touchObserved(sql, tenant, 'card_payment', { ids: [known.id], at });
      return { ...known, observedAt: at };
    }
    const { now, moved } = await committer.change<{ now: Observed | null; moved: boolean }>({
      tenant,
      read: (reader) => reader.load(observed.card_payment, claim.orderCode),
      decide(state) {
        const { record, writes } = decideClaim(state, claim, at);
        return { outcome: { now: record, moved: (writes.events?.length ?? 0) > 0 }, writes };
      },
    });
    if (moved) nudge(tenant, 'wallet');
    return now;
  }

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
      const now = await record(tenant, known, claim, read.at);
      if (!now) throw unreadable();
      return now;
    }
    // Not found, or no code of this service's: what was seen once is not gone for that.
    if (read.status === 404 || read.status === 400) return known;
    if (hasNoEndpoint(read)) throw missing(GET_PAYMENT);
    throw refusalOf(read);
  }

  /** @throws RateLimitError, UpstreamFault, UpstreamError */
  async function ask(
    tenant: Tenant,
    orderCode: string,
    { errand, keepMs }: { errand: Errand; keepMs: number },
  ): Promise<Read> {
    if (endpoints.isMissing(GET_PAYMENT)) throw noEndpoint('looking a card payment up');
    try {
      return await reads.get(tenant.environment, pathOf(orderCode), { errand, keepMs });
    } catch (error) {
      throw isNotImplemented(error) ? missing(GET_PAYMENT) : error;
    }
  }

  function missing(endpoint: string): UpstreamError {
    endpoints.markMissing(endpoint);
    return noEndpoint(endpoint === POST_PAYMENT ? 'creating card payments' : 'looking a card payment up');
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
      const cannotBeAsked =
        error instanceof RateLimitError || error instanceof UpstreamFault || error instanceof UpstreamError;
      if (known && cannotBeAsked) {
        asker.saw(known.observedAt, true);
        return paymentOf(known);
      }
      throw error instanceof UpstreamFault ? unavailable(error) : error;
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
          async (code) => [code, await findOne(tenant, code, known.get(code) ?? null, asker)] as const,
        ),
      ),
    );
    return orderCodes.map((orderCode) => found.get(orderCode) ?? null);
  }

  // ── Creation ──

  /** The one request. What the service refuses, it has not done. */
  async function send(tenant: Tenant, intent: Intent, errand: Errand): Promise<Observation> {
    if (endpoints.isMissing(POST_PAYMENT)) throw noEndpoint('creating card payments');
    const wanted = intent.summary as Wanted;
    const at = clock.now();
    try {
      const answer = await upstream.send({
        environment: tenant.environment,
        method: 'POST',
        path: '/v1/card-payments',
        body: bodyOf({ ...wanted, callbackUrl }),
        errand,
      });
      if (hasNoEndpoint(answer)) throw missing(POST_PAYMENT);
      if (!isSuccess(answer)) throw refusalOfCreation(answer, wanted);
      const claim = cardPaymentFromWire(answer.body);
      if (!claim) throw unreadable();
      return observationOf(createdClaim(claim, wanted, at), at);
    } catch (error) {
      throw isNotImplemented(error) ? missing(POST_PAYMENT) : error;
    } finally {
      reads.forget(tenant.environment);
    }
  }

  /**
   * A payment whose creation was in doubt has a page whose address nobody has seen: nobody can pay on it, and in thirty
   * minutes it has expired. So one more of the same key does no harm where a look has not found the first, and without it a
   * payer whose answer was lost could never pay: where the service has no list, nothing will ever be found. Whichever of
   * the two a later look finds, a key has one payment: the one that was recorded first.
   */
  function operation<Input>(
    tenant: Tenant,
    errand: Errand,
    of: Pick<Operation<Input>, 'name' | 'key' | 'input' | 'open'> & { wanted: Wanted },
  ): Operation<Input> {
    const { wanted, ...rest } = of;
    return {
      ...rest,
      summary: () => wanted,
      send: (intent) => send(tenant, intent, errand),
      harmlessIfLost: true,
      lookupReference: () => null,
    };
  }

  async function run<Input>(tenant: Tenant, of: Operation<Input>) {
    const { resourceId, replayed } = await intents.run(tenant, of).finally(() => {
      nudge(tenant, 'card_payment');
    });
    const known = await selectOne(tenant, resourceId);
    if (!known) throw new Error(`card payment ${resourceId} was created and is not known`);
    return { payment: paymentOf(known), replayed };
  }

  async function startCheckout(
    tenant: Tenant,
    token: { id: string; grant: CheckoutGrant },
    { attemptId, ...input }: StartCheckoutInput,
    asker: Asker,
  ): Promise<ShownCardPayment> {
    assertNotSandbox(tenant.environment);
    const errand: Errand = { class: 'payer', subject: token.id };
    const name = `${START}:${token.id}`;
    const [before] = await intentRecords.load(sql, tenant, [
      intentRecords.keyOf({ operation: name, key: attemptId } as Intent),
    ]);
    // Once begun it stays what it was, whatever has become of the product.
    const begun = before !== undefined && before.state !== 'refused';
    const wanted = begun
      ? (before.summary as Wanted)
      : await wantedOf(tenant, token.grant, input, asker, findProduct);
    const last =
      begun || token.grant.reusable ? before : (await lastIntents.load(sql, tenant, [name]))[0]?.intent;
    if (last?.resourceId) await freshen(tenant, last.resourceId, { errand, asker });
    const open = token.grant.reusable ? {} : { open: reservation(name) };
    const { payment } = await run(
      tenant,
      operation(tenant, errand, { name, key: attemptId, input, wanted, ...open }),
    );
    return payment;
  }

  /**
   * No webhook tells that a payment has expired or failed, so who wants to start another asks for it first; and who
   * asks for the same once more is not sent to a page on which nobody can pay any more.
   */
  async function freshen(
    tenant: Tenant,
    orderCode: string,
    { errand, asker }: { errand: Errand; asker: Asker },
  ): Promise<void> {
    const known = await selectOne(tenant, orderCode);
    if (!known || (known.status !== 'pending' && known.status !== 'unknown')) return;
    try {
      const read = await ask(tenant, known.id, { errand, keepMs: KEEP_MS[asker.rank] });
      await take(tenant, known.id, known, read);
    } catch (error) {
      // Then what is known decides.
      if (
        !(error instanceof RateLimitError || error instanceof UpstreamFault || error instanceof UpstreamError)
      )
        throw error;
    }
  }

  // ── An unknown outcome ──

  async function look(tenant: Tenant, intent: Intent): Promise<Found> {
    const found = await search(tenant, intent);
    const ageMs = clock.now().getTime() - intent.createdAt.getTime();
    // Whatever was made has expired, and nobody has ever seen its page.
    return found === 'unclear' && ageMs >= CHECKOUT_SESSION_MS ? 'not_there' : found;
  }

  /**
   * In the newest of the list, which the document does not have and our own service does: the one that is like what was
   * sent, was not there before it and is nobody's. Where others that are like it are being sent, or more are there than
   * were lost, nobody can say whose is which.
   */
  async function search(tenant: Tenant, intent: Intent): Promise<Found> {
    if (endpoints.isMissing(GET_PAYMENTS)) return 'unclear';
    const at = clock.now();
    const answer = await upstream
      .get({
        environment: tenant.environment,
        path: `/v1/card-payments?limit=${LARGEST_PAGE}`,
        errand: { class: 'lookup', waitMs: 2_000 },
      })
      .catch((error: unknown) => {
        if (isNotImplemented(error)) return null;
        throw error;
      });
    if (answer === null || hasNoEndpoint(answer)) {
      endpoints.markMissing(GET_PAYMENTS);
      return 'unclear';
    }
    const page = isSuccess(answer) ? cardPaymentsFromWire(answer.body) : null;
    if (!page) return 'unclear';
    const wanted = intent.summary as Wanted;
    const since = plusMs(intent.createdAt, -SKEW_MS);
    const alike = page.items.filter((item) => isLike(item, wanted));
    // In this order: whoever sends one like it now is seen as open, or has recorded it when the mirror is asked.
    const open = (await Promise.all([CREATE, START].map((kind) => intents.open(tenant, kind)))).flat();
    const rivals = open.filter(
      (other) => other.id !== intent.id && hashInput(other.summary) === hashInput(wanted),
    );
    const codes = alike.map(({ orderCode }) => orderCode);
    const known = new Set((await selectObserved(sql, tenant, 'card_payment', codes)).map(({ id }) => id));
    const nobodys = alike.filter(({ orderCode }) => !known.has(orderCode));
    if (nobodys.some((item) => beganAt(item) === null)) return 'unclear';
    const candidates = nobodys.filter((item) => beganAt(item)! >= since);
    if (candidates.length === 0) {
      const reachesBack =
        page.length < LARGEST_PAGE || page.items.some((item) => (beganAt(item) ?? at) < since);
      return reachesBack ? 'not_there' : 'unclear';
    }
    const isRival = ({ state, operation }: Intent) =>
      state === 'sending' || kindOf(operation) !== kindOf(intent.operation);
    if (rivals.some(isRival) || candidates.length > rivals.length + 1) return 'unclear';
    // The oldest: a list has the newest first.
    const { said: _, ...claim } = candidates.at(-1)!;
    return {
      found: observationOf(createdClaim(claim, wanted, intent.createdAt), at),
      claims: claim.orderCode,
    };
  }

  // ── The port ──

  return {
    serviceFor: (asker) => ({
      create(tenant, { idempotencyKey, ...input }) {
        return assertingNotSandbox(tenant, () =>
          run(
            tenant,
            operation(
              tenant,
              { class: 'money' },
              { name: CREATE, key: idempotencyKey ?? null, input, wanted: toWanted(input) },
            ),
          ),
        );
      },
      startCheckout: (tenant, token, input) => startCheckout(tenant, token, input, asker),
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
        await take(tenant, id, await selectOne(tenant, id), read);
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

    looks: { [CREATE]: look, [START]: look },
  };
}

// ── What is said, as it is written down ─────────────────────────────────────────────────────────

/** `at`: when it was said; null: when it is heard. */
function observationOf(claim: CardPaymentClaim, at: Date | null): Observation {
  return {
    read: (reader) => reader.load(observed.card_payment, claim.orderCode),
    decide: (state) => ({
      resourceId: claim.orderCode,
      writes: decideClaim(state, claim, at ?? state.now).writes,
    }),
  };
}

function decideClaim(
  state: State,
  claim: CardPaymentClaim,
  at: Date,
): { record: Observed | null; writes: Writes } {
  const before = state.get(observed.card_payment, claim.orderCode);
  const seen = mergeCardPayment(before && paymentOf(before), claim, state.now);
  if (!seen) return { record: before, writes: {} };
  const { payment, changed } = seen;
  const record: Observed = {
    resource: 'card_payment',
    id: payment.orderCode,
    version: payment.version,
    status: payment.status,
    final: isFinal(payment.status),
    parent: null,
    snapshot: payment,
    observedAt: before && before.observedAt > at ? before.observedAt : at,
  };
  return {
    record,
    writes: writesOfObserved({
      ...record,
      names: before ? [] : [record.id],
      event: changed && {
        kind: `card_payment.${payment.status}`,
        resource: 'card_payment',
        resourceId: payment.orderCode,
        previousStatus: changed.from,
        snapshot: payment,
      },
    }),
  };
}

function paymentOf({ snapshot }: Observed): ShownCardPayment {
  return cardPaymentFromJson(snapshot);
}

function unreadable(): UpstreamFault {
  return new UpstreamFault('unreadable', 'maybe');
}

// ── What is asked ───────────────────────────────────────────────────────────────────────────────

function pathOf(orderCode: string): `/v1/${string}` {
  return `/v1/card-payments/${encodeURIComponent(orderCode)}`;
}

function assertingNotSandbox<Result>(tenant: Tenant, run: () => Promise<Result>): Promise<Result> {
  return Promise.resolve().then(() => {
    assertNotSandbox(tenant.environment);
    return run();
  });
}

type Details = Omit<CheckoutGrant, 'amount' | 'reusable'>;

function toWanted({ valueCents, ...details }: Details & { valueCents: number }): Wanted {
  return {
    valueCents,
    description: details.description ?? null,
    callbackUrl: details.callbackUrl ?? null,
    customer: customerOf(details.customer),
    metadata: details.metadata ?? null,
    successUrl: details.successUrl ?? null,
    cancelUrl: details.cancelUrl ?? null,
  };
}

/** @throws ValidationError, NotFoundError, UpstreamError */
async function wantedOf(
  tenant: Tenant,
  grant: CheckoutGrant,
  { valueCents, customer }: Omit<StartCheckoutInput, 'attemptId'>,
  asker: Asker,
  findProduct: (tenant: Tenant, id: string, asker: Asker) => Promise<SoldProduct | null>,
): Promise<Wanted> {
  const { amount } = grant;
  const product = amount.kind === 'product' ? await findProduct(tenant, amount.productId, asker) : null;
  const known = grantAtStart(grant, product);
  return toWanted({
    ...known,
    valueCents: checkoutAmount(known, valueCents),
    customer: customer ?? known.customer,
  });
}

/** The document's 4.2: what is not given is left out. */
function bodyOf(wanted: Wanted): object {
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== null));
}

/** What was given is known better than the answer tells it; the amount is what the payer is asked for. */
function createdClaim(claim: CardPaymentClaim, wanted: Wanted, at: Date): CardPaymentClaim {
  const { valueCents, ...details } = wanted;
  return {
    ...claim,
    ...details,
    status: claim.status ?? 'pending',
    amountCents: claim.amountCents ?? valueCents,
    createdAt: claim.createdAt ?? (claim.expiresAt ? null : at),
  };
}

/** The document says that a 400 is about the input, and that one answer, whose status it does not show, is about the account. */
const NOT_CONFIGURED: ReadonlySet<number> = new Set([409, 412, 422, 424]);

function refusalOfCreation(answer: { status: number; body: unknown }, { valueCents }: Wanted): PaymentError {
  if (answer.status === 400) {
    const path = valueCents < 80 ? 'input.valueCents' : 'input';
    const message = messageOf(answer.body) ?? 'the payments service does not accept it';
    return new ValidationError([{ path, message }]);
  }
  return NOT_CONFIGURED.has(answer.status) ? cardsNotConfigured() : refusalOf(answer);
}

// ── A single-use token ──────────────────────────────────────────────────────────────────────────

/**
 * Taken in the transaction that opens the attempt, so that of two at once one starts a payment. Free again once that has
 * expired or failed, was refused, or is in doubt for so long that whatever was made has expired.
 */
function reservation(operation: string): NonNullable<Operation<unknown>['open']> {
  return {
    async read(reader) {
      const last = await reader.load(lastIntents, operation);
      if (last?.intent.resourceId) await reader.load(observed.card_payment, last.intent.resourceId);
    },
    decide(state, intent) {
      const last = state.get(lastIntents, operation)?.intent;
      if (last && last.key !== intent.key) assertLastIsOver(state, last);
      return { records: [{ collection: lastIntents as never, key: operation, row: { operation, intent } }] };
    },
  };
}

/** @throws UnavailableError */
function assertLastIsOver(state: State, { resourceId, createdAt }: Intent): void {
  if (resourceId) {
    const payment = state.get(observed.card_payment, resourceId);
    assertTokenFree(payment && paymentOf(payment));
    return;
  }
  const over = plusMs(createdAt, SENDING_MS + CHECKOUT_SESSION_MS);
  if (state.now < over)
    throw new UnavailableError('CHECKOUT_TOKEN_USED', 'This checkout token has already started a payment');
}

// ── Recognising what was sent ───────────────────────────────────────────────────────────────────

/** In everything that the list says of it. */
function isLike(
  { said, ...item }: CardPaymentClaim & { said: Readonly<Record<string, unknown>> },
  wanted: Wanted,
): boolean {
  const same = (name: 'metadata' | 'description' | 'successUrl' | 'cancelUrl') =>
    !(name in said) || (item[name] ?? null) === wanted[name];
  return (
    item.amountCents === wanted.valueCents &&
    same('metadata') &&
    same('description') &&
    same('successUrl') &&
    same('cancelUrl') &&
    (!('customer' in said) || hashInput(item.customer ?? null) === hashInput(wanted.customer))
  );
}

function beganAt({ createdAt, expiresAt }: CardPaymentClaim): Date | null {
  return createdAt ?? (expiresAt ? plusMs(expiresAt, -CHECKOUT_SESSION_MS) : null);
}

function kindOf(operation: string): string {
  return operation.split(':', 1)[0]!;
}
