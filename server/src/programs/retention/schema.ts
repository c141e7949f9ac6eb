import { builder } from '../../api/graphql/builder.ts';
import { assertMayFollowAccount, callerOf } from '../../kernel/caller.ts';
import type { Retention, RetentionService } from './model.ts';

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    retention: RetentionService;
  }
}

const RetentionRef = builder.objectRef<Retention>('Retention').implement({
  description:
    'The number of days for which this server keeps what it need not keep for good; null where it keeps all. The books, every resource and every idempotency key are kept for good.',
  fields: (t) => ({
    eventsDays: t.int({
      nullable: true,
      description: 'The days for which a cursor of updates can be followed.',
      resolve: ({ events }) => events,
    }),
    eventsFrom: t.expose('eventsFrom', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time from which the updates of the account are kept: a cursor of a change before it is refused with CURSOR_EXPIRED. Null if none has been removed.',
    }),
    deliveriesDays: t.int({
      nullable: true,
      description: 'The days after its creation for which a webhook delivery that has ended is kept.',
      resolve: ({ deliveries }) => deliveries,
    }),
    bodiesDays: t.int({
      nullable: true,
      description: 'The days for which the headers and the answer of an attempt are kept.',
      resolve: ({ bodies }) => bodies,
    }),
    tokensDays: t.int({
      nullable: true,
      description: 'The days for which a token is kept after it has expired or was revoked.',
      resolve: ({ tokens }) => tokens,
    }),
  }),
});

builder.queryFields((t) => ({
  retention: t.field({
    type: RetentionRef,
    description:
      'The number of days for which this server keeps updates, webhook deliveries and ended tokens.',
    resolve: (_, __, context) => {
      const caller = callerOf(context);
      assertMayFollowAccount(caller);
      return context.services.retention.read(caller.tenant);
    },
  }),
}));
