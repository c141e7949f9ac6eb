import { builder, UNKNOWN } from '../../api/graphql/builder.ts';

/** The enum of the deprecated argument `status`, whose documents name it. */
export const CardPaymentStatusEnum = builder.enumType('CardPaymentStatus', {
  description:
    'The states of a card payment in the arguments `status`, which are deprecated: the same as PaymentStatus.',
  values: {
    PENDING: { value: 'pending', description: 'The same as PaymentStatus.PENDING.' },
    PAID: { value: 'paid', description: 'The same as PaymentStatus.PAID.' },
    EXPIRED: { value: 'expired', description: 'The same as PaymentStatus.EXPIRED.' },
    REFUNDED: { value: 'refunded', description: 'The same as PaymentStatus.REFUNDED.' },
    FAILED: { value: 'failed', description: 'The same as PaymentStatus.FAILED.' },
    UNKNOWN,
  } as const,
});
