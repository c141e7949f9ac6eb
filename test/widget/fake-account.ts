// The payouts, the wallet and the statement of a fake account, which fake-payouts.ts serves.
import type {
  Payout,
  PayoutDetails,
  PayoutFilter,
  PayoutStatus,
  PayoutTotals,
} from '../../widget/src/payouts/operations.ts';
import type { StatementVariables, WalletEntry, WholeEntry } from '../../widget/src/statement/operations.ts';
import type { Wallet, WalletBucket } from '../../widget/src/wallet/operations.ts';

export interface FakeMoney {
  wallet: Wallet;
  /** The entries, oldest first. */
  entries: WalletEntry[];
}

/** A movement of the fake account: it changes the balance, and is an entry. */
export interface Movement {
  amountCents: number;
  kind?: WalletEntry['kind'];
}

const STATUSES: PayoutStatus[] = ['COMPLETED', 'COMPLETED', 'DENIED', 'COMPLETED', 'PROCESSING'];
const DESTINATIONS = [
  'an***@psa.example',
  '***.456.789-**',
  '+55******4321',
  'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
];
/** The time of the newest payout; each older one is a minute earlier. */
const NEWEST = Date.parse('2026-03-02T10:35:00.000Z');
const MINUTE_MS = 60_000;
/** The time of the first entry; each later one is six hours after it. */
const FIRST = Date.parse('2026-03-01T13:35:00.000Z');
const STEP_MS = 6 * 3_600_000;
const KINDS = ['PAYMENT', 'CARD_RELEASE', 'PAYOUT', 'REFUND'] as const;

/** Creates the money of an account with some entries. */
export function moneyOf(entries: number): FakeMoney {
  const money: FakeMoney = {
    wallet: {
      balanceCents: 1_000_000,
      withdrawableCents: 900_000,
      pendingReleaseCents: 250_050,
      disputeBlockedCents: 40_000,
      subaccountsBalanceCents: 60_000,
      receivableCents: 0,
      cryptoBalanceLtc: '1.25000000',
      sandbox: false,
    },
    entries: [],
  };
  for (let number = 0; number < entries; number++)
    move(money, { amountCents: number % 4 < 2 ? 5_000 : -1_500, kind: KINDS[number % 4]! });
  return money;
}

/** Adds a movement, and returns the update of the wallet. */
export function move({ wallet, entries }: FakeMoney, { amountCents, kind = 'PAYMENT' }: Movement): object {
  const number = entries.length + 1;
  wallet.balanceCents = (wallet.balanceCents ?? 0) + amountCents;
  wallet.withdrawableCents = (wallet.withdrawableCents ?? 0) + amountCents;
  const createdAt = new Date(FIRST + (number - 1) * STEP_MS).toISOString();
  entries.push({
    id: `entry-${number}`,
    kind,
    amountCents,
    serviceFeeCents: kind === 'PAYOUT' ? 100 : 0,
    pendingReleaseDeltaCents: kind === 'CARD_RELEASE' ? -amountCents : 0,
    disputeBlockedDeltaCents: 0,
    subaccountsDeltaCents: 0,
    receivableDeltaCents: 0,
    cryptoDeltaLtc: '0',
    reference: `ref-${number}`,
    subaccountId: null,
    createdAt,
    after: { balanceCents: wallet.balanceCents },
  });
  return { wallet: { ...wallet }, occurredAt: createdAt };
}

/** A whole entry, as its details have it. */
export function wholeEntry(entry: WalletEntry): WholeEntry {
  const customer = { name: 'Ana Souza', email: 'ana@psa.example' };
  const sale = {
    __typename: 'Payment',
    code: entry.kind === 'PAYMENT' ? entry.reference! : 'psa_1',
    description: 'Caneca',
    orderId: 'PEDIDO-1',
    customer,
  };
  const resources: Partial<Record<WalletEntry['kind'], WholeEntry['resource']>> = {
    PAYMENT: sale,
    REFUND: { __typename: 'Refund', code: 'ref_1', reason: 'Veio quebrada', of: sale },
    PAYOUT: {
      __typename: 'Payout',
      payoutCode: 'SAQ-000003',
      withdrawalId: '3'.padStart(24, '0'),
      destination: 'an***@psa.example',
    },
  };
  return {
    ...entry,
    resource: resources[entry.kind] ?? null,
    unexplainedCents: 0,
    after: {
      ...entry.after,
      pendingReleaseCents: 250_050,
      disputeBlockedCents: 40_000,
      subaccountsBalanceCents: 60_000,
      receivableCents: 0,
      cryptoBalanceLtc: '1.25000000',
    },
  };
}

/** The server's answer to a query for the wallet, with the part of its statement, its history and the ends of a period. */
export function answerMoney(
  { wallet, entries }: FakeMoney,
  {
    first,
    after,
    last,
    before,
    filter,
    startsAt,
    endsAt,
    withHistory,
  }: StatementVariables & { startsAt?: string; endsAt?: string; withHistory?: boolean },
): object {
  const matching = entries.filter(
    ({ kind, amountCents, reference, createdAt }) =>
      (!filter?.kind || filter.kind.includes(kind)) &&
      (!filter?.createdAfter || createdAt >= filter.createdAfter) &&
      (!filter?.createdBefore || createdAt < filter.createdBefore) &&
      (!filter?.amountCents || Math.abs(amountCents) === filter.amountCents) &&
      (!filter?.reference || reference === filter.reference),
  );
  const newestFirst = [...matching].reverse();
  const placeOf = (cursor: string) => newestFirst.findIndex(({ id }) => id === cursor);
  const end = before ? placeOf(before) : newestFirst.length;
  const from = last ? Math.max(0, end - last) : after ? placeOf(after) + 1 : 0;
  const nodes = newestFirst.slice(from, last ? end : from + (first ?? 50));
  const balanceBefore = (instant = '') =>
    entries.filter(({ createdAt }) => createdAt < instant).at(-1)?.after.balanceCents ?? 1_000_000;
  const history: WalletBucket[] = [980_000, 1_020_000, 1_000_000].map((balanceCents, index) => ({
    endsAt: new Date(FIRST + index * STEP_MS).toISOString(),
    closing: { balanceCents },
  }));
  return {
    ...wallet,
    ...(withHistory && { history }),
    statement: {
      totalCount: matching.length,
      nodes,
      pageInfo: {
        hasNextPage: from + nodes.length < newestFirst.length,
        hasPreviousPage: from > 0,
        startCursor: nodes[0]?.id ?? null,
        endCursor: nodes.at(-1)?.id ?? null,
      },
    },
    closing: {
      opening: { balanceCents: balanceBefore(startsAt) },
      closing: { balanceCents: balanceBefore(endsAt) },
    },
  };
}

/** A payout by its number; 1 is the oldest of `count`. */
export function payoutOf(number: number, count: number): Payout {
  const status = number === count ? 'PENDING' : STATUSES[number % STATUSES.length]!;
  const requested = NEWEST + (number - count) * MINUTE_MS;
  const isFinal = status === 'COMPLETED' || status === 'DENIED';
  return {
    id: `payout-${number}`,
    withdrawalId: number.toString(16).padStart(24, '0'),
    code: `SAQ-${String(number).padStart(6, '0')}`,
    method: (['PIX', 'PIX_TURBO', 'PIX', 'LTC'] as const)[number % 4]!,
    amountCents: 5_000 + ((number * 7_919) % 90_000),
    serviceFeeCents: 100,
    feeCents: 100,
    destination: DESTINATIONS[number % DESTINATIONS.length]!,
    status,
    isFinal,
    deniedReason: status === 'DENIED' ? 'O banco de destino recusou' : null,
    requestedAt: new Date(requested).toISOString(),
    processedAt: isFinal ? new Date(requested + MINUTE_MS).toISOString() : null,
    version: 1,
  };
}

/** A whole payout, as its details have it. */
export function wholePayout(payout: Payout, values: Partial<PayoutDetails> = {}): PayoutDetails {
  const { method, amountCents, serviceFeeCents } = payout;
  return {
    ...payout,
    destinationKind: method === 'LTC' ? 'LTC_ADDRESS' : 'EMAIL',
    netAmountCents: amountCents - (serviceFeeCents ?? 0),
    amountLtc: method === 'LTC' ? '0.12345678' : null,
    externalId: payout.id.replace('payout-', 'PEDIDO-'),
    endToEndId: null,
    returnedAt: null,
    inDoubt: false,
    knownBy: null,
    ...values,
  };
}

/** The totals of payouts by their statuses. */
export function totalsOf(payouts: readonly Payout[], isExact: boolean): PayoutTotals {
  const statuses = [...new Set(payouts.map(({ status }) => status))];
  return {
    isExact,
    groups: statuses.map((status) => {
      const own = payouts.filter((payout) => payout.status === status);
      const amountCents = own.reduce((sum, payout) => sum + payout.amountCents, 0);
      return { status, count: own.length, amountCents };
    }),
  };
}

/** Whether a payout matches a filter, as far as the tests use it. */
export function isSelected(payout: Payout, filter: PayoutFilter | null | undefined): boolean {
  const { status, method, amountCents, requestedAfter, requestedBefore, externalId, reference } =
    filter ?? {};
  return (
    (!status || status.includes(payout.status)) &&
    (!method || method.includes(payout.method)) &&
    (amountCents === undefined || payout.amountCents === amountCents) &&
    (requestedAfter === undefined || payout.requestedAt! >= requestedAfter) &&
    (requestedBefore === undefined || payout.requestedAt! < requestedBefore) &&
    (externalId === undefined || payout.id.replace('payout-', 'PEDIDO-') === externalId) &&
    (reference === undefined || [payout.withdrawalId, payout.code].includes(reference))
  );
}
