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
import { createCoalescedReads } from '../kernel/coalesce.ts';
import { deterministicId } from '../kernel/ids.ts';
import { hashInput } from '../kernel/input-hash.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import { pixOrderPayments, writesOf } from '../pix/collections.ts';
import { assertIdForm, type RegisterCode } from '../pix/model.ts';
import { closesOrder } from '../receiving/model.ts';
import { assertCallbackUrl } from '../webhooks/model.ts';
import { checkoutUses, payments, pixPayments } from './collections.ts';
import { decideCreate, saleOf } from './decisions.ts';
import {
  type AccountSettings,
  assertMethodAvailable,
  isPaymentId,
  newPaymentId,
  noCode,
  type PaymentService,
  type StoredPayment,
} from './model.ts';
import { countPayments, listPayments, selectPayments, selectWithHead } from './store.ts';

/** Accounts with the settings that payments use; the slice that owns accounts provides them. */
export type AccountCollection = Collection<AccountSettings & { id: string; name: string }>;

/** Products that payments and checkout tokens sell, by id; `product` is null once it was deleted. */
export type ProductCollection = Collection<{ id: string; product: SoldProduct | null }>;

const CREATE = 'createPayment';

/** The port on Postgres: every change is a command to the committer, every read is one statement. */
export function createPaymentService({
  database,
  committer,
  accounts,
  products,
  otherMethods,
  register,
  privateAddresses,
}: {
  database: Database;
  committer: Committer;
  accounts: AccountCollection;
  products: ProductCollection;
  /** The payments of an order that other methods pay. */
  otherMethods: readonly OrderPayments[];
  register: RegisterCode<StoredPayment>;
  /** Local development: webhooks may go to this machine. */
  privateAddresses: boolean;
}): PaymentService<StoredPayment> {
  // Dashboards of one merchant request the same page at the same time.
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listPayments>>>();
  const methods = [pixOrderPayments, ...otherMethods];

  async function findMany(tenant: Tenant, paymentIds: readonly string[]): Promise<(StoredPayment | null)[]> {
    const rows = await selectPayments(database.sql, tenant, [...new Set(paymentIds)]);
    const found = new Map(rows.map((payment) => [payment.paymentId, payment]));
    return paymentIds.map((paymentId) => found.get(paymentId) ?? null);
  }

  /** Gets the code of a payment that has none, whether it is new or was made by an earlier request. */
  async function withCode(tenant: Tenant, payment: StoredPayment): Promise<StoredPayment> {
    return payment.status === 'pending' && payment.brCode === null ? register(tenant, payment) : payment;
  }

  return {
    assertId: (paymentId) =>
      assertIdForm('paymentId', isPaymentId(paymentId), 'psa_ and 32 hex digits, in lower case'),

    async create(tenant, { idempotencyKey, ...given }) {
      // GraphQL has the default in its schema, and REST here: both give one input to a key.
      const input = { ...given, method: given.method ?? 'pix' };
      assertCallbackUrl(input.callbackUrl, privateAddresses);
      const inputHash = hashInput(input);
      const paymentId = newPaymentId(
        idempotencyKey == null
          ? null
          : deterministicId(32, CREATE, tenantKey(tenant), idempotencyKey, inputHash),
      );
      const { productId } = input;
      const created = await committer.change<{ payment: StoredPayment; replayed: boolean }>({
        tenant,
        read: (reader) =>
          Promise.all([
            reader.load(accounts, tenant.accountId),
            productId != null && reader.load(products, productId),
            readReplay(reader, CREATE, idempotencyKey, (made) => reader.load(payments, made)),
          ]),
        decide(state) {
          const account = state.need(accounts, tenant.accountId);
          assertMethodAvailable(input.method, tenant.environment, account);
          const before = idempotencyKey == null ? null : replayed(state, CREATE, idempotencyKey, inputHash);
          if (before !== null) return { outcome: { payment: state.need(payments, before), replayed: true } };

          const product = productId == null ? null : (state.get(products, productId)?.product ?? null);
          const change = decideCreate(input, saleOf(input, product), {
            ...{ paymentId, account, checkoutAttempt: null },
            ...{ environment: tenant.environment, balances: state.balances, now: state.now },
          });
          const writes = writesOf(pixPayments, change);
          if (idempotencyKey != null)
            writes.records.push(
              remember({ operation: CREATE, key: idempotencyKey, inputHash, resourceId: paymentId }),
            );
          return { outcome: { payment: change.resource, replayed: false }, writes };
        },
      });
      const payment = await withCode(tenant, created.payment);
      // A replay shows what became of the payment; only a first request, or a code that is still missing, is an error.
      const isMissing = payment.brCode === null && (payment.status === 'pending' || !created.replayed);
      if (isMissing) throw noCode(payment);
      return { payment, replayed: created.replayed };
    },

    async startCheckout(tenant, token, input) {
      const payment = await start(tenant, token, input);
      return withCode(tenant, payment);
    },

    async find(tenant, paymentId) {
      return (await findMany(tenant, [paymentId]))[0] ?? null;
    },
    findMany,
    findWithVersion: (tenant, paymentId) => selectWithHead(database.sql, tenant, paymentId),

    async list(tenant, range) {
      const page = { ...range, limit: range.limit + 1 };
      const items = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(page)}`, () =>
        listPayments(database.sql, tenant, page),
      );
      const more = items.length > range.limit;
      // One row too many was read, at the end that was read last.
      return {
        items: !more || range.end === 'last' ? items.slice(-range.limit) : items.slice(0, range.limit),
        more,
      };
    },
    async listPage(tenant, { limit, offset }) {
      const [rows, total] = await Promise.all([
        listPayments(database.sql, tenant, { end: 'first', limit, offset }),
        countPayments(database.sql, tenant, {}),
      ]);
      return { items: rows.map(({ payment }) => payment), total };
    },
    count: (tenant, filter) => countPayments(database.sql, tenant, filter),
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
        const writes = writesOf(pixPayments, change);
        writes.records.push(remember({ ...attempt, resourceId: paymentId }));
        if (!reusable) writes.records.push(put(checkoutUses, { tokenId, paymentId }));
        return { outcome: change.resource, writes };
      },
    });
  }
}
