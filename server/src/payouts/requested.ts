import { plusMs } from '../kernel/clock.ts';
import { behindChange, InsufficientFundsError, type PaymentError } from '../kernel/errors.ts';
import { reaisFromCents } from '../kernel/money.ts';
import type { Tenant } from '../kernel/tenant.ts';
import {
  assertCertain,
  invalidInput,
  isSuccess,
  keyUsed,
  messageOf,
  refusalOf,
  unreadable,
} from '../upstream/answers.ts';
import type { Endpoints } from '../upstream/endpoints.ts';
import type { Facade } from '../upstream/facade.ts';
import type { Intent, Look } from '../upstream/intents.ts';
import type { Observation } from '../upstream/mirror.ts';
import { listObserved, selectKnownUpTo } from '../upstream/mirror-store.ts';
import { LARGEST_PAGE } from '../upstream/ranked.ts';
import type { Errand } from '../upstream/upstream.ts';
import type { Wallet } from '../wallet/model.ts';
import {
  areDifferent,
  canBeSame,
  maskDestination,
  type PayoutClaim,
  type PayoutMethod,
  type PayoutService,
  type RequestPayoutInput,
  type ShownPayout,
} from './model.ts';
import { type MirroredPayouts, observationOf } from './observed.ts';
import { readPayout, readPayoutList } from './wire.ts';

/** Payouts that are requested of the service, and what becomes of one where that is not known at once. */
export interface PayoutRequests {
  request: PayoutService['request'];
  looks: Readonly<Record<string, Look>>;
}

const REQUEST = 'requestPayout';

export const PAYOUTS = '/v1/payouts';
const POST = { name: 'POST /v1/payouts', inWords: 'requesting payouts' };
export const LIST = { name: 'GET /v1/payouts', inWords: 'listing payouts' };

/** By how much the service's clock may lie behind ours. */
export const SKEW_MS = 60_000;
/** What was requested so long before has nothing to do with a request, whatever clock says so. */
const LONG_BEFORE_MS = 60 * 60_000;

/** What an intent is recognised by: the document gives this request no key. */
interface Summary {
  method: PayoutMethod;
  amountCents: number;
  /** A PIX key masked, an address whole. */
  destination: string;
  /** The place in the mirror of the newest payout that was known before. */
  knownUpTo: number;
}

export function createPayoutRequests({
  database,
  clock,
  upstream,
  reads,
  intents,
  nudge,
  endpoints,
  mirror,
  readWallet,
}: Facade & {
  endpoints: Endpoints;
  mirror: MirroredPayouts;
  /** For the figures of a refusal. */
  readWallet: (tenant: Tenant) => Promise<Wallet>;
}): PayoutRequests {
  async function request(
    tenant: Tenant,
    { idempotencyKey, ...input }: RequestPayoutInput,
  ): Promise<{ payout: ShownPayout; replayed: boolean }> {
    const [newest] = await listObserved(database.sql, tenant, 'payout', { before: null, limit: 1 });
    const summary: Summary = {
      method: input.method,
      amountCents: input.amountCents,
      destination: maskDestination(input, { masksCrypto: false }),
      knownUpTo: newest?.place ?? 0,
    };
    try {
      const { resourceId, replayed } = await intents.run(tenant, {
        name: REQUEST,
        input,
        key: idempotencyKey ?? null,
        summary: () => summary,
        send: () => send(tenant, input, idempotencyKey ?? null, summary),
        lookupReference: () => null,
      });
      const made = await mirror.findWithVersion(tenant, resourceId).catch((error: unknown) => {
        throw behindChange(error);
      });
      return { payout: made!.payout, replayed };
    } finally {
      nudge(tenant, 'payout');
      nudge(tenant, 'wallet');
    }
  }

  async function send(
    tenant: Tenant,
    { method, amountCents, destination }: Omit<RequestPayoutInput, 'idempotencyKey'>,
    idempotencyKey: string | null,
    summary: Summary,
  ): Promise<Observation> {
    const { environment } = tenant;
    const at = clock.now();
    const body = {
      amount: reaisFromCents(amountCents),
      method,
      walletAddress: destination,
      ...(idempotencyKey !== null && { idempotencyKey }),
    };
    const errand: Errand = { class: 'money' };
    const answer = await endpoints
      .ask(environment, POST, () =>
        upstream.send({ environment, method: 'POST', path: PAYOUTS, body, errand }),
      )
      .finally(() => reads.forget(environment));
    // It may have been done all the same: its list tells.
    assertCertain(answer);
    if (isSuccess(answer)) {
      const told = readPayout(answer.body);
      // It has done it, and its list tells what it has made.
      if (!told) throw unreadable();
      return observationOf({ ...ofIntent(told, summary), status: told.status ?? 'pending' }, at);
    }
    const said = messageOf(answer.body, { secret: destination });
    if (answer.status === 409 && idempotencyKey !== null) throw keyUsed(said);
    if (answer.status === 400 || answer.status === 422)
      throw await invalid(tenant, { method, amountCents }, said);
    throw refusalOf(answer, { secret: destination });
  }

  /** Status codes tell too little, and the text may change: what is missing is told by the wallet. */
  async function invalid(
    tenant: Tenant,
    { method, amountCents }: Pick<RequestPayoutInput, 'method' | 'amountCents'>,
    said: string | null,
  ): Promise<PaymentError> {
    const wallet = await readWallet(tenant).catch(() => null);
    // Of an LTC payout nobody but the service knows the quote; its address and its amount are checked before.
    const isTooMuch = wallet !== null && (method === 'ltc' || amountCents > wallet.withdrawableCents);
    if (!isTooMuch) return invalidInput(said);
    return new InsufficientFundsError(said ?? 'The payments service refuses this', {
      requestedCents: amountCents,
      withdrawableCents: wallet.withdrawableCents,
      balanceCents: wallet.balanceCents,
      disputeBlockedCents: wallet.disputeBlockedCents,
      subaccountsBalanceCents: wallet.subaccountsBalanceCents,
      cryptoBalanceLitoshi: method === 'ltc' ? wallet.cryptoBalanceLitoshi : null,
    });
  }

  /**
   * The payout of an intent whose outcome is not known is the one of its method, amount and destination that was not
   * known before, was not requested before, and that no other intent has made. Of several equal ones each gets its own.
   */
  const look: Look = async (tenant, intent) => {
    const summary = intent.summary as Summary;
    const at = clock.now();
    const { environment } = tenant;
    const answer = await endpoints.askIfThere(environment, LIST, () =>
      upstream.get({
        environment,
        path: `${PAYOUTS}?limit=${LARGEST_PAGE}&offset=0`,
        errand: { class: intent.looks === 0 ? 'money' : 'query' },
      }),
    );
    const list = answer && isSuccess(answer) ? readPayoutList(answer.body) : null;
    if (!list) return 'unclear';
    const payouts = await mirror.takeOver(tenant, list.items, at);
    const ids = payouts.flatMap((payout) => payout?.withdrawalId ?? []);
    const before = await selectKnownUpTo(database.sql, tenant, 'payout', { ids, place: summary.knownUpTo });
    // First who waits, then what was found: one that ends in between is counted twice, and not its payout.
    const open = await intents.open(tenant, REQUEST);
    const claimed = await intents.claimed(tenant, REQUEST, ids);

    const since = plusMs(intent.createdAt, -SKEW_MS);
    const comesAfter = orderOf(payouts, (payout) => before.has(payout.withdrawalId), since);
    const possible = list.items.flatMap((claim, index) => {
      const payout = payouts[index] ?? null;
      if (!claim || !payout || before.has(payout.withdrawalId) || claimed.has(payout.withdrawalId)) return [];
      const isAfter = comesAfter(payout, index);
      return isAfter !== false && mayBe(payout, summary) ? [{ claim, payout, isAfter }] : [];
    });
    const equal = possible.filter(({ payout }) => canBeSame(payout, summary));
    // Nothing tells whether it was there before.
    if (equal.some(({ isAfter }) => isAfter === null)) return 'unclear';
    if (equal.length === 0) {
      const isOlder = (payout: ShownPayout | null) =>
        payout?.requestedAt != null && payout.requestedAt < plusMs(since, -LONG_BEFORE_MS);
      const reachesBack =
        list.items.length >= list.total ||
        (isNewestFirst(payouts) && (before.size > 0 || payouts.some(isOlder)));
      // One that shows its destination in a way of its own may be the one.
      return reachesBack && possible.length === 0 && !payouts.includes(null) ? 'not_there' : 'unclear';
    }
    const others = open.filter(
      (each) => each.id !== intent.id && sameRequest(each.summary as Summary, summary),
    );
    // One that is on its way may have made one of these; and of fewer than there are waiting nobody knows whose they are.
    if (equal.length <= others.length || others.some(({ state }) => state === 'sending')) return 'unclear';
    const { claim } = equal.reverse()[[...others, intent].sort(inOrder).indexOf(intent)]!;
    nudge(tenant, 'wallet');
    return { found: observationOf(ofIntent(claim, summary), at), claims: claim.withdrawalId };
  };

  return { request, looks: { [REQUEST]: look } };
}

/** What the service does not say of a payout that was asked for here. Of an address it may say less than we know. */
function ofIntent(told: PayoutClaim, { method, amountCents, destination }: Summary): PayoutClaim {
  const isAddress = method === 'ltc' || method === 'usd';
  return {
    ...told,
    method: told.method ?? method,
    amountCents: told.amountCents ?? amountCents,
    destination: isAddress ? destination : (told.destination ?? destination),
  };
}

/** Nothing that is told of it says that it is another. */
function mayBe(payout: ShownPayout, { method, amountCents, destination }: Summary): boolean {
  return (
    payout.amountCents === amountCents &&
    (payout.method === method || payout.method === 'unknown') &&
    !areDifferent(payout, { method, destination })
  );
}

/** As far as dates tell; the document does not show in which order a list comes. */
function isNewestFirst(payouts: readonly (ShownPayout | null)[]): boolean {
  const dates = payouts.flatMap((payout) => payout?.requestedAt ?? []);
  return dates.length < 2 || dates[0]! >= dates.at(-1)!;
}

/**
 * Whether one of a list came after `since`; null where nobody can say: the service's clock may be far behind. Of one
 * without a date its place tells, for the newest come first.
 */
function orderOf(
  payouts: readonly (ShownPayout | null)[],
  wasKnown: (payout: ShownPayout) => boolean,
  since: Date,
): (payout: ShownPayout, index: number) => boolean | null {
  const isKnown = (payout: ShownPayout | null) => payout !== null && wasKnown(payout);
  const [firstKnown, lastKnown] = [payouts.findIndex(isKnown), payouts.findLastIndex(isKnown)];
  return ({ requestedAt }, index) => {
    if (requestedAt === null) return index < firstKnown ? true : index > lastKnown ? null : false;
    if (requestedAt >= since) return true;
    return requestedAt < plusMs(since, -LONG_BEFORE_MS) ? false : null;
  };
}

function sameRequest(left: Summary, right: Summary): boolean {
  return (
    left.method === right.method &&
    left.amountCents === right.amountCents &&
    left.destination === right.destination
  );
}

function inOrder(left: Intent, right: Intent): number {
  return left.createdAt.getTime() - right.createdAt.getTime() || (left.id < right.id ? -1 : 1);
}
