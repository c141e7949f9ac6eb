import { AccountUpdate, addAccountUpdates } from '../../../api/graphql/account-updates.ts';
import { builder } from '../../../api/graphql/builder.ts';
import { assertMay, callerOf, mayReadPayment } from '../../../kernel/caller.ts';
import { PaymentStatusEnum } from '../../pix/fields-schema.ts';
import { statusSince } from '../../pix/model.ts';
import { type PixUpdate, pixUpdates } from '../../pix/updates/schema.ts';
import { matchesFilter, type Payment, paymentBeganAt } from '../model.ts';
import { PaymentFilterInput, PaymentRef, paymentFilterOf } from '../schema.ts';

const PaymentUpdate = builder.objectRef<PixUpdate<Payment>>('PaymentUpdate').implement({
  interfaces: [AccountUpdate],
  description: 'A change of a payment: of its status, its code, its refunds or its returned credits.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The cursor to pass as `after` in order to continue behind this update.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    previousStatus: t.field({
      type: PaymentStatusEnum,
      nullable: true,
      description:
        'The status before the change, or the current status if another member has changed; null in a first state.',
      resolve: (update) => update.previousStatus,
    }),
    payment: t.field({ type: PaymentRef, resolve: (update) => update.resource }),
  }),
});

const updates = pixUpdates<Payment>({
  resource: 'payment',
  title: 'Payment',
  mayRead: mayReadPayment,
  readsOf: ({ services }) => services.payments,
  statusSince: (payment) => statusSince(payment, paymentBeganAt(payment)),
});

addAccountUpdates('PAYMENT', {
  typename: 'PaymentUpdate',
  resource: 'payment',
  follow(context) {
    assertMay(callerOf(context), 'payments.read');
    return { toItem: updates.toItem };
  },
});

builder.subscriptionFields((t) => ({
  paymentUpdates: t.field({
    type: PaymentUpdate,
    description:
      'The resource, then each of its changes. The stream completes at PAID, FAILED or REFUNDED, and stays open at EXPIRED: it may be paid late.',
    args: { paymentId: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: (_, { paymentId, after }, context) =>
      updates.follow(context, callerOf(context), paymentId, after),
    resolve: (update) => update,
  }),
  allPaymentUpdates: t.field({
    type: PaymentUpdate,
    description: 'Every payment of the account; no first state, only changes.',
    args: { after: t.arg.string(), filter: t.arg({ type: PaymentFilterInput }) },
    subscribe: (_, { after, ...args }, context) => {
      assertMay(callerOf(context), 'payments.read');
      const filter = paymentFilterOf(args.filter);
      return updates.followAll(context, after, (payment) => matchesFilter(payment, filter));
    },
    resolve: (update) => update,
  }),
}));
