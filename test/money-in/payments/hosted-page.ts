import type { AddressInfo } from 'node:net';
import { type Brand, type Brands, createBrandRoutes } from '../../../server/src/api/checkout-page/brand.ts';
import { checkoutAssetsRoute } from '../../../server/src/api/checkout-page/pages.ts';
import type { PageLimits } from '../../../server/src/api/http/admission.ts';
import { createClientAddress } from '../../../server/src/api/http/client-address.ts';
import { createHttpServer } from '../../../server/src/api/http/server.ts';
import { brCode } from '../../../server/src/kernel/br-code.ts';
import { type Clock, DAY_MS } from '../../../server/src/kernel/clock.ts';
import type { StoredLtcRequest } from '../../../server/src/money-in/ltc/model.ts';
import { createLtcPage } from '../../../server/src/money-in/ltc/page/view.ts';
import type { StoredPayment } from '../../../server/src/money-in/payments/model.ts';
import type { HostedPix } from '../../../server/src/money-in/pix/model.ts';
import { createPixPageRoutes } from '../../../server/src/money-in/pix/page/routes.ts';
import type { DeliveredContent, ReturnCause } from '../../../server/src/money-in/receiving/model.ts';
import { LOGO } from '../card-payments/hosted-checkout.ts';

export const NOW = new Date('2026-03-10T15:00:00.000Z');

export const PAYMENT_ID = 'psa_0c7d1a5be2f94a3d8e6b7f100c7d1a5b';
export const SUBSCRIPTION_ID = 'psa_sub_0c7d1a5be2f94a3d8e6b7f100c7d1a5b';

/** An address in the form of the simulated network. */
export const LTC_ADDRESS = 'rltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kfq8ma2';
const LITOSHI = 8_149_068;

/** A payment, or a subscription in the form of a payment, as its page gets it. */
export type Hosted = StoredPayment & Pick<HostedPix, 'recurrence'>;

/** A code with the length of the simulated bank's codes. */
export const BR_CODE = brCode({
  url: 'pix.psa.invalid/v2/0c7d1a5be2f94a3d8e6b7f100c7d1a5b',
  amountCents: 4990,
  merchantName: 'Café do Largo',
  merchantCity: 'SAO PAULO',
});

/** A pending PIX payment of R$ 49,90 with 29:41 to go. */
export function aPixPayment(changes: Partial<StoredPayment> = {}): StoredPayment {
  return {
    paymentId: PAYMENT_ID,
    version: 2,
    status: 'pending',
    method: 'pix',
    ltc: null,
    amountCents: 4990,
    feeCents: 120,
    description: 'Assinatura mensal, plano Essencial',
    callbackUrl: 'https://loja.example/aviso-interno',
    customer: { name: 'Maria da Silva', email: 'maria@cliente.example', taxId: '52998224725' },
    metadata: '{"pedido":"interno-77"}',
    externalId: 'numero-interno-1042',
    productId: null,
    successUrl: null,
    cancelUrl: 'https://loja.example/carrinho',
    language: null,
    checkoutAttempt: null,
    orderStatus: null,
    brCode: BR_CODE,
    createdAt: new Date(NOW.getTime() - 19_000),
    expiresAt: new Date(NOW.getTime() + 1_781_000),
    paidAt: null,
    paidLate: false,
    canceledAt: null,
    endToEndId: null,
    refundedAt: null,
    refundedCents: 0,
    refundingCents: 0,
    disputedCents: 0,
    refundCount: 0,
    returned: false,
    keptPayment: null,
    failureReason: null,
    returnedCredits: [],
    ...changes,
  };
}

export function aReturn(cause: ReturnCause, amountCents = 4990, returnedAt: Date | null = NOW) {
  return { endToEndId: 'E00000000202603101500abcdefghijk', amountCents, cause, receivedAt: NOW, returnedAt };
}

/** A pending payment of R$ 49,90 by LTC, before any output. */
export function anLtcPayment(
  changes: Partial<StoredPayment> = {},
  request: Partial<StoredLtcRequest> = {},
): StoredPayment {
  const ltc: StoredLtcRequest = {
    address: LTC_ADDRESS,
    litoshi: LITOSHI,
    receivedLitoshi: 0,
    confirmations: 0,
    requiredConfirmations: 2,
    revision: 1,
    ...request,
  };
  return aPixPayment({ method: 'ltc', brCode: null, ltc, ...changes });
}

/** A subscription of R$ 49,90 a month that waits for its authorisation, with 24 hours to go. */
export function aSubscription(
  changes: Partial<Hosted> = {},
  recurrence: Partial<HostedPix['recurrence']> = {},
): Hosted {
  return {
    ...aPixPayment({ description: 'Clube do café', expiresAt: new Date(NOW.getTime() + DAY_MS) }),
    paymentId: SUBSCRIPTION_ID,
    recurrence: { interval: 'monthly', endsAfterCycles: 12, nextDueAt: null, isOver: false, ...recurrence },
    ...changes,
  };
}

const paid = { status: 'paid', paidAt: NOW, endToEndId: 'E00000000202603101500ABCDEFGHIJK' } as const;
const paidByLtc = { status: 'paid', paidAt: NOW } as const;
const allReceived = { receivedLitoshi: LITOSHI, confirmations: 2 };
const past = new Date(NOW.getTime() - 60_000);

interface HostedState {
  payment: Hosted;
  orderStatus?: 'paid' | 'refunded' | null;
  delivered?: DeliveredContent[];
}

/** Every page of a payment by PIX, by name. */
const PIX_PAGES: Readonly<Record<string, HostedState>> = {
  waiting: { payment: aPixPayment({ brCode: null, version: 1 }) },
  pending: { payment: aPixPayment() },
  'another-amount': { payment: aPixPayment({ returnedCredits: [aReturn('amount_mismatch', 4991, null)] }) },
  expired: { payment: aPixPayment({ status: 'expired', expiresAt: past }) },
  paid: {
    payment: aPixPayment({ ...paid, successUrl: 'https://loja.example/obrigado?pedido=7#topo' }),
  },
  'paid-delivered': {
    payment: aPixPayment(paid),
    delivered: [
      { kind: 'text', status: 'delivered', content: 'Obrigada pela compra!', deliveredAt: NOW },
      { kind: 'link', status: 'delivered', content: 'https://loja.example/curso', deliveredAt: NOW },
      { kind: 'codes', status: 'delivered', content: 'TECE-7Q2M-91XK', deliveredAt: NOW },
      { kind: 'codes', status: 'pending', content: null, deliveredAt: null },
    ],
  },
  'paid-late': { payment: aPixPayment({ ...paid, expiresAt: past, paidLate: true }) },
  'paid-twice': {
    payment: aPixPayment({
      ...paid,
      refundedCents: 990,
      returnedCredits: [1, 2, 3, 4, 5].map((number) => aReturn('already_paid', 4990 + number)),
    }),
  },
  refunded: {
    payment: aPixPayment({
      ...paid,
      status: 'refunded',
      refundedAt: new Date(NOW.getTime() + 86_400_000),
      refundedCents: 4990,
    }),
  },
  failed: {
    payment: aPixPayment({
      status: 'failed',
      brCode: null,
      failureReason: 'Chave da conta interna bloqueada',
    }),
  },
  'paid-elsewhere': {
    payment: aPixPayment({ returnedCredits: [aReturn('paid_elsewhere')] }),
    orderStatus: 'paid',
  },
  'order-refunded': { payment: aPixPayment(), orderStatus: 'refunded' },
};

/** Every page of a payment by LTC, by name. */
const LTC_PAGES: Readonly<Record<string, HostedState>> = {
  'ltc-waiting': { payment: anLtcPayment({ version: 1 }, { address: null }) },
  'ltc-pending': { payment: anLtcPayment() },
  'ltc-part': { payment: anLtcPayment({}, { receivedLitoshi: 8_000_000 }) },
  'ltc-confirming': { payment: anLtcPayment({}, { receivedLitoshi: LITOSHI, confirmations: 1 }) },
  'ltc-expired': { payment: anLtcPayment({ status: 'expired', expiresAt: past }) },
  'ltc-paid': {
    payment: anLtcPayment({ ...paidByLtc, successUrl: 'https://loja.example/obrigado' }, allReceived),
  },
  'ltc-paid-late': { payment: anLtcPayment({ ...paidByLtc, expiresAt: past, paidLate: true }, allReceived) },
  'ltc-paid-delivered': {
    payment: anLtcPayment(paidByLtc, allReceived),
    delivered: [{ kind: 'codes', status: 'delivered', content: 'TECE-7Q2M-91XK', deliveredAt: NOW }],
  },
  'ltc-failed': { payment: anLtcPayment({ status: 'failed', expiresAt: past }) },
  'ltc-failed-part': {
    payment: anLtcPayment({ status: 'failed', expiresAt: past }, { receivedLitoshi: 8_000_000 }),
  },
  'ltc-paid-elsewhere': { payment: anLtcPayment(), orderStatus: 'paid' },
};

/** Every page of a subscription, by name. */
const RECURRENCE_PAGES: Readonly<Record<string, HostedState>> = {
  'recurrence-waiting': { payment: aSubscription({ brCode: null, version: 1 }) },
  'recurrence-pending': { payment: aSubscription() },
  'recurrence-another-amount': {
    payment: aSubscription({ returnedCredits: [aReturn('amount_mismatch', 4991, null)] }),
  },
  'recurrence-expired': {
    payment: aSubscription({ status: 'expired', expiresAt: past, returnedCredits: [aReturn('not_payable')] }),
  },
  'recurrence-refused-expired': { payment: aSubscription({ status: 'expired', brCode: null }) },
  'recurrence-authorised': {
    payment: aSubscription(
      { ...paid, successUrl: 'https://loja.example/obrigado' },
      { nextDueAt: new Date(NOW.getTime() + 31 * DAY_MS) },
    ),
  },
  'recurrence-over': { payment: aSubscription(paid, { isOver: true }) },
  'recurrence-canceled': { payment: aSubscription({ status: 'failed', brCode: null }) },
};

/** Every page of a resource that a PIX code or LTC pays, by name. */
export const PAGES: Readonly<Record<string, HostedState>> = {
  ...PIX_PAGES,
  ...LTC_PAGES,
  ...RECURRENCE_PAGES,
};

/** The pages on which the payer can pay, with the label of the copied text. */
export const PAYABLE: Readonly<Record<string, 'PIX Copia e Cola' | 'Endereço LTC'>> = {
  pending: 'PIX Copia e Cola',
  'another-amount': 'PIX Copia e Cola',
  'ltc-pending': 'Endereço LTC',
  'ltc-part': 'Endereço LTC',
  'recurrence-pending': 'PIX Copia e Cola',
  'recurrence-another-amount': 'PIX Copia e Cola',
};

const UNLIMITED: PageLimits = {
  take: () => undefined,
  putBack: () => undefined,
  takeForm: () => undefined,
};

/** Serves the page by a real server, with a checkout that holds one payment in memory. */
export async function servePixPage({
  payment = aPixPayment() as Hosted,
  merchantName = 'Café do Largo',
  orderStatus = null,
  delivered = [],
  isTest = true,
  publicUrl = 'https://pay.example',
  limits = UNLIMITED,
  brand = null,
}: {
  payment?: Hosted;
  merchantName?: string;
  orderStatus?: 'paid' | 'refunded' | null;
  delivered?: readonly DeliveredContent[];
  isTest?: boolean;
  publicUrl?: string;
  limits?: PageLimits;
  brand?: Brand | null;
} = {}) {
  const state = { payment, orderStatus, delivered, now: NOW, asksOfBank: 0, faults: [] as unknown[] };
  const clock: Clock = {
    now: () => state.now,
    ms: () => state.now.getTime(),
    schedule: () => () => undefined,
  };
  const brands: Brands = {
    brandOf: async () => brand,
    logoOf: async (hash) => (hash === brand?.logoHash ? LOGO : null),
  };
  const http = createHttpServer({ onFault: (error) => state.faults.push(error) });
  const pages = createPixPageRoutes({
    checkout: {
      async open(paymentId, { asksBank } = { asksBank: false }) {
        if (asksBank) state.asksOfBank += 1;
        if (paymentId !== state.payment.paymentId) return null;
        return {
          accountId: 'acc_one',
          payment: { ...state.payment, id: paymentId },
          merchantName,
          orderStatus: state.orderStatus,
          delivered: state.delivered,
        };
      },
    },
    clock,
    publicUrl,
    isTest,
    limits,
    brands,
    addressOf: createClientAddress([]),
    others: [createLtcPage({ isTest })],
  });
  http.serve([
    checkoutAssetsRoute(),
    ...createBrandRoutes({ brands, addressOf: createClientAddress([]), limits }),
    ...pages,
  ]);
  await http.listen(0, '127.0.0.1');
  const { port } = http.server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    state,
    origin,
    pageUrl: `${origin}/checkout/${payment.paymentId}`,
    async [Symbol.asyncDispose]() {
      http.server.closeAllConnections();
      await http.close();
    },
  };
}
