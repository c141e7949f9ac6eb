import { type Collection, type Committer, put } from '../commit/commit.ts';
import { readReplay, remember, replayed } from '../commit/idempotency.ts';
import type { OrderPayments } from '../commit/orders.ts';
import type { Database } from '../db/database.ts';
import { type Clock, secondsUntil } from '../kernel/clock.ts';
import { createCoalescedReads } from '../kernel/coalesce.ts';
import { NotFoundError, RateLimitError } from '../kernel/errors.ts';
import { hashInput } from '../kernel/input-hash.ts';
import { withoutExtra } from '../kernel/list-range.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import { closesOrder } from '../receiving/model.ts';
import { assertCallbackUrl } from '../webhooks/model.ts';
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
} from './checkout/model.ts';
import { cardPayments, checkoutUses, paymentsOfOrder, readOrder, writesOf } from './collections.ts';
import { decideCancel, decideCreate } from './decisions.ts';
import type { CardTestingGuard } from './model.ts';
import {
  type AccountSettings,
  assertCardsAvailable,
  type CardPaymentService,
  newOrderCode,
  type SoldProduct,
  type StoredCardPayment,
} from './model.ts';
import { countCardPayments, listCardPayments, selectCardPayments, selectWithHead } from './store.ts';

/** Accounts with the settings that card payments use; the slice that owns accounts provides them. */
export type AccountCollection = Collection<AccountSettings & { id: string }>;

/** Products that checkout tokens sell, by id; `product` is null once it was deleted. */
export type ProductCollection = Collection<{ id: string; product: SoldProduct | null }>;

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
  guard: Pick<CardTestingGuard, 'look'>;
  /** The payments of an order that other methods pay. */
  otherMethods: readonly OrderPayments[];
  clock: Clock;
  /** Local development: webhooks may go to this machine. */
  privateAddresses: boolean;
}): CardPaymentService<StoredCardPayment> {
  // Dashboards of one merchant request the same page at the same time.
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listCardPayments>>>();

  async function findMany(
    tenant: Tenant,
    orderCodes: readonly string[],
  ): Promise<(StoredCardPayment | null)[]> {
    const payments = await selectCardPayments(database.sql, tenant, [...new Set(orderCodes)]);
    const found = new Map(payments.map((payment) => [payment.orderCode, payment]));
    return orderCodes.map((orderCode) => found.get(orderCode) ?? null);
  }

  return {
    async create(tenant, { idempotencyKey, ...input }) {
      assertCallbackUrl(input.callbackUrl, privateAddresses);
      const inputHash = hashInput(input);
      const orderCode = newOrderCode();
      return committer.change<{ payment: StoredCardPayment; replayed: boolean }>({
        tenant,
        read: (reader) =>
          Promise.all([
            reader.load(accounts, tenant.accountId),
            readReplay(reader, CREATE, idempotencyKey, (made) => reader.load(cardPayments, made)),
          ]),
        decide(state) {
          assertCardsAvailable(tenant.environment, state.need(accounts, tenant.accountId));
          const before = idempotencyKey == null ? null : replayed(state, CREATE, idempotencyKey, inputHash);
          if (before !== null)
            return { outcome: { payment: state.need(cardPayments, before), replayed: true } };

          const change = decideCreate(input, { orderCode, checkoutAttempt: null, now: state.now });
          const writes = writesOf(change);
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
      const retryAt = address === null ? null : await guard.look({ tenant, tokenId, address });
      if (retryAt) throw new RateLimitError('payments of this network', secondsUntil(retryAt, clock));
      // Each token has a scope of its own, so that attempts of two tokens' pages never collide. Tokens of one order share
      // one, so that a page with a newer token finds its payment again.
      const operation = `startCheckout:${tokenId}`;
      const { attemptId, ...rest } = input;
      const inputHash = hashInput(rest);
      const orderCode = newOrderCode();
      const { amount, reusable, externalId = null } = token.grant;
      const checkoutAttempt = attemptOf(tokenId, token.grant, attemptId);
      const order = { checkoutAttempt, externalId, tokenId: reusable ? null : tokenId };
      return committer.change({
        tenant,
        read: (reader) =>
          Promise.all([
            reader.load(accounts, tenant.accountId),
            amount.kind === 'product' && reader.load(products, amount.productId),
            readReplay(reader, operation, attemptId, (made) => reader.load(cardPayments, made)),
            reader.load(checkoutUses, tokenId).then((use) => use && reader.load(cardPayments, use.orderCode)),
            externalId !== null && readOrder(reader, externalId),
            ...otherMethods.map((method) => method.read(reader, order)),
          ]),
        decide(state) {
          assertCardsAvailable(tenant.environment, state.need(accounts, tenant.accountId));
          const before = replayed(state, operation, attemptId, inputHash);
          if (before !== null) return { outcome: state.need(cardPayments, before) };

          const use = reusable ? null : state.get(checkoutUses, tokenId);
          const last = use && state.need(cardPayments, use.orderCode);
          const grant =
            last && isOpen(last)
              ? grantOfOpen(token.grant, last)
              : grantAtStart(
                  token.grant,
                  amount.kind === 'product' ? (state.get(products, amount.productId)?.product ?? null) : null,
                );
          const valueCents = checkoutAmount(grant, input.valueCents);
          const siblings = [
            ...(externalId === null ? [] : paymentsOfOrder(state, externalId)),
            ...otherMethods.flatMap((method) => method.paymentsOf(state, order)),
          ];
          if (siblings.some(closesOrder)) throw orderPaid();
          const attempt = { operation, key: attemptId, inputHash };
          if (last && joins(last, valueCents))
            return {
              outcome: last,
              writes: { records: [remember({ ...attempt, resourceId: last.orderCode })] },
            };
          assertTokenFree(last);
          const { amount: _, ...details } = grant;
          const change = decideCreate(
            { ...details, valueCents, customer: input.customer ?? details.customer },
            {
              ...{ orderCode, checkoutAttempt, now: state.now },
              productId: amount.kind === 'product' ? amount.productId : null,
            },
          );
          const writes = writesOf(change);
          writes.records.push(remember({ ...attempt, resourceId: orderCode }));
          if (!reusable) writes.records.push(put(checkoutUses, { tokenId, orderCode }));
          return { outcome: change.payment, writes };
        },
      });
    },

    cancel: (tenant, orderCode) =>
      committer.change<StoredCardPayment>({
        tenant,
        read: (reader) => reader.load(cardPayments, orderCode),
        decide(state) {
          const payment = state.get(cardPayments, orderCode);
          if (!payment) throw new NotFoundError('Card payment not found');
          const change = decideCancel(payment, state.now);
          return change ? { outcome: change.payment, writes: writesOf(change) } : { outcome: payment };
        },
      }),

    async find(tenant, orderCode) {
      return (await findMany(tenant, [orderCode]))[0] ?? null;
    },
    findMany,
    findWithVersion: (tenant, orderCode) => selectWithHead(database.sql, tenant, orderCode),

    async list(tenant, range) {
      const page = { ...range, limit: range.limit + 1 };
      const items = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(page)}`, () =>
        listCardPayments(database.sql, tenant, page),
      );
      return withoutExtra(items, range);
    },
    async listPage(tenant, { limit, offset }) {
      const [rows, total] = await Promise.all([
        listCardPayments(database.sql, tenant, { end: 'first', limit, offset }),
        countCardPayments(database.sql, tenant, {}),
      ]);
      return { items: rows.map(({ payment }) => payment), total };
    },
    count: (tenant, filter) => countCardPayments(database.sql, tenant, filter),
    assertFilter: () => undefined,
  };
}
