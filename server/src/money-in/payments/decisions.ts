import { plusMs } from '../../kernel/clock.ts';
import { ValidationError } from '../../kernel/errors.ts';
import { type Cents, DUST_LITOSHI, ltcText, reaisText } from '../../kernel/money.ts';
import type { Environment } from '../../kernel/tenant.ts';
import type { Balances } from '../../state/ledger/postings.ts';
import {
  CHECKOUT_SESSION_MS,
  type CheckoutDetails,
  customerOf,
  type SoldProduct,
  soldNow,
} from '../checkout/model.ts';
import { decideNew as decideNewLtc, type LtcChange, newRequest } from '../ltc/decisions.ts';
import { newMembers, type PixChange, type PixRules, pixDecisions } from '../pix/decisions.ts';
import type { AccountSettings as PixSettings, ShownElsewhere } from '../pix/model.ts';
import { NOT_RETURNED } from '../receiving/model.ts';
import type { CreatePaymentInput, StoredPayment } from './model.ts';

export const paymentRules: PixRules<StoredPayment> = {
  name: 'payment',
  idOf: ({ paymentId }) => paymentId,
  beside: (payment, kept) => ({ ...payment, ...kept }),
  sharesOf: () => [],
};

export const paymentDecisions = pixDecisions(paymentRules);

/** The amount and the description of a payment: given ones, or those of a product. */
export interface Sale {
  amountCents: Cents;
  description: string | null;
}

/** Resolves the sale of a payment. @throws NotFoundError, UpstreamError (the price is unknown) */
export function saleOf(
  { valueCents, description = null }: Pick<CreatePaymentInput, 'valueCents' | 'description'>,
  product: SoldProduct | null,
): Sale {
  if (valueCents != null) return { amountCents: valueCents, description };
  const { name, priceCents } = soldNow(product);
  return { amountCents: priceCents, description: description ?? name };
}

/** The members of a request that a new payment takes over. */
type PaymentDetails = Pick<
  CheckoutDetails,
  'callbackUrl' | 'customer' | 'metadata' | 'externalId' | 'successUrl' | 'cancelUrl' | 'language'
> & { productId?: string | null | undefined };

interface Creation {
  paymentId: string;
  checkoutAttempt: string | null;
  environment: Environment;
  account: PixSettings;
  balances: Balances;
  now: Date;
}

/** A new payment by PIX, before the bank is asked for its code. @throws PreconditionError (LIMIT_REACHED) */
export function decideCreate(
  input: PaymentDetails,
  sale: Sale,
  creation: Creation,
): PixChange<StoredPayment> {
  const { environment, balances } = creation;
  return paymentDecisions.decideNew(newPayment(input, sale, creation, creation.account.pixFeeCents), {
    environment,
    balances,
  });
}

/**
 * A new payment by LTC, before the network is asked for its address. `litoshi` is the quote of the amount,
 * which holds until the payment expires.
 * @throws ValidationError (less than the network carries), PreconditionError (LIMIT_REACHED)
 */
export function decideCreateLtc(
  input: PaymentDetails,
  sale: Sale,
  creation: Omit<Creation, 'account'> & { litoshi: number },
): LtcChange<StoredPayment> {
  // The merchant gets all LTC: a fee in reais would be taken from a balance that LTC does not change.
  const payment = newPayment(input, sale, creation, 0);
  const { amountCents } = sale;
  const { litoshi } = creation;
  if (litoshi < DUST_LITOSHI)
    throw new ValidationError([
      {
        path: `input.${input.productId == null ? 'valueCents' : 'productId'}`,
        message: `must be worth at least ${ltcText(DUST_LITOSHI)} LTC, the least that the network carries; ${reaisText(amountCents)} is ${ltcText(litoshi)} LTC`,
      },
    ]);
  return decideNewLtc(
    { ...payment, method: 'ltc', ltc: newRequest({ amountCents, litoshi }) },
    creation.balances,
  );
}

/** A payment with every member that is stored, also those that a snapshot may lack. */
type NewPayment = StoredPayment & Required<Omit<StoredPayment, ShownElsewhere>>;

function newPayment(
  input: PaymentDetails,
  { amountCents, description }: Sale,
  { paymentId, checkoutAttempt, environment, now }: Omit<Creation, 'account'>,
  feeCents: Cents,
): NewPayment {
  return {
    paymentId,
    ...newMembers({
      amountCents,
      feeCents,
      environment,
      createdAt: now,
      expiresAt: plusMs(now, CHECKOUT_SESSION_MS),
    }),
    method: 'pix',
    ltc: null,
    description,
    callbackUrl: input.callbackUrl ?? null,
    customer: customerOf(input.customer),
    metadata: input.metadata ?? null,
    externalId: input.externalId ?? null,
    productId: input.productId ?? null,
    subscriptionId: null,
    successUrl: input.successUrl ?? null,
    cancelUrl: input.cancelUrl ?? null,
    language: input.language ?? null,
    ...NOT_RETURNED,
    checkoutAttempt,
    orderStatus: null,
  };
}
