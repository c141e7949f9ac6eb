import { builder, UNKNOWN } from '../../api/graphql/builder.ts';

export const DisputeStatusEnum = builder.enumType('DisputeStatus', {
  description: 'The states of a dispute.',
  values: {
    OPEN: { value: 'open', description: 'Evidence can be submitted until evidenceDueAt.' },
    UNDER_REVIEW: {
      value: 'under_review',
      description: 'Evidence was submitted, or the time for it is over: the banks decide.',
    },
    WON: { value: 'won', description: 'The dispute was decided for the account; nothing is held any more.' },
    LOST: {
      value: 'lost',
      description: 'The dispute was decided against the account. Its amount stays held until it is forgiven.',
    },
    FORGIVEN: { value: 'forgiven', description: 'The dispute was lost, and its amount is no longer held.' },
    UNKNOWN,
  } as const,
});
