import { builder } from '../api/graphql/builder.ts';
import { connectionArguments, connectionOf, pagesBeside, rangeOf } from '../api/graphql/paging.ts';
import { assertMay, type Caller, callerOf, may, type Right } from '../kernel/caller.ts';
import { PayoutRef } from '../money-out/payouts/schema.ts';
import { SubaccountPayoutRef } from '../money-out/subaccounts/schema.ts';
import {
  REQUEST_OPERATIONS,
  type RequestInDoubt,
  type RequestOperation,
  type RequestsInDoubtService,
} from './model.ts';

declare module '../api/graphql/services.ts' {
  interface PaymentsService {
    requests: RequestsInDoubtService;
  }
}

const OperationEnum = builder.enumType('OperationInDoubt', {
  description: 'The operation that was requested of the upstream service.',
  values: Object.fromEntries([
    ...REQUEST_OPERATIONS.map((value) => [
      value.replace(/[A-Z]/g, '_$&').toUpperCase(),
      {
        value,
        description:
          value === 'refund'
            ? 'The mutation refundCardPayment, refundPayment or refundCharge.'
            : `The mutation ${value}.`,
      },
    ]),
    ['UNKNOWN', { value: 'unknown', description: 'An operation that this server does not know yet.' }],
  ]) as Record<string, { value: RequestInDoubt['operation']; description: string }>,
});

const RequestInDoubtRef = builder.objectRef<RequestInDoubt>('RequestInDoubt').implement({
  description:
    'A request to the upstream service whose outcome is unknown: the answer was lost, and no lookup has found it yet. The server continues to look it up; npm run psa -- doubts settles by hand what no lookup can.',
  fields: (t) => ({
    requestId: t.exposeString('id', {
      description: 'The identifier of the request, int_ and 24 hex digits, which psa doubts settle takes.',
    }),
    operation: t.field({
      type: OperationEnum,
      description: 'The operation that was requested.',
      resolve: ({ operation }) => operation,
    }),
    idempotencyKey: t.exposeString('idempotencyKey', {
      nullable: true,
      description: 'The idempotency key of the request; null if the caller gave none.',
    }),
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      nullable: true,
      description: 'The amount in cents of BRL; null for a request without an amount.',
    }),
    requestedAt: t.expose('requestedAt', {
      type: 'DateTime',
      description: 'The time at which the request was first sent.',
    }),
    ageSeconds: t.int({
      description: 'The seconds since requestedAt. After 900 seconds a person should look at it.',
      resolve: ({ requestedAt }, _, { clock }) =>
        Math.max(0, Math.floor((clock.now().getTime() - requestedAt.getTime()) / 1_000)),
    }),
    lookups: t.exposeInt('lookups', {
      description: 'The number of lookups of the outcome that the upstream service has answered since.',
    }),
    lookedUpAt: t.expose('lookedUpAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the upstream service last answered a lookup; null before the first.',
    }),
    finding: t.exposeString('finding', {
      nullable: true,
      description: 'The result of the last lookup, in words; null before the first.',
    }),
    payout: t.field({
      type: PayoutRef,
      nullable: true,
      description: 'The payout in doubt, for REQUEST_PAYOUT; null while the request is under way.',
      resolve: ({ payoutId }, _, { loaders }) => (payoutId === null ? null : loaders.payout.load(payoutId)),
    }),
    subaccountPayout: t.field({
      type: SubaccountPayoutRef,
      nullable: true,
      description: 'The payout in doubt, for REQUEST_SUBACCOUNT_PAYOUT.',
      resolve({ subaccountPayoutId }, _, context) {
        if (subaccountPayoutId === null) return null;
        assertMay(callerOf(context), 'subaccount_payouts.read');
        return context.loaders.subaccountPayout.load(subaccountPayoutId);
      },
    }),
  }),
});

const RequestInDoubtConnection = builder.connectionObject(
  { type: RequestInDoubtRef, name: 'RequestInDoubtConnection' },
  { name: 'RequestInDoubtEdge' },
);

builder.queryFields((t) => ({
  requestsInDoubt: t.field({
    type: RequestInDoubtConnection,
    description:
      'A list of the requests whose outcome is unknown, oldest first; to a dashboard token those of what its scopes read. `first` and `after` read towards the newer, `last` and `before` towards the older. Empty in embedded mode, in which every outcome is known.',
    args: connectionArguments(t.arg),
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'payouts.read');
      const cursors = context.listCursors('requestsInDoubt');
      const range = rangeOf(cursors, args);
      const { requests } = context.services;
      const { items, more } = await requests.list(caller.tenant, range, operationsFor(caller));
      const nodes = items.map(({ position, request }) => ({ position, node: request }));
      return connectionOf(cursors, nodes, { ...pagesBeside(range, more), total: () => 0 });
    },
  }),
}));

/** The rights that a caller needs, all of them, to see the requests of an operation. */
const READ: Readonly<Record<RequestOperation, readonly Right[]>> = {
  requestPayout: ['payouts.read'],
  requestSubaccountPayout: ['subaccount_payouts.read'],
  transferToSubaccount: ['subaccounts.read'],
  createCardPayment: ['card_payments.read'],
  startCheckout: ['card_payments.read'],
  startPixCheckout: ['payments.read'],
  createPayment: ['payments.read'],
  createCharge: ['payments.read'],
  createSubscription: ['subscriptions.read'],
  createDelivery: ['products.read'],
  // A refund may be that of a card payment or of a payment by PIX.
  refund: ['card_payments.read', 'payments.read'],
  submitDisputeEvidence: ['disputes.read'],
};

/**
 * The operations whose requests a caller sees. Undefined means all, also those that this server does not
 * know.
 */
function operationsFor(caller: Caller): RequestOperation[] | undefined {
  const seen = REQUEST_OPERATIONS.filter((operation) => READ[operation].every((right) => may(caller, right)));
  return seen.length === REQUEST_OPERATIONS.length ? undefined : seen;
}
