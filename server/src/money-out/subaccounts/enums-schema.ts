import { builder, UNKNOWN } from '../../api/graphql/builder.ts';

export const SubaccountPayoutStatusEnum = builder.enumType('SubaccountPayoutStatus', {
  description: 'The states of a payout of a subaccount.',
  values: {
    PROCESSING: {
      value: 'processing',
      description: 'The money may have left, and the outcome is not known: wait.',
    },
    COMPLETED: {
      value: 'completed',
      description: 'The PIX has arrived. Where it has come back since, reversed is true.',
    },
    FAILED: {
      value: 'failed',
      description:
        'The payout has failed. The amount is back once reversed is true; only then may the payout be requested again.',
    },
    UNKNOWN,
  } as const,
});

export const StatementEntryKindEnum = builder.enumType('StatementEntryKind', {
  description: 'The reason for which a subaccount’s balance moved.',
  values: {
    TRANSFER_IN: { value: 'transfer_in', description: 'A transfer from the main account.' },
    PAYOUT: { value: 'payout', description: 'The amount of a payout, the fees included.' },
    PAYOUT_REVERSAL: { value: 'payout_reversal', description: 'The amount of a failed payout, given back.' },
    SPLIT_IN: {
      value: 'split_in',
      description:
        'A beneficiary’s part of a split charge; with the id of a refund, the amount that this refund took and, as it failed, gives back.',
    },
    SPLIT_REVERSAL: {
      value: 'split_reversal',
      description: 'The amount that a refund of a split charge takes back.',
    },
    UNKNOWN,
  } as const,
});
