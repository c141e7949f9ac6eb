import { builder } from '../../../api/graphql/builder.ts';
import { statusSince } from '../../pix/model.ts';
import { pixUpdates } from '../../pix/updates/schema.ts';
import { type Charge, chargeBeganAt, listFilterOf, matchesFilter } from '../model.ts';
import { ChargeFilterInput, ChargeRef, chargeFilterOf, mayReadCharge } from '../schema.ts';

const updates = pixUpdates<Charge>({
  type: 'ChargeUpdate',
  kind: 'CHARGE',
  covers: 'Charges',
  resource: 'charge',
  title: 'Charge',
  fields: (t) => ({ charge: t.field({ type: ChargeRef, resolve: ({ item }) => item }) }),
  mayRead: mayReadCharge,
  assertReader: mayReadCharge,
  readsOf: ({ services }) => services.charges,
  statusSince: (charge) => statusSince(charge, chargeBeganAt(charge)),
});

builder.subscriptionFields((t) => ({
  chargeUpdates: t.field({
    type: updates.type,
    description:
      'The resource, then each of its changes. The stream completes at PAID, FAILED or REFUNDED, and stays open at EXPIRED: it may be paid late.',
    args: { chargeId: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: (_, { chargeId, after }, context) => updates.follow(context, chargeId, after),
    resolve: (update) => update,
  }),
  allChargeUpdates: t.field({
    type: updates.type,
    description: 'Every charge of the account; no first state, only changes.',
    args: { after: t.arg.string(), filter: t.arg({ type: ChargeFilterInput }) },
    subscribe: (_, { after, ...args }, context) =>
      updates.followAll(context, after, () => {
        const filter = listFilterOf(chargeFilterOf(args.filter));
        return (charge) => matchesFilter(charge, filter);
      }),
    resolve: (update) => update,
  }),
}));
