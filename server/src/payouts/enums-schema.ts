import { builder, UNKNOWN } from '../graphql/builder.ts';
import { methodOf, PAYOUT_METHODS, type PayoutMethod } from './methods/registry.ts';

interface MethodValue {
  value: PayoutMethod | 'unknown';
  description: string;
}

export const PayoutMethodEnum = builder.enumType('PayoutMethod', {
  description: 'The method by which a payout is sent.',
  values: Object.fromEntries<MethodValue>([
    ...PAYOUT_METHODS.map((method): [string, MethodValue] => {
      const { name, ...described } = methodOf(method).graphql;
      return [name, { value: method, ...described }];
    }),
    ['UNKNOWN', UNKNOWN],
  ]),
});

export const PayoutStatusEnum = builder.enumType('PayoutStatus', {
  description: 'The states of a payout of the main account.',
  values: {
    PENDING: {
      value: 'pending',
      description: 'The payout is requested, debited and queued; pendente in REST.',
    },
    PROCESSING: {
      value: 'processing',
      description:
        'A turbo payout has left, and the bank has not confirmed it: the money MAY have left. A webhook reports it to an account that has opted into WITHDRAWAL_PROCESSING.',
    },
    COMPLETED: { value: 'completed', description: 'The payout has arrived; concluido in REST.' },
    DENIED: {
      value: 'denied',
      description: 'The payout was denied, and the amount is back in the balance; negado in REST.',
    },
    UNKNOWN,
  } as const,
});
