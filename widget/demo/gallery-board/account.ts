// The account that the gallery shows: a shop after a busy Saturday.
import type { WholeDispute } from '../../src/disputes/operations.ts';
import type { PayoutDetails } from '../../src/payouts/operations.ts';
import type { SaleDetails } from '../../src/sales/operations.ts';
import type { WholeEntry } from '../../src/statement/operations.ts';
import type { Wallet, WalletBucket } from '../../src/wallet/operations.ts';

const NOW = Date.parse('2026-03-14T17:42:00.000Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const before = (minutes: number) => new Date(NOW - minutes * MINUTE_MS).toISOString();

const PEOPLE = [
  'Ana Souza',
  'João Batista de Albuquerque Cavalcanti',
  'Marina Lopes',
  'Caetano Prado',
  'Íris Nogueira',
  'Tainá Ferreira',
];
const PRODUCTS = [
  'Rede de algodão Mantiqueira',
  'Caneca da serra',
  'Café Catuaí, 250 g',
  'Conjunto de jantar em cerâmica pintada à mão, 24 peças, com travessa e molheira',
];
const at = <Item>(items: readonly Item[], number: number): Item => items[number % items.length] as Item;
const customerOf = (number: number) => ({
  name: at(PEOPLE, number),
  email: `${at(PEOPLE, number).split(' ')[0]?.toLowerCase()}@psa.example`,
  externalId: null,
  taxId: '***.456.789-**',
});

// ── Sales ───────────────────────────────────────────────────────────────────────────────────────

const SALES: readonly Partial<SaleDetails>[] = [
  { method: 'PIX', status: 'PENDING', amountCents: 18_900 },
  { method: 'CARD', status: 'PAID', amountCents: 4_990 },
  { method: 'PIX', status: 'PAID', amountCents: 129_900, refundedCents: 20_000 },
  { method: 'LTC', status: 'PAID', amountCents: 6_450 },
  {
    method: 'CARD',
    status: 'FAILED',
    amountCents: 18_900,
    failureReason: 'Cartão recusado pelo banco emissor',
  },
  { method: 'PIX', status: 'EXPIRED', amountCents: 4_990 },
  { method: 'CARD', status: 'REFUNDED', amountCents: 9_980 },
  { method: 'PIX', status: 'EXPIRED', amountCents: 18_900, canceledAt: before(300) },
  { method: 'PIX', status: 'PAID', amountCents: 1_250_000_00 },
];

function saleOf(given: Partial<SaleDetails>, number: number): SaleDetails {
  const minutes = 4 + number * 47;
  const { method = 'PIX', status = 'PAID', amountCents = 0, refundedCents = 0 } = given;
  const isCard = method === 'CARD';
  const isPaid = status === 'PAID' || status === 'REFUNDED';
  const givenBackCents = status === 'REFUNDED' ? amountCents : (refundedCents ?? 0);
  const serviceFeeCents = method === 'PIX' ? 80 : 0;
  return {
    __typename: isCard ? 'CardPayment' : 'Payment',
    id: `sale-${number}`,
    reference: isCard
      ? `PSC-TKDQ8J76ZGXA6VWCSTP6${1001 + number}`
      : `psa_3f9c0b7e52d84a16b0e7c1d94f8a${1001 + number}`,
    method,
    status,
    isFinal: status === 'REFUNDED' || status === 'FAILED',
    amountCents,
    refundedCents: givenBackCents,
    description: at(PRODUCTS, number),
    customer: customerOf(number),
    canceledAt: null,
    createdAt: before(minutes),
    version: 1,
    orderId: `PEDIDO-${4_120 - number}`,
    serviceFeeCents,
    netAmountCents: amountCents - serviceFeeCents,
    refundableCents: status === 'PAID' && method !== 'LTC' ? amountCents - givenBackCents : 0,
    otherPaidCents: null,
    expiresAt: before(minutes - 30),
    paidAt: isPaid ? before(minutes - 2) : null,
    paidLate: false,
    refundedAt: null,
    failureReason: null,
    unresolved: false,
    refunds: givenBackCents
      ? [
          {
            refundId: 'ref_6b1e',
            amountCents: givenBackCents,
            status: 'COMPLETED',
            reason: 'Chegou quebrada',
            failureReason: null,
            createdAt: before(minutes - 20),
            completedAt: before(minutes - 21),
            failedAt: null,
          },
        ]
      : [],
    disputes: [],
    ...given,
  };
}

// ── Payouts ─────────────────────────────────────────────────────────────────────────────────────

const PAYOUTS: readonly Partial<PayoutDetails>[] = [
  { status: 'PENDING', amountCents: 250_000 },
  {
    status: 'PROCESSING',
    method: 'PIX_TURBO',
    amountCents: 90_000,
    destination: '+55******4321',
    destinationKind: 'PHONE',
  },
  {
    status: 'PROCESSING',
    amountCents: 61_300,
    code: null,
    withdrawalId: null,
    serviceFeeCents: null,
    netAmountCents: null,
    inDoubt: true,
    knownBy: before(-20),
  },
  { status: 'COMPLETED', amountCents: 1_800_000, endToEndId: 'E9999999920260314152100000000A1' },
  { status: 'DENIED', amountCents: 43_210, deniedReason: 'O banco de destino recusou a transferência' },
  { status: 'DENIED', amountCents: 7_700, deniedReason: 'Conta encerrada pelo titular' },
  {
    status: 'COMPLETED',
    method: 'LTC',
    amountCents: 52_000,
    amountLtc: '1.04182731',
    destination: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
    destinationKind: 'LTC_ADDRESS',
  },
  { status: 'RETURNED', amountCents: 99_900, returnedAt: before(30) },
];

function payoutOf(given: Partial<PayoutDetails>, number: number): PayoutDetails {
  const minutes = 3 + number * 61;
  const isFinal = !['PENDING', 'PROCESSING'].includes(given.status ?? '');
  return {
    id: `payout-${number}`,
    withdrawalId: (0x65f3_1c00 + number).toString(16).padStart(24, '0'),
    code: `SAQ-${String(812 - number).padStart(6, '0')}`,
    method: 'PIX',
    amountCents: 0,
    serviceFeeCents: 100,
    feeCents: 100,
    destination: 'va***@psa.example',
    status: 'COMPLETED',
    isFinal,
    deniedReason: null,
    requestedAt: before(minutes),
    processedAt: isFinal ? before(minutes - 1) : null,
    version: 1,
    destinationKind: 'EMAIL',
    netAmountCents: (given.amountCents ?? 0) - 100,
    amountLtc: null,
    externalId: number % 2 ? null : `REPASSE-${90 - number}`,
    endToEndId: null,
    returnedAt: null,
    inDoubt: false,
    knownBy: null,
    ...given,
  };
}

// ── The statement ───────────────────────────────────────────────────────────────────────────────

const ENTRIES: readonly Partial<WholeEntry>[] = [
  { kind: 'PAYOUT', amountCents: -1_800_000, serviceFeeCents: 100, reference: 'SAQ-000809' },
  {
    kind: 'PAYMENT',
    amountCents: 129_820,
    serviceFeeCents: 80,
    reference: 'psa_3f9c0b7e52d84a16b0e7c1d94f8a1003',
  },
  { kind: 'REFUND', amountCents: -20_000, reference: 'psa_3f9c0b7e52d84a16b0e7c1d94f8a1003' },
  {
    kind: 'CARD_RELEASE',
    amountCents: 4_990,
    pendingReleaseDeltaCents: -4_990,
    reference: 'PSC-TKDQ8J76ZGXA6VWCSTP61002',
  },
  {
    kind: 'DISPUTE_HOLD',
    amountCents: 0,
    disputeBlockedDeltaCents: 18_900,
    reference: 'psa_3f9c0b7e52d84a16b0e7c1d94f8a1001',
  },
  {
    kind: 'LTC_CREDIT',
    amountCents: 0,
    cryptoDeltaLtc: '0.13204100',
    reference: 'psa_3f9c0b7e52d84a16b0e7c1d94f8a1004',
  },
  {
    kind: 'SUBACCOUNT_TRANSFER',
    amountCents: 0,
    subaccountsDeltaCents: 30_000,
    reference: 'sub_41',
    subaccountId: 'sub_41',
  },
  { kind: 'PAYOUT_RETURN', amountCents: 99_900, serviceFeeCents: -100, reference: 'SAQ-000805' },
];

function resourceOf({ kind, reference }: Partial<WholeEntry>, number: number): WholeEntry['resource'] {
  const { name, email } = customerOf(number);
  const sale = {
    __typename: 'Payment',
    code: reference ?? '',
    description: at(PRODUCTS, number),
    orderId: `PEDIDO-${4_120 - number}`,
    customer: { name, email },
  };
  if (kind === 'REFUND')
    return { __typename: 'Refund', code: 'ref_6b1e', reason: 'Chegou quebrada', of: sale };
  if (kind === 'DISPUTE_HOLD') return { __typename: 'Dispute', code: 'dp_7c20', of: sale };
  if (kind === 'SUBACCOUNT_TRANSFER')
    return { __typename: 'Subaccount', code: 'sub_41', name: 'Ateliê da Íris' };
  if (kind?.startsWith('PAYOUT'))
    return {
      __typename: 'Payout',
      payoutCode: reference ?? null,
      withdrawalId: '000000000000000065f31c03',
      destination: 'va***@psa.example',
    };
  return sale;
}

/** The entries, newest first, with the balance after each. */
function createEntries(balanceCents: number): WholeEntry[] {
  let after = balanceCents;
  return ENTRIES.map((given, number) => {
    const entry: WholeEntry = {
      id: `entry-${number}`,
      kind: 'PAYMENT',
      amountCents: 0,
      serviceFeeCents: 0,
      pendingReleaseDeltaCents: 0,
      disputeBlockedDeltaCents: 0,
      subaccountsDeltaCents: 0,
      receivableDeltaCents: 0,
      cryptoDeltaLtc: '0',
      reference: null,
      subaccountId: null,
      createdAt: before(5 + number * 290),
      resource: resourceOf(given, number),
      unexplainedCents: 0,
      ...given,
      after: {
        balanceCents: after,
        pendingReleaseCents: 45_020,
        disputeBlockedCents: 18_900,
        subaccountsBalanceCents: 30_000,
        receivableCents: 0,
        cryptoBalanceLtc: '2.31000000',
      },
    };
    after -= entry.amountCents;
    return entry;
  });
}

// ── Disputes ────────────────────────────────────────────────────────────────────────────────────

const DISPUTES: readonly (Partial<WholeDispute> & { dueInHours: number })[] = [
  { status: 'OPEN', reason: 'FRAUD', amountCents: 18_900, dueInHours: 7 },
  { status: 'OPEN', reason: 'OPERATIONAL_ERROR', amountCents: 129_900, dueInHours: 75 },
  {
    status: 'UNDER_REVIEW',
    reason: 'FRAUD',
    amountCents: 9_980,
    dueInHours: 120,
    submissions: [
      {
        text: 'Segue a nota fiscal, com a entrega assinada.',
        documents: [],
        fileIds: [],
        submittedAt: before(900),
      },
    ],
  },
  { status: 'WON', reason: 'FRAUD', amountCents: 4_990, dueInHours: -200, closedAt: before(2_000) },
  {
    status: 'LOST',
    reason: 'UNKNOWN',
    amountCents: 6_450,
    dueInHours: -400,
    closedAt: before(9_000),
    acceptedAt: before(9_000),
  },
];

function disputeOf({ dueInHours, ...given }: (typeof DISPUTES)[number], number: number): WholeDispute {
  const { submissions = [], amountCents = 0, status } = given;
  const isOpen = status === 'OPEN' || status === 'UNDER_REVIEW';
  return {
    id: `dispute-${number}`,
    disputeId: `dp_7c2${number}`,
    status: 'OPEN',
    reason: 'FRAUD',
    amountCents,
    blockedCents: isOpen ? amountCents : 0,
    evidenceDueAt: new Date(NOW + dueInHours * HOUR_MS).toISOString(),
    evidenceDueInSeconds: Math.max(0, dueInHours * 3_600),
    evidence: submissions.map(({ submittedAt }) => ({ submittedAt })),
    files: [],
    of: {
      reference: `psa_3f9c0b7e52d84a16b0e7c1d94f8a${1001 + number}`,
      method: number % 2 ? 'CARD' : 'PIX',
      description: at(PRODUCTS, number),
      orderId: `PEDIDO-${4_120 - number}`,
      customer: { name: at(PEOPLE, number) },
    },
    createdAt: before(600 + number * 1_500),
    closedAt: null,
    acceptedAt: null,
    isFinal: status === 'WON',
    version: 1,
    submissions,
    ...given,
  };
}

// ── The account ─────────────────────────────────────────────────────────────────────────────────

const BALANCE_CENTS = 2_487_300;

export interface Account {
  wallet: Wallet;
  history: WalletBucket[];
  sales: readonly SaleDetails[];
  payouts: readonly PayoutDetails[];
  entries: readonly WholeEntry[];
  disputes: readonly WholeDispute[];
}

export const FULL: Account = {
  wallet: {
    balanceCents: BALANCE_CENTS,
    withdrawableCents: 2_438_400,
    pendingReleaseCents: 45_020,
    disputeBlockedCents: 18_900,
    subaccountsBalanceCents: 30_000,
    receivableCents: 0,
    cryptoBalanceLtc: '2.31000000',
    sandbox: false,
  },
  history: [14, 15, 13, 17, 19, 18, 22, 24, 21, 23, 26, 24.873].map((thousands, day, all) => ({
    endsAt: before((all.length - 1 - day) * 24 * 60),
    closing: { balanceCents: Math.round(thousands * 100_000) },
  })),
  sales: SALES.map(saleOf),
  payouts: PAYOUTS.map(payoutOf),
  entries: createEntries(BALANCE_CENTS),
  disputes: DISPUTES.map(disputeOf),
};

/** An account that was opened today, in the sandbox. */
export const EMPTY: Account = {
  wallet: {
    balanceCents: 0,
    withdrawableCents: 0,
    pendingReleaseCents: 0,
    disputeBlockedCents: 0,
    subaccountsBalanceCents: 0,
    receivableCents: 0,
    cryptoBalanceLtc: '0.00000000',
    sandbox: true,
  },
  history: [],
  sales: [],
  payouts: [],
  entries: [],
  disputes: [],
};
