import { builder, UNKNOWN } from '../../api/graphql/builder.ts';

export const RefundStatusEnum = builder.enumType('RefundStatus', {
  description: 'The states of a refund.',
  values: {
    PROCESSING: {
      value: 'processing',
      description: 'The money may have left, and the outcome is not known: wait.',
    },
    COMPLETED: { value: 'completed', description: 'The payer has the money.' },
    FAILED: {
      value: 'failed',
      description:
        'The acquirer or the bank refused the refund; the amount is back where it was taken. That of a payment that is returned automatically is not: another refund of it is sent a day later.',
    },
    UNKNOWN,
  } as const,
});
