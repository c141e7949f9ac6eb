import type { CheckoutGrant } from '../../../kernel/caller.ts';
import { behindChange, type PaymentError } from '../../../kernel/errors.ts';
import type { Requester } from '../../../kernel/requester.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { checkOrder } from '../../../upstream/closed-orders.ts';
import { disbelieve } from '../../../upstream/creations.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Endpoints } from '../../../upstream/endpoint-availability.ts';
import type { LookupResult, Operation, RequestKind } from '../../../upstream/intents/operations.ts';
import type { Intent } from '../../../upstream/intents/transitions.ts';
import type { Observation } from '../../../upstream/mirror.ts';
import { selectMirrored } from '../../../upstream/mirror-store.ts';
import { readPagesUntil } from '../../../upstream/read-until.ts';
import { earliestOf, recognise, type TimeWindow } from '../../../upstream/recognise.ts';
import {
  assertConclusive,
  invalidInput,
  isSuccess,
  messageOf,
  namedRefusal,
  refusalOf,
  unreadable,
} from '../../../upstream/responses.ts';
import type { RequestOptions, UpstreamAnswer } from '../../../upstream/upstream.ts';
import {
  assertCallbackUrl,
  assertOrderOpen,
  CHECKOUT_SESSION_MS,
  type SoldProduct,
  type StartCheckoutInput,
  type StartedCheckout,
} from '../../checkout/model.ts';
import {
  createTokenStarts,
  kindOfStart,
  type RefreshUnpaid,
  tokenOfStart,
} from '../../checkout/remote/token-commands.ts';
import { assertNotSandbox, type CardPayment, type CardPaymentService, cardsNotConfigured } from '../model.ts';
import { cardPaymentFromWire, cardPaymentsFromWire } from '../wire.ts';
import { type MirroredCardPayments, observationOf, paymentOf } from './mirror.ts';
import {
  beganAt,
  contradictionOf,
  createdClaim,
  documentedOf,
  isLike,
  toWanted,
  traitsOf,
  type Wanted,
} from './requested-payment.ts';

/** Requests for card payments to the service, and the reconciliation of unknown outcomes. */
export interface CardPaymentRequests {
  create: CardPaymentService['create'];
  startCheckout(
    tenant: Tenant,
    token: { id: string; grant: CheckoutGrant },
    input: StartCheckoutInput,
    requester: Requester,
  ): Promise<StartedCheckout<CardPayment>>;
  kinds: Readonly<Record<string, RequestKind>>;
}

const CREATE = 'createCardPayment';
const START = kindOfStart('card');

const POST = { name: 'POST /v1/card-payments', inWords: 'creating card payments' };
const LIST = { name: 'GET /v1/card-payments', inWords: 'listing card payments' };

/**
 * The time in which a payment is created: the service's clock may be a little behind this one, and an older
 * payment belongs to another request.
 */
const WINDOW: TimeWindow = { beforeMs: 5_000, afterMs: Number.POSITIVE_INFINITY, marginMs: 0 };

export function createCardPaymentRequests({
  database: { sql },
  committer,
  clock,
  upstream,
  reads,
  intents,
  pollNow,
  endpoints,
  serviceClock,
  mirror,
  callbackUrl,
  findProduct,
  privateAddresses,
  onFault,
  refreshUnpaid,
  refreshOther,
}: UpstreamDependencies & {
  endpoints: Endpoints;
  mirror: MirroredCardPayments;
  /**
   * The address for the service's webhooks; null unless this server has a public https address that the
   * service can reach.
   */
  callbackUrl: string | null;
  /** Finds the product that a checkout token sells; null if it has been deleted. */
  findProduct: (tenant: Tenant, id: string, requester: Requester) => Promise<SoldProduct | null>;
  /** Whether webhooks may go to this machine, for local development. */
  privateAddresses: boolean;
  refreshUnpaid: RefreshUnpaid;
  /** Looks up a payment by PIX that a token has started; omitted if tokens start none. */
  refreshOther?: RefreshUnpaid;
}): CardPaymentRequests {
  const startPayment = createTokenStarts<Wanted>(
    { database: { sql }, committer },
    {
      ...{ method: 'card', refreshUnpaid, refreshOther, findProduct },
      toWanted: ({ amount: _, productId: __, ...sale }) => toWanted(sale),
      async run(tenant, { requestOptions, ...start }) {
        const { known, replayed } = await run(tenant, operation(tenant, requestOptions, start));
        return { payment: known, replayed };
      },
    },
  );

  /** Sends the request. A refused request has created nothing. */
  async function send(
    { environment }: Tenant,
    intent: Intent,
    requestOptions: RequestOptions,
  ): Promise<Observation> {
    const wanted = intent.summary as Wanted;
    const at = clock.now();
    const request = { environment, method: 'POST', path: '/v1/card-payments', requestOptions } as const;
    const answer = await endpoints
      .ask(environment, POST, () => upstream.send({ ...request, body: bodyOf({ ...wanted, callbackUrl }) }))
      .finally(() => reads.forget(environment, '/v1/card-payments'));
    assertConclusive(answer);
    if (!isSuccess(answer)) throw refusalOfCreation(answer, wanted);
    const claim = cardPaymentFromWire(answer.body);
    if (!claim) throw unreadable();
    const contradiction = contradictionOf(claim, wanted, answer.body);
    if (contradiction === null) return observationOf(createdClaim(claim, wanted, at), at, 'now');
    throw disbelieve(onFault, contradiction, { inWords: POST.inWords, movesMoney: false });
  }

  /**
   * Describes a creation to the intents, as safe to repeat. While a creation is in doubt, nobody has seen the
   * page of its payment: nobody can pay on it, and it expires in thirty minutes. So a second creation with the
   * same key is harmless if the lookup has not found the first. Without the second, a payer whose response was
   * lost could never pay at a service that has no list. A key has one payment, whichever of the two a later
   * lookup finds: the one that was recorded first.
   */
  function operation<Input>(
    tenant: Tenant,
    requestOptions: RequestOptions,
    of: Pick<Operation<Input>, 'name' | 'key' | 'input' | 'open'> & { wanted: Wanted },
  ): Operation<Input> {
    const { wanted, ...rest } = of;
    return {
      ...rest,
      summary: () => wanted,
      send: (intent) => send(tenant, intent, requestOptions),
      safeToRepeat: true,
      inWords: POST.inWords,
      lookupReference: () => null,
    };
  }

  async function run<Input>(tenant: Tenant, of: Operation<Input>) {
    const { resourceId, replayed } = await intents.run(tenant, of).finally(() => {
      pollNow(tenant, 'card_payment');
    });
    const known = await mirror.find(tenant, resourceId).catch((error: unknown) => {
      throw behindChange(error);
    });
    if (!known) throw new Error(`card payment ${resourceId} was created and is not known`);
    return { known, replayed };
  }

  // ── An unknown outcome ──

  async function lookUpOutcome(tenant: Tenant, intent: Intent): Promise<LookupResult> {
    const found = await search(tenant, intent);
    const ageMs = clock.ms() - intent.createdAt.getTime();
    // If a payment was made, it has expired by now, and nobody has ever seen its page.
    return found === 'unclear' && ageMs >= CHECKOUT_SESSION_MS ? 'not_there' : found;
  }

  /**
   * Searches the newest part of the service's list for the payment of the request: it matches, was not there
   * before, and belongs to no other request. The document has no such list, but this project's own service
   * has. The result is unclear if similar requests are under way, or if more payments match than requests were lost.
   */
  async function search(tenant: Tenant, intent: Intent): Promise<LookupResult> {
    const at = clock.now();
    const list = await readList(tenant, intent);
    if (!list) return 'unclear';
    const wanted = intent.summary as Wanted;
    const alike = list.items.filter((item) => isLike(item, wanted));
    // The order matters: a concurrent similar request is either seen as open here, or recorded when the mirror is
    // read.
    const open = (await Promise.all([CREATE, START].map((kind) => intents.open(tenant, kind)))).flat();
    const rivals = open.filter(
      (other) => other.id !== intent.id && traitsOf(other.summary as Wanted) === traitsOf(wanted),
    );
    const codes = alike.map(({ orderCode }) => orderCode);
    const known = new Set((await selectMirrored(sql, tenant, 'card_payment', codes)).map(({ id }) => id));
    const isRival = ({ state, operation }: Intent) =>
      state === 'sending' || kindOf(operation) !== kindOf(intent.operation);
    const { kind, items } = recognise({
      items: alike,
      dateOf: beganAt,
      begunAt: serviceClock.of(intent.createdAt),
      window: WINDOW,
      claimed: known,
      idOf: ({ orderCode }) => orderCode,
      hasRival: () => rivals.some(isRival),
      // All of them are equivalent: nobody has seen their pages.
      interchangeable: rivals.length,
      complete: list.complete,
    });
    if (kind !== 'one') return kind === 'none' ? 'not_there' : 'unclear';
    const [{ said: _, ...claim }] = items;
    return {
      found: observationOf(createdClaim(claim, wanted, intent.createdAt), at),
    };
  }

  /** Reads the list back to the request; null if the service has none. */
  function readList({ environment }: Tenant, intent: Intent) {
    return readPagesUntil({
      async fetchPage(query) {
        const path = `/v1/card-payments?${query}` as const;
        const answer = await endpoints.callIfSupported(environment, LIST, () =>
          upstream.get({ environment, path, requestOptions: lookupOptions(intent) }),
        );
        return answer && isSuccess(answer) ? cardPaymentsFromWire(answer.body) : null;
      },
      idOf: ({ orderCode }) => orderCode,
      dateOf: beganAt,
      since: () => earliestOf(serviceClock.of(intent.createdAt), WINDOW),
    });
  }

  const kind: RequestKind = {
    lookUp: lookUpOutcome,
    givenUpAfterMs: CHECKOUT_SESSION_MS,
    makes: [CREATE, START],
  };
  return {
    async create(tenant, { idempotencyKey, ...input }) {
      assertNotSandbox(tenant.environment);
      assertCallbackUrl(input.callbackUrl, privateAddresses);
      const wanted = toWanted(input);
      const { known, replayed } = await run(
        tenant,
        operation(
          tenant,
          { priority: 'money' },
          {
            ...{ name: CREATE, key: idempotencyKey ?? null, input, wanted },
            open: checkOrder(wanted.externalId ?? null, assertOrderOpen),
          },
        ),
      );
      return { payment: paymentOf(known), replayed };
    },
    async startCheckout(tenant, token, input, requester) {
      assertNotSandbox(tenant.environment);
      const { payment, replayed } = await startPayment(tenant, token, input, requester);
      return { payment: paymentOf(payment), replayed };
    },
    kinds: { [CREATE]: kind, [START]: kind },
  };
}

// ── The request ─────────────────────────────────────────────────────────────────────────────────

/** The body of the request, without absent values (the document's 4.2). */
function bodyOf(wanted: Wanted): object {
  return Object.fromEntries(Object.entries(documentedOf(wanted)).filter(([, value]) => value !== null));
}

/**
 * Statuses of a refusal because of the account. The document says that a 400 is about the input, and does not show
 * the status of this refusal.
 */
const NOT_CONFIGURED: ReadonlySet<number> = new Set([409, 412, 422, 424]);

function refusalOfCreation(answer: UpstreamAnswer, { valueCents }: Wanted): PaymentError {
  if (answer.status === 400) {
    const path = valueCents < 80 ? 'input.valueCents' : 'input';
    return invalidInput(messageOf(answer.body), { path });
  }
  return NOT_CONFIGURED.has(answer.status)
    ? (namedRefusal(answer) ?? cardsNotConfigured(messageOf(answer.body)))
    : refusalOf(answer);
}

/**
 * Options of a lookup. It counts as the payer's, because a payer can cause any number of lookups of a start.
 */
function lookupOptions(intent: Intent): RequestOptions {
  const tokenId = tokenOfStart(intent);
  if (tokenId === null) return { priority: 'query' };
  return { priority: 'payer', subject: { token: tokenId, network: null } };
}

function kindOf(operation: string): string {
  return operation.split(':', 1)[0]!;
}
