import { z } from 'zod';
import { type RestOperation, restOperation } from '../../api/http/rest.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import { chargeIdText } from '../charges/model.ts';
import { paymentIdText } from '../payments/model.ts';
import { isRefundId, keyInReference, type RefundService, refundInput } from './model.ts';
import { refundToWire, refundWire } from './wire.ts';

const TAG = 'Refunds';

const REFUND_ERRORS = {
  400: 'More than is refundable, or more than can be withdrawn',
  404: 'No such payment of this account in this environment',
  409: 'Not paid, refunded already or too old; or the idempotency key was used with another input',
};

/** Refunds in the REST interface: extensions of the document, which shows no operation for them. */
export function createRefundRoutes({ refunds }: { refunds: RefundService }): RestOperation[] {
  return [
    restOperation({
      method: 'POST',
      path: '/v1/card-payments/{orderCode}/refunds',
      operationId: 'refundCardPayment',
      summary: 'Refund a card payment, whole or in part',
      description:
        'From what can be withdrawn, or from what still waits for its release; up to 180 days after the payment, at most 20 times, without those that have failed. After a timeout, repeat it with the same idempotencyKey, or look it up as `ref_idem_` and that key.',
      tag: TAG,
      section: '4.5',
      params: z.object({ orderCode: z.string() }),
      body: refundInput,
      example: { amountCents: 4990, reason: 'Devolução de um item', idempotencyKey: 'devolucao-1042' },
      answers: { 201: { description: 'The refund, on its way', schema: refundWire } },
      errors: REFUND_ERRORS,
      async handle({ caller, params, body }) {
        const resource = { type: 'card_payment', id: params.orderCode } as const;
        const { refund, replayed } = await refunds.request(caller.tenant, resource, body);
        return { status: 201, body: refundToWire(refund), replayed };
      },
    }),
    restOperation({
      method: 'POST',
      path: '/v1/payments/{id}/refunds',
      operationId: 'refundPayment',
      summary: 'Refund a PIX payment, whole or in part',
      description:
        'From what can be withdrawn; up to 90 days after the payment, at most 20 times, without those that have failed. After a timeout, repeat it with the same idempotencyKey, or look it up as `ref_idem_` and that key. An extension of the document.',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: paymentIdText }),
      body: refundInput,
      example: { amountCents: 4990, reason: 'Devolução de um item', idempotencyKey: 'devolucao-1042' },
      answers: { 201: { description: 'The refund, on its way', schema: refundWire } },
      errors: REFUND_ERRORS,
      async handle({ caller, params, body }) {
        const resource = { type: 'payment', id: params.id } as const;
        const { refund, replayed } = await refunds.request(caller.tenant, resource, body);
        return { status: 201, body: refundToWire(refund), replayed };
      },
    }),
    restOperation({
      method: 'POST',
      path: '/v1/charges/{id}/refunds',
      operationId: 'refundCharge',
      summary: 'Refund a charge, whole or in part',
      description:
        'Of a split charge from each beneficiary in proportion, as far as its balance goes; the rest from what the account can withdraw. Up to 90 days after the payment, at most 20 times, without those that have failed. After a timeout, repeat it with the same idempotencyKey, or look it up as `ref_idem_` and that key. An extension of the document.',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: chargeIdText }),
      body: refundInput,
      example: { amountCents: 4990, reason: 'Devolução de um item', idempotencyKey: 'devolucao-1042' },
      answers: { 201: { description: 'The refund, on its way', schema: refundWire } },
      errors: { ...REFUND_ERRORS, 404: 'No such charge of this account in this environment' },
      async handle({ caller, params, body }) {
        const resource = { type: 'charge', id: params.id } as const;
        const { refund, replayed } = await refunds.request(caller.tenant, resource, body);
        return { status: 201, body: refundToWire(refund), replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/refunds/{refundId}',
      operationId: 'getRefund',
      summary: 'Look a refund up',
      tag: TAG,
      section: '4.5',
      params: z.object({
        refundId: z
          .string()
          .refine(
            (text) => isRefundId(text) || keyInReference(text) !== null,
            'must be ref_ and 24 hex digits, in lower case, or ref_idem_ and an idempotency key',
          )
          .meta({ description: 'Its refundId, or ref_idem_ and the idempotency key of its request' }),
      }),
      answers: { 200: { description: 'The refund as it stands', schema: refundWire } },
      errors: { 404: 'No such refund of this account in this environment' },
      async handle({ caller, params }) {
        const refund = await refunds.find(caller.tenant, params.refundId);
        if (!refund) throw new NotFoundError('Refund not found');
        return { status: 200, body: refundToWire(refund) };
      },
    }),
  ];
}
