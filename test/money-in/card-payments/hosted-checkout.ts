import type { AddressInfo } from 'node:net';
import { type Brand, type Brands, createBrandRoutes } from '../../../server/src/api/checkout-page/brand.ts';
import { checkoutAssetsRoute } from '../../../server/src/api/checkout-page/pages.ts';
import type { PageLimits } from '../../../server/src/api/http/admission.ts';
import { createClientAddress } from '../../../server/src/api/http/client-address.ts';
import { createHttpServer } from '../../../server/src/api/http/server.ts';
import type { Clock } from '../../../server/src/kernel/clock.ts';
import { NotFoundError, type OutageError } from '../../../server/src/kernel/errors.ts';
import type {
  CardDetails,
  HostedCheckout,
  PayResult,
} from '../../../server/src/money-in/card-payments/hosted-checkout.ts';
import type { StoredCardPayment } from '../../../server/src/money-in/card-payments/model.ts';
import { createCheckoutRoutes } from '../../../server/src/money-in/card-payments/page/routes.ts';
import type { DeliveredContent } from '../../../server/src/money-in/receiving/model.ts';
import { TEST_CARDS } from '../../../server/src/rails/simulated/acquirer.ts';

export const NOW = new Date('2026-03-10T15:00:00.000Z');

/** A pending payment of R$ 49,90 with 29:41 to go. */
export function aPayment(changes: Partial<StoredCardPayment> = {}): StoredCardPayment {
  return {
    orderCode: 'PSC-0123456789ABCDEFGHJKMNPQ',
    version: 1,
    status: 'pending',
    amountCents: 4990,
    description: 'Assinatura mensal, plano Essencial',
    callbackUrl: null,
    customer: null,
    metadata: null,
    externalId: null,
    productId: null,
    successUrl: null,
    cancelUrl: 'https://loja.example/carrinho',
    language: null,
    checkoutAttempt: null,
    orderStatus: null,
    openChargeId: null,
    paidChargeId: null,
    declinedCharges: 0,
    createdAt: new Date(NOW.getTime() - 19_000),
    expiresAt: new Date(NOW.getTime() + 1_781_000),
    paidAt: null,
    paidLate: false,
    releasedAt: null,
    refundedAt: null,
    canceledAt: null,
    refundedCents: 0,
    refundingCents: 0,
    disputedCents: 0,
    refundCount: 0,
    returned: false,
    keptPayment: null,
    failureReason: null,
    ...changes,
  };
}

type Answer = (payment: StoredCardPayment, card: CardDetails, address?: string | null) => Promise<PayResult>;

/** A logo of one pixel. */
export const LOGO = {
  type: 'image/png',
  bytes: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
};

const UNLIMITED: PageLimits = {
  take: () => undefined,
  putBack: () => undefined,
  takeForm: () => undefined,
};

/** Serves the page by a real server, with a checkout that holds one payment in memory and answers as a test says. */
export async function servePage({
  payment = aPayment(),
  merchantName = 'Café do Largo',
  orderStatus = null,
  delivered = [],
  answer = approve,
  testCards = TEST_CARDS,
  publicUrl = 'https://pay.example',
  limits = UNLIMITED,
  brand = null,
}: {
  payment?: StoredCardPayment;
  merchantName?: string;
  orderStatus?: 'paid' | 'refunded' | null;
  delivered?: readonly DeliveredContent[];
  answer?: Answer;
  testCards?: typeof TEST_CARDS | null;
  publicUrl?: string;
  limits?: PageLimits;
  brand?: Brand | null;
} = {}) {
  const state = {
    payment,
    orderStatus,
    delivered,
    answer,
    charged: [] as CardDetails[],
    faults: [] as unknown[],
    /** The failure of each later read of the payment. */
    outage: null as OutageError | null,
    now: NOW,
  };
  const clock: Clock = {
    now: () => state.now,
    ms: () => state.now.getTime(),
    schedule: () => () => undefined,
  };
  const checkout: HostedCheckout = {
    async open(orderCode) {
      if (state.outage) throw state.outage;
      return orderCode === state.payment.orderCode
        ? {
            accountId: 'acc_one',
            payment: state.payment,
            merchantName,
            orderStatus: state.orderStatus,
            delivered: state.delivered,
          }
        : null;
    },
    cardRefusal: (number) => (testCards && !testCards[number] ? 'test_cards_only' : null),
    pay(orderCode, card, address) {
      if (orderCode !== state.payment.orderCode) return Promise.reject(new NotFoundError('No such payment'));
      state.charged.push(card);
      return state.answer(state.payment, card, address).then((result) => {
        state.payment = result.payment;
        return result;
      });
    },
  };
  const brands: Brands = {
    brandOf: async () => brand,
    logoOf: async (hash) => (hash === brand?.logoHash ? LOGO : null),
  };
  const http = createHttpServer({ onFault: (error) => state.faults.push(error) });
  const addressOf = createClientAddress([]);
  http.serve([
    checkoutAssetsRoute(),
    ...createBrandRoutes({ brands, addressOf: createClientAddress([]), limits }),
    ...createCheckoutRoutes({ checkout, clock, publicUrl, testCards, addressOf, limits, brands }),
  ]);
  await http.listen(0, '127.0.0.1');
  const { port } = http.server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    state,
    origin,
    pageUrl: `${origin}/checkout/${payment.orderCode}`,
    async [Symbol.asyncDispose]() {
      http.server.closeAllConnections();
      await http.close();
    },
  };
}

export async function approve(payment: StoredCardPayment): Promise<PayResult> {
  return {
    kind: 'paid',
    payment: { ...payment, status: 'paid', version: 2, paidAt: NOW, paidChargeId: 'charge' },
  };
}

export async function decline(payment: StoredCardPayment): Promise<PayResult> {
  const declined = { ...payment, declinedCharges: payment.declinedCharges + 1 };
  return { kind: 'declined', reason: 'Saldo insuficiente', payment: declined };
}

export async function leaveOpen(payment: StoredCardPayment): Promise<PayResult> {
  return { kind: 'processing', payment: { ...payment, openChargeId: 'charge' } };
}

export async function fail(payment: StoredCardPayment): Promise<PayResult> {
  const failureReason = 'Pagamento bloqueado por suspeita de fraude';
  return { kind: 'failed', payment: { ...payment, status: 'failed', version: 2, failureReason } };
}

/** Every state of a payment with a page of its own, by name. */
export const PAGES: Readonly<Record<string, StoredCardPayment>> = {
  form: aPayment(),
  processing: aPayment({ openChargeId: 'charge' }),
  paid: aPayment({ status: 'paid', paidAt: NOW, successUrl: 'https://loja.example/obrigado?pedido=7#topo' }),
  failed: aPayment({ status: 'failed', failureReason: 'Pagamento bloqueado por suspeita de fraude' }),
  expired: aPayment({ status: 'expired', expiresAt: new Date(NOW.getTime() - 60_000) }),
  refunded: aPayment({ status: 'refunded', paidAt: NOW, refundedAt: new Date(NOW.getTime() + 86_400_000) }),
  returned: aPayment({ status: 'failed', returned: true, failureReason: 'paid_elsewhere' }),
};

export const GOOD_CARD = {
  number: '4242 4242 4242 4242',
  holder: 'Maria da Silva',
  expiry: '12/29',
  cvv: '123',
};
