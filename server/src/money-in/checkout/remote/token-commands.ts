import { type CheckoutGrant, orderTokenOf } from '../../../kernel/caller.ts';
import { plusMs } from '../../../kernel/clock.ts';
import { hashInput } from '../../../kernel/input-hash.ts';
import { orderStatusOf } from '../../../kernel/orders.ts';
import type { Requester } from '../../../kernel/requester.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { loadRecords, type Reader, type State } from '../../../state/commit/commit.ts';
import { idempotency, idempotencyKeyOf, remember, replayed } from '../../../state/commit/idempotency.ts';
import { orderStatusIn, readOrder } from '../../../upstream/closed-orders.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Operation } from '../../../upstream/intents/operations.ts';
import { intents, type LastIntent, lastIntents } from '../../../upstream/intents/store.ts';
import { type Intent, intentKey, kindOf } from '../../../upstream/intents/transitions.ts';
import { mirrored } from '../../../upstream/mirror.ts';
import type { MirroredRow } from '../../../upstream/mirror-store.ts';
import { isInconclusive, isRetryable, toUpstreamError } from '../../../upstream/responses.ts';
import { type RequestOptions, UpstreamFault } from '../../../upstream/upstream.ts';
import {
  assertOrderOpen,
  assertTokenFree,
  CHECKOUT_SESSION_MS,
  type CheckoutMethod,
  checkoutAmount,
  checkoutAttemptOf,
  customerOf,
  grantAtStart,
  grantOfOpen,
  isOpen,
  joins,
  type KnownAmount,
  methodsOf,
  type SoldProduct,
  type StartCheckoutInput,
  type StartedCheckout,
  tokenUsed,
} from '../model.ts';

/** The time after which every request under way has its response. */
const SENDING_MS = 60_000;

/**
 * The kind of the requests with which a token starts payments by each method, and the mirror of these
 * payments.
 */
const STARTS = {
  card: { kind: 'startCheckout', resource: 'card_payment' },
  pix: { kind: 'startPixCheckout', resource: 'payment' },
} as const satisfies Record<CheckoutMethod, { kind: string; resource: 'card_payment' | 'payment' }>;

export const kindOfStart = (method: CheckoutMethod) => STARTS[method].kind;

/** The token of a start, by the name of its operation; null for another request. */
export function tokenOfStart({ operation }: Pick<Intent, 'operation'>): string | null {
  const [kind, tokenId = null] = operation.split(':');
  return Object.values(STARTS).some((each) => each.kind === kind) ? tokenId : null;
}

export interface LookedUpBy {
  requestOptions: RequestOptions;
  requester: Requester;
}

/** Looks an unpaid payment up at the service before its state decides. @throws RateLimitError, PaymentError */
export type RefreshUnpaid = (tenant: Tenant, id: string, by: LookedUpBy) => Promise<void>;

/** The members of a mirrored payment that decide whether its token starts another. */
interface StartedPayment {
  status: string;
  amountCents: number;
  /** A text in JSON, a date once it was merged. */
  expiresAt: string | Date;
  canceledAt?: Date | null;
  /** Whether a webhook alone says that it was paid. */
  unresolved?: boolean;
  claimedAt?: unknown;
}

interface Token {
  id: string;
  grant: CheckoutGrant;
}

/** The sale of a token at the time of its start. */
export type StartedSale = CheckoutGrant & {
  amount: KnownAmount;
  valueCents: number;
  productId: string | null;
};

/**
 * Creates the lookup of the last payment before another is started: a service need not report by webhook that
 * a payment has expired or failed, or that a failed one was paid after all. Nor may a repeated request lead
 * to a payment that nobody can pay any more.
 */
export function createRefreshUnpaid({
  find,
  lookUp,
}: {
  find: (tenant: Tenant, id: string) => Promise<MirroredRow | null>;
  /** @throws RateLimitError, UpstreamFault, PaymentError */
  lookUp: (tenant: Tenant, known: MirroredRow, by: LookedUpBy) => Promise<unknown>;
}): RefreshUnpaid {
  return async (tenant, id, by) => {
    const known = await find(tenant, id);
    if (!known || known.status === 'paid' || known.status === 'refunded') return;
    await lookUp(tenant, known, by).catch((error: unknown) => {
      // A failed payment may be paid by now, so no other is started before the service can be asked.
      const mayBePaid = known.status === 'failed' && isRetryable(error);
      if (mayBePaid) throw error instanceof UpstreamFault ? toUpstreamError(error) : error;
      // Without a conclusive answer, the known state decides.
      if (!isInconclusive(error)) throw error;
    });
  };
}

/**
 * Creates the function that starts the payment of a token at the service by one method, or finds the payment
 * that a start joins.
 */
export function createTokenStarts<Wanted>(
  {
    database: { sql },
    committer,
  }: Pick<UpstreamDependencies, 'committer'> & { database: Pick<UpstreamDependencies['database'], 'sql'> },
  {
    method,
    refreshUnpaid,
    refreshOther,
    findProduct,
    toWanted,
    run,
    repeat,
  }: {
    method: CheckoutMethod;
    refreshUnpaid: RefreshUnpaid;
    /** Looks up a payment by another method; omitted if there is none. */
    refreshOther?: RefreshUnpaid | undefined;
    /** Finds the product that a checkout token sells; null if it has been deleted. */
    findProduct: (tenant: Tenant, id: string, requester: Requester) => Promise<SoldProduct | null>;
    toWanted: (sale: StartedSale, input: Input) => Wanted;
    /** Requests the payment once for its key. */
    run: (tenant: Tenant, start: RequestedStart<Wanted>) => Promise<StartedCheckout<MirroredRow>>;
    /**
     * Reads the input of a start whose answer was lost, to repeat it. Omitted if the service has no key for a
     * start.
     */
    repeat?: (wanted: Wanted) => Input;
  },
) {
  return async (
    tenant: Tenant,
    token: Token,
    { attemptId, ...input }: StartCheckoutInput,
    requester: Requester,
  ): Promise<StartedCheckout<MirroredRow>> => {
    const { grant } = token;
    const use = useOf(method, token, attemptId);
    const requestOptions: RequestOptions = { priority: 'payer', subject: requester.subject };
    const by = { requestOptions, requester };
    const start = { name: use.name, requestOptions, ...(use.isKept && { open: reserve(use) }) };
    const [before] = await loadRecords(intents, sql, tenant, [intentKey(use.name, attemptId)]);
    // A request that has begun stays as it was, even if the product has changed or was deleted.
    const begun = before !== undefined && before.state !== 'refused';
    if (begun && before.resourceId) await refreshUnpaid(tenant, before.resourceId, by);
    else if (use.isKept) {
      const [last, other] = await Promise.all([
        loadRecords(lastIntents, sql, tenant, [use.name]).then(([found]) => found?.intent),
        loadRecords(lastIntents, sql, tenant, [use.other]).then(([found]) => found?.intent.resourceId),
      ]);
      if (other) await refreshOther?.(tenant, other, by);
      // If the answer was lost, nobody has the code of the payment. Another device gets it with the same key.
      if (repeat && last?.state === 'in_doubt' && last.key !== attemptId) {
        const wanted = last.summary as Wanted;
        await run(tenant, { ...start, key: last.key, input: repeat(wanted), wanted });
      }
    }
    if (!begun && use.isKept) {
      const joined = await join(tenant, { use, grant, attemptId, input, by });
      if (joined) return { payment: joined, replayed: true };
    }
    const wanted = begun
      ? (before.summary as Wanted)
      : toWanted(await saleOf(tenant, grant, input, requester), input);
    return run(tenant, { ...start, key: attemptId, input, wanted });
  };

  /**
   * Finds the open payment of a token for another start, as from a second device, and records that the
   * attempt id has this payment. Null if the start has to make one, or is refused when it does.
   * @throws ValidationError, IdempotencyError, PreconditionError (the order is paid), errors of
   * `refreshUnpaid`
   */
  async function join(
    tenant: Tenant,
    {
      use,
      grant,
      attemptId,
      input,
      by,
    }: { use: Use; grant: CheckoutGrant; attemptId: string; input: Input; by: LookedUpBy },
  ): Promise<MirroredRow | null> {
    const inputHash = hashInput(input);
    const { name } = use;
    const payments = mirrored[STARTS[method].resource];
    const key = idempotencyKeyOf(name, attemptId);
    const [[joined], [last]] = await Promise.all([
      loadRecords(idempotency, sql, tenant, [key]),
      loadRecords(lastIntents, sql, tenant, [name]),
    ]);
    const id = joined?.resourceId ?? last?.intent.resourceId;
    if (!id) return null;
    await refreshUnpaid(tenant, id, by);
    return committer.change<MirroredRow | null>({
      tenant,
      read: (reader) =>
        Promise.all([
          reader.load(idempotency, key).then((before) => before && reader.load(payments, before.resourceId)),
          readUse(reader, use),
        ]),
      decide(state) {
        const before = replayed(state, name, attemptId, inputHash);
        if (before !== null) return { outcome: state.need(payments, before) };
        const open = lastPayment(state, use, method);
        if (!open || !isOpen(startedPayment(open))) return { outcome: null };
        const payment = startedPayment(open);
        const valueCents = checkoutAmount(grantOfOpen(grant, payment), input.valueCents);
        assertUseOpen(state, use);
        if (!joins(payment, valueCents)) throw tokenUsed();
        const record = remember({ operation: name, key: attemptId, inputHash, resourceId: open.id });
        return { outcome: open, writes: { records: [record] } };
      },
    });
  }

  /** @throws ValidationError, NotFoundError, UpstreamError */
  async function saleOf(
    tenant: Tenant,
    grant: CheckoutGrant,
    { valueCents, customer }: Input,
    requester: Requester,
  ): Promise<StartedSale> {
    const { amount } = grant;
    const productId = amount.kind === 'product' ? amount.productId : null;
    const product = productId === null ? null : await findProduct(tenant, productId, requester);
    const known = grantAtStart(grant, product);
    return {
      ...known,
      valueCents: checkoutAmount(known, valueCents),
      customer: customerOf(customer) ?? known.customer,
      productId,
    };
  }
}

type Input = Omit<StartCheckoutInput, 'attemptId'>;

/** The request of a start. */
export type RequestedStart<Wanted> = Pick<Operation<Input>, 'name' | 'input' | 'open'> & {
  key: string;
  wanted: Wanted;
  requestOptions: RequestOptions;
};

// ── The payments that a token has started ────────────────────────────────────────────────────────

/** The uses of a token by its methods: one payment is open at a time. */
interface Use {
  method: CheckoutMethod;
  /** The name of the operation. */
  name: string;
  /** The name of the operation of the other method. */
  other: string;
  externalId: string | null;
  /** Whether one payment is open at a time. Each attempt id of a reusable token for cards alone starts one. */
  isKept: boolean;
}

function useOf(method: CheckoutMethod, token: Token, attemptId: string): Use {
  const { grant } = token;
  const takesPix = methodsOf(grant).includes('pix');
  const tokenId = orderTokenOf(token);
  // Both methods of a reusable token serve one attempt. Without PIX its attempts have the name that they always had.
  const scope = takesPix ? checkoutAttemptOf(tokenId, grant, attemptId) : tokenId;
  const nameOf = (each: CheckoutMethod) => `${STARTS[each].kind}:${scope}`;
  return {
    method,
    name: nameOf(method),
    other: nameOf(otherOf(method)),
    externalId: grant.externalId ?? null,
    isKept: takesPix || !grant.reusable,
  };
}

function otherOf(method: CheckoutMethod): CheckoutMethod {
  return method === 'card' ? 'pix' : 'card';
}

/**
 * Reserves a token in the transaction that opens the intent, so that of two concurrent starts only one makes
 * a payment. The token is free again once that payment has expired or failed, was refused, or has been in
 * doubt for longer than it could have lived. The service returns no second payment of a token, so an open
 * payment by another method reserves it too. A token of an order that is known to be paid starts none.
 */
function reserve(use: Use): NonNullable<Operation<unknown>['open']> {
  return {
    read: (reader) => readUse(reader, use),
    decide(state, intent) {
      assertUseOpen(state, use);
      const own = state.get(lastIntents, use.name);
      if (own && own.intent.key !== intent.key) assertIsOver(state, own, use.method);
      const other = state.get(lastIntents, use.other);
      if (other && !isSeenByNobody(other)) assertIsOver(state, other, otherOf(use.method));
      const row: LastIntent = { operation: use.name, intent, made: own?.made ?? [] };
      return { records: [{ collection: lastIntents as never, key: use.name, row }] };
    },
  };
}

/** Loads the payments that a token has started, and whether its order is paid. */
async function readUse(reader: Reader, { method, name, other, externalId }: Use): Promise<void> {
  const read = async (operation: string, by: CheckoutMethod) => {
    const last = await reader.load(lastIntents, operation);
    await Promise.all((last?.made ?? []).map((id) => reader.load(mirrored[STARTS[by].resource], id)));
  };
  await Promise.all([read(name, method), read(other, otherOf(method)), readOrder(reader, externalId)]);
}

function lastPayment(state: State, { name }: Pick<Use, 'name'>, method: CheckoutMethod): MirroredRow | null {
  const id = state.get(lastIntents, name)?.intent.resourceId;
  return id ? state.get(mirrored[STARTS[method].resource], id) : null;
}

const startedPayment = ({ snapshot }: MirroredRow) => snapshot as StartedPayment;

/** Asserts that none of the payments of a token is paid, nor any of its order. @throws PreconditionError */
function assertUseOpen(state: State, { method, name, other, externalId }: Use): void {
  assertOrderOpen(orderStatusIn(state, externalId));
  const paymentsOf = (operation: string, by: CheckoutMethod) =>
    (state.get(lastIntents, operation)?.made ?? []).flatMap((id) => {
      const row = state.get(mirrored[STARTS[by].resource], id);
      if (!row) return [];
      const { status, canceledAt = null } = startedPayment(row);
      const paidAt = status === 'paid' || status === 'refunded' ? row.observedAt : null;
      return [{ id, status, paidAt, canceledAt }];
    });
  assertOrderOpen(orderStatusOf([...paymentsOf(name, method), ...paymentsOf(other, otherOf(method))]));
}

/**
 * Whether a start's answer was lost and only the same request, sent again, can give its code to a page: then
 * the token is reserved first. For a card the page may be found in a list.
 */
function isSeenByNobody({ intent }: LastIntent): boolean {
  return intent.state === 'in_doubt' && kindOf(intent) === STARTS.pix.kind;
}

/** @throws PreconditionError */
function assertIsOver(state: State, { operation, intent }: LastIntent, method: CheckoutMethod): void {
  if (intent.resourceId) {
    const row = lastPayment(state, { name: operation }, method);
    const last = row && startedPayment(row);
    assertTokenFree(last);
    // Only a webhook says that it has failed, has expired before its time, or was paid: it may still be paid.
    const mayBeOpen = last && (last.status === 'failed' || state.now < new Date(last.expiresAt));
    if (last?.unresolved || (mayBeOpen && last.claimedAt)) throw tokenUsed();
  } else if (state.now < plusMs(intent.createdAt, SENDING_MS + CHECKOUT_SESSION_MS)) throw tokenUsed();
}
