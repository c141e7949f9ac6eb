import { behindChange, InsufficientFundsError, type PaymentError } from '../../../kernel/errors.ts';
import { reaisFromCents } from '../../../kernel/money.ts';
import { methodOf } from '../../../kernel/payout-methods/registry.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { withoutZone } from '../../../kernel/zone.ts';
import { disbelieve, OF_ANOTHER } from '../../../upstream/creations.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Endpoints } from '../../../upstream/endpoint-availability.ts';
import {
  InDoubtError,
  type LookupResult,
  type OutcomeLookup,
  type RequestKind,
} from '../../../upstream/intents/operations.ts';
import { ABSENT_AFTER_MS, type Intent, isOpen } from '../../../upstream/intents/transitions.ts';
import type { Observation } from '../../../upstream/mirror.ts';
import { newestMirrored } from '../../../upstream/mirror-lists.ts';
import { isRequestOfBefore, selectKnownUpTo, selectMadeOf } from '../../../upstream/mirror-store.ts';
import { isNewestFirst, reachesBefore, readPagesUntil } from '../../../upstream/read-until.ts';
import { earliestOf, type Recognition, recognise, windowOf } from '../../../upstream/recognise.ts';
import {
  errorCodeOf,
  invalidInput,
  isSuccess,
  keyUsed,
  messageOf,
  refusalOf,
  unreadable,
} from '../../../upstream/responses.ts';
import { LARGEST_PAGE } from '../../../upstream/stable-list.ts';
import type { RequestOptions, UpstreamAnswer } from '../../../upstream/upstream.ts';
import { createWrite } from '../../../upstream/writes.ts';
import type { Wallet } from '../../wallet/model.ts';
import {
  maskDestination,
  type Payout,
  type PayoutService,
  type RequestPayoutInput,
  UnclearRefusal,
  variantOf,
} from '../model.ts';
import type { UpstreamPayout } from '../upstream-payout.ts';
import { readPayout, readPayoutList } from '../wire.ts';
import {
  asPayout,
  identifiedAs,
  inDoubtOf,
  type MirroredPayouts,
  neverMadeOf,
  observationOf,
  payoutIn,
} from './mirror.ts';
import {
  canBeMadeBy,
  contradictionOf,
  dateOf,
  idOf,
  namesOf,
  type Summary,
  withSummary,
} from './requested-payout.ts';

/** The requests for payouts to the service, and the lookups of those whose outcome is unknown. */
export interface PayoutRequests {
  /** Requests a payout, which is `inDoubt` if the outcome is unknown. @throws as `Intents.run` */
  request: PayoutService['request'];
  findByKey: PayoutService['findByKey'];
  kinds: Readonly<Record<string, RequestKind>>;
}

/** The kind of a request for a payout. */
export const REQUEST = 'requestPayout';

export const PAYOUTS = '/v1/payouts';
const POST = { name: 'POST /v1/payouts', inWords: 'requesting payouts' };
export const LIST = { name: 'GET /v1/payouts', inWords: 'listing payouts' };

/** The names that fields of the input have in the request to the service. */
const RENAMED = { amount: 'amountCents', walletAddress: 'destination' };
const FIELDS = ['method', ...Object.values(RENAMED)];

/** The usual difference between the service's clock and ours. */
export const SKEW_MS = 60_000;
/** The time around a request in which the service dates the payout that it makes. */
const WINDOW = windowOf({ beforeMs: SKEW_MS, afterMs: ABSENT_AFTER_MS + SKEW_MS });

export function createPayoutRequests({
  database,
  clock,
  upstream,
  reads,
  records,
  intents,
  pollNow,
  endpoints,
  mirror,
  readWallet,
  serviceClock,
  onFault,
}: UpstreamDependencies & {
  endpoints: Endpoints;
  mirror: MirroredPayouts;
  /** Reads the wallet, whose figures a refusal contains. */
  readWallet: (tenant: Tenant) => Promise<Wallet>;
}): PayoutRequests {
  const write = createWrite({ upstream, reads }, endpoints);

  async function request(
    tenant: Tenant,
    { idempotencyKey, externalId = null, pixKeyType = null, ...input }: RequestPayoutInput,
  ): Promise<{ payout: Payout; replayed: boolean }> {
    const newest = await newestMirrored(database.sql, tenant, 'payout');
    const summary: Summary = {
      method: input.method,
      amountCents: input.amountCents,
      destination: maskDestination(input, { masksPublic: false }),
      externalId,
      pixKeyType,
      destinationKind: variantOf(input.method, input.destination),
      knownUpTo: newest?.position ?? 0,
    };
    try {
      const { resourceId, replayed } = await intents.run(tenant, {
        name: REQUEST,
        input,
        key: idempotencyKey ?? null,
        summary: () => summary,
        kept: { externalId, pixKeyType },
        send: ({ id }) =>
          send(tenant, input, { idempotencyKey: idempotencyKey ?? null, summary, madeBy: id }),
        inWords: POST.inWords,
        lookupReference: () => null,
      });
      const made = await mirror.findWithVersion(tenant, resourceId).catch((error: unknown) => {
        throw behindChange(error);
      });
      return { payout: made!.payout, replayed };
    } catch (error) {
      if (!(error instanceof InDoubtError)) throw error;
      const { intent, replayed } = error;
      const known = await mirror.findWithVersion(tenant, intent.id).catch((fault: unknown) => {
        throw behindChange(fault);
      });
      // Nothing is recorded under the intent's id: a lookup by it would find no payout.
      if (!known) throw error;
      return { payout: known.payout, replayed };
    } finally {
      pollNow(tenant, 'payout');
      pollNow(tenant, 'wallet');
    }
  }

  async function send(
    tenant: Tenant,
    {
      method,
      amountCents,
      destination,
    }: Omit<RequestPayoutInput, 'idempotencyKey' | 'externalId' | 'pixKeyType'>,
    { idempotencyKey, summary, madeBy }: { idempotencyKey: string | null; summary: Summary; madeBy: string },
  ): Promise<Observation> {
    const { environment } = tenant;
    const at = clock.now();
    const body = {
      amount: reaisFromCents(amountCents),
      method,
      walletAddress: destination,
      ...(idempotencyKey !== null && { idempotencyKey }),
    };
    // After an inconclusive answer the service's list shows whether the payout was made.
    const answer = await write(POST, { environment, method: 'POST', path: PAYOUTS, body });
    if (isSuccess(answer)) {
      const made = readPayout(answer.body);
      // The service has made a payout, and its list will show which one.
      if (!made) throw unreadable();
      const contradiction =
        contradictionOf(made, { method, amountCents, destination }, answer.body) ??
        (await isOfAnother(tenant, made, { summary, hasKey: idempotencyKey !== null }));
      if (contradiction !== null)
        throw disbelieve(onFault, contradiction, { inWords: POST.inWords, movesMoney: true });
      return observationOf({ ...withSummary(made, summary), status: made.status ?? 'pending' }, at, {
        madeBy,
      });
    }
    const message = messageOf(answer.body, { secret: destination });
    if (answer.status === 409 && idempotencyKey !== null) throw keyUsed(message);
    if (answer.status === 400 || answer.status === 422)
      throw await toRefusal(tenant, { method, amountCents }, answer, message);
    throw refusalOf(answer, { secret: destination });
  }

  /**
   * Finds whether an answer names a known payout that the request cannot have made: the payout of another
   * request, or one from before the request, unless the service knows the caller's key. Null if it does not.
   */
  async function isOfAnother(
    tenant: Tenant,
    { withdrawalId }: UpstreamPayout,
    { summary, hasKey }: { summary: Summary; hasKey: boolean },
  ): Promise<string | null> {
    const known = (await mirror.findNamed(tenant, [withdrawalId])).get(withdrawalId);
    if (!known) return null;
    const before = { ids: [withdrawalId], position: summary.knownUpTo };
    const isOlder = !hasKey && (await selectKnownUpTo(database.sql, tenant, 'payout', before)).size > 0;
    return isOlder || !canBeMadeBy(payoutIn(known), summary) ? OF_ANOTHER : null;
  }

  /**
   * The refusal behind a 400 or 422. Without a code the status says too little and the message may change, so
   * the wallet decides.
   */
  async function toRefusal(
    tenant: Tenant,
    { method, amountCents }: Pick<RequestPayoutInput, 'method' | 'amountCents'>,
    answer: UpstreamAnswer,
    message: string | null,
  ): Promise<PaymentError> {
    const refusal = invalidInput(message, { fields: FIELDS, renamed: RENAMED });
    const code = errorCodeOf(answer);
    if (code !== undefined && code !== 'INSUFFICIENT_FUNDS') return refusal;
    const wallet = await readWallet(tenant).catch(() => null);
    if (!wallet && refusal.fields.every(({ path }) => path === 'input'))
      return new UnclearRefusal(refusal.fields);
    // Only the service knows the quote of an LTC payout; its address and its amount were checked before.
    const isQuoted = methodOf(method).debits === 'ltc';
    const withdrawableCents = wallet?.withdrawableCents ?? null;
    const isTooMuch =
      withdrawableCents !== null && (code !== undefined || isQuoted || amountCents > withdrawableCents);
    if (!wallet || !isTooMuch) return refusal;
    return new InsufficientFundsError(message ?? 'The payments service refuses this', {
      requestedCents: amountCents,
      withdrawableCents,
      balanceCents: wallet.balanceCents,
      disputeBlockedCents: wallet.disputeBlockedCents,
      subaccountsBalanceCents: wallet.subaccountsBalanceCents,
      cryptoBalanceLitoshi: isQuoted ? wallet.cryptoBalanceLitoshi : null,
    });
  }

  /** Reads a page of the service's list for a lookup, and merges it; null if the service does not show it. */
  async function readPage(tenant: Tenant, { lookups }: Intent, query: string) {
    const { environment } = tenant;
    const at = clock.now();
    const path = `${PAYOUTS}?${query}` as const;
    const requestOptions: RequestOptions = { priority: lookups === 0 ? 'money' : 'query' };
    const answer = await endpoints.callIfSupported(environment, LIST, () =>
      upstream.get({ environment, path, requestOptions }),
    );
    const page = answer && isSuccess(answer) ? readPayoutList(answer.body) : null;
    return (
      page && { payouts: await mirror.merge(tenant, page.items, { at, isShown: false }), total: page.total }
    );
  }

  /**
   * Looks up the outcome of a request. Its payout has exactly the request's method, amount and whole
   * destination, came after it, and was made by no other request. The service's list shows PIX keys masked,
   * so usually a webhook has to show the whole key. A payout that only may be the request's does not settle
   * it: the outcome stays unknown.
   */
  const lookUp: OutcomeLookup = async (tenant, intent) => {
    if (intent.behindSince !== null) return lookUpEarlier(tenant, intent, intent.behindSince);
    const mirroredResult = await findByInput(tenant, intent);
    if (mirroredResult !== null) return mirroredResult;
    const summary = intent.summary as Summary;
    const list = await readPage(tenant, intent, `limit=${LARGEST_PAGE}&offset=0`);
    if (!list) return NOT_LISTED;
    const { payouts, total } = list;
    // The list shows public addresses whole, so the payout may be in the mirror by now.
    const listedResult = await findByInput(tenant, intent);
    if (listedResult !== null) return listedResult;
    const ids = payouts.flatMap((payout) => payout?.withdrawalId ?? []);
    const knownBefore = await selectKnownUpTo(database.sql, tenant, 'payout', {
      ids,
      position: summary.knownUpTo,
    });
    const claimed = await intents.claimed(tenant, REQUEST, ids);
    const candidates = payouts.filter(
      (payout) => payout !== null && !knownBefore.has(idOf(payout)) && canBeOf(intent, payout),
    ) as Payout[];
    const dates = payouts.map((payout) => payout?.requestedAt ?? null);
    const recognition = recognise({
      items: candidates,
      idOf,
      dateOf,
      begunAt: serviceClock.of(intent.createdAt),
      window: WINDOW,
      claimed,
      hasRival: () => false,
      complete:
        payouts.length >= total ||
        (knownBefore.size > 0 && isNewestFirst(dates)) ||
        reachesBefore(dates, earliestOf(serviceClock.of(intent.createdAt), WINDOW)),
    });
    // A payout without the request's whole input does not settle it, even where it is the only candidate.
    if (recognition.items.length > 0)
      return { unclear: `${namesOf(recognition.items)} may be it, as far as the service shows it` };
    if (payouts.includes(null)) return 'unclear';
    return recognition.kind === 'none'
      ? 'not_there'
      : { unclear: 'The list of the payments service does not reach back so far' };
  };

  /**
   * Looks for a payout that a request may have made before it was recorded, because the records lack what
   * came after `since`: a payout that fits, came since then and belongs to no known request. The service does
   * not show the key, so such a payout never settles the request; nor does the mirror, which may have seen it
   * already.
   */
  async function lookUpEarlier(tenant: Tenant, intent: Intent, since: Date): Promise<LookupResult> {
    let hasUnreadable = false;
    const list = await readPagesUntil<Payout>({
      async fetchPage(query) {
        const page = await readPage(tenant, intent, query);
        if (!page) return null;
        const { payouts, total } = page;
        const items = payouts.filter((payout) => payout !== null);
        hasUnreadable ||= items.length < payouts.length;
        return { items, length: payouts.length, total };
      },
      idOf,
      dateOf,
      since: () => earliestOf(serviceClock.of(since), WINDOW),
    });
    if (!list) return NOT_LISTED;
    const candidates = list.items.filter((payout) => canBeOf(intent, payout));
    const recognition = recognise({
      items: candidates,
      idOf,
      dateOf,
      begunAt: serviceClock.of(since),
      window: { ...WINDOW, afterMs: Number.POSITIVE_INFINITY },
      claimed: await intents.claimed(tenant, REQUEST, candidates.map(idOf)),
      hasRival: () => false,
      complete: list.complete,
    });
    if (recognition.items.length > 0)
      return { unclear: `${namesOf(recognition.items)} may be it, from before this server was restored` };
    if (hasUnreadable) return 'unclear';
    return recognition.kind === 'none'
      ? 'not_there'
      : { unclear: 'The list of the payments service does not reach back to the backup' };
  }

  /** Finds the request's payout among those that are mirrored with the whole input; null if there is none. */
  async function findByInput(tenant: Tenant, intent: Intent): Promise<LookupResult | null> {
    const { inputHash, summary } = intent;
    const { knownUpTo } = summary as Summary;
    const begunAt = serviceClock.of(intent.createdAt);
    const made = await selectMadeOf(database.sql, tenant, 'payout', { inputHash, after: knownUpTo });
    const ids = made.map(({ observed }) => observed.id);
    // Open requests are read before claims, so a request that ends in between still counts as a rival.
    const open = await intents.open(tenant, REQUEST);
    const claimed = await intents.claimed(tenant, REQUEST, ids);
    const isOfBefore = isRequestOfBefore(intent, await records.behind());
    const positions = new Map(made.map(({ position, observed }) => [observed.id, position]));
    const recognition = recognise({
      items: made.map(({ observed }) => payoutIn(observed)),
      idOf,
      dateOf: (payout) => dateByWebhook(payout, begunAt),
      begunAt,
      window: WINDOW,
      claimed,
      // A request that came after this payout was mirrored has not made it.
      hasRival: (payout) =>
        isOfBefore ||
        open.some(
          (other) =>
            other.id !== intent.id &&
            other.inputHash === inputHash &&
            (other.summary as Summary).knownUpTo < positions.get(idOf(payout))!,
        ),
      complete: true,
    });
    if (recognition.kind === 'none') return null;
    if (recognition.kind === 'unclear') return { unclear: reasonOf(recognition) };
    const [{ withdrawalId }] = recognition.items;
    pollNow(tenant, 'wallet');
    return { found: identifiedAs(withdrawalId!, asPayout(intent)) };
  }

  return {
    request,
    async findByKey(tenant, idempotencyKey) {
      const intent = await intents.find(tenant, REQUEST, idempotencyKey);
      if (!intent) return null;
      const known = await mirror.findWithVersion(tenant, intent.resourceId ?? intent.id);
      // A payout that is being sent is not shown yet, but may have been made.
      return known?.payout ?? (isOpen(intent) ? asPayout(intent) : null);
    },
    kinds: {
      [REQUEST]: {
        lookUp,
        movesMoney: true,
        idOf: ({ id }) => id,
        inDoubt: (intent, { again }) => inDoubtOf(asPayout(intent), clock.now(), again),
        absent: (intent, options) => neverMadeOf(asPayout(intent), clock.now(), options),
      },
    },
  };
}

const NOT_LISTED = { unclear: 'The payments service does not show a list of payouts' };

/** Whether a request may have made a payout, as far as the service shows it. */
function canBeOf({ inputHash, summary }: Intent, payout: Payout): boolean {
  const isOther = payout.inputHash !== undefined && payout.inputHash !== inputHash;
  return !isOther && canBeMadeBy(payout, summary as Summary);
}

/**
 * The date of a payout that the mirror saw after a request, with its whole destination. If the destination is
 * not public, only a signed webhook can have shown it, and outweighs a date in another zone.
 */
function dateByWebhook({ method, requestedAt }: Payout, begunAt: Date): Date | null {
  const isListedWhole = method === 'unknown' || methodOf(method).destination.isPublic;
  return requestedAt === null || isListedWhole ? requestedAt : withoutZone(requestedAt, begunAt);
}

/** The reason why a payout with the request's input does not settle it, for the operator. */
function reasonOf({ reason, items }: Extract<Recognition<Payout>, { kind: 'unclear' }>): string {
  const names = namesOf(items);
  switch (reason) {
    case 'several':
      return `${names} are all as it was requested`;
    case 'rival':
      return `${names} may be it, or may be of another request for the same`;
    case 'undated':
      return `${names} may be it: the service does not say when it was requested`;
    default:
      return `${names} may be it, or may have been there before`;
  }
}
