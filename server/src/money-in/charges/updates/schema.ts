import { AccountUpdate, addAccountUpdates } from '../../../api/graphql/account-updates.ts';
import { builder } from '../../../api/graphql/builder.ts';
import { callerOf } from '../../../kernel/caller.ts';
import { PaymentStatusEnum } from '../../pix/fields-schema.ts';
import { statusSince } from '../../pix/model.ts';
import { type PixUpdate, pixUpdates } from '../../pix/updates/schema.ts';
import { type Charge, chargeBeganAt, listFilterOf, matchesFilter } from '../model.ts';
import { ChargeFilterInput, ChargeRef, chargeFilterOf, mayReadCharge } from '../schema.ts';

const ChargeUpdate = builder.objectRef<PixUpdate<Charge>>('ChargeUpdate').implement({
  interfaces: [AccountUpdate],
  description: 'A change of a charge: of its status, its code, its refunds or its returned credits.',
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
    charge: t.field({ type: ChargeRef, resolve: (update) => update.resource }),
  }),
});

const updates = pixUpdates<Charge>({
  resource: 'charge',
  title: 'Charge',
  mayRead: mayReadCharge,
  readsOf: ({ services }) => services.charges,
  statusSince: (charge) => statusSince(charge, chargeBeganAt(charge)),
});

addAccountUpdates('CHARGE', {
  typename: 'ChargeUpdate',
  resource: 'charge',
  follow(context) {
    mayReadCharge(callerOf(context));
    return { toItem: updates.toItem };
  },
});

builder.subscriptionFields((t) => ({
  chargeUpdates: t.field({
    type: ChargeUpdate,
    description:
      'The resource, then each of its changes. The stream completes at PAID, FAILED or REFUNDED, and stays open at EXPIRED: it may be paid late.',
    args: { chargeId: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: (_, { chargeId, after }, context) =>
      updates.follow(context, callerOf(context), chargeId, after),
    resolve: (update) => update,
  }),
  allChargeUpdates: t.field({
    type: ChargeUpdate,
    description: 'Every charge of the account; no first state, only changes.',
    args: { after: t.arg.string(), filter: t.arg({ type: ChargeFilterInput }) },
    subscribe: (_, { after, ...args }, context) => {
      mayReadCharge(callerOf(context));
      const filter = listFilterOf(chargeFilterOf(args.filter));
      return updates.followAll(context, after, (charge) => matchesFilter(charge, filter));
    },
    resolve: (update) => update,
  }),
}));
