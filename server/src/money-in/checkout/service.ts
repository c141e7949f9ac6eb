import { type CheckoutGrant, orderTokenOf } from '../../kernel/caller.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import type { Cents } from '../../kernel/money.ts';
import { orderStatusOf } from '../../kernel/orders.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import {
  type Change,
  type Collection,
  type Committer,
  put,
  type State,
  type Writes,
} from '../../state/commit/commit.ts';
import { readReplay, remember, replayed } from '../../state/commit/idempotency.ts';
import type { OrderPayment, OrderPayments } from '../../state/commit/orders.ts';
import {
  assertOrderOpen,
  assertTokenFree,
  type CheckoutPayment,
  checkoutAmount,
  checkoutAttemptOf,
  customerOf,
  grantAtStart,
  grantOfOpen,
  isOpen,
  joins,
  type KnownAmount,
  type SoldProduct,
  type StartCheckoutInput,
  type StartedCheckout,
} from './model.ts';

/** Products that payments and checkout tokens sell, by id; `product` is null if it has been deleted. */
export type ProductCollection = Collection<{ id: string; product: SoldProduct | null }>;

/** A payment that a checkout starts, before its method makes it. */
interface CheckoutStart<Account> {
  tenant: Tenant;
  /** The id of the new payment. */
  id: string;
  checkoutAttempt: string;
  account: Account;
  grant: CheckoutGrant & { amount: KnownAmount };
  valueCents: Cents;
  /** The customer that the page named, or else the token's. */
  customer: CheckoutGrant['customer'];
  productId: string | null;
  state: State;
}

/** The payments of one method, as checkout tokens start them. */
interface CheckoutMethodRules<P extends CheckoutPayment, Use, Account> {
  /** The scope of the attempt ids: each method has its own payment for one id. */
  scope: string;
  payments: Collection<P>;
  /** The last payment of each single-use token. */
  uses: Collection<Use>;
  idOf(of: P | Use): string;
  useOf(tokenId: string, id: string): Use;
  newId(): string;
  /** The payments of an order by each method, this method first. */
  paymentMethods: readonly [OrderPayments, ...OrderPayments[]];
  /** @throws PreconditionError if the account takes no payments by this method */
  assertAvailable(tenant: Tenant, account: Account): void;
  /** @throws PreconditionError if another payment of the same attempt prevents a start */
  assertStartable?(paymentsOfAttempt: readonly OrderPayment[]): void;
  /** Makes the payment. */
  decide(start: CheckoutStart<Account>): { payment: P; writes: Writes & { records: Change[] } };
}

/**
 * Creates the function that makes the payment of a checkout, or finds the payment of an earlier start, which
 * it joins.
 */
export function createCheckoutStart<P extends CheckoutPayment, Use, Account>(
  {
    committer,
    accounts,
    products,
  }: { committer: Committer; accounts: Collection<Account>; products: ProductCollection },
  rules: CheckoutMethodRules<P, Use, Account>,
) {
  const { payments, uses, idOf, paymentMethods } = rules;
  return (
    tenant: Tenant,
    token: { id: string; grant: CheckoutGrant },
    input: StartCheckoutInput,
  ): Promise<StartedCheckout<P>> => {
    // Each token has a scope of its own, so that attempt ids of two tokens' pages never collide. Tokens of
    // one order share a scope, so that a page with a newer token finds its payment again.
    const tokenId = orderTokenOf(token);
    const operation = `${rules.scope}:${tokenId}`;
    const { attemptId, ...rest } = input;
    const inputHash = hashInput(rest);
    const { amount, reusable, externalId = null } = token.grant;
    const productId = amount.kind === 'product' ? amount.productId : null;
    const checkoutAttempt = checkoutAttemptOf(tokenId, token.grant, attemptId);
    const order = { checkoutAttempt, externalId, tokenId: reusable ? null : tokenId };
    const id = rules.newId();
    return committer.change<StartedCheckout<P>>({
      tenant,
      read: (reader) =>
        Promise.all([
          reader.load(accounts, tenant.accountId),
          productId !== null && reader.load(products, productId),
          readReplay(reader, operation, attemptId, (made) => reader.load(payments, made)),
          reader.load(uses, tokenId).then((use) => use && reader.load(payments, idOf(use))),
          ...paymentMethods.map((method) => method.read(reader, order)),
          paymentMethods[0].readOpen(reader, order),
        ]),
      decide(state) {
        const account = state.need(accounts, tenant.accountId);
        rules.assertAvailable(tenant, account);
        const before = replayed(state, operation, attemptId, inputHash);
        if (before !== null) return { outcome: { payment: state.need(payments, before), replayed: true } };

        const use = reusable ? null : state.get(uses, tokenId);
        const last = use && state.need(payments, idOf(use));
        const sold = productId === null ? null : (state.get(products, productId)?.product ?? null);
        const grant = last && isOpen(last) ? grantOfOpen(token.grant, last) : grantAtStart(token.grant, sold);
        const valueCents = checkoutAmount(grant, input.valueCents);
        const paymentsOfOrder = paymentMethods.flatMap((method) => method.paymentsOf(state, order));
        assertOrderOpen(orderStatusOf(paymentsOfOrder));
        rules.assertStartable?.(paymentsOfOrder.filter((each) => each.checkoutAttempt === checkoutAttempt));
        const idempotencyKey = { operation, key: attemptId, inputHash };
        if (last && joins(last, valueCents))
          return {
            outcome: { payment: last, replayed: true },
            writes: { records: [remember({ ...idempotencyKey, resourceId: idOf(last) })] },
          };
        assertTokenFree(last);
        const customer = customerOf(input.customer) ?? grant.customer;
        const { payment, writes } = rules.decide({
          tenant,
          id,
          checkoutAttempt,
          account,
          grant,
          valueCents,
          customer,
          productId,
          state,
        });
        writes.records.push(
          remember({ ...idempotencyKey, resourceId: id }),
          ...paymentMethods[0].opened(state, order, id),
        );
        if (!reusable) writes.records.push(put(uses, rules.useOf(tokenId, id)));
        return { outcome: { payment, replayed: false }, writes };
      },
    });
  };
}
