import { z } from 'zod';
import {
  anyOf,
  customerQuery,
  listQuery,
  orderQuery,
  readListQuery,
  receivedQuery,
} from '../../api/http/list-query.ts';
import { byKey, pageOf, pageOrKeyed, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import type { RequestKeys } from '../../kernel/request-keys.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { type ContentOfPayments, PAYMENT_STATUSES, type RefundsOfPayments } from '../receiving/model.ts';
import { PAYMENT_METHODS } from './methods.ts';
import {
  createPaymentInput,
  type PaymentFilter,
  type PaymentService,
  paymentIdText,
  type StoredPayment,
} from './model.ts';
import { paymentToWire, paymentWire } from './wire.ts';

const TAG = 'Payments';

/** Payments in the REST interface (the document's 2.5 and 4.5). */
export function createPaymentRoutes({
  payments,
  refunds,
  deliveries,
  requestKeys,
  publicUrl,
}: {
  payments: PaymentService<StoredPayment>;
  refunds: RefundsOfPayments;
  deliveries: ContentOfPayments;
  requestKeys: RequestKeys;
  publicUrl: string;
}): RestOperation[] {
  async function toWire(tenant: Tenant, shown: readonly StoredPayment[]) {
    // Unpaid payments have neither refunds nor content.
    const paid = shown.filter(({ paidAt }) => paidAt !== null).map(({ paymentId }) => paymentId);
    const [refundsOf, deliveredTo] = await Promise.all([
      refunds.ofResources(tenant, 'payment', paid),
      deliveries.deliveredTo(tenant, 'payment', paid),
    ]);
    return shown.map((payment) => {
      const index = paid.indexOf(payment.paymentId);
      return paymentToWire(
        payment,
        { refunds: refundsOf[index] ?? [], delivered: deliveredTo[index] ?? null },
        publicUrl,
      );
    });
  }

  return [
    restOperation({
      method: 'POST',
      path: '/v1/payments',
      operationId: 'createPayment',
      summary: 'Create a PIX payment',
      description:
        'Show the payer `pixCopyPaste`, as text and as a QR code, or by LTC `ltcAddress` and `ltcAmount`, or send it to `checkoutUrl`. Where the bank gives no code, or the network no address, the answer is 502: repeat the request with its idempotencyKey.',
      tag: TAG,
      section: '4.5',
      body: createPaymentInput,
      example: {
        valueCents: 14990,
        description: 'Rede Varanda',
        customer: { name: 'Maria da Silva', email: 'maria@example.com' },
        metadata: '{"order":"1042"}',
      },
      answers: { 201: { description: 'The payment, pending', schema: paymentWire } },
      errors: {
        403: 'LTC with a test key: there are no LTC payments in sandbox',
        404: 'No such product of this account in this environment',
        409: 'PIX or LTC is not configured for the account, or the idempotency key was used with another input',
        502: 'The bank gave no code, or the network no address',
      },
      async handle({ caller, body }) {
        const { payment, replayed } = await payments.create(caller.tenant, body);
        const [shown] = await toWire(caller.tenant, [payment]);
        return { status: 201, body: shown!, replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/payments/{id}',
      operationId: 'getPayment',
      summary: 'Look a PIX payment up',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: paymentIdText }),
      answers: { 200: { description: 'The payment as it stands', schema: paymentWire } },
      errors: { 404: 'No such payment of this account in this environment' },
      async handle({ caller, params }) {
        const payment = await payments.find(caller.tenant, params.id);
        if (!payment) throw new NotFoundError('Payment not found');
        const [shown] = await toWire(caller.tenant, [payment]);
        return { status: 200, body: shown! };
      },
    }),
    restOperation({
      method: 'DELETE',
      path: '/v1/payments/{id}',
      operationId: 'cancelPayment',
      summary: 'Cancel a pending payment',
      description:
        'It is expired at once. Money that comes later is returned to its payer; LTC waits for the operator. Repeated, it changes nothing. An extension of the document.',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: paymentIdText }),
      answers: { 200: { description: 'The payment, expired', schema: paymentWire } },
      errors: {
        404: 'No such payment of this account in this environment',
        409: 'It is not pending: it has been paid, has expired or has failed',
      },
      async handle({ caller, params }) {
        const { payment, replayed } = await payments.cancel(caller.tenant, params.id);
        const [shown] = await toWire(caller.tenant, [payment]);
        return { status: 200, body: shown!, replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/payments',
      operationId: 'listPayments',
      summary: 'List PIX payments, newest first',
      description: 'An extension of the document.',
      tag: TAG,
      section: '4.5',
      query: listQuery({
        ...receivedQuery(
          PAYMENT_STATUSES,
          'Selects the payment with this id, or paid by the PIX with this endToEndId',
        ),
        ...orderQuery,
        ...customerQuery,
        method: anyOf(PAYMENT_METHODS, 'payments'),
        ...byKey,
      }),
      answers: { 200: { description: 'A page', schema: pageOf('payments', paymentWire) } },
      async handle({ caller, query }) {
        const { tenant } = caller;
        const { items, total } = await pageOrKeyed(query, {
          list: (page) => payments.listPage(tenant, readListQuery<PaymentFilter>(page)),
          made: async (key) => {
            const id = await requestKeys.resourceOf(tenant, 'createPayment', key);
            return id === null ? null : payments.find(tenant, id);
          },
        });
        return { status: 200, body: { payments: await toWire(caller.tenant, items), total, ...query } };
      },
    }),
  ];
}
