import {
  assertTokenFree,
  attemptOf,
  checkoutAmount,
  grantAtStart,
  grantOfOpen,
  isOpen,
  joins,
  orderPaid,
  orderTokenOf,
} from '../card-payments/checkout/model.ts';
import type { CheckoutGrant, SoldProduct, StartCheckoutInput } from '../card-payments/model.ts';
import { type Collection, type Committer, put } from '../commit/commit.ts';
import { readReplay, remember, replayed } from '../commit/idempotency.ts';
import type { OrderPayments } from '../commit/orders.ts';
import type { Database } from '../db/database.ts';
import { hashInput } from '../kernel/input-hash.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { writesOfLtc } from '../ltc/collections.ts';
import type { LtcChange } from '../ltc/decisions.ts';
import { noQuote } from '../ltc/model.ts';
import { pixOrderPayments, writesOfPix } from '../pix/collections.ts';
import type { PixChange } from '../pix/decisions.ts';
import type { RegisterCode } from '../pix/model.ts';
import { createPixCreation, createPixReads } from '../pix/service.ts';
import type { Bank } from '../rails/bank.ts';
import { closesOrder } from '../receiving/model.ts';
import { assertCallbackUrl } from '../webhooks/model.ts';
import { checkoutUses, ltcPayments, payments, pixPayments } from './collections.ts';
import { decideCreate, decideCreateLtc, saleOf } from './decisions.ts';
import {
  type AccountSettings,
  assertMethodAvailable,
  type CreatePaymentInput,
  newPaymentId,
  type PaymentFilter,
  type PaymentMethod,
  type PaymentService,
  type StoredPayment,
} from './model.ts';
import { paymentTable } from './store.ts';

/** Accounts with the settings that payments use; the slice that owns accounts provides them. */
export type AccountCollection = Collection<AccountSettings & { id: string; name: string }>;

/** Products that payments and checkout tokens sell, by id; `product` is null once it was deleted. */
export type ProductCollection = Collection<{ id: string; product: SoldProduct | null }>;

/** The port on Postgres: every change is a command to the committer, every read is one statement. */
export function createPaymentService({
  database,
  committer,
  accounts,
  products,
  otherMethods,
  register,
  registerLtc,
  quotes,
  privateAddresses,
  onFault,
}: {
  database: Database;
  committer: Committer;
  accounts: AccountCollection;
  products: ProductCollection;
  /** The payments of an order that other methods pay. */
  otherMethods: readonly OrderPayments[];
  register: RegisterCode<StoredPayment>;
  /** Gets the address of a payment by LTC. */
  registerLtc: RegisterCode<StoredPayment>;
  quotes: Pick<Bank, 'quoteLitoshi'>;
  /** Local development: webhooks may go to this machine. */
  privateAddresses: boolean;
  /** Receives the error of a bank that gave no quote. */
  onFault: (fault: unknown) => void;
}): PaymentService<StoredPayment> {
  const methods = [pixOrderPayments, ...otherMethods];
  const reads = createPixReads<StoredPayment, PaymentMethod, PaymentFilter>({
    ...{ database, family: pixPayments, table: paymentTable },
    ...{ idName: 'paymentId', idForm: 'psa_ and 32 hex digits, in lower case' },
    filterOf: ({ method, ...filter }) => ({ ...filter, kind: method }),
  });
  const { create, withCode } = createPixCreation<
    StoredPayment,
    PixChange<StoredPayment> | LtcChange<StoredPayment>
  >({
    ...{ committer, family: pixPayments },
    operation: 'createPayment',
    register: (tenant, payment) => (payment.ltc ? registerLtc : register)(tenant, payment),
    hasCode: ({ ltc, brCode }) => (ltc ? ltc.address : brCode) !== null,
    toWrites: (change) =>
      'outputs' in change ? writesOfLtc(ltcPayments, change, []) : writesOfPix(pixPayments, change),
  });

  /** Quotes the amount before the decision, which cannot wait for a quote. Null where there is none: a replayed key needs none. */
  async function quote(
    tenant: Tenant,
    { valueCents, productId }: CreatePaymentInput,
  ): Promise<{ amountCents: number; litoshi: number } | null> {
    if (tenant.environment === 'sandbox') return null;
    const [sold] = productId == null ? [] : await products.load(database.sql, tenant, [productId]);
    const amountCents = valueCents ?? sold?.product?.priceCents;
    if (amountCents == null) return null;
    return quotes.quoteLitoshi(amountCents).then(
      (litoshi) => ({ amountCents, litoshi }),
      (fault: unknown) => {
        onFault(fault);
        return null;
      },
    );
  }

  return {
    ...reads,

    async create(tenant, { idempotencyKey, ...given }) {
      // GraphQL has the default in its schema, and REST here: both give one input to a key.
      const input = { ...given, method: given.method ?? 'pix' };
      assertCallbackUrl(input.callbackUrl, privateAddresses);
      const { productId } = input;
      const { environment } = tenant;
      // A payment by PIX waits for nothing here.
      const quoted = input.method === 'ltc' ? await quote(tenant, input) : null;
      const { resource, replayed: isReplay } = await create(tenant, {
        ...{ idempotencyKey, input, newId: newPaymentId },
        read: (reader) =>
          Promise.all([
            reader.load(accounts, tenant.accountId),
            productId != null && reader.load(products, productId),
          ]),
        assertPossible: (state) =>
          assertMethodAvailable(input.method, environment, state.need(accounts, tenant.accountId)),
        decide(state, paymentId) {
          const product = productId == null ? null : (state.get(products, productId)?.product ?? null);
          const sale = saleOf(input, product);
          const creation = {
            ...{ paymentId, environment, checkoutAttempt: null },
            account: state.need(accounts, tenant.accountId),
            ...{ balances: state.balances, now: state.now },
          };
          if (input.method === 'pix') return decideCreate(input, sale, creation);
          if (quoted?.amountCents !== sale.amountCents) throw noQuote();
          return decideCreateLtc(input, sale, { ...creation, litoshi: quoted.litoshi });
        },
      });
      return { payment: resource, replayed: isReplay };
    },

    async startCheckout(tenant, token, input) {
      const payment = await start(tenant, token, input);
      return withCode(tenant, payment);
    },
  };

  /** Makes the payment of a checkout, or finds that of an earlier attempt which it joins. */
  function start(
    tenant: Tenant,
    token: { id: string; grant: CheckoutGrant },
    input: StartCheckoutInput,
  ): Promise<StoredPayment> {
    const tokenId = orderTokenOf(token);
    // A scope of its own: one attempt id serves both methods, and each has its payment.
    const operation = `startPixCheckout:${tokenId}`;
    const { attemptId, ...rest } = input;
    const inputHash = hashInput(rest);
    const { amount, reusable, externalId = null } = token.grant;
    const checkoutAttempt = attemptOf(tokenId, token.grant, attemptId);
    const order = { checkoutAttempt, externalId, tokenId: reusable ? null : tokenId };
    const paymentId = newPaymentId(null);
    return committer.change({
      tenant,
      read: (reader) =>
        Promise.all([
          reader.load(accounts, tenant.accountId),
          amount.kind === 'product' && reader.load(products, amount.productId),
          readReplay(reader, operation, attemptId, (made) => reader.load(payments, made)),
          reader.load(checkoutUses, tokenId).then((use) => use && reader.load(payments, use.paymentId)),
          ...methods.map((method) => method.read(reader, order)),
        ]),
      decide(state) {
        const account = state.need(accounts, tenant.accountId);
        assertMethodAvailable('pix', tenant.environment, account);
        const before = replayed(state, operation, attemptId, inputHash);
        if (before !== null) return { outcome: state.need(payments, before) };

        const use = reusable ? null : state.get(checkoutUses, tokenId);
        const last = use && state.need(payments, use.paymentId);
        const grant =
          last && isOpen(last)
            ? grantOfOpen(token.grant, last)
            : grantAtStart(
                token.grant,
                amount.kind === 'product' ? (state.get(products, amount.productId)?.product ?? null) : null,
              );
        const valueCents = checkoutAmount(grant, input.valueCents);
        const siblings = methods.flatMap((method) => method.paymentsOf(state, order));
        if (siblings.some(closesOrder)) throw orderPaid();
        // A token whose payment the merchant has canceled starts nothing more, by whichever method.
        for (const { canceledAt } of siblings)
          if (canceledAt) assertTokenFree({ status: 'expired', canceledAt });
        const attempt = { operation, key: attemptId, inputHash };
        if (last && joins(last, valueCents))
          return {
            outcome: last,
            writes: { records: [remember({ ...attempt, resourceId: last.paymentId })] },
          };
        assertTokenFree(last && { ...last, canceledAt: null });
        const change = decideCreate(
          {
            ...grant,
            customer: input.customer ?? grant.customer,
            productId: amount.kind === 'product' ? amount.productId : null,
          },
          { amountCents: valueCents, description: grant.description ?? null },
          {
            ...{ paymentId, account, checkoutAttempt },
            ...{ environment: tenant.environment, balances: state.balances, now: state.now },
          },
        );
        const writes = writesOfPix(pixPayments, change);
        writes.records.push(remember({ ...attempt, resourceId: paymentId }));
        if (!reusable) writes.records.push(put(checkoutUses, { tokenId, paymentId }));
        return { outcome: change.resource, writes };
      },
    });
  }
}
