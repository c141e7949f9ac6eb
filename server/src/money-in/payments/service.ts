import { NotFoundError } from '../../kernel/errors.ts';
import { orderStatusOf } from '../../kernel/orders.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Bank } from '../../rails/bank.ts';
import { type Collection, type Committer, loadRecords } from '../../state/commit/commit.ts';
import { type OrderPayments, orderOfNumber } from '../../state/commit/orders.ts';
import type { Database } from '../../state/db/database.ts';
import { assertCallbackUrl, assertNotCanceled, assertOrderOpen } from '../checkout/model.ts';
import { createCheckoutStart, type ProductCollection } from '../checkout/service.ts';
import { writesOfLtc } from '../ltc/collections.ts';
import { noQuote } from '../ltc/model.ts';
import { writesOfPix } from '../pix/collections.ts';
import type { RegisterCode } from '../pix/model.ts';
import {
  type ChangeReceived,
  createPixCreation,
  createPixReads,
  type NewResource,
  type Repeatable,
} from '../pix/service.ts';
import { checkoutUses, ltcPayments, payments, pixOrderPayments, pixPayments } from './collections.ts';
import { decideCreate, decideCreateLtc, paymentDecisions, saleOf } from './decisions.ts';
import { type AccountSettings, assertMethodAvailable, type PaymentMethod } from './methods.ts';
import {
  type CreatePaymentInput,
  newPaymentId,
  type PaymentFilter,
  type PaymentService,
  type StoredPayment,
} from './model.ts';
import { type CheckoutUse, paymentTable } from './store.ts';

/** Accounts with the settings that payments use; the slice that owns accounts provides them. */
export type AccountCollection = Collection<AccountSettings & { id: string; name: string }>;

/** An amount, and the LTC of the same value. */
interface Quote {
  amountCents: number;
  litoshi: number;
}

/** The creation of a payment by one method. */
interface MethodCreation {
  /** Gets a code or an address from outside, to which the payer pays. */
  register: RegisterCode<StoredPayment>;
  /** Whether the payment has a code or an address. */
  isRegistered(payment: StoredPayment): boolean;
  /** Gets the outside data for a decision before it, because a decision cannot wait. */
  prepare(tenant: Tenant, input: CreatePaymentInput): Promise<Quote | null>;
  decide(...args: [...Parameters<typeof decideCreate>, prepared: Quote | null]): NewResource<StoredPayment>;
  /** Cancels a payment; null if there is none. @throws PreconditionError (NOT_CANCELABLE) */
  cancel(tenant: Tenant, paymentId: string): Promise<Repeatable<StoredPayment> | null>;
}

/** The port on Postgres: every change is a command to the committer, every read is one statement. */
export function createPaymentService({
  database,
  committer,
  accounts,
  products,
  otherMethods,
  register,
  changeReceived,
  registerLtc,
  cancelLtc,
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
  changeReceived: ChangeReceived<StoredPayment>;
  /** Gets the address of a payment by LTC. */
  registerLtc: RegisterCode<StoredPayment>;
  /** Cancels a payment by LTC; null if there is none. @throws PreconditionError (NOT_CANCELABLE) */
  cancelLtc(tenant: Tenant, paymentId: string): Promise<Repeatable<StoredPayment> | null>;
  quotes: Pick<Bank, 'quoteLitoshi'>;
  /** Whether webhooks may go to this machine, for local development. */
  privateAddresses: boolean;
  /** Called with the error if the bank gave no quote. */
  onFault: (fault: unknown) => void;
}): PaymentService<StoredPayment> {
  const methods = [pixOrderPayments, ...otherMethods] as const;
  const reads = createPixReads<StoredPayment, PaymentFilter, PaymentFilter>({
    database,
    family: pixPayments,
    table: paymentTable,
    idName: 'paymentId',
    idForm: 'psa_ and 32 hex digits, in lower case',
    filterOf: (filter) => filter,
  });
  const { create, withCode } = createPixCreation<StoredPayment>({
    committer,
    family: pixPayments,
    operation: 'createPayment',
    register: (tenant, payment) => creations[payment.method].register(tenant, payment),
    hasCode: (payment) => creations[payment.method].isRegistered(payment),
  });

  /**
   * Quotes the amount before the decision, which cannot wait. Null if there is no quote: a replayed key needs
   * none.
   */
  async function quote(tenant: Tenant, { valueCents, productId }: CreatePaymentInput): Promise<Quote | null> {
    if (tenant.environment === 'sandbox') return null;
    const [sold] = productId == null ? [] : await loadRecords(products, database.sql, tenant, [productId]);
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

  const creations: Record<PaymentMethod, MethodCreation> = {
    pix: {
      register,
      isRegistered: ({ brCode }) => brCode !== null,
      // A PIX payment needs nothing from outside.
      prepare: async () => null,
      decide(input, sale, creation) {
        const change = decideCreate(input, sale, creation);
        return { resource: change.resource, writes: writesOfPix(pixPayments, change) };
      },
      cancel: (tenant, paymentId) =>
        changeReceived(tenant, paymentId, (payment, state) =>
          paymentDecisions.decideCancel(payment, { environment: tenant.environment, ...state }),
        ),
    },
    ltc: {
      register: registerLtc,
      isRegistered: ({ ltc }) => ltc?.address != null,
      prepare: quote,
      decide(input, sale, creation, quoted) {
        if (quoted?.amountCents !== sale.amountCents) throw noQuote();
        const change = decideCreateLtc(input, sale, { ...creation, litoshi: quoted.litoshi });
        return { resource: change.resource, writes: writesOfLtc(ltcPayments, change, []) };
      },
      cancel: cancelLtc,
    },
  };

  const start = createCheckoutStart<
    StoredPayment,
    CheckoutUse,
    AccountSettings & { id: string; name: string }
  >(
    { committer, accounts, products },
    {
      scope: 'startPixCheckout',
      payments,
      uses: checkoutUses,
      idOf: ({ paymentId }) => paymentId,
      useOf: (tokenId, paymentId) => ({ tokenId, paymentId }),
      newId: () => newPaymentId(null),
      paymentMethods: methods,
      assertAvailable: ({ environment }, account) => assertMethodAvailable('pix', environment, account),
      assertStartable(paymentsOfAttempt) {
        for (const payment of paymentsOfAttempt) assertNotCanceled(payment);
      },
      decide({ tenant, id, grant, valueCents, customer, productId, checkoutAttempt, account, state }) {
        const change = decideCreate(
          { ...grant, customer, productId },
          { amountCents: valueCents, description: grant.description ?? null },
          {
            paymentId: id,
            account,
            checkoutAttempt,
            environment: tenant.environment,
            balances: state.balances,
            now: state.now,
          },
        );
        return { payment: change.resource, writes: writesOfPix(pixPayments, change) };
      },
    },
  );

  return {
    ...reads,

    async create(tenant, { idempotencyKey, ...given }) {
      // GraphQL has the default in its schema, REST has it here: both give the same input to a key.
      const input = { ...given, method: given.method ?? 'pix' };
      assertCallbackUrl(input.callbackUrl, privateAddresses);
      const { productId } = input;
      const { environment } = tenant;
      const creationByMethod = creations[input.method];
      const prepared = await creationByMethod.prepare(tenant, input);
      const order = orderOfNumber(input.externalId);
      const { resource, replayed: isReplay } = await create(tenant, {
        idempotencyKey,
        input,
        newId: newPaymentId,
        read: (reader) =>
          Promise.all([
            reader.load(accounts, tenant.accountId),
            productId != null && reader.load(products, productId),
            ...methods.map((method) => method.read(reader, order)),
            pixOrderPayments.readOpen(reader, order),
          ]),
        assertPossible: (state) =>
          assertMethodAvailable(input.method, environment, state.need(accounts, tenant.accountId)),
        decide(state, paymentId) {
          assertOrderOpen(orderStatusOf(methods.flatMap((method) => method.paymentsOf(state, order))));
          const product = productId == null ? null : (state.get(products, productId)?.product ?? null);
          const sale = saleOf(input, product);
          const creation = {
            paymentId,
            environment,
            checkoutAttempt: null,
            account: state.need(accounts, tenant.accountId),
            balances: state.balances,
            now: state.now,
          };
          const created = creationByMethod.decide(input, sale, creation, prepared);
          created.writes.records.push(...pixOrderPayments.opened(state, order, paymentId));
          return created;
        },
      });
      return { payment: resource, replayed: isReplay };
    },

    async startCheckout(tenant, token, input) {
      const { payment, replayed: isReplay } = await start(tenant, token, input);
      return { payment: await withCode(tenant, payment), replayed: isReplay };
    },

    async cancel(tenant, paymentId) {
      reads.assertId(paymentId);
      const found = await reads.find(tenant, paymentId);
      const canceled = found && (await creations[found.method].cancel(tenant, paymentId));
      if (!canceled) throw new NotFoundError('Payment not found');
      return { payment: canceled.resource, replayed: canceled.replayed };
    },
  };
}
