import {
  CHECKOUT_SESSION_MS,
  type CreateCardPaymentInput,
  customerOf,
  type SoldProduct,
} from '../card-payments/model.ts';
import { plusMs } from '../kernel/clock.ts';
import { NotFoundError, UpstreamError } from '../kernel/errors.ts';
import type { Cents } from '../kernel/money.ts';
import type { Environment } from '../kernel/tenant.ts';
import type { Balances } from '../ledger/postings.ts';
import { newMembers, type PixChange, type PixRules, pixDecisions } from '../pix/decisions.ts';
import type { AccountSettings } from '../pix/model.ts';
import type { CreatePaymentInput, StoredPayment } from './model.ts';

export const paymentRules: PixRules<StoredPayment> = {
  name: 'payment',
  idOf: ({ paymentId }) => paymentId,
  sharesOf: () => [],
};

const { decideNew } = pixDecisions(paymentRules);

/** The amount and the description of a payment: given, or those of a product. */
export interface Sale {
  amountCents: Cents;
  description: string | null;
}

/** Resolves what is sold. @throws NotFoundError, UpstreamError (the price is unknown) */
export function saleOf(
  { valueCents, description = null }: Pick<CreatePaymentInput, 'valueCents' | 'description'>,
  product: SoldProduct | null,
): Sale {
  if (valueCents != null) return { amountCents: valueCents, description };
  if (!product) throw new NotFoundError('Product not found');
  if (product.priceCents === null)
    throw new UpstreamError('The payments service does not tell what this product costs', {
      retryable: false,
      moneyMayHaveMoved: false,
    });
  return { amountCents: product.priceCents, description: description ?? product.name };
}

/** A new payment, before the bank is asked for its code. @throws UnavailableError (LIMIT_REACHED) */
export function decideCreate(
  input: Pick<
    CreateCardPaymentInput,
    'callbackUrl' | 'customer' | 'metadata' | 'externalId' | 'successUrl' | 'cancelUrl'
  > & { productId?: string | null | undefined },
  { amountCents, description }: Sale,
  {
    paymentId,
    checkoutAttempt,
    environment,
    account,
    balances,
    now,
  }: {
    paymentId: string;
    checkoutAttempt: string | null;
    environment: Environment;
    account: AccountSettings;
    balances: Balances;
    now: Date;
  },
): PixChange<StoredPayment> {
  const payment: StoredPayment = {
    paymentId,
    ...newMembers({
      ...{ amountCents, feeCents: account.pixFeeCents, environment },
      createdAt: now,
      expiresAt: plusMs(now, CHECKOUT_SESSION_MS),
    }),
    method: 'pix',
    description,
    callbackUrl: input.callbackUrl ?? null,
    customer: customerOf(input.customer),
    metadata: input.metadata ?? null,
    externalId: input.externalId ?? null,
    productId: input.productId ?? null,
    successUrl: input.successUrl ?? null,
    cancelUrl: input.cancelUrl ?? null,
    checkoutAttempt,
  };
  return decideNew(payment, { environment, balances });
}
