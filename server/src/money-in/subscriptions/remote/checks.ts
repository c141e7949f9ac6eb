import { type Checks, checkedFamily, ZEROS } from '../../../upstream/checks.ts';
import { subscriptionFromWire } from '../upstream-wire.ts';

export const subscriptionChecks: Checks = {
  reads: checkedFamily({
    path: 'subscriptions',
    idName: 'subscriptionId',
    resource: 'subscription',
    nobody: `psa_sub_${ZEROS}`,
    read: subscriptionFromWire,
    members: ['status', 'amountCents', 'interval'],
  }),
  writes: [
    { name: 'POST /v1/subscriptions', family: 'subscriptions' },
    { name: 'DELETE /v1/subscriptions/{id}', family: 'subscriptions' },
  ],
  features: [{ feature: 'the status of subscriptions' }],
};
