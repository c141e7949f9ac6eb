import { assertMay, mayReadPayment } from '../../access/model.ts';
import type { StoredEvent } from '../../events/event.ts';
import { builder } from '../../graphql/builder.ts';
import { callerOf } from '../../graphql/context.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import type { PaymentStatus } from '../../receiving/model.ts';
import { type Payment, statusSince } from '../model.ts';
import { PaymentRef, PaymentStatusEnum } from '../schema.ts';

interface Update {
  cursor: string;
  occurredAt: Date;
  previousStatus: Payment['status'] | null;
  payment: Payment;
}

const PaymentUpdate = builder.objectRef<Update>('PaymentUpdate').implement({
  description: 'A change of a payment: of its status, its code, its refunds or its returned credits.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'The `after` that continues behind this update.' }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    previousStatus: t.field({
      type: PaymentStatusEnum,
      nullable: true,
      description: 'The status itself where another member has changed; null in a first state.',
      resolve: (update) => update.previousStatus,
    }),
    payment: t.field({ type: PaymentRef, resolve: (update) => update.payment }),
  }),
});

/** Statuses that complete a payment's stream; an expired payment's stays open, for it may be paid late. */
const COMPLETES: ReadonlySet<string> = new Set<PaymentStatus>(['paid', 'failed', 'refunded']);

builder.subscriptionFields((t) => ({
  paymentUpdates: t.field({
    type: PaymentUpdate,
    description: 'Completes at PAID, FAILED or REFUNDED, and stays open at EXPIRED: it may be paid late.',
    args: { paymentId: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: async (_, { paymentId, after }, context) => {
      const caller = callerOf(context);
      const begin = async () => {
        if (!mayReadPayment(caller, paymentId)) throw new NotFoundError('Payment not found');
        const { payments } = context.services;
        payments.assertId(paymentId);
        const found = await payments.findWithVersion(caller.tenant, paymentId);
        if (!found) throw new NotFoundError('Payment not found');
        const { version, payment } = found;
        return {
          version,
          first: (cursor: string) => stateUpdate(payment, cursor),
          isOver: COMPLETES.has(payment.status),
        };
      };
      return context.subscribe({
        topic: { resource: 'payment', resourceId: paymentId },
        after,
        begin,
        toItem: eventUpdate,
        isLast: (event) => event.resource === 'payment' && COMPLETES.has(event.snapshot.status),
      });
    },
    resolve: (update) => update,
  }),
  allPaymentUpdates: t.field({
    type: PaymentUpdate,
    description: 'Every payment of the account; no first state, only changes.',
    args: { after: t.arg.string() },
    subscribe: (_, { after }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'payments.read');
      return context.subscribe({
        topic: { resource: 'payment' },
        after,
        toItem: eventUpdate,
        isLast: () => false,
      });
    },
    resolve: (update) => update,
  }),
}));

function stateUpdate(payment: Payment, cursor: string): Update {
  return { cursor, occurredAt: statusSince(payment), previousStatus: null, payment };
}

/** An update with the state at the time of the change. */
function eventUpdate(event: StoredEvent, cursor: string): Update {
  if (event.resource !== 'payment') throw new TypeError(`${event.kind} is not a payment's event`);
  const { occurredAt, previousStatus, snapshot } = event;
  return { cursor, occurredAt, previousStatus, payment: snapshot };
}
