import { orderTokenOf } from '../../kernel/caller.ts';
import { type Clock, secondsUntil } from '../../kernel/clock.ts';
import { createCoalescedReads } from '../../kernel/coalesce.ts';
import { NotFoundError, RateLimitError } from '../../kernel/errors.ts';
import { hashInput } from '../../kernel/input-hash.ts';
import { withoutExtra } from '../../kernel/list-range.ts';
import { orderStatusOf } from '../../kernel/orders.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Collection, Committer } from '../../state/commit/commit.ts';
import { readReplay, remember, replayed } from '../../state/commit/idempotency.ts';
import { type OrderPayments, orderOfNumber } from '../../state/commit/orders.ts';
import type { Database } from '../../state/db/database.ts';
import { assertCallbackUrl, assertNotCanceled, assertOrderOpen } from '../checkout/model.ts';
import { createCheckoutStart, type ProductCollection } from '../checkout/service.ts';
import {
  cardOrderPayments,
  cardPayments,
  checkoutUses,
  orderOf,
  otherCardPaymentsOf,
  readWithOtherPayments,
  writesOf,
} from './collections.ts';
import { decideCancel, decideCreate } from './decisions.ts';
import type { CardTestingGuard } from './model.ts';
import {
  type AccountSettings,
  assertCardsAvailable,
  CARD_FEE_CENTS,
  type CardPaymentService,
  newOrderCode,
  type StoredCardPayment,
} from './model.ts';
import {
  type CheckoutUse,
  cardPaymentTable,
  countCardPayments,
  listCardPayments,
  totalsOfCardPayments,
} from './store.ts';

/** Accounts with the settings that card payments use; the slice that owns accounts provides them. */
export type AccountCollection = Collection<AccountSettings & { id: string }>;

const CREATE = 'createCardPayment';

/** The port on Postgres: every change is a command to the committer, every read is one statement. */
export function createCardPaymentService({
  database,
  committer,
  accounts,
  products,
  guard,
  otherMethods,
  clock,
  privateAddresses,
}: {
  database: Database;
  committer: Committer;
  accounts: AccountCollection;
  products: ProductCollection;
  guard: Pick<CardTestingGuard, 'peek'>;
  /** The payments of an order that other methods pay. */
  otherMethods: readonly OrderPayments[];
  clock: Clock;
  /** Whether webhooks may go to this machine, for local development. */
  privateAddresses: boolean;
}): CardPaymentService<StoredCardPayment> {
  const methods = [cardOrderPayments, ...otherMethods] as const;
  // Dashboards of one merchant request the same page at the same time.
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listCardPayments>>>();

  async function findMany(
    tenant: Tenant,
    orderCodes: readonly string[],
  ): Promise<(StoredCardPayment | null)[]> {
    const payments = await cardPaymentTable.load(database.sql, tenant, [...new Set(orderCodes)]);
    const found = new Map(payments.map((payment) => [payment.orderCode, payment]));
    return orderCodes.map((orderCode) => found.get(orderCode) ?? null);
  }

  const start = createCheckoutStart<StoredCardPayment, CheckoutUse, AccountSettings & { id: string }>(
    { committer, accounts, products },
    {
      scope: 'startCheckout',
      payments: cardPayments,
      uses: checkoutUses,
      idOf: ({ orderCode }) => orderCode,
      useOf: (tokenId, orderCode) => ({ tokenId, orderCode }),
      newId: newOrderCode,
      paymentMethods: methods,
      assertAvailable: ({ environment }, account) => assertCardsAvailable(environment, account),
      assertStartable(paymentsOfAttempt) {
        for (const payment of paymentsOfAttempt) assertNotCanceled(payment);
      },
      decide({ id, grant, valueCents, customer, productId, checkoutAttempt, state }) {
        const change = decideCreate(
          { ...grant, valueCents, customer },
          { orderCode: id, checkoutAttempt, productId, now: state.now },
        );
        return { payment: change.payment, writes: writesOf(change) };
      },
    },
  );

  return {
    async create(tenant, { idempotencyKey, ...input }) {
      assertCallbackUrl(input.callbackUrl, privateAddresses);
      const inputHash = hashInput(input);
      const orderCode = newOrderCode();
      const order = orderOfNumber(input.externalId);
      return committer.change<{ payment: StoredCardPayment; replayed: boolean }>({
        tenant,
        read: (reader) =>
          Promise.all([
            reader.load(accounts, tenant.accountId),
            readReplay(reader, CREATE, idempotencyKey, (made) => reader.load(cardPayments, made)),
            ...methods.map((method) => method.read(reader, order)),
            cardOrderPayments.readOpen(reader, order),
          ]),
        decide(state) {
          assertCardsAvailable(tenant.environment, state.need(accounts, tenant.accountId));
          const before = idempotencyKey == null ? null : replayed(state, CREATE, idempotencyKey, inputHash);
          if (before !== null)
            return { outcome: { payment: state.need(cardPayments, before), replayed: true } };

          assertOrderOpen(orderStatusOf(methods.flatMap((method) => method.paymentsOf(state, order))));
          const change = decideCreate(input, { orderCode, checkoutAttempt: null, now: state.now });
          const writes = writesOf(change);
          writes.records.push(...cardOrderPayments.opened(state, order, orderCode));
          if (idempotencyKey != null)
            writes.records.push(
              remember({ operation: CREATE, key: idempotencyKey, inputHash, resourceId: orderCode }),
            );
          return { outcome: { payment: change.payment, replayed: false }, writes };
        },
      });
    },

    async startCheckout(tenant, token, input, address = null) {
      const tokenId = orderTokenOf(token);
      const retryAt = address === null ? null : await guard.peek({ tenant, tokenId, address });
      if (retryAt) throw new RateLimitError('payments of this network', secondsUntil(retryAt, clock));
      return start(tenant, token, input);
    },

    cancel: (tenant, orderCode) =>
      committer.change<{ payment: StoredCardPayment; replayed: boolean }>({
        tenant,
        async read(reader) {
          const payment = await readWithOtherPayments(reader, orderCode);
          if (payment) await Promise.all(otherMethods.map((method) => method.read(reader, orderOf(payment))));
        },
        decide(state) {
          const payment = state.get(cardPayments, orderCode);
          if (!payment) throw new NotFoundError('Card payment not found');
          const otherPayments = [
            ...otherCardPaymentsOf(state, payment),
            ...otherMethods.flatMap((method) => method.paymentsOf(state, orderOf(payment))),
          ];
          const change = decideCancel(payment, { otherPayments, now: state.now });
          return change
            ? { outcome: { payment: change.payment, replayed: false }, writes: writesOf(change) }
            : { outcome: { payment, replayed: true } };
        },
      }),

    async find(tenant, orderCode) {
      return (await findMany(tenant, [orderCode]))[0] ?? null;
    },
    findMany,
    findWithVersion: (tenant, orderCode) => cardPaymentTable.loadWithHead(database.sql, tenant, orderCode),

    async list(tenant, range) {
      const page = { ...range, limit: range.limit + 1 };
      const items = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(page)}`, () =>
        listCardPayments(database.sql, tenant, page),
      );
      return withoutExtra(items, range);
    },
    async listPage(tenant, { limit, offset, ...filter }) {
      const [rows, total] = await Promise.all([
        listCardPayments(database.sql, tenant, { end: 'first', limit, offset, ...filter }),
        countCardPayments(database.sql, tenant, filter),
      ]);
      return { items: rows.map(({ resource: payment }) => payment), total };
    },
    count: (tenant, filter) => countCardPayments(database.sql, tenant, filter),
    totals: (tenant, filter, groupBy) => totalsOfCardPayments(database.sql, tenant, filter, groupBy),
    feeCentsOf: () => CARD_FEE_CENTS,
    assertFilter: () => undefined,
  };
}
