import { builder, UNKNOWN } from '../../api/graphql/builder.ts';

export const IntervalEnum = builder.enumType('PixSubscriptionInterval', {
  description: 'The length of a cycle.',
  values: {
    WEEKLY: { value: 'weekly', description: 'Seven days.' },
    MONTHLY: { value: 'monthly', description: 'One month.' },
    QUARTERLY: { value: 'quarterly', description: 'Three months.' },
    SEMIANNUAL: { value: 'semiannual', description: 'Six months.' },
    YEARLY: { value: 'yearly', description: 'Twelve months.' },
    UNKNOWN,
  } as const,
});

export const SubscriptionStatusEnum = builder.enumType('PixSubscriptionStatus', {
  description: 'The states of a recurring PIX.',
  values: {
    PENDING: { value: 'pending', description: 'The payer has not authorized it yet.' },
    ACTIVE: {
      value: 'active',
      description: 'The subscription is authorized, and its last cycle that was due is paid.',
    },
    PAST_DUE: {
      value: 'past_due',
      description: 'A cycle is being retried, or has failed and the next is not yet paid.',
    },
    CANCELED: {
      value: 'canceled',
      description:
        'The subscription was canceled by the merchant or by the payer in the bank, or because it was not paid: cancelReason shows which.',
    },
    COMPLETED: { value: 'completed', description: 'The last cycle has ended.' },
    EXPIRED: {
      value: 'expired',
      description: 'The payer did not authorize it in time, or the bank issued no code.',
    },
    UNKNOWN,
  } as const,
});

export const CancelReasonEnum = builder.enumType('SubscriptionCancelReason', {
  description: 'The reason for the end of a subscription, named after the party that ended it.',
  values: {
    MERCHANT: { value: 'merchant', description: 'The account ended it, by cancelSubscription.' },
    PAYER: { value: 'payer', description: 'The payer ended it, in the bank.' },
    UNPAID: {
      value: 'unpaid',
      description:
        'Three cycles in a row were attempted and not paid. A cycle that could not be attempted is not counted.',
    },
    UNKNOWN,
  } as const,
});

export const CycleStatusEnum = builder.enumType('SubscriptionCycleStatus', {
  description: 'The states of a cycle.',
  values: {
    SCHEDULED: {
      value: 'scheduled',
      description: 'The cycle was sent to the payer’s bank, or is about to be.',
    },
    RETRYING: {
      value: 'retrying',
      description: 'The debit failed when the cycle was due; an attempt is still to follow.',
    },
    PAID: { value: 'paid', description: 'The cycle’s payment is in the balance.' },
    FAILED: { value: 'failed', description: 'None of the attempts was paid.' },
    CANCELED: { value: 'canceled', description: 'The subscription was canceled before this cycle was paid.' },
    UNKNOWN,
  } as const,
});
