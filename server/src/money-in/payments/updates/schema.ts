import { builder } from '../../../api/graphql/builder.ts';
import { assertMay, mayReadPayment } from '../../../kernel/caller.ts';
import { statusSince } from '../../pix/model.ts';
import { pixUpdates } from '../../pix/updates/schema.ts';
import { matchesFilter, type Payment, paymentBeganAt } from '../model.ts';
import { PaymentFilterInput, PaymentRef, paymentFilterOf } from '../schema.ts';

const updates = pixUpdates<Payment>({
  type: 'PaymentUpdate',
  kind: 'PAYMENT',
  covers: 'Payments by PIX and LTC',
  resource: 'payment',
  title: 'Payment',
  fields: (t) => ({ payment: t.field({ type: PaymentRef, resolve: ({ item }) => item }) }),
  mayRead: mayReadPayment,
  assertReader: (caller) => assertMay(caller, 'payments.read'),
  readsOf: ({ services }) => services.payments,
  statusSince: (payment) => statusSince(payment, paymentBeganAt(payment)),
});

builder.subscriptionFields((t) => ({
  paymentUpdates: t.field({
    type: updates.type,
    description:
      'The resource, then each of its changes. The stream completes at PAID, FAILED or REFUNDED, and stays open at EXPIRED: it may be paid late.',
    args: { paymentId: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: (_, { paymentId, after }, context) => updates.follow(context, paymentId, after),
    resolve: (update) => update,
  }),
  allPaymentUpdates: t.field({
    type: updates.type,
    description: 'Every payment of the account; no first state, only changes.',
    args: { after: t.arg.string(), filter: t.arg({ type: PaymentFilterInput }) },
    subscribe: (_, { after, ...args }, context) =>
      updates.followAll(context, after, () => {
        const filter = paymentFilterOf(args.filter);
        return (payment) => matchesFilter(payment, filter);
      }),
    resolve: (update) => update,
  }),
}));
