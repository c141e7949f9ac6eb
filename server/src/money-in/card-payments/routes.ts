import { z } from 'zod';
import {
  customerQuery,
  listQuery,
  orderQuery,
  periodQuery,
  readListQuery,
  receivedQuery,
} from '../../api/http/list-query.ts';
import { byKey, pageOf, pageOrKeyed, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import type { RequestKeys } from '../../kernel/request-keys.ts';
import { PAYMENT_STATUSES } from '../receiving/model.ts';
import {
  type CardPaymentFilter,
  type CardPaymentService,
  createCardPaymentInput,
  type StoredCardPayment,
} from './model.ts';
import { cardPaymentToWire, cardPaymentWire, createdCardPaymentWire } from './wire.ts';

const TAG = 'Card payments';

/** Card payments in the REST interface (the document's 4.2 and 4.5). */
export function createCardPaymentRoutes({
  cardPayments,
  requestKeys,
  publicUrl,
}: {
  cardPayments: CardPaymentService<StoredCardPayment>;
  requestKeys: RequestKeys;
  publicUrl: string;
}): RestOperation[] {
  return [
    restOperation({
      method: 'POST',
      path: '/v1/card-payments',
      operationId: 'createCardPayment',
      summary: 'Create a card payment on a hosted checkout page',
      tag: TAG,
      section: '4.2',
      body: createCardPaymentInput,
      example: {
        valueCents: 14990,
        description: 'Rede Varanda',
        customer: { name: 'Maria da Silva', email: 'maria@example.com' },
        metadata: '{"order":"1042"}',
      },
      answers: { 201: { description: 'The payment, pending', schema: createdCardPaymentWire } },
      errors: {
        403: 'A test key: there are no card payments in sandbox',
        409: 'Cards are not configured for the account, or the idempotency key was used with another input',
      },
      async handle({ caller, body }) {
        const { payment, replayed } = await cardPayments.create(caller.tenant, body);
        return { status: 201, body: cardPaymentToWire(payment, publicUrl), replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/card-payments/{orderCode}',
      operationId: 'getCardPayment',
      summary: 'Look a card payment up',
      tag: TAG,
      section: '4.5',
      params: z.object({ orderCode: z.string() }),
      answers: { 200: { description: 'The payment as it stands', schema: cardPaymentWire } },
      errors: { 404: 'No such payment of this account in this environment' },
      async handle({ caller, params }) {
        const payment = await cardPayments.find(caller.tenant, params.orderCode);
        if (!payment) throw new NotFoundError('Card payment not found');
        return { status: 200, body: cardPaymentToWire(payment, publicUrl) };
      },
    }),
    restOperation({
      method: 'DELETE',
      path: '/v1/card-payments/{orderCode}',
      operationId: 'cancelCardPayment',
      summary: 'Cancel a pending card payment',
      description:
        'It is expired at once, and its page takes no card. If the acquirer approves a card that was being confirmed, its money is returned, and the payment has failed. Repeated, it changes nothing. An extension of the document.',
      tag: TAG,
      section: '4.5',
      params: z.object({ orderCode: z.string() }),
      answers: { 200: { description: 'The payment, expired', schema: cardPaymentWire } },
      errors: {
        404: 'No such payment of this account in this environment',
        409: 'It is not pending: it has been paid, has expired or has failed',
      },
      async handle({ caller, params }) {
        const { payment, replayed } = await cardPayments.cancel(caller.tenant, params.orderCode);
        return { status: 200, body: cardPaymentToWire(payment, publicUrl), replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/card-payments',
      operationId: 'listCardPayments',
      summary: 'List card payments, newest first',
      tag: TAG,
      section: '4.5',
      query: listQuery({
        ...receivedQuery(PAYMENT_STATUSES, 'Selects the payment with this orderCode'),
        ...orderQuery,
        ...customerQuery,
        ...periodQuery('released', 'those whose money reached the balance'),
        ...byKey,
      }),
      answers: { 200: { description: 'A page', schema: pageOf('cardPayments', cardPaymentWire) } },
      async handle({ caller, query }) {
        const { tenant } = caller;
        const { items, total } = await pageOrKeyed(query, {
          list: (page) => cardPayments.listPage(tenant, readListQuery<CardPaymentFilter>(page)),
          made: async (key) => {
            const id = await requestKeys.resourceOf(tenant, 'createCardPayment', key);
            return id === null ? null : cardPayments.find(tenant, id);
          },
        });
        return {
          status: 200,
          body: {
            cardPayments: items.map((payment) => cardPaymentToWire(payment, publicUrl)),
            total,
            ...query,
          },
        };
      },
    }),
  ];
}
